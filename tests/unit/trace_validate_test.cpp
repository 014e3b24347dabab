#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "trace/validate.h"
#include "trace_support.h"

namespace tomos {
namespace {

using test::Read;
using test::read_all;
using test::text_source;

Validated validated(std::string_view text, Validation mode) {
  return {text_source(text), "t.std", mode};
}

void expect_valid(std::string_view text) {
  Validated source = validated(text, Validation::kStrict);
  const Read read = read_all(source);
  EXPECT_FALSE(read.failed) << text << "\n" << read.error.where << ": " << read.error.what;
}

// The last line of `text` breaks `rule`. A comment and a blank line before it must not confuse the
// line number; an event after it must be kept when the broken one is dropped.
void expect_broken(const std::string& text, const std::string& rule, const std::string& detail,
                   const std::string& remedy) {
  const std::string whole = "# comment\n\n" + text + "\nT99|r(z)|1\n";
  const auto lines = static_cast<std::uint64_t>(std::ranges::count(whole, '\n'));

  Validated strict = validated(whole, Validation::kStrict);
  const Read read = read_all(strict);
  ASSERT_TRUE(read.failed) << text;
  EXPECT_EQ(read.error.where, "t.std:" + std::to_string(lines - 1));
  EXPECT_EQ(read.error.what, rule + ": " + detail);
  EXPECT_EQ(read.error.remedy, remedy);
  EXPECT_EQ(read.events.size(), lines - 4);

  Validated lenient = validated(whole, Validation::kLenient);
  const Read kept = read_all(lenient);
  EXPECT_FALSE(kept.failed);
  EXPECT_EQ(kept.events.size(), lines - 3);
  EXPECT_EQ(kept.lines.back(), lines);
  const Skipped skipped = lenient.skipped();
  EXPECT_EQ(skipped.total, 1U);
  EXPECT_EQ(skipped.by_rule, (std::vector<std::pair<std::string, std::uint64_t>>{{rule, 1}}));
  EXPECT_EQ(skipped.first, "t.std:" + std::to_string(lines - 1) + ": " + rule + ": " + detail);
}

TEST(Validate, Transactions) {
  const std::string rule = "end without begin";
  const std::string remedy = "Remove the end, or add the begin that is missing before it.";
  expect_broken("T1|end|1", rule, "T1 ends a transaction", remedy);
  expect_broken("T1|begin|1\nT1|begin|1\nT1|end|1\nT1|end|1\nT1|end|1", rule,
                "T1 ends a transaction", remedy);
  expect_broken("T2|begin|1\nT1|end|1", rule, "T1 ends a transaction", remedy);
  expect_valid("T1|begin|1\nT1|begin(f)|1\nT1|end|1\nT1|end|1\nT1|begin|1\n");
  expect_valid(
      "T1|begin\nT1|fork(T2)\nT1|end\nT1|begin\nT1|barrier(b,2)\nT1|end\nT1|begin\nT1|join(T2)\nT1|"
      "end\n");
}

TEST(Validate, Releases) {
  const std::string rule = "release without acquire";
  const std::string remedy =
      "A lock is released by the thread that holds it, as often and in the way (acq and rel, racq "
      "and rrel) it was "
      "acquired.";
  expect_broken("T1|rel(L)|1", rule, "T1 releases L", remedy);
  expect_broken("T1|rrel(L)|1", rule, "T1 read-releases L", remedy);
  expect_broken("T1|acq(L)|1\nT1|rrel(L)|1", rule, "T1 read-releases L", remedy);
  expect_broken("T1|racq(L)|1\nT1|rel(L)|1", rule, "T1 releases L", remedy);
  expect_broken("T1|acq(L)|1\nT2|rel(L)|1", rule, "T2 releases L", remedy);
  expect_broken("T1|racq(L)|1\nT2|rrel(L)|1", rule, "T2 read-releases L", remedy);
  expect_broken("T1|acq(L)|1\nT1|acq(L)|1\nT1|rel(L)|1\nT1|rel(L)|1\nT1|rel(L)|1", rule,
                "T1 releases L", remedy);
  expect_broken("T1|acq(L)|1\nT1|rel(M)|1", rule, "T1 releases M", remedy);
  expect_valid("T1|racq(L)\nT1|racq(L)\nT1|rrel(L)\nT1|rrel(L)\nT2|acq(L)\nT2|rel(L)\nT1|acq(L)\n");
}

TEST(Validate, Acquires) {
  const std::string rule = "acquire of a lock that another thread holds";
  const std::string remedy =
      "Check the order of the events: the holder must release the lock first.";
  expect_broken("T1|acq(L)|1\nT2|acq(L)|1", rule, "T2 acquires L", remedy);
  expect_broken("T1|acq(L)|1\nT2|racq(L)|1", rule, "T2 read-acquires L", remedy);
  expect_broken("T1|racq(L)|1\nT2|acq(L)|1", rule, "T2 acquires L", remedy);
  expect_broken("T1|racq(L)|1\nT2|racq(L)|1\nT1|acq(L)|1", rule, "T1 acquires L", remedy);
  expect_broken("T1|acq(L)|1\nT1|acq(L)|1\nT1|rel(L)|1\nT2|acq(L)|1", rule, "T2 acquires L",
                remedy);
  expect_broken("T1|racq(L)|1\nT1|acq(L)|1\nT1|rel(L)|1\nT2|acq(L)|1", rule, "T2 acquires L",
                remedy);
  expect_valid(
      "T1|racq(L)\nT2|racq(L)\nT3|racq(L)\nT2|rrel(L)\nT1|rrel(L)\nT3|acq(L)\nT3|rel(L)\nT3|rrel(L)"
      "\nT1|acq(L)\n");
  expect_valid("T1|acq(L)\nT1|racq(L)\nT1|rel(L)\nT2|racq(L)\nT1|rrel(L)\nT2|acq(L)\n");
}

TEST(Validate, EventsOfThreadsThatAreOver) {
  const std::string joined = "A join stands behind all events of the joined thread.";
  expect_broken("T1|r(x)|1\nT0|join(T1)|1\nT1|r(x)|1", "event after the thread was joined",
                "T1 reads x", joined);
  expect_broken("T0|join(T1)|1\nT1|acq(x)|1", "event after the thread was joined", "T1 acquires x",
                joined);
  expect_broken("T1|exit|1\nT0|join(T1)|1\nT1|exit|1", "event after the thread was joined",
                "T1 exits", joined);
  const std::string exited = "An exit is the last event of its thread.";
  expect_broken("T1|exit|1\nT1|w(x)|1", "event after exit", "T1 writes x", exited);
  expect_broken("T1|exit|1\nT1|exit|1", "event after exit", "T1 exits", exited);
}

TEST(Validate, Joins) {
  const std::string live =
      "The joined thread must end its transactions and release its locks first, or exit.";
  expect_broken("T1|begin|1\nT0|join(T1)|1", "join of a live thread", "T0 joins T1", live);
  expect_broken("T1|acq(L)|1\nT0|join(T1)|1", "join of a live thread", "T0 joins T1", live);
  expect_broken("T1|racq(L)|1\nT0|join(T1)|1", "join of a live thread", "T0 joins T1", live);
  expect_broken("T1|racq(L)|1\nT1|acq(L)|1\nT1|rrel(L)|1\nT0|join(T1)|1", "join of a live thread",
                "T0 joins T1", live);
  expect_broken("T0|join(T1)|1\nT0|join(T1)|1", "join of a thread already joined", "T0 joins T1",
                "A thread is joined once.");
  expect_broken("T0|join(T1)|1\nT2|join(T1)|1", "join of a thread already joined", "T2 joins T1",
                "A thread is joined once.");
  expect_broken("T0|join(T0)|1", "join of itself", "T0 joins T0",
                "A thread cannot wait for its own end.");
  expect_valid("T0|fork(T1)\nT0|join(T1)\nT0|join(T2)\n");
  expect_valid("T1|begin\nT1|acq(L)\nT1|rel(L)\nT1|end\nT0|join(T1)\n");
  expect_valid("T1|begin\nT1|acq(L)\nT1|exit\nT0|join(T1)\n");
}

TEST(Validate, Forks) {
  const std::string rule = "fork of a thread that already exists";
  const std::string remedy =
      "A fork stands before all events of the forked thread; give a new thread a new name.";
  expect_broken("T0|fork(T1)|1\nT0|fork(T1)|1", rule, "T0 forks T1", remedy);
  expect_broken("T1|r(x)|1\nT0|fork(T1)|1", rule, "T0 forks T1", remedy);
  expect_broken("T0|join(T1)|1\nT0|fork(T1)|1", rule, "T0 forks T1", remedy);
  expect_broken("T1|exit|1\nT0|fork(T1)|1", rule, "T0 forks T1", remedy);
  expect_broken("T0|fork(T0)|1", "fork of itself", "T0 forks T0",
                "A thread is forked by another thread.");
  expect_valid("T0|fork(T1)\nT1|fork(T2)\nT2|r(x)\nT1|r(x)\n");
}

TEST(Validate, VariablesAndBarriers) {
  expect_broken("T1|new(x)|1\nT2|new(x)|1", "new of a variable that is live", "T2 makes x",
                "Free the variable first, or give the new one another name.");
  expect_broken("T1|new(x)|1\nT1|escape(x)|1\nT1|new(x)|1", "new of a variable that is live",
                "T1 makes x", "Free the variable first, or give the new one another name.");
  expect_broken("T1|barrier(b,3)|1\nT1|barrier(c,2)|1\nT2|barrier(b,2)|1",
                "barrier with different counts", "T2 arrives at b",
                "Every arrival at a barrier names the same count.");
  expect_valid(
      "T1|new(x)\nT1|free(x)\nT1|new(x)\nT1|free(x)\nT1|w(x)\nT1|free(x)\nT1|escape(y)\nT1|w(y)"
      "\nT1|new(y)\n");
  expect_valid("T1|barrier(b,3)\nT2|barrier(b,3)\nT1|barrier(b,3)\n");
}

TEST(Validate, OpenTransactionsAndHeldLocksAtTheEndAreFine) {
  expect_valid("T1|begin\nT1|acq(L)\nT2|racq(M)\nT0|fork(T3)\n");
}

TEST(Validate, ADroppedEventHasNoEffect) {
  // Each dropped event, had it counted, would make a later one invalid or let an invalid one pass.
  Validated source = validated(
      "T1|acq(L)\nT2|acq(L)\nT2|rel(L)\nT1|rel(L)\n"  // 2 and 3 dropped
      "T3|end\nT0|fork(T3)\n"                         // 5 dropped: T3 has had no event
      "T0|join(T0)\nT0|r(x)\n"                        // 7 dropped: T0 goes on
      "T1|barrier(b,3)\nT1|barrier(b,4)\nT1|barrier(b,3)\n"
      "T1|begin\nT0|join(T1)\nT1|end\nT0|join(T1)\n",
      Validation::kLenient);
  const Read read = read_all(source);
  EXPECT_FALSE(read.failed);
  EXPECT_EQ(read.lines, (std::vector<std::uint64_t>{1, 4, 6, 8, 9, 11, 12, 14, 15}));
  const std::vector<std::pair<std::string, std::uint64_t>> expected = {
      {"end without begin", 1},
      {"release without acquire", 1},
      {"acquire of a lock that another thread holds", 1},
      {"join of a live thread", 1},
      {"join of itself", 1},
      {"barrier with different counts", 1}};
  EXPECT_EQ(source.skipped().by_rule, expected);
  EXPECT_EQ(source.skipped().total, 6U);
  EXPECT_EQ(source.skipped().first,
            "t.std:2: acquire of a lock that another thread holds: T2 acquires L");
}

TEST(Validate, WholeBatchesMayBeDropped) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "T1|end\n";
  text += "#\nT1|begin\nT1|end\nT1|end\n";
  Validated source = validated(text, Validation::kLenient);
  const Read read = read_all(source);
  EXPECT_EQ(read.lines, (std::vector<std::uint64_t>{50'002, 50'003}));
  EXPECT_EQ(source.skipped().total, 50'001U);
}

TEST(Validate, BinaryEventsAreNumberedFromOne) {
  Names names;
  names.add(NameKind::kThread, "T");
  std::vector<Event> events(20'000, Event{0, 0, 0, Op::kBegin, 0, 0});
  events.push_back({0, 0, 0, Op::kExit, 0, 0});
  events.push_back({0, 0, 0, Op::kBegin, 0, 0});
  const std::string bytes = test::to_tomos(events, names);
  Validated strict(test::tomos_source(bytes), "t.tomos", Validation::kStrict);
  const Read read = read_all(strict);
  ASSERT_TRUE(read.failed);
  EXPECT_EQ(read.error.where, "t.tomos event 20002");
  EXPECT_EQ(read.error.what, "event after exit: T begins a transaction");
  EXPECT_EQ(read.events.size(), 20'001U);
}

TEST(Validate, ErrorsOfTheInputPassThrough) {
  for (const Validation mode : {Validation::kStrict, Validation::kLenient}) {
    Validated source = validated("T1|r(x)\noops\n", mode);
    const Read read = read_all(source);
    EXPECT_EQ(read.events.size(), 1U);
    ASSERT_TRUE(read.failed);
    EXPECT_EQ(read.error.where, "t.std:2");
  }
}

// Lenient output must satisfy strict, whatever goes in.
TEST(Validate, LenientMakesAnyTraceValid) {
  std::uint64_t dropped = 0;
  std::uint64_t kept = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::string text;
    for (int i = 0; i < 300; ++i) {
      static const std::vector<std::string> kOperations = {
          "begin",  "end",    "r(x)",   "w(x)",       "acq(L", "rel(L",  "racq(L",
          "rrel(L", "fork(T", "join(T", "barrier(b,", "new(v", "free(v", "exit"};
      std::string operation = kOperations[random() % (i % 100 == 0 ? 14 : 13)];
      if (operation.starts_with("join") && random() % 10 != 0) operation = "r(y";
      if (operation.contains('(') && !operation.ends_with(')'))
        operation += std::to_string(1 + random() % 3) + ")";
      text += "T" + std::to_string(random() % 5) + "|" + operation + "|1\n";
      if (random() % 5 == 0) text += "\n";
    }
    Validated lenient = validated(text, Validation::kLenient);
    const Read read = read_all(lenient);
    ASSERT_FALSE(read.failed);
    std::vector<std::string> lines = {""};
    for (const char c : text) {
      if (c == '\n')
        lines.emplace_back();
      else
        lines.back() += c;
    }
    std::string squeezed;
    for (const std::uint64_t line : read.lines) squeezed += lines[line - 1] + "\n";
    ASSERT_EQ(squeezed, test::to_text(read.events, lenient.names()));
    expect_valid(squeezed);
    kept += read.events.size();
    dropped += lenient.skipped().total;
    ASSERT_EQ(read.events.size() + lenient.skipped().total, 300U);
  }
  EXPECT_GT(kept, 10'000U);
  EXPECT_GT(dropped, 10'000U);
}

}  // namespace
}  // namespace tomos
