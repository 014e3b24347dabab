// Once it is settled which thread stands for which of the things, the periods are found as in
// Garg and Waldecker's detection of weak unstable predicates (IEEE TPDS 5(3), 1994): each thread
// proposes its earliest period. One that comes before another thread's proposal comes before all
// that this thread could still propose, so it is out, and its thread proposes the next one that
// does not. What is left when nobody has to move is the answer.
#include "monitor/simultaneous.h"

#include <algorithm>
#include <utility>

namespace tomos {

namespace {

constexpr std::uint64_t kComparison = 4;  // in steps of the budget

bool is_one_period(Simultaneous::Runs runs) {
  return runs.size() == 1 && runs[0].first == runs[0].last;
}

}  // namespace

Simultaneous::Simultaneous(const ThreadPeriods& periods, SearchBudget& budget)
    : periods_(&periods), budget_(&budget) {
  index_.reserve(periods.size());
  for (PeriodId period = 0; period < periods.size(); ++period) {
    const ThreadId thread = periods.thread(period);
    if (thread >= by_thread_.size()) by_thread_.resize(thread + std::size_t{1});
    index_.push_back(static_cast<std::uint32_t>(by_thread_[thread].size()));
    by_thread_[thread].push_back(period);
  }
}

// Moves on to the first period that does not come before `other`. False if there is none.
bool Simultaneous::advance(Candidate& candidate, PeriodId other) const {
  const ThreadId thread = candidate.runs[0].thread;
  const auto begin = candidate.runs.begin() + static_cast<std::ptrdiff_t>(candidate.run);
  const auto run = std::partition_point(
      begin, candidate.runs.end(),
      [&](const PeriodSet::Run& one) { return periods_->before(id(thread, one.last), other); });
  if (run == candidate.runs.end()) return false;
  std::uint32_t index = run == begin ? candidate.index : run->first;
  for (std::uint32_t end = run->last; index < end;) {
    const std::uint32_t middle = index + (end - index) / 2;
    if (periods_->before(id(thread, middle), other)) {
      index = middle + 1;
    } else {
      end = middle;
    }
  }
  candidate.run = static_cast<std::size_t>(run - candidate.runs.begin());
  candidate.index = index;
  return true;
}

// All but the last are settled among themselves.
bool Simultaneous::settle(std::vector<Candidate>& candidates) const {
  std::vector<std::size_t> moved = {candidates.size() - 1};
  while (!moved.empty()) {
    const std::size_t one = moved.back();
    moved.pop_back();
    for (std::size_t other = 0; other < candidates.size(); ++other) {
      if (other == one) continue;
      if (!budget_->spend(kComparison)) return false;
      Candidate& mine = candidates[one];
      Candidate& theirs = candidates[other];
      if (periods_->before(id(theirs), id(mine))) {
        if (!advance(theirs, id(mine))) return false;
        moved.push_back(other);
      } else if (periods_->before(id(mine), id(theirs))) {
        if (!advance(mine, id(theirs))) return false;
        moved.push_back(one);
      }
    }
  }
  return true;
}

std::optional<std::vector<PeriodId>> Simultaneous::find(std::span<const Runs> all) const {
  struct Level {
    std::vector<Candidate> candidates;  // for those before
    std::size_t next = 0;               // the run to try next for this one
  };
  std::vector<Level> levels(1);
  while (levels.size() <= all.size()) {
    const Runs runs = all[levels.size() - 1];
    Level& level = levels.back();
    if (level.next == runs.size()) {
      levels.pop_back();
      if (levels.empty()) return std::nullopt;
      continue;
    }
    const ThreadId thread = runs[level.next].thread;
    const auto first = runs.begin() + static_cast<std::ptrdiff_t>(level.next);
    const auto end =
        std::ranges::upper_bound(first, runs.end(), thread, {}, &PeriodSet::Run::thread);
    level.next = static_cast<std::size_t>(end - runs.begin());
    const auto is_taken = [&](const Candidate& other) { return other.runs[0].thread == thread; };
    if (std::ranges::any_of(level.candidates, is_taken)) continue;
    Level deeper{.candidates = level.candidates};
    deeper.candidates.push_back({.runs = {first, end}, .run = 0, .index = first->first});
    if (settle(deeper.candidates)) levels.push_back(std::move(deeper));
    if (budget_->over()) return std::nullopt;
  }
  std::vector<PeriodId> found;
  for (const Candidate& candidate : levels.back().candidates) found.push_back(id(candidate));
  return found;
}

bool Simultaneous::possible(Runs a, Runs b) const {
  if (is_one_period(a) && is_one_period(b)) {
    return budget_->spend(kComparison) &&
           periods_->concurrent(id(a[0].thread, a[0].first), id(b[0].thread, b[0].first));
  }
  const Runs both[] = {a, b};  // NOLINT(modernize-avoid-c-arrays)
  return find(both).has_value();
}

}  // namespace tomos
