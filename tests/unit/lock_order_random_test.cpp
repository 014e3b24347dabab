// lock-order on random programs: small ones against all their interleavings, large ones against the
// clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "event/names.h"
#include "monitor/lock_order.h"
#include "monitor/lock_tree.h"
#include "report/finding.h"
#include "share.h"

namespace tomos {
namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool percent(std::uint32_t chance) { return below(100) < chance; }

 private:
  std::mt19937 engine_;
};

Event make(ThreadId thread, Op op, std::uint32_t object, std::uint32_t line = 0) {
  return {.thread = thread, .object = object, .location = kNumericLocation | line, .op = op};
}

struct Outcome {
  std::vector<Finding> findings;
  std::string unknown;
};

Outcome judge(const std::vector<Event>& trace, const AnalysisOptions& options = {}) {
  Names names;
  std::uint32_t threads = 0;
  std::uint32_t locks = 0;
  for (const Event& event : trace) {
    threads = std::max(threads, event.thread + 1);
    if (object_kind(event.op) == NameKind::kLock) locks = std::max(locks, event.object + 1);
  }
  for (std::uint32_t i = 0; i < threads; ++i) names.add(NameKind::kThread, "T" + std::to_string(i));
  for (std::uint32_t i = 0; i < locks; ++i) names.add(NameKind::kLock, "L" + std::to_string(i));
  LockOrder monitor(options);
  monitor.on_events(trace);
  monitor.finish();
  return {.findings = monitor.findings(names), .unknown = monitor.unknown()};
}

// A small program: what each thread does. Thread 0 may fork and join others; all meet at barriers.
// None of that happens under a lock, so whoever is stuck is stuck because of locks.
struct Program {
  std::vector<std::vector<Event>> threads;
};

using Positions = std::vector<std::size_t>;

class Runs {
 public:
  explicit Runs(const Program& program) : threads_(program.threads) {
    for (const std::vector<Event>& events : threads_) {
      for (const Event& event : events) {
        if (event.op == Op::kFork) forked_.insert(event.object);
      }
    }
  }

  bool is_over(const Positions& at) const {
    for (ThreadId thread = 0; thread < threads_.size(); ++thread) {
      if (at[thread] < threads_[thread].size()) return false;
    }
    return true;
  }

  // The threads that can take a step.
  std::vector<ThreadId> enabled(const Positions& at) const {
    std::vector<ThreadId> result;
    for (ThreadId thread = 0; thread < threads_.size(); ++thread) {
      if (can_go_on(at, thread)) result.push_back(thread);
    }
    return result;
  }

  // At a barrier all go on together, whoever takes the step.
  Positions after(Positions at, ThreadId thread) const {
    if (threads_[thread][at[thread]].op == Op::kBarrier) {
      for (std::size_t& position : at) ++position;
    } else {
      ++at[thread];
    }
    return at;
  }

  bool can_get_stuck() const {
    std::set<Positions> seen;
    std::vector<Positions> open = {Positions(threads_.size(), 0)};
    while (!open.empty()) {
      const Positions at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      const std::vector<ThreadId> next = enabled(at);
      if (next.empty() && !is_over(at)) return true;
      for (const ThreadId thread : next) open.push_back(after(at, thread));
    }
    return false;
  }

  // One run, unless it gets stuck.
  std::optional<std::vector<Event>> observe(Random& random) const {
    std::vector<Event> trace;
    Positions at(threads_.size(), 0);
    while (!is_over(at)) {
      const std::vector<ThreadId> next = enabled(at);
      if (next.empty()) return std::nullopt;
      const ThreadId thread = next[random.below(static_cast<std::uint32_t>(next.size()))];
      const Positions then = after(at, thread);
      for (ThreadId one = 0; one < threads_.size(); ++one) {
        if (then[one] > at[one]) trace.push_back(threads_[one][at[one]]);
      }
      at = then;
    }
    return trace;
  }

 private:
  bool can_go_on(const Positions& at, ThreadId thread) const {
    if (at[thread] == threads_[thread].size()) return false;
    if (forked_.contains(thread) && !has_forked(at, thread)) return false;
    const Event& event = threads_[thread][at[thread]];
    if (event.op == Op::kAcquire) {
      for (ThreadId other = 0; other < threads_.size(); ++other) {
        if (other != thread && holds(at, other, event.object)) return false;
      }
    }
    if (event.op == Op::kJoin) return at[event.object] == threads_[event.object].size();
    if (event.op == Op::kBarrier) {
      for (ThreadId other = 0; other < threads_.size(); ++other) {
        if (at[other] == threads_[other].size()) return false;
        if (threads_[other][at[other]].op != Op::kBarrier) return false;
      }
    }
    return true;
  }
  bool has_forked(const Positions& at, ThreadId thread) const {
    for (std::size_t i = 0; i < at[0]; ++i) {
      if (threads_[0][i].op == Op::kFork && threads_[0][i].object == thread) return true;
    }
    return false;
  }
  bool holds(const Positions& at, ThreadId thread, LockId lock) const {
    int depth = 0;
    for (std::size_t i = 0; i < at[thread]; ++i) {
      const Event& event = threads_[thread][i];
      if (event.object != lock) continue;
      if (event.op == Op::kAcquire) ++depth;
      if (event.op == Op::kRelease) --depth;
    }
    return depth > 0;
  }

  const std::vector<std::vector<Event>>& threads_;
  std::set<ThreadId> forked_;
};

class ProgramMaker {
 public:
  explicit ProgramMaker(Random& random) : random_(random) {}

  Program make_program() {
    const std::uint32_t threads = 2 + random_.below(2);
    locks_ = 2 + random_.below(2);
    program_.threads.resize(threads);
    const std::uint32_t kind = random_.below(3);
    const bool forks = kind == 1;
    const std::uint32_t phases = kind == 2 ? 2 : 1;
    if (forks) return forking();
    for (std::uint32_t phase = 0; phase < phases; ++phase) {
      for (ThreadId thread = 0; thread < threads; ++thread) {
        if (phase > 0) barrier(thread);
        nest(thread, 0, 2 + random_.below(5));
      }
    }
    return program_;
  }

 private:
  // Thread 0 starts each of the others somewhere between its own work, and may wait for them.
  Program forking() {
    std::vector<ThreadId> running;
    nest(0, 0, random_.below(4));
    for (ThreadId thread = 1; thread < program_.threads.size(); ++thread) {
      add(0, Op::kFork, thread);
      running.push_back(thread);
      nest(thread, 0, 2 + random_.below(5));
      nest(0, 0, random_.below(4));
      if (random_.percent(50)) {
        add(0, Op::kJoin, running.back());
        running.pop_back();
        nest(0, 0, random_.below(4));
      }
    }
    return program_;
  }

  // About so many acquires, properly nested.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as locks are nested.
  std::uint32_t nest(ThreadId thread, std::uint32_t depth, std::uint32_t acquires) {
    std::uint32_t made = 0;
    while (made < acquires) {
      const LockId lock = random_.below(locks_);
      add(thread, Op::kAcquire, lock);
      ++made;
      if (depth < 2 && random_.percent(70)) {
        made += nest(thread, depth + 1, std::min(acquires - made, 1 + random_.below(2)));
      }
      add(thread, Op::kRelease, lock);
      if (depth > 0 && random_.percent(50)) break;
    }
    return made;
  }
  void add(ThreadId thread, Op op, std::uint32_t object) {
    program_.threads[thread].push_back(make(thread, op, object, ++line_));
  }
  void barrier(ThreadId thread) {
    add(thread, Op::kBarrier, 0);
    program_.threads[thread].back().count = static_cast<std::uint16_t>(program_.threads.size());
  }

  Random& random_;
  Program program_;
  std::uint32_t locks_ = 0;
  std::uint32_t line_ = 0;
};

TEST(LockOrderRandom, MissesNoDeadlockOfSmallPrograms) {
  constexpr unsigned kPrograms = 6000 / kShare;
  unsigned deadlocks = 0;
  unsigned judged = 0;
  unsigned false_alarms = 0;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    Random random(seed);
    const Program program = ProgramMaker(random).make_program();
    const Runs runs(program);
    std::optional<std::vector<Event>> trace;
    for (int tries = 0; tries < 20 && !trace; ++tries) trace = runs.observe(random);
    if (!trace) continue;
    ++judged;
    const bool real = runs.can_get_stuck();
    const Outcome outcome = judge(*trace);
    ASSERT_EQ(outcome.unknown, "");
    if (real) {
      ++deadlocks;
      ASSERT_FALSE(outcome.findings.empty()) << "seed " << seed;
    } else if (!outcome.findings.empty()) {
      ++false_alarms;
    }
  }
  RecordProperty("judged", static_cast<int>(judged));
  RecordProperty("deadlocks", static_cast<int>(deadlocks));
  RecordProperty("false_alarms", static_cast<int>(false_alarms));
  EXPECT_GT(deadlocks, kPrograms / 20);
  EXPECT_GT(judged - deadlocks, kPrograms / 20);
  EXPECT_LE(false_alarms * 100, judged) << "of " << judged << ", " << deadlocks << " real";
}

// Takes the locks in this order and gives them back.
void nested(std::vector<Event>& trace, ThreadId thread, const std::vector<LockId>& locks,
            std::uint32_t line = 0) {
  for (const LockId lock : locks) trace.push_back(make(thread, Op::kAcquire, lock, line++));
  for (std::size_t i = locks.size(); i-- > 0;) {
    trace.push_back(make(thread, Op::kRelease, locks[i]));
  }
}

constexpr LockId kLocks = 50'000;
constexpr ThreadId kThreads = 8;

// Random nestings of two or three of many locks, so that nearly all locks are in one component.
// `first` is held round each of them.
std::vector<Event> many_locks(const std::vector<LockId>& first, bool one_after_the_other) {
  constexpr int kNestings = 100'000;
  Random random(7);
  std::vector<Event> trace;
  for (int i = 0; i < kNestings; ++i) {
    std::vector<LockId> locks = first;
    const std::size_t count = first.size() + 2 + random.below(2);
    while (locks.size() < count) {
      const LockId lock = random.below(kLocks);
      if (std::ranges::count(locks, lock) == 0) locks.push_back(lock);
    }
    // The threads after each other, or in turns.
    const auto step = static_cast<ThreadId>(i / (kNestings / static_cast<int>(kThreads)));
    const ThreadId thread = 1 + (one_after_the_other ? step : random.below(kThreads));
    nested(trace, thread, locks, 1 + random.below(5000));
  }
  if (!one_after_the_other) return trace;
  std::vector<Event> ordered;
  for (const Event& event : trace) {
    const ThreadId running = ordered.empty() ? 0 : ordered.back().thread;
    if (running != event.thread) {
      if (running != 0) ordered.push_back(make(0, Op::kJoin, running));
      ordered.push_back(make(0, Op::kFork, event.thread));
    }
    ordered.push_back(event);
  }
  return ordered;
}

TEST(LockOrderScale, ManyLocks) {
  const Outcome outcome = judge(many_locks({}, false));
  EXPECT_GT(outcome.findings.size(), 50U);
  EXPECT_NE(outcome.unknown, "");  // nobody can look at all of them
}

TEST(LockOrderScale, ManyLocksUnderOne) {
  const Outcome outcome = judge(many_locks({kLocks}, false));
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.unknown, "");
}

TEST(LockOrderScale, ManyLocksInOneThread) {
  std::vector<Event> trace = many_locks({}, false);
  for (Event& event : trace) event.thread = 1;
  nested(trace, 2, {kLocks, kLocks + 1});
  const Outcome outcome = judge(trace);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.unknown, "");
}

TEST(LockOrderScale, ManyLocksOneThreadAfterTheOther) {
  const std::vector<Event> trace = many_locks({}, true);
  const Outcome outcome = judge(trace);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_EQ(outcome.unknown, "");
  const Outcome stopped = judge(trace, {.stop = [] { return true; }});
  EXPECT_NE(stopped.unknown.find("interrupted"), std::string::npos) << stopped.unknown;
}

TEST(LockOrderScale, ALongCycle) {
  constexpr LockId kRing = 1000;
  std::vector<Event> trace;
  for (LockId i = 0; i < kRing; ++i) nested(trace, i, {i * 7 % kRing, (i * 7 + 7) % kRing}, i);
  const Outcome outcome = judge(trace);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].events.size(), 2 * kRing);
  EXPECT_EQ(outcome.findings[0].pattern, "L0->L7->L14->L21->...->L972->L979->L986->L993->L0");
  EXPECT_EQ(outcome.unknown, "");
}

TEST(LockOrderScale, ManyLocksAtOnce) {
  constexpr LockId kAll = 1500;
  std::vector<LockId> all(kAll);
  for (LockId i = 0; i < kAll; ++i) all[i] = i;
  std::vector<Event> trace;
  nested(trace, 1, all);
  nested(trace, 2, all);
  EXPECT_TRUE(judge(trace).findings.empty());
  nested(trace, 3, {kAll - 1, kAll - 2});
  const Outcome outcome = judge(trace);
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].events.size(), 4U);
  EXPECT_EQ(outcome.findings[0].events[1].locks.size(), kAll - 1);
}

TEST(LockOrderScale, EveryEventAtAPlaceOfItsOwn) {
  constexpr std::uint32_t kTimes = 100'000;
  constexpr std::size_t kPlaces = 1000;
  LockTree tree({}, kPlaces);
  std::vector<Event> trace;
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    nested(trace, 1, {0, 1, 2}, 1 + 10 * i);
    nested(trace, 2, {3, 1, 0}, 5 + 10 * i);
  }
  for (const Event& event : trace) tree.take(event);
  EXPECT_LT(tree.size(), kPlaces + 10);
  EXPECT_FALSE(tree.has_all_places());

  const Outcome outcome = judge(trace);
  EXPECT_EQ(outcome.findings.size(), 1000U);
}

TEST(LockOrderScale, ManyPeriods) {
  constexpr int kRounds = 200'000;
  std::vector<Event> trace;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 2 == 0) nested(trace, 0, {0, 1});
    if (round % 2 == 1) nested(trace, 1, {1, 0});
    for (const ThreadId thread : {0U, 1U}) {
      trace.push_back(make(thread, Op::kBarrier, 0));
      trace.back().count = 2;
    }
  }
  const Outcome before = judge(trace);
  EXPECT_TRUE(before.findings.empty());
  EXPECT_EQ(before.unknown, "");
  nested(trace, 0, {0, 1});
  nested(trace, 1, {1, 0});
  EXPECT_EQ(judge(trace).findings.size(), 1U);
}

}  // namespace
}  // namespace tomos
