// By refinement: two variables are in different classes if their own accesses differ, or if
// something that is not of their class stands between them.
#include "monitor/variable_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "monitor/interned.h"

namespace tomos {

namespace {

// Accesses of one transaction to one variable, with nothing between them. Most variables are in no
// class worth the while, and of those no items are kept.
struct Item {
  SharedId variable;
  bool apart;             // from the item before: by a lock operation, or of another transaction
  std::uint64_t pattern;  // what they look like
};

// Calls `visit(item)` for each item of a shape, in order.
template <class Visit>
void for_each_item(const Shape& shape, ShapeId id, const std::vector<bool>& wanted, Visit visit) {
  Item item = {.variable = 0, .apart = true, .pattern = id};
  bool open = false;
  const auto close = [&] {
    if (open) visit(item);
    open = false;
  };
  bool apart = true;
  for (const Step& step : shape.steps) {
    if (!step.is_access()) {
      apart = true;
      continue;
    }
    if (!wanted[step.object]) continue;
    if (!open || apart || item.variable != step.object) {
      close();
      item = {.variable = step.object, .apart = apart, .pattern = id};
      open = true;
    }
    apart = false;
    item.pattern =
        mix(item.pattern + static_cast<std::uint64_t>(step.op), pair(step.location, step.held));
  }
  close();
}

std::size_t count_different(std::vector<std::uint64_t> keys) {
  std::ranges::sort(keys);
  return keys.size() - std::ranges::unique(keys).size();
}

// Items of which each may stand in a row with the one before it, of variables with numbers that
// follow one another: as the bytes of a string do.
struct Stretch {
  SharedId first;
  std::uint32_t count;
  bool goes_on;  // its first may stand in a row with the last of the one before
};

// The keys of the classes, one round finer: which rows of neighbours of one class a variable
// stands in.
std::vector<std::uint64_t> refined(const std::vector<std::uint64_t>& keys,
                                   const std::vector<Stretch>& stretches) {
  std::vector<std::uint64_t> finer = keys;
  std::uint64_t row = 0;
  SharedId before = 0;
  for (const Stretch& stretch : stretches) {
    bool goes_on = stretch.goes_on;
    for (SharedId variable = stretch.first; variable < stretch.first + stretch.count; ++variable) {
      if (!goes_on || keys[before] != keys[variable]) ++row;
      finer[variable] = mix(finer[variable], row);
      before = variable;
      goes_on = true;
    }
  }
  return finer;
}

// Of the wanted variables, those that have the same key as two others at least.
std::vector<bool> in_large_classes(const std::vector<std::uint64_t>& keys,
                                   const std::vector<bool>& wanted) {
  std::unordered_map<std::uint64_t, int> seen;
  for (SharedId variable = 0; variable < wanted.size(); ++variable) {
    if (wanted[variable]) ++seen[keys[variable]];
  }
  std::vector<bool> large(wanted.size());
  for (SharedId variable = 0; variable < wanted.size(); ++variable) {
    large[variable] = wanted[variable] && seen[keys[variable]] > 2;
  }
  return large;
}

// The items of the variables in `of`. What stands between two of them sets them apart.
std::vector<Stretch> stretches_of(const ForEachShape& for_each_shape, const std::vector<bool>& of,
                                  const std::vector<bool>& wanted) {
  std::vector<Stretch> stretches;
  Item before = {};
  ShapeId id = 0;
  for_each_shape([&](const Shape& shape) {
    bool apart = true;
    for_each_item(shape, id++, wanted, [&](const Item& item) {
      if (of[item.variable]) {
        const bool goes_on = !apart && !item.apart && before.pattern == item.pattern &&
                             before.variable < item.variable;
        if (goes_on && before.variable + 1 == item.variable) {
          ++stretches.back().count;
        } else {
          stretches.push_back({.first = item.variable, .count = 1, .goes_on = goes_on});
        }
        before = item;
      }
      apart = !of[item.variable];
    });
  });
  return stretches;
}

}  // namespace

std::vector<bool> variables_stood_for(const ForEachShape& for_each_shape,
                                      std::span<const LoneAccesses::Access> lone,
                                      const std::vector<bool>& wanted) {
  constexpr int kMostRounds = 16;
  std::vector<bool> stood_for(wanted.size());
  std::vector<std::uint64_t> keys(wanted.size());
  ShapeId id = 0;
  for_each_shape([&](const Shape& shape) {
    for_each_item(shape, id++, wanted, [&](const Item& item) {
      keys[item.variable] = mix(keys[item.variable], item.pattern);
    });
  });
  for (const LoneAccesses::Access& access : lone) {
    std::uint64_t& key = keys[access.variable];
    key = mix(mix(key, pair(access.pattern, access.periods.thread)),
              pair(access.periods.first, access.periods.last));
  }
  // Refinement parts classes: who is in a small one stays in a small one.
  const std::vector<bool> large = in_large_classes(keys, wanted);
  if (std::ranges::count(large, true) == 0) return stood_for;
  const std::vector<Stretch> stretches = stretches_of(for_each_shape, large, wanted);
  std::size_t different = count_different(keys);
  for (int round = 0;; ++round) {
    if (round == kMostRounds) return stood_for;
    keys = refined(keys, stretches);
    const std::size_t now = count_different(keys);
    if (now == different) break;
    different = now;
  }
  std::unordered_map<std::uint64_t, int> seen;
  for (SharedId variable = 0; variable < wanted.size(); ++variable) {
    if (large[variable]) stood_for[variable] = ++seen[keys[variable]] > 2;
  }
  return stood_for;
}

}  // namespace tomos
