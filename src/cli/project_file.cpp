#include "cli/project_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <system_error>

#include "cli/judge_options.h"
#include "cli/options.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace tomos {

namespace {

constexpr const char* kDefault = "tomos.toml";

class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Result<ProjectFile> read(const toml::table& table) {
    for (const auto& [key, value] : table) {
      if (const auto done = take(key, value); !done) return std::unexpected(done.error());
    }
    return std::move(result_);
  }

  std::unexpected<Error> wrong(const toml::source_region& at, const std::string& what,
                               const std::string& remedy) const {
    return std::unexpected(
        Error{.where = fmt::format("{}:{}:{}", name_, at.begin.line, at.begin.column),
              .what = what,
              .remedy = remedy});
  }

 private:
  Result<void> take(const toml::key& key, const toml::node& value) {
    const std::string_view word = key.str();
    if (word == "atomic") return patterns(word, value, result_.atomic);
    if (word == "ignore") return patterns(word, value, result_.ignore);
    if (word == "include") return patterns(word, value, result_.include);
    if (word == "array_cutoff") return cutoff(value);
    if (word == "analysis") return analysis(value);
    const std::vector<std::string> keys = {"atomic", "ignore", "include", "array_cutoff",
                                           "analysis"};
    return wrong(
        key.source(),
        fmt::format("'{}' is not a key of the project file.{}", word, did_you_mean(word, keys)),
        fmt::format("The keys are {}.", fmt::join(keys, ", ")));
  }

  Result<std::vector<std::string>> strings(std::string_view key, const toml::node& value,
                                           const std::string& example) const {
    const toml::array* list = value.as_array();
    if (list == nullptr) {
      return wrong(value.source(), fmt::format("{} must be a list of strings", key),
                   fmt::format("For example: {} = {}", key, example));
    }
    std::vector<std::string> result;
    for (const toml::node& element : *list) {
      const toml::value<std::string>* text = element.as_string();
      if (text == nullptr) {
        return wrong(element.source(), fmt::format("{} must hold strings only", key),
                     fmt::format("For example: {} = {}", key, example));
      }
      result.push_back(text->get());
    }
    return result;
  }

  Result<void> patterns(std::string_view key, const toml::node& value,
                        std::vector<std::string>& into) const {
    auto read = strings(key, value, R"(["Account::*", "transfer"])");
    if (!read) return std::unexpected(std::move(read.error()));
    for (const std::string& pattern : *read) {
      if (pattern.empty() || pattern.contains('\n')) {
        return wrong(value.source(),
                     fmt::format("a pattern of {} is empty or has several lines", key),
                     "A pattern is a function's qualified name, with * and ? for what may differ.");
      }
    }
    into = std::move(*read);
    return {};
  }

  Result<void> cutoff(const toml::node& value) {
    const toml::value<std::int64_t>* number = value.as_integer();
    if (number == nullptr || number->get() < 0) {
      return wrong(value.source(), "array_cutoff must be a whole number from 0",
                   "It says how many bytes at the start of a large heap object are looked at: "
                   "array_cutoff = 4096");
    }
    result_.array_cutoff = static_cast<std::uint64_t>(number->get());
    return {};
  }

  // A list, or the words of --analysis.
  Result<void> analysis(const toml::node& value) {
    std::vector<std::string> names;
    if (const toml::value<std::string>* text = value.as_string()) {
      names = split(text->get(), ',');
    } else {
      auto read = strings("analysis", value, R"(["blocks", "lock-order"])");
      if (!read) return std::unexpected(std::move(read.error()));
      names = std::move(*read);
    }
    const std::vector<std::string> known = analysis_names();
    for (const std::string& name : names) {
      if (contains(known, name)) continue;
      return wrong(value.source(),
                   fmt::format("'{}' is not an analysis.{}", name, did_you_mean(name, known)),
                   fmt::format("The analyses are {}.", fmt::join(known, ", ")));
    }
    result_.analysis = fmt::format("{}", fmt::join(names, ","));
    return {};
  }

  const std::string& name_;
  ProjectFile result_;
};

}  // namespace

Result<ProjectFile> parse_project_file(std::string_view text, const std::string& name) {
  Reader reader(name);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return reader.wrong(parsed.error().source(),
                        "this is not TOML: " + std::string(parsed.error().description()),
                        "A setting looks like this: atomic = [\"Account::*\"]");
  }
  return reader.read(parsed.table());
}

Result<ProjectFile> read_project_file(const std::string& path) {
  std::error_code none;
  if (path.empty() && !std::filesystem::exists(kDefault, none)) return ProjectFile();
  const std::string name = path.empty() ? kDefault : path;
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (file && !std::filesystem::is_directory(name, none)) text << file.rdbuf();
  if (!file || !text) {
    return std::unexpected(
        Error{.where = name,
              .what = "cannot be read",
              .remedy = path.empty() ? "Make it readable, or choose another one with --config."
                                     : "Check the path that follows --config."});
  }
  return parse_project_file(text.str(), name);
}

}  // namespace tomos
