// The options that make a compiler instrument for Tomos: the one place that knows them. The
// wrappers put them in front of the user's; the CMake package asks the wrappers for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tomos::instrument {

enum class Family { kClang, kGcc };

struct Folders {
  std::filesystem::path library;  // libtomos_rt.so, tomos_pass.so, include/, gcc/

  std::filesystem::path runtime() const { return library / "libtomos_rt.so"; }
  std::filesystem::path plugin() const { return library / "tomos_pass.so"; }
};

// Where tomos/tomos.h is; the header is there for files that are not instrumented too.
std::vector<std::string> include_options(const Folders& folders);

std::vector<std::string> compile_options(Family family, const Folders& folders);

// More of them, for gcc's -fgnu-tm; the last ones go behind the user's.
std::vector<std::string> transaction_options(const Folders& folders);
inline constexpr const char* kTransactionsLast = "-O0";

// In front of the user's libraries: what the runtime interposes must be found there first.
std::vector<std::string> link_options(Family family, const Folders& folders,
                                      bool standard_libraries);

}  // namespace tomos::instrument
