#include "symbols/text.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

namespace tomos::symbols {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// The end of the bracketed group that begins at `at`: behind its closing bracket, or the end.
std::size_t group_end(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '(' ? ')' : open == '<' ? '>' : open == '{' ? '}' : ']';
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    const bool arrow = close == '>' && text[i] == '>' && text[i - 1] == '-';
    if (text[i] == close && !arrow && --depth == 0) return i + 1;
    // Inside <> a parenthesis may hold a comparison: what is in it does not count.
    if (open == '<' && text[i] == '(') i = group_end(text, i) - 1;
  }
  return text.size();
}

// Takes out the arguments that begin like this one and end their list.
void drop_last_argument(std::string& text, std::string_view argument) {
  for (std::size_t at = text.find(argument); at != std::string::npos;) {
    std::size_t end = at + argument.size();
    if (argument.ends_with('<')) end = group_end(text, end - 1);
    if (end < text.size() && text[end] == '>') {
      text.erase(at, end - at);
    } else {
      at += argument.size();
    }
    at = text.find(argument, at);
  }
}

// How much of `text`, which begins with "operator", is the name of the operator.
std::size_t operator_length(std::string_view text) {
  constexpr std::size_t kWord = 8;
  constexpr std::array<std::string_view, 42> kSymbols = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "->",    "<<",  ">>",    "<=", ">=",
      "==",  "!=",  "&&",  "||",  "++", "--", "+=",    "-=",  "*=",    "/=", "%=",
      "^=",  "&=",  "|=",  "+",   "-",  "*",  "/",     "%",   "^",     "&",  "|",
      "~",   "!",   "=",   "<",   ">",  ",",  "\"\" ", "new", "delete"};
  const std::string_view rest = text.substr(kWord);
  if (rest.starts_with(' ')) {
    // new, delete, or a conversion: its type goes on up to the parameters.
    std::size_t i = 1;
    while (i < rest.size() && rest[i] != '(') i = rest[i] == '<' ? group_end(rest, i) : i + 1;
    return kWord + i;
  }
  for (const std::string_view symbol : kSymbols) {
    if (rest.starts_with(symbol)) return kWord + symbol.size();
  }
  return kWord;
}

// How much of `text`, which begins with a space, is a qualifier behind a parameter list.
std::size_t qualifier_length(std::string_view text) {
  for (const std::string_view word : {" const", " volatile", " &&", " &"}) {
    if (!text.starts_with(word)) continue;
    const std::string_view rest = text.substr(word.size());
    if (rest.empty() || rest.starts_with("::") || rest[0] == ' ' || rest[0] == '[') {
      return word.size();
    }
  }
  return text.starts_with(" [clone") ? group_end(text, 1) : 0;
}

}  // namespace

std::string tidy_name(std::string_view name) {
  std::string tidy(name);
  replace_all(tidy, "{anonymous}", kAnonymous);
  replace_all(tidy, "::__cxx11::", "::");
  replace_all(tidy, "::_V2::", "::");
  for (std::size_t at = tidy.find("> >"); at != std::string::npos; at = tidy.find("> >", at)) {
    tidy.erase(at + 1, 1);
  }
  // From the last argument of the library's templates to the first: each is last in its turn.
  for (const std::string_view argument :
       {", (__gnu_cxx::_Lock_policy)2", ", std::allocator<", ", std::default_delete<",
        ", std::equal_to<", ", std::hash<", ", std::less<", ", std::char_traits<"}) {
    drop_last_argument(tidy, argument);
  }
  replace_all(tidy, "std::basic_string<char>", "std::string");
  return tidy;
}

std::string without_parameters(std::string_view demangled) {
  std::string name;
  for (std::size_t i = 0; i < demangled.size();) {
    const std::string_view rest = demangled.substr(i);
    std::size_t taken = 1;
    if (rest.starts_with(kAnonymous)) {
      taken = kAnonymous.size();
      name += kAnonymous;
    } else if (rest.starts_with("operator") && (name.empty() || !is_word(name.back())) &&
               (rest.size() == 8 || !is_word(rest[8]))) {
      taken = operator_length(rest);
      if (rest.substr(taken).starts_with(" <")) ++taken;  // the arguments of "operator<< <int>"
      name += rest.substr(0, taken);
    } else if (rest[0] == '<') {
      taken = group_end(rest, 0);
      name += rest.substr(0, taken);
    } else if (rest[0] == '{') {
      taken = group_end(rest, 0);
      const std::string_view inside = rest.substr(0, taken);
      const std::size_t open = inside.find('(');
      name += inside.substr(0, open);
      if (open != std::string_view::npos) name += inside.substr(group_end(inside, open));
    } else if (rest[0] == '(' || rest[0] == '[') {
      taken = group_end(rest, 0);
    } else if (rest[0] == ' ') {
      taken = qualifier_length(rest);
      if (taken == 0) {
        name.clear();  // what stood there was the return type
        taken = 1;
      }
    } else {
      name += rest[0];
    }
    i += taken;
  }
  return tidy_name(name);
}

std::string symbol_name(const char* mangled) {
  std::string_view plain(mangled);
  plain = plain.substr(0, plain.find('@'));
  if (!plain.starts_with("_Z")) return std::string(plain);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(std::string(plain).c_str(), nullptr, nullptr, &status), std::free);
  if (!demangled) return std::string(plain);
  const std::string_view text(demangled.get());
  // "vtable for X", "guard variable for f()::x": a phrase, not a type before a name.
  return text.find(" for ") != std::string_view::npos ? tidy_name(text) : without_parameters(text);
}

std::vector<std::string> template_arguments(std::string_view name) {
  std::vector<std::string> arguments;
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos || !name.ends_with('>')) return arguments;
  // The list that ends the name, not one of an enclosing class.
  std::size_t begin = open;
  while (begin != std::string_view::npos && group_end(name, begin) < name.size()) {
    begin = name.find('<', group_end(name, begin));
  }
  if (begin == std::string_view::npos) return arguments;
  std::size_t start = begin + 1;
  for (std::size_t i = start; i < name.size();) {
    const char c = name[i];
    if (c == ',' || i + 1 == name.size()) {
      std::string_view argument = name.substr(start, i - start);
      while (argument.starts_with(' ')) argument.remove_prefix(1);
      while (argument.ends_with(' ')) argument.remove_suffix(1);
      arguments.emplace_back(argument);
      start = ++i;
    } else {
      i = c == '<' || c == '(' || c == '{' || c == '[' ? group_end(name, i) : i + 1;
    }
  }
  return arguments;
}

std::string_view last_part(std::string_view name) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') {
      i = group_end(name, i);
    } else if (name.substr(i).starts_with("::")) {
      i += 2;
      begin = i;
    } else {
      ++i;
    }
  }
  return name.substr(begin);
}

std::string_view last_identifier(std::string_view name) {
  const std::string_view part = last_part(name);
  return part.substr(0, part.find('<'));
}

bool is_std(std::string_view qualified_name) {
  return qualified_name.starts_with("std::") || qualified_name.starts_with("__gnu_cxx::");
}

bool is_system_file(std::string_view path) {
  constexpr std::array<std::string_view, 8> kPrefixes = {
      "/usr/include/",           "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
      "/usr/local/include/c++/", "/lib/",     "/lib32/",     "/lib64/"};
  constexpr std::array<std::string_view, 5> kCompilers = {
      "/lib/clang/", "/lib/gcc/", "/lib/tomos/gcc/", "/include/c++/",
      "/include/tomos/tomos.h"};  // what marks a block is not part of it
  return std::ranges::any_of(kPrefixes, [&](auto prefix) { return path.starts_with(prefix); }) ||
         std::ranges::any_of(kCompilers, [&](auto part) { return path.contains(part); });
}

}  // namespace tomos::symbols
