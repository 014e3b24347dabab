#include "campaign/schedule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tomos::campaign {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f || c == '#') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  if (out.ends_with(' ')) out.replace(out.size() - 1, 1, "\\x20");  // would be cut off
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char kind = ++i < text.size() ? text[i] : '\0';
    if (kind == '\\') {
      out += '\\';
    } else if (kind == 'n') {
      out += '\n';
    } else if (kind == 'x' && i + 2 < text.size()) {
      unsigned value = 0;
      const char* begin = text.data() + i + 1;
      const auto [stop, error] = std::from_chars(begin, begin + 2, value, 16);
      if (error != std::errc() || stop != begin + 2) return std::nullopt;
      out += static_cast<char>(value);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

// The first word, and what follows it.
std::pair<std::string_view, std::string_view> split_word(std::string_view line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  std::string_view rest = line.substr(end);
  if (!rest.empty()) rest.remove_prefix(1);
  return {line.substr(0, end), rest};
}

namespace {

constexpr std::string_view kNothing = "-";
constexpr std::size_t kNoBlock = SIZE_MAX;

// A text that is a word of its line, whatever it is.
std::string as_word(std::string_view text) {
  if (text.empty()) return std::string(kNothing);
  if (text == kNothing) return "\\x2d";
  std::string out;
  for (const char c : escaped(text)) {
    if (c == ' ') {
      out += "\\x20";
    } else {
      out += c;
    }
  }
  return out;
}

// The words of a line, `count` of them.
std::optional<std::vector<std::string>> words_of(std::string_view line, std::size_t count) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const auto [word, rest] = split_word(line);
    auto text = unescaped(word);
    if (!text) return std::nullopt;
    words.push_back(word == kNothing ? "" : std::move(*text));
    line = rest;
  }
  if (words.size() != count) return std::nullopt;
  return words;
}

bool take_block(Finding& into, std::string_view value) {
  const auto words = words_of(value, 3);
  if (!words) return false;
  into.transactions.push_back(
      {.label = (*words)[2], .thread = (*words)[0], .location = parse_location((*words)[1])});
  return true;
}

bool take_step(Finding& into, std::string_view value) {
  const auto words = words_of(value, 5);
  if (!words) return false;
  std::size_t block = kNoBlock;
  if (const std::string& text = (*words)[4]; !text.empty()) {
    block = number<std::size_t>(text).value_or(kNoBlock);
    if (block >= into.transactions.size()) return false;
  }
  into.events.push_back({.thread = (*words)[0],
                         .op = (*words)[1],
                         .variable = (*words)[3],
                         .locks = {},
                         .location = parse_location((*words)[2]),
                         .stack = {},
                         .transaction = block});
  return true;
}

bool take_edge(Finding& into, std::string_view value) {
  const auto [from, to] = split_word(value);
  const auto first = number<std::size_t>(from);
  const auto second = number<std::size_t>(to);
  const std::size_t steps = into.events.size();
  if (!first || !second || *first >= steps || *second >= steps) return false;
  into.edges.push_back({.from = *first, .to = *second});
  return true;
}

}  // namespace

std::string to_lines(const Finding& finding) {
  std::string out =
      fmt::format("found {} {}\n", as_word(finding.analysis), as_word(finding.pattern));
  for (const Finding::Transaction& block : finding.transactions) {
    out += fmt::format("block {} {} {}\n", as_word(block.thread),
                       as_word(to_string(block.location)), as_word(block.label));
  }
  for (const Finding::Event& step : finding.events) {
    const std::string block = step.transaction == kNoBlock ? "" : fmt::to_string(step.transaction);
    out += fmt::format("step {} {} {} {} {}\n", as_word(step.thread), as_word(step.op),
                       as_word(to_string(step.location)), as_word(step.variable), as_word(block));
  }
  for (const Finding::Edge& edge : finding.edges) {
    out += fmt::format("edge {} {}\n", edge.from, edge.to);
  }
  return out;
}

bool FindingReader::takes(std::string_view word) {
  return word == "found" || word == "block" || word == "step" || word == "edge";
}

std::string FindingReader::take(std::string_view word, std::string_view value) {
  if (word == "found") {
    if (finding_) return "'found' stands here a second time";
    return take_found(value) ? "" : "it should read 'found ANALYSIS PATTERN'";
  }
  if (!finding_) return fmt::format("a {} before the line 'found ...'", word);
  if (word == "block") {
    return take_block(*finding_, value)
               ? ""
               : "not a block: it should read 'block THREAD FILE:LINE LABEL'";
  }
  if (word == "step") {
    return take_step(*finding_, value)
               ? ""
               : "not a step: it should read 'step THREAD read FILE:LINE VARIABLE BLOCK'";
  }
  return take_edge(*finding_, value) ? "" : "not an edge: it should read 'edge STEP STEP'";
}

std::optional<Finding> FindingReader::result(const std::string& message) && {
  if (finding_) finding_->message = message;
  return std::move(finding_);
}

bool FindingReader::take_found(std::string_view value) {
  const auto words = words_of(value, 2);
  if (!words) return false;
  Finding& made = finding_.emplace();
  made.analysis = (*words)[0];
  made.pattern = (*words)[1];
  return true;
}

}  // namespace tomos::campaign
