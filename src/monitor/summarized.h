// `summarized`: is the trace conflict-serializable? By the summarized conflict graph.
//
// The graph gives the verdict; it keeps too little to tell a whole cycle. That is told by a
// VectorClock run beside it, which must agree on every single event: a difference would be a bug in
// one of them, and is never passed over.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/locksets.h"
#include "monitor/summarized_graph.h"
#include "monitor/transactions.h"
#include "monitor/vector_clock.h"

namespace tomos {

class Summarized final : public Monitor {
 public:
  explicit Summarized(const AnalysisOptions& options);

  std::string_view name() const override { return "summarized"; }
  void on_events(std::span<const Event> events) override;
  void finish() override { explanation_.finish(); }
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<Summarized>(*this); }
  std::vector<Finding> findings(const Names& names) const override {
    return explanation_.findings(name(), names);
  }
  std::uint64_t left_out() const override { return explanation_.left_out(); }

 private:
  using Slot = SummarizedGraph::Slot;
  struct Thread {
    TransactionBounds transaction;
    HeldLocks locks;
  };
  static constexpr Slot kNobody = ~Slot{0};

  bool step(const Event& event);
  bool synchronise(const Event& event);
  Slot slot_of(ThreadId thread);
  Slot cut(ThreadId thread);
  void resume(Slot slot);
  void join(const Event& event);
  void exit(ThreadId thread);

  AnalysisOptions options_;
  SummarizedGraph graph_;
  VectorClock explanation_;
  std::vector<Slot> slot_of_;                                    // by thread
  std::vector<Thread> threads_;                                  // by slot
  std::unordered_map<ThreadId, SummarizedGraph::Ended> exited_;  // and not joined
  std::uint64_t index_ = 0;
  std::uint64_t violations_ = 0;
};

}  // namespace tomos
