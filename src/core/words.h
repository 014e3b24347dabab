// The words of the text form: what is a name, and how any other name is written.
#pragma once

#include <string>
#include <string_view>

namespace tomos::core {

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_keyword(std::string_view name);

// A name as text reads it: in backquotes when it is no plain identifier.
std::string quoted(std::string_view name);

}  // namespace tomos::core
