// Shadow memory against the plainest model of it: a value for every cell, a list of objects.
#include "runtime/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace tomos::runtime {
namespace {

// On both sides of the border of two regions.
constexpr Address kWindow = 0x2345'0000'0000 + kRegionSize - (1U << 20);
constexpr std::size_t kWindowSize = 2U << 20;

std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) { return random() % bound; }

class ModelOfCells {
 public:
  // Pages of one state are made of untouched ones, as in a first touch.
  void page_becomes(Address page, Cell state) {
    Region& region = *region_at(page);
    const auto cells = cells_of(page, kPageSize);
    if (page_in(region, page) != kCells ||
        std::ranges::any_of(cells, [](Cell cell) { return cell != kUntouched; })) {
      return;
    }
    page_in(region, page) = static_cast<PageState>(state);
    std::ranges::fill(cells, state);
  }
  void unfolds(Address address) { unfold(*region_at(address), address); }
  void unfolds_to(Address address, Cell instead) {
    Region& region = *region_at(address);
    if (!is_uniform(page_in(region, address))) return;
    unfold(region, address, instead);
    std::ranges::fill(cells_of(address & ~(kPageSize - 1), kPageSize), instead);
  }
  void cell_becomes(Address address, Cell value) {
    unfolds(address);
    cell_in(*region_at(address), address) = value;
    cells_of(address, 8).front() = value;
  }
  void forgets(Address start, std::size_t size) {
    forget_cells(start, size);
    const Address first = start & ~Address{7};
    std::ranges::fill(cells_of(first, start + size - first), kUntouched);
  }

  void expect_same(Address first, Address last) {
    first = std::max(first & ~Address{7}, kWindow);
    last = std::min(last, kWindow + kWindowSize);
    for (Address at = first; at < last; at += 8) {
      Region& region = *region_at(at);
      ASSERT_EQ(cell_value(region, at), cells_of(at, 8).front()) << "at " << at - kWindow;
      if (is_uniform(page_in(region, at))) {
        ASSERT_EQ(cell_in(region, at), kUntouched) << "under a page, at " << at - kWindow;
      }
    }
  }

 private:
  std::ranges::subrange<std::vector<Cell>::iterator> cells_of(Address start, std::size_t size) {
    const auto first = cells_.begin() + static_cast<std::ptrdiff_t>((start - kWindow) / 8);
    return {first, first + static_cast<std::ptrdiff_t>((size + 7) / 8)};
  }

  std::vector<Cell> cells_ = std::vector<Cell>(kWindowSize / 8, kUntouched);
};

// Mostly within a few pages, now and then so large that the memory of the cells is given back.
std::size_t random_size(std::mt19937_64& random, Address start) {
  constexpr std::size_t kSizes[] = {8, 64, kPageSize, 3 * kPageSize, 768U << 10};
  const std::size_t size = 1 + below(random, kSizes[below(random, std::size(kSizes))]);
  return std::min<std::size_t>(size, kWindow + kWindowSize - start);
}

TEST(Shadow, PagesOfOneStateAreAsTheirCellsWouldBe) {
  ASSERT_TRUE(regions != nullptr || set_up_shadow());
  std::mt19937_64 random(7);
  ModelOfCells model;
  const std::vector<Cell> states = {local_to(1), local_to(5), kIgnored};
  for (int step = 0; step < 20000; ++step) {
    // Half of it where a few pages meet at the border, so that it comes together.
    const Address start = below(random, 2) == 0 ? kWindow + below(random, kWindowSize)
                                                : kWindow + kWindowSize / 2 - 2 * kPageSize +
                                                      below(random, 4 * kPageSize);
    const Cell state = states[below(random, states.size())];
    const Cell shared = shared_exclusive(3, below(random, 100));
    const std::size_t size = random_size(random, start);
    switch (below(random, 8)) {
      case 0:
      case 1:
      case 2:
        model.page_becomes(start & ~(kPageSize - 1), state);
        break;
      case 3:
        model.unfolds(start);
        break;
      case 4:
        model.unfolds_to(start, shared);
        break;
      case 5:
        model.cell_becomes(start & ~Address{7}, below(random, 2) == 0 ? shared : state);
        break;
      default:
        model.forgets(start, size);
        break;
    }
    model.expect_same((start & ~(kPageSize - 1)) - kPageSize, start + 2 * kPageSize);
    if (step % 500 == 0) model.expect_same(kWindow, kWindow + kWindowSize);
    if (HasFatalFailure()) FAIL() << "step " << step;
  }
}

TEST(Shadow, ObjectsAreFoundFromWithin) {
  ASSERT_TRUE(regions != nullptr || set_up_shadow());
  std::mt19937_64 random(8);
  std::map<Address, Object> objects;
  const auto holder = [&](Address inside) -> Object {
    auto next = objects.upper_bound(inside);
    if (next == objects.begin()) return {};
    const Object& object = std::prev(next)->second;
    return inside - object.start < object.size ? object : Object{};
  };
  for (int step = 0; step < 20000; ++step) {
    const Address at = kWindow + 16 * below(random, kWindowSize / 16);
    // Small ones, and some for the list of large objects.
    const std::size_t size = 17 + below(random, below(random, 8) == 0 ? 100'000 : 300);
    const auto next = objects.lower_bound(at);
    if (const Object old = holder(at); old.start != 0) {
      if (below(random, 2) == 0) {
        EXPECT_EQ(mark_escaped(old.start), !old.escaped);
        objects[old.start].escaped = true;
      } else {
        EXPECT_EQ(remove_object(old.start).size, old.size);
        objects.erase(old.start);
      }
    } else if (at + size + 16 < kWindow + kWindowSize &&
               (next == objects.end() || next->first >= at + size)) {
      const Address pc = 0x40'0000 + below(random, 1U << 20);
      const Address caller = below(random, 2) == 0 ? 0 : pc + below(random, 1U << 16);
      add_object(at, size, pc, caller);
      objects[at] = {.start = at, .size = size, .pc = pc, .caller = caller};
    }
    for (const Address inside : {at, at + size - 1, kWindow + below(random, kWindowSize)}) {
      const Object expected = holder(inside);
      const Object found = find_object(inside);
      ASSERT_EQ(found.start, expected.start) << "step " << step;
      ASSERT_EQ(found.size, expected.size) << "step " << step;
      ASSERT_EQ(found.pc, expected.pc) << "step " << step;
      ASSERT_EQ(found.caller, expected.caller) << "step " << step;
      ASSERT_EQ(found.escaped, expected.escaped) << "step " << step;
    }
  }
  for (const auto& [start, object] : objects) remove_object(start);
}

}  // namespace
}  // namespace tomos::runtime
