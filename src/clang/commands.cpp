#include "clang/commands.h"

#include <clang/Driver/Options.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/JSONCompilationDatabase.h>
#include <fmt/format.h>
#include <llvm/Option/Arg.h>
#include <llvm/Option/ArgList.h>
#include <llvm/Option/OptTable.h>

#include <algorithm>
#include <expected>
#include <filesystem>
#include <set>
#include <utility>

namespace tomos::cpp {

using clang::tooling::CompileCommand;

namespace {

// What only another compiler knows: clang would refuse to do anything.
void drop_unknown(std::vector<std::string>& arguments) {
  std::vector<const char*> words;
  for (std::size_t i = 1; i < arguments.size(); ++i) words.push_back(arguments[i].c_str());
  unsigned missing = 0;
  unsigned count = 0;
  const llvm::opt::InputArgList parsed = clang::driver::getDriverOptTable().ParseArgs(
      words, missing, count, llvm::opt::Visibility(clang::driver::options::ClangOption));
  std::set<std::string> unknown;
  for (const llvm::opt::Arg* word : parsed.filtered(clang::driver::options::OPT_UNKNOWN)) {
    unknown.insert(word->getAsString(parsed));
  }
  std::erase_if(arguments, [&](const std::string& word) {
    return unknown.contains(word) || word.starts_with("-fplugin");
  });
}

}  // namespace

std::vector<std::string> arguments_for(const CompileCommand& command,
                                       const std::vector<std::string>& flags) {
  using namespace clang::tooling;
  CommandLineArguments arguments = command.CommandLine;
  for (const ArgumentsAdjuster& adjust :
       {getClangStripOutputAdjuster(), getClangStripDependencyFileAdjuster(),
        getClangSyntaxOnlyAdjuster(), getStripPluginsAdjuster()}) {
    arguments = adjust(arguments, command.Filename);
  }
  // A precompiled header was made with other options; the header itself is included beside it.
  for (auto at = arguments.begin(); at != arguments.end();) {
    const bool names_it = *at == "-include-pch";
    const bool passed_on = names_it && at != arguments.begin() && *(at - 1) == "-Xclang";
    if (!names_it) {
      ++at;
    } else if (passed_on && arguments.end() - at >= 3) {
      at = arguments.erase(at - 1, at + 3);
    } else {
      at = arguments.erase(at, at + std::min<std::ptrdiff_t>(2, arguments.end() - at));
    }
  }
  drop_unknown(arguments);
  // The scopes of tomos.h are there, and nothing else is said about the source.
  std::vector<std::string> extra = {"-resource-dir=" TOMOS_CLANG_RESOURCES, "-D__TOMOS__=1", "-w",
                                    "-Qunused-arguments"};
  extra.insert(extra.end(), flags.begin(), flags.end());
  return getInsertArgumentAdjuster(extra, ArgumentInsertPosition::BEGIN)(arguments,
                                                                         command.Filename);
}

Result<std::vector<CompileCommand>> commands_for(const std::string& build,
                                                 const std::vector<std::string>& files) {
  std::vector<CompileCommand> commands;
  if (build.empty()) {
    const std::string here = std::filesystem::current_path().string();
    const clang::tooling::FixedCompilationDatabase plain(here, {});
    for (const std::string& file : files) {
      for (CompileCommand& command : plain.getCompileCommands(file)) {
        commands.push_back(std::move(command));
      }
    }
    return commands;
  }
  const std::string path = build + "/compile_commands.json";
  std::string problem;
  const auto database = clang::tooling::JSONCompilationDatabase::loadFromFile(
      path, problem, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (!database) {
    return std::unexpected(
        Error{.where = path,
              .what = "there is no compilation database that can be read",
              .remedy = "Make one with `cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, or with `bear "
                        "-- make`; or name the files and put their flags after `--`."});
  }
  if (files.empty()) {
    std::set<std::string> seen;
    for (CompileCommand& command : database->getAllCompileCommands()) {
      const std::filesystem::path file =
          (std::filesystem::path(command.Directory) / command.Filename).lexically_normal();
      const std::string kind = file.extension().string();
      if (kind == ".s" || kind == ".S" || !seen.insert(file.string()).second) continue;
      commands.push_back(std::move(command));
    }
    return commands;
  }
  for (const std::string& file : files) {
    std::vector<CompileCommand> found =
        database->getCompileCommands(std::filesystem::absolute(file).lexically_normal().string());
    if (found.empty()) {
      return std::unexpected(Error{.where = file,
                                   .what = fmt::format("is not in {}", path),
                                   .remedy = "Name a file that is compiled there, or leave out -p "
                                             "and put its flags after `--`."});
    }
    commands.push_back(std::move(found.front()));
  }
  return commands;
}

std::string shown(const std::string& path) {
  const std::filesystem::path relative =
      std::filesystem::path(path).lexically_relative(std::filesystem::current_path());
  if (relative.empty() || *relative.begin() == "..") return path;
  return relative.string();
}

}  // namespace tomos::cpp
