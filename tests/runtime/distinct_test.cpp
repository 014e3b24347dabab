// The runtime's memory for fingerprints of transactions (runtime/distinct.h).
#include "runtime/distinct.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tomos::runtime {
namespace {

// Kept to the end, as the runtime keeps it.
struct Heap {
  static std::uint64_t* take(std::size_t words) {
    static std::mutex mutex;
    static std::vector<std::unique_ptr<std::uint64_t[]>> taken;
    const std::lock_guard lock(mutex);
    return taken.emplace_back(std::make_unique<std::uint64_t[]>(words)).get();
  }
  static void give_back(std::uint64_t*, std::size_t) {}
  static void clear(std::uint64_t* memory, std::size_t words) {
    for (std::size_t i = 0; i < words; ++i) std::atomic_ref(memory[i]).store(0);
  }
};

struct NoMemory {
  static std::uint64_t* take(std::size_t) { return nullptr; }
  static void give_back(std::uint64_t*, std::size_t) {}
  static void clear(std::uint64_t*, std::size_t) {}
};

using Many = Crowd<Heap, 6, 16>;
using Few = Distinct<Heap, Many>;

std::uint64_t fingerprint(std::uint64_t number) { return mixed(number, 1ULL << 40U); }

std::uint64_t known_of(Many& crowd, std::uint64_t count) {
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < count; ++i) known += crowd.add(fingerprint(i), 0) ? 0 : 1;
  return known;
}

// What is used moves on when it grows; few are forgotten because there was no room for them, and
// none is taken for another.
TEST(Crowd, KnowsWhatIsUsed) {
  const auto crowd = std::make_unique<Many>();
  constexpr std::uint64_t kCount = 10'000;
  EXPECT_EQ(known_of(*crowd, kCount), 0U);
  known_of(*crowd, kCount);
  EXPECT_GT(known_of(*crowd, kCount), kCount / 10 * 9);
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_TRUE(crowd->add(fingerprint(kCount + i), 0));
  EXPECT_GT(known_of(*crowd, kCount), kCount / 10 * 8);
}

TEST(Crowd, TellsMembersApart) {
  const auto crowd = std::make_unique<Many>();
  for (std::uint32_t member = 0; member < Many::kGroup; ++member) {
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(crowd->add(fingerprint(i), member));
  }
  for (std::uint32_t member = 0; member < Many::kGroup; ++member) {
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_FALSE(crowd->add(fingerprint(i), member));
  }
}

TEST(Crowd, IsFullAtItsLargest) {
  const auto crowd = std::make_unique<Crowd<Heap, 4, 6>>();
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_TRUE(crowd->add(fingerprint(i), 0));
}

TEST(Crowd, WithoutMemoryKnowsNothing) {
  const auto crowd = std::make_unique<Crowd<NoMemory, 4, 6>>();
  EXPECT_TRUE(crowd->add(fingerprint(1), 0));
  EXPECT_TRUE(crowd->add(fingerprint(1), 0));
}

// Whatever threads do to each other, none is told that it has what it never added.
TEST(Crowd, NeverKnowsWhatWasNotAdded) {
  const auto crowd = std::make_unique<Many>();
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (std::uint32_t member = 0; member < 4; ++member) {
    threads.emplace_back([&crowd, &wrong, member] {
      for (std::uint64_t i = 0; i < 20'000; ++i) {
        wrong += crowd->add(fingerprint(i), member) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(Distinct, MovesToTheCrowd) {
  const auto crowd = std::make_unique<Many>();
  Few one{};
  Few other{};
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < 4'000; ++i) {
    EXPECT_TRUE(one.add(fingerprint(i), 1, *crowd));
    EXPECT_TRUE(other.add(fingerprint(i), 17, *crowd));
    known += one.add(fingerprint(i / 2), 1, *crowd) ? 0 : 1;
  }
  EXPECT_GT(known, 3'600U);
}

TEST(Distinct, ForgetsWithThePeriod) {
  const auto crowd = std::make_unique<Many>();
  Few thread{};
  for (int period = 0; period < 3; ++period) {
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(thread.add(fingerprint(i), 1, *crowd));
    for (std::uint64_t i = 0; i < 10; ++i) EXPECT_FALSE(thread.add(fingerprint(i), 1, *crowd));
    thread.new_period();
  }
  for (int period = 0; period < 3; ++period) {
    for (std::uint64_t i = 0; i < 4'000; ++i) EXPECT_TRUE(thread.add(fingerprint(i), 1, *crowd));
    thread.new_period();
  }
}

}  // namespace
}  // namespace tomos::runtime
