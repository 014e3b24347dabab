#include "monitor/block_cycles.h"

#include <algorithm>
#include <utility>

#include "monitor/serializability_solver.h"

namespace tomos {

namespace {

constexpr std::uint64_t kMostSteps = 50'000'000;  // steps of the search
constexpr std::size_t kMostJudged = 300;          // ways put to the solver
constexpr std::size_t kLongest = 8;               // transactions in a cycle

}  // namespace

bool BlockCycles::spend(std::uint64_t steps) {
  if (!gave_up_.empty()) return false;
  spent_ += steps;
  if (spent_ > kMostSteps || judged_.size() > kMostJudged) {
    gave_up_ = "there are too many ways through three or more transactions to try them all";
  } else if (options_.stop != nullptr && (spent_ >> 16U) != ((spent_ - steps) >> 16U) &&
             options_.stop()) {
    gave_up_ = "the search for cycles was interrupted";
  }
  return gave_up_.empty();
}

// Accesses of transactions that can run at the same time.
bool BlockCycles::may_conflict(const Place& a, const Place& b) {
  return conflict(access(a.access), access(b.access)) && compare_.are_concurrent(a.shape, b.shape);
}

// Whether any of their accesses conflict.
bool BlockCycles::conflict_at_all(ShapeId a, ShapeId b) {
  const auto [at, is_new] = conflicts_.try_emplace((std::uint64_t{a} << 32U) | b, false);
  if (is_new) {
    at->second = std::ranges::any_of(places_of_[a], [&](const Place& one) {
      return std::ranges::any_of(places_of_[b], [&](const Place& other) {
        return conflict(access(one.access), access(other.access));
      });
    });
  }
  return at->second;
}

// Whether a thread ran the one, and later the other, or the one's period came before the other's.
bool BlockCycles::may_follow(ShapeId a, ShapeId b) const {
  const Shape& first = store_.shape(a);
  const Shape& second = store_.shape(b);
  if (first.many_times || second.many_times) return true;
  if (store_.context().periods().any_before(first.periods, second.periods)) return true;
  return std::ranges::any_of(first.times, [&](const Shape::Times& one) {
    return std::ranges::any_of(second.times, [&](const Shape::Times& other) {
      return one.thread == other.thread && one.first < other.last;
    });
  });
}

void BlockCycles::index() {
  places_of_.resize(store_.shapes());
  places_among_.resize(store_.context().variables().size());
  for (ShapeId id = 0; id < store_.shapes(); ++id) {
    for (const BlockStore::Site& site : store_.sites(store_.shape(id))) {
      // What nobody can conflict with is on no cycle.
      if (!compare_.can_be_cut(0, access(site.access))) continue;
      const Place place{.shape = id, .step = site.step, .access = site.access};
      places_of_[id].push_back(place);
      places_among_[access(site.access).variable].push_back(place);
    }
  }
}

void BlockCycles::search() {
  index();
  for (ShapeId id = 0; id < store_.shapes(); ++id) {
    const Shape& shape = store_.shape(id);
    const std::vector<Place>& places = places_of_[id];
    for (std::size_t i = 0; i < places.size(); ++i) {
      LocksetId across = shape.steps[places[i].step].held;
      std::uint32_t done = places[i].step;
      for (std::size_t j = i + 1; j < places.size(); ++j) {
        if (!spend(1)) return;
        for (; done < places[j].step; ++done) {
          const LocksetId held = shape.steps[done + 1].held;
          if (held != across) across = store_.locksets().common(across, held);
        }
        if (!compare_.can_be_cut(across, access(places[j].access))) continue;
        // Out by the one, and back by the other.
        for (const Place& next : places_among_[access(places[i].access).variable]) {
          if (!spend(1)) return;
          if (!may_conflict(places[i], next)) continue;
          path_ = {{.shape = id, .by_order = false}, {.shape = next.shape, .by_order = false}};
          extend(places[j]);
        }
      }
    }
  }
}

bool BlockCycles::closes(ShapeId shape, const Place& target) {
  return std::ranges::any_of(places_of_[shape],
                             [&](const Place& last) { return may_conflict(last, target); });
}

// Goes on from the last of the path, to all that it conflicts with or comes before.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the longest cycle.
void BlockCycles::extend(const Place& target) {
  const Node last = path_.back();
  std::vector<Node> nodes;
  const auto add = [&](ShapeId shape, bool by_order) {
    const auto known = [&](const Node& node) {
      return node.shape == shape && node.by_order == by_order;
    };
    if (std::ranges::none_of(nodes, known)) nodes.push_back({.shape = shape, .by_order = by_order});
  };
  for (const Place& from : places_of_[last.shape]) {
    for (const Place& to : places_among_[access(from.access).variable]) {
      if (!spend(1)) return;
      if (may_conflict(from, to)) add(to.shape, false);
    }
  }
  // Two steps in a thread's order are one.
  for (ShapeId shape = 0; shape < store_.shapes() && !last.by_order; ++shape) {
    if (!spend(1)) return;
    if (!places_of_[shape].empty() && may_follow(last.shape, shape)) add(shape, true);
  }
  for (const Node& node : nodes) extend(node, target);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the longest cycle.
void BlockCycles::extend(const Node& node, const Place& target) {
  if (!spend(path_.size())) return;
  for (std::size_t i = 1; i + 1 < path_.size(); ++i) {
    if (conflict_at_all(path_[i].shape, node.shape)) return;
  }
  path_.push_back(node);
  if (closes(node.shape, target)) {
    judge_path();
  } else if (!conflict_at_all(path_[0].shape, node.shape)) {
    if (path_.size() < kLongest) {
      extend(target);
    } else {
      gave_up_ = "there may be cycles through more than eight transactions";
    }
  }
  path_.pop_back();
}

// A period for each transaction of the path, so that those that conflict can meet and those that
// follow each other are of one thread.
bool BlockCycles::choose_periods(std::vector<PeriodId>& chosen) const {
  constexpr std::size_t kFew = 8;
  const ThreadPeriods& periods = store_.context().periods();
  std::vector<std::vector<PeriodId>> candidates;
  candidates.reserve(path_.size());
  for (const Node& node : path_) {
    candidates.push_back(periods.some(store_.periods(node.shape), kFew));
  }
  std::vector<std::size_t> at(path_.size());
  chosen.assign(path_.size(), 0);
  for (std::size_t i = 0;;) {
    if (at[i] == candidates[i].size()) {
      if (i == 0) return false;
      at[i] = 0;
      ++at[--i];
      continue;
    }
    chosen[i] = candidates[i][at[i]];
    const auto follows = [&](PeriodId one, PeriodId next) {
      return periods.before(one, next) || one == next;
    };
    const bool fits =
        (i == 0 || (path_[i].by_order ? follows(chosen[i - 1], chosen[i])
                                      : periods.concurrent(chosen[i], chosen[i - 1]))) &&
        (i + 1 < path_.size() || periods.concurrent(chosen[i], chosen[0]));
    if (!fits) {
      ++at[i];
    } else if (++i == path_.size()) {
      return true;
    }
  }
}

// Locks from outside the transaction are taken before it and given back after it.
void BlockCycles::append(SmallRun& run, ShapeId id, PeriodId period) {
  const Shape& shape = store_.shape(id);
  const ThreadId thread = store_.context().periods().thread(period);
  const auto unit = static_cast<std::uint32_t>(run.units.size());
  run.units.push_back({.thread = thread, .label = shape.label, .begin = shape.begin});
  const auto add = [&](Op op, std::uint32_t object, LocationId location, LocksetId held) {
    run.items.push_back({.thread = thread,
                         .unit = unit,
                         .object = object,
                         .location = location,
                         .held = held,
                         .period = period,
                         .op = op});
  };
  std::vector<ModeLock> held;
  for (const ModeLock lock : store_.locksets().locks(shape.outer)) {
    held.push_back(lock);
    add(Op::kAcquire, lock_of(lock), shape.begin, store_.locksets().intern(held));
  }
  for (const Step& step : shape.steps) add(step.op, step.object, step.location, step.held);
  held = store_.locksets().locks(shape.steps.back().held);
  while (!held.empty()) {
    const LockId lock = lock_of(held.back());
    held.pop_back();
    add(Op::kRelease, lock, shape.begin, store_.locksets().intern(held));
  }
}

void BlockCycles::judge_path() {
  std::vector<PeriodId> chosen;
  if (!choose_periods(chosen)) return;
  std::vector<std::pair<ShapeId, PeriodId>> set;
  set.reserve(path_.size());
  for (std::size_t i = 0; i < path_.size(); ++i) set.emplace_back(path_[i].shape, chosen[i]);
  std::ranges::sort(set);
  if (!judged_.insert(set).second) return;
  SmallRun run;
  for (std::size_t i = 0; i < path_.size(); ++i) append(run, path_[i].shape, chosen[i]);
  run = reduced(run, std::nullopt);
  const ThreadPeriods& periods = store_.context().periods();
  const Judged judged = judge(run, periods, store_.locksets(), {}, options_.stop);
  if (judged.answer == Judged::Answer::kUnknown && gave_up_.empty()) {
    gave_up_ = "a set of transactions was too large for the solver";
  }
  if (judged.answer != Judged::Answer::kNotAtomic) return;
  violations_.add(cycle_in(run, judged.order, periods, store_.context().variables()),
                  store_.locksets());
}

}  // namespace tomos
