// A monitor reads events and makes findings. It does not know which source feeds it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"
#include "event/names.h"

namespace tomos {

struct Finding;  // report/finding.h

class Monitor {
 public:
  virtual ~Monitor() = default;

  // The analysis's name on the command line.
  virtual std::string_view name() const = 0;

  // The next events of the trace. They come in runs so that a monitor can look ahead.
  virtual void on_events(std::span<const Event> events) = 0;

  // The trace is over.
  virtual void finish() = 0;

  // The same state, going its own way from here.
  virtual std::unique_ptr<Monitor> clone() const = 0;

  // Every distinct violation so far, in the order of the trace.
  virtual std::vector<Finding> findings(const Names& names) const = 0;

  // Violations beyond the limit on distinct findings: counted, not kept.
  virtual std::uint64_t left_out() const = 0;

  // Why "nothing found" would say too much (a budget ran out, say); empty when it does not.
  virtual std::string unknown() const { return {}; }

  // What the reader must know to trust the verdict: one sentence each.
  virtual std::vector<std::string> notes() const { return {}; }

 protected:
  Monitor() = default;
  Monitor(const Monitor&) = default;
  Monitor& operator=(const Monitor&) = default;
};

}  // namespace tomos
