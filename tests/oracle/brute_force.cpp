// The definition of serializability, and of going on after a violation, word by word.
//
// The conflict graph has the transactions as nodes, and an edge D -> A when an event of D must come
// before a later event of A. The trace is serializable if and only if this graph has no cycle;
// first_cycle() builds the graph of a prefix from all pairs of events and looks for a cycle in it.
//
// To go on after a violation, violating_events() keeps a graph that stays acyclic. An event of A
// violates when one of its sources (transactions with an earlier event that must come before it) is
// a descendant of A. Sources that are no descendants get their edge to A. In place of an edge from
// a descendant D, every active transaction that is an ancestor of D, and neither A nor a descendant
// of A, gets an edge to A: what D's edge would have said about the transactions that can still be
// cut is kept, and nothing that would close a cycle.
//
// The first violating event is found both ways, by different code, and the two must agree.
#include "brute_force.h"

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <utility>

namespace tomos::oracle {

namespace {

bool splits(Op op) {
  return op == Op::kFork || op == Op::kJoin || op == Op::kBarrier || op == Op::kSignal ||
         op == Op::kWait;
}

bool takes_part(Op op, Edges edges) {
  switch (op) {
    case Op::kRead:
    case Op::kWrite:
      return true;
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kReadAcquire:
    case Op::kReadRelease:
    case Op::kFork:
    case Op::kJoin:
      return edges == Edges::kSync;
    case Op::kBegin:
    case Op::kEnd:
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
    case Op::kNew:
    case Op::kEscape:
    case Op::kFree:
    case Op::kExit:
      return false;
  }
  return false;
}

// Where a thread stands.
struct Current {
  unsigned depth = 0;
  std::size_t transaction = kNever;
};

}  // namespace

bool Order::across(std::size_t i, std::size_t j) const {
  const Event& a = events[i];
  const Event& b = events[j];
  if (a.thread == b.thread || !takes_part(a.op, edges) || !takes_part(b.op, edges)) return false;
  if (is_access(a.op) && is_access(b.op)) {
    return a.object == b.object && freed[i] == freed[j] &&
           (a.op == Op::kWrite || b.op == Op::kWrite);
  }
  if (a.op == Op::kFork && a.object == b.thread) return true;
  if (b.op == Op::kJoin && b.object == a.thread) return true;
  if (a.op == Op::kFork && b.op == Op::kJoin && a.object == b.object) return true;
  if (nested[i] || nested[j]) return false;
  if (a.op == Op::kRelease) {
    return (b.op == Op::kAcquire || b.op == Op::kReadAcquire) && a.object == b.object;
  }
  return a.op == Op::kReadRelease && b.op == Op::kAcquire && a.object == b.object;
}

bool Order::before(std::size_t i, std::size_t j) const {
  if (transaction_of[i] == kNever || transaction_of[j] == kNever) return false;
  return events[i].thread == events[j].thread || across(i, j);
}

Order order_of(std::span<const Event> events, Edges edges) {
  Order order{.events = events,
              .edges = edges,
              .transactions = {},
              .transaction_of = {},
              .freed = {},
              .nested = {}};
  std::map<ThreadId, Current> current;
  std::map<VariableId, std::size_t> freed;
  std::map<std::pair<ThreadId, LockId>, unsigned> holds;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    Current& own = current[e.thread];
    order.transaction_of.push_back(kNever);
    order.freed.push_back(is_access(e.op) ? freed[e.object] : 0);
    order.nested.push_back(false);
    if (e.op == Op::kAcquire || e.op == Op::kReadAcquire) {
      order.nested.back() = holds[{e.thread, e.object}]++ > 0;
    } else if (e.op == Op::kRelease || e.op == Op::kReadRelease) {
      order.nested.back() = --holds[{e.thread, e.object}] > 0;
    }
    const auto close = [&] {
      if (own.transaction != kNever) order.transactions[own.transaction].end = i;
      own.transaction = kNever;
    };
    if (e.op == Op::kBegin && own.depth++ == 0) {
      own.transaction = order.transactions.size();
      order.transactions.push_back({.thread = e.thread, .outermost = i, .begin = i});
    }
    if ((e.op == Op::kEnd && --own.depth == 0) || e.op == Op::kExit) close();
    if (e.op == Op::kFree) ++freed[e.object];
    std::size_t split = kNever;
    if (splits(e.op)) {
      split = own.transaction;
      close();
    }
    if (takes_part(e.op, edges)) {
      order.transaction_of[i] = own.transaction;
      if (own.transaction == kNever) {
        order.transaction_of[i] = order.transactions.size();
        order.transactions.push_back(
            {.thread = e.thread, .single = true, .outermost = i, .begin = i, .end = i});
      }
    }
    if (split != kNever) {
      own.transaction = order.transactions.size();
      order.transactions.push_back(
          {.thread = e.thread, .outermost = order.transactions[split].outermost, .begin = i});
    }
  }
  return order;
}

namespace {

bool has_cycle(const Order& order, std::size_t length) {
  std::vector<std::vector<std::size_t>> next(order.transactions.size());
  for (std::size_t j = 0; j < length; ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      const std::size_t from = order.transaction_of[i];
      const std::size_t to = order.transaction_of[j];
      if (from != to && order.before(i, j)) next[from].push_back(to);
    }
  }
  enum class Colour : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Colour> colour(next.size(), Colour::kNew);
  const std::function<bool(std::size_t)> meets_itself = [&](std::size_t node) {
    if (colour[node] != Colour::kNew) return colour[node] == Colour::kOnPath;
    colour[node] = Colour::kOnPath;
    if (std::ranges::any_of(next[node], meets_itself)) return true;
    colour[node] = Colour::kDone;
    return false;
  };
  return std::ranges::any_of(std::views::iota(std::size_t{0}, next.size()), meets_itself);
}

std::optional<std::size_t> first_cycle(const Order& order) {
  if (!has_cycle(order, order.events.size())) return std::nullopt;
  // The graph of a prefix is part of the graph of every longer one.
  std::size_t acyclic = 0;
  std::size_t cyclic = order.events.size();
  while (cyclic - acyclic > 1) {
    const std::size_t middle = acyclic + (cyclic - acyclic) / 2;
    (has_cycle(order, middle) ? cyclic : acyclic) = middle;
  }
  return cyclic - 1;
}

// A graph by its transitive closure.
class Reachability {
 public:
  explicit Reachability(std::size_t nodes) : reaches_(nodes, std::vector<bool>(nodes)) {}

  bool reaches(std::size_t from, std::size_t to) const { return reaches_[from][to]; }

  void add_edge(std::size_t from, std::size_t to) {
    if (reaches_[from][to]) return;
    for (std::size_t a = 0; a < reaches_.size(); ++a) {
      if (a != from && !reaches_[a][from]) continue;
      for (std::size_t b = 0; b < reaches_.size(); ++b) {
        if (b == to || reaches_[to][b]) reaches_[a][b] = true;
      }
    }
  }

 private:
  std::vector<std::vector<bool>> reaches_;
};

std::vector<std::uint64_t> violating_events(const Order& order) {
  std::vector<std::uint64_t> violating;
  const std::size_t nodes = order.transactions.size();
  Reachability graph(nodes);
  for (std::size_t e = 0; e < order.events.size(); ++e) {
    const std::size_t a = order.transaction_of[e];
    if (a == kNever) continue;
    std::vector<bool> is_source(nodes);
    for (std::size_t i = 0; i < e; ++i) {
      if (order.before(i, e) && order.transaction_of[i] != a)
        is_source[order.transaction_of[i]] = true;
    }
    std::vector<std::size_t> new_edges;
    bool violates = false;
    for (std::size_t d = 0; d < nodes; ++d) {
      if (!is_source[d]) continue;
      if (!graph.reaches(a, d)) {
        new_edges.push_back(d);
        continue;
      }
      violates = true;
      for (std::size_t v = 0; v < nodes; ++v) {
        const Transaction& t = order.transactions[v];
        const bool active = !t.single && t.begin < e && e < t.end;
        if (active && v != a && graph.reaches(v, d) && !graph.reaches(a, v)) new_edges.push_back(v);
      }
    }
    for (const std::size_t from : new_edges) graph.add_edge(from, a);
    if (violates) violating.push_back(e);
  }
  return violating;
}

}  // namespace

Truth brute_force(const Order& order) {
  return {.first_cycle = first_cycle(order), .violating = violating_events(order)};
}

}  // namespace tomos::oracle
