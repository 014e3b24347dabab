// `reduction`: could some other schedule cut a transaction? By reduction, when the run is over
// (Wang & Stoller, sections 5.2 to 5.6, Theorem 2).
//
// While the trace goes by, transactions are collected as trees (transaction_tree.h), equal ones
// once, and variables and locks are watched (reduction_movers.h). When all is known, every tree is
// judged (reduction_judge.h). A transaction of which no verdict on variables and locks could make a
// violation, such as a single critical section with one access, is not even kept.
//
// Variables only ever become racy, never race-free again, and locks only ever stop being
// both-movers. So a tree that is not of the form already will not be in the end. That bounds the
// memory where nearly every transaction is another one: if the trees take too much room, those
// that are not of the form are reported and forgotten, and so is a transaction that is still
// running if it is a very long one. What is reported of them is what was known by then.
//
// Sound, that is, silent only if every interleaving of these transactions that fork, join, barriers
// and locks allow is equivalent to a serial one; as long as none of them deadlocks (`lock-order`
// looks for that), and multilockset is not switched off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/context.h"
#include "monitor/reduction_judge.h"
#include "monitor/reduction_movers.h"
#include "monitor/reduction_report.h"
#include "monitor/transaction_tree.h"

namespace tomos {

class Reduction final : public Monitor {
 public:
  // In steps of trees.
  struct Limits {
    std::size_t trees = std::size_t{1} << 18U;        // before the first are given up
    std::size_t transaction = std::size_t{1} << 16U;  // before a running one is looked at
  };
  explicit Reduction(const AnalysisOptions& options) : Reduction(options, Limits()) {}
  Reduction(const AnalysisOptions& options, Limits limits)
      : options_(options),
        limits_(limits),
        context_(options),
        variables_(options),
        forget_at_(limits.trees),
        reports_(options.max_findings) {}

  std::string_view name() const override { return "reduction"; }
  void on_events(std::span<const Event> events) override;
  void finish() override;
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<Reduction>(*this); }
  std::vector<Finding> findings(const Names& names) const override {
    return reports_.findings(name(), names);
  }
  std::uint64_t left_out() const override { return reports_.left_out(); }

  // The trees kept, in steps.
  std::size_t size() const { return forest_.size(); }

 private:
  struct Thread {
    TransactionBuilder transaction;
    bool is_inside = false;   // a transaction that is being collected
    bool is_started = false;  // it has had a step
    std::size_t look_at = 0;  // this size
    std::uint64_t number = 0;
  };

  Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }
  bool is_in_transaction(ThreadId id) { return context_.thread(id).transaction.inside(); }
  void access(const Event& event);
  void acquire(const Event& event);
  void release(const Event& event);
  void cut(const Event& event);
  void begin(ThreadId id);
  void end(ThreadId id);
  void start(Thread& thread, ThreadId id);
  void look_at_long(Thread& thread, ThreadId id);
  void forget();
  void report(const ReductionJudge& judge, std::span<const TreeStep> steps,
              const TransactionTree& tree, const Misfit& misfit);
  ReductionJudge judge() const {
    return {forest_, variables_, locks_, carried_, context_.locksets(), options_.acq_a_rel};
  }

  AnalysisOptions options_;
  Limits limits_;
  Context context_;
  VariableMovers variables_;
  LockMovers locks_;
  CarriedLocks carried_;
  TransactionForest forest_;
  std::vector<Thread> threads_;
  std::size_t forget_at_;
  std::uint64_t transactions_ = 0;
  MisfitReports reports_;
};

}  // namespace tomos
