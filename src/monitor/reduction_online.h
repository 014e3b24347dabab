// `reduction-online`: the reduction analysis as the Atomizer does it while the program runs (Wang &
// Stoller, Theorem 1 with section 5.5; Flanagan & Freund [10]).
//
// A transaction must be R* N? L*, with both-movers anywhere: it is in its first phase until the
// first release or non-mover, and after that neither an acquire nor another non-mover may come.
// What is a non-mover or a both-mover is decided by what is known so far, and never revised. Races
// are those of the object algorithm [29]; there is no escape analysis, no happens-before and no
// AcqA*Rel, whatever the switches say: this is the analysis that the offline one is measured
// against. It reports false alarms and misses violations.
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
#include "monitor/reduction_movers.h"
#include "monitor/reduction_report.h"

namespace tomos {

class ReductionOnline final : public Monitor {
 public:
  explicit ReductionOnline(const AnalysisOptions& options);

  std::string_view name() const override { return "reduction-online"; }
  void on_events(std::span<const Event> events) override;
  void finish() override {}
  std::unique_ptr<Monitor> clone() const override {
    return std::make_unique<ReductionOnline>(*this);
  }
  std::vector<Finding> findings(const Names& names) const override {
    return reports_.findings(name(), names);
  }
  std::uint64_t left_out() const override { return reports_.left_out(); }

 private:
  struct Step {
    Op op = Op::kRead;
    std::uint32_t object = 0;  // of an access: the SharedId
    LocationId location = 0;
    LocationId acquired = 0;  // a release: where its lock was acquired
    LocksetId held = 0;       // before it
  };
  struct Thread {
    bool is_past = false;      // the first phase
    bool is_reported = false;  // once is enough for a transaction
    Step past;                 // what ended the first phase
    std::uint64_t number = 0;  // of the transaction
    MoverPattern pattern;      // so far
  };

  void take(ThreadId id, char letter, const Step& step);
  void report(ThreadId id, const Thread& thread, const Step& last);
  MisfitEvent event_of(const Step& step, ThreadId thread) const;
  void restart(ThreadId id);
  Thread& thread(ThreadId id) {
    if (id >= threads_.size()) threads_.resize(id + std::size_t{1});
    return threads_[id];
  }

  Context context_;
  VariableMovers variables_;
  LockMovers locks_;
  std::vector<Thread> threads_;
  std::uint64_t transactions_ = 0;
  MisfitReports reports_;
};

}  // namespace tomos
