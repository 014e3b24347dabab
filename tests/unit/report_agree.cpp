#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "report/json.h"
#include "report/report.h"
#include "report/text.h"
#include "report_example.h"
#include "report_predicted.h"

namespace tomos {
namespace {

using Titles = std::vector<std::string>;

Finding predicted(std::string analysis) {
  Finding finding = account_finding();
  finding.analysis = std::move(analysis);
  finding.verdict = Certainty::kPredicted;
  return finding;
}

Finding reduced() {
  Finding finding = vector_reduction();
  finding.transactions = {account_finding().transactions[0]};
  finding.input = account_finding().input;
  return finding;
}

TEST(Agree, MakesOneOfWhatSeveralAnalysesFound) {
  const auto agreed = agree({account_finding(), reduced(), predicted("blocks")});
  ASSERT_EQ(agreed.size(), 1U);
  EXPECT_EQ(agreed[0].analyses, (Titles{"vector-clock", "blocks", "reduction"}));
  EXPECT_EQ(agreed[0].verdict, Certainty::kObserved);
  EXPECT_EQ(agreed[0].pattern, "R-W-W");
}

TEST(Agree, TheMostCertainStaysWhateverTheOrder) {
  const auto agreed = agree({predicted("blocks"), account_finding()});
  ASSERT_EQ(agreed.size(), 1U);
  EXPECT_EQ(agreed[0].analysis, "vector-clock");
  EXPECT_EQ(agreed[0].analyses, (Titles{"vector-clock", "blocks"}));
  EXPECT_EQ(agreed[0].verdict, Certainty::kObserved);
}

TEST(Agree, OtherPlacesVariablesAndTransactionsStayApart) {
  Finding place = predicted("blocks");
  place.events[0].location.line = 5;
  Finding variable = predicted("blocks");
  for (auto& event : variable.events) event.variable = "limit";
  Finding transaction = predicted("blocks");
  transaction.transactions[1].label = "deposit";
  EXPECT_EQ(agree({account_finding(), place, variable, transaction}).size(), 4U);
  Finding other = reduced();
  other.transactions[0].label = "deposit";
  EXPECT_EQ(agree({account_finding(), other}).size(), 2U);
}

TEST(Agree, TheIdIsThatOfThePlace) {
  const std::string together = agree({account_finding(), predicted("blocks")})[0].id();
  EXPECT_EQ(agree({predicted("blocks")})[0].id(), together);
  Finding other_way = predicted("blocks");
  std::swap(other_way.transactions[0], other_way.transactions[1]);
  std::swap(other_way.events[0], other_way.events[1]);
  EXPECT_EQ(agree({other_way})[0].id(), together);
  EXPECT_NE(agree({reduced()})[0].id(), together);
  EXPECT_NE(agree({race()})[0].id(), together);
}

TEST(Agree, ThePrintersNameAllAnalyses) {
  Report report = account_report();
  report.verdicts.push_back({.analysis = "blocks", .verdict = Verdict::kViolation});
  report.findings = agree({account_finding(), predicted("blocks")});
  report.findings[0].test = "AccountTest.Transfer";
  const std::string text = print_text(report, {.columns = 200});
  EXPECT_NE(text.find("observed; found by vector-clock, blocks in account.std, in test "
                      "AccountTest.Transfer\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("vector-clock: violation (1 finding), blocks: violation (1 finding)"),
            std::string::npos)
      << text;
  const std::string json = print_json(report);
  EXPECT_NE(json.find("\"analysis\": \"vector-clock\""), std::string::npos);
  EXPECT_NE(json.find("\"test\": \"AccountTest.Transfer\""), std::string::npos);
}

}  // namespace
}  // namespace tomos
