#include "report/code_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "report/layout.h"

namespace tomos {

namespace {

constexpr std::uint32_t kContext = 2;
constexpr std::uintmax_t kLargest = std::uintmax_t{16} << 20;
constexpr std::size_t kTab = 8;

// What stands below a line.
struct Mark {
  std::uint32_t column = 0;  // 0: unknown
  std::string text;

  friend bool operator==(const Mark&, const Mark&) = default;
};
using Marks = std::map<std::uint32_t, std::vector<Mark>>;  // by line

// Tabs become blanks, so that the caret can stand where it should.
std::string expanded(std::string_view line) {
  std::string out;
  for (const char c : line) {
    if (c == '\t') {
      out.append(kTab - out.size() % kTab, ' ');
    } else if (c != '\r') {
      out += c;
    }
  }
  return out;
}

// Where the character of a column (in bytes, from 1, as compilers count) is shown.
std::size_t shown_column(std::string_view line, std::uint32_t column) {
  return width(printable(expanded(line.substr(0, column - 1))));
}

std::string cut_line(std::string line, std::size_t columns) {
  line = fit(line, columns, Cut::kTail);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string draw_line(const std::vector<std::string>& lines, std::uint32_t number,
                      std::size_t digits, const std::vector<Mark>* marks, std::size_t columns) {
  const std::string& line = lines[number - 1];
  std::string out = cut_line(
      fmt::format("      {:>{}} | {}", number, digits, printable(expanded(line))), columns);
  if (marks == nullptr) return out;
  for (const Mark& mark : *marks) {
    const bool known = mark.column > 0 && mark.column <= line.size();
    std::size_t indent = known ? shown_column(line, mark.column) : line.find_first_not_of(" \t");
    if (!known)
      indent = indent == std::string::npos
                   ? 0
                   : shown_column(line, static_cast<std::uint32_t>(indent + 1));
    const std::string gutter = fmt::format("      {:>{}} | ", "", digits);
    // In a long line the words would stand beyond the edge.
    const std::size_t room = columns > gutter.size() + 30 ? columns - gutter.size() - 30 : 0;
    out += wrap(gutter + std::string(std::min(indent, room), ' ') + "^ ", mark.text, columns);
  }
  return out;
}

std::string draw_file(const std::string& file, const std::vector<std::string>& lines,
                      const Marks& marks, std::size_t columns) {
  const auto last = static_cast<std::uint32_t>(lines.size());
  const std::size_t digits =
      fmt::to_string(std::min(marks.rbegin()->first + kContext, last)).size();
  std::string out = cut_line("    " + file, columns);
  std::uint32_t next = 0;  // the line after the last one drawn
  for (const auto& [line, at] : marks) {
    const std::uint32_t first = std::max(next, line > kContext ? line - kContext : 1);
    if (next != 0 && first > next) out += fmt::format("      {:>{}} |\n", "..", digits);
    // Up to this mark; what follows it belongs to the next mark's context if that comes soon.
    const auto after = marks.upper_bound(line);
    const std::uint32_t until = std::min(
        last, after == marks.end() ? line + kContext : std::min(line + kContext, after->first - 1));
    for (std::uint32_t number = first; number <= until; ++number) {
      out += draw_line(lines, number, digits, number == line ? &at : nullptr, columns);
    }
    next = until + 1;
  }
  return out;
}

}  // namespace

std::string says(const Finding::Event& event) {
  std::string text =
      event.thread.empty() ? event.op : fmt::format("{}: {}", event.thread, event.op);
  if (!event.variable.empty()) text += ' ' + event.variable;
  if (!event.locks.empty()) text += fmt::format(" [{}]", fmt::join(event.locks, ", "));
  return text;
}

const std::vector<std::string>& SourceLines::of(const std::string& file) {
  const auto [at, is_new] = files_.try_emplace(file);
  if (!is_new) return at->second;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error) ||
      std::filesystem::file_size(file, error) > kLargest || error) {
    return at->second;
  }
  std::ifstream in(file, std::ios::binary);
  for (std::string line; std::getline(in, line);) at->second.push_back(std::move(line));
  return at->second;
}

std::string code_frames(const Finding& finding, SourceLines& sources, std::size_t columns) {
  std::vector<std::pair<std::string, Marks>> files;  // in the order of the events
  for (const Finding::Event& event : finding.events) {
    const Location& at = event.location;
    if (at.file.empty() || at.line == 0 || at.line > sources.of(at.file).size()) continue;
    auto file = std::ranges::find(files, at.file, &std::pair<std::string, Marks>::first);
    if (file == files.end()) file = files.insert(file, {at.file, {}});
    std::vector<Mark>& marks = file->second[at.line];
    const Mark mark = {.column = at.column, .text = says(event)};
    if (std::ranges::find(marks, mark) == marks.end()) marks.push_back(mark);
  }
  std::string out;
  for (const auto& [file, marks] : files) out += draw_file(file, sources.of(file), marks, columns);
  return out;
}

}  // namespace tomos
