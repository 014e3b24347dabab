// tomos-cc and tomos-c++: drop-in compilers whose programs Tomos can watch.
//
// They put the options of added_options.h in front of the user's and become the real compiler, so
// everything else (output, exit status, signals) is its own.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "added_options.h"
#include "command_line.h"

namespace tomos::instrument {
namespace {

constexpr int kBadUsage = 2;

constexpr std::string_view kHelp = R"(Usage: tomos-cc  [options of the compiler] FILES
       tomos-c++ [options of the compiler] FILES

Compile and link like clang or gcc, for programs that `tomos run` and `tomos record` watch.

  tomos-c++ -O2 account.cpp -o account && tomos run -- ./account
  CC=tomos-cc CXX=tomos-c++ cmake -B build       (also ./configure, meson, make)

  --tomos-compiler=clang|gcc|COMMAND   the real compiler; clang-19 if not given
  --tomos-verbose                      show the real command on stderr
  --tomos-help                         this text
  --tomos-compile-options, --tomos-link-options
                                       print the options that are added, one a line

Environment:
  TOMOS_CC, TOMOS_CXX   the real compilers of tomos-cc and tomos-c++
  TOMOS_COMPILER        the same as --tomos-compiler
  TOMOS_VERBOSE=1       the same as --tomos-verbose
  TOMOS_DISABLE=1       compile plainly: nothing is added

A file compiled with -fno-sanitize=thread is not watched.
)";

using Words = std::vector<std::string>;
using Failure = std::unexpected<std::string>;

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value != nullptr ? value : "";
}

bool is_set(const char* name) {
  const std::string value = environment(name);
  return !value.empty() && value != "0";
}

enum class Print { kNothing, kHelp, kCompileOptions, kLinkOptions };

// What is ours on the command line; the rest is the compiler's.
struct Settings {
  std::string compiler;
  bool verbose = is_set("TOMOS_VERBOSE");
  bool disabled = is_set("TOMOS_DISABLE");
  Print print = Print::kNothing;
  Words rest;
};

std::expected<Settings, std::string> read_settings(const Words& arguments) {
  constexpr std::string_view kOurs = "--tomos-";
  constexpr std::string_view kCompiler = "--tomos-compiler=";
  Settings settings;
  for (const std::string& word : arguments) {
    if (!word.starts_with(kOurs)) {
      settings.rest.push_back(word);
    } else if (word.starts_with(kCompiler) && word.size() > kCompiler.size()) {
      settings.compiler = word.substr(kCompiler.size());
    } else if (word == "--tomos-verbose") {
      settings.verbose = true;
    } else if (word == "--tomos-help") {
      settings.print = Print::kHelp;
    } else if (word == "--tomos-compile-options") {
      settings.print = Print::kCompileOptions;
    } else if (word == "--tomos-link-options") {
      settings.print = Print::kLinkOptions;
    } else {
      return Failure("unknown option " + word + "; see --tomos-help");
    }
  }
  return settings;
}

struct Compiler {
  std::string command;
  Family family;
};

// By its name: "clang++-19", "x86_64-linux-gnu-g++-12", or a link such as /usr/bin/c++ to one.
std::expected<Compiler, std::string> recognise(const std::string& command) {
  std::error_code ignored;
  for (const std::filesystem::path& path :
       {std::filesystem::path(command), std::filesystem::canonical(command, ignored)}) {
    const std::string name = path.filename().string();
    if (name.contains("clang")) return Compiler{command, Family::kClang};
    if (name.contains("gcc") || name.contains("g++")) return Compiler{command, Family::kGcc};
  }
  return Failure("cannot tell from the name of " + command +
                 " whether it is clang or gcc; give its full path, or a command with clang, gcc or "
                 "g++ in its name");
}

std::expected<Compiler, std::string> choose_compiler(const Settings& settings, bool cxx) {
  std::string wanted = settings.compiler;
  if (wanted.empty()) wanted = environment(cxx ? "TOMOS_CXX" : "TOMOS_CC");
  if (wanted.empty()) wanted = environment("TOMOS_COMPILER");
  if (wanted.empty() || wanted == "clang") {
    return Compiler{cxx ? "clang++-19" : "clang-19", Family::kClang};
  }
  if (wanted == "gcc") return Compiler{cxx ? "g++" : "gcc", Family::kGcc};
  return recognise(wanted);
}

// The runtime and the plugin: lib/ beside us in a build tree, ../lib/tomos when installed.
std::expected<Folders, std::string> find_folders() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Failure("cannot find myself through /proc/self/exe: " + error.message());
  const std::filesystem::path folder = self.parent_path();
  for (const std::filesystem::path& library :
       {folder / "lib", folder.parent_path() / "lib" / "tomos"}) {
    if (std::filesystem::exists(library / "libtomos_rt.so", error)) return Folders{library};
  }
  return Failure("cannot find lib/libtomos_rt.so beside " + self.string() + ", nor " +
                 (folder.parent_path() / "lib/tomos/libtomos_rt.so").string() +
                 "; build or install Tomos again");
}

// What does not go together with us, with the reason and the remedy.
std::expected<void, std::string> refuse(const Request& request, Family family) {
  for (const std::string_view other : {"address", "hwaddress", "memory", "leak", "dataflow",
                                       "kernel-address", "kernel-hwaddress", "kernel-memory"}) {
    if (request.sanitizers.contains(other)) {
      return Failure(
          "-fsanitize=" + std::string(other) +
          " does not go together with Tomos: each brings a runtime that must be the only "
          "one to watch memory. Take it out of this build, or set TOMOS_DISABLE=1");
    }
  }
  if (request.transactions && family == Family::kClang) {
    return Failure(
        "-fgnu-tm is gcc's: clang has no transactions. Add --tomos-compiler=gcc (`tomos tm` needs "
        "no compiler)");
  }
  if (!request.machine_option.empty()) {
    return Failure(request.machine_option +
                   " asks for a machine that Tomos has no runtime for; it has one for x86-64 only. "
                   "Take the option out, or set TOMOS_DISABLE=1");
  }
  if (request.links && request.static_link) {
    return Failure(
        request.static_option +
        " leaves no place to watch locks and threads from: Tomos interposes functions of "
        "libc, which needs dynamic linking. Take the option out "
        "(-static-libgcc and -static-libstdc++ may stay)");
  }
  return {};
}

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// Only returns when the compiler cannot be run.
std::string become(const std::string& command, const Words& arguments, bool verbose) {
  std::vector<char*> argv = {const_cast<char*>(command.c_str())};
  for (const std::string& word : arguments) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (verbose) {
    std::string line = quoted(command);
    for (const std::string& word : arguments) line += " " + quoted(word);
    std::cerr << line << std::endl;
  }
  execvp(command.c_str(), argv.data());
  const std::string reason = std::error_code(errno, std::generic_category()).message();
  return "cannot run " + command + ": " + reason +
         "; install it, or choose another with --tomos-compiler (see --tomos-help)";
}

std::expected<Words, std::string> complete(const Compiler& compiler, const Settings& settings) {
  const Words& rest = settings.rest;
  const Request request = understand(rest);
  if (!request.compiles && !request.links) return rest;
  const auto folders = find_folders();
  if (!folders) return Failure(folders.error());

  const bool quiet = settings.disabled || request.refuses_thread;
  const bool transactions = request.transactions && compiler.family == Family::kGcc && !quiet;
  Words all;
  if (request.compiles) {
    all = quiet ? include_options(*folders) : compile_options(compiler.family, *folders);
    if (transactions) {
      const Words more = transaction_options(*folders);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  if (!settings.disabled) {
    if (const auto fine = refuse(request, compiler.family); !fine) return Failure(fine.error());
    if (request.links) {
      const Words more = link_options(compiler.family, *folders, request.standard_libraries);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  all.insert(all.end(), rest.begin(), rest.end());
  if (transactions && request.compiles) all.emplace_back(kTransactionsLast);
  // The user's own -fsanitize=thread would make clang's driver link the sanitizer's runtime.
  if (!settings.disabled && request.asks_thread && compiler.family == Family::kClang) {
    all.emplace_back("-fno-sanitize=thread");
  }
  return all;
}

std::expected<void, std::string> run(bool cxx, const Words& arguments) {
  const auto settings = read_settings(arguments);
  if (!settings) return Failure(settings.error());
  if (settings->print == Print::kHelp) {
    std::cout << kHelp;
    return {};
  }
  const auto compiler = choose_compiler(*settings, cxx);
  if (!compiler) return Failure(compiler.error());
  if (settings->print != Print::kNothing) {
    const auto folders = find_folders();
    if (!folders) return Failure(folders.error());
    const Words options = settings->print == Print::kCompileOptions
                              ? compile_options(compiler->family, *folders)
                              : link_options(compiler->family, *folders, true);
    for (const std::string& word : options) std::cout << word << '\n';
    return {};
  }
  const auto words = complete(*compiler, *settings);
  if (!words) return Failure(words.error());
  return Failure(become(compiler->command, *words, settings->verbose));
}

}  // namespace
}  // namespace tomos::instrument

int main(int argc, char** argv) {
  const std::string name =
      argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "tomos-cc";
  const bool cxx = name.ends_with("++");
  const auto done = tomos::instrument::run(cxx, {argv + (argc > 0 ? 1 : 0), argv + argc});
  if (done) return 0;
  std::cerr << name << ": error: " << done.error() << std::endl;
  return tomos::instrument::kBadUsage;
}
