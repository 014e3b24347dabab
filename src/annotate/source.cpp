#include "annotate/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tomos::annotate {

namespace {

constexpr std::size_t kContext = 3;

std::vector<std::size_t> line_starts(std::string_view text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(i + 1);
  }
  return starts;
}

std::optional<std::size_t> offset_in(std::string_view text, const std::vector<std::size_t>& starts,
                                     std::uint32_t line, std::uint32_t column) {
  if (line == 0 || line > starts.size() || column == 0) return std::nullopt;
  const std::size_t offset = starts[line - 1] + column - 1;
  return offset <= text.size() ? std::optional(offset) : std::nullopt;
}

bool is_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// Behind white space and comments.
std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at).starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      break;
    }
  }
  return at;
}

// Behind the bracket that closes the one at `at`.
std::size_t skip_brackets(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return at;
}

// What was put before a line and ends with a line of its own.
std::string whole_lines(const std::string& before, const std::string& after) {
  if (!after.ends_with(before) || after.size() == before.size()) {
    const std::size_t end = after.rfind('\n', after.size() - 2);
    return end == std::string::npos || after.size() < 2 ? "" : after.substr(0, end + 1);
  }
  const std::string made = after.substr(0, after.size() - before.size());
  return made.ends_with('\n') ? made : "";
}

std::string_view directive_in(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return {};
  line.remove_prefix(hash + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const auto end = std::ranges::find_if_not(line, is_letter);
  return line.substr(0, static_cast<std::size_t>(end - line.begin()));
}

}  // namespace

Source::Source(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)), lines_(line_starts(text_)) {}

std::optional<std::size_t> Source::offset(std::uint32_t line, std::uint32_t column) const {
  return offset_in(text_, lines_, line, column);
}

std::uint32_t Source::line(std::size_t offset) const {
  return static_cast<std::uint32_t>(std::ranges::upper_bound(lines_, offset) - lines_.begin());
}

std::size_t Source::behind_qualifiers(std::size_t offset) const {
  constexpr std::array kPlain = {"const", "volatile", "override", "final"};
  constexpr std::array kWithBrackets = {"noexcept", "throw"};
  const std::string_view text = text_;
  while (true) {
    const std::size_t at = skip_space(text, offset);
    if (text.substr(at).starts_with("&")) {
      offset = at + (text.substr(at).starts_with("&&") ? 2 : 1);
      continue;
    }
    const auto end = std::ranges::find_if_not(text.substr(at), is_letter);
    const std::string_view word(text.data() + at, end);
    if (std::ranges::find(kPlain, word) != kPlain.end()) {
      offset = at + word.size();
    } else if (std::ranges::find(kWithBrackets, word) != kWithBrackets.end()) {
      offset = at + word.size();
      const std::size_t bracket = skip_space(text, offset);
      if (bracket < text.size() && text[bracket] == '(') offset = skip_brackets(text, bracket);
    } else {
      return offset;
    }
  }
}

// Behind the last #include that is under no condition but the file's own guard.
Insertion Source::include(const std::string& spelling, std::size_t before) const {
  const std::string end = text_.find("\r\n") == std::string::npos ? "\n" : "\r\n";
  std::size_t at = 0;
  int depth = 0;
  int guard = 0;
  bool is_first = true;
  bool follows_guard = false;
  for (std::size_t i = 0; i + 1 < lines_.size() && lines_[i + 1] <= before; ++i) {
    const std::string_view line(text_.data() + lines_[i], lines_[i + 1] - lines_[i]);
    const std::string_view word = directive_in(line);
    if (word.empty()) continue;
    if (word.starts_with("if")) ++depth;
    if (word == "endif") --depth;
    const bool is_guard = follows_guard && word == "define";
    if (is_guard) guard = 1;
    follows_guard = is_first && word == "ifndef";
    is_first = false;
    const bool is_once = word == "pragma" && line.find("once") != std::string_view::npos;
    if (depth <= guard && (word == "include" || is_guard || is_once)) at = lines_[i + 1];
  }
  return {.offset = at, .text = "#include " + spelling + end};
}

Edited::Edited(const Source& source, std::vector<Insertion> insertions)
    : source_(&source), insertions_(std::move(insertions)) {
  std::size_t done = 0;
  for (const Insertion& one : insertions_) {
    text_.append(source.text(), done, one.offset - done);
    text_ += one.text;
    done = one.offset;
  }
  text_.append(source.text(), done);
}

std::optional<Edited::Origin> Edited::origin(std::uint32_t line, std::uint32_t column) const {
  const auto found = offset_in(text_, line_starts(text_), line, column);
  if (!found) return std::nullopt;
  std::size_t inserted = 0;
  for (const Insertion& one : insertions_) {
    const std::size_t begin = one.offset + inserted;
    // The end of a declarator is still before what was put there.
    if (*found <= begin) break;
    if (*found < begin + one.text.size()) {
      return Origin{.offset = one.offset, .annotation = one.annotation};
    }
    inserted += one.text.size();
  }
  return Origin{.offset = *found - inserted};
}

std::string Edited::patch() const {
  if (insertions_.empty()) return {};
  // Insertions never end in the middle of a line that they begin, but for whole lines: so the lines
  // of the old text, each with what becomes of it.
  struct Line {
    std::string before;
    std::string after;
  };
  const std::string& old = source_->text();
  std::vector<Line> lines;
  std::size_t next = 0;
  std::size_t done = 0;
  while (done < old.size()) {
    const std::size_t newline = old.find('\n', done);
    const std::size_t end = newline == std::string::npos ? old.size() : newline + 1;
    Line line = {.before = old.substr(done, end - done), .after = {}};
    for (; next < insertions_.size() && insertions_[next].offset < end; ++next) {
      line.after.append(old, done, insertions_[next].offset - done);
      line.after += insertions_[next].text;
      done = insertions_[next].offset;
    }
    line.after.append(old, done, end - done);
    lines.push_back(std::move(line));
    done = end;
  }
  const auto count = [](const std::string& text) {
    const auto newlines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    return newlines + (text.ends_with('\n') ? 0 : 1);
  };
  const auto print = [](std::string& into, char sign, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t newline = text.find('\n', at);
      const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
      into += sign;
      into.append(text, at, end - at);
      if (newline == std::string::npos) into += "\n\\ No newline at end of file\n";
      at = end;
    }
  };
  std::string made = fmt::format("--- a/{0}\n+++ b/{0}\n", source_->path());
  std::size_t added = 0;  // lines so far
  for (std::size_t i = 0; i < lines.size();) {
    if (lines[i].before == lines[i].after) {
      ++i;
      continue;
    }
    const std::size_t begin = i < kContext ? 0 : i - kContext;
    std::size_t last = i;  // that is changed
    for (std::size_t j = i; j < lines.size() && j <= last + 2 * kContext; ++j) {
      if (lines[j].before != lines[j].after) last = j;
    }
    const std::size_t end = std::min(lines.size(), last + kContext + 1);
    std::string hunk;
    std::size_t new_count = 0;
    for (std::size_t j = begin; j < end;) {
      if (lines[j].before == lines[j].after) {
        print(hunk, ' ', lines[j].before);
        ++new_count;
        ++j;
        continue;
      }
      std::size_t behind = j;
      while (behind < end && lines[behind].before != lines[behind].after) ++behind;
      // A whole line that was put before another leaves that one alone.
      const std::string whole = whole_lines(lines[j].before, lines[j].after);
      if (!whole.empty()) {
        print(hunk, '+', whole);
        new_count += count(whole);
        lines[j].after.erase(0, whole.size());
        continue;
      }
      for (std::size_t k = j; k < behind; ++k) print(hunk, '-', lines[k].before);
      for (std::size_t k = j; k < behind; ++k) {
        print(hunk, '+', lines[k].after);
        new_count += count(lines[k].after);
      }
      j = behind;
    }
    made +=
        fmt::format("@@ -{},{} +{},{} @@\n", begin + 1, end - begin, begin + 1 + added, new_count);
    made += hunk;
    added += new_count - (end - begin);
    i = end;
  }
  return made;
}

}  // namespace tomos::annotate
