// A finding in words: what its drawing shows, and why that is wrong.
#pragma once

#include <cstddef>
#include <string>

#include "report/finding.h"

namespace tomos {

// The line above the drawing: what the order of its rows means.
std::string drawing_title(const Finding& finding);

// Why it is wrong, with the numbers that the drawing bears. Lines of at most `columns`, each ended
// by a newline; empty if the message has said it all. All strings of `finding` must be printable
// (layout.h).
std::string explain(const Finding& finding, std::size_t columns);

// The finding's pattern, cut in the middle if it is very long.
std::string short_pattern(const Finding& finding);

}  // namespace tomos
