// Whether things, each of which happened in some thread periods, can all go on at the same time.
//
// They can if there is a period of each, pairwise concurrent. For the order that forks, joins and
// barriers make that is enough, however many they are: let all that comes before one of these
// periods be done and nothing else; then each of them can begin, and none has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "event/event.h"
#include "monitor/thread_periods.h"

namespace tomos {

// How long a search may go on.
class SearchBudget {
 public:
  SearchBudget(std::uint64_t steps, bool (*stop)()) : left_(steps), stop_(stop) {}

  // False when nothing is left, and from then on: whoever asked gives up.
  bool spend(std::uint64_t steps) {
    left_ -= steps < left_ ? steps : left_;
    since_ += steps;
    if (stop_ != nullptr && since_ >= kPatience) poll();
    return left_ > 0;
  }
  bool over() const { return left_ == 0; }
  bool stopped() const { return stopped_; }  // by somebody else
  std::uint64_t left() const { return left_; }

 private:
  static constexpr std::uint64_t kPatience = std::uint64_t{1} << 16U;
  void poll() {
    since_ = 0;
    if (left_ == 0 || !stop_()) return;
    stopped_ = true;
    left_ = 0;
  }

  std::uint64_t left_;
  std::uint64_t since_ = 0;
  bool (*stop_)();
  bool stopped_ = false;
};

class Simultaneous {
 public:
  using Runs = std::span<const PeriodSet::Run>;  // sorted and apart, as PeriodSet::runs() are

  // Both must outlive this.
  Simultaneous(const ThreadPeriods& periods, SearchBudget& budget);

  // One period for each. Nothing if there are none, or if the budget is over.
  std::optional<std::vector<PeriodId>> find(std::span<const Runs> all) const;
  bool possible(Runs a, Runs b) const;

  PeriodSet::Run run_of(PeriodId period) const {
    return {periods_->thread(period), index_[period], index_[period]};
  }

 private:
  // The earliest period of one thread that is still in question.
  struct Candidate {
    Runs runs;  // of the thread
    std::size_t run;
    std::uint32_t index;
  };
  PeriodId id(ThreadId thread, std::uint32_t index) const { return by_thread_[thread][index]; }
  PeriodId id(const Candidate& candidate) const {
    return id(candidate.runs[0].thread, candidate.index);
  }
  bool settle(std::vector<Candidate>& candidates) const;
  bool advance(Candidate& candidate, PeriodId other) const;

  const ThreadPeriods* periods_;
  SearchBudget* budget_;
  std::vector<std::vector<PeriodId>> by_thread_;
  std::vector<std::uint32_t> index_;  // of a period, among its thread's own
};

}  // namespace tomos
