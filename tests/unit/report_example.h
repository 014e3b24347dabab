// A finding for the tests of the printers: T1's withdraw was cut by T2's.
#pragma once

#include <string>

#include "report/report.h"

namespace tomos {

inline bool has(const std::string& text, const std::string& part) { return text.contains(part); }

inline Finding account_finding() {
  Finding finding;
  finding.analysis = "vector-clock";
  finding.pattern = "R-W-W";
  finding.message = "withdraw (T1, account.cpp:12) is not atomic";
  finding.transactions = {
      {.label = "withdraw", .thread = "T1", .location = parse_location("account.cpp:12")},
      {.label = "withdraw", .thread = "T2", .location = parse_location("account.cpp:18")}};
  const auto event = [](const char* thread, const char* op, const char* where,
                        std::size_t transaction) {
    return Finding::Event{.thread = thread,
                          .op = op,
                          .variable = "balance",
                          .locks = {"acnt"},
                          .location = parse_location(where),
                          .stack = {},
                          .transaction = transaction};
  };
  finding.events = {event("T1", "read", "account.cpp:4", 0),
                    event("T2", "write", "account.cpp:7", 1),
                    event("T1", "write", "account.cpp:7", 0)};
  finding.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  finding.fix = "hold acnt from account.cpp:4 to account.cpp:7";
  finding.replay = "tomos check account.std";
  finding.input = "account.std";
  return finding;
}

inline Report account_report() {
  Report report;
  report.tool = "check";
  report.inputs = {"account.std"};
  report.verdicts = {{.analysis = "vector-clock", .verdict = Verdict::kViolation}};
  report.stats = {.events = 25,
                  .threads = 3,
                  .variables = 1,
                  .locks = 1,
                  .transactions = 2,
                  .seconds = 0.25,
                  .peak_rss = 4096};
  report.findings = {account_finding()};
  return report;
}

}  // namespace tomos
