// C and C++ source to the core language: the front end of the static half.
//
// Every translation unit is parsed once by clang and turned into a summary, a core program of its
// own; its syntax tree is freed before the next. The summaries are merged by name: a header's
// classes and inline functions are the same in all of them.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/annotations.h"
#include "core/program.h"
#include "event/error.h"

namespace tomos::cpp {

struct Options {
  std::string build;               // holds compile_commands.json; empty: `flags` are for all files
  std::vector<std::string> files;  // none: all of the compilation database
  std::vector<std::string> flags;  // after those of the database
  std::size_t jobs = 1;            // translation units at a time
  std::string cache;               // folder for summaries of earlier runs; empty: none
  // Told of every unit that is done, and how many there are; one call at a time.
  std::function<void(std::size_t, std::size_t)> progress;
};

struct LeftOut {  // a translation unit that does not compile
  std::string file;
  std::string messages;  // clang's own
};

struct Sources {
  core::Program program;
  std::size_t units = 0;   // that are in the program
  std::size_t cached = 0;  // of them were not parsed again
  std::vector<LeftOut> left_out;
  std::vector<std::string> unknown_calls;  // functions whose source is not there, each once
  std::vector<core::AnnotationMacros> macros;
};

// An error: nothing can be read at all. A unit that does not compile is left out and named.
Result<Sources> read_cpp(const Options& options);

// Other texts for some files, by their absolute paths.
using Texts = std::map<std::string, std::string>;

// What `clang -Wthread-safety` has to say of the same units, with other texts for some files. Only
// of the units named, if there are any. `headers` is put before those of the system.
Result<std::vector<core::CompilerWarning>> check_cpp(const Options& options, const Texts& texts,
                                                     const std::set<std::string>& units,
                                                     const std::vector<std::string>& headers);

// The front end is a library that is loaded when it is needed: with Clang's own libraries every
// command would take 60 MB more. This is what it has to offer.
inline constexpr const char* kLibrary = "libtomos_clang.so";
inline constexpr const char* kReadCpp = "tomos_read_cpp";
inline constexpr const char* kCheckCpp = "tomos_check_cpp";
using ReadCpp = void(const Options& options, Result<Sources>& result);
using CheckCpp = void(const Options& options, const Texts& texts,
                      const std::set<std::string>& units, const std::vector<std::string>& headers,
                      Result<std::vector<core::CompilerWarning>>& result);

}  // namespace tomos::cpp
