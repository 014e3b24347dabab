// `vector-clock`: is the trace conflict-serializable? In one pass, in space that does not depend on
// its length.
//
// A variable remembers who wrote it last and who has read it since, as epochs; the order between
// transactions is the Frontier's. An access is a violation if an earlier access that conflicts with
// it comes after its own transaction.
//
// After a violation the monitor goes on: the access takes on the order that does not contradict the
// one known so far, and the accesses that do contradict stay remembered beside it. An access is
// thus reported if and only if some earlier conflicting one lies behind its own transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/frontier.h"
#include "monitor/locksets.h"
#include "monitor/transactions.h"
#include "monitor/violations.h"

namespace tomos {

class VectorClock final : public Monitor {
 public:
  explicit VectorClock(const AnalysisOptions& options) : VectorClock(options, {}, Locksets()) {}
  VectorClock(const AnalysisOptions& options, const Frontier::Limits& limits, Locksets locksets)
      : options_(options),
        frontier_(limits),
        violations_(options.max_findings),
        locksets_(std::move(locksets)) {}

  std::string_view name() const override { return "vector-clock"; }
  void on_events(std::span<const Event> events) override;
  void finish() override {}
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<VectorClock>(*this); }
  std::vector<Finding> findings(const Names& names) const override {
    return findings(name(), names);
  }
  // The same, in another analysis's name.
  std::vector<Finding> findings(std::string_view analysis, const Names& names) const {
    return violations_.findings(analysis, names);
  }
  std::uint64_t violating_events() const { return violating_events_; }
  std::uint64_t left_out() const override { return violations_.left_out(); }

 private:
  using Slot = Frontier::Slot;

  // A thread, at its slot.
  struct Thread {
    ThreadId id = 0;
    TransactionBounds transaction;
    HeldLocks locks;
  };

  // What is remembered of a variable: its last write and the reads since; or of a lock: its last
  // release, and the read-releases since. Each is nearly always one event, or none; several go to
  // spills_.
  struct alignas(64) History {
    Witness write;
    Witness read;
  };
  static_assert(sizeof(History) == 64);

  Slot slot_of(ThreadId thread) {
    const bool is_known = thread < slot_of_.size() && slot_of_[thread] != Frontier::kNobody;
    return is_known ? slot_of_[thread] : enter(thread);
  }
  Slot enter(ThreadId thread);
  Slot move(Slot slot);
  void retire(ThreadId thread);
  static History& history(std::vector<History>& histories, std::uint32_t object);
  Witness inside(const Event& event,
                 Slot slot);  // as part of the thread's transaction, if it is in one
  Witness outside(const Event& event, Slot slot) const;  // as a transaction of its own

  void access(const Event& event);
  void synchronise(const Event& event);
  void fork(const Event& event);
  void join(const Event& event);
  void begin(const Event& event);
  void end(const Event& event);
  void exit(ThreadId thread);
  void cut(Slot slot);
  void resume(Slot slot);

  // Orders the remembered events, all of kind `from_op`, before this one, or reports the cycles
  // that they close. The thread may have to move to another slot.
  Slot meet(const Witness& sources, const Event& event, Op from_op, Slot slot);
  Slot meet_one(const Witness& source, const Event& event, Op from_op, Slot slot);
  void report(const Witness& source, const Event& event, Op from_op, Slot slot);

  // Whatever an event was ordered after lies before all that is ordered after the event, and needs
  // no memory of its own; but for the events with which it closed a cycle, which stay.
  void keep_contradicting(Witness& witnesses, Slot slot);
  void replace(History& history, const Event& event, Slot slot);
  void add(Witness& witnesses, const Event& event, Slot slot);
  bool contradicts(const Witness& one, Slot slot) const {
    return one.slot != slot && frontier_.reaches(slot, one);
  }
  std::span<const Witness> all(const Witness& witnesses) const;
  void assign(Witness& witnesses, const std::vector<Witness>& several);
  void clear(Witness& witnesses);
  void prune(std::vector<Witness>& several) const;
  void collect();

  AnalysisOptions options_;
  Frontier frontier_;
  Violations violations_;
  Locksets locksets_;
  std::vector<Slot> slot_of_;    // by thread
  std::vector<Thread> threads_;  // by slot
  std::vector<History> variables_;
  std::vector<History> locks_;  // with sync edges only
  std::unordered_map<ThreadId, Witness>
      exited_;  // ended, not joined, and with something open before it
  std::size_t exited_limit_ = 64;

  std::vector<std::vector<Witness>> spills_;
  std::vector<std::uint32_t> free_spills_;

  std::uint64_t index_ = 0;  // of the event at hand
  std::uint64_t violating_events_ = 0;
  bool violated_ = false;         // by the event at hand
  std::vector<CycleEdge> cycle_;  // scratch
  std::vector<Witness> kept_;     // scratch
};

}  // namespace tomos
