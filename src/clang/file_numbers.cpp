#include "clang/file_numbers.h"

#include <llvm/Support/Path.h>

#include <algorithm>

namespace tomos::cpp {

std::optional<std::uint32_t> FileNumbers::of(clang::FileID file,
                                             const clang::SourceManager& manager,
                                             std::vector<std::string>& files) {
  if (const auto at = known_.find(file); at != known_.end()) return at->second;
  const auto entry = manager.getFileEntryRefForID(file);
  if (!entry) return std::nullopt;
  llvm::SmallString<256> path(entry->getName());
  if (!llvm::sys::path::is_absolute(path)) {
    llvm::SmallString<256> whole(directory_);
    llvm::sys::path::append(whole, path);
    path = whole;
  }
  llvm::sys::path::remove_dots(path, true);
  const auto listed = std::ranges::find(files, path.str().str());
  const auto number = static_cast<std::uint32_t>(listed - files.begin());
  if (listed == files.end()) files.push_back(path.str().str());
  return known_.emplace(file, number).first->second;
}

}  // namespace tomos::cpp
