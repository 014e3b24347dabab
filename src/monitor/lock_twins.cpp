#include "monitor/lock_twins.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "monitor/interned.h"

namespace tomos {

namespace {

// So many twins stand for the others. A transaction with as many locks is looked at by itself.
constexpr std::size_t kTwins = 4;

using Locks = std::vector<LockId>;
using Periods = std::span<const PeriodSet::Run>;

bool is_subset(Periods part, Periods whole) {
  return std::ranges::all_of(part, [&](const PeriodSet::Run& run) {
    return std::ranges::any_of(whole, [&](const PeriodSet::Run& other) {
      return other.thread == run.thread && other.first <= run.first && run.last <= other.last;
    });
  });
}

// Transactions of one pattern with the same variables.
class Twins {
 public:
  explicit Twins(const KeptTransactions* all, std::vector<bool> are_locks)
      : all_(all), are_locks_(std::move(are_locks)) {}

  void add(std::uint32_t number) { twins_.push_back(number); }

  // Calls `leave(number)` for those that are not needed. `large` are the sets of locks, sorted, of
  // transactions with many.
  template <class Leave>
  void choose(std::span<const Locks> large, Leave leave) {
    if (twins_.size() <= kTwins) return;
    find_roles();
    for (const std::uint32_t twin : twins_) {
      if (few_stand_for(twin)) {
        leave_out(twin);
      } else {
        kept_.push_back(twin);
      }
    }
    for (Left& left : left_) {
      for (const std::uint32_t twin : kept_) {
        if (is_subset(left.periods, all_->periods(twin))) left.stands.push_back(twin);
      }
      for (const Locks& other : large) keep_for(other, left);
      for (const std::uint32_t twin : left.twins) leave(twin);
    }
  }

 private:
  // Those left out that ran in the same periods, and those kept that ran in all of these.
  struct Left {
    Periods periods;
    std::vector<std::uint32_t> twins;
    std::vector<std::uint32_t> stands;
  };

  LockId lock(std::uint32_t twin, std::uint32_t role) const { return all_->objects(twin)[role]; }

  // The locks that are not the same in all.
  void find_roles() {
    for (std::uint32_t role = 0; role < are_locks_.size(); ++role) {
      if (are_locks_[role] && std::ranges::any_of(twins_, [&](std::uint32_t twin) {
            return lock(twin, role) != lock(twins_[0], role);
          })) {
        roles_.push_back(role);
      }
    }
  }

  // Whether enough are kept that differ from each other in all the locks in which they differ from
  // this one.
  bool few_stand_for(std::uint32_t twin) const {
    Locks taken;
    std::size_t count = 0;
    for (const std::uint32_t other : kept_) {
      if (!is_subset(all_->periods(twin), all_->periods(other))) continue;
      const std::size_t before = taken.size();
      bool differs = true;
      for (const std::uint32_t role : roles_) {
        const LockId own = lock(other, role);
        if (own == lock(twin, role)) continue;
        differs &= std::find(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(before),
                             own) == taken.begin() + static_cast<std::ptrdiff_t>(before);
        taken.push_back(own);
      }
      if (!differs) taken.resize(before);
      if (differs && ++count == kTwins) return true;
    }
    return false;
  }

  void leave_out(std::uint32_t twin) {
    const Periods periods = all_->periods(twin);
    const auto same = std::ranges::find_if(
        left_, [&](const Left& left) { return std::ranges::equal(left.periods, periods); });
    if (same != left_.end()) {
      same->twins.push_back(twin);
    } else {
      left_.push_back({.periods = periods, .twins = {twin}, .stands = {}});
    }
  }

  // Keeps those that are needed for a transaction with these locks.
  void keep_for(const Locks& other, Left& left) const {
    const auto shares = [&](std::uint32_t twin, std::uint32_t role) {
      return std::ranges::binary_search(other, lock(twin, role));
    };
    const auto shares_nothing = [&](std::uint32_t twin) {
      return std::ranges::none_of(roles_, [&](std::uint32_t role) { return shares(twin, role); });
    };
    if (std::ranges::any_of(left.stands, shares_nothing)) return;
    std::erase_if(left.twins, [&](std::uint32_t twin) {
      const auto stands = [&](std::uint32_t kept) {
        return std::ranges::all_of(roles_, [&](std::uint32_t role) {
          return lock(kept, role) == lock(twin, role) || !shares(kept, role);
        });
      };
      if (std::ranges::any_of(left.stands, stands)) return false;
      left.stands.push_back(twin);
      return true;
    });
  }

  const KeptTransactions* all_;
  std::vector<bool> are_locks_;       // by role: the place among a transaction's objects
  std::vector<std::uint32_t> twins_;  // numbers among all
  std::vector<std::uint32_t> roles_;
  std::vector<std::uint32_t> kept_;
  std::vector<Left> left_;
};

// The sets of locks of transactions with many.
std::vector<Locks> large_sets(const KeptTransactions& all,
                              const std::vector<std::vector<bool>>& are_locks,
                              std::span<const Shape> others) {
  std::set<Locks> sets;
  const auto add = [&](Locks& locks) {
    std::ranges::sort(locks);
    const auto repeated = std::ranges::unique(locks);
    locks.erase(repeated.begin(), repeated.end());
    if (locks.size() >= kTwins) sets.insert(locks);
  };
  Locks locks;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    locks.clear();
    const std::vector<bool>& is_lock = are_locks[all.pattern(i)];
    for (std::size_t k = 0; k < is_lock.size(); ++k) {
      if (is_lock[k]) locks.push_back(all.objects(i)[k]);
    }
    add(locks);
  }
  for (const Shape& shape : others) {
    locks.clear();
    for (const Step& step : shape.steps) {
      if (!step.is_access()) locks.push_back(step.object);
    }
    add(locks);
  }
  return {sets.begin(), sets.end()};
}

}  // namespace

std::vector<bool> twins_stand_for(const KeptTransactions& all, std::span<const Shape> others) {
  std::vector<std::vector<bool>> are_locks;  // by pattern
  std::unordered_map<std::uint64_t, std::size_t> places;
  std::vector<Twins> families;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    const std::uint32_t pattern = all.pattern(i);
    for (std::size_t next = are_locks.size(); next <= pattern; ++next) {
      are_locks.push_back(all.are_locks(static_cast<std::uint32_t>(next)));
    }
    std::uint64_t key = mix(1, pattern);
    for (std::size_t k = 0; k < are_locks[pattern].size(); ++k) {
      if (!are_locks[pattern][k]) key = mix(key, all.objects(i)[k]);
    }
    const auto [place, is_new] = places.try_emplace(key, families.size());
    if (is_new) families.emplace_back(&all, are_locks[pattern]);
    families[place->second].add(i);
  }
  const std::vector<Locks> large = large_sets(all, are_locks, others);
  std::vector<bool> stood_for(all.size());
  for (Twins& family : families) {
    family.choose(large, [&](std::uint32_t number) { stood_for[number] = true; });
  }
  return stood_for;
}

}  // namespace tomos
