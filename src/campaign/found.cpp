#include "campaign/found.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace tomos::campaign {

template <class Describe>
const std::string& Found::id_of(const std::string& key, const Describe& describe) {
  const auto [known, is_new] = ids_.try_emplace(key);
  if (is_new) {
    Finding finding = describe();
    known->second = finding.id();
    items_.try_emplace(known->second, Item{.id = known->second, .finding = std::move(finding)});
  }
  return known->second;
}

namespace {

void drop_chain(schedule::Place& place) {
  std::fill(std::begin(place.frames) + 1, std::end(place.frames), 0);
}

schedule::Violation without_chains(schedule::Violation violation) {
  for (schedule::Place* place : {&violation.first, &violation.other, &violation.second}) {
    drop_chain(*place);
  }
  return violation;
}

// A signal's chain is always there.
Trial without_chains(Trial trial) {
  for (schedule::Violation& violation : trial.violations) violation = without_chains(violation);
  for (schedule::Waiting& waiting : trial.waiting) {
    drop_chain(waiting.place);
    drop_chain(waiting.taken);
  }
  return trial;
}

}  // namespace

std::vector<std::string> Found::identify(const Trial& trial) {
  std::vector<std::string> ids;
  const auto add = [&](const std::string& id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  const TrialModules modules = names_.modules(trial.modules);
  const Trial bare = without_chains(trial);
  for (const schedule::Violation& violation : bare.violations) {
    add(id_of(key_of(violation, modules),
              [&] { return campaign::describe(violation, bare, modules, names_); }));
  }
  if (const auto bug = bug_of(bare, expected_)) {
    add(id_of(key_of(*bug, bare, modules),
              [&] { return campaign::describe(*bug, bare, modules, names_); }));
  }
  return ids;
}

std::vector<Found::Shows> Found::describe(const Trial& trial) {
  std::vector<Shows> shown;
  const TrialModules modules = names_.modules(trial.modules);
  const Trial bare = without_chains(trial);
  const auto add = [&](const std::string& id, Finding finding) {
    const std::string full = finding.id();
    const bool known =
        std::ranges::any_of(shown, [&](const Shows& one) { return one.finding.id() == full; });
    if (!known) shown.push_back({.id = id, .finding = std::move(finding)});
  };
  for (std::size_t i = 0; i < trial.violations.size(); ++i) {
    const schedule::Violation& violation = bare.violations[i];
    add(id_of(key_of(violation, modules),
              [&] { return campaign::describe(violation, bare, modules, names_); }),
        campaign::describe(trial.violations[i], trial, modules, names_));
  }
  if (const auto bug = bug_of(trial, expected_)) {
    add(id_of(key_of(*bug, bare, modules),
              [&] { return campaign::describe(*bug, bare, modules, names_); }),
        campaign::describe(*bug, trial, modules, names_));
  }
  return shown;
}

bool Found::add(const Trial& trial) {
  ++trials_.run;
  const auto bug = bug_of(trial, expected_);
  if (!trial.violations.empty()) ++trials_.errors;
  if (bug) ++trials_.bugs;
  if (bug == Bug::kHang) ++trials_.hung;
  if (trial.warnings > 0) ++trials_.warnings;
  most_threads_ = std::max(most_threads_, trial.threads);
  most_warnings_ = std::max(most_warnings_, trial.warnings);
  steps_ += trial.steps;
  bool is_new = false;
  if (trial.violations.empty() && !bug) return is_new;
  const std::uint64_t seed = trial.settings.seed;
  for (const std::string& id : identify(trial)) {
    Item& item = items_.at(id);
    is_new = is_new || item.hits == 0;
    // Trials that run at the same time need not end in the order of their seeds.
    if (item.hits == 0 || seed < item.first_seed) {
      item.first_seed = seed;
      item.first_strategy = trial.settings.strategy;
    }
    ++item.hits;
  }
  return is_new;
}

std::vector<Found::Item*> Found::hit() {
  std::vector<Item*> items;
  for (auto& [id, item] : items_) {
    if (item.hits > 0) items.push_back(&item);
  }
  std::ranges::sort(items, {}, [](const Item* item) {
    // Bugs first: they hurt.
    return std::tuple(item->finding.kind == Kind::kAtomicity, item->first_seed, item->id);
  });
  return items;
}

}  // namespace tomos::campaign
