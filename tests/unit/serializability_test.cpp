// Named cases for the serializability monitors: each says which events violate, for all three.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge.h"
#include "monitor/analyses.h"
#include "report/finding.h"
#include "trace/input.h"
#include "trace/std_text.h"
#include "trace/validate.h"

namespace tomos {
namespace {

using Numbers = std::vector<std::uint64_t>;  // of events, from 1
const Numbers kOk;

struct Seen {
  Numbers violating;
  std::vector<Finding> findings;
};

class Serializability : public testing::TestWithParam<std::string_view> {
 protected:
  static Seen judge(std::string_view words, Edges edges) {
    const std::string text = words_to_std(words);
    Validated source(read_std(std::make_unique<Input>(text, "trace")), "trace",
                     Validation::kStrict);
    Seen judgement;
    for (const Analysis& analysis : analyses()) {
      if (analysis.name != GetParam()) continue;
      const auto monitor =
          analysis.make({.edges = edges, .violating_events = &judgement.violating});
      for (Batch batch;;) {
        const Result<void> read = source.next(batch);
        EXPECT_TRUE(read) << read.error().where << ": " << read.error().what;
        if (!read || batch.events.empty()) break;
        monitor->on_events(batch.events);
      }
      monitor->finish();
      judgement.findings = monitor->findings(source.names());
      EXPECT_EQ(judgement.violating.empty(), judgement.findings.empty());
      for (std::uint64_t& number : judgement.violating) ++number;
      return judgement;
    }
    ADD_FAILURE() << "no analysis " << GetParam();
    return judgement;
  }

  static Numbers data(std::string_view words) { return judge(words, Edges::kData).violating; }
  static Numbers sync(std::string_view words) { return judge(words, Edges::kSync).violating; }
};

INSTANTIATE_TEST_SUITE_P(Monitors, Serializability,
                         testing::Values("conflict-graph", "summarized", "vector-clock"),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::erase(name, '-');
                           return name;
                         });

// "Monitoring Atomicity in Concurrent Programs", section 3: whoever deletes T2's transaction when
// it completes, and keeps only the edge from T1's to T3's, misses the cycle that the last event
// closes.
TEST_P(Serializability, CompletedTransactionsStillCount) {
  constexpr std::string_view kTrace =
      "T1|begin(t1) T1|r(x) T2|begin(t2) T2|w(x) T2|r(z) T3|begin(t3) T3|w(z) T2|end T1|w(x)";
  EXPECT_EQ(sync(kTrace), Numbers{9});
  const Seen judgement = judge(kTrace, Edges::kData);
  EXPECT_EQ(judgement.violating, Numbers{9});
  ASSERT_EQ(judgement.findings.size(), 1U);
  const Finding& finding = judgement.findings[0];
  ASSERT_EQ(finding.transactions.size(), 2U);
  EXPECT_EQ(finding.transactions[0].label, "t1");
  EXPECT_EQ(finding.transactions[0].thread, "T1");
  EXPECT_EQ(finding.transactions[1].label, "t2");
  ASSERT_EQ(finding.events.size(), 3U);
  EXPECT_EQ(finding.events[0].location.line, 2U);
  EXPECT_EQ(finding.events[1].location.line, 4U);
  EXPECT_EQ(finding.events[2].location.line, 9U);
  EXPECT_EQ(finding.edges.size(), 2U);
}

// A published vector-clock implementation misses this one.
TEST_P(Serializability, WriteBeforeAndInsideATransaction) {
  constexpr std::string_view kTrace =
      "T0|fork(T1) T1|begin T1|r(V0) T0|w(V0) T0|begin T0|w(V0) T0|end T1|r(V0) T1|end";
  EXPECT_EQ(data(kTrace), Numbers{8});
  EXPECT_EQ(sync(kTrace), Numbers{8});
}

TEST_P(Serializability, CycleOfThree) {
  constexpr std::string_view kTrace =
      "T1|begin(a) T1|w(x) T2|begin(b) T2|r(x) T2|w(y) T2|end T3|begin(c) T3|r(y) T3|w(z) T3|end "
      "T1|r(z) T1|end";
  const Seen judgement = judge(kTrace, Edges::kData);
  EXPECT_EQ(judgement.violating, Numbers{11});
  ASSERT_EQ(judgement.findings.size(), 1U);
  ASSERT_EQ(judgement.findings[0].transactions.size(), 3U);
  EXPECT_EQ(judgement.findings[0].transactions[0].label, "a");
  EXPECT_EQ(judgement.findings[0].edges.size(), 3U);
  EXPECT_EQ(sync(kTrace), Numbers{11});
}

TEST_P(Serializability, ChainWithoutCycleIsOk) {
  EXPECT_EQ(
      data("T1|begin T1|w(x) T2|begin T2|r(x) T2|w(y) T3|begin T3|r(y) T3|w(z) T1|r(u) T2|end "
           "T3|end T1|end"),
      kOk);
}

TEST_P(Serializability, CycleThroughSingleAccesses) {
  EXPECT_EQ(data("T1|begin T1|r(x) T2|w(x) T2|w(y) T1|r(y) T1|end"), Numbers{5});
  EXPECT_EQ(data("T1|begin T1|r(x) T2|w(x) T1|r(x) T1|end"), Numbers{4});
}

TEST_P(Serializability, SingleAccessesAloneAreOk) {
  EXPECT_EQ(data("T1|r(x) T2|w(x) T1|r(x) T2|w(x) T1|w(x) T2|r(x)"), kOk);
}

TEST_P(Serializability, ReadsDoNotConflict) {
  EXPECT_EQ(data("T1|begin T1|r(x) T2|begin T2|r(x) T1|r(x) T2|r(x) T1|end T2|end"), kOk);
}

TEST_P(Serializability, OpenAtTheEndOfTheTrace) {
  constexpr std::string_view kTrace = "T1|begin T2|begin T1|w(x) T2|w(x) T2|w(y) T1|w(y)";
  EXPECT_EQ(data(kTrace), Numbers{6});
  EXPECT_EQ(data(std::string(kTrace) + " T1|end T2|end"), Numbers{6});
}

TEST_P(Serializability, OnlyTheOutermostTransactionCounts) {
  EXPECT_EQ(data("T1|begin T1|begin T1|r(x) T1|end T2|w(x) T1|r(x) T1|end"), Numbers{6});
  EXPECT_EQ(data("T1|begin T1|r(x) T1|end T2|w(x) T1|begin T1|r(x) T1|end"), kOk);
}

TEST_P(Serializability, TwoPhaseLockingIsOk) {
  constexpr std::string_view kTrace =
      "T1|begin T1|acq(L) T1|r(x) T1|acq(M) T1|w(x) T1|rel(L) T2|begin T2|acq(L) T2|r(x) T1|w(y) "
      "T1|rel(M) T2|acq(M) T2|w(y) T2|w(x) T1|end T2|rel(L) T2|rel(M) T2|end";
  EXPECT_EQ(data(kTrace), kOk);
  EXPECT_EQ(sync(kTrace), kOk);
}

// AtomFuzzer, Fig. 1: both threads see a balance of 100, and both withdraw 70.
TEST_P(Serializability, AccountIsBad) {
  constexpr std::string_view kTrace =
      "T1|begin T1|acq(account) T1|r(balance) T1|rel(account) "
      "T2|begin T2|acq(account) T2|r(balance) T2|rel(account) "
      "T1|acq(account) T1|r(balance) T1|w(balance) T1|rel(account) T1|end "
      "T2|acq(account) T2|r(balance) T2|w(balance) T2|rel(account) T2|end";
  EXPECT_EQ(data(kTrace), (Numbers{15, 16}));
  EXPECT_EQ(sync(kTrace), (Numbers{9, 11}));
}

TEST_P(Serializability, ReentrantLock) {
  EXPECT_EQ(sync("T1|begin T1|acq(L) T1|acq(L) T1|w(x) T1|rel(L) T1|w(x) T1|rel(L) T1|end "
                 "T2|begin T2|acq(L) T2|w(x) T2|rel(L) T2|end"),
            kOk);
  // Only the outermost acquire meets another thread.
  constexpr std::string_view kCut =
      "T1|begin T1|acq(L) T1|acq(L) T1|rel(L) T1|rel(L) T2|acq(L) T2|rel(L) "
      "T1|acq(L) T1|acq(L) T1|rel(L) T1|rel(L) T1|end";
  EXPECT_EQ(sync(kCut), Numbers{8});
  EXPECT_EQ(data(kCut), kOk);
}

TEST_P(Serializability, WhatOrdersThreadsSplitsATransaction) {
  constexpr std::string_view kWhole = "T0|begin T0|w(x) T1|w(x) T0|r(x) T0|end";
  constexpr std::string_view kFork = "T0|begin T0|w(x) T0|fork(T1) T1|w(x) T0|r(x) T0|end";
  constexpr std::string_view kJoin = "T0|begin T0|w(x) T1|w(x) T0|join(T1) T0|r(x) T0|end";
  constexpr std::string_view kBarrier = "T0|begin T0|w(x) T0|barrier(b,1) T1|w(x) T0|r(x) T0|end";
  EXPECT_EQ(data(kWhole), Numbers{4});
  constexpr std::string_view kSignal = "T0|begin T0|w(x) T0|signal(s) T1|w(x) T0|r(x) T0|end";
  constexpr std::string_view kWait = "T0|begin T0|w(x) T1|w(x) T0|wait(s) T0|r(x) T0|end";
  for (const std::string_view split : {kFork, kJoin, kBarrier, kSignal, kWait}) {
    EXPECT_EQ(data(split), kOk) << split;
    EXPECT_EQ(sync(split), kOk) << split;
  }
  // What follows the split is a transaction again, of the same label.
  const Seen judgement =
      judge("T0|begin(a) T0|w(x) T0|fork(T1) T0|r(x) T1|w(x) T0|r(x) T0|end", Edges::kSync);
  EXPECT_EQ(judgement.violating, Numbers{6});
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].transactions[0].label, "a");
}

TEST_P(Serializability, AFreedVariableIsAnotherOne) {
  EXPECT_EQ(data("T1|begin T1|r(x) T2|w(x) T1|r(x) T1|end"), Numbers{4});
  EXPECT_EQ(data("T1|begin T1|r(x) T1|free(x) T2|w(x) T1|r(x) T1|end"), kOk);
  EXPECT_EQ(data("T1|begin T1|r(x) T1|free(x) T1|r(x) T2|w(x) T1|r(x) T1|end"), Numbers{6});
}

TEST_P(Serializability, LocksAloneCanCloseACycle) {
  constexpr std::string_view kTrace =
      "T1|begin T1|acq(L) T1|rel(L) T2|acq(L) T2|rel(L) T1|acq(L) T1|rel(L) T1|end";
  EXPECT_EQ(data(kTrace), kOk);
  EXPECT_EQ(sync(kTrace), Numbers{6});
}

TEST_P(Serializability, ForkAndJoinOrder) {
  constexpr std::string_view kFork = "T0|begin T0|w(x) T1|w(x) T1|fork(T2) T2|w(y) T0|w(y) T0|end";
  EXPECT_EQ(data(kFork), kOk);
  EXPECT_EQ(sync(kFork), Numbers{6});
  constexpr std::string_view kJoin = "T0|begin T0|w(x) T2|w(x) T1|join(T2) T1|w(y) T0|w(y) T0|end";
  EXPECT_EQ(data(kJoin), kOk);
  EXPECT_EQ(sync(kJoin), Numbers{6});
}

TEST_P(Serializability, BarriersDoNotOrder) {
  EXPECT_EQ(sync("T0|begin T0|w(x) T1|w(x) T1|barrier(b,2) T2|barrier(b,2) T2|w(y) T0|w(y) T0|end"),
            kOk);
}

TEST_P(Serializability, ReadersOfALockAreNotOrdered) {
  EXPECT_EQ(
      sync("T1|begin T1|racq(L) T1|rrel(L) T2|racq(L) T2|rrel(L) T1|racq(L) T1|rrel(L) T1|end"),
      kOk);
  EXPECT_EQ(sync("T1|begin T1|racq(L) T1|rrel(L) T2|acq(L) T2|rel(L) T1|racq(L) T1|rrel(L) T1|end"),
            Numbers{6});
}

TEST_P(Serializability, EndedThreadsAreRemembered) {
  EXPECT_EQ(data("T0|begin T0|r(x) T1|w(x) T1|exit T0|r(x) T0|end"), Numbers{5});
  EXPECT_EQ(data("T0|begin T0|r(x) T1|w(x) T1|exit T2|join(T1) T2|fork(T3) T3|r(y) T0|r(x) T0|end"),
            Numbers{8});
}

// T0 to T1 to T2 ... and back: no thread of it may be lost, whatever a word of bits can hold.
TEST_P(Serializability, MoreThreadsThanBits) {
  for (const std::size_t threads : {64U, 65U, 130U}) {
    std::string trace;
    const auto event = [&](std::size_t thread, const std::string& op) {
      trace += "T" + std::to_string(thread) + "|" + op + " ";
    };
    for (std::size_t i = 0; i < threads; ++i) event(i, "begin");
    for (std::size_t i = 0; i < threads; ++i) {
      event(i, "w(x" + std::to_string(i) + ")");
      event((i + 1) % threads, "r(x" + std::to_string(i) + ")");
    }
    const Seen judgement = judge(trace, Edges::kData);
    EXPECT_EQ(judgement.violating, Numbers{3 * threads});
    ASSERT_EQ(judgement.findings.size(), 1U);
    EXPECT_EQ(judgement.findings[0].transactions.size(), threads);
    EXPECT_EQ(judgement.findings[0].edges.size(), threads);
  }
}

TEST_P(Serializability, EveryDistinctViolationIsReported) {
  const Seen judgement = judge(
      "T1|begin(a) T1|r(x) T2|w(x) T1|r(x) T1|end T1|begin(b) T1|w(y) T2|r(y) T1|w(y) T1|end "
      "T2|begin(c) T2|r(z) T1|w(z) T2|w(z) T2|end",
      Edges::kData);
  EXPECT_EQ(judgement.violating, (Numbers{4, 9, 14}));
  ASSERT_EQ(judgement.findings.size(), 3U);
  EXPECT_EQ(judgement.findings[0].transactions[0].label, "a");
  EXPECT_EQ(judgement.findings[1].transactions[0].label, "b");
  EXPECT_EQ(judgement.findings[2].transactions[0].label, "c");
}

TEST_P(Serializability, TheSameViolationAgainIsCounted) {
  constexpr std::string_view kOnce = "T1|begin(a)|1 T1|r(x)|2 T2|w(x)|7 T1|w(x)|3 T1|end|4 ";
  const Seen judgement =
      judge(std::string(kOnce) + std::string(kOnce) + std::string(kOnce), Edges::kData);
  EXPECT_EQ(judgement.violating, (Numbers{4, 9, 14}));
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].count, 3U);
}

// The edge that would have closed the first cycle is not kept; that T1's transaction, which is
// still open, must come before T0's, is.
// The way from one transaction to another, told after a violation has bent it round.
TEST_P(Serializability, CyclesThroughAnEarlierViolationEnd) {
  const Seen judgement = judge(
      "T8|begin T22|begin T7|begin T1|begin T8|r(V2) T22|w(V3) T7|w(V5) T1|w(V24) T1|r(V5) "
      "T7|r(V3) T23|r(V5) T23|w(V2) T22|r(V2) T8|r(V24)",
      Edges::kData);
  EXPECT_EQ(judgement.violating, (Numbers{13, 14}));
  EXPECT_EQ(judgement.findings.size(), 2U);
}

TEST_P(Serializability, GoesOnAfterAViolation) {
  EXPECT_EQ(data("T0|begin T1|begin T0|r(y) T0|r(x) T1|r(y) T2|w(y) T0|r(y) T1|w(x)"),
            (Numbers{7, 8}));
  EXPECT_EQ(data("T0|begin T0|w(x) T2|r(x) T1|begin T1|w(y) T2|w(y) T0|w(y) T1|w(y)"),
            (Numbers{7, 8}));
}

}  // namespace
}  // namespace tomos
