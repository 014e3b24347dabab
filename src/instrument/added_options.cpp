#include "added_options.h"

namespace tomos::instrument {

std::vector<std::string> include_options(const Folders& folders) {
  // After all others: it must not change what any other #include finds.
  return {"-idirafter", (folders.library / "include").string()};
}

std::vector<std::string> compile_options(Family family, const Folders& folders) {
  std::vector<std::string> options = include_options(folders);
  // In front of the user's options, so any level of debugging information that is given there wins.
  options.insert(options.end(), {"-g", "-D__TOMOS__=1"});
  switch (family) {
    case Family::kClang: {
      // For the compiler proper only: the driver would link the sanitizer's runtime, or, told not
      // to, leave out that of -fsanitize=undefined too. Some commands make no use of these options,
      // and -Werror must not mind.
      std::vector<std::string> clang = {"--start-no-unused-arguments", "-Xclang",
                                        "-fsanitize=thread",
                                        // The read of x++ is a read.
                                        "-mllvm", "-tsan-instrument-read-before-write",
                                        "-fpass-plugin=" + folders.plugin().string()};
      clang.insert(clang.end(), options.begin(), options.end());
      clang.emplace_back("--end-no-unused-arguments");
      return clang;
    }
    case Family::kGcc: {
      // Before the system's: some of its headers are ours (see gcc_headers/tomos_std.h).
      const std::string headers = (folders.library / "gcc" / "include").string();
      options.insert(
          options.end(),
          {"-isystem", headers, "-fsanitize=thread", "-finstrument-functions",
           "-finstrument-functions-exclude-file-list=/usr/include,/usr/lib,/usr/local/include," +
               headers,
           // gcc warns that the sanitizer's runtime ignores fences; ours does not.
           "-Wno-tsan"});
      return options;
    }
  }
  return options;
}

// gcc 12 crashes where it makes a transactional copy of a function with -fsanitize=thread's calls
// at its ends, and, when it optimises, where it finds its calls for accesses in a transaction. So
// functions are told by those of -finstrument-functions alone, made fit for that by the header.
std::vector<std::string> transaction_options(const Folders& folders) {
  return {"-include", (folders.library / "gcc" / "include" / "tomos_tm.h").string(), "--param",
          "tsan-instrument-func-entry-exit=0"};
}

std::vector<std::string> link_options(Family family, const Folders& folders,
                                      bool standard_libraries) {
  std::vector<std::string> options;
  for (const std::string& word :
       {std::string("--push-state"), std::string("--no-as-needed"), folders.runtime().string(),
        std::string("--pop-state"), std::string("-rpath"), folders.library.string()}) {
    options.insert(options.end(), {"-Xlinker", word});
  }
  if (family == Family::kGcc) {
    // With -flto the instrumentation happens here. The libtsan that it brings is an empty one of
    // ours.
    options.insert(options.end(), {"-fsanitize=thread", "-B" + (folders.library / "gcc").string()});
  }
  if (standard_libraries) {
    const bool may_be_unused = family == Family::kClang;
    if (may_be_unused) options.emplace_back("--start-no-unused-arguments");
    options.emplace_back("-pthread");
    if (may_be_unused) options.emplace_back("--end-no-unused-arguments");
  }
  return options;
}

}  // namespace tomos::instrument
