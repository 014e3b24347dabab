#include "monitor/lock_cycles.h"

#include <algorithm>
#include <tuple>

namespace tomos {

namespace {

constexpr std::uint64_t kCheck = 8;  // of two requests against each other, in steps of the budget

ThreadId only_thread(Simultaneous::Runs runs, ThreadId otherwise) {
  const bool is_only = runs.front().thread == runs.back().thread;  // they are sorted
  return is_only ? runs.front().thread : otherwise;
}

}  // namespace

EdgeLists::EdgeLists(std::size_t nodes,
                     std::span<const std::pair<std::uint32_t, std::uint32_t>> edges)
    : first(nodes + 1), to(edges.size()) {
  for (const auto& edge : edges) ++first[edge.first + 1];
  for (std::size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const auto& edge : edges) to[next[edge.first]++] = edge.second;
}

// Tarjan's algorithm, without recursion.
std::vector<std::uint32_t> components(const EdgeLists& graph, std::uint32_t least) {
  constexpr std::uint32_t kNew = 0;
  const auto nodes = static_cast<std::uint32_t>(graph.nodes());
  std::vector<std::uint32_t> component(nodes, kAlone);
  std::vector<std::uint32_t> number(nodes, kNew);  // in the order of discovery
  std::vector<std::uint32_t> low(nodes);           // the lowest number that is known to be reached
  std::vector<std::uint32_t> next(graph.first.begin(), graph.first.end() - 1);  // edge
  std::vector<std::uint32_t> open;  // discovered, and not in a component yet
  std::vector<bool> is_open(nodes);
  std::vector<std::uint32_t> path;
  std::uint32_t count = 0;
  std::uint32_t components = 0;
  const auto discover = [&](std::uint32_t node) {
    number[node] = low[node] = ++count;
    open.push_back(node);
    is_open[node] = true;
    path.push_back(node);
  };
  for (std::uint32_t root = least; root < nodes; ++root) {
    if (number[root] == kNew) discover(root);
    while (!path.empty()) {
      const std::uint32_t node = path.back();
      if (next[node] < graph.first[node + 1]) {
        const std::uint32_t to = graph.to[next[node]++];
        if (to < least) continue;
        if (number[to] == kNew) {
          discover(to);
        } else if (is_open[to]) {
          low[node] = std::min(low[node], number[to]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[node]);
      if (low[node] != number[node]) continue;
      const bool is_alone = open.back() == node;
      for (std::uint32_t last = kAlone; last != node;) {
        last = open.back();
        open.pop_back();
        is_open[last] = false;
        component[last] = is_alone ? kAlone : components;
      }
      if (!is_alone) ++components;
    }
  }
  return component;
}

LockCycles::LockCycles(std::span<const LockRequest> requests, Locksets& locksets,
                       const Simultaneous& simultaneous, SearchBudget& budget)
    : requests_(requests),
      locksets_(&locksets),
      simultaneous_(&simultaneous),
      budget_(&budget),
      graph_(0, {}) {
  const std::vector<std::pair<LockId, LockId>> edges = connect(requests, locksets, arcs_);
  LockId locks = 0;
  for (const auto& [from, to] : edges) locks = std::max({locks, from + 1, to + 1});
  graph_ = EdgeLists(locks, edges);
  passed_.resize(locks);
  std::vector<ThreadId> threads;
  for (const LockRequest& request : requests) {
    for (const PeriodSet::Run& run : request.when) {
      if (threads.empty() || threads.back() != run.thread) threads.push_back(run.thread);
    }
  }
  std::ranges::sort(threads);
  taken_.resize(threads.empty() ? 0 : threads.back() + std::size_t{1});
  threads_ = static_cast<std::size_t>(std::ranges::unique(threads).begin() - threads.begin());
}

// The arcs, in the order of both their locks.
std::vector<std::pair<LockId, LockId>> LockCycles::connect(std::span<const LockRequest> requests,
                                                           const Locksets& locksets,
                                                           std::vector<Arc>& arcs) {
  std::vector<std::tuple<LockId, LockId, std::uint32_t>> all;
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    for (const ModeLock held : locksets.locks(requests[i].held)) {
      all.emplace_back(lock_of(held), lock_of(requests[i].wanted), i);
    }
  }
  std::ranges::sort(all);
  std::vector<std::pair<LockId, LockId>> edges;
  edges.reserve(all.size());
  arcs.reserve(all.size());
  for (const auto& [from, to, request] : all) {
    edges.emplace_back(from, to);
    arcs.push_back({.request = request, .thread = only_thread(requests[request].when, kSeveral)});
  }
  return edges;
}

void LockCycles::search(const Found& found) {
  found_ = &found;
  find_upgrades();
  for (std::size_t shortest = 2, longest = 2; !budget_->over();) {
    cut_off_ = false;
    find_between(shortest, longest);
    if (budget_->over()) return;
    complete_up_to_ = longest;
    complete_ = !cut_off_ || longest >= threads_;
    if (complete_ || !go_on_) return;
    shortest = longest + 1;
    longest = longest < 4 ? longest + 1 : 2 * longest;
  }
}

// Two that both hold the lock for reading and want it for writing: arcs from a lock to itself.
void LockCycles::find_upgrades() {
  for (LockId lock = 0; lock < graph_.nodes(); ++lock) {
    const auto begin = graph_.to.begin();
    const auto [first, last] =
        std::equal_range(begin + graph_.first[lock], begin + graph_.first[lock + 1], lock);
    const auto end = static_cast<std::uint32_t>(last - begin);
    for (auto one = static_cast<std::uint32_t>(first - begin); one < end; ++one) {
      path_.push_back(one);
      for (std::uint32_t other = one; other < end && !budget_->over(); ++other) {
        if (!fits(requests_[arcs_[other].request], true)) continue;
        path_.push_back(other);
        report();
        path_.pop_back();
      }
      path_.pop_back();
    }
  }
}

void LockCycles::find_between(std::size_t shortest, std::size_t longest) {
  component_ = components(graph_);
  std::uint64_t before = budget_->left();
  for (LockId start = 0; start < graph_.nodes() && !budget_->over(); ++start) {
    if (component_[start] == kAlone) continue;
    find_from(start, shortest, longest);
    // Without the locks that are done, components are smaller. To see that pays when as much has
    // been spent on the search.
    if (before - budget_->left() < graph_.to.size() || budget_->over()) continue;
    budget_->spend(graph_.to.size());
    component_ = components(graph_, start + 1);
    before = budget_->left();
  }
}

void LockCycles::find_from(LockId start, std::size_t shortest, std::size_t longest) {
  enter(start, start, longest);
  while (!frames_.empty()) {
    if (frames_.back().arc == frames_.back().end || budget_->over()) {
      leave();
      continue;
    }
    const std::uint32_t arc = frames_.back().arc++;
    const LockId to = graph_.to[arc];
    const ThreadId thread = arcs_[arc].thread;
    if (!budget_->spend(1) || component_[to] != component_[start] || to < start) continue;
    const bool closes = to == start;
    if (closes ? path_.empty() : passed_[to]) continue;
    if (thread != kSeveral && taken_[thread]) continue;
    if (!fits(requests_[arcs_[arc].request], closes)) continue;
    path_.push_back(arc);
    if (!closes) {
      if (thread != kSeveral) taken_[thread] = true;
      enter(start, to, longest);
      continue;
    }
    if (path_.size() >= shortest) report();
    path_.pop_back();
  }
  passed_[start] = false;
}

// Goes on from a lock. If one more request is all there may be, only those that close the cycle
// count.
void LockCycles::enter(LockId start, LockId lock, std::size_t longest) {
  passed_[lock] = true;
  Frame frame{.arc = graph_.first[lock], .end = graph_.first[lock + 1]};
  if (path_.size() + 1 == longest) {
    const auto begin = graph_.to.begin();
    const auto [first, last] = std::equal_range(begin + frame.arc, begin + frame.end, start);
    cut_off_ |= last - first < frame.end - frame.arc;
    frame = {.arc = static_cast<std::uint32_t>(first - begin),
             .end = static_cast<std::uint32_t>(last - begin)};
  }
  frames_.push_back(frame);
}

void LockCycles::leave() {
  frames_.pop_back();
  if (path_.empty()) return;
  const std::uint32_t arc = path_.back();
  path_.pop_back();
  passed_[graph_.to[arc]] = false;
  if (arcs_[arc].thread != kSeveral) taken_[arcs_[arc].thread] = false;
}

// Whether the waiter wants what the holder holds, and has to wait for it.
bool LockCycles::blocks(const LockRequest& holder, const LockRequest& waiter) const {
  return locksets_->exclude(holder.held, locksets_->intern_one(waiter.wanted));
}

// Whether the request can follow those on the path.
bool LockCycles::fits(const LockRequest& next, bool closes) const {
  for (std::size_t i = path_.size(); i-- > 0;) {
    const LockRequest& other = requests_[arcs_[path_[i]].request];
    if (!budget_->spend(kCheck) || locksets_->exclude(other.held, next.held)) return false;
    if (blocks(next, other) != (i + 1 == path_.size())) return false;
    if (blocks(other, next) != (closes && i == 0)) return false;
    if (!simultaneous_->possible(other.when, next.when)) return false;
  }
  return true;
}

void LockCycles::report() {
  std::vector<std::uint32_t> cycle;
  std::vector<Simultaneous::Runs> when;
  for (const std::uint32_t arc : path_) {
    cycle.push_back(arcs_[arc].request);
    when.push_back(requests_[cycle.back()].when);
  }
  if (const auto periods = simultaneous_->find(when)) go_on_ = (*found_)(cycle, *periods);
}

}  // namespace tomos
