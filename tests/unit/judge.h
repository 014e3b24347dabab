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

// On each line a thread and what it does, line after line. "@" gives an event a place; otherwise it
// has its number.
inline std::string to_std_text(std::string_view program) {
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

inline Judgement judge_program(Monitor& monitor, std::string_view program) {
  const std::string text = to_std_text(program);
  Validated source(read_std(std::make_unique<Input>(text, "trace")), "trace", Validation::kStrict);
  for (Batch batch;;) {
    const Result<void> read = source.next(batch);
    EXPECT_TRUE(read) << read.error().where << ": " << read.error().what;
    if (!read || batch.events.empty()) break;
    monitor.on_events(batch.events);
  }
  monitor.finish();
  return {.findings = monitor.findings(source.names()),
          .unknown = monitor.unknown(),
          .left_out = monitor.left_out()};
}

}  // namespace tomos
