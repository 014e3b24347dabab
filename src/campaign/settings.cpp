#include "campaign/settings.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tomos::campaign {

using schedule::Strategy;

namespace {

constexpr std::array kNames = {
    std::pair{Strategy::kAtomFuzzer, "atomfuzzer"},
    std::pair{Strategy::kAim, "aim"},
    std::pair{Strategy::kCut, "cut"},
    std::pair{Strategy::kWalk, "walk"},
    std::pair{Strategy::kPos, "pos"},
    std::pair{Strategy::kPct, "pct"},
    std::pair{Strategy::kRandom, "random"},
    std::pair{Strategy::kRoundRobin, "roundrobin"},
};

// A thread that does not come back for so long is let go. Long enough that a busy machine alone
// does not cause it.
constexpr std::uint32_t kPatience = 250;  // milliseconds

// The last step of MurmurHash3: neighbouring seeds must not give neighbouring numbers.
constexpr std::uint64_t scattered(std::uint64_t seed) {
  seed = (seed ^ (seed >> 33)) * 0xff51'afd7'ed55'8ccd;
  seed = (seed ^ (seed >> 33)) * 0xc4ce'b9fe'1a85'ec53;
  return seed ^ (seed >> 33);
}

}  // namespace

Strategy strategy_of(const Settings& settings, std::uint64_t seed, bool worth_aiming) {
  if (settings.strategy) return *settings.strategy;
  // Without an aim that strategy is one like the others.
  const std::uint64_t drawn = scattered(seed);
  const bool aims = worth_aiming || drawn / 3000 % 2 == 0;
  if (aims && drawn % 100 < 85) return Strategy::kAim;
  const std::uint64_t part = drawn / 100 % 30;
  if (part < 18) return Strategy::kAtomFuzzer;
  return part < 23 ? Strategy::kCut : Strategy::kPos;
}

bool uses_profile(const Settings& settings, Strategy strategy, std::uint64_t seed) {
  if (!settings.learn) return false;
  // Algorithm 1 is what the others are compared with.
  if (strategy == Strategy::kRandom || strategy == Strategy::kRoundRobin) return false;
  return settings.strategy.has_value() || strategy == Strategy::kAim || scattered(~seed) % 4 != 0;
}

namespace {

// To wait at every chance makes some violations certain and keeps others from ever coming about.
double pause_probability_of(const Settings& settings, std::uint64_t seed) {
  if (settings.strategy || settings.pause_probability != Settings().pause_probability) {
    return settings.pause_probability;
  }
  constexpr std::array kMixed = {1.0, 0.5, 0.2, 0.2};
  return kMixed[scattered(seed + (1ULL << 32)) % kMixed.size()];
}

}  // namespace

schedule::Settings for_trial(const Settings& settings, std::uint64_t seed) {
  return {.strategy = strategy_of(settings, seed),
          .accesses = settings.accesses ? 1U : 0U,
          .seed = seed,
          .pause_probability = pause_probability_of(settings, seed),
          .depth = settings.depth,
          .patience_ms = kPatience,
          .undeclared = settings.undeclared ? 1U : 0U,
          .log = 0};
}

std::string_view to_string(Strategy strategy) {
  for (const auto& [known, name] : kNames) {
    if (known == strategy) return name;
  }
  return "replay";
}

std::optional<Strategy> strategy_called(std::string_view name) {
  const auto known = std::ranges::find(kNames, name, [](const auto& one) { return one.second; });
  if (known == kNames.end()) return std::nullopt;
  return known->first;
}

const std::vector<Strategy>& strategies() {
  static const std::vector<Strategy> all = [] {
    std::vector<Strategy> result;
    result.reserve(kNames.size());
    for (const auto& [strategy, name] : kNames) result.push_back(strategy);
    return result;
  }();
  return all;
}

}  // namespace tomos::campaign
