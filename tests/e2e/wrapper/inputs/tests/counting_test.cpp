#include <gtest/gtest.h>

#include <mutex>
#include <thread>

static std::mutex mutex;
static int count;

static int get() {
  const std::lock_guard<std::mutex> guard(mutex);
  return count;
}

static void set(int value) {
  const std::lock_guard<std::mutex> guard(mutex);
  count = value;
}

void increment_in_two_steps() { set(get() + 1); }

void increment() {
  const std::lock_guard<std::mutex> guard(mutex);
  ++count;
}

void reset() {
  set(0);
  set(get());
}

static void in_two_threads(void (*work)()) {
  std::thread one([work] { work(); });
  std::thread two([work] { work(); });
  one.join();
  two.join();
}

TEST(Counting, Alone) {
  increment_in_two_steps();
  EXPECT_GT(get(), 0);
}

TEST(Counting, InTwoSteps) {
  in_two_threads(increment_in_two_steps);
  EXPECT_GT(get(), 0);
}

TEST(Counting, AtOnce) {
  in_two_threads(increment);
  EXPECT_GT(get(), 1);
}

TEST(Counting, Reset) {
  in_two_threads(reset);
  EXPECT_EQ(get(), 0);
}
