// Ways through the program: disjunctions, loops, and how they meet again.
#include <algorithm>
#include <tuple>
#include <utility>

#include "tm/execute.h"

namespace tomos::tm {

using NodeKind = Node::Kind;
using LocationKind = Location::Kind;

namespace {

bool holds(const Few<Hold>& held, LocationId lock) {
  return std::ranges::any_of(held, [&](const Hold& one) { return one.lock == lock; });
}

}  // namespace

// A way of many steps that may each be left out could have any of them as its last: pairs without
// end, all of the same code. Of each code the latest few are enough to find what it does wrong.
void Executor::keep_latest(Few<Last>& of) {
  const auto most = static_cast<std::ptrdiff_t>(kMostLast * options_.effort);
  if (std::cmp_less_equal(of.size(), most)) return;
  Few<Last> kept;
  for (auto one = of.begin(); one != of.end(); ++one) {
    const auto later = one + std::min<std::ptrdiff_t>(most, of.end() - one);
    if (later == of.end() || later->node != one->node) {
      kept.insert(*one);
    } else {
      traces_.bounded.last.insert(one->node);
    }
  }
  of = std::move(kept);
}

void Executor::State::join(const State& other) {
  if (!other.reachable) return;
  if (!reachable) {
    *this = other;
    return;
  }
  local.join(other.local);
  last.insert(other.last);
  alive.insert(other.alive);
  held.erase_where([&](const Hold& one) { return !holds(other.held, one.lock); });
  for (const Hold& one : other.held) {
    if (one.shared && holds(held, one.lock)) held.insert(one);
  }
  std::erase_if(again, [&](LocationId lock) {
    return std::ranges::count(again, lock) > std::ranges::count(other.again, lock);
  });
  own = in_both(own, other.own);
  // Who may have waited for a condition may be in another section than who did not: the later one.
  section =
      held.empty() || section == 0 || other.section == 0 ? 0 : std::max(section, other.section);
}

// What a function or a loop is left with: guards give back their locks, objects are destroyed.
Executor::State Executor::left(std::size_t guards) {
  const std::vector<Guard> all = guards_;
  while (guards_.size() > guards) {
    const Guard one = guards_.back();
    guards_.pop_back();
    unlock(state_, one.locks);
    eval(one.at_end);
  }
  guards_ = all;
  State left = state_;
  state_.reachable = false;
  return left;
}

// There is but one way if the condition is a number. `a && b` is a kind of `if`, and so is
// `a || b`, which asks b if a does not hold.
Value Executor::decided(const Node& node, bool holds) {
  const bool is_pair = node.children.size() == 2;
  if (is_pair && holds == node.negated) {
    Value value;
    value.number = holds ? 1 : 0;
    return value;
  }
  Value value = eval(node.children[is_pair || holds ? 1 : 2]);
  if (is_pair && value.number) value.number = *value.number == 0 ? 0 : 1;
  return value;
}

Value Executor::branch(const Node& node) {
  const Value condition = eval(node.children[0]);
  if (!state_.reachable) return {};
  if (condition.number) return decided(node, *condition.number != 0);
  // The second operand of `||` is reached if the first does not hold.
  const bool is_or = node.negated;
  const Origins& here = is_or ? condition.if_false : condition.if_true;
  const Origins& otherwise = is_or ? condition.if_true : condition.if_false;
  const auto breaks = [&] {
    return calls_.back().loops.empty() ? 0 : calls_.back().loops.back().left;
  };
  Residual outside;  // of any loop
  const auto loop_residual = [&]() -> Residual& {
    return calls_.back().loops.empty() ? outside : calls_.back().loops.back().residual;
  };
  const unsigned returned = calls_.back().left;
  const unsigned broken = breaks();
  // What one way asks before it goes on is nothing to the other; and if it does not go on, to
  // nobody.
  const auto way = [&](NodeId child) {
    calls_.back().residual.open();
    loop_residual().open();
    const unsigned before = breaks();
    const Value value = eval(child);
    const bool goes_on = state_.reachable || breaks() != before;
    Control call_asked = calls_.back().residual.close();
    Control loop_asked = loop_residual().close();
    if (!goes_on) call_asked = {};
    if (!goes_on) loop_asked = {};
    return std::tuple(value, std::move(call_asked), std::move(loop_asked));
  };
  State other = state_;
  take_tried(condition, !is_or);
  controls_.push_back({.origins = condition.origins, .validates = here});
  auto [result, call_asked, loop_asked] = way(node.children[1]);
  std::swap(state_, other);
  take_tried(condition, is_or);
  if (node.children.size() > 2) {
    controls_.back() = {.origins = condition.origins, .validates = otherwise};
    auto [second, more_call, more_loop] = way(node.children[2]);
    result.join(second);
    call_asked.add(more_call);
    loop_asked.add(more_loop);
  }
  controls_.pop_back();
  // Where one way leaves and the other goes on, the rest depends on the condition, too.
  const bool breaks_out = breaks() != broken;
  Control control = {.origins = condition.origins, .validates = {}};
  if (!other.reachable) control.validates = otherwise;
  if (!state_.reachable) control.validates = here;
  if (!control.origins.empty() && (state_.reachable || other.reachable || breaks_out)) {
    if (calls_.back().left != returned) call_asked.add(control);
    if (breaks_out) loop_asked.add(control);
  }
  calls_.back().residual.add(call_asked);
  loop_residual().add(loop_asked);
  state_.join(other);
  keep_latest(state_.last);
  result.origins.insert(made_implicit(condition.origins));
  // Of `a && b` both hold if it does; of `a || b` neither does if it does not.
  const bool is_pair = node.children.size() == 2;
  Origins& both = is_or ? result.if_false : result.if_true;
  Origins known = is_pair ? both : Origins();
  if (is_pair) known.insert(here);
  result.if_true = {};
  result.if_false = {};
  both = std::move(known);
  result.number = std::nullopt;
  if (is_pair && result.tried && result.tried->if_true == is_or) result.tried = std::nullopt;
  return result;
}

// A variable that a loop assigns to may be anything when it goes round: two rounds are not all.
const std::vector<std::uint32_t>& Executor::assigned_in(NodeId loop) {
  const auto [known, is_new] = assigned_in_.try_emplace(loop);
  if (!is_new) return known->second;
  std::vector<NodeId> next = {loop};
  while (!next.empty()) {
    const NodeId id = next.back();
    next.pop_back();
    if (id == kNoNode) continue;
    const Node& node = program_[id];
    next.insert(next.end(), node.children.begin(), node.children.end());
    if (node.kind != NodeKind::kAssign && node.kind != NodeKind::kUpdate) continue;
    const Node& to = program_[node.children[0]];
    if (to.kind == NodeKind::kLocal) known->second.push_back(to.number);
  }
  return known->second;
}

void Executor::forget_numbers(NodeId loop) {
  for (const std::uint32_t variable : assigned_in(loop)) {
    const LocationId at =
        traces_.locations.get(LocationKind::kLocal, calls_.back().frame, variable);
    const Value* known = state_.local.find(at);
    if (known != nullptr && known->number) state_.local.get(at).number = std::nullopt;
  }
}

void Executor::iteration(const Node& node, NodeId id, bool test_first) {
  forget_numbers(id);
  const NodeId test = node.children[test_first ? 0 : 1];
  const NodeId body = node.children[test_first ? 1 : 0];
  const auto decide = [&] {
    if (test == kNoNode) return;
    const Value condition = eval(test);
    if (!state_.reachable || (condition.number && *condition.number != 0)) return;
    const State goes_on = state_;
    take_tried(condition, false);
    calls_.back().loops.back().breaks.join(state_);
    state_ = goes_on;
    take_tried(condition, true);
    if (!condition.origins.empty()) {
      calls_.back().loops.back().residual.add(
          {.origins = condition.origins, .validates = condition.if_true});
    }
    if (condition.number) state_.reachable = false;
  };
  if (test_first) decide();
  calls_.back().residual.open();
  const unsigned left = calls_.back().loops.back().left;
  eval(body);
  Loop& around = calls_.back().loops.back();
  // As in branch(): what is asked on a way that does not go on.
  const Control asked = calls_.back().residual.close();
  if (state_.reachable || around.left != left) calls_.back().residual.add(asked);
  state_.join(around.continues);
  around.continues = {.reachable = false};
  if (!test_first) decide();
}

// Nothing in it has an effect.
bool Executor::is_idle(NodeId id) const {
  if (id == kNoNode) return true;
  const Node& node = program_[id];
  switch (node.kind) {
    case NodeKind::kSequence:
    case NodeKind::kConstant:
    case NodeKind::kOperator:
    case NodeKind::kContinue:
      break;
    case NodeKind::kCall: {  // of what has no source: it waits a while
      const auto known = functions_.find(node.name);
      if (known != functions_.end() && program_.functions[known->second].body != kNoNode)
        return false;
      break;
    }
    default:
      return false;
  }
  return std::ranges::all_of(node.children, [&](NodeId child) { return is_idle(child); });
}

// Not at all, or twice: what a third time would add is there after two.
void Executor::loop(const Node& node, NodeId id, bool test_first) {
  calls_.back().loops.push_back({.held = state_.held, .guards = guards_.size()});
  iteration(node, id, test_first);
  iteration(node, id, test_first);
  const bool goes_round = state_.reachable;
  // The condition that ends it is asked once more.
  Value last;
  if (test_first && node.children[0] != kNoNode) last = eval(node.children[0]);
  take_tried(last, false);
  State after = state_;
  const NodeId test = node.children[test_first ? 0 : 1];
  const bool endless = test == kNoNode || (last.number && *last.number != 0);
  if (endless) after.reachable = false;
  Loop done = std::move(calls_.back().loops.back());
  calls_.back().loops.pop_back();
  // A loop that joins threads joins them all: that it may be left out is true only if there are
  // none.
  const Few<ThreadId> alive = state_.alive;
  after.join(done.breaks);
  state_ = std::move(after);
  keep_latest(state_.last);
  if (goes_round && !endless) state_.alive = alive;
  // Who does nothing but wait for something counts on it afterwards.
  if (!last.origins.empty() && is_idle(node.children[1])) {
    calls_.back().residual.add({.origins = last.origins, .validates = last.if_false});
  }
}

}  // namespace tomos::tm
