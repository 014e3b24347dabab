// Where results go: standard output, or a file that appears complete or not at all.
#pragma once

#include <string>
#include <string_view>

#include "event/error.h"

namespace tomos {

// To standard output; says what went wrong and gives the exit status.
int print(std::string_view text);

// To standard output or standard error.
Result<void> write_to(int descriptor, std::string_view text);

// A file written beside its final place and moved there by commit(). Until then a file of that name
// stays as it is. If commit() is never called, nothing is left behind, not even when a signal kills
// the process. Devices and pipes are written directly.
class NewFile {
 public:
  static Result<NewFile> at(const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  // Where to write.
  const std::string& path() const { return temporary_.empty() ? target_ : temporary_; }
  Result<void> write(std::string_view text) const;
  Result<void> commit();

 private:
  NewFile(std::string target, std::string temporary);

  std::string target_;
  std::string temporary_;  // empty: nothing to move or remove
};

}  // namespace tomos
