// A trace into a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "event/error.h"
#include "event/source.h"
#include "trace/writer.h"

namespace tomos {

struct Copied {
  std::uint64_t events = 0;
  std::optional<Error> damage;  // what ended the reading early
};

// All events of `source` into `writer`, up to the end or the damage, and finishes it. The error is
// one of writing. `name` is what the progress line calls the source.
Result<Copied> copy(Source& source, Writer& writer, const std::string& name, bool quiet);

// The format that a file's name asks for.
std::optional<Format> format_of(const std::string& path);

}  // namespace tomos
