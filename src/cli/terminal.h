// What the terminal can show.
#pragma once

#include <cstddef>
#include <string>

namespace tomos {

// `mode` is auto, always or never. For auto the environment decides (NO_COLOR, CLICOLOR_FORCE,
// CLICOLOR in that order), then whether `descriptor` is a terminal.
bool use_color(const std::string& mode, int descriptor);

// COLUMNS, else the width of the terminal, else 100.
std::size_t terminal_columns(int descriptor);

}  // namespace tomos
