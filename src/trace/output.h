// Where a trace is written to: a file descriptor, or memory.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "event/error.h"

namespace tomos {

class Output {
 public:
  // Makes the file, or empties it. "-" is standard output.
  static Result<std::unique_ptr<Output>> create(const std::string& path);
  // Takes over the descriptor.
  Output(int descriptor, std::string name);
  // Appends to `memory`, which must outlive it.
  explicit Output(std::string& memory);
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  const std::string& name() const { return name_; }

  // One write() call unless the system takes less than all at once. After an error nothing more is
  // written: a gap would not be seen as one.
  Result<void> write(std::string_view bytes);
  // The error of a write may come as late as here.
  Result<void> close();

 private:
  std::unexpected<Error> failed() const;

  int descriptor_ = -1;
  bool owned_ = false;
  int error_ = 0;
  std::string* memory_ = nullptr;
  std::string name_;
};

}  // namespace tomos
