// Files by number: a position in a program says which of its files it is in.
#pragma once

#include <clang/Basic/SourceManager.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tomos::cpp {

class FileNumbers {
 public:
  // Relative paths are below `directory`.
  explicit FileNumbers(std::string directory) : directory_(std::move(directory)) {}

  // Its place in `files`, where it is put if it is new. None if it is no file.
  std::optional<std::uint32_t> of(clang::FileID file, const clang::SourceManager& manager,
                                  std::vector<std::string>& files);

 private:
  std::string directory_;
  std::map<clang::FileID, std::uint32_t> known_;
};

}  // namespace tomos::cpp
