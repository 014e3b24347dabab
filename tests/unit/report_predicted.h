// Findings of the predictive analyses for the tests of the printers, one of each kind.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace tomos {

inline Finding::Event predicted_event(const char* thread, const char* op, const char* variable,
                                      std::vector<std::string> locks, const char* where,
                                      std::size_t transaction) {
  return {.thread = thread,
          .op = op,
          .variable = variable,
          .locks = std::move(locks),
          .location = parse_location(where),
          .stack = {},
          .transaction = transaction};
}

// The constructor of Vector (Wang & Stoller, Fig. 7), as the blocks see it.
inline Finding vector_blocks() {
  Finding finding;
  finding.analysis = "blocks-1v";
  finding.verdict = Certainty::kPredicted;
  finding.pattern = "R-W-R";
  finding.message = "Vector (T1, Vector.java:264) is not atomic";
  finding.transactions = {
      {.label = "Vector", .thread = "T1", .location = parse_location("Vector.java:264")},
      {.label = "removeAllElements",
       .thread = "T2",
       .location = parse_location("Vector.java:628")}};
  finding.events = {predicted_event("T1", "read", "count", {"v1"}, "Vector.java:267", 0),
                    predicted_event("T2", "write", "count", {"v1"}, "Vector.java:631", 1),
                    predicted_event("T1", "read", "count", {"v1"}, "Vector.java:690", 0)};
  finding.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  finding.fix = "hold v1 from Vector.java:267 to Vector.java:690";
  finding.replay = "tomos check --analysis blocks-1v vector.std";
  finding.input = "vector.std";
  return finding;
}

// The same as reduction sees it: there are two synchronized blocks.
inline Finding vector_reduction() {
  Finding finding = vector_blocks();
  finding.analysis = "reduction";
  finding.pattern = "R B L R B B B L";
  finding.message = "Vector (T1, Vector.java:264) acquires v1 again after it has released it";
  finding.transactions.resize(1);
  finding.events = {predicted_event("T1", "release", "v1", {"v1"}, "Vector.java:268", 0),
                    predicted_event("T1", "acquire", "v1", {}, "Vector.java:689", 0)};
  finding.edges.clear();
  return finding;
}

inline Finding race() {
  Finding finding;
  finding.analysis = "races";
  finding.kind = Kind::kRace;
  finding.verdict = Certainty::kPredicted;
  finding.pattern = "W-R";
  finding.message = "x may be written and read at the same time (multilockset)";
  finding.transactions = {
      {.label = "put", .thread = "T1", .location = parse_location("box.cpp:10")},
      {.label = "", .thread = "T2", .location = parse_location("box.cpp:21")}};
  finding.events = {predicted_event("T1", "write", "x", {"L"}, "box.cpp:11", 0),
                    predicted_event("T2", "read", "x", {}, "box.cpp:21", 1)};
  finding.input = "box.std";
  return finding;
}

// Each pair of a thread together, as the analysis thinks.
inline Finding deadlock() {
  Finding finding;
  finding.analysis = "lock-order";
  finding.kind = Kind::kDeadlock;
  finding.verdict = Certainty::kPredicted;
  finding.message = "T1 and T2 acquire A and B in different orders";
  finding.transactions = {
      {.label = "there", .thread = "T1", .location = parse_location("ab.cpp:10")},
      {.label = "back", .thread = "T2", .location = parse_location("ab.cpp:20")}};
  finding.events = {predicted_event("T1", "acquire", "A", {}, "ab.cpp:11", 0),
                    predicted_event("T1", "acquire", "B", {"A"}, "ab.cpp:12", 0),
                    predicted_event("T2", "acquire", "B", {}, "ab.cpp:21", 1),
                    predicted_event("T2", "acquire", "A", {"B"}, "ab.cpp:22", 1)};
  finding.input = "ab.std";
  return finding;
}

inline Report report_of(std::vector<Finding> findings) {
  Report report;
  report.tool = "check";
  report.findings = std::move(findings);
  for (const Finding& finding : report.findings) {
    report.verdicts.push_back({.analysis = finding.analysis, .verdict = Verdict::kViolation});
  }
  return report;
}

}  // namespace tomos
