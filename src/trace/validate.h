// Checks that a trace is one that threads can have made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "event/error.h"
#include "event/source.h"

namespace tomos {

enum class Validation : std::uint8_t {
  kStrict,   // the first invalid event ends the trace with an error
  kLenient,  // invalid events are dropped and counted
};

struct Skipped {
  std::uint64_t total = 0;
  std::vector<std::pair<std::string, std::uint64_t>>
      by_rule;        // "release without acquire", how often
  std::string first;  // where and what the first one was
};

// Batches come numbered by what is delivered (Batch::first), with the lines of the input. Reads the
// inner source's names when an event is invalid, so it stands below a ReadAhead, not on top of one.
class Validated : public Source {
 public:
  Validated(std::unique_ptr<Source> inner, std::string name, Validation mode);
  ~Validated() override;

  Result<void> next(Batch& batch) override;
  const Names& names() const override;
  Progress progress() const override;

  // What kLenient has dropped so far.
  Skipped skipped() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tomos
