// Summaries on disk. Parsing is nearly all of the time, so what was parsed before is not parsed
// again until the file, something that it includes, its flags or Tomos itself changes.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "summary/stored.h"
#include "summary/summary.h"

namespace tomos::cpp {

std::uint64_t content_of(std::string_view text);

class Cache {
 public:
  // An empty folder: nothing is kept.
  explicit Cache(std::string folder);

  // `made_by` is the command that parses the unit: directory, flags and file.
  std::optional<Summary> find(const std::string& made_by);
  // A cache that cannot be written is none, and does no harm.
  void keep(const std::string& made_by, const Summary& summary,
            const std::vector<Source>& sources) const;

 private:
  std::string file_of(const std::string& made_by) const;
  bool is_unchanged(const Source& source);

  std::string folder_;
  std::uint64_t tool_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> contents_;  // of the files looked at
};

}  // namespace tomos::cpp
