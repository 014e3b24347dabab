#include "campaign/plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

namespace tomos::campaign {

using schedule::Profile;
using schedule::Strategy;

namespace {

// The same whatever the seed of the campaign.
struct Learner {
  Strategy strategy;
  std::uint64_t seed;
};
constexpr std::array kLearners = {Learner{.strategy = Strategy::kRoundRobin, .seed = 1'000'001},
                                  Learner{.strategy = Strategy::kRandom, .seed = 1'000'002},
                                  Learner{.strategy = Strategy::kPos, .seed = 1'000'003},
                                  Learner{.strategy = Strategy::kRandom, .seed = 1'000'004}};
// What comes to light only when somebody has been cut.
constexpr std::uint64_t kFirstAim = 1'000'005;
constexpr std::uint64_t kMostAimed = 32;
// Of all these trials: a program that does much is not run so often.
constexpr std::uint64_t kAimedSteps = 160'000;

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
  if (order.settings.strategy == Strategy::kAim) {
    order.aim = aims.draw(seed);
    // Where there is nothing left to aim at, the others have better chances.
    const bool worth_it = order.aim.cut.place != 0 && !aims.is_put_back(order.aim);
    order.settings.strategy = strategy_of(settings, seed, worth_it);
  }
  if (uses_profile(settings, order.settings.strategy, seed)) order.profile = profile;
  return order;
}

namespace {

bool is_telling(const Trial& trial) {
  return trial.started && trial.end != End::kTimedOut && trial.end != End::kStopped;
}

// Without a word of how the program ends by itself: that, unlike these trials, could be different
// the next time.
bool is_as_usual(const Trial& trial, int usual_status) {
  return trial.end == End::kExited && trial.exit_status <= usual_status &&
         std::ranges::none_of(trial.violations, [](const auto& one) { return one.doubtful == 0; });
}

// Profiles are shared with the trials that have them.
std::shared_ptr<const Profile> shared(Profile profile) {
  // Any thread count says that there is a profile.
  profile.thread_count = std::max(profile.thread_count, 1U);
  return std::make_shared<const Profile>(profile);
}

}  // namespace

// First the places; then, with only these to switch at, how much each thread does and where it can
// be cut; then what there is behind some of the cuts, and in which there is nothing.
Result<Plan> make_plan(Runner& runner, const Settings& settings) {
  Plan nothing = {.settings = settings, .profile = nullptr, .aims = {}};
  if (!settings.learn) return nothing;
  Plan plan = nothing;
  Profile all = {};
  int usual_status = std::numeric_limits<int>::max();  // the lowest with which it ended
  for (const auto& add : {add_places, add_work}) {
    for (const Learner& learner : kLearners) {
      Order order = {.settings = for_trial(settings, learner.seed), .profile = plan.profile};
      order.settings.strategy = learner.strategy;
      order.settings.log = plan.profile == nullptr ? 0 : 1;
      const auto trial = runner.run(std::move(order));
      if (!trial) return std::unexpected(trial.error());
      if (!is_telling(*trial)) return nothing;
      add(all, *trial->seen);
      plan.aims.add(trial->log);
      if (trial->end == End::kExited) usual_status = std::min(usual_status, trial->exit_status);
    }
    plan.profile = shared(all);
  }
  const std::uint64_t aimed =
      std::min(kMostAimed, kAimedSteps / std::max<std::uint64_t>(all.steps, 1));
  for (std::uint64_t seed = kFirstAim; seed < kFirstAim + aimed; ++seed) {
    Order order = {.settings = for_trial(settings, seed), .profile = plan.profile};
    order.settings.strategy = Strategy::kAim;
    order.settings.log = 1;
    const schedule::Aim aim = order.aim = plan.aims.draw(seed);
    const auto trial = runner.run(std::move(order));
    if (!trial) return std::unexpected(trial.error());
    if (!is_telling(*trial)) break;
    add_places(all, *trial->seen);
    add_work(all, *trial->seen);
    plan.aims.add(trial->log);
    if (is_as_usual(*trial, usual_status)) plan.aims.put_back(aim);
  }
  plan.profile = shared(all);
  return plan;
}

}  // namespace tomos::campaign
