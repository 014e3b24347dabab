// Thread periods against reachability in the graph that the paper draws.
#include "monitor/thread_periods.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace tomos {
namespace {

TEST(ThreadPeriods, ForkAndJoin) {
  ThreadPeriods periods(true);
  const PeriodId before = periods.current(0);
  periods.fork(0, 1);
  const PeriodId beside = periods.current(0);
  const PeriodId child = periods.current(1);
  periods.join(0, 1);
  const PeriodId after = periods.current(0);
  EXPECT_TRUE(periods.before(before, child));
  EXPECT_TRUE(periods.concurrent(beside, child));
  EXPECT_TRUE(periods.before(child, after));
  EXPECT_FALSE(periods.before(after, child));
  EXPECT_TRUE(periods.before(before, after));
}

TEST(ThreadPeriods, Barrier) {
  ThreadPeriods periods(true);
  const PeriodId first[] = {periods.current(0), periods.current(1), periods.current(2)};
  periods.barrier(0, 7, 2);
  EXPECT_EQ(periods.current(0), first[0]);
  periods.barrier(1, 7, 2);
  EXPECT_TRUE(periods.before(first[0], periods.current(1)));
  EXPECT_TRUE(periods.before(first[1], periods.current(0)));
  EXPECT_TRUE(periods.concurrent(periods.current(0), periods.current(1)));
  EXPECT_TRUE(periods.concurrent(first[2], periods.current(0)));
}

TEST(ThreadPeriods, SignalAndWait) {
  ThreadPeriods periods(true);
  const PeriodId before[] = {periods.current(0), periods.current(1), periods.current(2)};
  periods.signal(0, 7);
  periods.signal(1, 7);
  const PeriodId beside = periods.current(0);
  periods.wait(2, 8);  // nobody signalled that
  EXPECT_FALSE(periods.before(before[0], periods.current(2)));
  periods.wait(2, 7);
  EXPECT_TRUE(periods.before(before[0], periods.current(2)));
  EXPECT_TRUE(periods.before(before[1], periods.current(2)));
  EXPECT_TRUE(periods.concurrent(before[0], before[2]));
  EXPECT_TRUE(periods.concurrent(beside, periods.current(2)));
  const PeriodId after = periods.current(2);
  periods.wait(2, 7);
  EXPECT_NE(periods.current(2), after);  // nothing new, but a transaction is over
  periods.signal(2, 9);
  periods.wait(0, 9);
  EXPECT_TRUE(periods.before(before[1], periods.current(0)));  // by way of thread 2
}

TEST(ThreadPeriods, WithoutHappensBeforeAllThreadsAreConcurrent) {
  ThreadPeriods periods(false);
  const PeriodId parent = periods.current(0);
  periods.fork(0, 1);
  EXPECT_TRUE(periods.concurrent(parent, periods.current(1)));
  EXPECT_FALSE(periods.concurrent(parent, periods.current(0)));
}

// A random run, with the order kept as the plain set of all that comes before.
class Reference {
 public:
  void start(ThreadId thread, const std::vector<PeriodId>& after, PeriodId id) {
    reach_.resize(std::max<std::size_t>(reach_.size(), id + 1));
    for (const PeriodId one : after) {
      reach_[id].push_back(one);
      reach_[id].insert(reach_[id].end(), reach_[one].begin(), reach_[one].end());
    }
    thread_.resize(reach_.size());
    thread_[id] = thread;
  }
  bool before(PeriodId a, PeriodId b) const { return std::ranges::count(reach_[b], a) > 0; }
  bool concurrent(PeriodId a, PeriodId b) const {
    return thread_[a] != thread_[b] && !before(a, b) && !before(b, a);
  }

 private:
  std::vector<std::vector<PeriodId>> reach_;
  std::vector<ThreadId> thread_;
};

TEST(ThreadPeriods, AgreeWithReachability) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
    ThreadPeriods periods(true);
    Reference reference;
    std::vector<ThreadId> alive = {0, 1};
    ThreadId next = 2;
    reference.start(0, {}, periods.current(0));
    reference.start(1, {}, periods.current(1));
    for (int step = 0; step < 14; ++step) {
      const ThreadId thread = alive[below(alive.size())];
      const PeriodId old = periods.current(thread);
      switch (below(3)) {
        case 0:
          periods.fork(thread, next);
          reference.start(thread, {old}, periods.current(thread));
          reference.start(next, {old}, periods.current(next));
          alive.push_back(next++);
          break;
        case 1: {
          const ThreadId child = alive[below(alive.size())];
          if (child == thread) break;
          const PeriodId last = periods.current(child);
          periods.join(thread, child);
          reference.start(thread, {old, last}, periods.current(thread));
          std::erase(alive, child);
          break;
        }
        default: {
          std::vector<ThreadId> meeting = alive;
          std::ranges::shuffle(meeting, random);
          meeting.resize(1 + below(meeting.size()));
          std::vector<PeriodId> ended;
          ended.reserve(meeting.size());
          for (const ThreadId one : meeting) ended.push_back(periods.current(one));
          for (const ThreadId one : meeting) {
            periods.barrier(one, 0, static_cast<std::uint32_t>(meeting.size()));
          }
          for (const ThreadId one : meeting) reference.start(one, ended, periods.current(one));
        }
      }
    }
    const auto count = static_cast<PeriodId>(periods.size());
    for (PeriodId a = 0; a < count; ++a) {
      for (PeriodId b = 0; b < count; ++b) {
        ASSERT_EQ(periods.before(a, b), reference.before(a, b)) << seed << ": " << a << ' ' << b;
        if (periods.before(a, b)) ASSERT_LT(a, b);
      }
    }
    for (int set = 0; set < 30; ++set) {
      std::vector<PeriodId> a;
      std::vector<PeriodId> b;
      const std::uint32_t rare = 1 + below(6);
      for (PeriodId period = 0; period < count; ++period) {
        if (below(rare) == 0) a.push_back(period);
        if (below(rare) == 0) b.push_back(period);
      }
      bool expected = false;
      for (const PeriodId one : a) {
        for (const PeriodId other : b) expected |= reference.concurrent(one, other);
      }
      ASSERT_EQ(periods.any_concurrent(a, b), expected) << seed;
      PeriodSet first;
      PeriodSet second;
      std::ranges::shuffle(a, random);
      for (const PeriodId one : a) periods.add_to(first, one);
      for (const PeriodId one : b) periods.add_to(second, one);
      const auto found = periods.find_concurrent(first, second);
      ASSERT_EQ(found.has_value(), expected) << seed;
      if (found) {
        EXPECT_TRUE(periods.concurrent(found->first, found->second));
        EXPECT_TRUE(std::ranges::count(a, found->first) == 1);
        EXPECT_TRUE(std::ranges::count(b, found->second) == 1);
      }
    }
  }
}

TEST(ThreadPeriods, ASetOfNeighboursIsOneRun) {
  ThreadPeriods periods(true);
  PeriodSet set;
  for (int round = 0; round < 100'000; ++round) {
    for (ThreadId thread = 0; thread < 3; ++thread) {
      periods.add_to(set, periods.current(thread));
      periods.barrier(thread, 0, 3);
    }
  }
  EXPECT_EQ(set.runs().size(), 3U);
}

TEST(ThreadPeriods, AMillionPeriods) {
  ThreadPeriods periods(true);
  std::vector<PeriodId> parents;
  std::vector<PeriodId> children;
  for (ThreadId child = 1; child <= 333'333; ++child) {
    periods.fork(0, child);
    children.push_back(periods.current(child));
    periods.join(0, child);
    parents.push_back(periods.current(0));
  }
  EXPECT_GT(periods.size(), 999'999U);
  EXPECT_TRUE(periods.before(children.front(), children.back()));
  EXPECT_FALSE(periods.any_concurrent(parents, children));
  EXPECT_FALSE(periods.any_concurrent(children, children));
  children.push_back(periods.current(400'000));  // a thread that nobody forked
  EXPECT_TRUE(periods.any_concurrent(parents, children));
}

}  // namespace
}  // namespace tomos
