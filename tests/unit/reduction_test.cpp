// Named cases for the reduction analyses, and the trees against the steps they stand for.
#include "monitor/reduction.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge.h"
#include "monitor/analyses.h"
#include "monitor/context.h"
#include "monitor/reduction_movers.h"
#include "monitor/reduction_online.h"
#include "report/finding.h"
#include "share.h"

namespace tomos {
namespace {

std::vector<Finding> run(Monitor& monitor, const std::string& text) {
  return judge_std(monitor, text).findings;
}

std::vector<Finding> reduce(std::string_view words, const AnalysisOptions& options = {}) {
  Reduction monitor(options);
  return run(monitor, words_to_std(words));
}

std::vector<Finding> reduce_online(std::string_view words, const AnalysisOptions& options = {}) {
  ReductionOnline monitor(options);
  return run(monitor, words_to_std(words));
}

bool ok(std::string_view words, const AnalysisOptions& options = {}) {
  return reduce(words, options).empty();
}

std::string pattern(std::string_view words, const AnalysisOptions& options = {}) {
  const std::vector<Finding> findings = reduce(words, options);
  return findings.empty() ? "ok" : findings[0].pattern;
}

// A thread that does the same to x and y under the lock, so that they are shared and protected.
constexpr std::string_view kOther =
    " O|acq(l) O|r(x) O|w(x) O|r(y) O|w(y) O|rel(l) O|acq(m) O|rel(m)";
std::string with_other(std::string_view words) { return std::string(words) + std::string(kOther); }

// Figures 1, 5 and 7.
constexpr std::string_view kVector =
    "T1|begin(Vector(Collection))|680 T1|acq(v1)|266 T1|r(count)|267 T1|rel(v1)|268 "
    "T1|acq(v1)|689 T1|r(count)|690 T1|r(data)|691 T1|r(count)|692 T1|r(count)|693 T1|rel(v1)|694 "
    "T1|end|695 "
    "T2|begin(removeAllElements)|630 T2|acq(v1)|630 T2|w(count)|631 T2|w(data)|632 T2|w(count)|633 "
    "T2|rel(v1)|634 T2|end|635";

TEST(Reduction, VectorExample) {
  const std::vector<Finding> findings = reduce(kVector);
  ASSERT_EQ(findings.size(), 1U);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.analysis, "reduction");
  EXPECT_EQ(finding.kind, Kind::kAtomicity);
  EXPECT_EQ(finding.verdict, Certainty::kPredicted);
  EXPECT_EQ(finding.pattern, "R B L R B B B L");
  ASSERT_EQ(finding.transactions.size(), 1U);
  EXPECT_EQ(finding.transactions[0].label, "Vector(Collection)");
  EXPECT_EQ(finding.message,
            "Vector(Collection) (T1, 680) may not be atomic: it acquires v1 at 689 after it has "
            "released v1 at 268");
  ASSERT_EQ(finding.events.size(), 2U);
  EXPECT_EQ(finding.events[0].op, "release");
  EXPECT_EQ(finding.events[0].location.line, 268U);
  EXPECT_EQ(finding.events[1].op, "acquire");
  EXPECT_EQ(finding.events[1].location.line, 689U);
  EXPECT_EQ(finding.fix, "hold v1 from 266 to 694, without releasing it at 268");
}

TEST(Reduction, TwoDifferentLocks) {
  const std::vector<Finding> findings = reduce(
      with_other("T|begin(t) T|acq(l) T|r(x) T|rel(l) T|acq(m) T|w(z) T|rel(m) T|end O|acq(m) "
                 "O|w(z) O|rel(m)"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message,
            "t (T, 1) may not be atomic: it acquires m at 5 after it has released l at 4");
  EXPECT_EQ(findings[0].fix, "hold l from 2 to 5, so that m is acquired before l is released");
}

TEST(Reduction, AtMostOneNonMover) {
  constexpr std::string_view kWriter = " O|w(x) O|w(y)";
  EXPECT_TRUE(ok("T|begin T|r(x) T|end" + std::string(kWriter)));
  EXPECT_EQ(pattern("T|begin T|r(x) T|r(y) T|end" + std::string(kWriter)), "N N");
  EXPECT_EQ(pattern("T|begin T|r(x) T|r(x) T|r(x) T|end" + std::string(kWriter)), "N N");
  EXPECT_TRUE(ok("T|begin T|acq(l) T|r(x) T|rel(l) T|end O|w(x) O|acq(l) O|rel(l)")) << "R N L";
  EXPECT_EQ(pattern("T|begin T|r(x) T|acq(l) T|w(z) T|rel(l) T|end O|w(x) O|acq(l) O|r(z) "
                    "O|rel(l)"),
            "N R B L");
  EXPECT_EQ(pattern("T|begin T|acq(l) T|w(z) T|rel(l) T|r(x) T|end O|w(x) O|acq(l) O|r(z) "
                    "O|rel(l)"),
            "R B L N");
}

TEST(Reduction, NamesTheRacingPartner) {
  const std::vector<Finding> findings =
      reduce("T|begin(inc) T|r(x) T|w(x) T|end O|begin(set) O|acq(l) O|w(x) O|rel(l) O|end");
  ASSERT_EQ(findings.size(), 1U);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.message,
            "inc (T, 1) may not be atomic: it reads x at 2, which races with the write of O in set "
            "at 7; then it writes x at 3, which races with the write of O in set at 7");
  ASSERT_EQ(finding.transactions.size(), 2U);
  EXPECT_EQ(finding.transactions[1].label, "set");
  ASSERT_EQ(finding.events.size(), 3U);
  EXPECT_EQ(finding.events[1].thread, "O");
  EXPECT_EQ(finding.events[1].locks, std::vector<std::string>{"l"});
  EXPECT_EQ(finding.fix, "hold l from 2 to 3, and wherever else x is accessed");
}

// Section 8.2: the race is real, and harmless.
TEST(Reduction, ModCountIsAFalseAlarm) {
  const std::vector<Finding> findings = reduce(
      "T|begin(add) T|acq(l) T|r(modCount) T|w(modCount) T|rel(l) T|end "
      "O|begin(look) O|r(modCount) O|end P|acq(l) P|rel(l)");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].transactions[0].label, "add");
  EXPECT_EQ(findings[0].pattern, "R N N L");
  EXPECT_EQ(findings[0].fix, "hold l also at 8, and wherever else modCount is accessed");
}

constexpr std::string_view kFigure4 =
    "T3|begin(t3) T3|acq(o1) T3|r(x) T3|rel(o1) T3|end "
    "T2|begin(t2) T2|acq(o2) T2|r(x) T2|rel(o2) T2|end ";

TEST(Reduction, Figure4WithT1) {
  const std::string trace = std::string(kFigure4) +
                            "T1|begin(t1) T1|acq(o1) T1|acq(o2) T1|w(x) T1|w(x) T1|rel(o2) "
                            "T1|rel(o1) T1|end";
  EXPECT_TRUE(ok(trace));
}

TEST(Reduction, Figure4WithT4) {
  const std::string trace = std::string(kFigure4) +
                            "T4|begin(t4) T4|r(x) T4|acq(o1) T4|acq(o2) T4|w(x) T4|rel(o2) "
                            "T4|rel(o1) T4|end";
  EXPECT_TRUE(ok(trace));
}

TEST(Reduction, WithoutLockBeforeTheForkAndAfterTheJoin) {
  constexpr std::string_view kForks = "T0|fork(T1) T0|fork(T2) ";
  constexpr std::string_view kWorkers =
      "T1|begin T1|acq(l) T1|r(x) T1|w(x) T1|rel(l) T1|end "
      "T2|begin T2|acq(l) T2|r(x) T2|w(x) T2|rel(l) T2|end ";
  const std::string workers = std::string(kForks) + std::string(kWorkers);
  EXPECT_TRUE(ok("T0|w(x) " + workers));
  EXPECT_TRUE(ok(workers + "T0|join(T1) T0|join(T2) T0|r(x)"));
  EXPECT_TRUE(ok("T0|w(x) " + workers + "T0|join(T1) T0|join(T2) T0|r(x)"));
  EXPECT_EQ(pattern("T0|w(x) " + workers, {.happens_before = false}), "R N N L");
  EXPECT_EQ(pattern("T0|w(x) " + workers + "T0|join(T1) T0|r(x)"), "R N N L");
}

TEST(Reduction, EscapeSwitch) {
  constexpr std::string_view kTrace =
      "T|begin T|new(x) T|w(x) T|w(x) T|escape(x) T|end O|r(x) P|r(x)";
  EXPECT_TRUE(ok(kTrace));
  EXPECT_EQ(pattern(kTrace, {.escape = false}), "N N");
}

TEST(Reduction, HappensBeforeSwitch) {
  constexpr std::string_view kTrace =
      "M|begin M|w(x) M|w(x) M|end M|fork(T) T|begin T|r(x) T|w(x) T|end M|join(T) M|r(x)";
  EXPECT_TRUE(ok(kTrace));
  EXPECT_EQ(pattern(kTrace, {.happens_before = false}), "N N");
}

TEST(Reduction, MultilocksetSwitch) {
  // As in Figure 4, but read by another thread before, and by t1 itself.
  const std::string trace =
      "A|acq(o1) A|r(x) A|rel(o1) B|acq(o1) B|r(x) B|rel(o1) " + std::string(kFigure4) +
      "T1|begin T1|acq(o1) T1|acq(o2) T1|r(x) T1|w(x) T1|rel(o2) T1|rel(o1) T1|end";
  EXPECT_TRUE(ok(trace));
  EXPECT_EQ(pattern(trace, {.multilockset = false}), "R R N N L L");
  EXPECT_EQ(pattern(trace, {.escape = false, .happens_before = false, .multilockset = false}),
            "R R N N L L");
}

TEST(Reduction, TheOlderAlgorithmsMissRaces) {
  // The first to have it after the escape owns it, and with happens-before hands it on.
  constexpr std::string_view kWritten = "T|begin T|w(x) T|w(x) T|end O|r(x)";
  EXPECT_EQ(pattern(kWritten), "N N");
  EXPECT_TRUE(ok(kWritten, {.multilockset = false}));
  constexpr std::string_view kHandedOn =
      "M|w(x) M|fork(T) T|begin T|w(x) T|w(x) T|end M|join(T) M|w(x)";
  EXPECT_TRUE(ok(kHandedOn, {.multilockset = false}));
  EXPECT_EQ(pattern(kHandedOn, {.happens_before = false, .multilockset = false}), "N N");
  // The object algorithm waits for a third.
  constexpr std::string_view kTwo = "T|begin T|w(x) T|w(x) T|end O|w(x)";
  EXPECT_EQ(pattern(kTwo, {.multilockset = false}), "N N");
  EXPECT_TRUE(ok(kTwo, {.escape = false, .happens_before = false, .multilockset = false}));
}

// Two blocks, one around nothing but what only this thread uses, or what nobody writes.
TEST(Reduction, AcqARelSwitch) {
  const std::string own =
      with_other("T|begin T|acq(l) T|w(x) T|rel(l) T|acq(m) T|w(own) T|rel(m) T|end");
  EXPECT_TRUE(ok(own));
  EXPECT_EQ(pattern(own, {.acq_a_rel = false}), "R B L R B L");
  const std::string constant = with_other(
      "T|begin T|acq(m) T|r(z) T|rel(m) T|acq(l) T|w(x) T|rel(l) T|end O|acq(m) O|r(z) O|rel(m)");
  EXPECT_TRUE(ok(constant));
  EXPECT_EQ(pattern(constant, {.acq_a_rel = false}), "R B L R B L");
  const std::string nested = with_other(
      "T|begin T|acq(l) T|w(x) T|rel(l) T|acq(m) T|w(own) T|acq(n) T|rel(n) T|rel(m) T|end "
      "O|acq(n) O|rel(n)");
  EXPECT_TRUE(ok(nested));
  EXPECT_EQ(pattern(with_other("T|begin T|acq(l) T|w(x) T|rel(l) T|acq(m) T|r(z) T|rel(m) T|end "
                               "O|acq(m) O|w(z) O|rel(m)")),
            "R B L R B L")
      << "protected, but neither read-only nor thread-local";
  EXPECT_EQ(pattern(with_other("T|begin T|acq(l) T|w(x) T|rel(l) T|acq(m) T|acq(k) T|rel(m) "
                               "T|rel(k) T|end O|acq(k) O|rel(k)")),
            "R B L R R L L")
      << "not nested";
}

// Theorem 2 is about locks that are free between transactions. Here the serial run in which t
// stands between the two writes does not exist, because it needs the lock.
TEST(Reduction, AcqARelOfALockThatIsKeptBetweenTransactions) {
  constexpr std::string_view kTransaction = " T|begin T|r(x) T|acq(l) T|rel(l) T|end";
  EXPECT_TRUE(ok("O|acq(l) O|w(x) O|rel(l)" + std::string(kTransaction)));
  EXPECT_FALSE(ok("O|acq(l) O|w(x) O|w(x) O|rel(l)" + std::string(kTransaction)));
  EXPECT_FALSE(ok("O|begin O|acq(l) O|w(x) O|end O|begin O|w(x) O|rel(l) O|end" +
                  std::string(kTransaction)));
  EXPECT_FALSE(ok("O|acq(l) O|fork(P) O|w(x) O|rel(l)" + std::string(kTransaction)));
  // What can be moved together around the write does not keep the lock.
  EXPECT_TRUE(ok("O|acq(l) O|acq(m) O|w(x) O|rel(m) O|rel(l)" + std::string(kTransaction)));
  EXPECT_FALSE(ok("O|acq(l) O|w(x) O|acq(m) O|rel(m) O|rel(l)" + std::string(kTransaction)));
}

TEST(Reduction, ReentrantLocks) {
  EXPECT_TRUE(ok(with_other("T|begin T|acq(l) T|r(x) T|acq(l) T|rel(l) T|w(x) T|rel(l) T|end")));
}

TEST(Reduction, ThreadLocalLocks) {
  constexpr std::string_view kTrace =
      "T|begin T|acq(m) T|w(y) T|rel(m) T|acq(m) T|w(y) T|rel(m) T|end ";
  EXPECT_TRUE(ok(std::string(kTrace) + "O|r(z)", {.acq_a_rel = false}));
  EXPECT_FALSE(ok(std::string(kTrace) + "O|acq(m) O|rel(m)", {.acq_a_rel = false}));
  // Also if threads have it one after the other; unless the order is not known.
  const std::string forked = "M|acq(m) M|rel(m) M|fork(T) " + std::string(kTrace) + "M|join(T)";
  EXPECT_TRUE(ok(forked, {.acq_a_rel = false}));
  EXPECT_FALSE(ok(forked, {.happens_before = false, .acq_a_rel = false}));
  // Held across the fork, it is waited for.
  EXPECT_FALSE(ok("M|acq(m) M|fork(T) M|rel(m) " + std::string(kTrace), {.acq_a_rel = false}));
}

TEST(Reduction, ProtectedLocks) {
  const std::string inner =
      "T|begin T|acq(l) T|acq(m) T|w(x) T|rel(m) T|acq(m) T|w(x) T|rel(m) "
      "T|rel(l) T|end ";
  EXPECT_TRUE(ok(inner + "O|acq(l) O|acq(m) O|w(x) O|rel(m) O|rel(l)"));
  EXPECT_FALSE(ok(inner + "O|acq(m) O|w(x) O|rel(m) O|acq(l) O|rel(l)")) << "m without l";
  EXPECT_FALSE(ok(inner + "O|acq(l) O|acq(m) O|rel(l) O|w(x) O|rel(m)")) << "l is given back first";
  EXPECT_FALSE(
      ok("T|begin T|racq(l) T|acq(m) T|w(x) T|rel(m) T|acq(m) T|w(x) T|rel(m) T|rrel(l) "
         "T|end O|acq(l) O|acq(m) O|w(x) O|rel(m) O|rel(l)"))
      << "held for reading it keeps nobody away";
}

TEST(Reduction, ReadLocks) {
  constexpr std::string_view kWriter = " O|acq(l) O|w(x) O|rel(l)";
  EXPECT_TRUE(ok("T|begin T|racq(l) T|r(x) T|r(x) T|rrel(l) T|end" + std::string(kWriter)));
  EXPECT_EQ(pattern("T|begin T|racq(l) T|r(x) T|rrel(l) T|racq(l) T|r(x) T|rrel(l) T|end" +
                    std::string(kWriter)),
            "R B L R B L");
  EXPECT_TRUE(
      ok("T|begin T|racq(l) T|r(y) T|rrel(l) T|racq(l) T|r(y) T|rrel(l) T|end O|racq(l) "
         "O|rrel(l)",
         {.acq_a_rel = false}))
      << "nobody ever waits for it";
  // Upgraded and downgraded it is still two phases; a write between two phases is not.
  EXPECT_TRUE(ok("T|begin T|racq(l) T|r(x) T|acq(l) T|w(x) T|rel(l) T|r(x) T|rrel(l) T|end" +
                 std::string(kWriter)));
  EXPECT_EQ(pattern("T|begin T|acq(l) T|w(x) T|racq(l) T|rel(l) T|acq(l) T|w(x) T|rel(l) T|rrel(l) "
                    "T|end" +
                    std::string(kWriter)),
            "R B L R B L L");
}

TEST(Reduction, LocksThatDoNotNest) {
  constexpr std::string_view kOthers =
      " O|acq(a) O|acq(b) O|acq(c) O|w(x) O|w(y) O|w(z) O|rel(c) O|rel(b) O|rel(a) "
      "O|acq(c) O|w(z) O|rel(c) O|acq(b) O|w(y) O|rel(b)";
  EXPECT_TRUE(ok("T|begin T|acq(a) T|r(x) T|acq(b) T|r(y) T|rel(a) T|w(y) T|rel(b) T|end" +
                 std::string(kOthers)))
      << "two phases";
  EXPECT_EQ(pattern("T|begin T|acq(a) T|r(x) T|acq(b) T|rel(a) T|r(y) T|acq(c) T|rel(b) T|w(z) "
                    "T|rel(c) T|end" +
                    std::string(kOthers)),
            "R B R L B R L B L")
      << "hand over hand";
}

TEST(Reduction, LocksAcrossTheBordersOfTransactions) {
  EXPECT_TRUE(ok("T|acq(l) T|begin T|r(x) T|w(x) T|end T|rel(l) O|acq(l) O|w(x) O|rel(l)"));
  EXPECT_EQ(pattern("T|acq(l) T|begin T|r(x) T|rel(l) T|acq(l) T|w(x) T|end T|rel(l) O|acq(l) "
                    "O|w(x) O|rel(l)"),
            "B L R B");
  const std::vector<Finding> findings = reduce(
      "T|acq(l) T|begin T|r(x) T|w(x) T|end T|rel(l) O|begin O|r(x) O|w(x) O|end O|acq(l) "
      "O|rel(l)");
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].events[0].locks, std::vector<std::string>{"l"}) << "held since before";
}

TEST(Reduction, ForkJoinAndBarrierEndTransactions) {
  EXPECT_FALSE(ok("T|begin T|r(x) T|w(x) T|end O|w(x)"));
  EXPECT_TRUE(ok("T|begin T|r(x) T|fork(P) T|w(x) T|end O|w(x)"));
  EXPECT_TRUE(ok("T|begin T|r(x) T|barrier(b,1) T|w(x) T|end O|w(x)"));
}

TEST(Reduction, TransactionsThatNeverEnd) {
  EXPECT_EQ(pattern("O|w(x) T|begin T|r(x) T|w(x)"), "N N");
  EXPECT_EQ(pattern("O|w(x) T|begin T|r(x) T|w(x) T|exit"), "N N");
}

TEST(Reduction, WhatIsKnownInTheEndCounts) {
  // Everything is thread-local and free of races until O comes.
  EXPECT_TRUE(ok("T|begin T|r(x) T|w(x) T|end T|begin T|acq(l) T|rel(l) T|acq(l) T|rel(l) T|end"));
  EXPECT_EQ(reduce("T|begin T|r(x) T|w(x) T|end T|begin T|acq(l) T|w(y) T|rel(l) T|acq(l) T|w(y) "
                   "T|rel(l) T|end O|w(x) O|acq(l) O|w(y) O|rel(l)")
                .size(),
            2U);
}

TEST(Reduction, EqualTransactionsAreCounted) {
  std::string text;
  for (int i = 0; i < 7; ++i) text += "T|begin(inc)|1\nT|r(x)|2\nT|w(x)|3\nT|end|4\n";
  text += "T|begin(inc)|1\nT|r(x)|2\nT|w(x)|5\nT|end|4\nO|w(x)|6\n";
  Reduction all({});
  const std::vector<Finding> findings = run(all, text);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].count, 7U);
  EXPECT_EQ(findings[1].count, 1U);

  Reduction one({.max_findings = 1});
  EXPECT_EQ(run(one, text).size(), 1U);
  EXPECT_EQ(one.left_out(), 1U);
}

// The steps of a loop, in one transaction.
std::string looping(int rounds) {
  std::string text = "T|begin|1\n";
  for (int i = 0; i < rounds; ++i) {
    text +=
        "T|r(z)|2\nT|acq(l)|3\nT|r(x)|4\nT|w(y)|5\nT|rel(l)|6\nT|acq(a)|7\nT|acq(b)|8\n"
        "T|rel(a)|9\nT|rel(b)|10\n";
  }
  return text + "T|end|11\n";
}

TEST(Reduction, LoopsTakeNoMemory) {
  Reduction few({});
  run(few, looping(3));
  Reduction many({});
  run(many, looping(1000));
  EXPECT_GT(few.size(), 0U);
  EXPECT_EQ(few.size(), many.size());
  const std::string other = "O|acq(l)|20\nO|w(x)|21\nO|w(y)|22\nO|rel(l)|23\n";
  Reduction bad({});
  const std::vector<Finding> findings = run(bad, looping(1000) + other);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].events[0].location.line, 6U);
  EXPECT_EQ(findings[0].events[1].location.line, 3U);
}

TEST(Reduction, LongPatternsShowWhatMatters) {
  std::string text =
      "O|w(x)|1\nO|w(y)|2\nO|acq(l)|3\nO|rel(l)|4\nT|begin|5\nT|acq(l)|6\nT|r(x)|7\n";
  for (int i = 0; i < 100; ++i) text += "T|r(v" + std::to_string(i) + ")|8\n";
  text += "T|r(y)|9\nT|rel(l)|10\nT|end|11\n";
  Reduction monitor({});
  const std::vector<Finding> findings = run(monitor, text);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].pattern, "R N N");
}

TEST(Reduction, ForgetsWhatIsDecided) {
  // Every transaction another one, and all are violations.
  std::string text = "O|w(x)|1\n";
  for (int i = 0; i < 5000; ++i) {
    text += "T|begin|2\nT|r(x)|3\nT|r(v" + std::to_string(i) + ")|4\nT|w(x)|5\nT|end|6\n";
  }
  Reduction monitor({}, {.trees = 1000, .transaction = 1000});
  Validated source(read_std(std::make_unique<Input>(text, "trace", 4096)), "trace",
                   Validation::kStrict);
  std::size_t most = 0;
  for (Batch batch;;) {
    ASSERT_TRUE(source.next(batch));
    if (batch.events.empty()) break;
    monitor.on_events(batch.events);
    most = std::max(most, monitor.size());
  }
  monitor.finish();
  EXPECT_LT(most, 5000U);
  const std::vector<Finding> findings = monitor.findings(source.names());
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 5000U);
}

TEST(ReductionOnline, JudgesByWhatIsKnownSoFar) {
  constexpr std::string_view kFirst = "T|begin T|r(x) T|w(x) T|end O|w(x) P|w(x)";
  EXPECT_FALSE(ok(kFirst));
  EXPECT_TRUE(reduce_online(kFirst).empty()) << "thread-local so far";
  const std::vector<Finding> findings =
      reduce_online("O|w(x) P|w(x) T|begin(inc) T|r(x) T|w(x) T|r(x) T|end");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].analysis, "reduction-online");
  EXPECT_EQ(findings[0].verdict, Certainty::kPredicted);
  EXPECT_EQ(findings[0].pattern, "B N N") << "the read alone is no race yet";
  EXPECT_EQ(findings[0].events.front().location.line, 5U);
  EXPECT_EQ(findings[0].events.back().location.line, 6U);
}

TEST(ReductionOnline, OwnershipPassesToTheSecondThread) {
  EXPECT_TRUE(reduce_online("O|w(x) T|begin T|r(x) T|w(x) T|end").empty());
  EXPECT_EQ(reduce_online("O|w(x) P|w(x) T|begin T|w(x) T|w(x) T|end").size(), 1U);
}

TEST(ReductionOnline, ProtectedAndThreadLocalSoFar) {
  constexpr std::string_view kTwice =
      "T|begin T|acq(l) T|r(x) T|rel(l) T|acq(l) T|w(x) T|rel(l) T|end ";
  EXPECT_TRUE(reduce_online(kTwice).empty());
  EXPECT_TRUE(reduce_online(std::string(kTwice) + "O|acq(l) O|rel(l)").empty());
  const std::vector<Finding> findings =
      reduce_online("O|acq(l) O|rel(l) " + std::string(kTwice) + std::string(kTwice));
  ASSERT_EQ(findings.size(), 2U) << "two different places";
  EXPECT_EQ(findings[0].pattern, "R B L R");
  EXPECT_EQ(findings[0].fix,
            "hold l from 4 to the end of the transaction, without releasing it at 6");
}

TEST(ReductionOnline, LooksAtNoSwitch) {
  // Ordered by fork, not yet escaped, and around what only T uses: false alarms all.
  constexpr std::string_view kFork =
      "A|w(x) A|fork(B) B|w(x) B|fork(T) T|begin T|w(x) T|w(x) T|end";
  EXPECT_TRUE(ok(kFork));
  EXPECT_EQ(reduce_online(kFork).size(), 1U);
  constexpr std::string_view kBlock =
      "O|acq(l) O|rel(l) T|begin T|acq(l) T|w(own) T|rel(l) T|acq(l) T|w(own) T|rel(l) T|end";
  EXPECT_TRUE(ok(kBlock));
  EXPECT_EQ(reduce_online(kBlock).size(), 1U);
  EXPECT_EQ(reduce_online(kBlock, {.multilockset = false, .acq_a_rel = false}).size(), 1U);
}

TEST(ReductionOnline, OnceForEachTransaction) {
  std::string text = "O|w(x)|1\nP|w(x)|2\n";
  for (int i = 0; i < 3; ++i) {
    text += "T|begin|3\n";
    for (int k = 0; k < 10; ++k) text += "T|w(x)|4\n";
    text += "T|end|5\n";
  }
  ReductionOnline monitor({});
  const std::vector<Finding> findings = run(monitor, text);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 3U);
}

// Random programs of two threads with a few locks and variables, and with loops.
std::vector<Event> random_events(std::mt19937_64& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  struct Thread {
    bool is_inside = false;
    std::vector<LockId> held;
  };
  std::vector<Thread> threads(2);
  std::vector<bool> taken(4);
  std::vector<Event> events;
  const auto emit = [&](ThreadId thread, Op op, std::uint32_t object) {
    events.push_back({.thread = thread,
                      .object = object,
                      .location = static_cast<LocationId>(events.size() + 1) | kNumericLocation,
                      .op = op,
                      .spare = 0,
                      .count = 0});
  };
  const std::size_t size = 20 + below(200);
  while (events.size() < size) {
    const ThreadId id = below(8) == 0 ? 1 : 0;
    Thread& thread = threads[id];
    const unsigned die = below(16);
    if (die == 0 && below(3) == 0) {
      emit(id, thread.is_inside ? Op::kEnd : Op::kBegin, 0);
      thread.is_inside = !thread.is_inside;
    } else if (die < 4) {
      const LockId lock = below(4);
      if (taken[lock]) continue;
      taken[lock] = true;
      thread.held.push_back(lock);
      emit(id, Op::kAcquire, lock);
    } else if (die < 8 && !thread.held.empty()) {
      const std::size_t which = below(4) == 0 ? 0 : thread.held.size() - 1;
      const LockId lock = thread.held[which];
      thread.held.erase(thread.held.begin() + static_cast<std::ptrdiff_t>(which));
      taken[lock] = false;
      emit(id, Op::kRelease, lock);
    } else if (die >= 8) {
      emit(id, below(4) == 0 ? Op::kWrite : Op::kRead, below(12));
    }
  }
  return events;
}

// Theorem 1 on the steps as they came, with what the whole run says of variables and locks.
bool fits(const std::vector<Event>& events) {
  const AnalysisOptions options;
  Context context(options);
  VariableMovers variables(options);
  LockMovers locks;
  struct Step {
    ThreadId thread;
    Context::Step step;
    std::uint32_t object;
    bool is_inside;
  };
  std::vector<Step> steps;
  for (const Event& event : events) {
    const Context::Step step = context.take(event);
    if (step == Context::Step::kAccess) variables.access(event, context);
    if (step == Context::Step::kAcquire || step == Context::Step::kRelease) {
      locks.use(event, context);
    }
    steps.push_back({.thread = event.thread,
                     .step = step,
                     .object = step == Context::Step::kAccess ? context.variable() : event.object,
                     .is_inside = context.thread(event.thread).transaction.inside()});
  }
  std::vector<bool> is_past(2);
  for (const Step& step : steps) {
    const bool is_lock =
        step.step == Context::Step::kAcquire || step.step == Context::Step::kRelease;
    const bool is_access = step.step == Context::Step::kAccess;
    if (!is_lock && !is_access) is_past[step.thread] = false;
    if (!step.is_inside || (!is_lock && !is_access)) continue;
    if (is_lock ? locks.is_both_mover(step.object) : !variables.is_racy(step.object)) continue;
    if (is_past[step.thread] && step.step != Context::Step::kRelease) return false;
    if (step.step != Context::Step::kAcquire) is_past[step.thread] = true;
  }
  return true;
}

TEST(Reduction, TreesSayWhatTheStepsSay) {
  std::mt19937_64 random(1);
  int fitting = 0;
  constexpr int kRounds = 6000 / kShare;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<Event> events = random_events(random);
    const bool expected = fits(events);
    fitting += expected ? 1 : 0;
    Reduction whole({.acq_a_rel = false});
    whole.on_events(events);
    whole.finish();
    // Forgetting trees and long transactions early changes nothing.
    Reduction narrow({.acq_a_rel = false}, {.trees = 8, .transaction = 4});
    for (const Event& event : events) narrow.on_events({&event, 1});
    narrow.finish();
    Names names;
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}) {
      for (const NameKind kind : {NameKind::kThread, NameKind::kLock, NameKind::kVariable}) {
        names.add(kind, name);
      }
    }
    ASSERT_EQ(whole.findings(names).empty(), expected) << "round " << round;
    ASSERT_EQ(narrow.findings(names).empty(), expected) << "round " << round;
  }
  EXPECT_GT(fitting, kRounds / 20);
  EXPECT_LT(fitting, kRounds - kRounds / 20);
}

}  // namespace
}  // namespace tomos
