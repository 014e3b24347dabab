// Named cases for the block analyses: where the paper's theorems are wrong, and what must stay true
// of long runs. The paper's own examples are in tests/e2e/predict; random ones in tests/predict.
#include "monitor/blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "judge.h"
#include "monitor/lock_order.h"

namespace tomos {
namespace {

using Scope = Blocks::Scope;
using Patterns = std::vector<std::string>;

Judgement judge(Scope scope, std::string_view program, BlockStore::Limits limits = {}) {
  Blocks monitor({}, scope, limits);
  const Judgement judgement = judge_program(monitor, program);
  EXPECT_EQ(judgement.unknown, "") << program;
  return judgement;
}

Patterns found(Scope scope, std::string_view program, BlockStore::Limits limits = {}) {
  return judge(scope, program, limits).patterns();
}

// In none of these is there potential for deadlock, which the theorems assume.
void expect_no_deadlock(std::string_view program) {
  LockOrder monitor({});
  EXPECT_TRUE(judge_program(monitor, program).findings.empty()) << program;
}

// The paper's patterns: "a read in one transaction occurs between two writes in another". T0's read
// can stand there, but it always sees T0's own write.
TEST(Blocks, Theorem3ReadThatSeesItsOwnWrite) {
  constexpr std::string_view kProgram =
      "T0 begin acq(L) w(x) r(x) rel(L) end\n"
      "T1 begin acq(L) w(x) rel(L) acq(L) w(x) rel(L) end\n";
  expect_no_deadlock(kProgram);
  for (const Scope scope : {Scope::kOneVariable, Scope::kTwoTransactions, Scope::kAll}) {
    EXPECT_EQ(found(scope, kProgram), Patterns{});
  }
}

// "The final write in one transaction occurs between a read and a subsequent write in another": T1
// can write between T0's read and write. Taken alone the two are not atomic. But T2 writes before
// or after both, and then nobody can tell: T1 T2 T0 and T0 T1 T2 are as good.
TEST(Blocks, Theorem3FinalWriteThatAnotherTransactionHides) {
  constexpr std::string_view kProgram =
      "T0 begin acq(L) r(x) w(x) rel(L) end\n"
      "T1 begin w(x) end\n"
      "T2 begin acq(L) w(x) rel(L) end\n";
  expect_no_deadlock(kProgram);
  EXPECT_EQ(found(Scope::kOneVariable, kProgram), Patterns{});
  EXPECT_EQ(found(Scope::kTwoTransactions, kProgram), Patterns{"R-W-W"});
  EXPECT_EQ(found(Scope::kAll, kProgram), Patterns{});
}

// "An operation can occur between two others if no lock held at it is held through them": T1 passes
// from L to M hand over hand, and T0 needs both.
TEST(Blocks, CanOccurBetweenHandOverHand) {
  constexpr std::string_view kProgram =
      "T0 begin acq(L) acq(M) r(x) rel(M) rel(L) end\n"
      "T1 begin acq(L) w(x) acq(M) rel(L) w(x) rel(M) end\n";
  expect_no_deadlock(kProgram);
  for (const Scope scope : {Scope::kOneVariable, Scope::kTwoTransactions, Scope::kAll}) {
    EXPECT_EQ(found(scope, kProgram), Patterns{});
  }
}

// Two transactions of one thread cannot change places, so three transactions on two threads can be
// one too many.
TEST(Blocks, ACycleThroughAThreadsOwnOrder) {
  constexpr std::string_view kProgram =
      "T0 begin(a) w(x) end begin(b) w(y) end\n"
      "T1 begin(c) r(x) r(y) end\n";
  EXPECT_EQ(found(Scope::kTwoTransactions, kProgram), Patterns{});
  const Judgement all = judge(Scope::kAll, kProgram);
  ASSERT_EQ(all.findings.size(), 1U);
  EXPECT_EQ(all.findings[0].transactions.size(), 3U);
  EXPECT_EQ(all.findings[0].transactions[0].label, "c");
  EXPECT_EQ(all.patterns(), found(Scope::kAll, kProgram, {.small = 0}));
}

TEST(Blocks, LongRunsFindTheCycleOfThree) {
  constexpr std::string_view kCycle =
      "T1 begin(t1) w(x) w(y) end\n"
      "T2 begin(t2) r(x) w(z) end\n"
      "T3 begin(t3) r(z) r(y) end\n";
  const Judgement all = judge(Scope::kAll, kCycle, {.small = 0});
  ASSERT_EQ(all.findings.size(), 1U);
  EXPECT_EQ(all.findings[0].transactions.size(), 3U);
  EXPECT_EQ(found(Scope::kTwoTransactions, kCycle), Patterns{});
}

// Short enough to be kept as a whole, but too long for the solver.
TEST(Blocks, RunsOfMiddleLengthFindTheCycleOfThree) {
  std::string program =
      "T1 begin(t1) w(x) w(y) end\n"
      "T2 begin(t2) r(x) w(z) end\n"
      "T3 begin(t3) r(z) r(y) end\n";
  for (int i = 0; i < 40; ++i) {
    program += fmt::format("T{} begin(fill) acq(L) r(q) w(q) rel(L) end\n", 1 + i % 2);
  }
  const Judgement all = judge(Scope::kAll, program);
  ASSERT_EQ(all.findings.size(), 1U);
  EXPECT_EQ(all.findings[0].transactions.size(), 3U);
}

TEST(Blocks, LongRunsWithNothingToCutAreOk) {
  constexpr std::string_view kLocked =
      "T1 begin(t1) acq(L) w(x) w(y) rel(L) end\n"
      "T2 begin(t2) acq(L) r(x) w(z) rel(L) end\n"
      "T3 begin(t3) acq(L) r(z) r(y) rel(L) end\n";
  EXPECT_EQ(found(Scope::kAll, kLocked, {.small = 0}), Patterns{});
}

// The paper's (1) and (2): both kinds of 1v-block, and what cuts them.
TEST(Blocks, BlocksOfTheExample) {
  constexpr std::string_view kT = "T0 begin acq(L1) r(v) acq(L2) w(v) r(v) rel(L2) rel(L1) end\n";
  const auto with = [&](std::string_view other) {
    return found(Scope::kOneVariable, std::string(kT) + std::string(other));
  };
  EXPECT_EQ(with("T1 begin w(v) end\n"), (Patterns{"R-W-W", "W-W-R"}));
  EXPECT_EQ(with("T1 begin r(v) end\n"), Patterns{});
  EXPECT_EQ(with("T1 begin acq(L2) w(v) rel(L2) end\n"), Patterns{"R-W-W"});
  EXPECT_EQ(with("T1 begin acq(L1) w(v) rel(L1) end\n"), Patterns{});
}

TEST(Blocks, ReadLocksProtectFromWritersOnly) {
  constexpr std::string_view kReader = "T0 begin racq(L) r(x) r(x) rrel(L) end\n";
  const auto with = [&](std::string_view other) {
    return found(Scope::kOneVariable, std::string(kReader) + std::string(other));
  };
  EXPECT_EQ(with("T1 begin acq(L) w(x) rel(L) end\n"), Patterns{});
  EXPECT_EQ(with("T1 begin racq(L) w(x) rrel(L) end\n"), Patterns{"R-W-R"});
}

TEST(Blocks, EscapeAndHappensBefore) {
  constexpr std::string_view kEscape =
      "T0 new(x) begin r(x) r(x) end escape(x)\n"
      "T1 begin w(x) end\n";
  constexpr std::string_view kFork =
      "T0 begin r(x) r(x) end fork(T1)\n"
      "T1 begin w(x) end\n"
      "T0 join(T1) begin r(x) r(x) end\n";
  EXPECT_EQ(found(Scope::kAll, kEscape), Patterns{});
  EXPECT_EQ(found(Scope::kAll, kFork), Patterns{});
  Blocks no_escape({.escape = false}, Scope::kAll);
  EXPECT_EQ(judge_program(no_escape, kEscape).patterns(), Patterns{"R-W-R"});
  Blocks no_order({.happens_before = false}, Scope::kTwoTransactions);
  EXPECT_EQ(judge_program(no_order, kFork).patterns().size(), 2U);
}

// A finding on many variables is one finding.
TEST(Blocks, OneFindingForTheSamePlaces) {
  std::string program;
  for (int i = 0; i < 50; ++i) {
    program += fmt::format("T0 begin(t)@1 r(x{0})@2 r(x{0})@3 end\n", i);
    program += fmt::format("T1 begin(u)@4 w(x{0})@5 end\n", i);
  }
  const Judgement judgement = judge(Scope::kTwoTransactions, program);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].count, 50U);
  EXPECT_EQ(judgement.findings[0].fix,
            "hold one lock from 2 to 3, and the same lock in every other transaction named here");
}

// The one that holds its lock all along can come between the steps of the other, not the reverse,
// whichever of them comes first in the run.
TEST(Blocks, TheTransactionThatIsCutIsTheFirst) {
  constexpr std::string_view kRemove = "begin(remove) acq(L) w(x) w(y) rel(L) end\n";
  constexpr std::string_view kProducer =
      "begin(producer) acq(L) r(y) rel(L) acq(L) r(x) rel(L) end\n";
  for (const bool swapped : {false, true}) {
    const std::string program =
        fmt::format("T0 {}T1 {}", swapped ? kProducer : kRemove, swapped ? kRemove : kProducer);
    for (const Scope scope : {Scope::kTwoTransactions, Scope::kAll}) {
      const Judgement judgement = judge(scope, program);
      ASSERT_EQ(judgement.findings.size(), 1) << program;
      const Finding& finding = judgement.findings[0];
      EXPECT_EQ(finding.transactions[0].label, "producer") << program;
      EXPECT_EQ(finding.pattern, "R(y)-W(x)-W(y)-R(x)") << program;
      EXPECT_TRUE(finding.message.starts_with("producer")) << finding.message;
      EXPECT_TRUE(finding.fix.contains("every access of the cycle holds it")) << finding.fix;
    }
  }
}

TEST(Blocks, TheLimitOnFindingsKeepsTheVerdict) {
  std::string program;
  for (int i = 0; i < 20; ++i) program += fmt::format("T0 begin r(x{0}) r(x{0}) end\n", i);
  for (int i = 0; i < 20; ++i) program += fmt::format("T1 begin w(x{0}) end\n", i);
  Blocks monitor({.max_findings = 3}, Scope::kTwoTransactions);
  const Judgement judgement = judge_program(monitor, program);
  EXPECT_EQ(judgement.findings.size(), 3U);
  EXPECT_EQ(judgement.left_out, 17U);
}

TEST(Blocks, WhatThereIsNoRoomForIsUnknown) {
  Blocks monitor({}, Scope::kTwoTransactions, {.blocks = 1, .small = 0});
  const Judgement judgement = judge_program(monitor,
                                            "T0 begin r(x) r(y) end begin r(z) r(z) end\n"
                                            "T1 begin w(z) end\n");
  EXPECT_TRUE(judgement.findings.empty());
  EXPECT_NE(judgement.unknown, "");
}

// A transaction of a million steps takes the room of what is different in it.
TEST(Blocks, ALongTransactionIsThinnedOut) {
  std::string loop = "T0 begin@1";
  for (int i = 0; i < 20'000; ++i) loop += " acq(L)@2 r(x)@3 w(x)@4 rel(L)@5";
  EXPECT_EQ(found(Scope::kAll, loop + " end\nT1 begin acq(L) w(x) rel(L) end\n"),
            (Patterns{"W-W-R", "R-W-W"}));
  EXPECT_EQ(found(Scope::kAll, loop + " end\nT1 begin acq(L) r(y) rel(L) end\n"), Patterns{});
}

// Two semaphores hand a pair of variables back and forth.
TEST(Blocks, SignalsKeepTransactionsApart) {
  constexpr std::string_view kHanded =
      "T1 begin(put) w(x) w(y) signal(full) end\n"
      "T2 begin(take) wait(full) r(x) r(y) signal(empty) end\n"
      "T1 begin(put) wait(empty) w(x) w(y) end\n";
  constexpr std::string_view kUnasked =
      "T1 begin(put) w(x) w(y) signal(full) end\n"
      "T2 begin(take) wait(full) r(x) r(y) end\n"
      "T1 begin(put) w(x) w(y) end\n";
  for (const Scope scope : {Scope::kTwoTransactions, Scope::kAll}) {
    EXPECT_EQ(found(scope, kHanded), Patterns{});
    EXPECT_NE(found(scope, kUnasked), Patterns{});
  }
}

// Single accesses to what is gone are forgotten when there are many; not those that cut a
// transaction that is still open.
TEST(Blocks, WhatCutsAnOpenTransactionIsNotForgotten) {
  std::string program =
      "T0 begin r(x) r(x)\n"
      "T1 w(x) free(x)\n";
  for (int i = 0; i < 5000; ++i) program += fmt::format("T{} w(z{}) free(z{})\n", 1 + i % 2, i, i);
  EXPECT_EQ(found(Scope::kTwoTransactions, program + "T0 end\n"), Patterns{"R-W-R"});
}

std::string each(std::string_view operation, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += fmt::format(" {}(a{})@2", operation, i);
  return all;
}

// Two elements of an array stand for all; their pairs would be 200 million.
TEST(Blocks, ElementsOfAnArrayAreAlike) {
  constexpr int kMany = 20'000;
  const std::string reader = "T0 begin@1" + each("r", kMany) + " end\n";
  EXPECT_EQ(found(Scope::kTwoTransactions, reader + "T1 begin@3" + each("w", kMany) + " end\n"),
            Patterns{"R(a0)-W(a0)-W(a1)-R(a1)"});
  EXPECT_EQ(found(Scope::kTwoTransactions, reader + "T1" + each("w", kMany) + "\n"), Patterns{});
}

// An element that is treated otherwise stands for itself.
TEST(Blocks, ElementsOfAnArrayThatDiffer) {
  const std::string reader = "T0 begin@1" + each("r", 50) + " end\n";
  EXPECT_EQ(found(Scope::kTwoTransactions, reader + "T1 begin@3 w(a40)@4 w(a45)@5 end\n"),
            (Patterns{"R(a40)-W(a40)-W(a45)-R(a45)", "W(a40)-R(a40)-R(a45)-W(a45)"}));
  EXPECT_EQ(found(Scope::kTwoTransactions, reader + "T1 begin@3 w(a45)@4 w(a40)@5 end\n"),
            Patterns{"W(a45)-R(a40)-W(a40)-R(a45)"});
  EXPECT_EQ(found(Scope::kTwoTransactions, reader + "T1 begin@3 w(a40)@4 end\n"), Patterns{});
}

}  // namespace
}  // namespace tomos
