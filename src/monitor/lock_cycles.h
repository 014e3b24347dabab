// Cycles of lock requests: the search behind `lock-order`.
//
// A request is a thread that holds some locks and wants another one. Requests can block each other
// for ever if each wants, in a conflicting way, what the next one holds, if no two of them hold
// locks that keep them apart, and if different threads can make them at the same time.
//
// Only cycles without a short cut are looked for: no request wants what another one than the next
// holds. (Short cuts come from locks held for reading by several.) Where there is one there is a
// shorter cycle, of threads that block each other just as well. So a cycle passes no lock twice,
// and the search can go from lock to lock. The exception is a cycle of two that both hold a lock
// for reading and want it for writing.
//
// The search stays inside the strongly connected components of the graph of locks and starts at the
// lowest lock of a cycle. A large component may have more cycles than anybody can count, so short
// cycles are looked for before long ones, and a budget ends the search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "event/event.h"
#include "monitor/locksets.h"
#include "monitor/simultaneous.h"

namespace tomos {

// A graph in two arrays: the edges of node n lead to to[first[n]] ... to[first[n + 1] - 1], in the
// order in which they were given.
struct EdgeLists {
  EdgeLists(std::size_t nodes, std::span<const std::pair<std::uint32_t, std::uint32_t>> edges);
  std::size_t nodes() const { return first.size() - 1; }

  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> to;
};

// Each node's strongly connected component, by number; kAlone for a node that is in no cycle with
// others. Nodes below `least` are left out.
inline constexpr std::uint32_t kAlone = ~std::uint32_t{0};
std::vector<std::uint32_t> components(const EdgeLists& graph, std::uint32_t least = 0);

struct LockRequest {
  LocksetId held;  // a set of mode locks
  ModeLock wanted;
  Simultaneous::Runs when;
};

class LockCycles {
 public:
  // All must outlive this.
  LockCycles(std::span<const LockRequest> requests, Locksets& locksets,
             const Simultaneous& simultaneous, SearchBudget& budget);

  // Calls `found` for each cycle, with the numbers of its requests, each wanting what the next one
  // holds, and a period for each. It says whether longer cycles are of interest, too.
  using Cycle = std::span<const std::uint32_t>;
  using Found = std::function<bool(Cycle, std::span<const PeriodId>)>;
  void search(const Found& found);

  bool is_complete() const { return complete_; }
  // If not: all cycles of up to so many requests were found.
  std::size_t complete_up_to() const { return complete_up_to_; }

 private:
  static constexpr ThreadId kSeveral = ~ThreadId{0};
  struct Arc {  // of a request: from a lock it holds to the one it wants, which graph_.to says
    std::uint32_t request;
    ThreadId thread;  // the only one that made the request, or kSeveral
  };
  struct Frame {  // arcs that are left to try
    std::uint32_t arc;
    std::uint32_t end;
  };

  static std::vector<std::pair<LockId, LockId>> connect(std::span<const LockRequest> requests,
                                                        const Locksets& locksets,
                                                        std::vector<Arc>& arcs);
  void find_upgrades();
  void find_between(std::size_t shortest, std::size_t longest);
  void find_from(LockId start, std::size_t shortest, std::size_t longest);
  void enter(LockId start, LockId lock, std::size_t longest);
  void leave();
  bool fits(const LockRequest& next, bool closes) const;
  bool blocks(const LockRequest& holder, const LockRequest& waiter) const;
  void report();

  std::span<const LockRequest> requests_;
  Locksets* locksets_;
  const Simultaneous* simultaneous_;
  SearchBudget* budget_;
  const Found* found_ = nullptr;
  std::vector<Arc> arcs_;
  EdgeLists graph_;                       // of locks; its edges are the arcs
  std::vector<std::uint32_t> component_;  // of each lock, without those that are done
  std::size_t threads_ = 0;

  // Where the search stands.
  std::vector<std::uint32_t> path_;  // arcs
  std::vector<Frame> frames_;
  std::vector<bool> passed_;  // by lock
  std::vector<bool> taken_;   // by thread: it alone can make one of the requests
  bool cut_off_ = false;      // there may be longer cycles
  bool go_on_ = true;         // and they are of interest

  bool complete_ = false;
  std::size_t complete_up_to_ = 1;
};

}  // namespace tomos
