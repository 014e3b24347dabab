// Generates, solves, and says what is wrong. A method or a critical section that is not atomic is a
// finding, unless it was declared so, waits for a condition, or is where a thread begins: those are
// meant to be cut.
#include "infer/infer.h"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <optional>
#include <utility>

#include "infer/classes.h"
#include "infer/conditional.h"
#include "infer/constraints.h"
#include "infer/explain.h"
#include "infer/generate.h"

namespace tomos::infer {

namespace {

class Judge {
 public:
  Judge(const core::Program& program, Locks& locks, Classes& classes, Conditionals& conditionals,
        Constraints& constraints, const Generated& generated)
      : program_(program),
        locks_(locks),
        classes_(classes),
        conditionals_(conditionals),
        constraints_(constraints),
        generated_(generated),
        explainer_(program, locks, classes, conditionals, constraints, generated) {}

  Inference run() {
    for (std::size_t i = 0; i < classes_.method_count(); ++i) method(static_cast<MethodId>(i));
    for (const Part& block : generated_.blocks) critical_section(block);
    for (const Part& claim : generated_.claims) check(claim);
    for (const Part& fork : generated_.forks) new_thread(fork);
    overrides();
    if (generated_.main) main_block(*generated_.main);
    for (const Problem& problem : generated_.problems) tell(problem);
    for (const Constraint& constraint : constraints_.list()) {
      made_.constraints.push_back(constraints_.to_text(constraint));
    }
    return std::move(made_);
  }

 private:
  Location location(const core::Position& position) const {
    Location made;
    if (position.file < program_.files.size()) made.file = program_.files[position.file];
    made.line = position.line;
    made.column = position.column;
    return made;
  }

  core::Position position_of(MethodId method) const {
    return method == kMain ? program_[program_.main].position : classes_[method].method->position;
  }

  void method(MethodId id) {
    const core::Method& of = *classes_[id].method;
    const Atomicity atomicity = constraints_.assigned(id);
    const Judged judged = judge(conditionals_, atomicity);
    MethodAtomicity result = {.name = explainer_.display(id),
                              .atomicity = conditionals_.to_text(atomicity),
                              .basic = judged.basic,
                              .is_declared = constraints_.is_declared(id),
                              .location = location(of.position)};
    for (const LockId lock : judged.needed) result.needed.push_back(locks_.to_string(lock));
    made_.methods.push_back(std::move(result));
    const auto& body = generated_.bodies[static_cast<std::size_t>(id)];
    if (!body) return;
    const Atomicity found = constraints_.value(*body);
    if (constraints_.is_declared(id)) {
      if (!conditionals_.leq(found, atomicity)) declared_wrongly(id, *body, found, atomicity);
      return;
    }
    if (judged.basic == Basic::kError) {
      finding(id, Kind::kRace, *body, judged.situation, Basic::kError,
              fmt::format("{} breaks the locking discipline, whatever its caller holds: ",
                          explainer_.display(id)));
    } else if (judged.basic == Basic::kCompound && !is_forked(id)) {
      finding(id, Kind::kAtomicity, *body, judged.situation, Basic::kCompound,
              fmt::format("{} is not atomic: ", explainer_.display(id)), false);
      reported_.push_back(id);
    }
  }

  bool is_forked(MethodId id) const {
    return std::ranges::find(generated_.forked, id) != generated_.forked.end();
  }

  void declared_wrongly(MethodId id, NodeId body, Atomicity found, Atomicity declared) {
    const std::string begin =
        fmt::format("{} is declared {}, but is {}: ", explainer_.display(id),
                    conditionals_.to_text(declared), conditionals_.to_text(found));
    if (const auto situation = exceeds(conditionals_, found, declared)) {
      finding(id, Kind::kAtomicity, body, *situation, Basic::kCompound, begin);
      return;
    }
    // Only where it is an error: the callers need to know of a lock.
    Situation situation;
    Atomicity a = found;
    Atomicity b = declared;
    while (!conditionals_.basic(a)) {
      const Predicate p = conditionals_.node(a).predicate;
      const bool value =
          conditionals_.leq(conditionals_.assume(a, p, false), conditionals_.assume(b, p, false));
      situation[p] = value;
      a = conditionals_.assume(a, p, value);
      b = conditionals_.assume(b, p, value);
    }
    finding(id, Kind::kRace, body, situation, Basic::kError, begin);
  }

  void critical_section(const Part& block) {
    const core::Expr& of = program_[block.expr];
    const Atomicity atomicity = constraints_.value(block.node);
    const Judged judged = judge(conditionals_, atomicity);
    made_.blocks.push_back({.method = explainer_.display(block.method),
                            .atomicity = conditionals_.to_text(atomicity),
                            .basic = judged.basic,
                            .location = location(of.position)});
    const bool told = std::ranges::find(reported_, block.method) != reported_.end();
    if (judged.basic != Basic::kCompound || told) return;
    if (block.method != kMain && constraints_.is_declared(block.method)) return;
    finding(
        block.method, Kind::kAtomicity, block.node, judged.situation, Basic::kCompound,
        fmt::format("the critical section in {} is not atomic: ", explainer_.display(block.method)),
        false);
  }

  void check(const Part& claim) {
    const Atomicity found = constraints_.value(claim.node);
    const auto situation = exceeds(conditionals_, found, claim.bound);
    if (!situation) return;
    finding(claim.method, Kind::kAtomicity, claim.node, *situation, Basic::kCompound,
            fmt::format("this part of {} must be {}, but is {}: ", explainer_.display(claim.method),
                        conditionals_.to_text(claim.bound), conditionals_.to_text(found)));
  }

  // [EXP FORK]: a new thread holds its own lock, and no other.
  void new_thread(const Part& fork) {
    const Situation holds_own = {{{.lock = Locks::kThread}, true}};
    const Basic basic = conditionals_.evaluate(constraints_.value(fork.node), [&](Predicate p) {
      return p.kind == Predicate::Kind::kHeld && p.lock == Locks::kThread;
    });
    if (basic != Basic::kError) return;
    finding(fork.method, Kind::kRace, fork.node, holds_own, Basic::kError,
            "a new thread breaks the locking discipline: ");
  }

  void main_block(NodeId body) {
    // Nobody can hold anything for main.
    const Basic basic =
        conditionals_.evaluate(constraints_.value(body), [](Predicate) { return false; });
    if (basic == Basic::kError) {
      finding(kMain, Kind::kRace, body, {}, Basic::kError, "main breaks the locking discipline: ");
    }
  }

  // What an override owes to a declared atomicity.
  void overrides() {
    for (const Constraint& constraint : constraints_.list()) {
      const auto& body = generated_.bodies[static_cast<std::size_t>(constraint.method)];
      if (!constraints_.is_declared(constraint.method) || (body && *body == constraint.bound)) {
        continue;
      }
      const Atomicity found = constraints_.value(constraint.bound);
      const Atomicity declared = constraints_.assigned(constraint.method);
      if (conditionals_.leq(found, declared)) continue;
      const core::ExprId at = constraints_[constraint.bound].expr;
      Finding made = begin(constraint.method, Kind::kAtomicity);
      made.message = fmt::format("an override of {} is {}, where {} is declared",
                                 explainer_.display(constraint.method),
                                 conditionals_.to_text(found), conditionals_.to_text(declared));
      if (at != core::kNoExpr) {
        made.events.push_back({.op = "override", .location = location(program_[at].position)});
      }
      made_.findings.push_back(std::move(made));
    }
  }

  Finding begin(MethodId method, Kind kind) const {
    Finding made = {.analysis = "infer", .kind = kind, .verdict = Certainty::kPredicted};
    made.transactions.push_back(
        {.label = explainer_.display(method), .location = location(position_of(method))});
    return made;
  }

  // `demanded`: somebody said that it must be otherwise, and a wait is no excuse.
  void finding(MethodId method, Kind kind, NodeId node, const Situation& situation, Basic result,
               const std::string& what, bool demanded = true) {
    const Explanation why = explainer_.explain(node, situation, result);
    const Explainer::Reason reason = explainer_.reason(why);
    if (reason.waits && !demanded) return;
    Finding made = begin(method, kind);
    made.message = what + reason.text;
    for (const Step& step : why.steps) {
      made.events.push_back(
          {.op = step.op, .variable = step.object, .location = location(step.position)});
    }
    made_.findings.push_back(std::move(made));
  }

  void tell(const Problem& problem) {
    Finding made = begin(problem.method, problem.kind);
    made.message = fmt::format("{}: {}", explainer_.display(problem.method), problem.message);
    made.fix = problem.fix;
    made.events.push_back({.op = "here", .location = location(program_[problem.expr].position)});
    made_.findings.push_back(std::move(made));
  }

  const core::Program& program_;
  Locks& locks_;
  Classes& classes_;
  Conditionals& conditionals_;
  Constraints& constraints_;
  const Generated& generated_;
  Explainer explainer_;
  std::vector<MethodId> reported_;
  Inference made_;
};

}  // namespace

Result<Inference> infer_atomicities(const core::Program& program) {
  Locks locks = program.locks;
  Classes classes(program, locks);
  if (auto fits = classes.check(); !fits) return std::unexpected(fits.error());
  Conditionals conditionals(locks);
  Constraints constraints(classes, conditionals, locks);
  auto generated = Generator(program, locks, classes, conditionals, constraints).run();
  if (!generated) return std::unexpected(generated.error());
  constraints.solve();
  return Judge(program, locks, classes, conditionals, constraints, *generated).run();
}

}  // namespace tomos::infer
