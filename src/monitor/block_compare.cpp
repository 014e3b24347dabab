#include "monitor/block_compare.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "monitor/pair_order.h"

namespace tomos {

namespace {

// Comparisons of two blocks, and places on the grids of pair_order.h.
constexpr std::uint64_t kBudget = 2'000'000'000;
// Pairs of transactions in which one suspicion is looked for before it is left open.
constexpr std::size_t kMostTries = 10'000;

std::uint64_t pair(std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32U) | b; }

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e37'79b9'7f4a'7c15U;
  return h ^ (h >> 31U);
}

// What makes a finding another one.
std::uint64_t place(const BlockAccess& access) {
  return mix(mix(pair(access.label, access.begin), access.location),
             static_cast<std::uint64_t>(access.op));
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

void BlockCompare::index() {
  if (!accesses_of_.empty()) return;
  accesses_of_.resize(store_.context().variables().size());
  for (AccessId id = 0; id < store_.accesses().size(); ++id) {
    accesses_of_[store_.accesses()[id].value.variable].push_back(id);
  }
}

bool BlockCompare::excluded(LocksetId a, LocksetId b) {
  if (a == 0 || b == 0) return false;
  const auto [at, is_new] = excluded_.try_emplace(pair(a, b));
  if (is_new) at->second = store_.locksets().exclude(a, b);
  return at->second;
}

bool BlockCompare::spend(std::uint64_t steps) {
  if (!gave_up_.empty()) return false;
  spent_ += steps;
  if (spent_ > kBudget) {
    gave_up_ = "there are too many blocks to compare them all";
  } else if (options_.stop != nullptr && (spent_ >> 20U) != ((spent_ - steps) >> 20U) &&
             options_.stop()) {
    gave_up_ = "the comparison of blocks was interrupted";
  }
  return gave_up_.empty();
}

const std::optional<BlockCompare::Pair>& BlockCompare::concurrent(ShapeId a, ShapeId b) {
  const auto [at, is_new] = concurrent_.try_emplace(pair(a, b));
  if (is_new) {
    at->second = store_.context().periods().find_concurrent(store_.shapes()[a].periods,
                                                            store_.shapes()[b].periods);
  }
  return at->second;
}

bool BlockCompare::can_be_cut(LocksetId across, const BlockAccess& access) {
  index();
  const auto [at, is_new] =
      can_be_cut_.try_emplace(mix(pair(across, access.variable), access.is_write() ? 1 : 0), false);
  if (is_new) {
    at->second = std::ranges::any_of(accesses_of_[access.variable], [&](AccessId id) {
      const BlockAccess& other = store_.accesses()[id].value;
      return conflict(access, other) && !excluded(across, other.held);
    });
  }
  return at->second;
}

CycleEvent BlockCompare::event_of(AccessId id, ThreadId thread, std::uint64_t transaction,
                                  std::uint64_t index) const {
  const BlockAccess& access = store_.accesses()[id].value;
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

// Looks for two transactions, one with the block and one with the other entry, that can run in the
// wanted order; calls `report` with the threads and the order.
template <class Entry, class Want, class Report>
bool BlockCompare::look_for(const Interned<Block>::Entry& block, const Entry& other, Want want,
                            Report report) {
  const auto try_shapes = [&](const Occurrence& own, const Occurrence& its, const Pair& periods) {
    const Shape& a = store_.shapes()[own.shape];
    const Shape& b = store_.shapes()[its.shape];
    spend(a.steps.size() * b.steps.size() + 1);
    const auto order = schedule_pair(a, b, want(own, its), store_.locksets());
    if (!order) return false;
    report(*order, store_.context().periods().thread(periods.first),
           store_.context().periods().thread(periods.second));
    return true;
  };
  std::size_t tries = 0;
  for (const Occurrence& own : block.occurrences) {
    for (const Occurrence& its : other.occurrences) {
      const auto& periods = concurrent(own.shape, its.shape);
      if (!spend(1)) return false;
      if (!periods) continue;
      if (try_shapes(own, its, *periods)) return true;
      if (++tries < kMostTries) continue;
      gave_up_ = "a suspicion fits too many transactions to try them all";
      return false;
    }
  }
  if (block.elsewhere.empty() && other.elsewhere.empty()) return false;
  const auto periods = store_.context().periods().find_concurrent(
      store_.periods<Block>(block), store_.template periods<decltype(other.value)>(other));
  return periods && try_shapes(block.occurrences[0], other.occurrences[0], *periods);
}

void BlockCompare::one_variable() {
  index();
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    const auto& block = store_.blocks()[id];
    const BlockAccess first = store_.accesses()[block.value.first].value;
    const BlockAccess second = store_.accesses()[block.value.second].value;
    if (first.variable != second.variable) continue;
    for (const AccessId between : accesses_of_[first.variable]) {
      if (!spend(1)) return;
      const auto& access = store_.accesses()[between];
      if (!is_unserializable(first, access.value, second)) continue;
      if (excluded(block.value.across, access.value.held)) continue;
      const std::uint64_t key = mix(mix(place(first), place(access.value)), place(second));
      if (const auto known = reported_.find(key); known != reported_.end()) {
        violations_.again(known->second);
        continue;
      }
      if (needs_last_write(first, second) && !is_visible(first.variable)) continue;
      look_for(
          block, access,
          [](const Occurrence& own, const Occurrence& its) {
            return std::array{Wanted{.own = own.first, .other = its.first, .own_first = true},
                              Wanted{.own = own.second, .other = its.first, .own_first = false}};
          },
          [&](std::span<const Scheduled>, ThreadId own, ThreadId its) {
            const CycleEvent middle = event_of(between, its, 1, 1);
            const std::array cycle = {
                CycleEdge{.from = event_of(block.value.first, own, 0, 0), .to = middle},
                CycleEdge{.from = middle, .to = event_of(block.value.second, own, 0, 2)}};
            reported_[key] = violations_.add(cycle, store_.locksets());
          });
    }
  }
}

void BlockCompare::two_variables() {
  index();
  make_wide_blocks();
  if (store_.lost_wide() && gave_up_.empty()) {
    gave_up_ = "there are too many different transactions with many variables";
  }
  std::vector<std::pair<std::uint64_t, BlockId>> by_variables;
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    const Block& block = store_.blocks()[id].value;
    const SharedId a = store_.accesses()[block.first].value.variable;
    const SharedId b = store_.accesses()[block.second].value.variable;
    if (a != b) by_variables.emplace_back(pair(std::min(a, b), std::max(a, b)), id);
  }
  std::ranges::sort(by_variables);
  std::vector<BlockId> group;
  for (std::size_t i = 0; i < by_variables.size(); ++i) {
    group.push_back(by_variables[i].second);
    if (i + 1 < by_variables.size() && by_variables[i + 1].first == by_variables[i].first) continue;
    compare_group(group);
    group.clear();
  }
}

// Blocks of the same two variables.
void BlockCompare::compare_group(std::span<const BlockId> group) {
  const auto access = [&](AccessId id) -> const BlockAccess& {
    return store_.accesses()[id].value;
  };
  std::vector<bool> cut;
  for (const BlockId id : group) {
    const Block& block = store_.blocks()[id].value;
    cut.push_back(can_be_cut(block.across, access(block.second)));
  }
  if (std::ranges::count(cut, true) == 0) return;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto& own = store_.blocks()[group[i]];
    const BlockAccess& y = access(own.value.first);
    const BlockAccess& x = access(own.value.second);
    for (std::size_t j = 0; j < group.size(); ++j) {
      if (!spend(1)) return;
      const auto& other = store_.blocks()[group[j]];
      // Either both of the other's accesses come between our two, or the two blocks overlap (which
      // is the same seen from both sides).
      const bool nested = access(other.value.first).variable == y.variable;
      if (nested ? !cut[i] : j < i || (!cut[i] && !cut[j])) continue;
      const AccessId other_y = nested ? other.value.first : other.value.second;
      const AccessId other_x = nested ? other.value.second : other.value.first;
      if (!conflict(y, access(other_y)) || !conflict(x, access(other_x))) continue;
      const bool y_between = !excluded(own.value.across, access(other_y).held);
      const bool x_between = !excluded(own.value.across, access(other_x).held);
      const bool possible = nested ? y_between && x_between
                                   : y_between || x_between ||
                                         (!excluded(other.value.across, x.held) &&
                                          !excluded(other.value.across, y.held));
      if (!possible) continue;
      const std::uint64_t key =
          mix(mix(mix(place(y), place(access(other_y))), place(access(other_x))), place(x));
      if (const auto known = reported_.find(key); known != reported_.end()) {
        violations_.again(known->second);
        continue;
      }
      const auto order = [&](const Occurrence& ours, const Occurrence& its) {
        return std::array{
            Wanted{.own = ours.first, .other = nested ? its.first : its.second, .own_first = true},
            Wanted{
                .own = ours.second, .other = nested ? its.second : its.first, .own_first = false}};
      };
      look_for(own, other, order,
               [&](std::span<const Scheduled> found, ThreadId ours, ThreadId its) {
                 // The first of each thread's two in `found` is its block's first.
                 std::array<std::uint64_t, 4> index{};  // of y, x, and the other's first and second
                 std::array<std::size_t, 2> seen{};
                 for (std::size_t k = 0; k < found.size(); ++k) {
                   const std::size_t side = found[k].own ? 0 : 1;
                   index.at(2 * side + seen.at(side)++) = k;
                 }
                 const std::array cycle = {
                     CycleEdge{.from = event_of(own.value.first, ours, 0, index[0]),
                               .to = event_of(other_y, its, 1, index[nested ? 2 : 3])},
                     CycleEdge{.from = event_of(other_x, its, 1, index[nested ? 3 : 2]),
                               .to = event_of(own.value.second, ours, 0, index[1])}};
                 reported_[key] = violations_.add(cycle, store_.locksets());
               });
    }
  }
}

// Of transactions with many variables, only the blocks that matter: those that can be cut, and
// those of the same variables that may do it.
void BlockCompare::make_wide_blocks() {
  if (store_.wide().empty()) return;
  const auto variables = [&](AccessId first, AccessId second) {
    const SharedId a = store_.accesses()[first].value.variable;
    const SharedId b = store_.accesses()[second].value.variable;
    return pair(std::min(a, b), std::max(a, b));
  };
  std::unordered_set<std::uint64_t> wanted;
  for (BlockId id = 0; id < store_.blocks().size(); ++id) {
    const Block& block = store_.blocks()[id].value;
    if (can_be_cut(block.across, store_.accesses()[block.second].value)) {
      wanted.insert(variables(block.first, block.second));
    }
  }
  for (const bool cuts : {false, true}) {
    for (const ShapeId id : store_.wide()) {
      const Shape& shape = store_.shapes()[id];
      std::vector<BlockStore::Site> sites = store_.sites(shape);
      std::erase_if(sites, [&](const BlockStore::Site& site) {
        return !can_be_cut(0, store_.accesses()[site.access].value);
      });
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
          const BlockAccess& second = store_.accesses()[sites[j].access].value;
          if (second.variable == store_.accesses()[sites[i].access].value.variable) continue;
          if (!cuts && can_be_cut(across, second)) wanted.insert(both);
          if (cuts && wanted.contains(both)) store_.add_block(id, sites[i], sites[j], across);
        }
      }
    }
  }
}

}  // namespace tomos
