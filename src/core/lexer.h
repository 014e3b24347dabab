// Splits the text of an .aj2 file into tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tomos::core {

struct Token {
  enum class Kind : std::uint8_t { kEnd, kName, kKeyword, kNumber, kString, kSign, kBad };
  Kind kind = Kind::kEnd;
  std::string_view text;  // of a name in backquotes: what stands between them
  std::uint32_t line = 1;
  std::uint32_t column = 1;  // in bytes, from 1
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Token next();

 private:
  char at(std::size_t ahead) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  void skip_blanks();
  std::size_t name_length() const;
  std::size_t sign_length() const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
  std::size_t line_begin_ = 0;
};

}  // namespace tomos::core
