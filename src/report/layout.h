// Text in a terminal of a given width: what is safe to show, how wide it is, how it is cut and
// wrapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tomos {

// Names come from the program under test. Control characters and bytes that are not UTF-8 become
// \xNN, so that no name can move the cursor or change the colour.
std::string printable(std::string_view text);

// Columns of a printable text; every character counts as one.
std::size_t width(std::string_view text);

// "1 event", "2 events".
std::string counted(std::uint64_t count, std::string_view one);

enum class Cut { kHead, kTail };

// At most `columns` wide; ".." stands where something was cut.
std::string fit(std::string_view text, std::size_t columns, Cut cut);

// `text` filled up with blanks to `columns`.
std::string pad(std::string_view text, std::size_t columns);

// Breaks at blanks. The first line is `first` and text, the others are indented as deep as `first`
// is wide. Ends with a newline.
std::string wrap(std::string_view first, std::string_view text, std::size_t columns);

}  // namespace tomos
