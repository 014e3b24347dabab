// What `tomos tm` says of random little programs against all their interleavings:
//
// - What happens in a run is reported.
// - What is reported as sure happens in some run.
// - What happens and has none of the reasons for being less sure is reported as sure.
// - Races: on the variables that have two accesses that can be next to each other, and no others.
//
// TOMOS_TM_PROGRAMS=20000 looks at more of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "share.h"
#include "tm/anomalies.h"
#include "tm/traces.h"
#include "tm_little.h"
#include "tm_little_runs.h"

namespace tomos::tm {
namespace {

// The pattern (stale is both of the others), and A, T, B.
using LittleFound = std::set<std::pair<bool, LittleTruth::Cut>>;

// What is not counted although it happens: docs/tm.md.
LittleFound little_truth(const LittleTruth& truth, bool strong) {
  LittleFound found;
  const auto can_be_elsewhere = [&](const LittleTruth::Cut& cut) {
    const auto& [a, t, b] = cut;
    return truth.before.contains({t, a}) || truth.before.contains({b, t});
  };
  const auto counts = [&](std::uint32_t a, int x, int into) {
    return into == x || !truth.uses.at(a).writes.contains(x);  // it took x
  };
  for (const LittleTruth::Stale& one : truth.stale) {
    const auto& [a, t, b] = one.cut;
    if (!can_be_elsewhere(one.cut) || !counts(a, one.x, one.into)) continue;
    const bool only_control = std::ranges::none_of(truth.flows, [&](const auto& flow) {
      const auto& [from, x, to, into] = flow;
      return from == a && x == one.x && to == b && into != -1 && counts(a, x, into);
    });
    const LittleTruth::Uses& first = truth.uses.at(a);
    const LittleTruth::Uses& second = truth.uses.at(b);
    const bool looks_again =
        second.writes.empty() && std::ranges::includes(first.reads, second.reads);
    if (only_control && (looks_again || truth.waits.contains(b))) continue;
    if (strong && (!one.strong || first.writes.contains(one.x))) continue;
    found.emplace(false, one.cut);
  }
  for (const LittleTruth::Halves& one : truth.halves) {
    const auto& [a, t, b] = one.cut;
    if (strong || !can_be_elsewhere(one.cut)) continue;
    if (truth.uses.at(b).uses(one.x) || truth.uses.at(a).uses(one.y)) continue;
    found.emplace(one.written, one.cut);
  }
  return found;
}

LittleFound little_found(const Traces& traces, const std::vector<Anomaly>& anomalies, bool sure) {
  LittleFound found;
  const auto node = [&](TransactionId id) {
    return static_cast<std::uint32_t>(traces.transactions[id].node);
  };
  for (const Anomaly& one : anomalies) {
    if (sure && !one.doubt.empty()) continue;
    found.emplace(one.pattern == "WrW",
                  LittleTruth::Cut(node(one.first), node(one.cut), node(one.second)));
  }
  return found;
}

// What is in the first and not in the second.
std::string missing(const LittleFound& some, const LittleFound& others) {
  std::string text;
  for (const auto& [written, cut] : some) {
    if (others.contains({written, cut})) continue;
    const auto& [a, t, b] = cut;
    text += (written ? " WrW " : " stale or RwR ") + std::to_string(a) + '/' + std::to_string(t) +
            '/' + std::to_string(b);
  }
  return text;
}

TEST(TmSectionsRandom, AgreesWithAllInterleavings) {
  const char* more = std::getenv("TOMOS_TM_PROGRAMS");  // NOLINT(concurrency-mt-unsafe)
  const int programs = more != nullptr ? std::atoi(more) : 300 / kShare;
  int compared = 0;
  int wrong = 0;
  int never = 0;
  std::size_t real = 0;
  std::size_t sure = 0;
  std::size_t races = 0;
  for (int seed = 1; seed <= programs; ++seed) {
    LittleProgram little = LittleGenerator(static_cast<unsigned>(seed)).make();
    const Program program = LittleTranslator().translate(little);
    LittleTruth truth;
    if (!LittleInterpreter(little, truth).run()) continue;
    ++compared;
    const TraceOptions options = {.sections = little.sections};
    const Traces traces = trace(program, options);
    const auto anomalies = find_anomalies(traces);
    const LittleFound happens = little_truth(truth, false);
    const LittleFound is_sure = little_found(traces, anomalies, true);
    std::set<int> found_races;
    for (const Race& race : find_races(traces)) {
      found_races.insert(static_cast<int>(traces.locations[race.one.location].a));
    }
    const std::string missed = missing(happens, little_found(traces, anomalies, false));
    const bool exact = !little.forks_inside && !little.branches_inside && !truth.mixed;
    const std::string invented = missing(is_sure, happens);
    const std::string doubted = missing(little_truth(truth, true), is_sure);
    const bool races_agree = little.nests || !exact
                                 ? std::ranges::includes(found_races, truth.races)
                                 : found_races == truth.races;
    never += invented.empty() ? 0 : 1;
    if (!missed.empty() || (exact && !invented.empty()) || !doubted.empty() || !races_agree) {
      if (++wrong > 3) continue;
      ADD_FAILURE() << "seed " << seed << "\nmissed:" << missed << "\nnever happens:" << invented
                    << "\nis not doubtful:" << doubted
                    << "\nraces: " << testing::PrintToString(found_races) << ", and really "
                    << testing::PrintToString(truth.races) << '\n'
                    << print_little(little);
    }
    real += happens.size();
    sure += is_sure.size();
    races += truth.races.size();
  }
  EXPECT_EQ(wrong, 0) << "of " << compared;
  EXPECT_LE(never, programs / 50);
  // It would be no comparison if nothing were ever found, or if most programs were too large.
  EXPECT_GT(compared, programs * 3 / 4);
  EXPECT_GT(real, static_cast<std::size_t>(programs / 10));
  EXPECT_GT(sure, static_cast<std::size_t>(programs / 12));
  EXPECT_GT(races, static_cast<std::size_t>(programs / 8));
}

}  // namespace
}  // namespace tomos::tm
