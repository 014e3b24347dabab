// Generates, solves, and says what is wrong. A method or a critical section that is not atomic is a
// finding, unless it was declared so, waits for a condition, or is where a thread begins: those are
// meant to be cut. Nor is it one if it is not atomic only for what nobody knows: data that has no
// guard may be nobody else's, and a program has much of it. So atomicities are found twice: once
// for what is certainly atomic, and once for what is not even if all the rest is harmless.
#include "infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <iterator>
#include <optional>
#include <utility>

#include "infer/causes.h"
#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/constraints.h"
#include "infer/explain.h"
#include "infer/generate.h"

namespace tomos::infer {

namespace {

class Judge {
 public:
  explicit Judge(const Solved& solved) : solved_(solved), explainer_(solved) {}

  // What is not atomic, though nobody said that it must be.
  std::vector<Finding> find_cut() {
    for (std::size_t i = 0; i < solved_.classes.method_count(); ++i) {
      cut_method(static_cast<MethodId>(i));
    }
    for (const Part& block : solved_.generated.blocks) cut_section(block);
    return std::move(made_.findings);
  }

  // All else.
  Inference run() {
    for (std::size_t i = 0; i < solved_.classes.method_count(); ++i)
      method(static_cast<MethodId>(i));
    for (const Part& block : solved_.generated.blocks) critical_section(block);
    for (const Part& claim : solved_.generated.claims) check(claim);
    for (const Part& fork : solved_.generated.forks) new_thread(fork);
    overrides();
    if (solved_.generated.main) main_block(*solved_.generated.main);
    for (const Cause& cause : find_causes(solved_.generated.problems)) tell(cause);
    for (const MethodId id : solved_.generated.left_out) {
      made_.left_out.push_back(explainer_.display(id));
    }
    for (const Constraint& constraint : solved_.constraints.list()) {
      made_.constraints.push_back(solved_.constraints.to_text(constraint));
    }
    return std::move(made_);
  }

 private:
  Location location(const core::Position& position) const {
    Location made;
    if (position.file < solved_.program.files.size())
      made.file = solved_.program.files[position.file];
    made.line = position.line;
    made.column = position.column;
    return made;
  }

  core::Position position_of(MethodId method) const {
    return method == kMain ? solved_.program[solved_.program.main].position
                           : solved_.classes[method].method->position;
  }

  void method(MethodId id) {
    const core::Method& of = *solved_.classes[id].method;
    const Atomicity atomicity = solved_.constraints.assigned(id);
    const Judged judged = judge(solved_.conditionals, atomicity);
    MethodAtomicity result = {.name = explainer_.display(id),
                              .atomicity = solved_.conditionals.to_text(atomicity),
                              .basic = judged.basic,
                              .is_given = of.is_given && !of.requires_held.empty(),
                              .is_declared = solved_.constraints.is_declared(id),
                              .has_body = of.body != core::kNoExpr,
                              .location = location(of.position)};
    // What the discipline says, and whatever else makes the difference.
    std::vector<LockId> needed = of.requires_held;
    for (const LockId lock : judged.needed) {
      if (std::ranges::find(needed, lock) == needed.end()) needed.push_back(lock);
    }
    for (const LockId lock : needed) {
      const bool unsaid = std::ranges::find(of.unsaid, lock) != of.unsaid.end();
      (unsaid ? result.unsaid : result.needed).push_back(solved_.locks.to_string(lock));
    }
    made_.methods.push_back(std::move(result));
    const auto& body = solved_.generated.bodies[static_cast<std::size_t>(id)];
    if (!body) return;
    const Atomicity found = solved_.constraints.value(*body);
    if (solved_.constraints.is_declared(id)) {
      if (!solved_.conditionals.leq(found, atomicity))
        declared_wrongly(id, *body, found, atomicity);
      return;
    }
    if (judged.basic == Basic::kError) {
      breaks(id, *body, std::nullopt,
             fmt::format("{} breaks the locking discipline, whatever its caller holds: ",
                         explainer_.display(id)));
    }
  }

  // What is so because of another method that breaks it is that method's finding.
  void breaks(MethodId method, NodeId node, const std::optional<Situation>& situation,
              const std::string& what) {
    const Explanation why = explainer_.explain_own_error(node, situation);
    if (why.broken) add(method, Kind::kRace, what, why, explainer_.reason(why));
  }

  void cut_method(MethodId id) {
    const auto& body = solved_.generated.bodies[static_cast<std::size_t>(id)];
    if (!body || solved_.constraints.is_declared(id) || begins_thread(id)) return;
    const Judged judged = judge(solved_.conditionals, solved_.constraints.assigned(id));
    if (judged.basic != Basic::kCompound) return;
    cut(id, *body, judged.situation, fmt::format("{} is not atomic: ", explainer_.display(id)));
    reported_.push_back(id);
  }

  bool begins_thread(MethodId id) const {
    const MethodOf& of = solved_.classes[id];
    if (of.owner == nullptr && explainer_.display(id) == "main") return true;
    return std::ranges::find(solved_.generated.forked, id) != solved_.generated.forked.end();
  }

  void declared_wrongly(MethodId id, NodeId body, Atomicity found, Atomicity declared) {
    const std::string begin =
        fmt::format("{} is declared {}, but is {}: ", explainer_.display(id),
                    solved_.conditionals.to_text(declared), solved_.conditionals.to_text(found));
    if (const auto situation = exceeds(solved_.conditionals, found, declared)) {
      finding(id, Kind::kAtomicity, body, *situation, Basic::kCompound, begin);
      return;
    }
    // Only where it is an error: the callers need to know of a lock.
    Situation situation;
    Atomicity a = found;
    Atomicity b = declared;
    while (!solved_.conditionals.basic(a)) {
      const Predicate p = solved_.conditionals.node(a).predicate;
      const bool value = solved_.conditionals.leq(solved_.conditionals.assume(a, p, false),
                                                  solved_.conditionals.assume(b, p, false));
      situation[p] = value;
      a = solved_.conditionals.assume(a, p, value);
      b = solved_.conditionals.assume(b, p, value);
    }
    finding(id, Kind::kRace, body, situation, Basic::kError, begin);
  }

  void critical_section(const Part& block) {
    const core::Expr& of = solved_.program[block.expr];
    const Atomicity atomicity = solved_.constraints.value(block.node);
    const Judged judged = judge(solved_.conditionals, atomicity);
    made_.blocks.push_back({.method = explainer_.display(block.method),
                            .atomicity = solved_.conditionals.to_text(atomicity),
                            .basic = judged.basic,
                            .location = location(of.position)});
  }

  void cut_section(const Part& block) {
    const Judged judged = judge(solved_.conditionals, solved_.constraints.value(block.node));
    const bool told = std::ranges::find(reported_, block.method) != reported_.end();
    if (judged.basic != Basic::kCompound || told) return;
    if (block.method != kMain && solved_.constraints.is_declared(block.method)) return;
    cut(block.method, block.node, judged.situation,
        fmt::format("the critical section in {} is not atomic: ",
                    explainer_.display(block.method)));
  }

  // What is so because of another method that is not atomic is that method's finding.
  void cut(MethodId method, NodeId node, const Situation& situation, const std::string& what) {
    const Explanation why = explainer_.explain_own(node, situation);
    const Explainer::Reason reason = explainer_.reason(why);
    if (!why.broken || reason.waits) return;
    add(method, Kind::kAtomicity, what, why, reason);
    if (!why.commit) return;
    const auto first = subject(method, why.steps[*why.commit]);
    const auto second = subject(method, why.steps[*why.broken]);
    if (first && second && *first != *second) {
      made_.findings.back().doubt = "the two steps are about different objects";
    }
  }

  // The class or the global that a step of the method is about, if that is plain.
  std::optional<std::string> subject(MethodId method, const Step& step) const {
    const core::Class* const own = method == kMain ? nullptr : solved_.classes[method].owner;
    if (step.callee) {
      const MethodOf& callee = solved_.classes[*step.callee];
      if (callee.owner == nullptr) return callee.method->name;
      const bool inherits = own != nullptr && solved_.classes.inherits(*own, callee.owner->name);
      return inherits ? own->name : callee.owner->name;
    }
    const std::size_t dots = static_cast<std::size_t>(std::ranges::count(step.object, '.'));
    if (dots == 0 && step.object != "this") return step.object;
    const bool is_own = step.object == "this" || (dots == 1 && step.object.starts_with("this."));
    return is_own && own != nullptr ? std::optional(own->name) : std::nullopt;
  }

  void check(const Part& claim) {
    const Atomicity found = solved_.constraints.value(claim.node);
    const auto situation = exceeds(solved_.conditionals, found, claim.bound);
    if (!situation) return;
    finding(claim.method, Kind::kAtomicity, claim.node, *situation, Basic::kCompound,
            fmt::format("this part of {} must be {}, but is {}: ", explainer_.display(claim.method),
                        solved_.conditionals.to_text(claim.bound),
                        solved_.conditionals.to_text(found)));
  }

  // A lambda that is kept for later and gives back a lock which it has not taken: whoever runs it
  // holds that, and it is no thread.
  bool is_run_by_holder(const Part& fork, const Situation& situation) {
    const Explanation why = explainer_.explain_own_error(fork.node, situation);
    if (!why.broken) return false;
    const Step& step = why.steps[*why.broken];
    if (!step.callee || *step.callee == kMain) return false;
    const auto& body = solved_.generated.bodies[static_cast<std::size_t>(*step.callee)];
    const bool is_lambda =
        solved_.classes[*step.callee].method->name.find("::lambda@") != std::string::npos;
    if (!body || !is_lambda) return false;
    const Explanation inside = explainer_.explain_own_error(*body, step.inside);
    return inside.broken && inside.steps[*inside.broken].op == "release";
  }

  // [EXP FORK]: a new thread holds its own lock, and no other.
  void new_thread(const Part& fork) {
    const Situation holds_own = {{{.lock = Locks::kThread}, true}};
    const Basic basic = solved_.conditionals.evaluate(
        solved_.constraints.value(fork.node),
        [&](Predicate p) { return p.kind == Predicate::Kind::kHeld && p.lock == Locks::kThread; });
    if (basic != Basic::kError || is_run_by_holder(fork, holds_own)) return;
    breaks(fork.method, fork.node, holds_own, "a new thread breaks the locking discipline: ");
  }

  void main_block(NodeId body) {
    // Nobody can hold anything for main.
    const Basic basic = solved_.conditionals.evaluate(solved_.constraints.value(body),
                                                      [](Predicate) { return false; });
    if (basic == Basic::kError)
      breaks(kMain, body, Situation(), "main breaks the locking discipline: ");
  }

  // What an override owes to a declared atomicity.
  void overrides() {
    for (const Constraint& constraint : solved_.constraints.list()) {
      const auto& body = solved_.generated.bodies[static_cast<std::size_t>(constraint.method)];
      if (body && *body == constraint.bound) continue;
      if (!solved_.constraints.is_declared(constraint.method)) {
        unknown_above(constraint);
        continue;
      }
      const Atomicity found = solved_.constraints.value(constraint.bound);
      const Atomicity declared = solved_.constraints.assigned(constraint.method);
      if (solved_.conditionals.leq(found, declared)) continue;
      const core::ExprId at = solved_.constraints[constraint.bound].expr;
      Finding made = begin(constraint.method, Kind::kAtomicity);
      made.message = fmt::format(
          "an override of {} is {}, where {} is declared", explainer_.display(constraint.method),
          solved_.conditionals.to_text(found), solved_.conditionals.to_text(declared));
      if (at != core::kNoExpr) {
        made.events.push_back(
            {.op = "override", .location = location(solved_.program[at].position)});
      }
      made_.findings.push_back(std::move(made));
    }
  }

  // An override that needs a lock of which those who call what it overrides cannot know.
  void unknown_above(const Constraint& constraint) {
    const bool is_error =
        solved_.conditionals.basic(solved_.constraints.value(constraint.bound)) == Basic::kError;
    NodeId at = constraint.bound;
    while (solved_.constraints[at].kind != Node::Kind::kVariable) {
      if (solved_.constraints[at].children.empty()) return;
      at = solved_.constraints[at].children[0];
    }
    const MethodId own = solved_.constraints[at].method;
    if (!is_error || explainer_.is_broken(own)) return;
    const Judged judged = judge(solved_.conditionals, solved_.constraints.assigned(own));
    if (judged.needed.empty()) return;
    Finding made = begin(own, Kind::kRace);
    made.message = fmt::format("{} requires {}, of which those who call {} know nothing",
                               explainer_.display(own), solved_.locks.to_string(judged.needed[0]),
                               explainer_.display(constraint.method));
    made.events.push_back({.op = "override", .location = location(position_of(own))});
    made.events.push_back(
        {.op = "overridden", .location = location(position_of(constraint.method))});
    made_.findings.push_back(std::move(made));
  }

  Finding begin(MethodId method, Kind kind) const {
    Finding made = {.analysis = "infer", .kind = kind, .verdict = Certainty::kPredicted};
    made.transactions.push_back(
        {.label = explainer_.display(method), .location = location(position_of(method))});
    return made;
  }

  void finding(MethodId method, Kind kind, NodeId node, const Situation& situation, Basic result,
               const std::string& what) {
    const Explanation why = explainer_.explain(node, situation, result);
    add(method, kind, what, why, explainer_.reason(why));
  }

  void add(MethodId method, Kind kind, const std::string& what, const Explanation& why,
           const Explainer::Reason& reason) {
    Finding made = begin(method, kind);
    made.message = what + reason.text;
    for (const Step& step : why.steps) {
      made.events.push_back(
          {.op = step.op, .variable = step.object, .location = location(step.position)});
    }
    made_.findings.push_back(std::move(made));
  }

  void tell(const Cause& cause) {
    const Problem& problem = *cause.problem;
    Finding made = begin(problem.method, problem.kind);
    made.message = fmt::format("{}: {}", explainer_.display(problem.method), problem.message);
    made.fix = problem.fix;
    if (cause.consequences > 0) {
      made.fix += cause.consequences == 1
                      ? " One method that calls it gets the lock wrong, too."
                      : fmt::format(" {} methods that call it get the lock wrong, too.",
                                    cause.consequences);
    }
    made.events.push_back(
        {.op = "here", .location = location(solved_.program[problem.expr].position)});
    made_.findings.push_back(std::move(made));
  }

  const Solved& solved_;
  Explainer explainer_;
  std::vector<MethodId> reported_;
  Inference made_;
};

// Constraints of the program, solved, for whoever wants to judge them.
template <class Use>
Result<void> solve_constraints(const core::Program& program, Unknown unknown, Senseless senseless,
                               const Use& use) {
  Locks locks = program.locks;
  Classes classes(program, locks);
  if (auto fits = classes.check(); !fits) return fits;
  Conditionals conditionals(locks);
  Constraints constraints(classes, conditionals, locks);
  const auto generated =
      Generator(program, locks, classes, conditionals, constraints, unknown, senseless).run();
  if (!generated) return std::unexpected(generated.error());
  constraints.solve();
  use(Solved{.program = program,
             .locks = locks,
             .classes = classes,
             .conditionals = conditionals,
             .constraints = constraints,
             .generated = *generated});
  return {};
}

}  // namespace

void leave_out_told(std::vector<Finding>& found, const std::vector<Finding>& told) {
  std::erase_if(found, [&](const Finding& finding) {
    return finding.kind == Kind::kRace && !finding.events.empty() &&
           std::ranges::any_of(told, [&](const Finding& other) {
             return other.kind == Kind::kRace && !other.events.empty() &&
                    other.events.front().location == finding.events.back().location;
           });
  });
}

Result<Inference> infer_atomicities(const core::Program& program, Senseless senseless) {
  Inference made;
  auto solved = solve_constraints(program, Unknown::kShared, senseless,
                                  [&](const Solved& all) { made = Judge(all).run(); });
  if (!solved) return std::unexpected(solved.error());
  std::vector<Finding> cut;
  solved = solve_constraints(program, Unknown::kHarmless, senseless,
                             [&](const Solved& all) { cut = Judge(all).find_cut(); });
  if (!solved) return std::unexpected(solved.error());
  made.findings.insert(made.findings.begin(), std::make_move_iterator(cut.begin()),
                       std::make_move_iterator(cut.end()));
  return made;
}

}  // namespace tomos::infer
