#include "monitor/lock_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "monitor/telling.h"

namespace tomos {

namespace {

// A step takes about ten nanoseconds, thirty when memory is slow.
constexpr std::uint64_t kMostChains = 100'000'000;

using Node = LockTree::Node;
using NodeId = LockTree::NodeId;

// What is known of a component of the graph of locks before its cycles are looked for.
struct Component {
  bool is_seen = false;
  LocksetId common = 0;  // held by all that is in it
  ThreadId thread = 0;
  bool has_several_threads = false;
};

bool contains(std::span<const PeriodSet::Run> runs, const PeriodSet::Run& one) {
  return std::ranges::any_of(runs, [&](const PeriodSet::Run& run) {
    return run.thread == one.thread && run.first <= one.first && one.last <= run.last;
  });
}

// The node of a lock that a request's thread holds.
NodeId holder(const LockTree& tree, NodeId request, LockId lock) {
  NodeId at = tree.node(request).parent;
  while (lock_of(tree.node(at).lock) != lock) at = tree.node(at).parent;
  return at;
}

// Whether both were acquired in one transaction, or both outside any.
bool is_one_transaction(const LockTree& tree, NodeId above, NodeId below) {
  if (tree.node(above).is_outside() && tree.node(below).is_outside()) return true;
  for (NodeId at = below; at != above; at = tree.node(at).parent) {
    if (!tree.node(at).is_same) return false;
  }
  return true;
}

// The locks on the way to a node, in the order they were acquired.
std::vector<ModeLock> locks_before(const LockTree& tree, NodeId node) {
  std::vector<ModeLock> locks;
  for (NodeId at = tree.node(node).parent; at != LockTree::kRoot; at = tree.node(at).parent) {
    locks.push_back(tree.node(at).lock);
  }
  std::ranges::reverse(locks);
  return locks;
}

std::string list(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string pattern_of(std::span<const std::string> locks) {
  constexpr std::size_t kMost = 8;  // then only both ends
  std::string pattern;
  for (std::size_t i = 0; i < locks.size(); ++i) {
    if (i == kMost / 2 && locks.size() > kMost) {
      pattern += "...->";
      i = locks.size() - kMost / 2;
    }
    pattern += locks[i] + "->";
  }
  return pattern + locks[0];
}

std::string fix_of_cycle(std::span<const std::string> locks, bool is_upgrade) {
  if (is_upgrade) {
    return fmt::format(
        "take {0} for writing from the start, or let {0} go before taking it for writing",
        locks[0]);
  }
  if (locks.size() == 2) {
    return fmt::format("take {} before {} everywhere, or hold one common lock round both", locks[0],
                       locks[1]);
  }
  return fmt::format("take {} in this order everywhere, or hold one common lock round all of them",
                     list(locks));
}

// "A (a.cpp:10)"
std::string describe(const Finding::Event& event) {
  if (event.location == Location()) return event.variable;
  return fmt::format("{} ({})", event.variable, to_string(event.location));
}

// The events are those of one thread after the other: what it holds, what it wants.
std::string message_of(const std::vector<Finding::Event>& events) {
  constexpr std::size_t kMost = 5;
  const std::size_t threads = events.size() / 2;
  const std::size_t named = threads > kMost ? kMost - 1 : threads;
  const auto reads = [](const Finding::Event& event) {
    return event.op == op_word(Op::kReadAcquire);
  };
  std::string message;
  for (std::size_t i = 0; i < named; ++i) {
    const Finding::Event& holds = events[2 * i];
    const Finding::Event& wants = events[2 * i + 1];
    const bool is_read = reads(events[(2 * i + 2) % events.size()]);  // by the next one
    if (i > 0) message += i == 1 ? " while " : i + 1 == threads ? ", and " : ", ";
    message += fmt::format("{} holds {}{} and wants {}{}", holds.thread, describe(holds),
                           reads(holds) ? " for reading" : "", describe(wants),
                           reads(wants) ? " for reading"
                           : is_read    ? " for writing"
                                        : "");
  }
  if (named < threads) message += fmt::format(", and so on round {} threads", threads);
  return message;
}

}  // namespace

// The requests that can be part of a cycle, those that are one to the search side by side. A
// component is left out as a whole if one thread made all its requests, or if all are made under a
// lock that keeps them apart.
std::vector<NodeId> LockOrder::suspects() {
  std::vector<std::pair<LockId, LockId>> edges;
  LockId locks = 0;
  for (NodeId id = 1; id < tree_.size(); ++id) {
    const Node& node = tree_.node(id);
    locks = std::max(locks, lock_of(node.lock) + 1);
    // Whoever holds a lock further up holds all in between, so the last one will do.
    if (node.parent == LockTree::kRoot) continue;
    edges.emplace_back(lock_of(tree_.node(node.parent).lock), lock_of(node.lock));
  }
  const std::vector<std::uint32_t> component = components(EdgeLists(locks, edges));

  const auto is_suspect = [&](const Node& node) {
    const LockId wanted = lock_of(node.lock);
    for (NodeId at = node.parent; at != LockTree::kRoot; at = tree_.node(at).parent) {
      const LockId held = lock_of(tree_.node(at).lock);
      if (held == wanted || (component[held] != kAlone && component[held] == component[wanted])) {
        return true;
      }
    }
    return false;
  };
  std::vector<NodeId> found;
  std::vector<Component> known(locks);
  Locksets& locksets = tree_.context().locksets();
  for (NodeId id = 1; id < tree_.size(); ++id) {
    const Node& node = tree_.node(id);
    if (!node.is_request() || !is_suspect(node)) continue;
    found.push_back(id);
    if (component[lock_of(node.lock)] == kAlone) continue;
    Component& own = known[component[lock_of(node.lock)]];
    const ThreadId thread = tree_.context().periods().thread(node.period);
    own.common = own.is_seen ? locksets.common(own.common, node.held) : node.held;
    own.has_several_threads |= node.periods != 0 || (own.is_seen && own.thread != thread);
    own.thread = thread;
    own.is_seen = true;
  }
  std::erase_if(found, [&](NodeId id) {
    const std::uint32_t number = component[lock_of(tree_.node(id).lock)];
    if (number == kAlone) return false;
    const std::vector<ModeLock> common = locksets.locks(known[number].common);
    return !known[number].has_several_threads ||
           std::ranges::any_of(common, [](ModeLock lock) { return !only_reads(lock); });
  });
  std::ranges::sort(found, {}, [&](NodeId id) {
    return std::tuple(tree_.node(id).held, tree_.node(id).lock, id);
  });
  return found;
}

void LockOrder::finish() {
  SearchBudget budget(kMostChains, options_.stop);
  const Simultaneous simultaneous(tree_.context().periods(), budget);
  const std::vector<NodeId> nodes = suspects();
  const auto is_other = [&](NodeId a, NodeId b) {
    return tree_.node(a).held != tree_.node(b).held || tree_.node(a).lock != tree_.node(b).lock;
  };
  std::vector<Alike> alike;
  std::vector<std::size_t> ends = {0};
  std::vector<PeriodSet::Run> runs;
  for (auto begin = nodes.begin(); begin != nodes.end();) {
    auto end = std::adjacent_find(begin, nodes.end(), is_other);
    if (end != nodes.end()) ++end;
    PeriodSet when;
    for (const NodeId request : alike.emplace_back(begin, end)) when.add(tree_.when(request));
    runs.insert(runs.end(), when.runs().begin(), when.runs().end());
    ends.push_back(runs.size());
    begin = end;
  }
  std::vector<LockRequest> requests;
  requests.reserve(alike.size());
  for (std::size_t i = 0; i < alike.size(); ++i) {
    const Node& node = tree_.node(alike[i].front());
    requests.push_back({.held = node.held,
                        .wanted = node.lock,
                        .when = std::span(runs).subspan(ends[i], ends[i + 1] - ends[i])});
  }

  LockCycles cycles(requests, tree_.context().locksets(), simultaneous, budget);
  cycles.search([&](LockCycles::Cycle cycle, std::span<const PeriodId> periods) {
    std::vector<Alike> choices;
    for (const std::uint32_t request : cycle) choices.push_back(alike[request]);
    expand(choices, periods, simultaneous, budget);
    return deadlocks_.size() < options_.max_findings;
  });
  unknown_ = why_unknown(cycles, budget);
  by_key_.clear();
  std::ranges::sort(deadlocks_, {}, [](const Deadlock& deadlock) {
    std::vector<NodeId> in_order;
    in_order.reserve(deadlock.members.size());
    for (const Member& member : deadlock.members) in_order.push_back(member.wants);
    std::vector<NodeId> latest_first = in_order;  // a deadlock is possible from its last request on
    std::ranges::sort(latest_first, std::ranges::greater());
    return std::pair(std::move(latest_first), std::move(in_order));
  });
}

// All ways to choose one of the alike for each member, first the one that is known to be possible.
void LockOrder::expand(std::span<const Alike> cycle, std::span<const PeriodId> periods,
                       const Simultaneous& simultaneous, SearchBudget& budget) {
  struct Choice {
    std::size_t first = 0;
    std::size_t now = 0;
    PeriodSet when;
  };
  const auto choose = [&](Choice& choice, Alike among, std::size_t which) {
    choice.now = which % among.size();
    choice.when = tree_.when(among[choice.now]);
  };
  std::vector<Choice> choices(cycle.size());
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    Choice& choice = choices[i];
    choose(choice, cycle[i], 0);
    const PeriodSet::Run example = simultaneous.run_of(periods[i]);
    while (!contains(choice.when.runs(), example)) choose(choice, cycle[i], choice.now + 1);
    choice.first = choice.now;
  }
  for (std::size_t turned = 0; turned < cycle.size();) {
    std::vector<NodeId> requests;
    std::vector<Simultaneous::Runs> when;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      requests.push_back(cycle[i][choices[i].now]);
      when.emplace_back(choices[i].when.runs());
    }
    const auto found = simultaneous.find(when);
    if (found && !keep(requests, *found)) return;
    if (!budget.spend(cycle.size())) return;
    // Like the wheels of a counter.
    for (turned = 0; turned < cycle.size(); ++turned) {
      choose(choices[turned], cycle[turned], choices[turned].now + 1);
      if (choices[turned].now != choices[turned].first) break;
    }
  }
}

// False if there are enough.
bool LockOrder::keep(std::span<const NodeId> requests, std::span<const PeriodId> periods) {
  Deadlock deadlock;
  Key key;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const NodeId previous = requests[(i + requests.size() - 1) % requests.size()];
    const Node& wants = tree_.node(requests[i]);
    const NodeId holds = holder(tree_, requests[i], lock_of(tree_.node(previous).lock));
    deadlock.members.push_back({.holds = holds,
                                .wants = requests[i],
                                .thread = tree_.context().periods().thread(periods[i])});
    const Node& held = tree_.node(holds);
    key.push_back({held.label, held.begin, held.place, wants.label, wants.begin, wants.place});
  }
  // Where it starts does not make it another one.
  std::ranges::rotate(deadlock.members,
                      std::ranges::min_element(deadlock.members, {}, &Member::wants));
  Key least = key;
  for (std::size_t i = 1; i < key.size(); ++i) {
    std::ranges::rotate(key, key.begin() + 1);
    least = std::min(least, key);
  }

  if (const auto known = by_key_.find(least); known != by_key_.end()) {
    ++deadlocks_[known->second].count;
    return true;
  }
  if (deadlocks_.size() >= options_.max_findings) {
    ++left_out_;
    return false;
  }
  by_key_.emplace(std::move(least), deadlocks_.size());
  deadlocks_.push_back(std::move(deadlock));
  return true;
}

std::string LockOrder::why_unknown(const LockCycles& cycles, const SearchBudget& budget) const {
  if (cycles.is_complete()) return "";
  const std::string so_far =
      cycles.complete_up_to() < 2
          ? "not even all cycles of two locks were looked for"
          : fmt::format("all cycles of up to {} locks were looked for, longer ones were not",
                        cycles.complete_up_to());
  if (budget.stopped()) return "the search for deadlocks was interrupted: " + so_far;
  if (budget.over()) return "the search for deadlocks was given up as too long: " + so_far;
  return "there are very many possible deadlocks: " + so_far;
}

std::vector<std::string> LockOrder::notes() const {
  if (tree_.has_all_places()) return {};
  return {
      fmt::format("there are more than {} ways in which locks are nested: of later ones the "
                  "places are not known.",
                  tree_.size())};
}

std::vector<Finding> LockOrder::findings(const Names& names) const {
  std::vector<Finding> findings;
  findings.reserve(deadlocks_.size());
  for (const Deadlock& deadlock : deadlocks_) findings.push_back(tell(deadlock, names));
  return findings;
}

Finding LockOrder::tell(const Deadlock& deadlock, const Names& names) const {
  Finding finding;
  finding.analysis = name();
  finding.kind = Kind::kDeadlock;
  finding.verdict = Certainty::kPredicted;
  finding.count = deadlock.count;
  std::vector<std::string> locks;
  for (const Member& member : deadlock.members) {
    for (const NodeId id : {member.holds, member.wants}) {
      const Node& node = tree_.node(id);
      if (id == member.holds || !is_one_transaction(tree_, member.holds, member.wants)) {
        finding.transactions.push_back(tell_transaction(
            names, member.thread, node.label, node.is_outside() ? node.place : node.begin));
      }
      const Op op = only_reads(node.lock) ? Op::kReadAcquire : Op::kAcquire;
      finding.events.push_back(tell_event(names, member.thread, op, lock_of(node.lock), node.place,
                                          locks_before(tree_, id),
                                          finding.transactions.size() - 1));
    }
    locks.push_back(names.name(NameKind::kLock, lock_of(tree_.node(member.holds).lock)));
  }
  const Member& first = deadlock.members.front();
  const bool is_upgrade =
      lock_of(tree_.node(first.holds).lock) == lock_of(tree_.node(first.wants).lock);
  finding.pattern = pattern_of(locks);
  finding.message = message_of(finding.events);
  finding.fix = fix_of_cycle(locks, is_upgrade);
  return finding;
}

}  // namespace tomos
