// Any bytes as what `tomos tm` is given beside sources, a description of methods and a file of
// patterns: nothing may crash, what is wrong is named by line and column, and the methods that can
// be read come back from a template of them.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "event/error.h"
#include "tm/methods.h"
#include "tm/patterns.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// Reads ":number" off the front.
std::size_t take_number(std::string_view& text) {
  std::size_t number = 0;
  require(text.starts_with(':'));
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  require(error == std::errc());
  text = text.substr(static_cast<std::size_t>(end - text.data()));
  return number;
}

// "input:line:column" is a place in the text, or right behind a line of it.
void require_place(const tomos::Error& error, std::string_view text) {
  constexpr std::string_view kFile = "input";
  require(!error.what.empty() && !error.remedy.empty() && error.where.starts_with(kFile));
  std::string_view rest = std::string_view(error.where).substr(kFile.size());
  const std::size_t line = take_number(rest);
  const std::size_t column = take_number(rest);
  require(rest.empty() && line >= 1 && column >= 1);
  for (std::size_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    require(end != std::string_view::npos);
    text = text.substr(end + 1);
  }
  require(column <= std::min(text.find('\n'), text.size()) + 1);
}

// Line ends and their like can be written in a name only as what the template does not write.
bool is_plain(const std::string& name) {
  return std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tomos::tm;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto patterns = parse_patterns(text, "input"); !patterns) {
    require_place(patterns.error(), text);
  }
  const auto methods = parse_methods(text, "input");
  if (!methods) {
    require_place(methods.error(), text);
    return 0;
  }
  std::set<std::string> names;
  for (const DescribedMethod& method : *methods) {
    if (is_plain(method.name)) names.insert(method.name);
  }
  const auto again = parse_methods(methods_template(names), "written");
  require(again.has_value() && std::ranges::equal(*again, names, {}, &DescribedMethod::name));
  return 0;
}
