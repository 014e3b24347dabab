#include "core/words.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tomos::core {

bool is_keyword(std::string_view name) {
  static constexpr auto kKeywords = std::to_array<std::string_view>({
      "acquires",
      "always",
      "atomic",
      "break",
      "class",
      "cmpd",
      "const",
      "continue",
      "else",
      "error",
      "expect",
      "extends",
      "false",
      "final",
      "fork",
      "ghost",
      "guarded_by",
      "if",
      "in",
      "isAlways",
      "isNone",
      "left",
      "let",
      "lock",
      "main",
      "mover",
      "new",
      "no_guard",
      "no_warn",
      "none",
      "null",
      "releases",
      "requires",
      "return",
      "right",
      "shared",
      "static",
      "synchronized",
      "this",
      "tll",
      "true",
      "trylock",
      "unknown",
      "unlock",
      "wait",
      "while",
      "write_guarded_by",
  });
  return std::ranges::find(kKeywords, name) != kKeywords.end();
}

namespace {

// Identifiers, joined by "::".
bool is_plain(std::string_view name) {
  bool begins = true;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == ':') {
      if (begins || i + 1 >= name.size() || name[i + 1] != ':') return false;
      ++i;
      begins = true;
    } else if (is_letter(name[i]) || (!begins && is_digit(name[i]))) {
      begins = false;
    } else {
      return false;
    }
  }
  return !begins && !is_keyword(name);
}

}  // namespace

std::string quoted(std::string_view name) {
  if (is_plain(name)) return std::string(name);
  std::string text = "`";
  for (const char c : name) text += c == '`' || c == '\n' ? '?' : c;
  return text + "`";
}

}  // namespace tomos::core
