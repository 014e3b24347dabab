// On the ways through the program: transactions, accesses, calls and threads.
#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "tm/execute.h"

namespace tomos::tm {

using LocationKind = Location::Kind;

namespace {

constexpr TransactionId kNoTransaction = 0xffffffff;

Few<LocationId> surely(const Few<Hold>& held, bool sole) {
  Few<LocationId> locks;
  for (const Hold& one : held) {
    if (one.sure) locks.insert(one.lock);
  }
  for (const Hold& one : held) {
    if (sole && one.shared) locks.erase(one.lock);
  }
  return locks;
}

}  // namespace

// Transactions.

std::uint32_t Executor::begin(NodeId id, const Node& node, std::uint32_t frame) {
  const auto next = static_cast<TransactionId>(traces_.transactions.size());
  const auto [at, is_new] = transaction_ids_.emplace(std::pair(frame, id), next);
  if (is_new) traces_.transactions.emplace_back();
  Transaction& transaction = traces_.transactions[at->second];
  const Function& function = program_.functions[calls_.back().function];
  transaction.node = id;
  transaction.position = node.position;
  transaction.end = node.end;
  transaction.function = function.display;
  transaction.frame = frame;
  transaction.home = calls_.back().frame;
  transaction.thread = thread_;
  transaction.alive.insert(state_.alive);
  if (recording_) {
    for (const Last& last : state_.last) traces_.adjacent.emplace(last.transaction, at->second);
    state_.last = {};
    state_.last.insert({.node = id, .transaction = at->second});
  }
  executions_.push_back(at->second);
  return static_cast<std::uint32_t>(executions_.size() - 1);
}

Value Executor::atomic(const Node& node, NodeId id) {
  if (current() != 0) return eval(node.children[0]);  // nested: the outer one counts
  transaction_ = begin(id, node, calls_.back().frame);
  const Value result = eval(node.children[0]);
  transaction_ = 0;
  return result;
}

// Who locks is often a function for that, and that called by another.
std::uint32_t Executor::number_of_hold(NodeId id, std::uint32_t frame) {
  const std::pair key(id, maker(frame, 2));
  return holds_.emplace(key, static_cast<std::uint32_t>(holds_.size())).first->second;
}

void Executor::lock(const Node& node, NodeId id, const Few<LocationId>& at, std::uint32_t frame) {
  if (options_.sections && current() == 0 && state_.held.empty()) {
    state_.section = begin(id, node, frame);
  }
  // One that is held already can only be taken again by its holder.
  if (at.size() == 1 && surely(state_.held, false).contains(*at.begin())) {
    state_.again.push_back(*at.begin());
    return;
  }
  const std::uint32_t number = number_of_hold(id, frame);
  for (const LocationId one : at) {
    state_.held.insert(
        {.lock = one, .number = number, .sure = at.size() == 1, .shared = node.shared});
  }
}

void Executor::unlock(State& state, const Few<LocationId>& at) {
  if (const auto again =
          std::ranges::find_if(state.again, [&](LocationId one) { return at.contains(one); });
      again != state.again.end()) {
    state.again.erase(again);
    return;
  }
  // Of several that it can have been, it was one.
  Few<std::uint32_t> vague;
  for (const Hold& one : state.held) {
    if (!one.sure && at.contains(one.lock)) vague.insert(one.number);
  }
  state.held.erase_where([&](const Hold& one) {
    return at.contains(one.lock) || (!one.sure && vague.contains(one.number));
  });
  if (state.held.empty()) state.section = 0;
}

void Executor::take_tried(const Value& condition, bool holds) {
  if (!condition.tried || condition.tried->if_true != holds) return;
  const Tried& tried = *condition.tried;
  lock(program_[tried.node], tried.node, tried.at, tried.frame);
}

Value Executor::guard(const Node& node, NodeId id) {
  const Few<LocationId> at = place(node.children[0]).at;
  const bool has_it =
      node.known && at.size() == 1 && surely(state_.held, false).contains(*at.begin());
  if (!has_it && !node.negated) lock(node, id, at, calls_.back().frame);
  // One that can be moved knows itself what it has in the end.
  const NodeId at_end = node.children.size() > 2 ? node.children[2] : kNoNode;
  guards_.push_back({.locks = at_end == kNoNode ? at : Few<LocationId>(), .at_end = at_end});
  const Value result = eval(node.children[1]);
  guards_.pop_back();
  if (at_end != kNoNode) {
    eval(at_end);
  } else if (state_.reachable) {
    unlock(state_, at);
  }
  return result;
}

// All conditions that decided that we are here.
template <class Do>
void Executor::for_each_control(const Do& act) {
  for (Control& control : controls_) act(control);
  for (Call& call : calls_) {
    for (Control& control : call.residual) act(control);
    for (Loop& around : call.loops) {
      for (Control& control : around.residual) act(control);
    }
  }
}

// What is there now as it was read, since we are here.
Origins Executor::validated() {
  Origins all;
  for_each_control([&](const Control& control) { all.insert(control.validates); });
  return all;
}

void Executor::flow(const Origins& origins, Flow::Kind kind, LocationId into,
                    const Origins& validated) {
  const std::uint32_t now = current();
  if (now == 0) return;
  for (const Origin& origin : origins) {
    if (origin.execution == now || validated.contains(origin)) continue;
    const Flow::Kind how = origin.implicit ? Flow::Kind::kControl : kind;
    Few<LocationId> with;
    for (const Origin& other : validated) {
      if (other.execution == origin.execution) with.insert(other.location);
    }
    flows_.insert({.from = executions_[origin.execution],
                   .location = origin.location,
                   .to = executions_[now],
                   .kind = how,
                   .into = how == Flow::Kind::kValue ? into : LocationId{},
                   .validated = std::move(with)});
  }
}

// Said once for each execution and what is validated in it. Who reads the same again is not misled
// by what was there before: that is how one waits for a change. If it goes on to something else, it
// is.
void Executor::control_flows(std::optional<LocationId> read, const Origins& validated) {
  const std::uint32_t now = current();
  for_each_control([&](Control& control) {
    const bool is_told = control.told == now && control.told_with == validated;
    if (is_told && control.untold.empty()) return;
    Origins tell;
    Few<LocationId> untold;
    for (const Origin& origin : control.origins) {
      if (is_told && !control.untold.contains(origin.location)) continue;
      if (read == origin.location) {
        untold.insert(origin.location);
      } else {
        tell.insert(origin);
      }
    }
    flow(tell, Flow::Kind::kControl, {}, validated);
    control.told = now;
    control.told_with = validated;
    control.untold = std::move(untold);
  });
}

// Led there by a pointer that a transaction read and moved on, as who takes the first of a list
// does: what it took is its own.
bool Executor::was_taken(const Origins& where) const {
  return std::ranges::any_of(where, [&](const Origin& origin) {
    return !origin.implicit && origin.execution != current() &&
           traces_.transactions[executions_[origin.execution]].writes.contains(origin.location);
  });
}

// What a condition asked in this execution.
std::optional<std::uint32_t> Executor::condition_of(Control& control) {
  if (control.asked_in == current()) return control.condition;
  Few<LocationId> asked;
  for (const Origin& origin : control.origins) {
    if (origin.execution == current() && !origin.implicit) asked.insert(origin.location);
  }
  control.asked_in = current();
  control.condition = std::nullopt;
  if (asked.empty()) return std::nullopt;
  const auto next = static_cast<std::uint32_t>(traces_.conditions.size());
  const auto [known, is_new] = conditions_.emplace(asked, next);
  if (is_new) traces_.conditions.push_back(std::move(asked));
  control.condition = known->second;
  return control.condition;
}

void Executor::access(LocationId at, bool writes, const Node& node, const Origins& where) {
  if (!recording_) return;
  const std::uint32_t now = current();
  const bool in_transaction = transaction_ != 0;
  if (!node.quiet) {
    auto& made = accesses_[{at, writes, in_transaction, node.position, thread_}];
    const bool is_new = made.function.empty();
    if (is_new) {
      made.location = at;
      made.writes = writes;
      made.in_transaction = in_transaction;
      made.position = node.position;
      made.thread = thread_;
      made.function = program_.functions[calls_.back().function].display;
      made.locks = surely(state_.held, false);
      made.sole = surely(state_.held, true);
    } else if (!made.locks.empty()) {
      made.locks = in_both(made.locks, surely(state_.held, false));
      made.sole = in_both(made.sole, surely(state_.held, true));
    }
    made.alive.insert(state_.alive);
    made.taken = was_taken(where) && (is_new || made.taken);
  }
  if (now == 0) return;
  Transaction& transaction = traces_.transactions[executions_[now]];
  // Who only counts on writes there, too, with the same locks.
  if (options_.sections && (writes || !counting_.contains(&node))) {
    transaction.holds[{at, writes}].insert(state_.held);
  }
  if (writes) {
    // What all its writes are asked about: once there is nothing, there is nothing.
    const auto [before, is_first] = transaction.asked.try_emplace(at);
    const bool settled = !is_first && before->second.empty();
    Few<LocationId> asked;
    for_each_control([&](Control& control) {
      const auto condition = settled ? std::nullopt : condition_of(control);
      if (condition) asked.insert(traces_.conditions[*condition]);
    });
    before->second = is_first ? asked : in_both(before->second, asked);
    transaction.writes.emplace(at, node.position);
  } else {
    transaction.reads.emplace(at, node.position);
    if (!counting_.contains(&node)) transaction.seen.insert(at);
    Few<std::uint32_t>& led_by = traces_.led_by[{executions_[now], at}];
    for_each_control([&](Control& control) {
      if (const auto condition = condition_of(control)) led_by.insert(*condition);
    });
    for (const Origin& origin : where) {
      if (origin.execution == now && !origin.implicit) {
        transaction.chosen_by[at].insert(origin.location);
      }
    }
  }
  const Origins unchanged = validated();
  flow(where, Flow::Kind::kAddress, at, unchanged);
  control_flows(writes ? std::nullopt : std::optional(at), unchanged);
}

// Calls.

std::uint32_t Executor::frame_for(std::uint32_t function, NodeId call) {
  const bool is_entry = calls_.empty();
  const std::uint32_t parent =
      is_entry ? static_cast<std::uint32_t>(traces_.frames.size()) : calls_.back().frame;
  const auto key = std::tuple(thread_, is_entry ? 0xffffffffU : parent, function, call);
  const auto [at, is_new] = frames_.emplace(key, static_cast<std::uint32_t>(traces_.frames.size()));
  if (is_new) {
    traces_.frames.push_back({.parent = parent,
                              .function = function,
                              .call = call == kNoNode ? Position() : program_[call].position,
                              .call_node = call,
                              .thread = thread_});
  }
  return at->second;
}

Value Executor::follow(std::uint32_t function, const std::vector<Value>& arguments, NodeId id) {
  const Function& callee = program_.functions[function];
  // What nobody comes back from (it ends the program, say, and that at every failed call) decides
  // about no later transaction. What it does itself is known after the first time.
  std::vector<std::uint32_t> dead_end = {function,
                                         current() == 0 ? kNoTransaction : executions_[current()]};
  const auto add = [&](const Few<LocationId>& all) {
    dead_end.push_back(static_cast<std::uint32_t>(all.size()));
    for (const LocationId at : all) dead_end.push_back(static_cast<std::uint32_t>(at));
  };
  Few<LocationId> locks;
  for (const Hold& one : state_.held) locks.insert(one.lock);
  add(locks);
  for (const Value& argument : arguments) add(argument.points);
  if (dead_ends_.contains(dead_end)) {
    state_.reachable = false;
    return {};
  }
  const std::size_t before = executions_.size() + forks_.size();
  const std::uint32_t frame = frame_for(function, id);
  for (std::uint32_t i = 0; i < callee.parameters && i < arguments.size(); ++i) {
    keep(traces_.locations.get(LocationKind::kLocal, frame, i), arguments[i], true);
  }
  calls_.push_back({.frame = frame,
                    .function = function,
                    .guards = guards_.size(),
                    .controls = controls_.size()});
  eval(callee.body);
  Call done = std::move(calls_.back());
  calls_.pop_back();
  state_.join(done.returns);
  keep_latest(state_.last);
  if (!state_.reachable && before == executions_.size() + forks_.size()) {
    dead_ends_.insert(std::move(dead_end));
  }
  if (state_.section != 0 && !calls_.empty()) {
    // Who locks for others is not where people look for the section.
    Transaction& open = traces_.transactions[executions_[state_.section]];
    if (open.home == frame) {
      open.home = calls_.back().frame;
      open.function = program_.functions[calls_.back().function].display;
    }
  }
  // Nobody sees its variables again, unless it returns where they are.
  Value result = done.result.value_or(Value());
  state_.local.forget(frame, result.points);
  return result;
}

Value Executor::described(const DescribedMethod& method, const std::vector<Value>& arguments,
                          const Node& node) {
  traces_.used.insert(method.name);
  Value result;
  for (const Value& argument : arguments) {
    result.origins.insert(argument.origins);
    state_.own.erase(argument.made);
  }
  const Origins given = result.origins;
  const std::string& name = method.name;
  const std::size_t end = name.rfind("::", name.find('('));
  const std::string owner = end == std::string::npos ? "" : name.substr(0, end + 2);
  for (const MethodEffect& effect : method.effects) {
    Place at;
    if (!effect.field.empty() && !arguments.empty()) {
      at.origins = arguments[0].origins;
      for (const LocationId object : arguments[0].points) {
        at.at.insert(traces_.locations.part(object, owner + effect.field));
      }
    } else if (!effect.global.empty()) {
      const auto global = std::ranges::find(program_.globals, effect.global, &Global::display);
      if (global != program_.globals.end()) {
        at.at.insert(traces_.locations.get(
            LocationKind::kGlobal, static_cast<std::uint32_t>(global - program_.globals.begin())));
      }
    } else {
      const std::size_t i = static_cast<std::size_t>(effect.argument) - (owner.empty() ? 1 : 0);
      if (i < arguments.size()) at.at = arguments[i].points;
    }
    at.origins.insert(given);
    if (effect.writes) {
      store(at, {.points = {}, .origins = result.origins, .if_true = {}, .if_false = {}}, node);
    } else {
      result.origins.insert(load(at, node).origins);
    }
  }
  return result;
}

Value Executor::call(std::uint32_t function, std::vector<Value> arguments, const Node& node,
                     NodeId id) {
  const Function& callee = program_.functions[function];
  if (const auto known = methods_.find(callee.signature); known != methods_.end()) {
    return described(*known->second, arguments, node);
  }
  std::vector<std::uint32_t> candidates;
  if (callee.body != kNoNode) candidates.push_back(function);
  if (const auto overriders = overriders_.find(callee.name); overriders != overriders_.end()) {
    candidates.insert(candidates.end(), overriders->second.begin(), overriders->second.end());
  }
  if (candidates.empty()) {
    traces_.unknown.insert(callee.signature);
    Value result;
    for (const Value& argument : arguments) {
      result.origins.insert(argument.origins);
      state_.own.erase(argument.made);  // whom it tells nobody knows
    }
    return result;
  }
  std::optional<Value> all;
  const State before = state_;
  State after{.reachable = false};
  for (const std::uint32_t candidate : candidates) {
    Value result;
    state_ = before;
    const bool recursive =
        std::ranges::any_of(calls_, [&](const Call& one) { return one.function == candidate; });
    if (recursive || calls_.size() > kMostCalls * options_.effort) {
      if (recursive) traces_.recursive.insert(program_.functions[candidate].display);
      if (!recursive) traces_.bounded.deep = true;
      for (const Value& argument : arguments) result.origins.insert(argument.origins);
    } else {
      result = follow(candidate, arguments, id);
    }
    after.join(state_);
    if (all) {
      all->join(result);
    } else {
      all = std::move(result);
    }
  }
  state_ = std::move(after);
  return all.value_or(Value());
}

// The functions that a value stands for, and the object that each is called on: a closure keeps its
// function in a field of its own.
std::vector<std::pair<std::uint32_t, std::optional<LocationId>>> Executor::callable(
    const Value& value) {
  std::vector<std::pair<std::uint32_t, std::optional<LocationId>>> found;
  for (const LocationId at : value.points) {
    const Location& location = traces_.locations[at];
    if (location.kind == LocationKind::kFunction) {
      found.emplace_back(location.a, std::nullopt);
      continue;
    }
    for (const LocationId inner : stored_at(traces_.locations.part(at, "()")).points) {
      const Location& function = traces_.locations[inner];
      if (function.kind == LocationKind::kFunction) found.emplace_back(function.a, at);
    }
  }
  return found;
}

// Threads.

ThreadId Executor::thread_for(NodeId node, std::uint32_t function) {
  const auto next = static_cast<ThreadId>(traces_.threads.size());
  const auto [at, is_new] = thread_ids_.emplace(std::pair(node, function), next);
  if (is_new) {
    grown_ = true;
    traces_.threads.push_back({.function = program_.functions[function].display,
                               .position = node == kNoNode ? Position() : program_[node].position,
                               .makes = {}});
    entry_.push_back(function);
    arguments_.emplace_back();
    alive_at_exit_.emplace_back();
  }
  return at->second;
}

Value Executor::fork(const Node& node, NodeId id) {
  std::vector<std::pair<std::uint32_t, std::optional<LocationId>>> callees;
  std::vector<Value> given;
  given.reserve(node.children.size());
  for (const NodeId child : node.children) {
    given.push_back(eval(child));
    state_.own.erase(given.back().made);
  }
  if (!node.name.empty()) {
    const auto known = functions_.find(node.name);
    if (known != functions_.end()) callees.emplace_back(known->second, std::nullopt);
  } else if (!given.empty()) {
    callees = callable(given.front());
    given.erase(given.begin());
  }
  Value result;
  for (const auto& [function, object] : callees) {
    std::vector<Value> all = given;
    if (object) {
      all.insert(all.begin(), Value());
      all.front().points.insert(*object);
    }
    const ThreadId made = thread_for(id, function);
    std::vector<Value>& arguments = arguments_[made];
    arguments.resize(std::max(arguments.size(), all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) {
      grown_ |= arguments[i].points.insert(all[i].points);
    }
    forks_.push_back({.beside = state_.alive, .made = made});
    state_.alive.insert(made);
    if (current() != 0) traces_.transactions[executions_[current()]].alive.insert(made);
    traces_.threads[thread_].makes.insert(made);
    result.points.insert(traces_.locations.get(LocationKind::kThread, made));
  }
  return result;
}

}  // namespace tomos::tm
