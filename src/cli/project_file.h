// tomos.toml: what a project wants to be atomic, and what it does not want to hear about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"

namespace tomos {

struct ProjectFile {
  // Glob patterns on qualified function names; in `ignore` and `include`, one with a '/' is on
  // file paths.
  std::vector<std::string> atomic;
  std::vector<std::string> ignore;
  std::vector<std::string> include;
  std::optional<std::uint64_t> array_cutoff;
  std::string analysis;  // separated by commas; empty: not said
};

// `name` is what messages call it.
Result<ProjectFile> parse_project_file(std::string_view text, const std::string& name);

// `path` empty: tomos.toml of the current folder if there is one, and no settings otherwise.
Result<ProjectFile> read_project_file(const std::string& path);

}  // namespace tomos
