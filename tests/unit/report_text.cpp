#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "report/interleaving.h"
#include "report/text.h"
#include "report_example.h"

namespace tomos {
namespace {

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

// A cycle of as many transactions as wanted, each by a thread of its own.
Finding long_cycle(std::size_t length) {
  Finding finding = account_finding();
  finding.transactions.clear();
  finding.events.clear();
  finding.edges.clear();
  for (std::size_t i = 0; i < length; ++i) {
    const std::string thread = "T" + std::to_string(i);
    finding.transactions.push_back({.label = "work", .thread = thread, .location = {}});
    for (const char* op : {"read", "write"}) {
      finding.events.push_back(account_finding().events[0]);
      finding.events.back().thread = thread;
      finding.events.back().op = op;
      finding.events.back().transaction = i;
    }
  }
  // Each writes after the one before has read; the first, at last, writes after the last.
  for (std::size_t i = 0; i + 1 < length; ++i) {
    finding.edges.push_back({.from = 2 * i, .to = 2 * i + 3});
  }
  finding.edges.push_back({.from = 2 * length - 2, .to = 1});
  return finding;
}

TEST(Text, ShowsBothEndsOfALongCycle) {
  Report report = account_report();
  report.findings = {long_cycle(100)};
  const std::string text = print_text(report, {.color = false, .columns = 100});
  EXPECT_TRUE(has(text, "16 of 100 edges. --format json has all of them.")) << text;
  EXPECT_TRUE(has(text, "T7's work must come before T8's work")) << text;
  EXPECT_FALSE(has(text, "T8's work must come before T9's work")) << text;
  EXPECT_TRUE(has(text, "T99's work must come before T0's work")) << text;
  EXPECT_TRUE(has(text, "Id: " + report.findings[0].id())) << text;
}

TEST(Text, SaysThatAStretchOfTheCycleIsMissing) {
  Report report = account_report();
  Finding& finding = report.findings[0];
  EXPECT_FALSE(has(print_text(report, {.color = false, .columns = 100}), "was not kept"));
  finding.edges = {{.from = 1, .to = 2}};
  EXPECT_TRUE(has(print_text(report, {.color = false, .columns = 100}), "was not kept"));
}

TEST(Interleaving, PutsThreadsSideBySide) {
  EXPECT_EQ(draw_interleaving(account_finding(), 100),
            "       T1                                   T2\n"
            "       -----------------------------------  -----------------------------------\n"
            "       begin withdraw       account.cpp:12\n"
            "1>     read balance [acnt]   account.cpp:4\n"
            "                                            begin withdraw       account.cpp:18\n"
            ">1 2>                                       write balance [acnt]  account.cpp:7\n"
            ">2     write balance [acnt]  account.cpp:7\n");
}

TEST(Interleaving, CutsNamesThatDoNotFit) {
  Finding finding = account_finding();
  finding.transactions[0].label = std::string(80, 'f');
  for (auto& event : finding.events) event.location.file = std::string(80, 'd') + "/account.cpp";
  const std::string drawing = draw_interleaving(finding, 80);
  EXPECT_LE(widest_line(drawing), 80U);
  EXPECT_TRUE(has(drawing, "begin fff"));
  EXPECT_TRUE(has(drawing, "../account.cpp:4") || has(drawing, "d/account.cpp:4")) << drawing;
  EXPECT_TRUE(has(drawing, "---")) << drawing;
}

TEST(Interleaving, FallsBackToALineAnEvent) {
  Finding finding = account_finding();
  for (int i = 3; i < 12; ++i) {
    finding.events.push_back(finding.events.back());
    finding.events.back().thread = "T" + std::to_string(i);
  }
  const std::string drawing = draw_interleaving(finding, 100);
  EXPECT_FALSE(has(drawing, "---")) << drawing;
  EXPECT_TRUE(has(drawing, "1>     T1   read balance [acnt]   account.cpp:4\n")) << drawing;
  EXPECT_TRUE(has(drawing, "       T11  write balance [acnt]  account.cpp:7\n")) << drawing;
  EXPECT_LE(widest_line(drawing), 100U);
}

TEST(Interleaving, TellsTransactionsOfOneThreadApart) {
  Finding finding = account_finding();
  finding.transactions.push_back(finding.transactions[1]);
  EXPECT_EQ(transaction_names(finding),
            (std::vector<std::string>{"T1's withdraw", "T2's withdraw #1", "T2's withdraw #2"}));
}

TEST(Interleaving, NamesWhatHasNoLabel) {
  Finding finding = account_finding();
  finding.transactions[0].label = "";
  finding.transactions[1] = {
      .label = "", .thread = "T2", .location = parse_location("account.cpp:7")};
  EXPECT_EQ(transaction_names(finding), (std::vector<std::string>{"T1's block at account.cpp:12",
                                                                  "T2's access at account.cpp:7"}));
  const std::string drawing = draw_interleaving(finding, 100);
  EXPECT_EQ(drawing.find("begin"), drawing.rfind("begin")) << "a single access has no begin line";
}

TEST(Text, SaysWhatWhereWhyAndWhatToDo) {
  const std::string text = print_text(account_report(), {});
  EXPECT_TRUE(
      text.starts_with("1. Atomicity violation, observed by vector-clock in account.std\n"
                       "  withdraw (T1, account.cpp:12) is not atomic\n"))
      << text;
  EXPECT_TRUE(has(
      text,
      "  No serial order gives this run:\n"
      "    1  T1's withdraw must come before T2's withdraw: balance was read at account.cpp:4, "
      "then "
      "written\n       at account.cpp:7\n"
      "    2  and after it: balance was written at account.cpp:7, then written at account.cpp:7\n"))
      << text;
  EXPECT_TRUE(has(text, "  Fix: hold acnt from account.cpp:4 to account.cpp:7\n")) << text;
  EXPECT_TRUE(has(text, "  See it again: tomos check account.std\n")) << text;
  EXPECT_TRUE(has(text, "  Id: " + account_finding().id() + "\n")) << text;
  EXPECT_TRUE(text.ends_with(
      "\nvector-clock: violation (1 finding); 25 events, 3 threads, 2 transactions, 0.25 s\n"))
      << text;
  EXPECT_FALSE(has(text, "found 1 times"));
}

TEST(Text, SaysWhyAFindingIsLessSureAndPutsItLast) {
  Report report = account_report();
  Finding sure = report.findings[0];
  sure.transactions[0].label = "other";
  report.findings[0].doubt = "libplain.so synchronises";
  report.findings.push_back(sure);
  const std::string text = print_text(report, {.color = false, .columns = 100});
  EXPECT_TRUE(has(text, "1. Atomicity violation, observed by"));
  EXPECT_TRUE(has(text, "2. Atomicity violation, observed (less sure) by"));
  EXPECT_TRUE(has(text, "  Less sure: libplain.so synchronises\n"));
  EXPECT_LT(text.find("other"), text.find("(less sure)"));
}

TEST(Text, KeepsToTheWidth) {
  Report report = account_report();
  report.findings[0].replay = "";
  for (const std::size_t columns : {40U, 60U, 80U, 120U}) {
    const std::string text = print_text(report, {.columns = columns});
    // The summary is one line for whoever greps it.
    EXPECT_LE(widest_line(text.substr(0, text.find("\nvector-clock: violation"))), columns) << text;
  }
}

TEST(Text, CountsWhatWasMetOften) {
  Report report = account_report();
  report.findings[0].count = 3;
  EXPECT_TRUE(has(print_text(report, {}), "in account.std, found 3 times\n"));
}

TEST(Text, ShowsFindingsAboutTheSameTransactionsOnce) {
  Report report = account_report();
  report.findings.push_back(account_finding());
  report.findings[1].analysis = "summarized";
  report.findings[1].events[2].location.line = 8;
  const std::string text = print_text(report, {});
  EXPECT_TRUE(
      has(text,
          "  The same transactions, also in this way:\n"
          "    2. R-W-W at account.cpp:4, account.cpp:7, account.cpp:8, by summarized; id " +
              report.findings[1].id() + "\n"))
      << text;
  EXPECT_EQ(text.find("Fix:"), text.rfind("Fix:"));
}

TEST(Text, FollowsACycleThroughTheOrderOfAThread) {
  Finding finding = account_finding();
  finding.transactions.push_back(
      {.label = "audit", .thread = "T2", .location = parse_location("account.cpp:30")});
  finding.events.insert(finding.events.begin() + 2, finding.events[1]);
  finding.events[2].transaction = 2;
  finding.edges = {{.from = 0, .to = 1}, {.from = 2, .to = 3}};
  Report report = account_report();
  report.findings = {finding};
  const std::string text = print_text(report, {.columns = 200});
  EXPECT_TRUE(has(text,
                  "       T2's withdraw comes before T2's audit in T2's own order\n"
                  "    2  T2's audit must come before T1's withdraw: balance was written"))
      << text;
}

TEST(Text, SaysHowManyWereLeftOutAndWhichOptionShowsMore) {
  Report report = account_report();
  report.verdicts[0].left_out = 17;
  EXPECT_TRUE(has(
      print_text(report, {}),
      "Note: 17 further violations of vector-clock at other places were counted but not shown; a "
      "higher\n      --max-findings shows more.\n"))
      << print_text(report, {});
}

TEST(Text, ColoursOnlyWhenAsked) {
  EXPECT_FALSE(has(print_text(account_report(), {.color = false}), "\x1b"));
  EXPECT_TRUE(has(print_text(account_report(), {.color = true}), "\x1b[1;31mviolation\x1b[0m"));
}

TEST(Text, LetsNoNameTouchTheTerminal) {
  Report report = account_report();
  report.findings[0].transactions[0].label = "\x1b]0;pwned\x07";
  report.findings[0].events[0].variable = "\x1b[2J";
  report.findings[0].input = "a\nb";
  report.notes = {"\x1b[1m"};
  const std::string text = print_text(report, {});
  EXPECT_FALSE(has(text, "\x1b"));
  EXPECT_TRUE(has(text, "\\x1b[2J"));
  EXPECT_TRUE(has(text, "in a\\x0ab"));
  EXPECT_TRUE(has(text, "Id: " + report.findings[0].id())) << "the id is that of the real names";
}

TEST(Text, WithoutFindingsIsOneLine) {
  Report report = account_report();
  report.findings.clear();
  report.verdicts[0].verdict = Verdict::kOk;
  EXPECT_EQ(print_text(report, {}),
            "vector-clock: ok; 25 events, 3 threads, 2 transactions, 0.25 s\n");
}

}  // namespace
}  // namespace tomos
