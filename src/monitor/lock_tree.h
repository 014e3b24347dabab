// How locks were nested: what `lock-order` keeps of a trace.
//
// The nestings form a tree, as in the first goodlock algorithm (Havelund, SPIN 2000), but one for
// all threads: a node is a lock acquired while the locks on the way to the root were held. If a
// thread really did that, and did not only come to hold these locks in another way, the node is a
// request: it could have been made to wait, with those locks in its hands. It knows the code that
// made it and the thread periods in which it was made, so what happens again takes no space.
//
// A lock that is held for reading and acquired for writing is a request, too, and counts as held
// for writing from then on. Other acquires of a lock that is held are none. Nor is an acquire by
// who only tried: it never waits, whatever it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/event.h"
#include "monitor/analyses.h"
#include "monitor/block_vector.h"
#include "monitor/context.h"
#include "monitor/thread_periods.h"

namespace tomos {

class LockTree {
 public:
  using NodeId = std::uint32_t;
  static constexpr NodeId kRoot = 0;

  struct Node {
    NodeId parent = kRoot;
    ModeLock lock = 0;
    LocationId place = 0;  // where it was acquired
    LabelId label = 0;     // of the transaction in which it was, 0 outside any
    LocationId begin = 0;  // of the transaction
    bool is_same = false;  // transaction as the parent's

    LocksetId held = 0;  // of a request: the locks on the way to the root
    PeriodId period = kNever;
    std::uint32_t periods = 0;  // if there are several: their set

    bool is_request() const { return period != kNever; }
    bool is_outside() const { return label == 0 && begin == 0; }
  };

  // `places`: so many nodes may be there before places and labels are no longer told apart. A trace
  // may give every event a place of its own.
  explicit LockTree(const AnalysisOptions& options, std::size_t places = std::size_t{1} << 20U);

  void take(const Event& event);

  const Node& node(NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }
  bool has_all_places() const { return nodes_.size() < places_; }

  // When a request was made.
  PeriodSet when(NodeId request) const;

  Context& context() { return context_; }

 private:
  static constexpr PeriodId kNever = ~PeriodId{0};

  // Where a thread got a lock that it holds.
  struct Origin {
    LockId lock;
    LocationId place;
    LabelId label;
    LocationId begin;
    std::uint32_t transaction;  // Thread::transactions
  };
  struct Thread {
    NodeId at = kRoot;               // the node of what it holds; the root while that is not known
    std::uint32_t transactions = 0;  // that have begun or ended
    std::vector<Origin> origins;     // in the order of Context::Thread::held
  };

  void acquire(const Event& event);
  void release(const Event& event);
  Thread& thread(ThreadId id);
  Origin origin(const Event& event);
  NodeId path_to(const Thread& thread, const std::vector<Context::Held>& held);
  NodeId child(NodeId parent, const Origin* before, ModeLock lock, const Origin& origin);
  std::size_t find(const Node& node) const;
  void grow();
  void note(NodeId request, LocksetId held, PeriodId period);

  Context context_;
  std::size_t places_;
  std::vector<Thread> threads_;
  BlockVector<Node> nodes_;
  std::vector<NodeId> slots_;       // open addressing over nodes_
  std::vector<PeriodSet> periods_;  // [0] is not used
  struct Noted {
    NodeId request;
    PeriodId period;
  };
  std::vector<Noted> noted_;  // part of what was noted, to know it again at once
};

}  // namespace tomos
