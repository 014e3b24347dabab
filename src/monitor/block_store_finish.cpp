// What a store that has waited does at the end of the trace: makes shapes of what matters, and
// takes them apart for some variables at a time.
#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "monitor/block_store.h"
#include "monitor/lock_twins.h"
#include "monitor/shape_reduction.h"
#include "monitor/variable_classes.h"

namespace tomos {

// Makes shapes of what was kept, as far as it matters. Most transactions are the same then.
void BlockStore::reduce(std::span<const LoneAccesses::Access> lone) {
  const auto is_wanted = [&](SharedId variable) { return known_[variable].can_be_cut; };
  Locksets& locksets = context_.locksets();
  KeptTransactions reduced;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    Shape shape = kept_.shape(i, locksets);
    kept_.forget_before(i);
    if (!leave_only(is_wanted, shape)) continue;
    reduced.add_all(shape, locksets);
  }
  kept_ = std::move(reduced);
  const std::vector<bool> has_twins = twins_stand_for(kept_, lone_.patterns().values());
  for (std::uint32_t i = 0; i < kept_.size(); ++i) {
    if (!has_twins[i]) chosen_.push_back(i);
  }
  if (!leave_to_others(lone)) return;
  KeptTransactions left;
  for (ShapeId id = 0; id < chosen_.size(); ++id) {
    Shape shape = this->shape(id);
    kept_.forget_before(chosen_[id]);
    if (leave_only(is_wanted, shape)) left.add_all(shape, locksets);
  }
  kept_ = std::move(left);
  chosen_.resize(kept_.size());
  std::iota(chosen_.begin(), chosen_.end(), 0);
}

// Takes out the variables that others stand for; whether there are any.
bool BlockStore::leave_to_others(std::span<const LoneAccesses::Access> lone) {
  std::vector<bool> wanted(known_.size());
  for (SharedId variable = 0; variable < known_.size(); ++variable) {
    wanted[variable] = known_[variable].can_be_cut;
  }
  if (std::ranges::count(wanted, true) == 0) return false;
  const auto for_each_shape = [this](const std::function<void(const Shape&)>& visit) {
    for (ShapeId id = 0; id < shapes(); ++id) visit(shape(id));
  };
  const std::vector<bool> stood_for = variables_stood_for(for_each_shape, lone, wanted);
  for (SharedId variable = 0; variable < known_.size(); ++variable) {
    if (stood_for[variable]) known_[variable].can_be_cut = known_[variable].can_be_paired = false;
  }
  return std::ranges::count(stood_for, true) > 0;
}

void BlockStore::add_lone(std::span<const LoneAccesses::Access> lone) {
  for (std::size_t i = 0; i < lone.size() && !no_room();) {
    const LoneAccesses::Access& first = lone[i];
    Shape shape;
    const bool wanted = first.variable < known_.size() && known_[first.variable].in_block &&
                        known_[first.variable].can_be_cut;
    if (wanted) {
      shape = lone_.patterns()[first.pattern];
      std::ranges::find_if(shape.steps, &Step::is_access)->object = first.variable;
    }
    for (;
         i < lone.size() && lone[i].variable == first.variable && lone[i].pattern == first.pattern;
         ++i) {
      const PeriodSet::Run& run = lone[i].periods;
      for (std::uint32_t at = run.first; wanted && at <= run.last; ++at) {
        shape.periods.add(run.thread, at);
      }
    }
    if (!wanted) continue;
    const ShapeId id = shapes();
    if (!waits_) keep_parts(id, take_apart(shape));
    shapes_.push_back(std::move(shape));
  }
}

std::vector<BlockStore::Range> BlockStore::batches(bool pairs) {
  const std::uint64_t most = std::uint64_t{1} << (pairs ? 18U : 21U);
  std::vector<std::uint64_t> accesses(known_.size());
  for (ShapeId id = 0; id < shapes(); ++id) {
    const Shape& shape = this->shape(id);
    for (const Step& step : shape.steps) {
      if (step.is_access()) accesses[step.object] += pairs ? shape.steps.size() : 1;
    }
  }
  std::vector<Range> batches;
  std::uint64_t sum = 0;
  for (SharedId variable = 0; variable < accesses.size(); ++variable) {
    sum += accesses[variable];
    if (batches.empty() || sum > most) {
      batches.push_back({.first = variable, .end = variable});
      sum = accesses[variable];
    }
    batches.back().end = variable + 1;
  }
  return batches;
}

void BlockStore::take_apart(const Range& range) {
  accesses_ = {};
  lockless_ = {};
  stands_for_ = {};
  access_occurrences_ = {};
  forget_blocks();
  const auto in_range = [&](std::uint32_t object) {
    return object >= range.first && object < range.end;
  };
  for (ShapeId id = 0; id < shapes() && !no_room(); ++id) {
    // Some of them are locks; that does not matter.
    if (id < chosen_.size() && std::ranges::none_of(kept_.objects(chosen_[id]), in_range)) continue;
    keep_parts(id, take_apart(shape(id), range));
  }
}

void BlockStore::forget_blocks() {
  blocks_ = {};
  block_occurrences_ = {};
}

}  // namespace tomos
