// A folder that keeps what campaigns for one program have found, so that the next one goes on where
// the last one stopped: ID.schedule and ID.json for each finding, and campaign.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/schedule_file.h"
#include "campaign/settings.h"
#include "event/error.h"
#include "report/finding.h"

namespace tomos::campaign {

class Corpus {
 public:
  struct Known {
    std::uint64_t hits = 0;
    std::uint64_t seed = 0;  // of the first
    std::string message;
  };

  // Made if it does not exist. An error if it is another program's, or was made with other
  // settings: then neither seeds nor probabilities could be told together.
  static Result<Corpus> open(const std::string& folder, const std::vector<std::string>& words,
                             const Settings& settings);

  std::uint64_t next_seed() const { return next_seed_; }  // 0: no campaign has been here
  std::uint64_t trials() const { return trials_; }
  const std::map<std::string, Known>& known() const { return known_; }

  std::string schedule_path(const std::string& id) const;
  // That of an earlier campaign, if it is there and can be read.
  std::optional<ScheduleFile> schedule(const std::string& id) const;

  Result<void> save_schedule(const std::string& id, const ScheduleFile& schedule) const;
  Result<void> save_finding(const Finding& finding) const;
  void add_trials(std::uint64_t trials, std::uint64_t next_seed);
  // What is known of a finding now, of all campaigns together.
  void add(const std::string& id, Known known) { known_[id] = std::move(known); }
  Result<void> save() const;

 private:
  Corpus(std::string folder, std::vector<std::string> words, const Settings& settings);
  Result<void> read();
  std::string state_path() const { return folder_ + "/campaign.json"; }

  std::string folder_;
  std::vector<std::string> words_;
  Settings settings_;
  std::uint64_t next_seed_ = 0;
  std::uint64_t trials_ = 0;
  std::map<std::string, Known> known_;
};

}  // namespace tomos::campaign
