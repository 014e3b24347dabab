#include "cli/front_end.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tomos {

namespace {

// A function of the front end.
Result<void*> loaded(const char* name) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const std::filesystem::path beside = folder / cpp::kLibrary;
  const std::filesystem::path path = std::filesystem::exists(beside, error)
                                         ? beside
                                         : folder.parent_path() / "lib" / "tomos" / cpp::kLibrary;
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
  return found;
}

}  // namespace

Result<cpp::Sources> read_cpp(const cpp::Options& options) {
  const auto found = loaded(cpp::kReadCpp);
  if (!found) return std::unexpected(found.error());
  Result<cpp::Sources> result;
  reinterpret_cast<cpp::ReadCpp*>(*found)(options, result);
  return result;
}

Result<cpp::TmSources> read_tm(const cpp::TmOptions& options) {
  const auto found = loaded(cpp::kReadTm);
  if (!found) return std::unexpected(found.error());
  Result<cpp::TmSources> result;
  reinterpret_cast<cpp::ReadTm*>(*found)(options, result);
  return result;
}

}  // namespace tomos
