// Named cases for lock-order, its limits, and a comparison with all interleavings of small
// programs.
#include "monitor/lock_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "event/names.h"
#include "judge.h"
#include "report/finding.h"
#include "trace/input.h"
#include "trace/std_text.h"
#include "trace/validate.h"

namespace tomos {
namespace {

Judgement judge(std::string_view program, const AnalysisOptions& options = {}) {
  LockOrder monitor(options);
  return judge_program(monitor, program);
}

// The patterns of all that is found.
std::vector<std::string> cycles(std::string_view program, const AnalysisOptions& options = {}) {
  const Judgement judgement = judge(program, options);
  EXPECT_EQ(judgement.unknown, "");
  return judgement.patterns();
}

using Cycles = std::vector<std::string>;
const Cycles kNone;

TEST(LockOrder, TellsWhoHoldsAndWantsWhat) {
  const Judgement judgement = judge(
      "T1 begin(there)@a.cpp:9 acq(A)@a.cpp:10 acq(B)@a.cpp:12 rel(B) rel(A) end\n"
      "T2 begin(back)@a.cpp:19 acq(G) acq(B)@a.cpp:20 acq(A)@a.cpp:22 rel(A) rel(B) rel(G) end\n");
  ASSERT_EQ(judgement.findings.size(), 1U);
  const Finding& finding = judgement.findings[0];
  EXPECT_EQ(finding.analysis, "lock-order");
  EXPECT_EQ(finding.kind, Kind::kDeadlock);
  EXPECT_EQ(finding.verdict, Certainty::kPredicted);
  EXPECT_EQ(finding.pattern, "A->B->A");
  EXPECT_EQ(finding.message,
            "T1 holds A (a.cpp:10) and wants B (a.cpp:12) while T2 holds B (a.cpp:20) and wants A "
            "(a.cpp:22)");
  EXPECT_EQ(finding.fix, "take A before B everywhere, or hold one common lock round both");
  EXPECT_EQ(finding.count, 1U);
  EXPECT_TRUE(finding.edges.empty());
  ASSERT_EQ(finding.transactions.size(), 2U);
  EXPECT_EQ(finding.transactions[0].label, "there");
  EXPECT_EQ(to_string(finding.transactions[1].location), "a.cpp:19");
  ASSERT_EQ(finding.events.size(), 4U);
  const auto check = [&](std::size_t i, const char* thread, const char* lock,
                         const std::vector<std::string>& locks, std::size_t transaction) {
    EXPECT_EQ(finding.events[i].thread, thread) << i;
    EXPECT_EQ(finding.events[i].op, "acquire") << i;
    EXPECT_EQ(finding.events[i].variable, lock) << i;
    EXPECT_EQ(finding.events[i].locks, locks) << i;
    EXPECT_EQ(finding.events[i].transaction, transaction) << i;
  };
  check(0, "T1", "A", {}, 0);
  check(1, "T1", "B", {"A"}, 0);
  check(2, "T2", "B", {"G"}, 1);
  check(3, "T2", "A", {"G", "B"}, 1);
}

TEST(LockOrder, ThePapersExample) {
  EXPECT_EQ(cycles("T1 begin acq(L1) acq(L2) rel(L2) r(x) rel(L1) end\n"
                   "T2 begin acq(L2) acq(L1) rel(L1) w(x) w(x) rel(L2) end\n"),
            Cycles{"L1->L2->L1"});
}

TEST(LockOrder, OneOrderIsFine) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) acq(C) rel(C) rel(B) rel(A) acq(A) acq(C) rel(C) rel(A)\n"
                   "T2 acq(B) acq(C) rel(C) rel(B) acq(A) acq(C) rel(C) rel(A)\n"),
            kNone);
}

TEST(LockOrder, WhoOnlyTriesDoesNotWait) {
  EXPECT_EQ(cycles("T1 acq(A) try(B) rel(B) rel(A)\nT2 acq(B) try(A) rel(A) rel(B)\n"), kNone);
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A)\nT2 acq(B) rtry(A) rrel(A) rel(B)\n"), kNone);
  // But what it gets that way, others wait for.
  EXPECT_EQ(cycles("T1 try(A) acq(B) rel(B) rel(A)\nT2 try(B) acq(A) rel(A) rel(B)\n"),
            Cycles{"A->B->A"});
}

TEST(LockOrder, OneThreadDoesNotBlockItself) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A) acq(B) acq(A) rel(A) rel(B)\n"), kNone);
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A) acq(B) acq(A) rel(A) rel(B)\n"
                   "T2 acq(A) acq(B) rel(B) rel(A)\n"),
            Cycles{"B->A->B"});
}

TEST(LockOrder, AGateLockPreventsIt) {
  EXPECT_EQ(cycles("T1 acq(G) acq(A) acq(B) rel(B) rel(A) rel(G)\n"
                   "T2 acq(G) acq(B) acq(A) rel(A) rel(B) rel(G)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 acq(G) acq(A) acq(B) rel(B) rel(A) rel(G)\n"
                   "T2 acq(H) acq(B) acq(A) rel(A) rel(B) rel(H)\n"),
            Cycles{"A->B->A"});
  // Given back too early.
  EXPECT_EQ(cycles("T1 acq(G) acq(A) rel(G) acq(B) rel(B) rel(A)\n"
                   "T2 acq(G) acq(B) rel(G) acq(A) rel(A) rel(B)\n"),
            Cycles{"A->B->A"});
}

TEST(LockOrder, AGateLockForReadingDoesNot) {
  EXPECT_EQ(cycles("T1 racq(G) acq(A) acq(B) rel(B) rel(A) rrel(G)\n"
                   "T2 racq(G) acq(B) acq(A) rel(A) rel(B) rrel(G)\n"),
            Cycles{"A->B->A"});
  EXPECT_EQ(cycles("T1 acq(G) acq(A) acq(B) rel(B) rel(A) rel(G)\n"
                   "T2 racq(G) acq(B) acq(A) rel(A) rel(B) rrel(G)\n"),
            kNone);
}

TEST(LockOrder, ForkAndJoinOrder) {
  EXPECT_EQ(cycles("T0 acq(A) acq(B) rel(B) rel(A) fork(T1)\n"
                   "T1 acq(B) acq(A) rel(A) rel(B)\n"),
            kNone);
  EXPECT_EQ(cycles("T0 fork(T1)\n"
                   "T1 acq(B) acq(A) rel(A) rel(B)\n"
                   "T0 join(T1) acq(A) acq(B) rel(B) rel(A)\n"),
            kNone);
  EXPECT_EQ(cycles("T0 fork(T1) acq(A) acq(B) rel(B) rel(A)\n"
                   "T1 acq(B) acq(A) rel(A) rel(B)\n"
                   "T0 join(T1)\n"),
            Cycles{"A->B->A"});
  // What counts is when the second lock is wanted.
  EXPECT_EQ(cycles("T0 acq(A) fork(T1) acq(B) rel(B) rel(A)\n"
                   "T1 acq(B) acq(A) rel(A) rel(B)\n"),
            Cycles{"A->B->A"});
  EXPECT_EQ(cycles("T0 acq(A) acq(B) rel(B) rel(A) fork(T1)\n"
                   "T1 acq(B) acq(A) rel(A) rel(B)\n",
                   {.happens_before = false}),
            Cycles{"A->B->A"});
}

TEST(LockOrder, BarriersOrder) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A) barrier(b,2)\n"
                   "T2 barrier(b,2) acq(B) acq(A) rel(A) rel(B)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 barrier(b,2)\n"
                   "T2 barrier(b,2) acq(B) acq(A) rel(A) rel(B)\n"
                   "T1 acq(A) acq(B) rel(B) rel(A)\n"),
            Cycles{"B->A->B"});
}

TEST(LockOrder, CyclesOfThreeAndFour) {
  const std::string three =
      "T1 acq(A)@1 acq(B)@2 rel(B) rel(A)\n"
      "T2 acq(B)@3 acq(C)@4 rel(C) rel(B)\n"
      "T3 acq(C)@5 acq(A)@6 rel(A) rel(C)\n";
  const Judgement judgement = judge(three);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].pattern, "A->B->C->A");
  EXPECT_EQ(
      judgement.findings[0].message,
      "T1 holds A (1) and wants B (2) while T2 holds B (3) and wants C (4), and T3 holds C (5) "
      "and wants A (6)");
  EXPECT_EQ(judgement.findings[0].fix,
            "take A, B and C in this order everywhere, or hold one common lock round all of them");
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A)\n"
                   "T2 acq(B) acq(C) rel(C) rel(B)\n"
                   "T3 acq(C) acq(D) rel(D) rel(C)\n"
                   "T4 acq(D) acq(A) rel(A) rel(D)\n"),
            Cycles{"A->B->C->D->A"});
}

TEST(LockOrder, EveryThreadOfACycleIsAnother) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(B) rel(A) acq(C) acq(A) rel(A) rel(C)\n"
                   "T2 acq(B) acq(C) rel(C) rel(B)\n"),
            kNone);
  // Four requests, each made by three threads: one thread is missing.
  std::string program;
  for (const char* thread : {"T1", "T2", "T3"}) {
    program += std::string(thread) +
               " acq(A) acq(B) rel(B) rel(A) acq(B) acq(C) rel(C) rel(B)"
               " acq(C) acq(D) rel(D) rel(C) acq(D) acq(A) rel(A) rel(D)\n";
  }
  EXPECT_EQ(cycles(program), kNone);
}

TEST(LockOrder, AGateForTwoOfThree) {
  EXPECT_EQ(cycles("T1 acq(G) acq(A) acq(B) rel(B) rel(A) rel(G)\n"
                   "T2 acq(G) acq(B) acq(C) rel(C) rel(B) rel(G)\n"
                   "T3 acq(C) acq(A) rel(A) rel(C)\n"),
            kNone);
}

TEST(LockOrder, AllAtTheSameTime) {
  // Every two of the three can meet, each in another round, but never all three.
  const std::string one = "T1 acq(A) acq(B) rel(B) rel(A)\n";
  const std::string two = "T2 acq(B) acq(C) rel(C) rel(B)\n";
  const std::string three = "T3 acq(C) acq(A) rel(A) rel(C)\n";
  const std::string meet = "T1 barrier(b,3)\nT2 barrier(b,3)\nT3 barrier(b,3)\n";
  EXPECT_EQ(cycles(one + two + meet + two + three + meet + three + one), kNone);
  EXPECT_EQ(cycles(one + two + meet + two + three + meet + three + one + two).size(), 1U);
}

TEST(LockOrder, HandOverHand) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(A) acq(C) rel(B) acq(D) rel(C) rel(D)\n"
                   "T2 acq(A) acq(B) rel(A) acq(C) rel(B) acq(D) rel(C) rel(D)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(A) acq(C) rel(B) rel(C)\n"
                   "T2 acq(C) acq(A) rel(A) rel(C)\n"),
            kNone);  // nobody holds A and wants C
  EXPECT_EQ(cycles("T1 acq(A) acq(B) rel(A) acq(C) rel(B) rel(C)\n"
                   "T2 acq(C) acq(B) rel(C) acq(A) rel(B) rel(A)\n"),
            (Cycles{"B->C->B", "A->B->A"}));
}

TEST(LockOrder, ReadersDoNotBlockReaders) {
  EXPECT_EQ(cycles("T1 racq(A) racq(B) rrel(B) rrel(A)\n"
                   "T2 racq(B) racq(A) rrel(A) rrel(B)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 racq(A) acq(B) rel(B) rrel(A)\n"
                   "T2 acq(B) racq(A) rrel(A) rel(B)\n"),
            kNone);
  const Judgement judgement = judge(
      "T1 racq(A)@1 racq(B)@2 rrel(B) rrel(A)\n"
      "T2 acq(B)@3 acq(A)@4 rel(A) rel(B)\n");
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(
      judgement.findings[0].message,
      "T1 holds A (1) for reading and wants B (2) for reading while T2 holds B (3) and wants A "
      "(4) for writing");
  EXPECT_EQ(judgement.findings[0].events[0].op, "read-acquire");
  EXPECT_EQ(judgement.findings[0].events[1].locks, std::vector<std::string>{"A for reading"});
}

TEST(LockOrder, OnlyTheShortestOfNestedCycles) {
  // T2 waits for T3 as well, and T3 for T1, but T1 and T2 are enough.
  EXPECT_EQ(cycles("T1 racq(A) acq(C) acq(B) rel(B) rel(C) rrel(A)\n"
                   "T2 acq(B) acq(A) rel(A) rel(B)\n"
                   "T3 racq(A) acq(C) rel(C) rrel(A)\n"),
            Cycles{"A->B->A"});
  // Without T1's hold on A it takes all three.
  EXPECT_EQ(cycles("T1 acq(C) acq(B) rel(B) rel(C)\n"
                   "T2 acq(B) acq(A) rel(A) rel(B)\n"
                   "T3 racq(A) acq(C) rel(C) rrel(A)\n"),
            Cycles{"C->B->A->C"});
}

TEST(LockOrder, ReentrantAcquiresDoNotCount) {
  EXPECT_EQ(cycles("T1 acq(A) acq(B) acq(A) rel(A) rel(B) rel(A)\n"
                   "T2 acq(A) acq(B) rel(B) rel(A)\n"),
            kNone);
  // Still held after the inner release.
  EXPECT_EQ(cycles("T1 acq(A) acq(A) rel(A) acq(B) rel(B) rel(A)\n"
                   "T2 acq(B) acq(A) rel(A) rel(B)\n"),
            Cycles{"A->B->A"});
  // For reading, what is held for writing.
  EXPECT_EQ(cycles("T1 acq(A) racq(A) rrel(A) rel(A)\n"
                   "T2 acq(A) racq(A) rrel(A) rel(A)\n"),
            kNone);
}

TEST(LockOrder, TwoReadersThatWantToWrite) {
  const Judgement judgement = judge(
      "T1 racq(A)@1 acq(A)@2 rel(A) rrel(A)\n"
      "T2 racq(A)@1 acq(A)@2 rel(A) rrel(A)\n");
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].pattern, "A->A->A");
  EXPECT_EQ(
      judgement.findings[0].message,
      "T1 holds A (1) for reading and wants A (2) for writing while T2 holds A (1) for reading "
      "and wants A (2) for writing");
  EXPECT_EQ(judgement.findings[0].fix,
            "take A for writing from the start, or let A go before taking it for writing");
  EXPECT_EQ(cycles("T1 racq(A) acq(A) rel(A) rrel(A)\n"), kNone);
  EXPECT_EQ(cycles("T1 racq(A) acq(A) rel(A) rrel(A)\n"
                   "T2 racq(A) rrel(A) acq(A) rel(A)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 acq(G) racq(A) acq(A) rel(A) rrel(A) rel(G)\n"
                   "T2 acq(G) racq(A) acq(A) rel(A) rrel(A) rel(G)\n"),
            kNone);
}

TEST(LockOrder, WhatIsHeldAfterWantingToWrite) {
  // Held for writing now, so T2 cannot get it for reading.
  EXPECT_EQ(cycles("T1 racq(A) acq(A) acq(B) rel(B) rel(A) rrel(A)\n"
                   "T2 acq(B) racq(A) rrel(A) rel(B)\n"),
            Cycles{"A->B->A"});
  // And after the release for reading only, again.
  EXPECT_EQ(cycles("T1 racq(A) acq(A) rel(A) acq(B) rel(B) rrel(A)\n"
                   "T2 acq(B) racq(A) rrel(A) rel(B)\n"),
            kNone);
  EXPECT_EQ(cycles("T1 acq(B) racq(A) acq(A) rel(A) rrel(A) rel(B)\n"
                   "T2 racq(A) acq(B) rel(B) rrel(A)\n"),
            Cycles{"B->A->B"});
}

TEST(LockOrder, LocksFromOtherTransactions) {
  const Judgement judgement = judge(
      "T1 begin(first)@1 acq(A)@2 end@3 begin(second)@4 acq(B)@5 rel(B) rel(A) end\n"
      "T2 acq(B)@6 acq(A)@7 rel(A) rel(B)\n");
  ASSERT_EQ(judgement.findings.size(), 1U);
  const Finding& finding = judgement.findings[0];
  ASSERT_EQ(finding.transactions.size(), 3U);
  EXPECT_EQ(finding.transactions[0].label, "first");
  EXPECT_EQ(finding.transactions[1].label, "second");
  EXPECT_EQ(finding.transactions[2].label, "");
  EXPECT_EQ(finding.transactions[2].location.line, 6U);
  EXPECT_EQ(finding.events[1].transaction, 1U);
  EXPECT_EQ(finding.events[3].transaction, 2U);
}

TEST(LockOrder, OneFindingForOnePieceOfCode) {
  // The same code with other locks, again and again, by several threads.
  std::string program;
  for (const char* thread : {"T1", "T2", "T3"}) {
    for (const std::string_view locks : {"AB", "CD", "EF"}) {
      for (int again = 0; again < 3; ++again) {
        program += fmt::format(
            "{0} acq({1})@1 acq({2})@2 rel({2}) rel({1}) acq({2})@3 acq({1})@4 rel({1}) rel({2})\n",
            thread, locks[0], locks[1]);
      }
    }
  }
  const Judgement same = judge(program);
  ASSERT_EQ(same.findings.size(), 1U);
  EXPECT_EQ(same.findings[0].count, 3U);
  const Judgement others = judge(
      "T1 acq(A)@1 acq(B)@2 rel(B) rel(A)\n"
      "T2 acq(B)@3 acq(A)@4 rel(A) rel(B) acq(B)@5 acq(A)@4 rel(A) rel(B)\n");
  EXPECT_EQ(others.findings.size(), 2U);
  EXPECT_NE(others.findings[0].id(), others.findings[1].id());
}

TEST(LockOrder, KeepsNoMoreThanAskedFor) {
  const std::string program =
      "T1 acq(A) acq(B) rel(B) rel(A) acq(C) acq(D) rel(D) rel(C)\n"
      "T2 acq(B) acq(A) rel(A) rel(B) acq(D) acq(C) rel(C) rel(D)\n";
  EXPECT_EQ(judge(program).findings.size(), 2U);
  const Judgement one = judge(program, {.max_findings = 1});
  EXPECT_EQ(one.findings.size(), 1U);
  EXPECT_EQ(one.left_out, 1U);
  EXPECT_EQ(judge(program, {.max_findings = 0}).left_out, 2U);
}

TEST(LockOrder, ACloneGoesItsOwnWay) {
  const auto event = [](ThreadId thread, Op op, LockId lock) {
    return Event{.thread = thread, .object = lock, .location = 0, .op = op};
  };
  LockOrder monitor({});
  monitor.on_events(std::vector{event(0, Op::kAcquire, 0), event(0, Op::kAcquire, 1),
                                event(0, Op::kRelease, 1), event(0, Op::kRelease, 0),
                                event(1, Op::kAcquire, 1)});
  const std::unique_ptr<Monitor> clone = monitor.clone();
  clone->on_events(std::vector{event(1, Op::kAcquire, 0)});
  Names names;
  for (const char* name : {"A", "B"}) names.intern(NameKind::kLock, name);
  for (const char* name : {"T1", "T2"}) names.intern(NameKind::kThread, name);
  for (Monitor* one : std::initializer_list<Monitor*>{&monitor, clone.get()}) one->finish();
  EXPECT_TRUE(monitor.findings(names).empty());
  ASSERT_EQ(clone->findings(names).size(), 1U);
  EXPECT_EQ(clone->findings(names)[0].message,
            "T1 holds A and wants B while T2 holds B and wants A");
}

}  // namespace
}  // namespace tomos
