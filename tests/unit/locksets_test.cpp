#include "monitor/locksets.h"

#include <gtest/gtest.h>

#include <vector>

namespace tomos {
namespace {

using Locks = std::vector<LockId>;

TEST(Locksets, OneNumberForEachSet) {
  Locksets sets;
  EXPECT_EQ(sets.intern({}), 0U);
  const LocksetId one = sets.intern({7});
  const LocksetId two = sets.intern({7, 3});
  EXPECT_EQ(sets.intern({3, 7}), two);
  EXPECT_NE(one, two);
  EXPECT_EQ(sets.locks(0), Locks{});
  EXPECT_EQ(sets.locks(one), Locks{7});
  EXPECT_EQ(sets.locks(two), (Locks{3, 7}));
}

TEST(Locksets, ManySetsStayApart) {
  Locksets sets;
  std::vector<LocksetId> ids(2000);
  for (LockId i = 0; i < 2000; ++i) ids[i] = sets.intern({i, i + 1});
  for (LockId i = 0; i < 2000; ++i) {
    EXPECT_EQ(sets.intern({i + 1, i}), ids[i]);
    EXPECT_EQ(sets.locks(ids[i]), (Locks{i, i + 1}));
  }
}

TEST(Locksets, ForgetsWhatIsNotUsed) {
  Locksets sets(10);
  std::vector<LocksetId> ids(11);
  for (LockId i = 0; i < 11; ++i) ids[i] = sets.intern({i, i + 1});
  EXPECT_TRUE(sets.wants_collection());
  std::vector<bool> used(sets.ids());
  used[ids[4]] = true;
  sets.collect(used);
  EXPECT_FALSE(sets.wants_collection());
  EXPECT_EQ(sets.locks(ids[4]), (Locks{4, 5}));
  EXPECT_EQ(sets.intern({4, 5}), ids[4]);
  // The numbers of the others are given to new sets.
  const std::size_t before = sets.ids();
  for (LockId i = 100; i < 110; ++i)
    EXPECT_EQ(sets.locks(sets.intern({i, i + 1})), (Locks{i, i + 1}));
  EXPECT_EQ(sets.ids(), before);
}

TEST(HeldLocks, OnlyTheOutermostCounts) {
  Locksets sets;
  HeldLocks held;
  EXPECT_TRUE(held.acquire(5));
  EXPECT_FALSE(held.acquire(5));
  EXPECT_TRUE(held.acquire(9));
  EXPECT_EQ(sets.locks(held.id(sets)), (Locks{5, 9}));
  EXPECT_FALSE(held.release(5));
  EXPECT_EQ(sets.locks(held.id(sets)), (Locks{5, 9}));
  EXPECT_TRUE(held.release(5));
  EXPECT_EQ(sets.locks(held.id(sets)), Locks{9});
  EXPECT_TRUE(held.release(9));
  EXPECT_EQ(held.id(sets), 0U);
  EXPECT_FALSE(held.release(9));
}

}  // namespace
}  // namespace tomos
