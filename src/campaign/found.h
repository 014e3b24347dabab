// What a campaign has found: each thing once, with how many trials showed it.
//
// The scheduler takes down call chains only when it replays a schedule: otherwise they would cost
// more than all else. So findings are counted by the innermost places alone, and are told in full
// when their trial is replayed.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "campaign/describe.h"
#include "campaign/names.h"
#include "campaign/settings.h"
#include "campaign/trial.h"
#include "report/report.h"

namespace tomos::campaign {

class Found {
 public:
  struct Item {
    std::string id;   // without call chains
    Finding finding;  // with them, once it has been replayed
    std::uint64_t hits = 0;
    std::uint64_t first_seed = 0;
    schedule::Strategy first_strategy = {};
  };

  // Before any trial: how the program ends by itself.
  void expect(const Expected& expected) { expected_ = expected; }

  // Counts the trial; true if it shows something for the first time.
  bool add(const Trial& trial);
  // What a trial shows, with call chains if it has them; `id` is the item's, without.
  struct Shows {
    std::string id;
    Finding finding;
  };
  std::vector<Shows> describe(const Trial& trial);

  const Trials& trials() const { return trials_; }
  std::uint32_t most_threads() const { return most_threads_; }
  std::uint32_t most_warnings() const { return most_warnings_; }
  std::uint64_t steps() const { return steps_; }
  // Those that have been hit, by seed of the first hit.
  std::vector<Item*> hit();

  const Expected& expected() const { return expected_; }
  std::vector<std::string> name_problems() const { return names_.problems(); }

 private:
  // The ids of what a trial shows, each once. What is new becomes known.
  std::vector<std::string> identify(const Trial& trial);
  template <class Describe>
  const std::string& id_of(const std::string& key, const Describe& describe);

  Expected expected_;
  Names names_;
  std::unordered_map<std::string, std::string> ids_;  // by key
  std::unordered_map<std::string, Item> items_;       // by id
  Trials trials_;
  std::uint32_t most_threads_ = 0;
  std::uint32_t most_warnings_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace tomos::campaign
