#include "model/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace tomos::model {

namespace {

constexpr std::array<std::string_view, 35> kKeywords = {
    "acquire", "assert", "assume",     "atomic",  "begin",  "bool", "cond",  "const", "else",
    "end",     "exit",   "false",      "goto",    "if",     "init", "int",   "join",  "lock",
    "notify",  "proc",   "notify_all", "release", "return", "read", "self",  "skip",  "start",
    "state",   "step",   "thread",     "true",    "wait",   "when", "while", "write"};

constexpr std::array<std::string_view, 8> kLongSigns = {
    "==", "!=", "<=", ">=", "&&", "||", "..", "=>"};
constexpr std::string_view kSigns = "{}()[];,=!<>+-*?:&'";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view source, std::string_view file) : source_(source), file_(file) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    while (true) {
      if (const auto skipped = skip(); !skipped) return std::unexpected(skipped.error());
      const Place place{.line = line_, .column = static_cast<std::uint32_t>(at_ - line_start_ + 1)};
      if (at_ == source_.size()) {
        tokens.push_back({.kind = Token::Kind::kEnd, .text = "", .place = place});
        return tokens;
      }
      const std::size_t begin = at_;
      Token::Kind kind = Token::Kind::kSign;
      if (is_letter(source_[at_])) {
        while (at_ < source_.size() && (is_letter(source_[at_]) || is_digit(source_[at_]))) ++at_;
        kind = std::ranges::find(kKeywords, source_.substr(begin, at_ - begin)) == kKeywords.end()
                   ? Token::Kind::kName
                   : Token::Kind::kKeyword;
      } else if (is_digit(source_[at_])) {
        while (at_ < source_.size() && is_digit(source_[at_])) ++at_;
        kind = Token::Kind::kNumber;
      } else if (std::ranges::find(kLongSigns, source_.substr(at_, 2)) != kLongSigns.end()) {
        at_ += 2;
      } else if (kSigns.contains(source_[at_])) {
        ++at_;
      } else {
        return std::unexpected(
            Error{.where = place_in(file_, place),
                  .what = "a character that has no meaning here",
                  .remedy = "Names are of letters, digits and _; docs/bp.md has the grammar."});
      }
      tokens.push_back({.kind = kind, .text = source_.substr(begin, at_ - begin), .place = place});
    }
  }

 private:
  // White space and comments.
  Result<void> skip() {
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '\n') {
        ++at_;
        ++line_;
        line_start_ = at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (source_.substr(at_, 2) == "//") {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (source_.substr(at_, 2) == "/*") {
        const std::size_t close = source_.find("*/", at_ + 2);
        if (close == std::string_view::npos) {
          const Place place{.line = line_,
                            .column = static_cast<std::uint32_t>(at_ - line_start_ + 1)};
          return std::unexpected(Error{.where = place_in(file_, place),
                                       .what = "this comment does not end",
                                       .remedy = "Close it with */."});
        }
        for (; at_ < close + 2; ++at_) {
          if (source_[at_] != '\n') continue;
          ++line_;
          line_start_ = at_ + 1;
        }
      } else {
        break;
      }
    }
    return {};
  }

  std::string_view source_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::string place_in(std::string_view file, Place place) {
  return fmt::format("{}:{}:{}", file, place.line, place.column);
}

Result<std::vector<Token>> tokens_of(std::string_view source, std::string_view file) {
  return Lexer(source, file).run();
}

}  // namespace tomos::model
