// The bytes of a recording, read where they are wanted.
//
// pread() rather than a mapping: a file that shrinks while it is read is an error, not a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "event/error.h"
#include "trace/recording_format.h"

namespace tomos::recording {

class File {
 public:
  static Result<std::unique_ptr<File>> open(const std::string& path);
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  // Fills `bytes` from `offset` on; fewer bytes only where the file ends.
  Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> bytes) const;

  Error error(std::uint64_t offset, std::string what, std::string remedy) const;
  Error damaged(std::uint64_t offset, const std::string& what) const;

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_;
  std::string path_;
  std::uint64_t size_ = 0;
};

}  // namespace tomos::recording
