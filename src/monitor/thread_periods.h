// Thread periods (Wang & Stoller, section 4): fork, join and barrier cut a thread's run into
// periods, and order them. Two accesses can meet only in concurrent periods. The paper knows no
// other order; signals and waits cut and order in the same way.
//
// Every period knows what comes before it: a vector clock, one number for each thread. The clocks
// are persistent tries that share all they have in common, so a million threads, each forked and
// joined, cost a few hundred bytes each instead of a million numbers; a query is one lookup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/event.h"
#include "monitor/block_vector.h"

namespace tomos {

// Dense, and in the order of their beginnings: a period that comes before another has the lower id.
using PeriodId = std::uint32_t;

// From thread to a number, zero where nothing was set. A value: what a Version stands for never
// changes.
class PersistentClocks {
 public:
  using Version = std::uint32_t;  // 0: nothing is set

  PersistentClocks() { nodes_.push_back({}); }

  std::uint32_t get(Version version, std::uint32_t key) const;
  // The same with the key's number raised to `value`.
  Version raise(Version version, std::uint32_t key, std::uint32_t value);
  // The larger number for each key.
  Version join(Version a, Version b);

  std::size_t nodes() const { return nodes_.size(); }
  // Forgets every version made since there were so many nodes, except this one, which may get
  // another number.
  Version keep_only(Version version, std::size_t nodes);

 private:
  // A leaf (bit 0) holds key and value; a branch parts the keys by `bit`: those without it are
  // below `left`, and `key` is what they have in common above it.
  struct Node {
    std::uint32_t key;
    std::uint32_t bit;
    std::uint32_t left;  // a leaf: its value
    std::uint32_t right;
  };
  Version leaf(std::uint32_t key, std::uint32_t value);
  Version branch(std::uint32_t bit, Version left, Version right);
  Version link(Version a, Version b);
  Version copy(Version version, std::size_t from, std::vector<Node>& copies) const;

  BlockVector<Node> nodes_;  // the first stands for nothing
};

// A set of periods. Most things happen in a thread's every period or in few: runs of neighbours
// take the space of one.
class PeriodSet {
 public:
  // Neighbouring periods of one thread, by their index among the thread's own.
  struct Run {
    ThreadId thread;
    std::uint32_t first;
    std::uint32_t last;

    friend bool operator==(const Run&, const Run&) = default;
  };

  void add(const Run& run);
  void add(ThreadId thread, std::uint32_t index) { add(Run{thread, index, index}); }
  void add(const PeriodSet& other) {
    for (const Run& run : other.runs_) add(run);
  }
  bool empty() const { return runs_.empty(); }
  // Sorted and apart.
  const std::vector<Run>& runs() const;

 private:
  void tidy() const;

  mutable std::vector<Run> runs_;
  mutable std::uint32_t tidy_at_ = 16;
  mutable bool tidy_ = true;  // sorted and apart
};

class ThreadPeriods {
 public:
  // Without happens-before every two threads are concurrent, always.
  explicit ThreadPeriods(bool happens_before) : happens_before_(happens_before) {}

  PeriodId current(ThreadId thread);

  void fork(ThreadId thread, ThreadId child);
  void join(ThreadId thread, ThreadId child);
  void barrier(ThreadId thread, std::uint32_t barrier, std::uint32_t count);
  void signal(ThreadId thread, std::uint32_t object);
  void wait(ThreadId thread, std::uint32_t object);

  ThreadId thread(PeriodId period) const { return periods_[period].thread; }
  bool before(PeriodId a, PeriodId b) const;
  bool concurrent(PeriodId a, PeriodId b) const;  // never within one thread
  // Whether some period of the one set is concurrent with some period of the other. Both sorted.
  bool any_concurrent(std::span<const PeriodId> a, std::span<const PeriodId> b) const;

  // The same for sets of the other kind; and one such pair.
  void add_to(PeriodSet& set, PeriodId period) const {
    set.add(periods_[period].thread, periods_[period].index);
  }
  std::optional<std::pair<PeriodId, PeriodId>> find_concurrent(const PeriodSet& a,
                                                               const PeriodSet& b) const;

  // Whether some period of the one comes before some period, of another thread, of the other.
  bool any_before(const PeriodSet& a, const PeriodSet& b) const;

  // Some of the set, at most `most`, of as many threads as that allows.
  std::vector<PeriodId> some(const PeriodSet& set, std::size_t most) const;

  std::size_t size() const { return periods_.size(); }

 private:
  struct Period {
    ThreadId thread;
    std::uint32_t index;  // among the thread's own
    PersistentClocks::Version known;
  };

  std::optional<std::pair<PeriodId, PeriodId>> find_concurrent(const PeriodSet::Run& a,
                                                               const PeriodSet::Run& b) const;
  std::vector<PeriodId> ids(const PeriodSet& set) const;
  void start(ThreadId thread, PersistentClocks::Version known);
  PersistentClocks::Version end(ThreadId thread);

  bool happens_before_;
  PersistentClocks clocks_;
  BlockVector<Period> periods_;
  std::vector<std::vector<PeriodId>> by_thread_;
  std::unordered_map<std::uint32_t, std::vector<ThreadId>> waiting_;  // at each barrier
  // What comes before all that waits for an object from now on.
  std::unordered_map<std::uint32_t, PersistentClocks::Version> signalled_;
};

}  // namespace tomos
