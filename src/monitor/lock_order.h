// `lock-order`: can threads block each other for ever, each holding a lock that the next one wants?
//
// The goodlock algorithm as Wang & Stoller have it (section 2), extended to any number of threads.
// Reading the trace fills the tree of nestings (lock_tree.h); at the end its requests are searched
// for cycles (lock_cycles.h).
//
// To the search, requests that differ only in the code that made them are one. They are told apart
// when a cycle is found: a finding is a cycle of code, and counts the cycles of locks that it was
// met in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/lock_cycles.h"
#include "monitor/lock_tree.h"
#include "report/finding.h"

namespace tomos {

class LockOrder final : public Monitor {
 public:
  explicit LockOrder(const AnalysisOptions& options) : options_(options), tree_(options) {}

  std::string_view name() const override { return "lock-order"; }
  void on_events(std::span<const Event> events) override {
    for (const Event& event : events) tree_.take(event);
  }
  void finish() override;
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<LockOrder>(*this); }
  std::vector<Finding> findings(const Names& names) const override;  // after finish()
  std::uint64_t left_out() const override { return left_out_; }
  std::string unknown() const override { return unknown_; }
  std::vector<std::string> notes() const override;

 private:
  using NodeId = LockTree::NodeId;

  // A thread in a deadlock: it has the lock of the one node and wants that of the other.
  struct Member {
    NodeId holds;
    NodeId wants;
    ThreadId thread;
  };
  struct Deadlock {
    std::vector<Member> members;  // each wants what the next one holds
    std::uint64_t count = 1;
  };
  // What makes findings different: for each member and both its acquires, the label and the begin
  // of the transaction, and the place.
  using Key = std::vector<std::array<std::uint32_t, 6>>;
  // The requests that are one to the search.
  using Alike = std::span<const NodeId>;

  std::vector<NodeId> suspects();
  void expand(std::span<const Alike> cycle, std::span<const PeriodId> periods,
              const Simultaneous& simultaneous, SearchBudget& budget);
  bool keep(std::span<const NodeId> requests, std::span<const PeriodId> periods);
  std::string why_unknown(const LockCycles& cycles, const SearchBudget& budget) const;
  Finding tell(const Deadlock& deadlock, const Names& names) const;

  AnalysisOptions options_;
  LockTree tree_;
  std::vector<Deadlock> deadlocks_;
  std::map<Key, std::size_t> by_key_;
  std::uint64_t left_out_ = 0;
  std::string unknown_;
};

}  // namespace tomos
