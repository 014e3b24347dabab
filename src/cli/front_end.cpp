#include "cli/front_end.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tomos {

namespace {

namespace fs = std::filesystem;

fs::path program_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

// In a build everything is beside the program.
fs::path shipped(const std::string& beside, const std::string& installed) {
  std::error_code error;
  const fs::path own = program_folder() / beside;
  return fs::exists(own, error) ? own
                                : program_folder().parent_path() / "lib" / "tomos" / installed;
}

template <class Function>
Result<Function*> load(const char* name) {
  const fs::path path = shipped(cpp::kLibrary, cpp::kLibrary);
  // It stays loaded: what it returns is its own.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, name);
  if (found == nullptr) {
    const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): before any threads
    return std::unexpected(Error{.where = path.string(),
                                 .what = std::string("the front end for C++ cannot be loaded: ") +
                                         (why == nullptr ? "no reason given" : why),
                                 .remedy = "Build or install Tomos again."});
  }
  return reinterpret_cast<Function*>(found);
}

}  // namespace

Result<cpp::Sources> read_cpp(const cpp::Options& options) {
  const auto read = load<cpp::ReadCpp>(cpp::kReadCpp);
  if (!read) return std::unexpected(read.error());
  Result<cpp::Sources> result;
  (*read)(options, result);
  return result;
}

Result<cpp::TmSources> read_tm(const cpp::TmOptions& options) {
  const auto read = load<cpp::ReadTm>(cpp::kReadTm);
  if (!read) return std::unexpected(read.error());
  Result<cpp::TmSources> result;
  (*read)(options, result);
  return result;
}

Result<cpp::DriverSources> read_driver(const cpp::Options& options, bool counts) {
  const auto read = load<cpp::ReadDriver>(cpp::kReadDriver);
  if (!read) return std::unexpected(read.error());
  Result<cpp::DriverSources> result;
  (*read)(options, counts, result);
  return result;
}

Result<std::vector<core::CompilerWarning>> check_cpp(const cpp::Options& options,
                                                     const cpp::Texts& texts,
                                                     const std::set<std::string>& units,
                                                     bool annotated_system) {
  const auto check = load<cpp::CheckCpp>(cpp::kCheckCpp);
  if (!check) return std::unexpected(check.error());
  std::vector<std::string> headers = {macro_headers()};
  if (annotated_system) headers.push_back(annotated_headers());
  Result<std::vector<core::CompilerWarning>> result;
  (*check)(options, texts, units, headers, result);
  return result;
}

std::string macro_headers() { return shipped("lib/include", "include").string(); }

std::string annotated_headers() { return macro_headers() + "/tomos/annotated"; }

}  // namespace tomos

#if __has_feature(address_sanitizer)
// What Clang's parser itself forgets of attributes that it reads late is not ours to give back.
// NOLINTNEXTLINE(bugprone-reserved-identifier): LeakSanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:clang::Parser::\n"; }
#endif
