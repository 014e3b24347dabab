// Places as reports show them: of a call stack the part that the user knows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "symbols/symbols.h"

namespace tomos {

// A path as people want to see it: relative if it lies below the current folder.
std::string shown_path(const std::string& path);

// "account.cpp:4:12"; the function if the file is not known.
std::string place_of(const Frame& frame);

// The innermost frame of the user's, or null.
const Frame* users_frame(const std::vector<Frame>& frames);

// The user's place that a stack of return addresses, innermost first, leads to: its innermost frame
// that is not the system's.
std::string users_place(Symbols& symbols, std::span<const std::uint64_t> stack);

// "Account::get account.cpp:4:12", innermost first. Of the system's frames only the one that the
// user's code has called is there.
std::vector<std::string> shown_frames(Symbols& symbols, std::span<const std::uint64_t> stack);

}  // namespace tomos
