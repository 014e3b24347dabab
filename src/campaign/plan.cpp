#include "campaign/plan.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tomos::campaign {

using schedule::Profile;
using schedule::Strategy;

namespace {

// The same whatever the seed of the campaign.
constexpr std::array kLearners = {
    std::pair{Strategy::kRoundRobin, 1'000'001ULL}, std::pair{Strategy::kRandom, 1'000'002ULL},
    std::pair{Strategy::kPos, 1'000'003ULL}, std::pair{Strategy::kRandom, 1'000'004ULL}};

void add_places(Profile& all, const Profile& seen) {
  for (std::uint32_t i = 0; i < seen.place_count && all.place_count < schedule::kMaxPlaces; ++i) {
    const auto end = std::begin(all.places) + all.place_count;
    if (std::find(std::begin(all.places), end, seen.places[i]) != end) continue;
    all.places[all.place_count++] = seen.places[i];
  }
  all.accesses = std::max(all.accesses, seen.accesses);
}

void add_work(Profile& all, const Profile& seen) {
  all.steps = std::max(all.steps, seen.steps);
  for (std::uint32_t i = 0; i < seen.thread_count; ++i) {
    all.thread_steps[i] = std::max(all.thread_steps[i], seen.thread_steps[i]);
    all.creators[i] = seen.creators[i];
  }
  all.thread_count = std::max(all.thread_count, seen.thread_count);
}

}  // namespace

Order Plan::order(std::uint64_t seed) const {
  Order order;
  order.settings = for_trial(settings, seed);
  if (uses_profile(settings, seed)) order.profile = profile;
  return order;
}

// First the places; then, with only these to switch at, how much each thread does.
Result<Plan> make_plan(Runner& runner, const Settings& settings) {
  Plan plan = {.settings = settings, .profile = nullptr};
  if (!settings.learn) return plan;
  Profile all = {};
  for (const auto& add : {add_places, add_work}) {
    for (const auto& [strategy, seed] : kLearners) {
      Order order = {.settings = for_trial(settings, seed), .profile = plan.profile};
      order.settings.strategy = strategy;
      const auto trial = runner.run(std::move(order));
      if (!trial) return std::unexpected(trial.error());
      if (!trial->started || trial->end == End::kTimedOut || trial->end == End::kStopped) {
        return Plan{.settings = settings, .profile = nullptr};
      }
      add(all, *trial->seen);
    }
    // Any thread count says that there is a profile.
    all.thread_count = std::max(all.thread_count, 1U);
    plan.profile = std::make_shared<const Profile>(all);
  }
  return plan;
}

}  // namespace tomos::campaign
