#include "monitor/reduction_judge.h"

#include <algorithm>

#include "monitor/reduction_report.h"

namespace tomos {

ReductionJudge::ReductionJudge(const TransactionForest& forest, const VariableMovers& variables,
                               const LockMovers& locks, const CarriedLocks& carried,
                               const Locksets& locksets, bool acq_a_rel)
    : forest_(forest),
      variables_(variables),
      locks_(locks),
      locksets_(locksets),
      is_ignored_(forest.nodes()) {
  if (!acq_a_rel) return;
  // Inner blocks have lower numbers than the blocks around them.
  for (TreeNodeId node = 0; node < forest.nodes(); ++node) {
    const std::span<const TreeStep> steps = forest.steps(node);
    if (!steps.front().is_acquire() || carried.is_carried(steps.front().object)) continue;
    is_ignored_[node] =
        std::ranges::all_of(steps.subspan(1, steps.size() - 2), [&](const TreeStep& step) {
          if (step.kind == TreeStep::Kind::kBlock) return bool{is_ignored_[step.object]};
          return step.is_access() && variables.is_harmless(step.object);
        });
  }
}

char ReductionJudge::letter(const TreeStep& step, bool is_ignored) const {
  switch (step.kind) {
    case TreeStep::Kind::kRead:
    case TreeStep::Kind::kWrite:
      return variables_.is_racy(step.object) ? 'N' : 'B';
    case TreeStep::Kind::kAcquire:
    case TreeStep::Kind::kReadAcquire:
      return is_ignored || step.is_open != 0 || locks_.is_both_mover(step.object) ? 'B' : 'R';
    case TreeStep::Kind::kRelease:
    case TreeStep::Kind::kReadRelease:
      return is_ignored || locks_.is_both_mover(step.object) ? 'B' : 'L';
    case TreeStep::Kind::kBlock:
    case TreeStep::Kind::kBegin:
    case TreeStep::Kind::kHeld:
      break;
  }
  return 'B';
}

template <class Visit>
void ReductionJudge::read(std::span<const TreeStep> transaction, Visit visit) const {
  struct Level {
    std::span<const TreeStep> steps;
    bool is_ignored;
  };
  std::vector<Level> levels = {{.steps = transaction, .is_ignored = false}};
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.steps.empty()) {
      levels.pop_back();
      continue;
    }
    const TreeStep& step = level.steps.front();
    level.steps = level.steps.subspan(1);
    if (step.kind == TreeStep::Kind::kBlock) {
      const bool is_ignored = level.is_ignored || is_ignored_[step.object];
      levels.push_back({.steps = forest_.steps(step.object), .is_ignored = is_ignored});
    } else if (!visit(step, letter(step, level.is_ignored))) {
      return;
    }
  }
}

std::optional<Misfit> ReductionJudge::judge(std::span<const TreeStep> transaction) const {
  Misfit misfit;
  std::size_t number = 0;
  bool is_past = false;
  bool fits = true;
  read(transaction, [&](const TreeStep& step, char letter) {
    fits = !is_past || (letter != 'R' && letter != 'N');
    if (!fits) {
      misfit.second = number;
      misfit.second_step = step;
    } else if (!is_past && (letter == 'L' || letter == 'N')) {
      is_past = true;
      misfit.first = number;
      misfit.first_step = step;
    }
    ++number;
    return fits;
  });
  return fits ? std::nullopt : std::optional(misfit);
}

MisfitDetails ReductionJudge::details(std::span<const TreeStep> transaction,
                                      const Misfit& misfit) const {
  MisfitDetails details;
  MoverPattern pattern;
  std::size_t number = 0;
  std::vector<ModeLock> held;
  std::vector<LocationId> acquired;  // where, for each of held
  const auto find = [&](LockId lock) { return std::ranges::find(held, lock, lock_of); };
  read(transaction, [&](const TreeStep& step, char letter) {
    using Kind = TreeStep::Kind;
    if (step.kind == Kind::kHeld) {
      held = locksets_.locks(step.object);
      acquired.assign(held.size(), 0);
    }
    if (number == misfit.first) details.first_held = held;
    if (number == misfit.second) details.second_held = held;
    if (step.kind != Kind::kBegin && step.kind != Kind::kHeld) {
      pattern.add(letter, number > misfit.second);
    }
    if (step.is_acquire()) {
      const ModeLock lock = mode_lock(step.object, step.kind == Kind::kReadAcquire);
      if (const auto known = find(step.object); known != held.end()) {
        *known = lock;
      } else {
        held.push_back(lock);
        acquired.push_back(step.location);
      }
    }
    if (step.is_release()) {
      if (const auto known = find(step.object); known != held.end()) {
        const auto at = acquired.begin() + (known - held.begin());
        if (number == misfit.first) details.acquired = *at;
        acquired.erase(at);
        held.erase(known);
      }
      const bool is_seconds = number > misfit.second && step.object == misfit.second_step.object;
      if (is_seconds && misfit.second_step.is_acquire() && details.released == 0) {
        details.released = step.location;
      }
    }
    ++number;
    return true;
  });
  details.pattern = pattern.text();
  return details;
}

}  // namespace tomos
