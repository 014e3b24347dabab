// What brute force says of a trace, in words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "event/error.h"
#include "event/event.h"
#include "event/names.h"
#include "truth.h"

namespace tomos::predict {

// The events as STD text.
std::string to_text(std::span<const Event> events, const Names& names);

// The whole trace in the order of a run, which may stop early; what takes no part in runs stands
// with the step of its thread that follows it.
std::vector<Event> in_order(std::span<const Event> trace, const Run& run);

std::string judge(std::span<const Event> trace, const Names& names);

// Judges the trace in a file. What is wrong with the file, if something is.
Result<std::string> judge_file(const std::string& path);

}  // namespace tomos::predict
