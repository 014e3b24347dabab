// What the commands on source code share: which files, how they are compiled, what cannot be read.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "clang/read_cpp.h"
#include "event/error.h"

namespace tomos {

Result<std::string> read_text(const std::string& path, const std::string& remedy);

struct SourceOptions {
  std::vector<std::string> files;
  std::string build;
  std::vector<std::string> flags;
};

// FILE and -p. What stands behind "--" comes marked among the files: take_flags() sorts it out.
void declare_sources(SourceOptions& options, CLI::App& app);
void take_flags(SourceOptions& options);

// An error if there is nothing to read.
Result<void> check_named(const SourceOptions& options, const std::string& command);

// Of some units something is better than nothing: what does not compile is shown, and noted. An
// error if none is left.
Result<void> note_left_out(const SourceOptions& options, const std::vector<cpp::LeftOut>& left_out,
                           std::size_t units, std::vector<std::string>& notes);

}  // namespace tomos
