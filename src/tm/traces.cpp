// Rounds: what threads store is known to others in the next round, until nothing is new. Then one
// more says what they do in transactions.
#include "tm/traces.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "tm/execute.h"

namespace tomos::tm {

using LocationKind = Location::Kind;

namespace {

constexpr int kMostRounds = 12;

// These threads, and those that they make, and so on.
Few<ThreadId> with_descendants(const std::vector<Thread>& threads, const Few<ThreadId>& of) {
  Few<ThreadId> all = of;
  std::deque<ThreadId> next(of.begin(), of.end());
  while (!next.empty()) {
    const ThreadId thread = next.front();
    next.pop_front();
    for (const ThreadId made : threads[thread].makes) {
      if (all.insert(made)) next.push_back(made);
    }
  }
  return all;
}

// Multiply and fold: the numbers are small and close to each other.
std::size_t mixed(std::size_t hash, std::uint64_t value) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  hash = (hash ^ value) * kFactor;
  return hash ^ (hash >> 32);
}

std::size_t mixed(std::size_t hash, LocationId at) {
  return mixed(hash, static_cast<std::uint64_t>(at));
}

}  // namespace

std::size_t Flow::Hash::operator()(const Flow& of) const {
  std::size_t hash = mixed(mixed(0, of.from), of.to);
  hash = mixed(mixed(hash, of.location), of.into);
  hash = mixed(hash, static_cast<std::uint64_t>(of.kind));
  for (const LocationId at : of.validated) hash = mixed(hash, at);
  return hash;
}

std::size_t Together::Hash::operator()(const Together& of) const {
  return mixed(mixed(mixed(0, of.transaction), of.one), of.other);
}

Executor::Executor(const Program& program, const TraceOptions& options)
    : program_(program), options_(options) {
  for (std::uint32_t i = 0; i < program.functions.size(); ++i) {
    functions_.emplace(program.functions[i].name, i);
    if (program.functions[i].body == kNoNode) continue;
    for (const std::string& above : program.functions[i].overridden) {
      overriders_[above].push_back(i);
    }
  }
  for (const DescribedMethod& method : options.methods) methods_.emplace(method.name, &method);
  find_apart();
  // Statements `n += 2;`: nobody uses the value.
  for (const Node& node : program.nodes) {
    const bool is_statement = node.kind == Node::Kind::kSequence || node.kind == Node::Kind::kIf ||
                              node.kind == Node::Kind::kLoop || node.kind == Node::Kind::kAtomic;
    for (std::size_t i = 0; is_statement && i < node.children.size(); ++i) {
      const NodeId child = node.children[i];
      const bool is_condition =
          i == 0 && (node.kind == Node::Kind::kIf || node.kind == Node::Kind::kLoop);
      if (child == kNoNode || is_condition || program[child].kind != Node::Kind::kUpdate) continue;
      counting_.insert(&program[child]);
    }
  }
}

// Elements of an array are one variable, unless all that the program ever does with it is to name
// one of them by a number: then no pointer leads from one to the other.
void Executor::find_apart() {
  using Key = std::pair<std::uint32_t, std::string>;
  const auto key_of = [](const Node& array) {
    return Key(array.kind == Node::Kind::kGlobal ? array.number : 0xffffffffU, array.name);
  };
  const auto index_of = [&](const Node& node) -> const Node* {
    if (node.kind != Node::Kind::kElement || node.children.size() < 2) return nullptr;
    const Node& index = program_[node.children[1]];
    return index.kind == Node::Kind::kConstant && index.known ? &index : nullptr;
  };
  const auto is_named = [&](NodeId id) {
    return id != kNoNode &&
           (program_[id].kind == Node::Kind::kGlobal || program_[id].kind == Node::Kind::kField);
  };
  std::set<Key> mixed;
  for (const Node& node : program_.nodes) {
    if (node.kind == Node::Kind::kField || index_of(node) != nullptr) continue;
    for (const NodeId child : node.children) {
      if (is_named(child)) mixed.insert(key_of(program_[child]));
    }
  }
  for (std::uint32_t i = 0; i < program_.nodes.size(); ++i) {
    const Node& node = program_.nodes[i];
    const Node* index = index_of(node);
    if (index == nullptr || !is_named(node.children[0])) continue;
    if (!mixed.contains(key_of(program_[node.children[0]]))) apart_.emplace(i, index->number);
  }
}

// Where threads begin that nobody is seen to make: main, and what was named. Without any, a
// library: whatever nobody calls can be called by many threads at once.
void Executor::find_entries() {
  const auto named = [&](const Function& function) {
    return std::ranges::any_of(
        options_.entries, [&](const std::string& entry) { return is_called(function, entry); });
  };
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    const Function& function = program_.functions[i];
    if (function.body == kNoNode) continue;
    if (named(function)) {
      named_entries_.insert(thread_for(kNoNode, i));
    } else if (function.display == "main") {
      thread_for(kNoNode, i);
    }
  }
  if (!entry_.empty()) return;
  std::set<std::string> called;
  for (const Node& node : program_.nodes) {
    if (!node.name.empty() && (node.kind == Node::Kind::kCall || node.kind == Node::Kind::kFork ||
                               node.kind == Node::Kind::kFunction)) {
      called.insert(node.name);
    }
  }
  for (std::uint32_t i = 0; i < program_.functions.size(); ++i) {
    const Function& function = program_.functions[i];
    if (function.body != kNoNode && function.display != kGlobals &&
        !called.contains(function.name)) {
      named_entries_.insert(thread_for(kNoNode, i));
    }
  }
}

void Executor::explore(ThreadId thread) {
  thread_ = thread;
  state_ = {.local = Store(&traces_.locations)};
  calls_.clear();
  controls_.clear();
  guards_.clear();
  transaction_ = 0;
  dead_ends_.clear();
  const bool is_first = thread_ids_.contains({kNoNode, entry_[thread]}) &&
                        thread_ids_.at({kNoNode, entry_[thread]}) == thread;
  // Of what many threads may run it does not happen there, but before any of them.
  const bool was_recording =
      std::exchange(recording_, recording_ && !named_entries_.contains(thread));
  for (std::uint32_t i = 0; is_first && i < program_.functions.size(); ++i) {
    if (program_.functions[i].display == kGlobals) follow(i, {}, kNoNode);
  }
  recording_ = was_recording;
  follow(entry_[thread], arguments_[thread], kNoNode);
  if (alive_at_exit_[thread].insert(state_.alive)) grown_ = true;
}

// What several threads know: globals, what they are given, and what those lead to.
bool Executor::find_escaped() {
  const std::size_t before = escaped_.size();
  std::map<LocationId, Few<LocationId>> by_root;
  for (const auto& [at, points] : heap_) by_root[traces_.locations.root(at)].insert(points);
  std::deque<LocationId> next;
  const auto reach = [&](const Few<LocationId>& points) {
    for (const LocationId at : points) {
      const LocationId root = traces_.locations.root(at);
      if (escaped_.insert(root).second) next.push_back(root);
    }
  };
  for (const auto& [root, points] : by_root) {
    const LocationKind kind = traces_.locations[root].kind;
    const bool known =
        kind == LocationKind::kGlobal || kind == LocationKind::kUnknown || escaped_.contains(root);
    if (known) reach(points);
  }
  for (const auto& arguments : arguments_) {
    for (const Value& argument : arguments) {
      for (const LocationId at : argument.points) {
        // A copy that is made for the thread alone; what it leads to is not.
        const Location& location = traces_.locations[at];
        if (location.kind == LocationKind::kNew &&
            program_[static_cast<NodeId>(location.b)].quiet) {
          if (const auto known = by_root.find(at); known != by_root.end()) reach(known->second);
        } else {
          Few<LocationId> one;
          one.insert(at);
          reach(one);
        }
      }
    }
  }
  while (!next.empty()) {
    const LocationId root = next.front();
    next.pop_front();
    if (const auto known = by_root.find(root); known != by_root.end()) reach(known->second);
  }
  return escaped_.size() != before;
}

bool Executor::round() {
  grown_ = false;
  forks_.clear();
  executions_.assign(1, 0);
  made_ = 0;
  accesses_.clear();
  steps_ = 0;
  traces_.adjacent.clear();
  flows_.clear();
  traces_.meet.clear();
  traces_.together.clear();
  traces_.led_by.clear();
  traces_.conditions.clear();
  conditions_.clear();
  traces_.unknown.clear();
  for (Transaction& transaction : traces_.transactions) transaction = {};
  for (ThreadId thread = 0; thread < traces_.threads.size(); ++thread) explore(thread);
  return find_escaped() || grown_;
}

void Executor::find_parallel() {
  const auto together = [&](const Few<ThreadId>& some, const Few<ThreadId>& others) {
    for (const ThreadId one : with_descendants(traces_.threads, some)) {
      for (const ThreadId other : with_descendants(traces_.threads, others)) {
        traces_.parallel.emplace(one, other);
        traces_.parallel.emplace(other, one);
      }
    }
  };
  for (const Forked& forked : forks_) {
    Few<ThreadId> made;
    made.insert(forked.made);
    together(forked.beside, made);
  }
  Few<ThreadId> named;
  for (const ThreadId thread : named_entries_) named.insert(thread);
  Few<ThreadId> all;
  for (ThreadId thread = 0; thread < traces_.threads.size(); ++thread) all.insert(thread);
  if (!named.empty()) together(named, all);
}

// A field of some unknown object may be that field of any.
void Executor::finish(Traces& traces) {
  // Where a pointer leads may not have been known in the first rounds: those that count are used.
  std::map<std::string, LocationId> unknown;
  const auto add = [&](LocationId id) {
    const Location& location = traces.locations[id];
    const Location& root = traces.locations[traces.locations.root(id)];
    if (location.kind == LocationKind::kPart && root.kind == LocationKind::kUnknown &&
        !location.name.starts_with('[')) {
      unknown.emplace(location.name, id);
    }
  };
  for (const Access& access : traces.accesses) add(access.location);
  for (const Transaction& transaction : traces.transactions) {
    for (const auto& [at, position] : transaction.reads) add(at);
    for (const auto& [at, position] : transaction.writes) add(at);
    for (const auto& [at, holds] : transaction.holds) {
      for (const Hold& hold : holds) add(hold.lock);
    }
  }
  if (unknown.empty()) return;
  const auto same = [&](LocationId id) {
    const Location& location = traces.locations[id];
    if (location.kind != LocationKind::kPart || location.name.starts_with('[')) return id;
    const auto known = unknown.find(location.name);
    return known == unknown.end() ? id : known->second;
  };
  const auto rename = [&](std::map<LocationId, Position>& of) {
    std::map<LocationId, Position> made;
    for (const auto& [at, position] : of) made.emplace(same(at), position);
    of = std::move(made);
  };
  for (Transaction& transaction : traces.transactions) {
    rename(transaction.reads);
    rename(transaction.writes);
    Few<LocationId> seen;
    for (const LocationId at : transaction.seen) seen.insert(same(at));
    transaction.seen = std::move(seen);
    std::map<LocationId, Few<LocationId>> asked;
    for (const auto& [at, by] : transaction.asked) {
      for (const LocationId one : by) asked[same(at)].insert(same(one));
    }
    transaction.asked = std::move(asked);
    std::map<LocationId, Few<LocationId>> chosen;
    for (const auto& [at, by] : transaction.chosen_by) {
      for (const LocationId one : by) chosen[same(at)].insert(same(one));
    }
    transaction.chosen_by = std::move(chosen);
    std::map<std::pair<LocationId, bool>, Few<Hold>> holds;
    for (const auto& [at, of] : transaction.holds) {
      for (Hold hold : of) {
        hold.lock = same(hold.lock);
        holds[{same(at.first), at.second}].insert(hold);
      }
    }
    transaction.holds = std::move(holds);
  }
  for (Flow& flow : traces.flows) {
    flow.location = same(flow.location);
    flow.into = same(flow.into);
    Few<LocationId> validated;
    for (const LocationId at : flow.validated) validated.insert(same(at));
    flow.validated = std::move(validated);
  }
  std::unordered_set<Together, Together::Hash> together;
  for (const auto& [transaction, one, other] : traces.together) {
    together.insert(Together::of(transaction, same(one), same(other)));
  }
  traces.together = std::move(together);
  std::map<std::pair<TransactionId, LocationId>, Few<std::uint32_t>> led_by;
  for (const auto& [read, by] : traces.led_by) led_by[{read.first, same(read.second)}].insert(by);
  traces.led_by = std::move(led_by);
  for (Few<LocationId>& condition : traces.conditions) {
    Few<LocationId> asked;
    for (const LocationId at : condition) asked.insert(same(at));
    condition = std::move(asked);
  }
  for (Access& access : traces.accesses) access.location = same(access.location);
}

Traces Executor::run() {
  (void)traces_.locations.get(LocationKind::kUnknown, 0);  // number 0: nothing is named by it
  find_entries();
  int rounds = 0;
  while (round()) {
    // What is too large for one round is so for all.
    if (++rounds == kMostRounds || steps_ > kMostSteps * options_.effort) {
      traces_.bounded.steps = true;
      break;
    }
  }
  recording_ = true;
  round();
  find_parallel();
  traces_.sections = options_.sections;
  traces_.complete = !traces_.bounded.steps && !traces_.bounded.deep;
  for (auto& [key, access] : accesses_) traces_.accesses.push_back(std::move(access));
  traces_.flows.assign(flows_.begin(), flows_.end());
  finish(traces_);
  std::ranges::sort(traces_.flows);
  const auto repeated = std::ranges::unique(traces_.flows);
  traces_.flows.erase(repeated.begin(), repeated.end());
  return std::move(traces_);
}

bool Traces::may_cut(TransactionId one, TransactionId other) const {
  const Transaction& cut = transactions[one];
  const Transaction& cuts = transactions[other];
  return parallel.contains({cut.thread, cuts.thread}) ||
         with_descendants(threads, cut.alive).contains(cuts.thread) ||
         with_descendants(threads, cuts.alive).contains(cut.thread);
}

bool Traces::may_race(const Access& one, const Access& other) const {
  return parallel.contains({one.thread, other.thread}) ||
         with_descendants(threads, one.alive).contains(other.thread) ||
         with_descendants(threads, other.alive).contains(one.thread);
}

bool Traces::uses_together(TransactionId transaction, LocationId one, LocationId other) const {
  const auto asked = [&](LocationId before, LocationId read) {
    const auto led = led_by.find({transaction, read});
    return led != led_by.end() && std::ranges::any_of(led->second, [&](std::uint32_t condition) {
             return conditions[condition].contains(before);
           });
  };
  return together.contains(Together::of(transaction, one, other)) || asked(one, other) ||
         asked(other, one);
}

std::string Traces::name_of(const Program& program, LocationId location) const {
  std::string suffix;  // of an array
  while (true) {
    const Location& at = locations[location];
    if (at.kind != LocationKind::kPart) break;
    if (!at.name.starts_with('[')) {
      // A field of a class without a name: by the variable that it is a part of.
      constexpr std::string_view kUnnamed = "(unnamed)::";
      const Location& root = locations[locations.root(location)];
      if (!at.name.starts_with(kUnnamed) || root.kind != LocationKind::kGlobal) {
        return at.name + suffix;
      }
      return program.globals[root.a].display + '.' + at.name.substr(kUnnamed.size()) + suffix;
    }
    suffix = at.name;
    location = static_cast<LocationId>(at.a);
  }
  const Location& root = locations[location];
  switch (root.kind) {
    case LocationKind::kGlobal:
    case LocationKind::kThreadLocal:
      return program.globals[root.a].display + suffix;
    case LocationKind::kLocal: {
      const Function& function = program.functions[frames[root.a].function];
      return (root.b < function.locals.size() ? function.locals[root.b] : "a variable") + suffix;
    }
    case LocationKind::kNew:
    case LocationKind::kFunction:
    case LocationKind::kThread:
    case LocationKind::kUnknown:
    case LocationKind::kPart:
      break;
  }
  return "an object" + suffix;
}

Traces trace(const Program& program, const TraceOptions& options) {
  return Executor(program, options).run();
}

}  // namespace tomos::tm
