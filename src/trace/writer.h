// Writes a trace file, in either format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "event/error.h"
#include "event/event.h"
#include "event/names.h"

namespace tomos {

enum class Format : std::uint8_t { kStd, kTomos };

class Writer {
 public:
  Writer() = default;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  virtual ~Writer() = default;

  // Appends events. `names` is the same object in every call; it may have grown in between.
  virtual Result<void> write(std::span<const Event> events, const Names& names) = 0;
  // Hands everything written so far to the system: what is flushed survives the death of this
  // process.
  virtual Result<void> flush() = 0;
  // Flushes, writes the end mark if the format has one, and closes. Nothing may be written
  // afterwards.
  virtual Result<void> finish() = 0;
};

// Makes the file, or empties it. "-" is standard output.
Result<std::unique_ptr<Writer>> create_trace(const std::string& path, Format format);

}  // namespace tomos
