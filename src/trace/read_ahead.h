// Runs a source on a thread of its own, a few batches ahead of whoever reads it.
#pragma once

#include <memory>
#include <thread>

#include "event/error.h"
#include "event/source.h"

namespace tomos {

class ReadAhead : public Source {
 public:
  explicit ReadAhead(std::unique_ptr<Source> inner);
  // Stops the thread. One that does not come back soon (it waits on a pipe) is left behind and
  // cleans up after itself.
  ~ReadAhead() override;

  Result<void> next(Batch& batch) override;
  // Only after next() has given the end or an error: until then the thread is at work on them.
  const Names& names() const override;
  Progress progress() const override;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace tomos
