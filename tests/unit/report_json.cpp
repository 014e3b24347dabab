#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "report/json.h"
#include "report_example.h"

namespace tomos {
namespace {

using nlohmann::json;

TEST(Json, SaysEverythingTheReportKnows) {
  Report report = account_report();
  report.verdicts.push_back(
      {.analysis = "summarized", .verdict = Verdict::kUnknown, .left_out = 7});
  report.notes = {"something was skipped"};
  const json out = json::parse(print_json(report));
  EXPECT_EQ(out["schema"], "tomos/1");
  EXPECT_EQ(out["tool"], "check");
  EXPECT_EQ(out["input"], json::array({"account.std"}));
  EXPECT_EQ(out["verdicts"], (json{{"vector-clock", "violation"}, {"summarized", "unknown"}}));
  EXPECT_EQ(out["left_out"], (json{{"vector-clock", 0}, {"summarized", 7}}));
  EXPECT_EQ(out["notes"], json::array({"something was skipped"}));
  EXPECT_EQ(out["stats"], (json{{"events", 25},
                                {"threads", 3},
                                {"variables", 1},
                                {"locks", 1},
                                {"transactions", 2},
                                {"seconds", 0.25},
                                {"peak_rss", 4096}}));
  ASSERT_EQ(out["findings"].size(), 1U);
  const json& finding = out["findings"][0];
  EXPECT_EQ(finding["id"], account_finding().id());
  EXPECT_EQ(finding["kind"], "atomicity");
  EXPECT_EQ(finding["verdict"], "observed");
  EXPECT_EQ(finding["pattern"], "R-W-W");
  EXPECT_EQ(finding["count"], 1);
  EXPECT_EQ(finding["transactions"][1],
            (json{{"label", "withdraw"},
                  {"thread", "T2"},
                  {"location", {{"file", "account.cpp"}, {"line", 18}, {"column", 0}}}}));
  EXPECT_EQ(finding["events"][0],
            (json{{"thread", "T1"},
                  {"op", "read"},
                  {"variable", "balance"},
                  {"locks", {"acnt"}},
                  {"location", {{"file", "account.cpp"}, {"line", 4}, {"column", 0}}},
                  {"stack", json::array()},
                  {"transaction", 0}}));
  EXPECT_EQ(finding["edges"], json::parse(R"([{"from":0,"to":1},{"from":1,"to":2}])"));
  EXPECT_EQ(finding["fix"], "hold acnt from account.cpp:4 to account.cpp:7");
  EXPECT_EQ(finding["replay"], "tomos check account.std");
}

TEST(Json, SaysHowSureAFindingIs) {
  Report report = account_report();
  EXPECT_EQ(json::parse(print_json(report))["findings"][0]["confidence"], "full");
  report.findings[0].doubt = "libplain.so synchronises";
  const json finding = json::parse(print_json(report))["findings"][0];
  EXPECT_EQ(finding["confidence"], "reduced");
  EXPECT_EQ(finding["doubt"], "libplain.so synchronises");
}

TEST(Json, IsUtf8WhateverTheNamesAre) {
  Report report = account_report();
  report.findings[0].events[0].variable = "bal\xff\xfe";
  report.inputs = {"\x80.std"};
  const json out = json::parse(print_json(report));
  EXPECT_EQ(out["findings"][0]["events"][0]["variable"], "bal\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(out["input"][0], "\xef\xbf\xbd.std");
}

}  // namespace
}  // namespace tomos
