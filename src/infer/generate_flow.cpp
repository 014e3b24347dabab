// Flow and locks: what is known to be held along each way through a method.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "infer/generate.h"

namespace tomos::infer {

using core::Expr;

int Generator::count(LockId lock) const {
  const auto at = state_.counts.find(lock);
  return at == state_.counts.end() ? 0 : at->second;
}

void Generator::set_count(LockId lock, int count) {
  if (lock == Locks::kUnknown) return;
  if (count == 0) {
    state_.counts.erase(lock);
  } else {
    state_.counts[lock] = count;
  }
}

std::vector<std::pair<LockId, bool>> Generator::facts() const {
  std::vector<std::pair<LockId, bool>> known;
  known.reserve(state_.counts.size());
  for (const auto& [lock, times] : state_.counts) known.emplace_back(lock, times > 0);
  return known;
}

Generator::State Generator::merge(const State& a, const State& b, ExprId where) {
  if (!a.reachable) return b;
  if (!b.reachable) return a;
  State merged = a;
  for (const auto& [lock, times] : b.counts) merged.counts.try_emplace(lock, 0);
  for (auto& [lock, times] : merged.counts) {
    const auto in_a = a.counts.find(lock);
    const auto in_b = b.counts.find(lock);
    const int one = in_a == a.counts.end() ? 0 : in_a->second;
    const int two = in_b == b.counts.end() ? 0 : in_b->second;
    times = one == two ? one : kMaybe;
    if (one != two && one != kMaybe && two != kMaybe) {
      problem(
          where, Kind::kRace,
          fmt::format("{} is held on one way to the end of this, and not on the other", show(lock)),
          fmt::format("Acquire or release {} on both ways.", show(lock)), lock);
    }
  }
  return merged;
}

void Generator::leave(ExprId where) {
  const auto says = [&](const std::vector<LockId>& locks, LockId lock) {
    return std::ranges::find(locks, lock) != locks.end();
  };
  for (const auto& [lock, times] : state_.counts) {
    if (lock == Locks::kThread || times == kMaybe) continue;
    if (times > 0 && (method_ == nullptr || !says(method_->acquires, lock))) {
      problem(where, Kind::kDeadlock, fmt::format("returns holding {}", show(lock)),
              fmt::format("Release {0} before, or declare `acquires {0}`.", show(lock)), lock);
    }
    if (times == kReleased && (method_ == nullptr || !says(method_->releases, lock))) {
      problem(
          where, Kind::kRace, fmt::format("returns without {}, which its caller holds", show(lock)),
          fmt::format("Acquire {0} again before, or declare `releases {0}`.", show(lock)), lock);
    }
  }
  if (method_ == nullptr) return;
  for (const LockId lock : method_->acquires) {
    if (count(lock) <= 0 && count(lock) != kMaybe) {
      problem(where, Kind::kRace,
              fmt::format("returns without {}, which it says it acquires", show(lock)),
              fmt::format("Acquire {} on this way too.", show(lock)), lock);
    }
  }
  for (const LockId lock : method_->releases) {
    if (count(lock) != kReleased && count(lock) != kMaybe) {
      problem(where, Kind::kDeadlock,
              fmt::format("returns holding {}, which it says it releases", show(lock)),
              fmt::format("Release {} on this way too.", show(lock)), lock);
    }
  }
}

Generator::Target Generator::target(ExprId lock) {
  Steps evaluated;  // const, or an error: no step of its own
  const Value value = expr(lock, evaluated);
  if (failed()) return {};
  const Type* type = classes_.type_of(env_, value.path);
  if (type == nullptr || Classes::is_value(*type)) {
    fail(program_[lock].position, "this is no lock that stays the same",
         "Lock a variable, or final fields of one; put anything else into a variable with let.");
    return {};
  }
  return {.lock = value.path,
          .protector = classes_.protector(*type, value.path),
          .reentrant = classes_.is_reentrant(*type)};
}

void Generator::lock(ExprId id, const Target& target, Steps& out) {
  if (failed()) return;
  const bool around = std::ranges::find(sections_, target.lock) != sections_.end();
  const bool held = count(target.lock) > 0 || (around && count(target.lock) == 0);
  if (held && !target.reentrant) {
    problem(id, Kind::kDeadlock,
            fmt::format("acquires {}, which it holds already", show(target.lock)),
            "Release it before, or use a recursive_mutex.");
  }
  const auto when_held = [&](Basic not_held) {
    return conditionals_.choice({.lock = target.lock}, constant(Basic::kConst), constant(not_held));
  };
  const Atomicity taken = conditionals_.choice(
      {.kind = Predicate::Kind::kIsNone, .lock = target.protector}, when_held(Basic::kRight),
      conditionals_.choice({.lock = target.protector}, when_held(Basic::kMover),
                           constant(Basic::kError)));
  step(id, constraints_.add({.expr = id, .atomicity = taken}), out);
  if (count(target.lock) != kMaybe) set_count(target.lock, count(target.lock) + 1);
}

void Generator::unlock(ExprId id, const Target& target, Steps& out) {
  if (failed()) return;
  const int times = count(target.lock);
  if (times == kReleased) {
    problem(id, Kind::kRace, fmt::format("releases {}, which it does not hold", show(target.lock)),
            "Acquire it before, or leave this out.");
  }
  const auto released = [&](Basic left) {
    if (times == kMaybe) return constant(left);
    if (times > 1) return constant(Basic::kConst);
    // One that was held at the entry is not given back by releasing it once more; if it was not
    // acquired here, it must have been held at the entry.
    return times == 1 ? conditionals_.choice({.lock = target.lock}, constant(Basic::kConst),
                                             constant(left))
                      : conditionals_.choice({.lock = target.lock}, constant(left),
                                             constant(Basic::kError));
  };
  const Atomicity given = conditionals_.choice(
      {.kind = Predicate::Kind::kIsNone, .lock = target.protector}, released(Basic::kLeft),
      conditionals_.choice({.lock = target.protector}, released(Basic::kMover),
                           constant(Basic::kError)));
  step(id, constraints_.add({.expr = id, .atomicity = given}), out, target.lock);
  if (times == kMaybe || times == kReleased) {
    set_count(target.lock, 0);
  } else {
    set_count(target.lock, times - 1);
  }
}

Generator::Value Generator::synchronised(ExprId id, Steps& out) {
  const Expr& of = program_[id];
  const Target on = target(of.children[0]);
  if (failed()) return {};
  const int before = count(on.lock);
  const bool held = before > 0 || std::ranges::find(sections_, on.lock) != sections_.end();
  if (held && !on.reentrant) {
    problem(id, Kind::kDeadlock, fmt::format("acquires {}, which it holds already", show(on.lock)),
            "Release it before, or use a recursive_mutex.");
  }
  set_count(on.lock, 0);  // inside, S says that it is held
  sections_.push_back(on.lock);
  Steps inner;
  Value value = expr(of.children[1], inner);
  sections_.pop_back();
  if (failed()) return {};
  if (state_.reachable && count(on.lock) != 0) {
    problem(id, Kind::kRace, fmt::format("the block ends without holding {} once", show(on.lock)),
            "Inside, acquire it again whenever it was released.");
  }
  set_count(on.lock, before);
  if (inner.empty()) inner.push_back(basic(Basic::kConst, of.children[1]));
  const NodeId body = constraints_.add({.kind = Node::Kind::kSync,
                                        .expr = id,
                                        .children = {group(inner, of.children[1])},
                                        .lock = on.lock,
                                        .protector = on.protector});
  if (silent_ == 0) {
    made_.blocks.push_back({.node = body, .expr = id, .method = current_});
  }
  step(id, body, out);
  return value;
}

// Statements one after the other. Where a way through an `if` ends the method or the loop, what
// follows belongs to the other way alone: a release before an early return comes before nothing
// else.
Generator::Value Generator::sequence(const std::vector<ExprId>& children, std::size_t from,
                                     Steps& out) {
  Value last = {.type = {.name = "void"}};
  for (std::size_t i = from; i < children.size() && !failed(); ++i) {
    Steps steps;
    if (program_[children[i]].kind == Expr::Kind::kIf) {
      last = {};
      const bool took_rest = conditional(children[i], children, i + 1, steps);
      out.push_back(group(steps, children[i]));
      if (took_rest) return last;
      continue;
    }
    last = expr(children[i], steps);
    if (!steps.empty()) out.push_back(group(steps, children[i]));
  }
  return last;
}

// Says whether it took the children from `rest` on into one of its branches.
bool Generator::conditional(ExprId id, const std::vector<ExprId>& children, std::size_t rest,
                            Steps& out) {
  const Expr& of = program_[id];
  ExprId tested = of.children[0];
  const Expr& outer = program_[tested];
  const bool negated = outer.kind == Expr::Kind::kOperator && outer.name == "!";
  if (negated) tested = outer.children[0];
  const Expr& test = program_[tested];
  Steps yes;
  Steps no;
  const bool tries = test.kind == Expr::Kind::kTryLock;
  if (tries) {
    // A try may fail for no reason at all, so its failure says nothing about others: it commutes
    // with them.
    (negated ? yes : no).push_back(basic(Basic::kMover, tested));
  } else {
    expr(of.children[0], out);
  }
  const State before = state_;
  if (tries && !negated) lock(tested, target(test.children[0]), yes);
  expr(of.children[1], yes);
  const State after_yes = std::exchange(state_, before);
  if (tries && negated) lock(tested, target(test.children[0]), no);
  expr(of.children[2], no);
  const State after_no = state_;
  const bool one_ends = after_yes.reachable != after_no.reachable;
  const bool takes_rest = one_ends && rest < children.size();
  state_ = merge(after_yes, after_no, id);
  if (takes_rest) sequence(children, rest, after_yes.reachable ? yes : no);
  out.push_back(
      constraints_.add({.kind = Node::Kind::kJoin,
                        .expr = id,
                        .children = {group(yes, of.children[1]), group(no, of.children[2])}}));
  return takes_rest;
}

// [EXP WHILE]: d1;((d2;d1)*). Returns what is known at the second round, and after the loop.
std::pair<Generator::State, Generator::State> Generator::loop_once(ExprId id, const State& head,
                                                                   Steps& out) {
  const Expr& of = program_[id];
  state_ = head;
  loops_.emplace_back();
  Steps test;
  expr(of.children[0], test);
  const NodeId condition = group(test, of.children[0]);
  const State left = state_;
  Steps again;
  expr(of.children[1], again);
  again.push_back(condition);
  out.push_back(condition);
  out.push_back(constraints_.add(
      {.kind = Node::Kind::kIterate, .expr = id, .children = {group(again, of.children[1])}}));
  const Loop made = std::move(loops_.back());
  loops_.pop_back();
  State around = state_;
  for (const State& next : made.continues) around = merge(around, next, id);
  around = merge(around, head, id);
  const Expr& decides = program_[of.children[0]];
  State after = left;
  after.reachable &= decides.kind != Expr::Kind::kConstant || decides.name != "true";
  for (const State& next : made.breaks) after = merge(after, next, id);
  return {around, after};
}

void Generator::loop(ExprId id, Steps& out) {
  State head = state_;
  while (!failed()) {
    const std::size_t blocks = made_.blocks.size();
    const std::size_t claims = made_.claims.size();
    const std::size_t forks = made_.forks.size();
    Steps steps;
    const auto [around, after] = loop_once(id, head, steps);
    if (around.counts == head.counts) {
      out.insert(out.end(), steps.begin(), steps.end());
      state_ = after;
      return;
    }
    // What is held at the second round is not what was held at the first: once more, with what both
    // have.
    head = around;
    made_.blocks.resize(blocks);
    made_.claims.resize(claims);
    made_.forks.resize(forks);
  }
}

}  // namespace tomos::infer
