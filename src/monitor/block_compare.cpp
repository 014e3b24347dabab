#include "monitor/block_compare.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "monitor/pair_order.h"

namespace tomos {

namespace {

// Pairs of transactions in which one suspicion is looked for before it is left open.
constexpr std::size_t kMostTries = 100'000;
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

// Sorts into groups and classes, in the order they come.
class BlockCompare::Grouping {
 public:
  explicit Grouping(Locksets& locksets) : locksets_(locksets) {}

  void add(std::uint32_t id, std::uint64_t places, const Locks& locks, const PeriodSet& periods) {
    const auto [group, is_new] = groups_of_.try_emplace(places, groups.size());
    if (is_new) groups.push_back({.classes = {}, .periods = {}, .always = locks});
    Group& own = groups[group->second];
    own.always = {.first = locksets_.common(own.always.first, locks.first),
                  .second = locksets_.common(own.always.second, locks.second),
                  .across = locksets_.common(own.always.across, locks.across)};
    own.periods.add(periods);
    const auto [place, is_new_class] = classes_.try_emplace(
        hash(places, pair(locks.first, locks.second), locks.across), own.classes.size());
    if (is_new_class) own.classes.emplace_back();
    Class& its = own.classes[place->second];
    its.members.push_back(id);
    its.periods.add(periods);
  }

  std::vector<Group> groups;

 private:
  Locksets& locksets_;
  std::unordered_map<std::uint64_t, std::size_t> groups_of_;  // by place
  std::unordered_map<std::uint64_t, std::size_t> classes_;    // in its group
};

void BlockCompare::index() {
  if (holds_.empty()) index_accesses();
}

// Takes in the accesses that there are now.
void BlockCompare::index_accesses() {
  by_variable_.resize(store_.accesses().size());
  std::iota(by_variable_.begin(), by_variable_.end(), 0);
  std::ranges::sort(by_variable_, {}, [&](AccessId id) { return pair(access(id).variable, id); });
  for (const AccessId id : by_variable_) {
    const BlockAccess& of = access(id);
    holds_.push_back({.variable = of.variable, .held = of.held, .writes = of.is_write()});
  }
  std::ranges::sort(holds_);
  const auto repeated = std::ranges::unique(holds_);
  holds_.erase(repeated.begin(), repeated.end());
}

std::span<const AccessId> BlockCompare::accesses_of(SharedId variable) const {
  const auto of = [&](AccessId id) { return access(id).variable; };
  const auto [first, last] = std::ranges::equal_range(by_variable_, variable, {}, of);
  return {first, last};
}

std::vector<BlockCompare::Group> BlockCompare::groups(std::span<const AccessId> accesses) const {
  Grouping grouping(store_.locksets());
  for (const AccessId id : accesses) {
    const BlockAccess& of = access(id);
    grouping.add(id, hash(place(of), of.flags),
                 {.first = of.held, .second = of.held, .across = of.held},
                 store_.periods(store_.access_occurrences(), id));
  }
  return std::move(grouping.groups);
}

std::vector<BlockCompare::Group> BlockCompare::block_groups(std::span<const BlockId> blocks) const {
  Grouping grouping(store_.locksets());
  for (const BlockId id : blocks) {
    const BlockAccess& a = first(id);
    const BlockAccess& b = second(id);
    grouping.add(id, hash(place(a), place(b), pair(a.flags, b.flags), a.variable), locks_of(id),
                 store_.periods(store_.block_occurrences(), id));
  }
  return std::move(grouping.groups);
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
  constexpr std::size_t kMany = std::size_t{1} << 18U;
  if (concurrent_.size() > kMany) concurrent_.clear();
  const auto [at, is_new] = concurrent_.try_emplace(pair(a, b));
  if (is_new) {
    at->second = store_.context().periods().find_concurrent(store_.periods(a), store_.periods(b));
  }
  return at->second;
}

bool BlockCompare::can_be_cut(LocksetId across, const BlockAccess& cut) {
  index();
  const auto [at, is_new] =
      can_be_cut_.try_emplace(hash(pair(across, cut.variable), cut.is_write()), false);
  if (is_new) {
    const auto of = std::ranges::equal_range(holds_, cut.variable, {}, &Hold::variable);
    at->second = std::ranges::any_of(of, [&](const Hold& other) {
      return (cut.is_write() || other.writes) && !store_.locksets().exclude(across, other.held);
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
  Shape a;
  std::optional<ShapeId> loaded;
  const auto try_shapes = [&](const Occurrence& own, const Occurrence& its, const Pair& when) {
    if (loaded != own.shape) a = store_.shape(own.shape);
    loaded = own.shape;
    const Shape& b = store_.shape(its.shape);
    spend(a.steps.size() * b.steps.size() + 1);
    const auto order = schedule_pair(a, b, want(own, its), store_.locksets());
    const Own of_block = {.first = a.steps[own.first].held, .second = a.steps[own.second].held};
    if (order) report(*order, of_block, periods.thread(when.first), periods.thread(when.second));
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
  if (!store_.is_whole()) {
    index();
    compare_variables();
    return;
  }
  for (const BlockStore::Range& range : store_.batches(false)) {
    if (!gave_up_.empty()) break;
    store_.take_apart(range);
    index_accesses();
    compare_variables();
  }
  store_.forget_blocks();
}

void BlockCompare::compare_variables() {
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

// Looks in two groups for two classes that fit together, and with `look` in their members, until
// one violation is found; if it is known already, that it is possible here too is enough.
template <class Fits, class Key, class Look>
void BlockCompare::compare(const Group& own, const Group& others, Fits fits, Key key, Look look) {
  const std::uint64_t wanted = key(own.any(), others.any());
  for (const Class& ours : own.classes) {
    for (const Class& theirs : others.classes) {
      if (!spend(1)) return;
      if (!fits(ours.members[0], theirs.members[0])) continue;
      if (!store_.context().periods().find_concurrent(ours.periods, theirs.periods)) continue;
      if (const auto known = reported_.find(wanted); known != reported_.end()) {
        violations_.again(known->second);
        return;
      }
      for (const std::uint32_t one : ours.members) {
        for (const std::uint32_t other : theirs.members) {
          if (!spend(1)) return;
          look(wanted, one, other);
          if (reported_.contains(wanted)) return;
        }
      }
    }
  }
}

// Blocks of one variable, with all accesses to it.
void BlockCompare::compare_with_accesses(std::span<const BlockId> blocks) {
  const std::vector<Group> others = groups(accesses_of(first(blocks[0]).variable));
  for (const Group& own : block_groups(blocks)) {
    const BlockId one = own.any();
    for (const Group& other : others) {
      if (!spend(1)) return;
      if (!is_unserializable(first(one), access(other.any()), second(one))) continue;
      if (store_.locksets().exclude(own.always.across, other.always.first)) continue;
      if (!store_.context().periods().find_concurrent(own.periods, other.periods)) continue;
      if (needs_last_write(first(one), second(one)) && !is_visible(first(one).variable)) continue;
      compare(own, other);
    }
  }
}

void BlockCompare::compare(const Group& own, const Group& others) {
  compare(
      own, others,
      [&](BlockId block, AccessId between) {
        return !store_.locksets().exclude(store_.blocks()[block].across, access(between).held);
      },
      [&](BlockId block, AccessId between) {
        return hash(place(first(block)), place(access(between)), place(second(block)));
      },
      [&](std::uint64_t key, BlockId id, AccessId between) {
        look_for(
            id, store_.access_occurrences(), between,
            [](const Occurrence& ours, const Occurrence& its) {
              return std::array{Wanted{.own = ours.first, .other = its.first, .own_first = true},
                                Wanted{.own = ours.second, .other = its.first, .own_first = false}};
            },
            [&](std::span<const Scheduled>, const Own& own, ThreadId ours, ThreadId its) {
              const Block& block = store_.blocks()[id];
              const CycleEvent middle = event_of(between, its, 1, 1);
              std::array cycle = {
                  CycleEdge{.from = event_of(block.first, ours, 0, 0), .to = middle},
                  CycleEdge{.from = middle, .to = event_of(block.second, ours, 0, 2)}};
              cycle[0].from.locks = own.first;
              cycle[1].to.locks = own.second;
              reported_[key] = violations_.add(cycle, store_.locksets());
            });
      });
}

void BlockCompare::two_variables() {
  if (!store_.is_whole()) {
    index();
    compare_pairs({.first = 0, .end = ~SharedId{0}});
    return;
  }
  for (const BlockStore::Range& range : store_.batches(true)) {
    if (!spend(1)) return;
    store_.forget_blocks();
    compare_pairs(range);
  }
}

// Pairs of which the lower variable is in the range.
void BlockCompare::compare_pairs(const BlockStore::Range& range) {
  make_wide_blocks(range);
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
  const std::vector<Group> all = block_groups(blocks);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (!spend(1)) return;
      const BlockId own = all[i].any();
      const BlockId other = all[j].any();
      const bool nested = first(other).variable == first(own).variable;
      if (!nested && j < i) continue;
      const BlockAccess& y = nested ? first(other) : second(other);
      const BlockAccess& x = nested ? second(other) : first(other);
      if (!conflict(first(own), y) || !conflict(second(own), x)) continue;
      if (!can_cross(own, all[i].always, other, all[j].always, nested)) continue;
      if (!store_.context().periods().find_concurrent(all[i].periods, all[j].periods)) continue;
      compare(all[i], all[j], nested);
    }
  }
}

// Whether, as far as locks tell, two blocks like these can overlap, or the other be nested in ours.
bool BlockCompare::can_cross(BlockId own, const Locks& ours, BlockId other, const Locks& its,
                             bool nested) {
  if (!can_be_cut(ours.across, second(own)) && (nested || !can_be_cut(its.across, second(other)))) {
    return false;
  }
  const Locksets& locksets = store_.locksets();
  const bool first_between = !locksets.exclude(ours.across, its.first);
  const bool second_between = !locksets.exclude(ours.across, its.second);
  if (nested) return first_between && second_between;
  return first_between || second_between ||
         (!locksets.exclude(its.across, ours.first) && !locksets.exclude(its.across, ours.second));
}

void BlockCompare::compare(const Group& own, const Group& others, bool nested) {
  const auto y_of = [&](BlockId id) {
    return nested ? store_.blocks()[id].first : store_.blocks()[id].second;
  };
  const auto x_of = [&](BlockId id) {
    return nested ? store_.blocks()[id].second : store_.blocks()[id].first;
  };
  compare(
      own, others,
      [&](BlockId one, BlockId other) {
        return can_cross(one, locks_of(one), other, locks_of(other), nested);
      },
      [&](BlockId one, BlockId other) {
        return hash(place(first(one)), place(access(y_of(other))), place(access(x_of(other))),
                    place(second(one)));
      },
      [&](std::uint64_t key, BlockId id, BlockId other) {
        const AccessId y = y_of(other);
        const AccessId x = x_of(other);
        look_for(
            id, store_.block_occurrences(), other,
            [&](const Occurrence& ours, const Occurrence& its) {
              return std::array{Wanted{.own = ours.first,
                                       .other = nested ? its.first : its.second,
                                       .own_first = true},
                                Wanted{.own = ours.second,
                                       .other = nested ? its.second : its.first,
                                       .own_first = false}};
            },
            [&](std::span<const Scheduled> found, const Own&, ThreadId ours, ThreadId its) {
              // Where our two stand, and where the other's two.
              std::array<std::uint64_t, 4> index{};
              std::array<std::size_t, 2> seen{};
              for (std::size_t k = 0; k < found.size(); ++k) {
                const std::size_t side = found[k].own ? 0 : 1;
                index.at(2 * side + seen.at(side)++) = k;
              }
              const Block& block = store_.blocks()[id];
              std::array cycle = {CycleEdge{.from = event_of(block.first, ours, 0, index[0]),
                                            .to = event_of(y, its, 1, index[nested ? 2 : 3])},
                                  CycleEdge{.from = event_of(x, its, 1, index[nested ? 3 : 2]),
                                            .to = event_of(block.second, ours, 0, index[1])}};
              // The transaction with the first event is cut; ours may lie between the other's two.
              if (index[2] < index[0]) std::ranges::reverse(cycle);
              reported_[key] = violations_.add(cycle, store_.locksets());
            });
      });
}

// Once the accesses of all variables are known.
void BlockCompare::find_sites() {
  const std::span<const ShapeId> wide = store_.wide();
  first_wide_of_.resize(store_.context().variables().size() + 1);
  const auto for_each_variable = [&](auto visit) {
    for (std::uint32_t i = 0; i < wide_.size(); ++i) {
      for (const BlockStore::Site& site : wide_[i].sites) visit(access(site.access).variable, i);
    }
  };
  for (const ShapeId id : wide) {
    const Shape& shape = store_.shape(id);
    wide_.push_back({.sites = store_.sites(shape),
                     .threads = BlockPairs::threads_of(shape.periods),
                     .locks = std::ranges::any_of(
                         shape.steps, [](const Step& step) { return step.held != 0; })});
    std::erase_if(wide_.back().sites, [&](const BlockStore::Site& site) {
      return !can_be_cut(0, access(site.access));
    });
    wide_.back().sites.shrink_to_fit();
  }
  if (!store_.is_whole()) return;
  for_each_variable([&](SharedId variable, std::uint32_t) { ++first_wide_of_[variable]; });
  std::exclusive_scan(first_wide_of_.begin(), first_wide_of_.end(), first_wide_of_.begin(), 0U);
  wide_of_.resize(first_wide_of_.back());
  std::vector<std::uint32_t> next = first_wide_of_;
  for_each_variable([&](SharedId variable, std::uint32_t i) { wide_of_[next[variable]++] = i; });
}

// Those with sites of variables in the range.
std::vector<std::uint32_t> BlockCompare::wide_in(const BlockStore::Range& range) const {
  if (!store_.is_whole()) {
    std::vector<std::uint32_t> all(wide_.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<std::uint32_t> in_range(wide_of_.begin() + first_wide_of_[range.first],
                                      wide_of_.begin() + first_wide_of_[range.end]);
  std::ranges::sort(in_range);
  const auto repeated = std::ranges::unique(in_range);
  in_range.erase(repeated.begin(), repeated.end());
  return in_range;
}

// Calls `visit(first, second, across)` for every two sites of a transaction that are of different
// variables, the lower one in the range.
template <class Visit>
void BlockCompare::for_each_pair(std::size_t wide, const BlockStore::Range& range, Visit visit) {
  const std::span<const BlockStore::Site> sites = wide_[wide].sites;
  const auto variable = [&](std::size_t i) { return access(sites[i].access).variable; };
  std::vector<std::uint32_t> in_range;
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    if (variable(i) >= range.first && variable(i) < range.end) in_range.push_back(i);
  }
  std::optional<HeldAcross> held;
  if (wide_[wide].locks) held.emplace(store_.shape(store_.wide()[wide]), store_.locksets());
  const auto look_at = [&](std::size_t i, std::size_t j) {
    const SharedId a = variable(i);
    const SharedId b = variable(j);
    if (a == b || std::min(a, b) < range.first) return true;
    if (!spend(1)) return false;
    visit(sites[i], sites[j], held ? (*held)(sites[i].step, sites[j].step) : 0);
    return true;
  };
  for (std::size_t i = 0, behind = 0; i < sites.size() && behind < in_range.size(); ++i) {
    if (in_range[behind] == i) {
      ++behind;
      for (std::size_t j = i + 1; j < sites.size(); ++j) {
        if (!look_at(i, j)) return;
      }
    } else {
      for (const std::uint32_t j : std::span(in_range).subspan(behind)) {
        if (!look_at(i, j)) return;
      }
    }
  }
}

// Of transactions with many variables, only the blocks that matter: those that can be cut, and
// those of the same variables that may do it.
void BlockCompare::make_wide_blocks(const BlockStore::Range& range) {
  if (store_.wide().empty()) return;
  if (wide_.empty()) find_sites();
  // If blocks have been made already, not everybody who may meet them is known.
  const bool whole = store_.is_whole();
  BlockPairs pairs;
  std::size_t to_be_made = 0;
  const auto cut = [&](BlockPairs::Pair& pair) {
    if (!pair.can_be_cut()) ++to_be_made;
    pair.set_can_be_cut();
  };
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    if (first(id).variable == second(id).variable) continue;
    if (can_be_cut(store_.blocks()[id].across, second(id))) {
      cut(pairs.at(first(id).variable, second(id).variable));
    }
  }
  const auto writes_of = [](const BlockAccess& one, const BlockAccess& other) {
    const BlockAccess& lower = one.variable < other.variable ? one : other;
    const BlockAccess& upper = one.variable < other.variable ? other : one;
    return (lower.is_write() ? BlockPairs::kLower : 0U) |
           (upper.is_write() ? BlockPairs::kUpper : 0U);
  };
  const std::vector<std::uint32_t> in_range = wide_in(range);
  for (const std::uint32_t i : in_range) {
    for_each_pair(
        i, range,
        [&](const BlockStore::Site& first, const BlockStore::Site& second, LocksetId across) {
          const BlockAccess& one = access(first.access);
          const BlockAccess& other = access(second.access);
          if (!whole) {
            if (can_be_cut(across, other)) cut(pairs.at(one.variable, other.variable));
            return;
          }
          BlockPairs::Pair& pair = pairs.at(one.variable, other.variable);
          pair.meet(writes_of(one, other), wide_[i].threads);
          if (!pair.can_be_cut() && can_be_cut(across, other)) cut(pair);
        });
    if (to_be_made > kMostPairs) gave_up_ = kTooMany;
    if (!gave_up_.empty()) return;
  }
  for (const std::uint32_t i : in_range) {
    for_each_pair(
        i, range,
        [&](const BlockStore::Site& first, const BlockStore::Site& second, LocksetId across) {
          const BlockAccess& one = access(first.access);
          const BlockAccess& other = access(second.access);
          const BlockPairs::Pair* const pair = pairs.known(one.variable, other.variable);
          if (pair == nullptr || !pair->can_be_cut()) return;
          if (whole && !pair->can_meet(writes_of(one, other))) return;
          store_.add_block(store_.wide()[i], first, second, across);
        });
    if (!gave_up_.empty()) return;
  }
}

}  // namespace tomos
