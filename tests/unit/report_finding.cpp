#include <gtest/gtest.h>

#include <vector>

#include "report/finding.h"
#include "report_example.h"

namespace tomos {
namespace {

TEST(Location, TellsItsPartsApart) {
  EXPECT_EQ(parse_location("a.cpp:13:5"), (Location{.file = "a.cpp", .line = 13, .column = 5}));
  EXPECT_EQ(parse_location("a.cpp:13"), (Location{.file = "a.cpp", .line = 13}));
  EXPECT_EQ(parse_location("13"), (Location{.line = 13}));
  EXPECT_EQ(parse_location("in main"), (Location{.file = "in main"}));
  EXPECT_EQ(parse_location(""), Location());
  EXPECT_EQ(parse_location("C:\\a.cpp:7"), (Location{.file = "C:\\a.cpp", .line = 7}));
}

TEST(Location, KeepsWhatIsNotANumberWeWouldWrite) {
  for (const char* text : {"a.cpp:0", "a.cpp:007", "a.cpp:99999999999", ":13",
                           "a.cpp:", "::", "a.cpp:-1", "a.cpp:+1", "0", "00"}) {
    EXPECT_EQ(parse_location(text).file, text);
    EXPECT_EQ(parse_location(text).line, 0U) << text;
  }
}

TEST(Location, ComesBackAsItWas) {
  for (const char* text : {"a.cpp:13:5", "a.cpp:13", "13", "13:5", "in main", "a:b:c", "a.cpp:0:7",
                           "4294967295", "4294967296", ":", ":1", "x:1:2:3", "a.cpp:1:"}) {
    EXPECT_EQ(to_string(parse_location(text)), text);
  }
  EXPECT_EQ(to_string(Location()), "?");
}

TEST(FindingId, IsSixteenHexDigitsThatStayTheSameOverVersions) {
  EXPECT_EQ(account_finding().id(), "95207e389440f8ed");
}

TEST(FindingId, DoesNotDependOnWhatChangesFromRunToRun) {
  Finding other = account_finding();
  other.transactions[0].thread = "T7";
  for (auto& event : other.events) {
    event.thread = "T7";
    event.variable = "0x7ffe1234";
    event.locks = {"0x5555"};
  }
  other.count = 12;
  other.input = "another.std";
  other.message = "other words";
  EXPECT_EQ(other.id(), account_finding().id());
}

TEST(FindingId, DependsOnWhatTheFindingIsAbout) {
  std::vector<Finding> others(6, account_finding());
  others[0].analysis = "summarized";
  others[1].kind = Kind::kAnomaly;
  others[2].transactions[1].label = "deposit";
  others[3].events[2].op = "read";
  others[4].events[2].location.line = 8;
  others[5].transactions[0].location.line = 13;
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(others[i].id(), account_finding().id()) << i;
  }
}

TEST(FindingId, DoesNotConfuseNeighbouringStrings) {
  Finding one = account_finding();
  Finding two = account_finding();
  one.transactions[0].label = "ab";
  one.transactions[0].location.file = "c";
  two.transactions[0].label = "a";
  two.transactions[0].location.file = "bc";
  EXPECT_NE(one.id(), two.id());
}

TEST(MergeEqual, AddsCountsAndKeepsTheFirst) {
  Finding other = account_finding();
  other.events[2].location.line = 8;
  Finding again = account_finding();
  again.count = 4;
  again.input = "second.std";
  const std::vector<Finding> merged = merge_equal({account_finding(), other, again});
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].count, 5U);
  EXPECT_EQ(merged[0].input, "account.std");
  EXPECT_EQ(merged[1].id(), other.id());
  EXPECT_EQ(merged[1].count, 1U);
}

}  // namespace
}  // namespace tomos
