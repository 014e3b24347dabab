#include "report/layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace tomos {

namespace {

unsigned char byte(char c) { return static_cast<unsigned char>(c); }
bool continues(char c) { return (byte(c) & 0xC0U) == 0x80U; }

// Length of the UTF-8 character that `text` begins with; 0 for a control character and for what is
// not UTF-8.
std::size_t character(std::string_view text) {
  const unsigned char lead = byte(text[0]);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length),
                   continues)) {
    return 0;
  }
  const unsigned char second = byte(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_big = lead == 0xF4 && second >= 0x90;
  const bool control = lead == 0xC2 && second < 0xA0;
  return overlong || surrogate || too_big || control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0) {
      out += fmt::format("\\x{:02x}", byte(text[0]));
      text.remove_prefix(1);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string fit(std::string_view text, std::size_t columns, Cut cut) {
  if (width(text) <= columns) return std::string(text);
  const std::size_t keep = columns < 2 ? 0 : columns - 2;
  const std::string dots(std::min<std::size_t>(columns, 2), '.');
  std::size_t drop = width(text) - keep;
  if (cut == Cut::kHead) {
    std::size_t begin = 0;
    for (; drop > 0 || (begin < text.size() && continues(text[begin])); ++begin) {
      if (!continues(text[begin])) --drop;
    }
    return dots + std::string(text.substr(begin));
  }
  std::size_t end = text.size();
  while (drop > 0) {
    if (!continues(text[--end])) --drop;
  }
  return std::string(text.substr(0, end)) + dots;
}

std::string pad(std::string_view text, std::size_t columns) {
  const std::size_t have = width(text);
  return std::string(text) + std::string(columns > have ? columns - have : 0, ' ');
}

std::string wrap(std::string_view first, std::string_view text, std::size_t columns) {
  const std::string indent(width(first), ' ');
  std::string out(first);
  std::size_t used = indent.size();
  bool fresh = true;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!fresh && used + 1 + width(word) > columns) {
      out += '\n' + indent;
      used = indent.size();
      fresh = true;
    }
    if (!fresh) {
      out += ' ';
      ++used;
    }
    out += word;
    used += width(word);
    fresh = false;
  }
  return out + '\n';
}

}  // namespace tomos
