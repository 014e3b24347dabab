#include "core/lexer.h"

#include <array>

#include "core/words.h"

namespace tomos::core {

void Lexer::skip_blanks() {
  while (position_ < text_.size()) {
    if (at(0) == '\n') {
      ++position_;
      ++line_;
      line_begin_ = position_;
    } else if (at(0) == ' ' || at(0) == '\t' || at(0) == '\r') {
      ++position_;
    } else if (at(0) == '/' && at(1) == '/') {
      while (position_ < text_.size() && at(0) != '\n') ++position_;
    } else {
      return;
    }
  }
}

// Identifiers, joined by "::".
std::size_t Lexer::name_length() const {
  std::size_t length = 0;
  while (true) {
    while (is_letter(at(length)) || is_digit(at(length))) ++length;
    if (at(length) != ':' || at(length + 1) != ':' || !is_letter(at(length + 2))) return length;
    length += 2;
  }
}

std::size_t Lexer::sign_length() const {
  static constexpr auto kPairs = std::to_array<std::string_view>({"==", "!=", "&&", "||", "+="});
  static constexpr std::string_view kSigns = "{}()<>,;.?:~!=+-*/%";
  for (const std::string_view pair : kPairs) {
    if (text_.substr(position_).starts_with(pair)) return 2;
  }
  return kSigns.find(at(0)) != std::string_view::npos ? 1 : 0;
}

Token Lexer::next() {
  skip_blanks();
  Token token = {.line = line_, .column = static_cast<std::uint32_t>(position_ - line_begin_ + 1)};
  if (position_ >= text_.size()) return token;
  const std::string_view rest = text_.substr(position_);
  std::size_t length = 1;
  if (is_letter(at(0))) {
    length = name_length();
    token.text = rest.substr(0, length);
    token.kind = is_keyword(token.text) ? Token::Kind::kKeyword : Token::Kind::kName;
  } else if (is_digit(at(0))) {
    while (is_digit(at(length))) ++length;
    token.text = rest.substr(0, length);
    token.kind = Token::Kind::kNumber;
  } else if (at(0) == '`' || at(0) == '"') {
    const std::size_t end = rest.find_first_of(at(0) == '`' ? "`\n" : "\"\n", 1);
    const bool closed = end != std::string_view::npos && rest[end] == at(0);
    if (closed && at(0) == '"') {
      token.kind = Token::Kind::kString;
      token.text = rest.substr(0, end + 1);
    } else if (closed && end > 1) {
      token.kind = Token::Kind::kName;
      token.text = rest.substr(1, end - 1);
    } else {
      token.kind = Token::Kind::kBad;
      token.text = rest.substr(0, 1);
    }
    length = closed ? end + 1 : 1;
  } else {
    length = sign_length();
    token.kind = length == 0 ? Token::Kind::kBad : Token::Kind::kSign;
    if (length == 0) length = 1;
    token.text = rest.substr(0, length);
  }
  position_ += length;
  return token;
}

}  // namespace tomos::core
