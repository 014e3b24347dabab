#include "monitor/pair_order.h"

#include <algorithm>

namespace tomos {

namespace {

// Beyond that the locks are not looked at: what they seem to allow has to do.
constexpr std::size_t kMostPlaces = std::size_t{1} << 22U;

// What matters of a transaction: where the locks it holds change, and the steps that are wanted.
// Locks from outside are taken before its beginning and given back after its end.
struct Line {
  static constexpr std::uint32_t kLocks = ~std::uint32_t{0};
  std::vector<std::uint32_t> items;  // a step that is wanted, or kLocks
  std::vector<LocksetId> held;       // after so many items

  std::size_t place(std::uint32_t step) const {
    return static_cast<std::size_t>(std::ranges::find(items, step) - items.begin());
  }
};

Line line_of(const Shape& shape, std::span<const std::uint32_t> wanted, bool with_locks) {
  Line line;
  line.held.push_back(0);
  const auto hold = [&](LocksetId held) {
    if (held == line.held.back() || !with_locks) return;
    line.items.push_back(Line::kLocks);
    line.held.push_back(held);
  };
  hold(shape.outer);
  for (std::uint32_t i = 0; i < shape.steps.size(); ++i) {
    hold(shape.steps[i].held);
    if (std::ranges::count(wanted, i) == 0) continue;
    line.items.push_back(i);
    line.held.push_back(line.held.back());
  }
  hold(0);
  return line;
}

// Given how far the other has got, whether a step may come next.
bool may_come(std::uint32_t step, bool own, std::size_t other_done, const Line& other,
              std::span<const Wanted> wanted) {
  if (step == Line::kLocks) return true;
  return std::ranges::all_of(wanted, [&](const Wanted& want) {
    if ((own ? want.own : want.other) != step || want.own_first == own) return true;
    return other_done > other.place(own ? want.other : want.own);
  });
}

}  // namespace

std::optional<std::vector<Scheduled>> schedule_pair(const Shape& own, const Shape& other,
                                                    std::span<const Wanted> wanted,
                                                    const Locksets& locksets) {
  std::vector<std::uint32_t> own_steps;
  std::vector<std::uint32_t> other_steps;
  for (const Wanted& want : wanted) {
    own_steps.push_back(want.own);
    other_steps.push_back(want.other);
  }
  Line a = line_of(own, own_steps, true);
  Line b = line_of(other, other_steps, true);
  if (a.held.size() * b.held.size() > kMostPlaces) {
    a = line_of(own, own_steps, false);
    b = line_of(other, other_steps, false);
  }
  const std::size_t width = b.held.size();
  std::vector<bool> reached(a.held.size() * width);
  for (std::size_t i = 0; i < a.held.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      bool from = i == 0 && j == 0;
      from = from || (i > 0 && reached[(i - 1) * width + j] &&
                      may_come(a.items[i - 1], true, j, b, wanted));
      from = from ||
             (j > 0 && reached[i * width + j - 1] && may_come(b.items[j - 1], false, i, a, wanted));
      reached[i * width + j] = from && !locksets.exclude(a.held[i], b.held[j]);
    }
  }
  std::size_t i = a.items.size();
  std::size_t j = b.items.size();
  if (!reached[i * width + j]) return std::nullopt;
  std::vector<Scheduled> order;
  while (i > 0 || j > 0) {
    const bool own_last =
        i > 0 && reached[(i - 1) * width + j] && may_come(a.items[i - 1], true, j, b, wanted);
    const std::uint32_t step = own_last ? a.items[--i] : b.items[--j];
    if (step != Line::kLocks) order.push_back({.own = own_last, .step = step});
  }
  std::ranges::reverse(order);
  return order;
}

}  // namespace tomos
