#include "infer/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/printer.h"

namespace tomos::infer {

using core::Expr;

namespace {

constexpr std::size_t kMaxDepth = 8;  // of calls in a reason

bool holds(const Situation& situation, Predicate p) {
  const auto at = situation.find(p);
  return at != situation.end() && at->second;
}

struct Words {
  std::string_view op;
  std::string_view does;
  std::string_view doing;
};
constexpr auto kWords =
    std::to_array<Words>({{"read", "reads", "reading"},
                          {"write", "writes", "writing"},
                          {"update", "updates", "updating"},
                          {"acquire", "acquires", "acquiring"},
                          {"release", "releases", "releasing"},
                          {"call", "calls", "calling"},
                          {"wait", "waits with", "waiting with"},
                          {"fork", "starts a thread for", "starting a thread for"},
                          {"transaction", "runs", "running"}});

const Words& words(std::string_view op) {
  const auto* const at = std::ranges::find(kWords, op, &Words::op);
  return at == kWords.end() ? kWords[0] : *at;
}

}  // namespace

Judged judge(const Conditionals& conditionals, Atomicity atomicity) {
  if (const auto basic = conditionals.basic(atomicity)) return {.basic = *basic};
  const Conditionals::Node& node = conditionals.node(atomicity);
  const Predicate& p = node.predicate;
  Judged no = judge(conditionals, node.otherwise);
  const bool only_error = conditionals.basic(node.otherwise) == Basic::kError;
  if (p.kind == Predicate::Kind::kHeld && !only_error) return no;
  Judged yes = judge(conditionals, node.then);
  if (p.kind == Predicate::Kind::kHeld) {
    yes.needed.push_back(p.lock);
  } else if (yes.basic == Basic::kError || (no.basic != Basic::kError && no.basic >= yes.basic)) {
    return no;
  }
  yes.situation[p] = true;
  return yes;
}

std::optional<Situation> exceeds(Conditionals& conditionals, Atomicity a, Atomicity b) {
  const auto left = conditionals.basic(a);
  const auto right = conditionals.basic(b);
  if (left && right) {
    if (*left == Basic::kError || infer::leq(*left, *right)) return std::nullopt;
    return Situation{};
  }
  const Predicate first =
      left    ? conditionals.node(b).predicate
      : right ? conditionals.node(a).predicate
              : std::min(conditionals.node(a).predicate, conditionals.node(b).predicate);
  for (const bool value : {false, true}) {
    auto found = exceeds(conditionals, conditionals.assume(a, first, value),
                         conditionals.assume(b, first, value));
    if (found) {
      found->emplace(first, value);
      return found;
    }
  }
  return std::nullopt;
}

std::string Explainer::place(const core::Position& position) const {
  return core::to_string(solved_.program, position);
}

std::string Explainer::display(MethodId method) const {
  if (method == kMain) return "main";
  const MethodOf& of = solved_.classes[method];
  if (!of.method->display.empty()) return of.method->display;
  if (of.owner == nullptr) return of.method->name;
  const std::string& owner = of.owner->display.empty() ? of.owner->name : of.owner->display;
  return owner + (of.method->kind == core::Method::Kind::kStatic ? "::" : ".") + of.method->name;
}

Explanation Explainer::explain(NodeId node) {
  around_.clear();
  made_ = {};
  walk(node);
  return std::move(made_);
}

Explanation Explainer::explain(NodeId node, const Situation& situation, Basic result) {
  situation_ = situation;
  all_held_ = false;
  result_ = result;
  own_ = false;
  return explain(node);
}

Explanation Explainer::explain_own(NodeId node, const Situation& situation) {
  situation_ = situation;
  all_held_ = false;
  result_ = Basic::kCompound;
  own_ = true;
  return explain(node);
}

Explanation Explainer::explain_own_error(NodeId node, const std::optional<Situation>& situation) {
  situation_ = situation.value_or(Situation());
  all_held_ = !situation;
  result_ = Basic::kError;
  own_ = true;
  return explain(node);
}

bool Explainer::is_broken(MethodId method) const {
  return !solved_.constraints.is_declared(method) &&
         judge(solved_.conditionals, solved_.constraints.assigned(method)).basic == Basic::kError;
}

bool Explainer::is_true(Predicate p) const {
  return holds(situation_, p) || (all_held_ && p.kind == Predicate::Kind::kHeld);
}

// In the situation, seen through all that stands around.
Basic Explainer::evaluate(Atomicity atomicity) {
  for (std::size_t i = around_.size(); i-- > 0;) {
    const Node& node = solved_.constraints[around_[i]];
    atomicity = node.kind == Node::Kind::kSync
                    ? solved_.conditionals.assume_held(atomicity, node.lock, true)
                    : solved_.constraints.apply(node, atomicity);
  }
  return solved_.conditionals.evaluate(atomicity, [&](Predicate p) { return is_true(p); });
}

void Explainer::walk(NodeId id) {
  if (made_.broken) return;
  const Node& node = solved_.constraints[id];
  switch (node.kind) {
    case Node::Kind::kConstant:
    case Node::Kind::kVariable:
    case Node::Kind::kTransaction:
      leaf(node, evaluate(solved_.constraints.value(id)));
      return;
    case Node::Kind::kSequence:
      for (const NodeId child : node.children) walk(child);
      return;
    case Node::Kind::kJoin:
      if (own_) {
        walk_either(node);
      } else {
        walk(worst(node));
      }
      return;
    case Node::Kind::kIterate: {
      // Whatever comes before it in the second round came after it in the first.
      const Basic once = evaluate(solved_.constraints.value(node.children[0]));
      walk(node.children[0]);
      if (once != infer::iterate(once)) walk(node.children[0]);
      return;
    }
    case Node::Kind::kSync:
      walk_sync(id);
      return;
    case Node::Kind::kSubstitute:
    case Node::Kind::kWellFormed:
    case Node::Kind::kInverse:
    case Node::Kind::kAssume:
    case Node::Kind::kUnshared:
      around_.push_back(id);
      walk(node.children[0]);
      around_.pop_back();
      return;
  }
}

void Explainer::walk_sync(NodeId id) {
  const Node& node = solved_.constraints[id];
  const Expr& of = solved_.program[node.expr];
  const Basic taking = evaluate(
      solved_.conditionals.synchronised(node.lock, node.protector, constant(Basic::kConst)));
  const std::string lock = solved_.locks.to_string(node.lock);
  const bool really = taking == Basic::kAtomic;
  if (taking == Basic::kError || really) {
    add({.basic = really ? Basic::kRight : Basic::kError,
         .op = "acquire",
         .object = lock,
         .position = of.position});
  }
  around_.push_back(id);
  walk(node.children[0]);
  around_.pop_back();
  if (really && !made_.broken) {
    add({.basic = Basic::kLeft,
         .op = "release",
         .object = lock,
         .position = of.end.line == 0 ? of.position : of.end});
  }
}

// The branch that breaks, or else one that commits. What a branch is worth says nothing here: it
// may be due to calls.
void Explainer::walk_either(const Node& join) {
  const Explanation before = made_;
  Explanation best;
  for (const NodeId child : join.children) {
    made_ = before;
    walk(child);
    if (made_.broken) return;
    if (child == join.children[0] || (made_.commit && !best.commit)) best = made_;
  }
  made_ = std::move(best);
}

// The branch that does most harm after the steps so far.
NodeId Explainer::worst(const Node& join) {
  const auto harm = [&](NodeId child) {
    const Basic basic = evaluate(solved_.constraints.value(child));
    if (basic == Basic::kError) return result_ == Basic::kError ? 4 : -1;
    if (basic == Basic::kCompound) return 3;
    if (basic == Basic::kAtomic) return 2;
    return basic == (made_.commit ? Basic::kRight : Basic::kLeft) ? 1 : 0;
  };
  return *std::ranges::max_element(join.children, {}, harm);
}

std::string Explainer::object_of(const Expr& expr) const {
  switch (expr.kind) {
    case Expr::Kind::kAssign:
    case Expr::Kind::kUpdate:
    case Expr::Kind::kLock:
    case Expr::Kind::kTryLock:
    case Expr::Kind::kUnlock:
    case Expr::Kind::kWait:
    case Expr::Kind::kSync: {
      const Expr& of = solved_.program[expr.children[0]];
      if (of.kind == Expr::Kind::kField) return object_of(of);
      return of.name;
    }
    case Expr::Kind::kField: {
      const Expr& of = solved_.program[expr.children[0]];
      const bool is_path = of.kind == Expr::Kind::kField || of.kind == Expr::Kind::kVariable;
      return is_path ? object_of(of) + "." + expr.name : expr.name;
    }
    case Expr::Kind::kAtomic:
      return "a transaction";
    default:  // only what can be a step has an object
      return expr.name;
  }
}

void Explainer::leaf(const Node& node, Basic basic) {
  if (basic == Basic::kConst || node.expr == core::kNoExpr) return;
  if (own_ && node.kind == Node::Kind::kVariable) {
    if (basic == Basic::kCompound) return;
    if (result_ == Basic::kError && basic == Basic::kError && is_broken(node.method)) return;
  }
  const Expr& of = solved_.program[node.expr];
  Step step = {.basic = basic, .object = object_of(of), .position = of.position};
  const auto op = [&]() -> std::string_view {
    switch (of.kind) {
      case Expr::Kind::kAssign:
        return "write";
      case Expr::Kind::kUpdate:
        return "update";
      case Expr::Kind::kLock:
      case Expr::Kind::kTryLock:
        return "acquire";
      case Expr::Kind::kUnlock:
        return "release";
      case Expr::Kind::kWait:
        return "wait";
      case Expr::Kind::kCall:
      case Expr::Kind::kNew:
        // What begins a thread is never compound itself.
        return node.kind == Node::Kind::kVariable || basic == Basic::kCompound ? "call" : "fork";
      case Expr::Kind::kAtomic:
        return "transaction";
      default:
        return "read";
    }
  };
  step.op = op();
  if (basic == Basic::kError && node.kind == Node::Kind::kConstant) {
    if (!solved_.conditionals.basic(node.atomicity)) {
      const Judged wanted = judge(solved_.conditionals, node.atomicity);
      if (!wanted.needed.empty()) step.missing = solved_.locks.to_string(wanted.needed[0]);
    }
  }
  if (node.kind == Node::Kind::kVariable) {
    step.callee = node.method;
    step.object = display(node.method);
    // What the callee asks about locks, answered from here.
    const std::function<void(Atomicity)> answer = [&](Atomicity a) {
      if (solved_.conditionals.basic(a)) return;
      const Conditionals::Node asked = solved_.conditionals.node(a);
      const Atomicity question = solved_.conditionals.choice(
          asked.predicate, constant(Basic::kConst), constant(Basic::kError));
      const bool yes = evaluate(question) == Basic::kConst;
      step.inside[asked.predicate] = yes;
      answer(yes ? asked.then : asked.otherwise);
    };
    answer(solved_.constraints.assigned(node.method));
  }
  add(std::move(step));
}

void Explainer::add(Step step) {
  if (made_.broken) return;
  const std::size_t index = made_.steps.size();
  const Basic basic = step.basic;
  made_.steps.push_back(std::move(step));
  if (result_ == Basic::kError && basic != Basic::kError) return;
  if (basic == Basic::kCompound) made_.commit = std::nullopt;
  const bool breaks = made_.commit && (basic == Basic::kRight || basic == Basic::kAtomic);
  if (breaks || basic == Basic::kCompound || basic == Basic::kError) {
    made_.broken = index;
  } else if (basic == Basic::kLeft || basic == Basic::kAtomic) {
    made_.commit = index;  // of several, the last: up to it nothing was lost
  }
}

std::string Explainer::sentence(const Explanation& explanation) const {
  if (!explanation.broken) return "not reducible";
  const Step& broken = explanation.steps[*explanation.broken];
  const std::string what = fmt::format("{} {}", words(broken.op).does, broken.object);
  if (broken.basic == Basic::kError || !explanation.commit) {
    return fmt::format("{} at {}{}", what, place(broken.position),
                       broken.missing.empty() ? "" : " without holding " + broken.missing);
  }
  const Step& commit = explanation.steps[*explanation.commit];
  const bool same = broken.object == commit.object;
  const bool again = same && (broken.op == commit.op || broken.op == "acquire");
  if (again && broken.position == commit.position) {
    return fmt::format("{} at {}, and again in the next round of the loop: not reducible", what,
                       place(broken.position));
  }
  return fmt::format("{}{} at {} after {} {} at {}: not reducible", what, again ? " again" : "",
                     place(broken.position), words(commit.op).doing, same ? "it" : commit.object,
                     place(commit.position));
}

Explainer::Reason Explainer::reason(const Explanation& explanation) {
  Explanation at = explanation;
  Reason made = {.text = sentence(at)};
  for (std::size_t depth = 0; depth < kMaxDepth && at.broken; ++depth) {
    const Step broken = at.steps[*at.broken];
    made.waits = broken.op == "wait";
    const bool is_whole = broken.basic == Basic::kError || broken.basic == Basic::kCompound;
    if (!broken.callee || !is_whole) break;
    const auto& body = solved_.generated.bodies[static_cast<std::size_t>(*broken.callee)];
    if (!body) {
      made.text += fmt::format(", which is declared {}", core::to_string(broken.basic));
      break;
    }
    at = explain(*body, broken.inside, broken.basic);
    if (!at.broken) break;
    made.text += ", which " + sentence(at);
  }
  return made;
}

}  // namespace tomos::infer
