// Values and places: what they lead to, and what they depend on.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tm/execute.h"

namespace tomos::tm {

using NodeKind = Node::Kind;
using LocationKind = Location::Kind;

namespace {

// New objects that are told from others of their kind, on one way; the latest.
constexpr std::size_t kMostOwn = 32;

Value zero() {
  Value value;
  value.number = 0;
  return value;
}

bool is_array_part(const Locations& locations, LocationId at) {
  for (; locations[at].kind == LocationKind::kPart; at = static_cast<LocationId>(locations[at].a)) {
    if (locations[at].name == "[]") return true;
  }
  return false;
}

}  // namespace

// Reads of one variable that a value can rest on: in a long way of steps that may each be left out
// they are without end, and all of the same code. The latest are kept.
void Executor::keep_latest_reads(Origins& origins) {
  const std::size_t most = kMostReads * options_.effort;
  if (origins.size() <= 2 * most) return;
  std::unordered_map<std::uint64_t, std::size_t> count;
  const auto of = [&](const Origin& one) -> std::size_t& {
    return count[(static_cast<std::uint64_t>(one.location) << 1) | (one.implicit ? 1 : 0)];
  };
  bool too_many = false;
  for (const Origin& one : origins) too_many |= ++of(one) > most;
  if (!too_many) return;
  std::vector<Origin> left;
  for (const Origin& one : origins) {  // the latest execution is the last
    if (of(one)-- <= most) {
      left.push_back(one);
    } else {
      traces_.bounded.reads.insert(one.location);
    }
  }
  origins = Origins(std::move(left));
}

// The conditions in this function that decided that we are here.
Origins Executor::chosen_here() const {
  Origins all;
  if (calls_.empty()) return all;
  for (std::size_t i = calls_.back().controls; i < controls_.size(); ++i) {
    all.insert(made_implicit(controls_[i].origins));
  }
  for (const Loop& around : calls_.back().loops) {
    for (const Control& control : around.residual) all.insert(made_implicit(control.origins));
  }
  return all;
}

void Executor::note_meeting(const Origins& origins) {
  if (origins.size() < 2 || origins.size() > 32) return;
  Few<TransactionId> all;
  for (const Origin& origin : origins) {
    if (!origin.implicit) all.insert(executions_[origin.execution]);
  }
  for (const TransactionId one : all) {
    for (const TransactionId other : all) {
      if (one != other) traces_.meet.emplace(one, other);
    }
  }
  for (const Origin& one : origins) {
    for (const Origin& other : origins) {
      const bool both = one.execution == other.execution && one.location < other.location;
      if (!both) continue;
      traces_.together.insert(
          Together::of(executions_[one.execution], one.location, other.location));
    }
  }
}

Value Executor::join_of(const Node& node, std::size_t from) {
  Value joined;
  for (std::size_t i = from; i < node.children.size(); ++i) {
    if (node.children[i] != kNoNode) joined.join(eval(node.children[i]));
  }
  note_meeting(joined.origins);
  keep_latest_reads(joined.origins);
  return joined;
}

bool Executor::is_shared(LocationId at) const {
  const LocationId root = traces_.locations.root(at);
  const LocationKind kind = traces_.locations[root].kind;
  if (kind == LocationKind::kUnknown) return at != root;  // of which nothing is known at all
  const Location& location = traces_.locations[at];
  if (!options_.escape && location.kind == LocationKind::kPart && location.name.contains("::")) {
    return true;
  }
  return kind == LocationKind::kGlobal || escaped_.contains(root);
}

Place Executor::place(NodeId id) {
  const Node& node = program_[id];
  Place result;
  switch (node.kind) {
    case NodeKind::kLocal:
      result.at.insert(
          traces_.locations.get(LocationKind::kLocal, calls_.back().frame, node.number));
      break;
    case NodeKind::kGlobal:
      result.at.insert(program_.globals[node.number].is_thread_local
                           ? traces_.locations.get(LocationKind::kThreadLocal, node.number, thread_)
                           : traces_.locations.get(LocationKind::kGlobal, node.number));
      break;
    case NodeKind::kField:
    case NodeKind::kElement: {
      const Place whole = place(node.children[0]);
      result.origins = whole.origins;
      result.made = whole.made;
      if (node.kind == NodeKind::kElement && node.children.size() > 1) {
        result.origins.insert(eval(node.children[1]).origins);
      }
      const auto apart = apart_.find(static_cast<std::uint32_t>(id));
      const std::string name = node.kind == NodeKind::kField ? node.name
                               : apart == apart_.end()       ? "[]"
                                                       : "[" + std::to_string(apart->second) + "]";
      for (const LocationId at : whole.at) {
        result.at.insert(traces_.locations.part(at, name));
      }
      break;
    }
    default: {  // a value, and where it leads
      const Value value = eval(node.kind == NodeKind::kDeref ? node.children[0] : id);
      result.origins = value.origins;
      result.made = value.made;
      for (const LocationId at : value.points) {
        const LocationKind kind = traces_.locations[at].kind;
        if (kind != LocationKind::kFunction && kind != LocationKind::kThread) result.at.insert(at);
      }
      if (result.at.empty()) {
        result.at.insert(traces_.locations.get(LocationKind::kUnknown, 0));
      }
    }
  }
  return result;
}

Value Executor::stored_at(LocationId at) {
  const LocationId root = traces_.locations.root(at);
  const LocationKind kind = traces_.locations[root].kind;
  const bool own = kind == LocationKind::kLocal || kind == LocationKind::kNew ||
                   kind == LocationKind::kThreadLocal;
  Value value;
  if (own) {
    if (const Value* known = state_.local.find(at)) value = *known;
    if (kind == LocationKind::kLocal && !escaped_.contains(root)) return value;
  }
  if (const auto known = heap_.find(at); known != heap_.end()) value.points.insert(known->second);
  return value;
}

void Executor::keep(LocationId at, const Value& value, bool strong) {
  if (!state_.reachable) return;  // what was to be kept comes from a call that never returns
  if (!value.points.empty() && heap_[at].insert(value.points)) grown_ = true;
  const LocationKind kind = traces_.locations[traces_.locations.root(at)].kind;
  if (kind != LocationKind::kLocal && kind != LocationKind::kNew &&
      kind != LocationKind::kThreadLocal) {
    return;
  }
  Value& kept = state_.local.get(at);
  if (strong && kind == LocationKind::kLocal && !is_array_part(traces_.locations, at)) {
    kept = value;
  } else {
    kept.join(value);
  }
  kept.if_true = {};
  kept.if_false = {};
  keep_latest_reads(kept.origins);
}

Value Executor::load(const Place& from, const Node& node) {
  Value value;
  for (const LocationId at : from.at) {
    const bool shared = is_shared(at) && !is_own(from);
    Value stored = stored_at(at);
    if (shared) {
      access(at, false, node, from.origins);
      // Others may have changed it since: what it depends on is this read.
      stored.origins = {};
      stored.made = 0;
      if (const std::uint32_t execution = current(); recording_ && execution != 0) {
        stored.origins.insert({.execution = execution, .location = at});
      }
    }
    value.join(stored);
    if (from.at.size() == 1 && !shared && !addressed_.contains(at)) {
      value.number = stored.number;
      value.tried = stored.tried;
    }
  }
  value.origins.insert(from.origins);
  return value;
}

// What was read there before and is now a part of the object that is put there: the old head of a
// list, in the new one. Who reads there now has the present head, too, and an object is all that
// one place makes: others of them have old ones.
Origins Executor::kept_in(const Value& value, LocationId at) {
  if (traces_.transactions[executions_[current()]].reads.contains(at)) return {};
  std::vector<Origin> found;
  for (const LocationId object : value.points) {
    state_.local.for_each(traces_.locations.activation(object),
                          [&](LocationId part, const Value& kept) {
                            if (!traces_.locations.is_part(part, object)) return;
                            for (const Origin& origin : kept.origins) {
                              if (origin.location == at && !origin.implicit)
                                found.push_back(origin);
                            }
                          });
  }
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return Origins(std::move(found));
}

void Executor::store(const Place& to, const Value& value, const Node& node) {
  Value stored = {.points = value.points, .origins = value.origins, .if_true = {}, .if_false = {}};
  stored.origins.insert(chosen_here());
  stored.made = value.made;
  stored.number = value.number;
  stored.tried = value.tried;
  for (const LocationId at : to.at) {
    // Wherever it is stored but in a variable, somebody else may find it.
    const LocationId root = traces_.locations.root(at);
    if (traces_.locations[root].kind != LocationKind::kLocal || escaped_.contains(root)) {
      state_.own.erase(value.made);
    }
    if (is_shared(at) && !is_own(to)) {
      access(at, true, node, to.origins);
      if (recording_ && current() != 0) {
        flow(value.origins, Flow::Kind::kValue, at, validated());
        flow(kept_in(value, at), Flow::Kind::kValue, at, validated());
      }
      // What is moved from one to the other belongs with it.
      if (const std::uint32_t execution = current(); recording_ && execution != 0) {
        Origins both = value.origins;
        both.insert({.execution = execution, .location = at});
        note_meeting(both);
      }
    }
    keep(at, stored, to.at.size() == 1);
  }
}

void Executor::copy(const Place& to, const Place& from, const std::string& type, const Node& node,
                    unsigned depth) {
  const auto known = program_.classes.find(type);
  if (known == program_.classes.end() || depth > 8) return;
  for (const Field& field : known->second) {
    Place inner_to = {.at = {}, .origins = to.origins, .made = to.made};
    Place inner_from = {.at = {}, .origins = from.origins, .made = from.made};
    for (const LocationId at : to.at) inner_to.at.insert(traces_.locations.part(at, field.name));
    for (const LocationId at : from.at) {
      inner_from.at.insert(traces_.locations.part(at, field.name));
    }
    if (field.type.empty()) {
      store(inner_to, load(inner_from, node), node);
    } else {
      copy(inner_to, inner_from, field.type, node, depth + 1);
    }
  }
}

// Equality of what was read before and of what is there now: a transaction that goes on only then
// does no harm with what it was given.
Value Executor::compare(const Node& node) {
  const Value left = eval(node.children[0]);
  const Value right = eval(node.children[1]);
  Value result = {.points = {}, .origins = left.origins, .if_true = {}, .if_false = {}};
  Origins& equal = node.negated ? result.if_false : result.if_true;
  result.origins.insert(right.origins);
  note_meeting(result.origins);
  const auto validate = [&](const Origins& old, const Origins& fresh) {
    for (const Origin& origin : old) {
      // What only chose the value is not what is compared.
      if (origin.execution == current() || origin.implicit) continue;
      const bool read_again = std::ranges::any_of(fresh, [&](const Origin& now) {
        return now.execution == current() && now.location == origin.location;
      });
      if (!read_again) continue;
      for (const bool implicit : {false, true}) {
        equal.insert(
            {.execution = origin.execution, .location = origin.location, .implicit = implicit});
      }
    }
  };
  if (current() != 0) {
    validate(left.origins, right.origins);
    validate(right.origins, left.origins);
  }
  if (left.number && right.number) {
    result.number = (*left.number == *right.number) != node.negated ? 1 : 0;
  }
  for (const auto& [one, other] : {std::pair(&left, &right), std::pair(&right, &left)}) {
    if (!one->tried || !other->number) continue;
    result.tried = one->tried;
    if (*other->number == 0) result.tried->if_true = !result.tried->if_true;
    if (node.negated) result.tried->if_true = !result.tried->if_true;
  }
  // What it comes to depends on what is there now.
  for (const Origin& origin : equal) result.origins.erase(origin);
  return result;
}

Value Executor::container(const Node& node) {
  if (const auto known = methods_.find(node.name); known != methods_.end()) {
    std::vector<Value> arguments(1);
    arguments[0].points = place(node.children[0]).at;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      arguments.push_back(eval(node.children[i]));
    }
    return described(*known->second, arguments, node);
  }
  Place at = place(node.children[0]);
  const Value arguments = join_of(node, 1);
  at.origins.insert(arguments.origins);
  Value result = load(at, node);
  if (node.writes) store(at, arguments, node);
  if (node.pointer) result.points = at.at;
  result.origins.insert(arguments.origins);
  return result;
}

// One object for each place of the source and of the last calls that lead to it: C programs
// allocate in functions of their own, and where locks are made so, those again in others. With one
// for every chain of calls there would be too many to follow.
std::uint32_t Executor::maker(std::uint32_t frame, std::size_t most) {
  std::vector<NodeId> calls;
  while (calls.size() < most) {
    const Frame& at = traces_.frames[frame];
    calls.push_back(at.call_node);
    if (at.parent == frame) break;
    frame = at.parent;
  }
  const auto next = static_cast<std::uint32_t>(makers_.size());
  return makers_.emplace(std::move(calls), next).first->second;
}

Value Executor::eval(NodeId id) {
  if (id == kNoNode || !state_.reachable) return {};
  if (++steps_ > kMostSteps * options_.effort) {
    traces_.bounded.steps = true;
    return {};
  }
  const Node& node = program_[id];
  switch (node.kind) {
    case NodeKind::kLocal:
    case NodeKind::kGlobal:
    case NodeKind::kField:
    case NodeKind::kElement:
    case NodeKind::kDeref:
      (void)place(id);  // named, and nothing more
      return {};
    case NodeKind::kConstant: {
      Value value;
      if (node.known) value.number = node.number;
      return value;
    }
    case NodeKind::kLoad:
      return load(place(node.children[0]), node);
    case NodeKind::kAddress: {
      const Place at = place(node.children[0]);
      for (const LocationId one : at.at) addressed_.insert(one);
      return {
          .points = at.at, .origins = at.origins, .if_true = {}, .if_false = {}, .made = at.made};
    }
    case NodeKind::kOperator: {
      if (!node.negated) {
        Value joined = join_of(node);
        if (node.plain) joined.points = {};
        return joined;
      }
      Value value = eval(node.children[0]);
      std::swap(value.if_true, value.if_false);
      if (value.number) value.number = *value.number == 0 ? 1 : 0;
      if (value.tried) value.tried->if_true = !value.tried->if_true;
      return value;
    }
    case NodeKind::kCompare:
      return compare(node);
    case NodeKind::kAssign:
    case NodeKind::kUpdate: {
      Value value = eval(node.children[1]);
      const Place to = place(node.children[0]);
      if (node.kind == NodeKind::kUpdate) {
        value.join(load(to, node));
        value.number = std::nullopt;
      }
      note_meeting(value.origins);
      store(to, value, node);
      return value;
    }
    case NodeKind::kCopy: {
      const Place from = place(node.children[1]);
      const Place to = place(node.children[0]);
      copy(to, from, node.name, node);
      return {.points = to.at, .origins = {}, .if_true = {}, .if_false = {}};
    }
    case NodeKind::kNew: {
      Value made;
      const std::uint32_t by = maker(calls_.back().frame, options_.sections ? 3 : 1);
      made.points.insert(
          traces_.locations.get(LocationKind::kNew, by, static_cast<std::uint32_t>(id)));
      made.made = ++made_;
      state_.own.insert(made.made);
      if (state_.own.size() > kMostOwn) state_.own.erase(*state_.own.begin());
      return made;
    }
    case NodeKind::kFunction: {
      Value made;
      if (const auto known = functions_.find(node.name); known != functions_.end()) {
        made.points.insert(traces_.locations.get(LocationKind::kFunction, known->second));
      }
      return made;
    }
    case NodeKind::kCall: {
      std::vector<Value> arguments;
      Origins together;
      for (const NodeId child : node.children) {
        arguments.push_back(eval(child));
        together.insert(arguments.back().origins);
      }
      note_meeting(together);
      const auto known = functions_.find(node.name);
      if (known == functions_.end()) return {};
      return call(known->second, std::move(arguments), node, id);
    }
    case NodeKind::kIndirect: {
      const Value callee = eval(node.children[0]);
      std::vector<Value> arguments;
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        arguments.push_back(eval(node.children[i]));
      }
      Value result;
      const State before = state_;
      std::optional<State> after;
      for (const auto& [function, object] : callable(callee)) {
        std::vector<Value> all = arguments;
        if (object) {
          all.insert(all.begin(), Value());
          all.front().points.insert(*object);
        }
        state_ = before;
        result.join(call(function, std::move(all), node, id));
        if (after) {
          after->join(state_);
        } else {
          after = state_;
        }
      }
      if (after) state_ = std::move(*after);
      return result;
    }
    case NodeKind::kContainer:
      return container(node);
    case NodeKind::kFork:
      return fork(node, id);
    case NodeKind::kJoin: {
      Few<ThreadId> ended;
      if (node.children.empty()) {
        ended = state_.alive;
      } else {
        for (const LocationId at : place(node.children[0]).at) {
          Value kept = stored_at(at);
          if (const auto known = heap_.find(at); known != heap_.end()) {
            kept.points.insert(known->second);
          }
          for (const LocationId thread : kept.points) {
            const Location& location = traces_.locations[thread];
            if (location.kind == LocationKind::kThread) ended.insert(location.a);
          }
        }
      }
      for (const ThreadId thread : ended) {
        if (!state_.alive.contains(thread)) continue;
        state_.alive.erase(thread);
        state_.alive.insert(alive_at_exit_[thread]);
      }
      return {};
    }
    case NodeKind::kSequence: {
      Value last;
      for (const NodeId child : node.children) last = eval(child);
      return last;
    }
    case NodeKind::kIf:
      return branch(node);
    case NodeKind::kLoop:
    case NodeKind::kDo:
      loop(node, id, node.kind == NodeKind::kLoop);
      return {};
    case NodeKind::kReturn: {
      Value value = node.children.empty() ? Value() : eval(node.children[0]);
      if (!state_.reachable) return {};
      value.origins.insert(chosen_here());
      for (const Control& control : calls_.back().residual) {
        value.origins.insert(made_implicit(control.origins));
      }
      Call& call = calls_.back();
      if (call.result) {
        call.result->join(value);
      } else {
        call.result = std::move(value);
      }
      call.result->if_true = {};
      call.result->if_false = {};
      keep_latest_reads(call.result->origins);
      const State with = left(call.guards);  // where others may be called
      calls_.back().returns.join(with);
      ++calls_.back().left;
      return {};
    }
    case NodeKind::kBreak:
    case NodeKind::kContinue: {
      if (calls_.back().loops.empty()) return {};
      const State with = left(calls_.back().loops.back().guards);
      Loop& around = calls_.back().loops.back();
      (node.kind == NodeKind::kBreak ? around.breaks : around.continues).join(with);
      ++around.left;
      return {};
    }
    case NodeKind::kEnd:
      state_.reachable = false;
      return {};
    case NodeKind::kAtomic:
      return atomic(node, id);
    case NodeKind::kGuard:
      return guard(node, id);
    case NodeKind::kScope: {
      guards_.push_back({.locks = {}, .at_end = node.children[1]});
      const Value result = eval(node.children[0]);
      guards_.pop_back();
      eval(node.children[1]);
      return result;
    }
    case NodeKind::kTry: {
      Value value;
      value.tried = {.node = id,
                     .at = place(node.children[0]).at,
                     .frame = calls_.back().frame,
                     .if_true = !node.negated};
      return value;
    }
    case NodeKind::kWait: {
      const std::uint32_t before = current();
      const Few<LocationId> at = place(node.children[0]).at;
      unlock(state_, at);
      lock(node, id, at, calls_.back().frame);
      // A loop that it was locked before is one that asks for the condition.
      const bool asks = std::ranges::any_of(calls_, [&](const Call& call) {
        return std::ranges::any_of(call.loops, [&](const Loop& around) {
          return std::ranges::any_of(around.held,
                                     [&](const Hold& one) { return at.contains(one.lock); });
        });
      });
      if (current() != 0 && current() != before && asks) {
        traces_.transactions[executions_[current()]].waits = true;
      }
      // A loop around it asks again: what made us wait does not say what we do now.
      for (Call& call : calls_) {
        for (Loop& around : call.loops) {
          for (Control& control : around.residual) {
            control.origins.erase_where([&](const Origin& one) { return one.execution == before; });
          }
        }
      }
      return {};
    }
    // Locks do not fail: what is done if they do is not what happens.
    case NodeKind::kLock:
      lock(node, id, place(node.children[0]).at, calls_.back().frame);
      return zero();
    case NodeKind::kUnlock: {
      Few<LocationId> at = place(node.children[0]).at;
      if (node.quiet) at.erase(traces_.locations.get(LocationKind::kUnknown, 0));
      unlock(state_, at);
      return zero();
    }
  }
  return {};
}

}  // namespace tomos::tm
