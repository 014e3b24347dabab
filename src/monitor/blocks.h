// `blocks-1v`, `blocks`, `blocks-all`: which other runs of the same transactions would not be
// serializable? By comparing blocks (Wang & Stoller, section 6): on each variable for itself
// (Theorem 3), between any two transactions (Theorem 4), among all of them (Theorem 5).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/block_store.h"
#include "monitor/serializability_solver.h"
#include "monitor/violations.h"

namespace tomos {

class Blocks final : public Monitor {
 public:
  using Scope = BlockScope;

  Blocks(const AnalysisOptions& options, Scope scope, BlockStore::Limits limits = {})
      : options_(options),
        scope_(scope),
        store_(options, scope, limits),
        violations_(options.max_findings, Certainty::kPredicted) {}

  std::string_view name() const override;
  void on_events(std::span<const Event> events) override { store_.on_events(events); }
  void finish() override;
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<Blocks>(*this); }
  std::vector<Finding> findings(const Names& names) const override {
    return violations_.findings(name(), names);
  }
  std::uint64_t left_out() const override { return violations_.left_out(); }
  std::string unknown() const override { return unknown_; }
  std::vector<std::string> notes() const override;

 private:
  void compare(bool search_cycles);
  bool is_visible(SharedId variable);
  Judged judge(const SmallRun& run) const;
  bool judge_run(const SmallRun& run);
  bool judge_variables(const SmallRun& run);
  bool judge_pairs(const SmallRun& run);

  AnalysisOptions options_;
  Scope scope_;
  BlockStore store_;
  Violations violations_;
  std::unordered_map<SharedId, bool> visible_;
  std::string unknown_;
  bool spans_transactions_ = false;  // a lock, and not all was judged exactly
};

}  // namespace tomos
