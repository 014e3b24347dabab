// What the lines of a saved schedule (schedule_file.h) are made of, and those that say what a
// model checker has found.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "report/finding.h"

namespace tomos::campaign {

// With a backslash before what could not be written otherwise, and the other way round.
std::string escaped(std::string_view text);
std::optional<std::string> unescaped(std::string_view text);

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The first word, and what follows it.
std::pair<std::string_view, std::string_view> split_word(std::string_view line);

// A violation of atomicity, a line each for what it is, its blocks, steps and edges; what its id
// depends on comes back.
std::string to_lines(const Finding& finding);

class FindingReader {
 public:
  static bool takes(std::string_view word);
  // What is wrong with the line, or nothing.
  std::string take(std::string_view word, std::string_view value);
  // Nothing if there was no line of it.
  std::optional<Finding> result(const std::string& message) &&;

 private:
  bool take_found(std::string_view value);

  std::optional<Finding> finding_;
};

}  // namespace tomos::campaign
