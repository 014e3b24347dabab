// Atomic operations and annotations: what they do, and what is told of them.
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "log.h"
#include "runtime/abi.h"

// As the compilers call them.
// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses)
__extension__ using Wide = unsigned __int128;
extern "C" {
#define ATOMICS(bits, Value)                                                                   \
  Value __tsan_atomic##bits##_load(const volatile Value*, int);                                \
  void __tsan_atomic##bits##_store(volatile Value*, Value, int);                               \
  Value __tsan_atomic##bits##_exchange(volatile Value*, Value, int);                           \
  Value __tsan_atomic##bits##_fetch_add(volatile Value*, Value, int);                          \
  Value __tsan_atomic##bits##_fetch_sub(volatile Value*, Value, int);                          \
  Value __tsan_atomic##bits##_fetch_and(volatile Value*, Value, int);                          \
  Value __tsan_atomic##bits##_fetch_or(volatile Value*, Value, int);                           \
  Value __tsan_atomic##bits##_fetch_xor(volatile Value*, Value, int);                          \
  Value __tsan_atomic##bits##_fetch_nand(volatile Value*, Value, int);                         \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile Value*, Value*, Value, int, int); \
  Value __tsan_atomic##bits##_compare_exchange_val(volatile Value*, Value, Value, int, int);
ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)
ATOMICS(128, Wide)
void __tsan_mutex_pre_lock(void*, unsigned);
void __tsan_mutex_post_lock(void*, unsigned, int);
int __tsan_mutex_pre_unlock(void*, unsigned);
void __tsan_mutex_post_unlock(void*, unsigned);
}

namespace tomos::test {
namespace {

constexpr int kOrder = __ATOMIC_SEQ_CST;

#define CHECK_ATOMICS(bits, Value)                                                                \
  TEST(InterposeAtomics, Bits##bits) {                                                            \
    const std::size_t start = told_so_far();                                                      \
    alignas(16) static Value place = 0;                                                           \
    const auto high = static_cast<Value>(Value{1} << (bits - 1));                                 \
    __tsan_atomic##bits##_store(&place, 5, __ATOMIC_RELEASE);                                     \
    EXPECT_TRUE(__tsan_atomic##bits##_load(&place, __ATOMIC_RELAXED) == 5);                       \
    EXPECT_TRUE(__tsan_atomic##bits##_exchange(&place, high, kOrder) == 5);                       \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_add(&place, 3, kOrder) == high);                      \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_sub(&place, 1, kOrder) == high + 3);                  \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_or(&place, 4, kOrder) == high + 2);                   \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_and(&place, 6, kOrder) == high + 6);                  \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_xor(&place, 5, kOrder) == 6);                         \
    EXPECT_TRUE(__tsan_atomic##bits##_fetch_nand(&place, 1, kOrder) == 3);                        \
    Value expected = 9;                                                                           \
    const auto found = static_cast<Value>(~Value{1});                                             \
    EXPECT_EQ(__tsan_atomic##bits##_compare_exchange_strong(&place, &expected, 1, kOrder, 0), 0); \
    EXPECT_TRUE(expected == found);                                                               \
    EXPECT_EQ(__tsan_atomic##bits##_compare_exchange_strong(&place, &expected, 1, kOrder, 0), 1); \
    EXPECT_TRUE(__tsan_atomic##bits##_compare_exchange_val(&place, 1, 7, kOrder, 0) == 1);        \
    EXPECT_TRUE(__tsan_atomic##bits##_compare_exchange_val(&place, 1, 8, kOrder, 0) == 7);        \
    EXPECT_EQ(told_of(&place, start),                                                             \
              "atomic_write atomic_read atomic_update atomic_update atomic_update "               \
              "atomic_update atomic_update atomic_update atomic_update atomic_read "              \
              "atomic_update atomic_update atomic_read");                                         \
  }
CHECK_ATOMICS(8, std::uint8_t)
CHECK_ATOMICS(16, std::uint16_t)
CHECK_ATOMICS(32, std::uint32_t)
CHECK_ATOMICS(64, std::uint64_t)
CHECK_ATOMICS(128, Wide)

TEST(InterposeAtomics, WideIsIndivisible) {
  alignas(16) Wide place = 0;
  constexpr Wide kBoth = (Wide{1} << 64) + 1;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 5000; ++j) __tsan_atomic128_fetch_add(&place, kBoth, kOrder);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(place == 20'000 * kBoth);
}

// The inline look at a guard that was set is a wait, once a thread, and never a variable.
TEST(InterposeAtomics, Guard) {
  const std::size_t start = told_so_far();
  __cxxabiv1::__guard guard = 0;
  auto* const byte = reinterpret_cast<std::uint8_t*>(&guard);
  const auto look = [&] { return __tsan_atomic8_load(byte, __ATOMIC_ACQUIRE) != 0; };
  EXPECT_FALSE(look());
  ASSERT_EQ(abi::__cxa_guard_acquire(&guard), 1);
  abi::__cxa_guard_release(&guard);
  std::thread([&] {
    EXPECT_TRUE(look());
    EXPECT_TRUE(look());
  }).join();
  EXPECT_EQ(told_of(&guard, start), "atomic_read signal wait_over");
}

// What a lock of the program's own does inside is left out.
TEST(InterposeAnnotations, Mutex) {
  std::uint32_t lock = 0;
  const std::size_t start = told_so_far();
  constexpr unsigned kTryLockFailed = 1U << 5;
  __tsan_mutex_pre_lock(&lock, 0);
  __tsan_atomic32_exchange(&lock, 1, kOrder);
  __tsan_mutex_post_lock(&lock, 0, 0);
  __tsan_mutex_pre_lock(&lock, 0);
  __tsan_mutex_post_lock(&lock, kTryLockFailed, 0);
  __tsan_mutex_pre_unlock(&lock, 0);
  __tsan_atomic32_store(&lock, 0, kOrder);
  __tsan_mutex_post_unlock(&lock, 0);
  EXPECT_EQ(told_of(&lock, start), "acquired releasing");
}

TEST(InterposeAnnotations, StandardLibrary) {
  int object = 0;
  const std::size_t start = told_so_far();
  __tomos_std_barrier_arrive(&object, 3);
  __tomos_std_barrier_leave(&object);
  __tomos_std_barrier_arrive(&object, 0);
  __tomos_std_signal(&object);
  __tomos_std_wait_over(&object, false);
  __tomos_std_wait_over(&object, true);
  __tomos_semaphore_release(&object, 2);
  __tomos_semaphore_acquired(&object, false, 2);
  __tomos_semaphore_acquired(&object, true, 1);
  EXPECT_EQ(told_of(&object, start), "arrive:3 leave signal signal wait_over posting:2 passed:1");
}

}  // namespace
}  // namespace tomos::test
// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)
