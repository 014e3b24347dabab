// Small programs as tests write them, put to a monitor.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "event/monitor.h"
#include "report/finding.h"
#include "trace/input.h"
#include "trace/std_text.h"
#include "trace/validate.h"

namespace tomos {

// One event a word. Events without a location get their number.
inline std::string words_to_std(std::string_view words) {
  std::istringstream in{std::string(words)};
  std::string text;
  std::string word;
  for (unsigned number = 1; in >> word; ++number) {
    const bool located = word.find('|') != word.rfind('|');
    text += located ? word : word + "|" + std::to_string(number);
    text += '\n';
  }
  return text;
}

// On each line a thread and what it does, line after line. "@" gives an event a place; otherwise it
// has its number.
inline std::string program_to_std(std::string_view program) {
  std::istringstream in{std::string(program)};
  std::string text;
  unsigned number = 1;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string thread;
    words >> thread;
    for (std::string word; words >> word; ++number) {
      const std::size_t at = word.find('@');
      const std::string place =
          at == std::string::npos ? std::to_string(number) : word.substr(at + 1);
      text += fmt::format("{}|{}|{}\n", thread, word.substr(0, at), place);
    }
  }
  return text;
}

struct Judgement {
  std::vector<Finding> findings;
  std::string unknown;
  std::uint64_t left_out = 0;

  // What was found, by pattern.
  std::vector<std::string> patterns() const {
    std::vector<std::string> result;
    result.reserve(findings.size());
    for (const Finding& finding : findings) result.push_back(finding.pattern);
    return result;
  }
};

// Also checks that a clone comes to the same.
inline Judgement judge_std(Monitor& monitor, const std::string& text) {
  Validated source(read_std(std::make_unique<Input>(text, "trace")), "trace", Validation::kStrict);
  for (Batch batch;;) {
    const Result<void> read = source.next(batch);
    EXPECT_TRUE(read) << read.error().where << ": " << read.error().what;
    if (!read || batch.events.empty()) break;
    monitor.on_events(batch.events);
  }
  const std::unique_ptr<Monitor> copy = monitor.clone();
  monitor.finish();
  copy->finish();
  Judgement judgement{.findings = monitor.findings(source.names()),
                      .unknown = monitor.unknown(),
                      .left_out = monitor.left_out()};
  EXPECT_EQ(copy->findings(source.names()).size(), judgement.findings.size());
  return judgement;
}

inline Judgement judge_program(Monitor& monitor, std::string_view program) {
  return judge_std(monitor, program_to_std(program));
}

}  // namespace tomos
