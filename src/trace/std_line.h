// One line of STD text: its grammar, and the escapes that let any name stand in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "event/error.h"
#include "event/event.h"

namespace tomos {

struct StdLine {
  Op op = Op::kBegin;
  std::uint16_t count = 0;
  std::string thread;
  std::string operand;   // empty: none
  std::string location;  // empty: unknown
};

// Takes `text`, a line without its line feed, apart; false for a comment or a blank line. The error
// lacks its place.
Result<bool> parse_std_line(std::string_view text, StdLine& line);

// `location` as a number, if it is one that needs no name: canonical decimal below 2^31. Otherwise
// -1.
std::int64_t numeric_location(std::string_view location);

// Appends `name` so that parse_std_line() gives it back.
void append_escaped(std::string& text, std::string_view name);

// How the operation of an event is written.
std::string_view std_word(const Event& event);

// Foreign text, fit to stand in a message: quoted, shortened, unprintable bytes as \xNN.
std::string quoted(std::string_view text);

}  // namespace tomos
