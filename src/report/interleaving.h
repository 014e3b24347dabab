// Draws the events of a finding as an interleaving: one column a thread, rows in the order of the
// run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/finding.h"

namespace tomos {

// What the text calls a transaction: "T1's withdraw", "T1's block at 20", "T1's access at 13". Two
// of one thread and label are told apart by "#1", "#2". One name for each transaction of the
// finding.
std::vector<std::string> transaction_names(const Finding& finding);

// Lines of at most `columns` (if that is possible at all), each ended by a newline. A row that
// starts edge n bears "n>", a row that ends it ">n"; n counts the finding's edges from 1. When the
// threads do not fit side by side, there is one line an event with the thread in front. All strings
// of `finding` must be printable (layout.h).
std::string draw_interleaving(const Finding& finding, std::size_t columns);

}  // namespace tomos
