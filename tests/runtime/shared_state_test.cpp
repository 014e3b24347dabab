// What all threads share, piece by piece: the clock, the spin lock and the table behind it, shadow
// memory, the list of large objects. Addresses are made up: none of it looks into memory.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/address_table.h"
#include "runtime/clock.h"
#include "runtime/large_objects.h"
#include "runtime/shadow.h"
#include "runtime/spin_lock.h"

namespace tomos::runtime {
namespace {

constexpr std::uint32_t kWorkers = 4;
constexpr std::uint32_t kRounds = 2000;
constexpr Address kMemory = 0x1234'0000'0000;

// Work for each thread, by number, all at once.
void in_threads(const std::function<void(std::uint32_t)>& work) {
  std::atomic<std::uint32_t> here = 0;
  std::vector<std::thread> all;
  all.reserve(kWorkers);
  for (std::uint32_t i = 0; i < kWorkers; ++i) {
    all.emplace_back([&, i] {
      ++here;
      while (here < kWorkers) std::this_thread::yield();
      work(i);
    });
  }
  for (std::thread& thread : all) thread.join();
}

void set_up() {
  static const bool done = set_up_shadow();
  ASSERT_TRUE(done);
}

std::atomic<Cell>& cell_at(Address address) {
  Region* region = region_of(address);
  return cell_in(region == nullptr ? *make_region(address) : *region, address);
}

TEST(SharedState, StampsFollowTheOrderOfALock) {
  SpinLock lock;
  Stamp last = 0;  // guarded by the lock, as a program's data is by its own
  std::uint32_t backwards = 0;
  in_threads([&](std::uint32_t) {
    Stamp own = ticks();
    for (std::uint32_t turn = 0; turn < kRounds; ++turn) {
      const Guard guard(lock);
      own = follow(kMemory, own);
      if (own <= last) ++backwards;
      last = own;
      leave(kMemory, own);
    }
  });
  EXPECT_EQ(backwards, 0U);
}

TEST(SharedState, TableKeepsWhatEachThreadPutIn) {
  AddressTable<std::uint32_t> table;
  std::atomic<std::uint32_t> wrong = 0;
  in_threads([&](std::uint32_t thread) {
    for (std::uint32_t turn = 0; turn < kRounds; ++turn) {
      // Few buckets' worth of keys, so that threads meet in the chains.
      const Address key = kMemory + Address{turn % 64} * kWorkers + thread;
      const Guard guard(table.lock());
      if (auto* old = table.find(key); old != nullptr) {
        if (old->value != thread) ++wrong;
        table.remove(old);
        table.give_back(old);
      } else if (auto* fresh = table.make(); fresh != nullptr) {
        fresh->value = thread;
        table.insert(fresh, key);
      }
    }
  });
  EXPECT_EQ(wrong, 0U);
}

TEST(SharedState, AllThreadsSeeOneRegion) {
  set_up();
  constexpr std::uint32_t kRegions = 64;
  std::array<std::array<std::atomic<Cell>*, kWorkers>, kRegions> cells = {};
  in_threads([&](std::uint32_t thread) {
    for (std::uint32_t i = 0; i < kRegions; ++i) {
      cells[i][thread] = &cell_at(kMemory + i * kRegionSize);
      cells[i][thread]->fetch_add(1);
    }
  });
  for (const auto& region : cells) {
    for (const auto* cell : region) EXPECT_EQ(cell, region[0]);
    EXPECT_EQ(*region[0], kWorkers);
  }
}

TEST(SharedState, ACellChangesHandsOneAccessAtATime) {
  set_up();
  std::atomic<Cell>& cell = cell_at(kMemory + 0x1000);
  cell = shared_exclusive(0, 1);
  std::atomic<std::uint32_t> backwards = 0;
  in_threads([&](std::uint32_t thread) {
    for (std::uint32_t turn = 0; turn < kRounds; ++turn) {
      Cell old = cell.load(std::memory_order_relaxed);
      Cell fresh = 0;
      do {
        fresh = after_access(old, thread, true, ticks());
      } while (!cell.compare_exchange_weak(old, fresh));
      const bool changed = !is_exclusive_to(old, thread);
      if (changed != ((fresh & kVersionMask) > (old & kVersionMask))) ++backwards;
    }
  });
  EXPECT_EQ(backwards, 0U);
}

// Objects of all threads lie side by side, small and large ones.
TEST(SharedState, ObjectsOfOthersAreNotInTheWay) {
  set_up();
  constexpr Address kSmall = 64;
  constexpr Address kLarge = 65536;
  std::atomic<std::uint32_t> wrong = 0;
  in_threads([&](std::uint32_t thread) {
    for (std::uint32_t turn = 0; turn < kRounds; ++turn) {
      const Address size = turn % 4 == 0 ? kLarge : kSmall;
      const Address base = kMemory + (size == kLarge ? kRegionSize : 0x100000);
      const Address start = base + ((turn % 16) * kWorkers + thread) * size;
      add_object(start, size, thread + 1);
      const Object found = find_object(start + size / 2);
      if (found.start != start || found.size != size || found.pc != thread + 1) ++wrong;
      forget_cells(start, size);
      if (remove_object(start).start != start) ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0U);
}

TEST(SharedState, OneThreadMakesAnObjectEscape) {
  set_up();
  constexpr std::uint32_t kObjects = 256;
  const auto start = [](std::uint32_t i) { return kMemory + 0x300000 + i * Address{64}; };
  for (std::uint32_t i = 0; i < kObjects; ++i) add_object(start(i), 64, 1);
  std::atomic<std::uint32_t> first = 0;
  in_threads([&](std::uint32_t) {
    for (std::uint32_t i = 0; i < kObjects; ++i) {
      if (mark_escaped(start(i))) ++first;
    }
  });
  EXPECT_EQ(first, kObjects);
  EXPECT_TRUE(find_object(start(3) + 8).escaped);
}

}  // namespace
}  // namespace tomos::runtime
