#include "report_predicted.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "report/explain.h"
#include "report/json.h"
#include "report/text.h"
#include "report_example.h"

namespace tomos {
namespace {

std::string text_of(std::vector<Finding> findings) {
  return print_text(report_of(std::move(findings)), {.color = false, .columns = 100});
}

TEST(PredictedText, DoesNotSayThatItHappened) {
  const std::string text = text_of({vector_blocks()});
  EXPECT_TRUE(text.starts_with(
      "1. Atomicity violation, predicted by blocks-1v in vector.std\n"
      "  Vector (T1, Vector.java:264) is not atomic\n"
      "\n"
      "  This order is possible (n> must come before >n, locks held in brackets):\n"
      "           T1                                T2\n"
      "           --------------------------------  ----------------------------------------\n"
      "           begin Vector     Vector.java:264\n"
      "    1>     read count [v1]  Vector.java:267\n"
      "                                             begin removeAllElements  Vector.java:628\n"
      "    >1 2>                                    write count [v1]         Vector.java:631\n"
      "    >2     read count [v1]  Vector.java:690\n"
      "\n"
      "  No serial order gives the same:\n"
      "    1  T1's Vector must come before T2's removeAllElements: count is read at "
      "Vector.java:267, then\n"
      "       written at Vector.java:631\n"
      "    2  and after it: count is written at Vector.java:631, then read at Vector.java:690\n"
      "\n"
      "  Fix: hold v1 from Vector.java:267 to Vector.java:690\n"
      "  See it again: tomos check --analysis blocks-1v vector.std\n"))
      << text;
  EXPECT_FALSE(has(text, "of the run"));
  EXPECT_FALSE(has(text, "this run"));
  EXPECT_FALSE(has(text, " was "));
}

TEST(PredictedText, ShowsTheStepsThatDoNotReduce) {
  const std::string text = text_of({vector_reduction()});
  EXPECT_TRUE(has(text,
                  "  What does not fit (locks held in brackets):\n"
                  "    T1\n"
                  "    --------------------------------\n"
                  "    begin Vector     Vector.java:264\n"
                  "    release v1 [v1]  Vector.java:268\n"
                  "    acquire v1       Vector.java:689\n"
                  "\n"
                  "  Its steps: R B L R B B B L (R acquire, L release, B step that commutes with "
                  "all others)\n"))
      << text;
  EXPECT_TRUE(has(text, "--analysis blocks says")) << text;
  EXPECT_FALSE(has(text, "of the run")) << text;
  EXPECT_FALSE(has(text, "No serial order")) << text;
  EXPECT_FALSE(has(text, "N access")) << text;
}

TEST(PredictedText, ShowsThePartnerOfARacingStep) {
  Finding finding = vector_reduction();
  finding.pattern = "N N";
  finding.transactions = race().transactions;
  finding.events = {predicted_event("T1", "read", "x", {}, "box.cpp:11", 0),
                    predicted_event("T1", "write", "x", {}, "box.cpp:12", 0),
                    predicted_event("T2", "read", "x", {}, "box.cpp:21", 1)};
  const std::string text = text_of({finding});
  EXPECT_TRUE(has(text,
                  "    T1                     T2\n"
                  "    ---------------------  ------------------\n"
                  "    begin put  box.cpp:10\n"
                  "    read x     box.cpp:11\n"
                  "    write x    box.cpp:12\n"
                  "                           read x  box.cpp:21\n"))
      << text;
  EXPECT_TRUE(has(text, "Its steps: N N (N access with a race)")) << text;
}

TEST(PredictedText, CutsThePatternOfALongTransaction) {
  Finding finding = vector_reduction();
  finding.pattern = "R";
  for (int i = 0; i < 1000; ++i) finding.pattern += " B";
  finding.pattern += " L R L";
  const std::string text = text_of({finding});
  EXPECT_LT(text.size(), 2000U);
  EXPECT_TRUE(has(text, "Its steps: R B B B")) << text;
  EXPECT_TRUE(has(text, "B B L R L (R")) << text;
}

TEST(PredictedText, SaysThatNoLockKeepsARaceApart) {
  EXPECT_TRUE(has(text_of({race()}),
                  "1. Data race, predicted by races in box.std\n"
                  "  x may be written and read at the same time (multilockset)\n"
                  "\n"
                  "  These accesses can meet (locks held in brackets):\n"
                  "    T1                       T2\n"
                  "    -----------------------  ------------------\n"
                  "    begin put    box.cpp:10\n"
                  "    write x [L]  box.cpp:11\n"
                  "                             read x  box.cpp:21\n"
                  "\n"
                  "  No lock keeps them apart.\n"))
      << text_of({race()});
}

TEST(PredictedText, DoubtsARaceOfTwoThatShareALock) {
  Finding finding = race();
  finding.events[1].locks = {"M", "L"};
  const std::string text = text_of({finding});
  EXPECT_TRUE(has(text, "  These accesses are suspected (locks held in brackets):\n")) << text;
  EXPECT_TRUE(has(text, "  Both hold L, but no lock is held at every access to x: this may be"))
      << text;
}

TEST(PredictedText, KnowsThatReadersDoNotKeepEachOtherOut) {
  Finding finding = race();
  for (auto& event : finding.events) event.locks = {"L for reading"};
  EXPECT_TRUE(has(text_of({finding}), "  No lock keeps them apart.\n")) << text_of({finding});
  for (auto& event : finding.events) {
    finding.events[0].locks = finding.events[1].locks = {"L for reading"};
    event.locks = {"L"};
    EXPECT_TRUE(has(text_of({finding}), "  Both hold L, but")) << text_of({finding});
  }
}

TEST(PredictedText, ShowsARaceWhosePartnerIsUnknown) {
  Finding finding = race();
  finding.events.resize(1);
  finding.transactions.resize(1);
  const std::string text = text_of({finding});
  EXPECT_TRUE(has(text, "  This access can meet another one (locks held in brackets):\n")) << text;
  EXPECT_TRUE(has(text, "  No lock is held at every access to x.\n")) << text;
}

TEST(PredictedText, ShowsADeadlockInTheOrderInWhichItComes) {
  const std::string text = text_of({deadlock()});
  EXPECT_TRUE(has(text,
                  "1. Deadlock, predicted by lock-order in ab.std\n"
                  "  T1 and T2 acquire A and B in different orders\n"
                  "\n"
                  "  This order is possible (locks held in brackets):\n"
                  "    T1                        T2\n"
                  "    ------------------------  ------------------------\n"
                  "    begin there    ab.cpp:10\n"
                  "    acquire A      ab.cpp:11\n"
                  "                              begin back     ab.cpp:20\n"
                  "                              acquire B      ab.cpp:21\n"
                  "    acquire B [A]  ab.cpp:12\n"
                  "                              acquire A [B]  ab.cpp:22\n"
                  "\n"
                  "  Then nobody can go on: each waits for a lock that another one holds.\n"))
      << text;
}

TEST(PredictedText, ShowsADeadlockOutsideOfTransactions) {
  Finding finding = deadlock();
  for (auto& transaction : finding.transactions) transaction.label = "";
  finding.transactions[0].location = finding.events[0].location;
  finding.transactions[1].location = finding.events[2].location;
  EXPECT_TRUE(has(text_of({finding}),
                  "    T1                        T2\n"
                  "    ------------------------  ------------------------\n"
                  "    acquire A      ab.cpp:11\n"
                  "                              acquire B      ab.cpp:21\n"
                  "    acquire B [A]  ab.cpp:12\n"
                  "                              acquire A [B]  ab.cpp:22\n"))
      << text_of({finding});
  finding.transactions.clear();
  EXPECT_FALSE(has(text_of({finding}), "begin")) << text_of({finding});
}

TEST(PredictedText, KeepsToTheWidth) {
  for (const std::size_t columns : {60U, 80U, 120U}) {
    for (Finding finding : {vector_blocks(), vector_reduction(), race(), deadlock()}) {
      finding.replay = "";
      const std::string text =
          print_text(report_of({finding}), {.color = false, .columns = columns});
      std::istringstream lines(text.substr(0, text.find(finding.analysis + ": violation")));
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << text;
    }
  }
}

TEST(PredictedText, PutsWhatWasObservedFirst) {
  Finding observed = vector_blocks();
  observed.analysis = "vector-clock";
  observed.verdict = Certainty::kObserved;
  observed.input = "other.std";
  const std::string text = text_of({vector_blocks(), race(), observed});
  EXPECT_TRUE(text.starts_with("1. Atomicity violation, observed by vector-clock in other.std\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "  The same transactions, also in this way:\n"
                  "    2. the same, predicted by blocks-1v, in vector.std; id " +
                      vector_blocks().id() + "\n"))
      << text;
  EXPECT_TRUE(has(text, "\n3. Data race, predicted by races")) << text;
}

TEST(PredictedText, ShowsHowBeforeThat) {
  Finding online = vector_reduction();
  online.analysis = "reduction-online";
  const std::string text = text_of({online, vector_reduction(), vector_blocks()});
  EXPECT_TRUE(text.starts_with("1. Atomicity violation, predicted by blocks-1v")) << text;
  EXPECT_TRUE(has(text,
                  "    2. R B L R B B B L at Vector.java:268, Vector.java:689, by "
                  "reduction-online; id " +
                      online.id() + "\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "    3. R B L R B B B L at Vector.java:268, Vector.java:689, by "
                  "reduction; id "))
      << text;
}

TEST(PredictedText, KeepsReductionOfOtherTransactionsApart) {
  Finding other = vector_reduction();
  other.transactions[0].label = "addAll";
  const std::string text = text_of({other, vector_blocks()});
  EXPECT_TRUE(has(text, "\n2. Atomicity violation, predicted by reduction")) << text;
  EXPECT_FALSE(has(text, "also in this way")) << text;
}

TEST(PredictedText, NamesTheVariableThatDiffers) {
  Finding other = race();
  other.events[0].variable = other.events[1].variable = "y";
  other.events[0].location.line = 12;
  EXPECT_TRUE(has(text_of({race(), other}), "    2. W-R on y at box.cpp:12, box.cpp:21; id "))
      << text_of({race(), other});
}

TEST(PredictedJson, HasKindVerdictAndPattern) {
  const auto out = nlohmann::json::parse(
      print_json(report_of({vector_blocks(), vector_reduction(), race(), deadlock()})));
  const auto& findings = out["findings"];
  ASSERT_EQ(findings.size(), 4U);
  for (const auto& finding : findings) EXPECT_EQ(finding["verdict"], "predicted");
  EXPECT_EQ(findings[0]["pattern"], "R-W-R");
  EXPECT_EQ(findings[0]["edges"].size(), 2U);
  EXPECT_EQ(findings[1]["pattern"], "R B L R B B B L");
  EXPECT_EQ(findings[1]["kind"], "atomicity");
  EXPECT_EQ(findings[1]["edges"], nlohmann::json::array());
  EXPECT_EQ(findings[1]["events"][0]["op"], "release");
  EXPECT_EQ(findings[2]["kind"], "race");
  EXPECT_EQ(findings[3]["kind"], "deadlock");
  EXPECT_EQ(findings[3]["events"][1]["thread"], "T1") << "the order is that of the analysis";
  EXPECT_EQ(findings[3]["events"][1]["locks"], nlohmann::json::array({"A"}));
}

TEST(PredictedId, DoesNotDependOnHowOftenALoopRan) {
  Finding longer = vector_reduction();
  longer.pattern = "R B L R B B B B B L";
  EXPECT_EQ(longer.id(), vector_reduction().id());
  Finding other = vector_blocks();
  other.pattern = "R-W-W";
  EXPECT_NE(other.id(), vector_blocks().id());
}

TEST(MoverPattern, IsToldFromOthers) {
  for (const char* movers : {"R", "R L", "R B L R B L", "N N"}) {
    EXPECT_TRUE(is_mover_pattern(movers)) << movers;
  }
  for (const char* other : {"", "R-W-R", "W-W", "R(x)-W(x)", "R B ", "RBL", "R W", "acquire"}) {
    EXPECT_FALSE(is_mover_pattern(other)) << other;
  }
}

}  // namespace
}  // namespace tomos
