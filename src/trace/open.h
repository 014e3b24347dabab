// Opens a trace without knowing what it is.
#pragma once

#include <memory>
#include <string>

#include "event/error.h"
#include "event/source.h"

namespace tomos {

// "-" is standard input. Binary and STD text are told apart by content, never by name.
Result<std::unique_ptr<Source>> open_trace(const std::string& path);

// What messages call an input: the path, or "<stdin>" for "-".
std::string input_name(const std::string& path);

}  // namespace tomos
