// `conflict-graph`: is the trace conflict-serializable? By the graph itself, as in any database
// textbook (and in Farzan & Madhusudan, CAV 2008, section 2): a node for every transaction of the
// trace, an edge for every conflict, a violation for every cycle.
//
// Nothing is ever forgotten, so its memory grows with the trace; in return it shows the shortest
// cycle there is. Cycles are found as edges come: the nodes are kept in a topological order that is
// repaired when an edge goes against it (Pearce & Kelly, "A Dynamic Topological Sort Algorithm for
// Directed Acyclic Graphs", JEA 2006), so only the nodes between the edge's two ends are ever
// searched.
//
// Going on after a violation: an edge that would close a cycle is not added. What is true all the
// same, that the open transactions before its source come before its target (unless they come after
// it, too), is added as a *derived* edge.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/block_vector.h"
#include "monitor/locksets.h"
#include "monitor/transactions.h"
#include "monitor/violations.h"

namespace tomos {

class ConflictGraph final : public Monitor {
 public:
  explicit ConflictGraph(const AnalysisOptions& options)
      : options_(options), violations_(options.max_findings) {}

  std::string_view name() const override { return "conflict-graph"; }
  void on_events(std::span<const Event> events) override;
  void finish() override {}
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<ConflictGraph>(*this); }
  std::vector<Finding> findings(const Names& names) const override {
    return violations_.findings(name(), names);
  }
  std::uint64_t left_out() const override { return violations_.left_out(); }

 private:
  using NodeId = std::uint32_t;
  using EdgeId = std::uint32_t;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Node {
    ThreadId thread;
    LabelId label;
    LocationId begin;
    std::uint32_t order;      // topological
    NodeId previous = kNone;  // of the same thread
    NodeId next = kNone;
    EdgeId first_out = kNone;
    EdgeId first_in = kNone;
    std::uint32_t in_degree = 0;
    std::uint32_t seen = 0;  // by the search of this number
    std::uint32_t via =
        kNone;  // the edge it was reached by in that search; kNone: its thread's order
  };

  // An event that later ones may conflict with.
  struct Access {
    std::uint64_t index;
    NodeId node;
    LocationId location;
    LocksetId locks;
    Op op;
  };

  // The edge that `from` and `to` make; a derived edge comes from `source` instead, which precedes
  // from's node by the path in paths_.
  struct Edge {
    Access from;
    Access to;
    std::uint32_t object;
    NodeId source;
    std::uint32_t path = kNone;
    EdgeId next_out;
    EdgeId next_in;
  };

  struct History {
    std::vector<Access> writes;  // or releases of a lock
    std::vector<Access> reads;   // or read-releases
  };

  struct Thread {
    NodeId last = kNone;
    NodeId open = kNone;         // the transaction's node, once it has an event
    std::vector<NodeId> before;  // open transactions that derive() has put before it
    TransactionBounds transaction;
    HeldLocks locks;
  };

  Thread& thread(ThreadId id);
  static History& history(std::vector<History>& histories, std::uint32_t object);
  NodeId node_of(const Event& event);
  NodeId add_node(ThreadId id, LabelId label, LocationId begin);
  Access access_of(const Event& event, NodeId node);
  void access(const Event& event);
  void synchronise(const Event& event);
  void fork(const Event& event);
  void join(const Event& event);
  void cut(ThreadId id);

  // Orders the sources before the event; those that contradict it are reported and stay, the others
  // go.
  void meet(std::vector<Access>& sources, const Access& to, std::uint32_t object, bool keep_all);
  void add(std::vector<Access>& accesses, const Access& access);

  bool reaches(NodeId from, NodeId to);
  void search_back(NodeId from, std::uint32_t first);
  bool is_known(NodeId from, NodeId to);
  void connect(const Edge& edge);
  void reorder(NodeId from, NodeId to);
  void derive(const Edge& closing);
  void report(const Edge& closing);
  std::vector<EdgeId> path_found(NodeId from, NodeId to) const;
  void tell(const std::vector<EdgeId>& path, std::vector<CycleEdge>& edges) const;
  CycleEvent event_of(const Access& access, std::uint32_t object) const;

  AnalysisOptions options_;
  Violations violations_;
  Locksets locksets_;
  BlockVector<Node> nodes_;
  BlockVector<Edge> edges_;
  std::vector<std::vector<EdgeId>> paths_;  // of derived edges
  std::unordered_set<std::uint64_t>
      crowded_;  // the edges to nodes that have many, as pairs of nodes
  std::vector<Thread> threads_;
  std::vector<History> variables_;
  std::vector<History> locks_;

  std::uint32_t search_ = 0;      // number of the last search
  std::vector<NodeId> forward_;   // what it found, in the order it was found
  std::vector<NodeId> backward_;  // what search_back() found
  std::uint64_t index_ = 0;
  bool violated_ = false;
};

}  // namespace tomos
