#include "campaign/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "report/json.h"
#include "report/report.h"

namespace tomos::campaign {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kSchema = "tomos-corpus/1";

Error cannot_write(const std::string& path, int error) {
  return {.where = path,
          .what = "cannot write: " + std::error_code(error, std::generic_category()).message(),
          .remedy = "Check that the folder may be written to, or name another (--corpus)."};
}

// Complete or not at all.
Result<void> write(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary, std::ios::binary);
  file << text << std::flush;
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::error_code ignored;
    fs::remove(temporary, ignored);
    return std::unexpected(cannot_write(path, error));
  }
  return {};
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

Json to_json(const Settings& settings) {
  return {{"strategy", settings.strategy ? std::string(to_string(*settings.strategy)) : "mix"},
          {"pause_probability", settings.pause_probability},
          {"depth", settings.depth},
          {"accesses", settings.accesses}};
}

}  // namespace

Corpus::Corpus(std::string folder, std::vector<std::string> words, const Settings& settings)
    : folder_(std::move(folder)), words_(std::move(words)), settings_(settings) {}

Result<Corpus> Corpus::open(const std::string& folder, const std::vector<std::string>& words,
                            const Settings& settings) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return std::unexpected(cannot_write(folder, error ? error.value() : ENOTDIR));
  }
  Corpus corpus(folder, words, settings);
  if (!fs::exists(corpus.state_path(), error)) return corpus;
  if (const auto read = corpus.read(); !read) return std::unexpected(read.error());
  return corpus;
}

Result<void> Corpus::read() {
  std::ifstream file(state_path(), std::ios::binary);
  const Json json = Json::parse(file, nullptr, false);
  const auto damaged = [&](std::string what) {
    return std::unexpected(
        Error{.where = state_path(),
              .what = std::move(what),
              .remedy = "Name another folder (--corpus), or remove the file to begin anew."});
  };
  try {
    if (json.at("schema") != kSchema) return damaged("written by another version of tomos");
    if (json.at("program") != Json(words_)) {
      return damaged("the corpus is that of another program, or of other arguments");
    }
    if (json.at("settings") != to_json(settings_)) {
      return damaged("the corpus was made with other settings: " + json.at("settings").dump());
    }
    next_seed_ = json.at("next_seed").get<std::uint64_t>();
    trials_ = json.at("trials").get<std::uint64_t>();
    for (const auto& [id, known] : json.at("findings").items()) {
      known_[id] = {.hits = known.at("hits").get<std::uint64_t>(),
                    .seed = known.at("seed").get<std::uint64_t>(),
                    .message = known.at("message").get<std::string>()};
    }
  } catch (const Json::exception& wrong) {
    return damaged(fmt::format("damaged: {}", wrong.what()));
  }
  return {};
}

std::string Corpus::schedule_path(const std::string& id) const {
  return fmt::format("{}/{}.schedule", folder_, id);
}

std::optional<ScheduleFile> Corpus::schedule(const std::string& id) const {
  auto schedule = read_schedule(schedule_path(id));
  if (!schedule || schedule->id != id) return std::nullopt;
  return std::move(*schedule);
}

Result<void> Corpus::save_schedule(const std::string& id, const ScheduleFile& schedule) const {
  return write(schedule_path(id), to_text(schedule));
}

Result<void> Corpus::save_finding(const Finding& finding) const {
  Report report;
  report.tool = "fuzz";
  report.inputs = {words_.front()};
  report.findings = {finding};
  return write(fmt::format("{}/{}.json", folder_, finding.id()), print_json(report));
}

void Corpus::add_trials(std::uint64_t trials, std::uint64_t next_seed) {
  trials_ += trials;
  next_seed_ = std::max(next_seed_, next_seed);
}

Result<void> Corpus::save() const {
  Json json = {{"schema", kSchema},       {"program", words_}, {"settings", to_json(settings_)},
               {"next_seed", next_seed_}, {"trials", trials_}, {"findings", Json::object()}};
  for (const auto& [id, known] : known_) {
    json["findings"][id] = {{"hits", known.hits}, {"seed", known.seed}, {"message", known.message}};
  }
  return write(state_path(), dump(json));
}

}  // namespace tomos::campaign
