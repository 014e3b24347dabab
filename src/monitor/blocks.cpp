#include "monitor/blocks.h"

#include <algorithm>
#include <optional>

#include "monitor/block_compare.h"
#include "monitor/block_cycles.h"
#include "monitor/serializability_solver.h"

namespace tomos {

std::string_view Blocks::name() const {
  switch (scope_) {
    case Scope::kOneVariable:
      return "blocks-1v";
    case Scope::kTwoTransactions:
      return "blocks";
    case Scope::kAll:
      break;
  }
  return "blocks-all";
}

// Comparing blocks takes for granted that two transactions can run in either order. With locks held
// from one transaction to the next that may not be so; and what another transaction writes later
// may hide what two of them do. A short run can be judged exactly all the same.
void Blocks::finish() {
  store_.finish();
  const SmallRun* run = store_.small_run();
  const bool spans = run != nullptr && locks_span_transactions(*run);
  switch (scope_) {
    case Scope::kOneVariable:
      if (spans && judge_variables(*run)) return;
      break;
    case Scope::kTwoTransactions:
      if (spans && judge_pairs(*run)) return;
      break;
    case Scope::kAll:
      if (run != nullptr && judge_run(reduced(*run, std::nullopt))) return;
      break;
  }
  compare(scope_ == Scope::kAll);
  spans_transactions_ = store_.locks_span_transactions();
}

std::vector<std::string> Blocks::notes() const {
  if (!spans_transactions_) return {};
  return {
      "locks are held from one transaction into the next; in a run of this length it is taken for "
      "granted that two concurrent transactions can run in either order"};
}

void Blocks::compare(bool search_cycles) {
  BlockCompare compare(store_, options_, violations_);
  if (scope_ == Scope::kOneVariable) {
    compare.is_visible = [this](SharedId variable) { return is_visible(variable); };
  }
  compare.one_variable();
  if (scope_ != Scope::kOneVariable) compare.two_variables();
  unknown_ = compare.gave_up();
  if (!search_cycles) return;
  BlockCycles cycles(store_, compare, options_, violations_);
  cycles.search();
  if (unknown_.empty()) unknown_ = cycles.gave_up();
}

Judged Blocks::judge(const SmallRun& run) const {
  return tomos::judge(run, store_.context().periods(), store_.context().locksets(), {},
                      options_.stop);
}

// Whether the last write of the variable can make a difference, given all transactions (Theorem 3
// overlooks that another one may write it later). Only a short run can be asked.
bool Blocks::is_visible(SharedId variable) {
  const SmallRun* run = store_.small_run();
  if (run == nullptr) return true;
  const auto [at, is_new] = visible_.try_emplace(variable, true);
  if (is_new) {
    at->second = judge(reduced(*run, variable)).answer != Judged::Answer::kAtomic;
  }
  return at->second;
}

// These three judge a short run; false if that cannot be done.
bool Blocks::judge_run(const SmallRun& run) {
  const Judged judged = judge(run);
  if (judged.answer == Judged::Answer::kUnknown) return false;
  if (judged.answer == Judged::Answer::kAtomic) return true;
  // What the blocks have to say is easier to read than what the solver came up with.
  if (scope_ == Scope::kAll && !locks_span_transactions(run)) compare(false);
  if (violations_.empty()) {
    violations_.add(
        cycle_in(run, judged.order, store_.context().periods(), store_.context().variables()),
        store_.locksets());
  }
  unknown_.clear();
  return true;
}

bool Blocks::judge_variables(const SmallRun& run) {
  for (SharedId variable = 0; variable < store_.context().variables().size(); ++variable) {
    if (!judge_run(reduced(run, variable))) return false;
  }
  return true;
}

namespace {

using Items = std::vector<const SmallRun::Item*>;

std::vector<Items> items_of_units(const SmallRun& run) {
  std::vector<Items> units(run.units.size());
  for (const SmallRun::Item& item : run.items) units[item.unit].push_back(&item);
  return units;
}

// Whether one of the two can be cut by the other, by their accesses alone.
bool may_cut(const Items& a, const Items& b) {
  if (a.size() < 2 && b.size() < 2) return false;
  return std::ranges::any_of(a, [&](const SmallRun::Item* one) {
    return one->is_access() && std::ranges::any_of(b, [&](const SmallRun::Item* other) {
             return other->is_access() && one->object == other->object &&
                    (one->op == Op::kWrite || other->op == Op::kWrite);
           });
  });
}

}  // namespace

bool Blocks::judge_pairs(const SmallRun& run) {
  constexpr std::uint64_t kMost = 40'000'000;  // the formulas grow with the cube of the items
  const std::vector<Items> items_of = items_of_units(run);
  std::uint64_t spent = 0;
  for (std::uint32_t a = 0; a < run.units.size(); ++a) {
    for (std::uint32_t b = a + 1; b < run.units.size(); ++b) {
      if (run.units[a].thread == run.units[b].thread || !may_cut(items_of[a], items_of[b])) {
        continue;
      }
      const SmallRun pair = only_units(run, a, b);
      const std::uint64_t items = pair.items.size();
      spent += items * items * items;
      if (spent > kMost || !judge_run(pair)) return false;
    }
  }
  return true;
}

}  // namespace tomos
