// A source makes events: a trace file, a pipe, a running program, a model.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "event/error.h"
#include "event/event.h"
#include "event/names.h"

namespace tomos {

// A run of events, and where in the input each of them stands.
struct Batch {
  std::vector<Event> events;
  std::uint64_t first = 0;  // number of the first event in the trace, from 0
  std::uint64_t first_line =
      0;  // text input: line of the first event, from 1; 0 for input without lines
  // Text input: {i, n} says that n lines without an event stand right before events[i] (i > 0), in
  // order of i.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gaps;

  std::uint64_t line(std::size_t i) const {
    std::uint64_t line = first_line + i;
    for (const auto& [at, lines] : gaps) {
      if (at <= i) line += lines;
    }
    return line;
  }
};

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Replaces the content of `batch` by the next events; an empty batch is the end. Everything that
  // stands before an error is delivered first: the call after the last good event gives the error,
  // and so does every call after it.
  virtual Result<void> next(Batch& batch) = 0;

  // Names of all ids delivered so far. Not to be used while another thread is in next().
  virtual const Names& names() const = 0;

  // How much of the input has been consumed, in bytes; size 0 when it is not known (a pipe).
  // Callable from any thread.
  struct Progress {
    std::uint64_t done = 0;
    std::uint64_t size = 0;
  };
  virtual Progress progress() const = 0;
};

}  // namespace tomos
