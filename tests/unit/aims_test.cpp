// What a campaign takes for its aims: cuts that no serial order explains, and that locks allow.
#include "campaign/aims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tomos::campaign {
namespace {

using schedule::Aim;
using schedule::Mark;
using schedule::Step;

Step step(std::uint32_t thread, schedule::Kind kind, std::uint64_t object, std::uint64_t place,
          std::vector<std::uint64_t> held = {}, std::uint32_t block = 0) {
  Step result = {.thread = thread, .kind = kind, .block = block, .object = object, .place = place};
  std::ranges::copy(held, result.held);
  return result;
}

// All that is drawn, as "cut from-to".
std::set<std::string> drawn(const std::vector<Step>& log) {
  Aims aims;
  aims.add(log);
  std::set<std::string> all;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Aim aim = aims.draw(seed);
    if (aim.cut.place == 0) continue;
    all.insert(std::to_string(aim.cut.place) + " " + std::to_string(aim.from.place) + "-" +
               std::to_string(aim.to.place));
  }
  return all;
}

constexpr std::uint64_t kX = 1000;
constexpr std::uint64_t kY = 2000;
using Texts = std::set<std::string>;

TEST(Aims, NothingOnRecordGivesNone) {
  EXPECT_TRUE(Aims().empty());
  EXPECT_EQ(Aims().draw(1).cut.place, 0);
  EXPECT_EQ(drawn({step(1, schedule::Kind::kLock, kX, 10), step(1, schedule::Kind::kLock, kX, 11)}),
            Texts{});
}

TEST(Aims, AWriteBetweenTwoReads) {
  EXPECT_EQ(drawn({step(1, schedule::Kind::kRead, kX, 10), step(1, schedule::Kind::kRead, kX, 11),
                   step(2, schedule::Kind::kWrite, kX, 20)}),
            Texts{"11 20-20"});
  EXPECT_EQ(drawn({step(1, schedule::Kind::kRead, kX, 10), step(1, schedule::Kind::kRead, kX, 11),
                   step(2, schedule::Kind::kRead, kX, 20)}),
            Texts{});
}

TEST(Aims, TwoLocksOneAfterTheOther) {
  EXPECT_EQ(drawn({step(1, schedule::Kind::kLock, kX, 10), step(1, schedule::Kind::kLock, kY, 11),
                   step(2, schedule::Kind::kLock, kX, 20), step(2, schedule::Kind::kLock, kY, 21)}),
            (Texts{"11 20-21", "21 10-11"}));
}

TEST(Aims, NobodyComesWhereALockIsHeld) {
  EXPECT_EQ(
      drawn({step(1, schedule::Kind::kLock, kX, 10), step(1, schedule::Kind::kLock, kY, 11, {kX}),
             step(2, schedule::Kind::kLock, kX, 20), step(2, schedule::Kind::kLock, kY, 21, {kX})}),
      Texts{});
  EXPECT_EQ(drawn({step(1, schedule::Kind::kRead, kX, 10, {kY}),
                   step(1, schedule::Kind::kWrite, kX, 11, {kY}),
                   step(2, schedule::Kind::kWrite, kX, 20, {kY})}),
            Texts{});
}

TEST(Aims, ALockTakenAgainWasNotHeldAllTheTime) {
  EXPECT_EQ(
      drawn({step(1, schedule::Kind::kRead, kX, 10, {kY}), step(1, schedule::Kind::kLock, kY, 11),
             step(1, schedule::Kind::kWrite, kX, 12, {kY}),
             step(2, schedule::Kind::kWrite, kX, 20, {kY})})
          .count("12 20-20"),
      1);
}

TEST(Aims, LocksInTheOtherOrder) {
  EXPECT_EQ(
      drawn({step(1, schedule::Kind::kLock, kX, 10), step(1, schedule::Kind::kLock, kY, 11, {kX}),
             step(2, schedule::Kind::kLock, kY, 20), step(2, schedule::Kind::kLock, kX, 21, {kY})}),
      (Texts{"11 20-20", "21 10-10"}));
}

// Where the other was when the first came to be cut: only if its part came after that, and if
// nothing on the way to it needs a lock of the first.
TEST(Aims, WhereTheOtherWasOnRecord) {
  const auto then = [](const std::vector<Step>& log) {
    Aims aims;
    aims.add(log);
    return aims.draw(1).then.place;
  };
  const Step first = step(1, schedule::Kind::kRead, kX, 10, {kY});
  const Step second = step(1, schedule::Kind::kRead, kX, 11, {kY});
  const Step write = step(2, schedule::Kind::kWrite, kX, 22);
  const Step free = step(2, schedule::Kind::kWrite, 3000, 21);
  const Step locked = step(2, schedule::Kind::kLock, kY, 21);
  EXPECT_EQ(then({free, first, second, write}), 22);
  EXPECT_EQ(then({first, second, free, write}), 21);
  EXPECT_EQ(then({first, second, locked, write}), 0);
  EXPECT_EQ(then({free, write, first, second}), 0);
}

TEST(Aims, WhatMayComeInBetweenIsTriedMoreOftenThanWhatMayNot) {
  Aims aims;
  aims.add(
      std::vector{step(2, schedule::Kind::kWrite, kX, 20), step(1, schedule::Kind::kRead, kX, 10),
                  step(1, schedule::Kind::kRead, kX, 11), step(2, schedule::Kind::kWrite, kX, 21)});
  std::map<std::uint64_t, int> count;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) ++count[aims.draw(seed).from.place];
  EXPECT_NEAR(count[21], 750, 50);
  EXPECT_NEAR(count[20], 125, 40);  // the rest comes between the two writes
}

TEST(Aims, ThreadsThatBeginAtOnePlaceAreOneRole) {
  Aims aims;
  std::vector<Step> log = {step(1, schedule::Kind::kRead, kX, 10),
                           step(1, schedule::Kind::kRead, kX, 11)};
  for (std::uint32_t thread = 2; thread < 12; ++thread) {
    log.push_back(step(thread, schedule::Kind::kWrite, kX, 20));
    log.push_back(step(thread, schedule::Kind::kWrite, kX, 21));
  }
  aims.add(log);
  int reader = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    reader += aims.draw(seed).cut.thread == 1 ? 1 : 0;
  // Of what came later: half. What came before has only the writers, cut by the reader.
  EXPECT_NEAR(reader, 375, 60);
}

// The same write may come between two reads under a lock that the writer does not take, and between
// two reads without.
TEST(Aims, ALockThatDoesNotKeepOthersOutIsPromising) {
  Aims aims;
  aims.add(std::vector{
      step(1, schedule::Kind::kRead, kX, 10, {kY}), step(1, schedule::Kind::kRead, kX, 11, {kY}),
      step(1, schedule::Kind::kRead, 3000, 12), step(1, schedule::Kind::kRead, 3000, 13),
      step(2, schedule::Kind::kWrite, kX, 20), step(2, schedule::Kind::kWrite, 3000, 21)});
  int locked = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    locked += aims.draw(seed).cut.place == 11 ? 1 : 0;
  EXPECT_NEAR(locked, 875, 40);
}

TEST(Aims, TheOtherMostlyComesToTheObjectsInTheSameOrder) {
  Aims aims;
  aims.add(
      std::vector{step(1, schedule::Kind::kWrite, kX, 10), step(1, schedule::Kind::kWrite, kY, 11),
                  step(2, schedule::Kind::kRead, kX, 20), step(2, schedule::Kind::kRead, kY, 21),
                  step(3, schedule::Kind::kRead, kY, 30), step(3, schedule::Kind::kRead, kX, 31)});
  int same_order = 0;
  int cut_there = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Aim aim = aims.draw(seed);
    if (aim.cut.place != 11) continue;
    ++cut_there;
    same_order += aim.from.place == 20 ? 1 : 0;
  }
  EXPECT_GT(cut_there, 300);
  EXPECT_NEAR(same_order, 0.875 * cut_there, 40);
}

TEST(Aims, WhatWasTriedInVainIsTriedLast) {
  Aims aims;
  aims.add(
      std::vector{step(1, schedule::Kind::kRead, kX, 10), step(1, schedule::Kind::kRead, kX, 11),
                  step(1, schedule::Kind::kRead, kX, 12), step(2, schedule::Kind::kWrite, kX, 20)});
  std::map<std::uint64_t, Aim> all;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Aim aim = aims.draw(seed);
    EXPECT_FALSE(aims.is_put_back(aim));
    all[aim.cut.place] = aim;
  }
  ASSERT_EQ(all.size(), 2);
  aims.put_back(all[11]);
  EXPECT_TRUE(aims.is_put_back(all[11]));
  int again = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed)
    again += aims.draw(seed).cut.place == 11 ? 1 : 0;
  EXPECT_LT(again, 5);  // one of sixty thousand
  // If there is nothing else, it is drawn again, and says so.
  aims.put_back(all[12]);
  EXPECT_TRUE(aims.is_put_back(aims.draw(1)));
  EXPECT_NE(aims.draw(1).cut.place, 0);
}

TEST(Aims, PassesAreCounted) {
  Aims aims;
  std::vector<Step> log(3, step(1, schedule::Kind::kWrite, kX, 10));
  log.push_back(step(2, schedule::Kind::kWrite, kX, 20));
  aims.add(log);
  std::set<std::uint32_t> nths;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) nths.insert(aims.draw(seed).cut.nth);
  EXPECT_EQ(nths, (std::set<std::uint32_t>{2, 3}));
}

TEST(Aims, ASeedStandsForOneAim) {
  Aims aims;
  std::vector<Step> log;
  log.reserve(40);
  for (std::uint64_t i = 0; i < 40; ++i) {
    log.push_back(step(static_cast<std::uint32_t>(i % 3), schedule::Kind::kWrite, kX, 10 + i));
  }
  aims.add(log);
  const Aims same = aims;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_EQ(aims.draw(seed).cut.place, same.draw(seed).cut.place);
  }
}

// Where a mark is in what its thread did.
std::size_t position(const std::vector<Step>& steps, const Mark& mark) {
  std::uint32_t passed = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    passed += steps[i].place == mark.place ? 1 : 0;
    if (passed == mark.nth && steps[i].place == mark.place) return i;
  }
  return steps.size();
}

bool conflict(const Step& one, const Step& other) {
  return one.object == other.object &&
         (one.kind == schedule::Kind::kWrite || other.kind == schedule::Kind::kWrite);
}

TEST(Aims, EveryAimIsACycle) {
  std::mt19937 chance(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<Step> log;
    std::map<std::uint32_t, std::vector<Step>> threads;
    for (int i = 0; i < 30; ++i) {
      const auto thread = static_cast<std::uint32_t>(chance() % 3);
      log.push_back(step(thread, chance() % 2 == 0 ? schedule::Kind::kRead : schedule::Kind::kWrite,
                         1000 + chance() % 4, 100 * thread + 1 + chance() % 6));
      threads[thread].push_back(log.back());
    }
    Aims aims;
    aims.add(log);
    for (std::uint64_t seed = 1; seed <= 50 && !aims.empty(); ++seed) {
      const Aim aim = aims.draw(seed);
      ASSERT_NE(aim.cut.thread, aim.from.thread);
      ASSERT_EQ(aim.from.thread, aim.to.thread);
      const auto& one = threads[aim.cut.thread];
      const auto& other = threads[aim.from.thread];
      const std::size_t cut = position(one, aim.cut);
      const std::size_t from = position(other, aim.from);
      const std::size_t to = position(other, aim.to);
      ASSERT_LT(cut, one.size());
      ASSERT_LE(from, to);
      ASSERT_LT(to, other.size());
      // One end conflicts with the cut, the other with some step before it.
      const auto meets_earlier = [&](const Step& end) {
        return std::any_of(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(cut),
                           [&](const Step& first) { return conflict(first, end); });
      };
      const bool forth = conflict(one[cut], other[to]) && meets_earlier(other[from]);
      const bool back = conflict(one[cut], other[from]) && meets_earlier(other[to]);
      EXPECT_TRUE(forth || back) << "round " << round << " seed " << seed;
    }
  }
}

}  // namespace
}  // namespace tomos::campaign
