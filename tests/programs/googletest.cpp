// Findings are attributed to the running test.
// LIBS: -lgtest -lgtest_main
// FINDS: label=add_if_room variable=count at=look,add test=Counting.InTwoThreads
#include <gtest/gtest.h>

#include <mutex>

#include "threads.h"

std::mutex mutex;
int count;

void add_if_room() {
  std::unique_lock lock(mutex);
  const bool room = count < 10;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  if (room) count++;  // @add
}

TEST(Counting, Alone) {
  add_if_room();
  EXPECT_EQ(count, 1);
}

TEST(Counting, InTwoThreads) {
  in_threads({[] { add_if_room(); }, [] { add_if_room(); }});
  EXPECT_EQ(count, 3);
}

TEST(Counting, AloneAgain) {
  add_if_room();
  EXPECT_EQ(count, 4);
}
