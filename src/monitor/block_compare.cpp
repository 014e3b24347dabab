#include "monitor/block_compare.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "monitor/pair_order.h"

namespace tomos {

namespace {

// Pairs of transactions in which one suspicion is looked for before it is left open.
constexpr std::size_t kMostTries = 10'000;
// Pairs of variables of which 2v-blocks are made.
constexpr std::size_t kMostPairs = std::size_t{1} << 22U;
constexpr const char* kTooMany = "there are too many blocks to compare them all";

// Of several numbers, in their order.
template <class... Values>
std::uint64_t hash(Values... values) {
  std::uint64_t h = 0x2545'f491'4f6c'dd1dU;
  for (const std::uint64_t value : {static_cast<std::uint64_t>(values)...}) {
    h = (h ^ value) * 0x9e37'79b9'7f4a'7c15U;
    h = (h ^ (h >> 32U)) * 0xd6e8'feb8'6659'fd93U;
    h ^= h >> 29U;
  }
  return h;
}

// What makes a finding another one.
std::uint64_t place(const BlockAccess& access) {
  return hash(pair(access.label, access.begin), access.location, access.op);
}

bool conflict(const BlockAccess& a, const BlockAccess& b) {
  return a.variable == b.variable && (a.is_write() || b.is_write());
}

// Whether the access, coming between the two of a 1v-block, leaves no serial order.
bool is_unserializable(const BlockAccess& first, const BlockAccess& between,
                       const BlockAccess& second) {
  if (!between.is_write()) {
    return first.is_write() && second.is_write() && between.is_initial_read();
  }
  if (!second.is_write()) return true;  // read-WRITE-read, write-WRITE-read
  return first.is_initial_read() && second.is_final_write() && between.is_final_write();
}

// Of those, the one that depends on which write comes last.
bool needs_last_write(const BlockAccess& first, const BlockAccess& second) {
  return !first.is_write() && second.is_write();
}

}  // namespace

namespace {

// The members of one class have this in common.
std::uint64_t class_of(const BlockAccess& access) {
  return hash(pair(access.held, access.variable), access.op, access.flags);
}

// A place for each key, in the order they come.
template <class Class>
class Sorted {
 public:
  Class& at(std::uint64_t key) {
    const auto [place, is_new] = places_.try_emplace(key, classes.size());
    if (is_new) classes.emplace_back();
    return classes[place->second];
  }
  std::vector<Class> classes;

 private:
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

}  // namespace

void BlockCompare::index() {
  if (!accesses_of_.empty()) return;
  std::vector<AccessId> order(store_.accesses().size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](AccessId id) { return pair(access(id).variable, id); });
  for (std::size_t i = 0; i < order.size();) {
    const SharedId variable = access(order[i]).variable;
    Sorted<AccessClass> sorted;
    for (; i < order.size() && access(order[i]).variable == variable; ++i) {
      AccessClass& own = sorted.at(class_of(access(order[i])));
      own.members.push_back(order[i]);
      own.periods.add(store_.periods(store_.access_occurrences(), order[i]));
    }
    accesses_of_.emplace(variable, std::move(sorted.classes));
  }
}

std::vector<BlockCompare::BlockClass> BlockCompare::classes(std::span<const BlockId> blocks) const {
  Sorted<BlockClass> sorted;
  for (const BlockId id : blocks) {
    const std::uint64_t key =
        hash(class_of(first(id)), class_of(second(id)), store_.blocks()[id].across);
    BlockClass& own = sorted.at(key);
    own.members.push_back(id);
    own.periods.add(store_.periods(store_.block_occurrences(), id));
  }
  return std::move(sorted.classes);
}

bool BlockCompare::spend(std::uint64_t steps) {
  if (!gave_up_.empty()) return false;
  spent_ += steps;
  if (violations_.left_out() > 0 && limit_ == kBudget) limit_ = spent_ + kAfterLimit;
  if (spent_ > limit_) {
    gave_up_ = kTooMany;
  } else if (options_.stop != nullptr && (spent_ >> 20U) != ((spent_ - steps) >> 20U) &&
             options_.stop()) {
    gave_up_ = "the comparison of blocks was interrupted";
  }
  return gave_up_.empty();
}

const std::optional<BlockCompare::Pair>& BlockCompare::concurrent(ShapeId a, ShapeId b) {
  constexpr std::size_t kMany = std::size_t{1} << 22U;
  if (concurrent_.size() > kMany) concurrent_.clear();
  const auto [at, is_new] = concurrent_.try_emplace(pair(a, b));
  if (is_new) {
    at->second = store_.context().periods().find_concurrent(store_.shapes()[a].periods,
                                                            store_.shapes()[b].periods);
  }
  return at->second;
}

bool BlockCompare::can_be_cut(LocksetId across, const BlockAccess& cut) {
  index();
  const auto [at, is_new] =
      can_be_cut_.try_emplace(hash(pair(across, cut.variable), cut.is_write()), false);
  if (is_new) {
    at->second = std::ranges::any_of(accesses_of(cut.variable), [&](const AccessClass& other) {
      const BlockAccess& its = access(other.members[0]);
      return conflict(cut, its) && !store_.locksets().exclude(across, its.held);
    });
  }
  return at->second;
}

CycleEvent BlockCompare::event_of(AccessId id, ThreadId thread, std::uint64_t transaction,
                                  std::uint64_t index) const {
  const BlockAccess& access = store_.accesses()[id];
  return {.index = index,
          .transaction = transaction,
          .thread = thread,
          .location = access.location,
          .label = access.label,
          .begin = access.begin,
          .locks = access.held,
          .object = store_.context().variables().variable(access.variable),
          .op = access.op};
}

// Looks for two transactions, one with the block and one with the other block or access, that can
// run in the wanted order; calls `report` with the order and the threads.
template <class Want, class Report>
void BlockCompare::look_for(BlockId block, const Occurrences& others, std::uint32_t other,
                            Want want, Report report) {
  const ThreadPeriods& periods = store_.context().periods();
  const auto try_shapes = [&](const Occurrence& own, const Occurrence& its, const Pair& when) {
    const Shape& a = store_.shapes()[own.shape];
    const Shape& b = store_.shapes()[its.shape];
    spend(a.steps.size() * b.steps.size() + 1);
    const auto order = schedule_pair(a, b, want(own, its), store_.locksets());
    if (order) report(*order, periods.thread(when.first), periods.thread(when.second));
    return order.has_value();
  };
  const std::vector<Occurrence> ours = store_.block_occurrences().of(block);
  const std::vector<Occurrence> theirs = others.of(other);
  std::size_t tries = 0;
  for (const Occurrence& own : ours) {
    for (const Occurrence& its : theirs) {
      if (!spend(1)) return;
      const auto& when = concurrent(own.shape, its.shape);
      if (!when) continue;
      if (try_shapes(own, its, *when)) return;
      if (++tries < kMostTries) continue;
      left_open_ = true;
      return;
    }
  }
  if (store_.block_occurrences().elsewhere_of(block) == nullptr &&
      others.elsewhere_of(other) == nullptr) {
    return;
  }
  const auto when = periods.find_concurrent(store_.periods(store_.block_occurrences(), block),
                                            store_.periods(others, other));
  if (when) try_shapes(ours[0], theirs[0], *when);
}

void BlockCompare::one_variable() {
  index();
  std::vector<BlockId> blocks;
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    if (first(id).variable == second(id).variable) blocks.push_back(id);
  }
  const auto variable = [&](BlockId id) { return first(id).variable; };
  std::ranges::sort(blocks, {}, [&](BlockId id) { return pair(variable(id), id); });
  for (std::size_t i = 0; i < blocks.size();) {
    std::size_t end = i + 1;
    while (end < blocks.size() && variable(blocks[end]) == variable(blocks[i])) ++end;
    compare_with_accesses(std::span(blocks).subspan(i, end - i));
    i = end;
  }
}

// Blocks of one variable, with all accesses to it.
void BlockCompare::compare_with_accesses(std::span<const BlockId> blocks) {
  const std::span<const AccessClass> others = accesses_of(first(blocks[0]).variable);
  for (const BlockClass& own : classes(blocks)) {
    const BlockId one = own.members[0];
    for (const AccessClass& other : others) {
      if (!spend(1)) return;
      if (!is_unserializable(first(one), access(other.members[0]), second(one))) continue;
      if (store_.locksets().exclude(store_.blocks()[one].across, access(other.members[0]).held))
        continue;
      if (!store_.context().periods().find_concurrent(own.periods, other.periods)) continue;
      if (needs_last_write(first(one), second(one)) && !is_visible(first(one).variable)) continue;
      compare(own, other);
    }
  }
}

void BlockCompare::compare(const BlockClass& own, const AccessClass& others) {
  for (const BlockId id : own.members) {
    for (const AccessId between : others.members) {
      if (!spend(1)) return;
      const std::uint64_t key = hash(place(first(id)), place(access(between)), place(second(id)));
      if (const auto known = reported_.find(key); known != reported_.end()) {
        violations_.again(known->second);
        continue;
      }
      look_for(
          id, store_.access_occurrences(), between,
          [](const Occurrence& ours, const Occurrence& its) {
            return std::array{Wanted{.own = ours.first, .other = its.first, .own_first = true},
                              Wanted{.own = ours.second, .other = its.first, .own_first = false}};
          },
          [&](std::span<const Scheduled>, ThreadId ours, ThreadId its) {
            const Block& block = store_.blocks()[id];
            const CycleEvent middle = event_of(between, its, 1, 1);
            const std::array cycle = {
                CycleEdge{.from = event_of(block.first, ours, 0, 0), .to = middle},
                CycleEdge{.from = middle, .to = event_of(block.second, ours, 0, 2)}};
            reported_[key] = violations_.add(cycle, store_.locksets());
          });
    }
  }
}

void BlockCompare::two_variables() {
  index();
  make_wide_blocks();
  std::vector<std::pair<std::uint64_t, BlockId>> by_variables;
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    const SharedId a = first(id).variable;
    const SharedId b = second(id).variable;
    if (a != b) by_variables.emplace_back(pair(std::min(a, b), std::max(a, b)), id);
  }
  std::ranges::sort(by_variables);
  std::vector<BlockId> group;
  for (std::size_t i = 0; i < by_variables.size(); ++i) {
    group.push_back(by_variables[i].second);
    if (i + 1 < by_variables.size() && by_variables[i + 1].first == by_variables[i].first) continue;
    compare_with_blocks(group);
    group.clear();
  }
}

// Blocks of the same two variables with each other: y and then x of the one, and either both of the
// other's between them, or the two blocks overlap (which is the same seen from both sides).
void BlockCompare::compare_with_blocks(std::span<const BlockId> blocks) {
  const auto can_cut = [&](BlockId id) {
    return can_be_cut(store_.blocks()[id].across, second(id));
  };
  if (std::ranges::none_of(blocks, can_cut)) return;
  const std::vector<BlockClass> all = classes(blocks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const BlockId own = all[i].members[0];
    const LocksetId across = store_.blocks()[own].across;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (!spend(1)) return;
      const BlockId other = all[j].members[0];
      const bool nested = first(other).variable == first(own).variable;
      if (nested ? !can_cut(own) : j < i || (!can_cut(own) && !can_cut(other))) continue;
      const BlockAccess& y = nested ? first(other) : second(other);
      const BlockAccess& x = nested ? second(other) : first(other);
      if (!conflict(first(own), y) || !conflict(second(own), x)) continue;
      const bool y_between = !store_.locksets().exclude(across, y.held);
      const bool x_between = !store_.locksets().exclude(across, x.held);
      const LocksetId other_across = store_.blocks()[other].across;
      const bool we_between = !store_.locksets().exclude(other_across, first(own).held) &&
                              !store_.locksets().exclude(other_across, second(own).held);
      if (nested ? !y_between || !x_between : !y_between && !x_between && !we_between) continue;
      if (!store_.context().periods().find_concurrent(all[i].periods, all[j].periods)) continue;
      compare(all[i], all[j], nested);
    }
  }
}

void BlockCompare::compare(const BlockClass& own, const BlockClass& others, bool nested) {
  for (const BlockId id : own.members) {
    for (const BlockId other : others.members) {
      if (!spend(1)) return;
      const AccessId y = nested ? store_.blocks()[other].first : store_.blocks()[other].second;
      const AccessId x = nested ? store_.blocks()[other].second : store_.blocks()[other].first;
      const std::uint64_t key =
          hash(place(first(id)), place(access(y)), place(access(x)), place(second(id)));
      if (const auto known = reported_.find(key); known != reported_.end()) {
        violations_.again(known->second);
        continue;
      }
      look_for(
          id, store_.block_occurrences(), other,
          [&](const Occurrence& ours, const Occurrence& its) {
            return std::array{
                Wanted{
                    .own = ours.first, .other = nested ? its.first : its.second, .own_first = true},
                Wanted{.own = ours.second,
                       .other = nested ? its.second : its.first,
                       .own_first = false}};
          },
          [&](std::span<const Scheduled> found, ThreadId ours, ThreadId its) {
            // Where our two stand, and where the other's two.
            std::array<std::uint64_t, 4> index{};
            std::array<std::size_t, 2> seen{};
            for (std::size_t k = 0; k < found.size(); ++k) {
              const std::size_t side = found[k].own ? 0 : 1;
              index.at(2 * side + seen.at(side)++) = k;
            }
            const Block& block = store_.blocks()[id];
            const std::array cycle = {CycleEdge{.from = event_of(block.first, ours, 0, index[0]),
                                                .to = event_of(y, its, 1, index[nested ? 2 : 3])},
                                      CycleEdge{.from = event_of(x, its, 1, index[nested ? 3 : 2]),
                                                .to = event_of(block.second, ours, 0, index[1])}};
            reported_[key] = violations_.add(cycle, store_.locksets());
          });
    }
  }
}

// Of transactions with many variables, only the blocks that matter: those that can be cut, and
// those of the same variables that may do it.
void BlockCompare::make_wide_blocks() {
  if (store_.wide().empty()) return;
  const auto variables = [&](AccessId one, AccessId other) {
    const SharedId a = access(one).variable;
    const SharedId b = access(other).variable;
    return pair(std::min(a, b), std::max(a, b));
  };
  std::unordered_set<std::uint64_t> wanted;
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    const Block& block = store_.blocks()[id];
    if (can_be_cut(block.across, second(id))) {
      wanted.insert(variables(block.first, block.second));
    }
  }
  for (const bool cuts : {false, true}) {
    for (const ShapeId id : store_.wide()) {
      const Shape& shape = store_.shapes()[id];
      std::vector<BlockStore::Site> sites = store_.sites(shape);
      std::erase_if(
          sites, [&](const BlockStore::Site& site) { return !can_be_cut(0, access(site.access)); });
      for (std::size_t i = 0; i < sites.size(); ++i) {
        LocksetId across = shape.steps[sites[i].step].held;
        std::uint32_t done = sites[i].step;
        for (std::size_t j = i + 1; j < sites.size(); ++j) {
          if (!spend(1)) return;
          for (; done < sites[j].step; ++done) {
            const LocksetId held = shape.steps[done + 1].held;
            if (held != across) across = store_.locksets().common(across, held);
          }
          const std::uint64_t both = variables(sites[i].access, sites[j].access);
          const BlockAccess& last = access(sites[j].access);
          if (last.variable == access(sites[i].access).variable) continue;
          if (!cuts && can_be_cut(across, last)) wanted.insert(both);
          if (wanted.size() > kMostPairs) {
            gave_up_ = kTooMany;
            return;
          }
          if (cuts && wanted.contains(both)) store_.add_block(id, sites[i], sites[j], across);
        }
      }
    }
  }
}

}  // namespace tomos
