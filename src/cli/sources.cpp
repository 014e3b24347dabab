#include "cli/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tomos {

Result<std::string> read_text(const std::string& path, const std::string& remedy) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return std::unexpected(Error{.where = path, .what = "is a folder", .remedy = remedy});
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (file) text << file.rdbuf();
  if (!file || text.bad()) {
    return std::unexpected(Error{.where = path, .what = "cannot be read", .remedy = remedy});
  }
  return text.str();
}

void declare_sources(SourceOptions& options, CLI::App& app) {
  app.add_option("FILE", options.files,
                 "Source files, together one program; behind -- stand the compiler's flags");
  app.add_option("-p", options.build,
                 "Folder of a compile_commands.json; without FILE all that is in it")
      ->type_name("BUILD");
}

void take_flags(SourceOptions& options) {
  const auto flags = std::ranges::find_if(
      options.files, [](const std::string& word) { return word.starts_with('='); });
  for (auto word = flags; word != options.files.end(); ++word) {
    options.flags.push_back(word->substr(1));
  }
  options.files.erase(flags, options.files.end());
}

Result<void> check_named(const SourceOptions& options, const std::string& command) {
  // With -p the files are those of the database, which says what it does not have.
  for (const std::string& file : options.files) {
    std::error_code error;
    if (!options.build.empty()) break;
    if (std::filesystem::is_directory(file, error)) {
      return std::unexpected(Error{.where = file,
                                   .what = "is a folder",
                                   .remedy = "Name the files in it, or with -p the folder of a "
                                             "compile_commands.json."});
    }
    if (!std::filesystem::exists(file, error)) {
      return std::unexpected(Error{
          .where = file, .what = "there is no such file", .remedy = "Name a file that is there."});
    }
  }
  if (!options.files.empty() || !options.build.empty()) return {};
  return std::unexpected(
      Error{.where = command,
            .what = "no source is named",
            .remedy = "Name files, or with -p the folder of a compile_commands.json."});
}

Result<void> note_left_out(const SourceOptions& options, const std::vector<cpp::LeftOut>& left_out,
                           std::size_t units, std::vector<std::string>& notes) {
  for (const cpp::LeftOut& unit : left_out) {
    (void)std::fwrite(unit.messages.data(), 1, unit.messages.size(), stderr);
    notes.push_back(fmt::format("{} does not compile and was left out", unit.file));
  }
  if (units != 0) return {};
  if (left_out.empty()) {
    return std::unexpected(Error{.where = options.build + "/compile_commands.json",
                                 .what = "there is no file in it",
                                 .remedy = "Make it again, after the project has been built."});
  }
  return std::unexpected(
      Error{.where = options.files.empty() ? options.build : options.files.front(),
            .what = "nothing of it compiles",
            .remedy = "Give the flags it is compiled with after `--`, or with -p the folder of "
                      "a compile_commands.json."});
}

}  // namespace tomos
