#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "trace/limits.h"
#include "trace_support.h"

namespace tomos {
namespace {

using test::Named;
using test::named;
using test::Read;
using test::read_all;
using test::text_source;

constexpr const char* kForm =
    "Write thread|operation|location, like T1|w(x)|12, or # before a comment.";
constexpr const char* kKnownOperations =
    "The operations are begin, begin(label), end, acq(lock), rel(lock), racq(lock), rrel(lock), "
    "try(lock), rtry(lock), "
    "r(variable), w(variable), fork(thread), join(thread), barrier(name,count), signal(name), "
    "wait(name), new(variable), escape(variable), free(variable), exit.";

std::vector<Named> parse(std::string_view text) {
  const auto source = text_source(text);
  const Read read = read_all(*source);
  EXPECT_FALSE(read.failed) << read.error.what;
  return named(read.events, source->names());
}

Named parse_one(std::string_view text) {
  const std::vector<Named> events = parse(text);
  EXPECT_EQ(events.size(), 1U) << text;
  return events.empty() ? Named{} : events[0];
}

void expect_error(std::string_view text, std::string_view where, std::string_view what,
                  std::string_view remedy) {
  const Read read = read_all(*text_source(text));
  ASSERT_TRUE(read.failed) << text;
  EXPECT_EQ(read.error.where, where);
  EXPECT_EQ(read.error.what, what);
  EXPECT_EQ(read.error.remedy, remedy);
}

TEST(StdText, EveryOperation) {
  const std::vector<Named> expected = {
      {Op::kFork, 0, "T0", "T1", "10"},        {Op::kJoin, 0, "T0", "T1", "90"},
      {Op::kBegin, 0, "T1", "", "20"},         {Op::kEnd, 0, "T1", "", "29"},
      {Op::kBegin, 0, "T1", "transfer", "20"}, {Op::kAcquire, 0, "T1", "L", "21"},
      {Op::kRelease, 0, "T1", "L", "25"},      {Op::kRead, 0, "T1", "x", "22"},
      {Op::kWrite, 0, "T1", "x", "24"},        {Op::kReadAcquire, 0, "T1", "L", "21"},
      {Op::kReadRelease, 0, "T1", "L", "25"},  {Op::kBarrier, 3, "T1", "b", "30"},
      {Op::kNew, 0, "T1", "x", "5"},           {Op::kEscape, 0, "T1", "x", "6"},
      {Op::kFree, 0, "T1", "x", "99"},         {Op::kExit, 0, "T1", "", "100"},
      {Op::kSignal, 0, "T2", "s", "7"},        {Op::kWait, 0, "T2", "s", "8"},
      {Op::kAcquire, 1, "T2", "L", "9"},       {Op::kReadAcquire, 1, "T2", "M", "10"},
  };
  EXPECT_EQ(parse("T0|fork(T1)|10\nT0|join(T1)|90\nT1|begin|20\nT1|end|29\nT1|begin(transfer)|20\n"
                  "T1|acq(L)|21\nT1|rel(L)|25\nT1|r(x)|22\nT1|w(x)|24\nT1|racq(L)|21\n"
                  "T1|rrel(L)|25\nT1|barrier(b,3)|30\nT1|new(x)|5\nT1|escape(x)|6\nT1|free(x)|99\n"
                  "T1|exit|100\nT2|signal(s)|7\nT2|wait(s)|8\nT2|try(L)|9\nT2|rtry(M)|10\n"),
            expected);
}

TEST(StdText, IdsAreGivenInOrderOfUse) {
  const Read read = read_all(*text_source("T7|r(V9)|0\nT3|w(V2)|2147483647\nT7|r(V2)|f.cpp:3\n"));
  const std::vector<Event> expected = {
      {0, 0, kNumericLocation, Op::kRead, 0, 0},
      {1, 1, kNumericLocation | 2147483647, Op::kWrite, 0, 0},
      {0, 1, 1, Op::kRead, 0, 0},
  };
  EXPECT_EQ(read.events, expected);
}

TEST(StdText, ForkedThreadsAreNumberedInOrderOfUseToo) {
  const auto source = text_source("T0|fork(T1)\nT2|r(x)\nT0|fork(b)\na|r(x)\n");
  read_all(*source);
  const std::vector<std::string> expected = {"T0", "T1", "T2", "b", "a"};
  ASSERT_EQ(source->names().count(NameKind::kThread), expected.size());
  for (std::uint32_t id = 0; id < expected.size(); ++id) {
    EXPECT_EQ(source->names().name(NameKind::kThread, id), expected[id]);
  }
}

TEST(StdText, BlanksLineEndsAndMissingParts) {
  const Named expected = {Op::kWrite, 0, "T1", "x", "7"};
  EXPECT_EQ(parse_one("T1|w(x)|7\n"), expected);
  EXPECT_EQ(parse_one("T1|w(x)|7"), expected);
  EXPECT_EQ(parse_one("T1|w(x)|7\r\n"), expected);
  EXPECT_EQ(parse_one("T1|w(x)|7\r"), expected);
  EXPECT_EQ(parse_one("\t T1 | w( x ) |\t7 \r\n"), expected);
  EXPECT_EQ(parse_one("T1|w (x)|7\n"), expected);
  EXPECT_EQ(parse_one("T1|w(x)\n").location, "");
  EXPECT_EQ(parse_one("T1|w(x)|\n").location, "");
  EXPECT_EQ(parse_one("T1|w(x)|  \n").location, "");
  EXPECT_EQ(parse_one("T1|begin()|1\n").object, "");
  EXPECT_EQ(parse_one("T1|end()|1\n").op, Op::kEnd);
  EXPECT_EQ(parse_one("T1|barrier( b , 65535 )|1\n"), (Named{Op::kBarrier, 65535, "T1", "b", "1"}));
}

TEST(StdText, NamesMayHoldNearlyAnything) {
  EXPECT_EQ(parse_one("T1|r(f(int))|a\n").object, "f(int)");
  EXPECT_EQ(parse_one("T1|r(()|a\n").object, "(");
  EXPECT_EQ(parse_one("T1|r())|a\n").object, ")");
  EXPECT_EQ(parse_one("T1|barrier(a,b,2)|a\n"), (Named{Op::kBarrier, 2, "T1", "a,b", "a"}));
  EXPECT_EQ(parse_one("T1|r(x)|operator|(A, B)\n").location, "operator|(A, B)");
  EXPECT_EQ(parse_one("T 1|r(a b)|c d\n"), (Named{Op::kRead, 0, "T 1", "a b", "c d"}));
  EXPECT_EQ(parse_one("T1|r(x)|# no comment\n").location, "# no comment");
  EXPECT_EQ(parse_one("T1|r(x)|007\n").location, "007");
  EXPECT_EQ(parse_one("T1|r(x)|2147483648\n").location, "2147483648");
  EXPECT_EQ(parse_one("T1|r(V007)|1\n").object, "V007");
  EXPECT_EQ(parse_one("T1|r(x\ry)|1\n").object, "x\ry");
}

TEST(StdText, OnlyTheWritersCodesAreDecoded) {
  EXPECT_EQ(parse_one("%23T|r(a%7Cb%25%0A%0D%00%20%09)|%20\n"),
            (Named{Op::kRead, 0, "#T", std::string("a|b%\n\r\0 \t", 9), " "}));
  EXPECT_EQ(parse_one("T|r(%7c%41%d%)|100%\n"), (Named{Op::kRead, 0, "T", "%7c%41%d%", "100%"}));
  EXPECT_EQ(parse_one("T|r(%257C)|%2\n"), (Named{Op::kRead, 0, "T", "%7C", "%2"}));
}

TEST(StdText, LinesAreCountedAcrossCommentsAndBlankLines) {
  const auto source =
      text_source("# a\n\nT1|r(x)|1\n  # b\r\n \t\nT1|w(x)|2\nT1|w(x)|3\n#\nT1|w(x)");
  EXPECT_EQ(read_all(*source).lines, (std::vector<std::uint64_t>{3, 6, 7, 9}));
  EXPECT_TRUE(parse("").empty());
  EXPECT_TRUE(parse("# only this").empty());
}

TEST(StdText, BlocksOfAnySizeGiveTheSame) {
  const std::string text =
      "# c\nT1|begin(f)|a.cpp:1\r\n\nmain|w(V12345678901)|2147483647\nT1|r( x "
      ")|7\nT20|acq(L1)\nT1|end";
  const auto whole = text_source(text);
  const Read expected = read_all(*whole);
  ASSERT_EQ(expected.events.size(), 5U);
  for (std::size_t block = 1; block <= text.size(); ++block) {
    const auto source = text_source(text, block);
    const Read read = read_all(*source);
    EXPECT_FALSE(read.failed);
    EXPECT_EQ(read.events, expected.events) << block;
    EXPECT_EQ(read.lines, expected.lines) << block;
  }
}

// The quick way and the grammar must agree: a blank before the thread sends a line through the
// grammar.
TEST(StdText, QuickWayAgreesWithTheGrammar) {
  const std::vector<std::string> threads = {"T0",          "T1",       "T01",       "main",
                                            "12",          "worker-7", "abcdefgh9", "abcdefghi9",
                                            "T4294967296", "T1x2",     "#T",        "%23"};
  const std::vector<std::string> operations = {
      "r(x)",     "w(V1)",    "w(V99999999)", "w(V999999999)", "w(V9999999999)",
      "r(V0)",    "r(V00)",   "r(1)",         "rel(L1)",       "racq(L1)",
      "rrel(L1)", "acq(L1)",  "begin",        "begin(f)",      "begin()",
      "end",      "end()",    "exit",         "escape(x)",     "fork(T9)",
      "free(x)",  "join(T9)", "new(x)",       "barrier(b,3)",  "r(a)b)",
      "r((x)",    "r(a%7C)",  "r(a#)",        "rx(x)",         "re(x)",
      "x(y)",     "endx",     "end(x)",       "r()",           "r",
      "acq",      "r(x",      "rel",          "begin x",       ""};
  const std::vector<std::string> locations = {
      "",           "|",           "|0",          "|1",          "|00",
      "|123456789", "|1234567890", "|2147483647", "|2147483648", "|99999999999",
      "|a.cpp:12",  "|12x",        "|a b",        "|a%25",       "|a|b",
      "| 5",        "|5 ",         "|#"};
  std::size_t events = 0;
  for (const std::string& thread : threads) {
    for (const std::string& operation : operations) {
      for (const std::string& location : locations) {
        std::string line = thread;
        line.append("|").append(operation).append(location);
        const std::string text = "T0|r(V1)|1\n" + line + "\n";
        const std::string slow_text = " T0|r(V1)|1\n " + line + "\n";
        const auto quick = text_source(text);
        const auto slow = text_source(slow_text);
        const Read a = read_all(*quick);
        const Read b = read_all(*slow);
        ASSERT_EQ(a.events, b.events) << line;
        ASSERT_EQ(named(a.events, quick->names()), named(b.events, slow->names())) << line;
        ASSERT_EQ(a.failed, b.failed) << line;
        if (a.failed) {
          ASSERT_EQ(a.error.what, b.error.what);
        } else {
          ++events;
        }
        for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
          const auto k = static_cast<NameKind>(kind);
          ASSERT_EQ(quick->names().count(k), slow->names().count(k)) << line;
        }
      }
    }
  }
  EXPECT_GT(events, 4000U);
}

TEST(StdText, NumberedNamesSparseAndDense) {
  std::string text;
  std::vector<std::string> expected;
  std::mt19937_64 random(7);
  for (int i = 0; i < 60'000; ++i) {
    const std::uint64_t range = i % 3 == 0 ? 100 : i % 3 == 1 ? 20'000 : 4'000'000'000;
    expected.push_back("VWXYZABCDEFG"[random() % 12] + std::to_string(random() % range));
    text += "T" + std::to_string(i % 300) + "|r(" + expected.back() + ")|1\n";
  }
  const auto source = text_source(text);
  const Read read = read_all(*source);
  ASSERT_EQ(read.events.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Event& event = read.events[i];
    ASSERT_EQ(source->names().name(NameKind::kVariable, event.object), expected[i]);
    ASSERT_EQ(source->names().name(NameKind::kThread, event.thread), "T" + std::to_string(i % 300));
  }
  std::ranges::sort(expected);
  const auto twice = std::ranges::unique(expected);
  EXPECT_EQ(source->names().count(NameKind::kVariable), expected.size() - twice.size());
}

TEST(StdText, ErrorsNameTheLineTheTextAndTheRemedy) {
  expect_error("T1|r(x)|1\n#\ngarbage\n", "t.std:3", "not an event: \"garbage\"", kForm);
  expect_error("|r(x)|1", "t.std:1", "an event without a thread: \"|r(x)|1\"", kForm);
  expect_error(" |r(x)|1", "t.std:1", "an event without a thread: \"|r(x)|1\"", kForm);
  expect_error("T1||1\n", "t.std:1", "an event without an operation: \"T1||1\"", kForm);
  expect_error("T1|\n", "t.std:1", "an event without an operation: \"T1|\"", kForm);
  expect_error("T1|foo(x)|1\n", "t.std:1", "unknown operation \"foo\": \"T1|foo(x)|1\"",
               kKnownOperations);
  expect_error("T1|W(x)|1\n", "t.std:1", "unknown operation \"W\": \"T1|W(x)|1\"",
               kKnownOperations);
  expect_error("T1|acq|1\n", "t.std:1", "\"acq\" without an operand: \"T1|acq|1\"",
               kKnownOperations);
  expect_error("T1|r( )|1\n", "t.std:1", "\"r\" without an operand: \"T1|r( )|1\"",
               kKnownOperations);
  expect_error("T1|end(x)|1\n", "t.std:1", "\"end\" takes no operand: \"T1|end(x)|1\"",
               kKnownOperations);
  expect_error("T1|exit(x)|1\n", "t.std:1", "\"exit\" takes no operand: \"T1|exit(x)|1\"",
               kKnownOperations);
  expect_error("T1|r(a|b)|1\n", "t.std:1", "\"(\" without \")\": \"T1|r(a|b)|1\"",
               "Close the operand; inside a name write | as %7C.");
  expect_error("T1|r)x(|1\n", "t.std:1", "\"(\" without \")\": \"T1|r)x(|1\"",
               "Close the operand; inside a name write | as %7C.");
  expect_error("T1|r(x)y|1\n", "t.std:1", "text behind the operand's \")\": \"T1|r(x)y|1\"", kForm);
  for (const std::string operand :
       {"", "()", "(b)", "(b,0)", "(b,65536)", "(b,-1)", "(b,3x)", "(,3)", "(b,)"}) {
    expect_error(
        "T1|barrier" + operand + "|1\n", "t.std:1",
        "\"barrier\" needs a name and a number of threads: \"T1|barrier" + operand + "|1\"",
        "Write barrier(name,count) with a count from 1 to 65535, like barrier(b,3).");
  }
}

TEST(StdText, ForeignBytesAreShownPrintableAndShort) {
  using namespace std::string_literals;
  expect_error("\x7f"s + "ELF\x02\x01\x01\0\0\0"s, "t.std:1",
               "a NUL byte: \"\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\"",
               "This is not text: give an STD text trace or a .tomos file.");
  expect_error("T1|r(x\0)|1\n"s, "t.std:1", "a NUL byte: \"T1|r(x\\x00)|1\"",
               "This is not text: give an STD text trace or a .tomos file.");
  expect_error(std::string(100, 'a'), "t.std:1",
               "not an event: \"" + std::string(60, 'a') + "...\"", kForm);
  expect_error("\x1f\x8b\x08\x1b[2J", "t.std:1", "not an event: \"\\x1f\\x8b\\x08\\x1b[2J\"",
               kForm);
}

TEST(StdText, EventsBeforeAnErrorAreDelivered) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "T1|r(x)|1\n";
  const Read read = read_all(*text_source(text + "oops\nT1|r(x)|1\n"));
  EXPECT_EQ(read.events.size(), 20'000U);
  ASSERT_TRUE(read.failed);
  EXPECT_EQ(read.error.where, "t.std:20001");
}

TEST(StdText, LimitsOnLinesAndNames) {
  const std::string longest(kMaxName, 'n');
  EXPECT_EQ(parse_one("T|r(" + longest + ")|1\n").object, longest);
  EXPECT_EQ(parse_one(longest + "|r(" + longest + ")|" + longest + "\n").location, longest);
  expect_error("T|r(n" + longest + ")|1\n", "t.std:1",
               "a name of more than 65535 bytes: \"T|r(" + std::string(56, 'n') + "...\"",
               "Shorten the name.");

  const std::string comment = "#" + std::string(kMaxLine - 1, 'c');
  EXPECT_EQ(parse(comment + "\r\nT|r(x)\n").size(), 1U);
  EXPECT_EQ(parse("T|r(x)\n" + comment).size(), 1U);
  const std::string what =
      "a line of more than 1048576 bytes: \"#" + std::string(59, 'c') + "...\"";
  const std::string remedy = "This does not look like an STD text trace: check what the file is.";
  expect_error("T|r(x)\n" + comment + "c\nT|r(x)\n", "t.std:2", what, remedy);
  expect_error(comment + "c", "t.std:1", what, remedy);
  expect_error(comment + comment + comment, "t.std:1", what, remedy);
}

TEST(StdText, WriterRoundTrip) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const test::Trace trace = test::arbitrary_trace(seed, 1 + seed * 7 % 500);
    const std::string text = test::to_text(trace.events, trace.names);
    const auto source = text_source(text, seed % 2 == 0 ? Input::kBlock : 1 + seed);
    const Read read = read_all(*source);
    ASSERT_FALSE(read.failed) << "seed " << seed << ": " << read.error.what;
    ASSERT_EQ(named(read.events, source->names()), named(trace.events, trace.names))
        << "seed " << seed;
    ASSERT_EQ(test::to_text(read.events, source->names()), text) << "seed " << seed;
  }
}

TEST(StdText, WriterEscapesOnlyWhatItMust) {
  test::Trace trace;
  const auto event = [&](std::string_view thread, std::string_view object,
                         std::string_view location) {
    trace.events.push_back({trace.names.intern(NameKind::kThread, thread),
                            trace.names.intern(NameKind::kVariable, object),
                            trace.names.intern(NameKind::kLocation, location), Op::kRead, 0, 0});
  };
  event("#1", "a|b", " in ");
  event("T#", "f(int, char)", "100%");
  EXPECT_EQ(test::to_text(trace.events, trace.names),
            "%231|r(a%7Cb)|%20in%20\nT#|r(f(int, char))|100%25\n");
}

}  // namespace
}  // namespace tomos
