#include "monitor/conflict_graph.h"

#include <algorithm>

namespace tomos {

void ConflictGraph::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
    violated_ = false;
    switch (event.op) {
      case Op::kRead:
      case Op::kWrite:
        access(event);
        break;
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kReadAcquire:
      case Op::kReadRelease:
        synchronise(event);
        break;
      case Op::kBegin:
        thread(event.thread).transaction.begin(event);
        break;
      case Op::kEnd:
        if (thread(event.thread).transaction.end()) cut(event.thread);
        break;
      case Op::kFork:
        fork(event);
        break;
      case Op::kJoin:
        join(event);
        break;
      case Op::kBarrier:
      case Op::kSignal:
      case Op::kWait:
        cut(event.thread);
        break;
      case Op::kFree:
        history(variables_, event.object) = {};
        break;
      case Op::kExit:
        cut(event.thread);
        thread(event.thread).transaction = {};
        break;
      case Op::kNew:
      case Op::kEscape:
        break;
    }
    if (violated_ && options_.violating_events != nullptr) {
      options_.violating_events->push_back(index_);
    }
    ++index_;
  }
}

ConflictGraph::Thread& ConflictGraph::thread(ThreadId id) {
  if (id >= threads_.size()) threads_.resize(id + 1);
  return threads_[id];
}

ConflictGraph::History& ConflictGraph::history(std::vector<History>& histories,
                                               std::uint32_t object) {
  if (object >= histories.size()) histories.resize(object + 1);
  return histories[object];
}

ConflictGraph::NodeId ConflictGraph::add_node(ThreadId id, LabelId label, LocationId begin) {
  const auto node = static_cast<NodeId>(nodes_.size());
  Thread& own = thread(id);
  nodes_.push_back(
      {.thread = id, .label = label, .begin = begin, .order = node, .previous = own.last});
  if (own.last != kNone) nodes_[own.last].next = node;
  own.last = node;
  return node;
}

// The node of the transaction that the event is in, made at its first event.
ConflictGraph::NodeId ConflictGraph::node_of(const Event& event) {
  Thread& own = thread(event.thread);
  if (!own.transaction.inside()) return add_node(event.thread, 0, event.location);
  if (own.open == kNone) {
    own.open = add_node(event.thread, own.transaction.label, own.transaction.start);
  }
  return own.open;
}

ConflictGraph::Access ConflictGraph::access_of(const Event& event, NodeId node) {
  return {.index = index_,
          .node = node,
          .location = event.location,
          .locks = thread(event.thread).locks.id(locksets_),
          .op = event.op};
}

void ConflictGraph::access(const Event& event) {
  const Access now = access_of(event, node_of(event));
  History& variable = history(variables_, event.object);
  if (event.op == Op::kRead) {
    meet(variable.writes, now, event.object, true);
    add(variable.reads, now);
  } else {
    meet(variable.writes, now, event.object, false);
    meet(variable.reads, now, event.object, false);
    add(variable.writes, now);
  }
}

void ConflictGraph::synchronise(const Event& event) {
  HeldLocks& held = thread(event.thread).locks;
  const bool takes = event.op == Op::kAcquire || event.op == Op::kReadAcquire;
  const bool outermost = takes ? held.acquire(event.object) : held.release(event.object);
  if (options_.edges == Edges::kData || !outermost) return;
  const Access now = access_of(event, node_of(event));
  History& lock = history(locks_, event.object);
  switch (event.op) {
    case Op::kReadAcquire:
      meet(lock.writes, now, event.object, true);
      break;
    case Op::kAcquire:
      meet(lock.writes, now, event.object, false);
      meet(lock.reads, now, event.object, false);
      break;
    case Op::kRelease:
      add(lock.writes, now);
      break;
    case Op::kReadRelease:
      add(lock.reads, now);
      break;
    case Op::kBegin:
    case Op::kEnd:
    case Op::kRead:
    case Op::kWrite:
    case Op::kFork:
    case Op::kJoin:
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
    case Op::kNew:
    case Op::kEscape:
    case Op::kFree:
    case Op::kExit:
      break;
  }
}

void ConflictGraph::fork(const Event& event) {
  cut(event.thread);
  if (options_.edges == Edges::kData) return;
  const NodeId node = add_node(event.thread, 0, event.location);
  const NodeId child = add_node(event.object, 0, event.location);
  const Access from{
      .index = index_, .node = node, .location = event.location, .locks = 0, .op = Op::kFork};
  Access to = from;
  to.node = child;
  connect({.from = from, .to = to, .object = event.object, .source = node});
}

void ConflictGraph::join(const Event& event) {
  cut(event.thread);
  cut(event.object);
  if (options_.edges == Edges::kData) return;
  const NodeId last = add_node(event.object, 0, event.location);
  const NodeId node = add_node(event.thread, 0, event.location);
  const Access to{
      .index = index_, .node = node, .location = event.location, .locks = 0, .op = Op::kJoin};
  Access from = to;
  from.node = last;
  from.op = Op::kExit;
  connect({.from = from, .to = to, .object = event.object, .source = last});
}

void ConflictGraph::cut(ThreadId id) {
  Thread& own = thread(id);
  own.open = kNone;
  own.before.clear();
}

void ConflictGraph::meet(std::vector<Access>& sources, const Access& to, std::uint32_t object,
                         bool keep_all) {
  std::erase_if(sources, [&](const Access& source) {
    if (nodes_[source.node].thread == nodes_[to.node].thread) return !keep_all;
    const Edge edge{.from = source, .to = to, .object = object, .source = source.node};
    if (reaches(to.node, source.node)) {
      violated_ = true;
      report(edge);
      derive(edge);
      return false;
    }
    connect(edge);
    return !keep_all;
  });
}

void ConflictGraph::add(std::vector<Access>& accesses, const Access& access) {
  for (Access& other : accesses) {
    if (nodes_[other.node].thread == nodes_[access.node].thread) {
      other = access;
      return;
    }
  }
  accesses.push_back(access);
}

// Breadth first, among the nodes that stand before `to` in the order. Leaves what it found in
// forward_, with the edges that led there in the nodes' `via`.
bool ConflictGraph::reaches(NodeId from, NodeId to) {
  ++search_;
  forward_.clear();
  const std::uint32_t last = nodes_[to].order;
  if (nodes_[from].order > last) return false;
  const auto visit = [&](NodeId node, EdgeId via) {
    if (nodes_[node].order > last || nodes_[node].seen == search_) return;
    nodes_[node].seen = search_;
    nodes_[node].via = via;
    forward_.push_back(node);
  };
  visit(from, kNone);
  for (std::size_t i = 0; i < forward_.size(); ++i) {
    const Node node = nodes_[forward_[i]];
    for (EdgeId edge = node.first_out; edge != kNone; edge = edges_[edge].next_out) {
      visit(edges_[edge].to.node, edge);
    }
    if (node.next != kNone) visit(node.next, kNone);
  }
  return nodes_[to].seen == search_;
}

// All that leads to the node, among the nodes that do not stand before `first` in the order: to
// backward_.
void ConflictGraph::search_back(NodeId from, std::uint32_t first) {
  ++search_;
  backward_.clear();
  const auto visit = [&](NodeId node) {
    if (nodes_[node].order < first || nodes_[node].seen == search_) return;
    nodes_[node].seen = search_;
    backward_.push_back(node);
  };
  visit(from);
  for (std::size_t i = 0; i < backward_.size(); ++i) {
    const Node node = nodes_[backward_[i]];
    for (EdgeId edge = node.first_in; edge != kNone; edge = edges_[edge].next_in) {
      visit(edges_[edge].source);
    }
    if (node.previous != kNone) visit(node.previous);
  }
}

// Whether there is such an edge. Most nodes have few; the others are looked up.
bool ConflictGraph::is_known(NodeId from, NodeId to) {
  constexpr std::uint32_t kFew = 8;
  const auto pair = [to](NodeId source) { return (std::uint64_t{source} << 32U) | to; };
  Node& node = nodes_[to];
  if (node.in_degree > kFew) return !crowded_.insert(pair(from)).second;
  for (EdgeId edge = node.first_in; edge != kNone; edge = edges_[edge].next_in) {
    if (edges_[edge].source == from) return true;
  }
  if (node.in_degree == kFew) {
    crowded_.insert(pair(from));
    for (EdgeId edge = node.first_in; edge != kNone; edge = edges_[edge].next_in) {
      crowded_.insert(pair(edges_[edge].source));
    }
  }
  return false;
}

// Adds an edge that closes no cycle.
void ConflictGraph::connect(const Edge& edge) {
  const NodeId from = edge.source;
  const NodeId to = edge.to.node;
  if (is_known(from, to)) return;
  if (nodes_[from].order > nodes_[to].order) reorder(from, to);
  const auto id = static_cast<EdgeId>(edges_.size());
  edges_.push_back(edge);
  edges_[id].next_out = nodes_[from].first_out;
  edges_[id].next_in = nodes_[to].first_in;
  nodes_[from].first_out = id;
  nodes_[to].first_in = id;
  ++nodes_[to].in_degree;
}

// Pearce & Kelly: all between the two that leads to `from` moves before all that follows from `to`.
void ConflictGraph::reorder(NodeId from, NodeId to) {
  reaches(to, from);
  std::vector<NodeId> after = forward_;
  search_back(from, nodes_[to].order);
  const auto by_order = [&](NodeId node) { return nodes_[node].order; };
  std::ranges::sort(backward_, {}, by_order);
  std::ranges::sort(after, {}, by_order);
  std::vector<NodeId> nodes = backward_;
  nodes.insert(nodes.end(), after.begin(), after.end());
  std::vector<std::uint32_t> orders;
  orders.reserve(nodes.size());
  for (const NodeId node : nodes) orders.push_back(nodes_[node].order);
  std::ranges::sort(orders);
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes_[nodes[i]].order = orders[i];
}

// `closing` was not added, since its target reaches its source, as reaches() has just found. Every
// open transaction before the source that the target does not reach comes before the target.
void ConflictGraph::derive(const Edge& closing) {
  const NodeId source = closing.from.node;
  const NodeId target = closing.to.node;
  std::vector<NodeId>& before = thread(nodes_[target].thread).before;
  std::vector<NodeId> open;
  std::uint32_t first_open = kNone;
  for (const Thread& own : threads_) {
    const NodeId node = own.open;
    if (node == kNone || node == target || nodes_[node].seen == search_) continue;
    if (std::ranges::find(before, node) != before.end()) continue;
    open.push_back(node);
    first_open = std::min(first_open, nodes_[node].order);
  }
  if (open.empty()) return;
  search_back(source, first_open);
  std::erase_if(open, [&](NodeId node) { return nodes_[node].seen != search_; });
  // The paths first: an edge that is derived here must not lead over another one.
  std::vector<Edge> derived;
  for (const NodeId node : open) {
    before.push_back(node);
    derived.push_back(closing);
    derived.back().source = node;
    if (node == source) continue;
    reaches(node, source);
    derived.back().path = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back(path_found(node, source));
  }
  for (const Edge& edge : derived) connect(edge);
}

CycleEvent ConflictGraph::event_of(const Access& access, std::uint32_t object) const {
  const Node& node = nodes_[access.node];
  return {.index = access.index,
          .transaction = access.node,
          .thread = node.thread,
          .location = access.location,
          .label = node.label,
          .begin = node.begin,
          .locks = access.locks,
          .object = object,
          .op = access.op};
}

// A shortest path, as reaches() has just found it.
std::vector<ConflictGraph::EdgeId> ConflictGraph::path_found(NodeId from, NodeId to) const {
  std::vector<EdgeId> steps;
  for (NodeId node = to; node != from;) {
    const EdgeId via = nodes_[node].via;
    if (via == kNone) {
      node = nodes_[node].previous;
    } else {
      steps.push_back(via);
      node = edges_[via].source;
    }
  }
  std::ranges::reverse(steps);
  return steps;
}

// Appends the edges of a path; a derived edge as what it comes from.
void ConflictGraph::tell(const std::vector<EdgeId>& path, std::vector<CycleEdge>& edges) const {
  for (const EdgeId step : path) {
    const Edge& edge = edges_[step];
    if (edge.path != kNone) tell(paths_[edge.path], edges);
    edges.push_back(
        {.from = event_of(edge.from, edge.object), .to = event_of(edge.to, edge.object)});
  }
}

void ConflictGraph::report(const Edge& closing) {
  std::vector<CycleEdge> cycle;
  tell(path_found(closing.to.node, closing.from.node), cycle);
  cycle.push_back(
      {.from = event_of(closing.from, closing.object), .to = event_of(closing.to, closing.object)});
  violations_.add(cycle, locksets_);
}

}  // namespace tomos
