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

// Accesses of one transaction to one variable, with nothing between them.
struct Item {
  SharedId variable;
  bool apart;             // from the item before: by a lock operation, or of another transaction
  std::uint64_t pattern;  // what they look like
};

std::vector<Item> items_of(std::span<const Shape> shapes, const std::vector<bool>& wanted) {
  std::vector<Item> items;
  for (ShapeId id = 0; id < shapes.size(); ++id) {
    bool apart = true;
    for (const Step& step : shapes[id].steps) {
      if (!step.is_access()) {
        apart = true;
        continue;
      }
      if (!wanted[step.object]) continue;
      if (apart || items.back().variable != step.object) {
        items.push_back({.variable = step.object, .apart = apart, .pattern = id});
      }
      apart = false;
      std::uint64_t& pattern = items.back().pattern;
      pattern = mix(pattern + static_cast<std::uint64_t>(step.op), pair(step.location, step.held));
    }
  }
  return items;
}

std::size_t count_different(std::vector<std::uint64_t> keys) {
  std::ranges::sort(keys);
  return keys.size() - std::ranges::unique(keys).size();
}

// The keys of the classes, one round finer: which rows of neighbours of one class a variable
// stands in.
std::vector<std::uint64_t> refined(const std::vector<std::uint64_t>& keys,
                                   const std::vector<Item>& items) {
  std::vector<std::uint64_t> finer = keys;
  std::uint64_t row = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool goes_on = i > 0 && !items[i].apart && items[i - 1].pattern == items[i].pattern &&
                         items[i - 1].variable < items[i].variable &&
                         keys[items[i - 1].variable] == keys[items[i].variable];
    if (!goes_on) ++row;
    finer[items[i].variable] = mix(finer[items[i].variable], row);
  }
  return finer;
}

}  // namespace

std::vector<bool> variables_stood_for(std::span<const Shape> shapes,
                                      std::span<const LoneAccesses::Access> lone,
                                      const std::vector<bool>& wanted) {
  constexpr int kMostRounds = 16;
  std::vector<bool> stood_for(wanted.size());
  const std::vector<Item> items = items_of(shapes, wanted);
  std::vector<std::uint64_t> keys(wanted.size());
  for (const Item& item : items) keys[item.variable] = mix(keys[item.variable], item.pattern);
  for (const LoneAccesses::Access& access : lone) {
    std::uint64_t& key = keys[access.variable];
    key = mix(mix(key, pair(access.pattern, access.periods.thread)),
              pair(access.periods.first, access.periods.last));
  }
  std::size_t different = count_different(keys);
  for (int round = 0;; ++round) {
    if (round == kMostRounds) return stood_for;
    keys = refined(keys, items);
    const std::size_t now = count_different(keys);
    if (now == different) break;
    different = now;
  }
  std::unordered_map<std::uint64_t, int> seen;
  for (SharedId variable = 0; variable < wanted.size(); ++variable) {
    if (wanted[variable]) stood_for[variable] = ++seen[keys[variable]] > 2;
  }
  return stood_for;
}

}  // namespace tomos
