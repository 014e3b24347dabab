// Binary traces: `.tomos`. docs/trace-format.md has the layout byte by byte; it changes together
// with this module and with kTomosVersion.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "event/error.h"
#include "event/source.h"
#include "trace/input.h"
#include "trace/output.h"
#include "trace/writer.h"

namespace tomos {

// No text starts with the first byte; the line ends in every style, and the end-of-file mark of old
// text tools, do not survive a transfer that takes the file for text.
inline constexpr std::string_view kTomosMagic = "\x89TOM\r\n\x1a\n";
inline constexpr std::uint32_t kTomosVersion = 1;

std::unique_ptr<Source> read_tomos(std::unique_ptr<Input> input);
// Writes the file's head at once, so that even a file without events says what it is.
Result<std::unique_ptr<Writer>> write_tomos(std::unique_ptr<Output> output);

}  // namespace tomos
