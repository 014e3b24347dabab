// The parts of a campaign that need no program: statistics, strategies, saved schedules, the
// minimiser, and how trials become findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "campaign/describe.h"
#include "campaign/found.h"
#include "campaign/minimise.h"
#include "campaign/schedule_file.h"
#include "campaign/settings.h"
#include "campaign/statistics.h"

namespace tomos::campaign {
namespace {

using schedule::Choice;
using schedule::Strategy;

TEST(Campaign, WilsonsInterval) {
  // Figures from the literature: 1 of 10, and the rule that no hit in n excludes more than
  // z²/(n+z²).
  const Interval tenth = wilson(1, 10);
  EXPECT_NEAR(tenth.low, 0.0179, 1e-4);
  EXPECT_NEAR(tenth.high, 0.4042, 1e-4);
  EXPECT_NEAR(wilson(0, 100).low, 0, 1e-12);
  EXPECT_NEAR(wilson(0, 100).high, 0.0370, 1e-4);
  EXPECT_NEAR(wilson(100, 100).low, 0.9630, 1e-4);
  EXPECT_NEAR(wilson(100, 100).high, 1, 1e-12);
  EXPECT_EQ(wilson(0, 0).low, 0);
  EXPECT_EQ(wilson(0, 0).high, 1);
}

TEST(Campaign, MixGivesEachStrategyItsShare) {
  std::map<Strategy, int> count;
  constexpr int kSeeds = 10'000;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ++count[strategy_of({}, seed)];
    EXPECT_EQ(strategy_of({}, seed), for_trial({}, seed).strategy);
    EXPECT_EQ(strategy_of({.strategy = Strategy::kPct}, seed), Strategy::kPct);
  }
  const std::map<Strategy, double> shares = {{Strategy::kAim, 0.85},
                                             {Strategy::kAtomFuzzer, 0.09},
                                             {Strategy::kCut, 0.025},
                                             {Strategy::kPos, 0.035}};
  for (const auto& [strategy, share] : shares) {
    EXPECT_NEAR(count[strategy], share * kSeeds, 0.01 * kSeeds) << to_string(strategy);
  }
}

// What is not worth aiming at goes to the others by half; who had no aim keeps its strategy.
TEST(Campaign, WhereAimsAreInVainOthersHaveTheirTrials) {
  std::map<Strategy, int> count;
  constexpr int kSeeds = 10'000;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Strategy strategy = strategy_of({}, seed, false);
    ++count[strategy];
    if (strategy_of({}, seed) != Strategy::kAim) EXPECT_EQ(strategy, strategy_of({}, seed));
    EXPECT_EQ(strategy_of({.strategy = Strategy::kAim}, seed, false), Strategy::kAim);
  }
  const double others = 1 - 0.85 / 2;
  const std::map<Strategy, double> shares = {{Strategy::kAim, 0.85 / 2},
                                             {Strategy::kAtomFuzzer, others * 18 / 30},
                                             {Strategy::kCut, others * 5 / 30},
                                             {Strategy::kPos, others * 7 / 30}};
  for (const auto& [strategy, share] : shares) {
    EXPECT_NEAR(count[strategy], share * kSeeds, 0.015 * kSeeds) << to_string(strategy);
  }
}

TEST(Campaign, AlgorithmOneSwitchesEverywhere) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_FALSE(uses_profile({.strategy = Strategy::kRandom}, Strategy::kRandom, seed));
    EXPECT_TRUE(uses_profile({.strategy = Strategy::kCut}, Strategy::kCut, seed));
    EXPECT_TRUE(uses_profile({}, Strategy::kAim, seed));
    EXPECT_FALSE(uses_profile({.strategy = Strategy::kCut, .learn = false}, Strategy::kCut, seed));
  }
}

TEST(Campaign, StrategiesHaveNames) {
  for (const Strategy strategy : strategies()) {
    EXPECT_EQ(strategy_called(to_string(strategy)), strategy);
  }
  EXPECT_EQ(strategy_called("mix"), std::nullopt);
}

ScheduleFile example() {
  return {.words = {"./a b", "", " c ", "# no comment", "two\nlines\\", "\x01\xff"},
          .settings = {.strategy = Strategy::kPos,
                       .pause_probability = 0.25,
                       .depth = 7,
                       .accesses = false},
          .seed = ~std::uint64_t{0},
          .id = "0123456789abcdef",
          .shows = "it breaks # here",
          .hash = 0xc0ffee,
          .choices = {{.thread = 1, .step = 2, .next = 3, .preempts = 1},
                      {.thread = ~0U, .step = 0, .next = 4, .preempts = 0}}};
}

bool is_same(const Choice& a, const Choice& b) {
  return a.thread == b.thread && a.step == b.step && a.next == b.next && a.preempts == b.preempts;
}

TEST(Campaign, SchedulesComeBackAsTheyWere) {
  const ScheduleFile written = example();
  const auto read = parse_schedule(to_text(written), "x.schedule");
  ASSERT_TRUE(read) << read.error().where << read.error().what;
  EXPECT_EQ(read->words, written.words);
  EXPECT_EQ(read->settings, written.settings);
  EXPECT_EQ(read->seed, written.seed);
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->shows, written.shows);
  EXPECT_EQ(read->hash, written.hash);
  ASSERT_EQ(read->choices.size(), written.choices.size());
  for (std::size_t i = 0; i < written.choices.size(); ++i) {
    EXPECT_TRUE(is_same(read->choices[i], written.choices[i]));
  }
  EXPECT_EQ(to_text(*read), to_text(written));
  EXPECT_EQ(read->order().settings.strategy, Strategy::kReplay);
  EXPECT_EQ(read->order().settings.accesses, 0U);
}

TEST(Campaign, StretchesComeBackAsTheyWere) {
  using schedule::Kind;
  const ScheduleFile written = {
      .settings = {.undeclared = true},
      .id = "0123#\n",
      .shows = "it breaks",
      .stretches = {
          {.thread = 0, .kind = Kind::kCreate, .times = 2},
          {.thread = 1, .kind = Kind::kRead, .file = "a times b.cpp", .line = 12},
          {.thread = 2, .kind = Kind::kAtomicWrite},
          {.thread = 2, .kind = Kind::kAtomicRead, .file = "b.cpp", .line = 3, .times = 2},
          {.thread = 2, .kind = Kind::kAtomicRead, .file = "times 2", .line = 3},
          {.thread = 2, .kind = Kind::kAtomicRead, .times = 2},
          {.thread = 2, .kind = Kind::kSemaphoreWait, .times = 3},
          {.thread = 1, .kind = Kind::kNone, .file = "c.cpp", .line = 7}}};
  const auto read = parse_schedule(to_text(written), "x.schedule");
  ASSERT_TRUE(read) << read.error().where << read.error().what;
  EXPECT_TRUE(read->words.empty());
  EXPECT_EQ(read->settings, written.settings);
  EXPECT_EQ(read->id, written.id);
  EXPECT_EQ(read->shows, written.shows);
  EXPECT_EQ(read->stretches, written.stretches);
}

// What a model checker has found is told in the same words, whatever things are called.
TEST(Campaign, WhatTheModelFoundComesBackAsItWas) {
  Finding finding;
  finding.analysis = "serializability";
  finding.pattern = "R-W-W";
  finding.message = "it is cut";
  finding.transactions = {
      {.label = "Map<int, int>::put #1", .thread = "T1", .location = {"a b.cpp", 3, 5}},
      {.label = "", .thread = "-", .location = {}}};
  finding.events = {{.thread = "T1", .op = "read", .variable = "x ", .location = {"a b.cpp", 4, 1}},
                    {.thread = "-", .op = "write", .variable = "-", .transaction = 1},
                    {.thread = "T1", .op = "write", .variable = "\\", .transaction = SIZE_MAX}};
  finding.edges = {{0, 1}, {1, 2}};
  const ScheduleFile written = {.shows = finding.message,
                                .stretches = {{.thread = 0, .kind = schedule::Kind::kCreate}},
                                .finding = finding};
  const auto read = parse_schedule(to_text(written), "x.schedule");
  ASSERT_TRUE(read) << read.error().where << read.error().what;
  ASSERT_TRUE(read->finding.has_value());
  const Finding found = read->finding.value_or(Finding());
  EXPECT_EQ(found.message, finding.message);
  EXPECT_EQ(found.transactions[0].label, finding.transactions[0].label);
  EXPECT_EQ(found.transactions[1].thread, "-");
  EXPECT_EQ(found.events[0].variable, "x ");
  EXPECT_EQ(found.events[2].variable, "\\");
  EXPECT_EQ(found.events[2].transaction, SIZE_MAX);
  EXPECT_EQ(to_text(*read), to_text(written));
  finding.transactions[1].location = finding.events[1].location =
      finding.events[2].location = {.file = "?"};  // as an unknown place is written
  EXPECT_EQ(found.id(), finding.id());
}

TEST(Campaign, DamagedSchedulesAreRefusedWithTheirLine) {
  const std::string good = to_text(example());
  const auto refused = [](const std::string& text, const std::string& where) {
    const auto read = parse_schedule(text, "x");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().where, where) << read.error().what;
    EXPECT_FALSE(read.error().what.empty());
    EXPECT_FALSE(read.error().remedy.empty());
  };
  refused("", "x");
  refused("something else\n", "x:1");
  refused("tomos-schedule 2\n", "x:1");
  refused("tomos-schedule 1\n", "x:1");
  refused("tomos-schedule 1\nargument a\n", "x:2");
  refused("tomos-schedule 1\nprogram \\q\n", "x:2");
  refused("tomos-schedule 1\nprogram a\nprogram b\n", "x:3");
  refused("tomos-schedule 1\nseed -1\n", "x:2");
  refused("tomos-schedule 1\nthread 1 step 2 next\n", "x:2");
  refused("tomos-schedule 1\nthread 1 step 2 next 3 perhaps\n", "x:2");
  refused("tomos-schedule 1\npause-probability nan\n", "x:2");
  refused("tomos-schedule 1\nstretches 1\n", "x:2");
  refused("tomos-schedule 1\nstretches 1\nthread 1 until read a.cpp\n", "x:3");
  refused("tomos-schedule 1\nstretches 1\nthread 1 until call\n", "x:3");
  refused("tomos-schedule 1\nstretches 1\nthread 1 until wink\n", "x:3");
  refused("tomos-schedule 1\nstretches 1\nthread 1 until lock times 0\n", "x:3");
  refused("tomos-schedule 1\nstretches 2\nthread 1 until lock\n", "x:3");
  refused("tomos-schedule 1\nedge 0 0\n", "x:2");
  refused("tomos-schedule 1\nfound a\n", "x:2");
  refused("tomos-schedule 1\nfound a b\nfound a b\n", "x:3");
  refused("tomos-schedule 1\nfound a b\nblock T1 a.cpp:1\n", "x:3");
  refused("tomos-schedule 1\nfound a b\nstep T1 read a.cpp:1 x 0\n", "x:3");
  refused("tomos-schedule 1\nfound a b\nstep T1 read a.cpp:1 x -\nedge 0 1\n", "x:4");
  refused(good + "thread 1 step 1 next 2\n", "x:18");  // more than it says
  refused(good + "what is this\n", "x:18");
  // No byte more or less makes it crash, and what is read can be written.
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    if (i % 2 == 0) text.resize(random() % text.size());
    if (const auto read = parse_schedule(text, "x")) {
      EXPECT_TRUE(parse_schedule(to_text(*read), "x"));
    }
  }
}

// A finding that needs some of the choices; `attempts` counts how often it was asked for.
struct Needs {
  std::vector<std::uint32_t> steps;
  unsigned attempts = 0;

  std::optional<Shown> operator()(const std::vector<Choice>& choices) {
    ++attempts;
    for (const std::uint32_t step : steps) {
      if (std::ranges::find(choices, step, &Choice::step) == choices.end()) return std::nullopt;
    }
    return Shown{.choices = choices, .hash = choices.size()};
  }
};

std::vector<Choice> choices(std::uint32_t count) {
  std::vector<Choice> result;
  result.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    result.push_back({.thread = 1, .step = i, .next = 2, .preempts = i % 3 == 0 ? 0U : 1U});
  }
  return result;
}

TEST(Campaign, MinimiserKeepsWhatIsNeeded) {
  for (const std::vector<std::uint32_t>& steps :
       {std::vector<std::uint32_t>{}, {0}, {99}, {3, 50}, {1, 2, 4, 70, 90}}) {
    Needs needs{.steps = steps};
    const Shown shown =
        minimise({.choices = choices(100), .hash = 100}, std::ref(needs), Budget{.attempts = 1000});
    std::vector<std::uint32_t> left;
    left.reserve(shown.choices.size());
    for (const Choice& choice : shown.choices) left.push_back(choice.step);
    EXPECT_EQ(left, steps);
    EXPECT_EQ(shown.hash, steps.size());
  }
}

TEST(Campaign, MinimiserKeepsToItsBudget) {
  Needs needs{.steps = {5, 77}};
  const Shown shown =
      minimise({.choices = choices(1000), .hash = 0}, std::ref(needs), Budget{.attempts = 10});
  EXPECT_EQ(needs.attempts, 10U);
  EXPECT_TRUE(needs(shown.choices));
  EXPECT_LT(shown.choices.size(), 1000U);
}

Trial ended(End end, int status = 0) {
  Trial trial = {.end = end, .started = true};
  (end == End::kSignalled ? trial.signal : trial.exit_status) = status;
  return trial;
}

TEST(Campaign, WhatIsABug) {
  const Expected good;
  EXPECT_EQ(bug_of(ended(End::kExited), good), std::nullopt);
  EXPECT_EQ(bug_of(ended(End::kExited, 3), good), Bug::kExit);
  EXPECT_EQ(bug_of(ended(End::kExited, 3), {.exit_status = 3}), std::nullopt);
  EXPECT_EQ(bug_of(ended(End::kExited, 2), {.exit_status = 3}), Bug::kExit);
  EXPECT_EQ(bug_of(ended(End::kExited, 0), {.exit_status = 3}), std::nullopt);
  EXPECT_EQ(bug_of(ended(End::kSignalled, 11), good), Bug::kSignal);
  EXPECT_EQ(bug_of(ended(End::kTimedOut), good), Bug::kHang);
  EXPECT_EQ(bug_of(ended(End::kTimedOut), {.end = End::kTimedOut}), std::nullopt);
  EXPECT_EQ(bug_of(ended(End::kDeadlocked), {.end = End::kTimedOut}), Bug::kDeadlock);
  EXPECT_EQ(bug_of(ended(End::kStopped), good), std::nullopt);
}

// A trial of a program that was loaded at `base`.
Trial violated(std::uint64_t seed, std::uint64_t base, std::uint64_t other_place) {
  Trial trial = ended(End::kExited);
  trial.settings = for_trial({}, seed);
  schedule::Module module = {.bias = base, .first = base, .end = base + 0x10000};
  std::strcpy(module.path, "/no/such/program");
  trial.modules = {module};
  schedule::Violation violation = {.thread = 1, .other_thread = 2, .object = base + 0x9000};
  violation.first_kind = violation.other_kind = violation.second_kind = schedule::Kind::kLock;
  violation.block.begin = base + 0x100;
  violation.first.frames[0] = base + 0x110;
  violation.other.frames[0] = base + other_place;
  violation.second.frames[0] = base + 0x120;
  trial.violations = {violation};
  return trial;
}

TEST(Campaign, FindingsAreCountedByPlaceNotByAddress) {
  Found found;
  EXPECT_TRUE(found.add(violated(5, 0x1'0000'0000, 0x300)));
  EXPECT_FALSE(found.add(violated(4, 0x2'0000'0000, 0x300)));
  EXPECT_FALSE(found.add(ended(End::kExited)));
  EXPECT_TRUE(found.add(ended(End::kSignalled, 6)));
  EXPECT_EQ(found.trials().run, 4U);
  EXPECT_EQ(found.trials().errors, 2U);
  EXPECT_EQ(found.trials().bugs, 1U);
  const auto hit = found.hit();
  ASSERT_EQ(hit.size(), 2U);
  EXPECT_EQ(hit[0]->finding.kind, Kind::kCrash);  // bugs first
  EXPECT_EQ(hit[0]->hits, 1U);
  EXPECT_EQ(hit[1]->hits, 2U);
  EXPECT_EQ(hit[1]->first_seed, 4U);  // the lowest, not the first that ended
}

TEST(Campaign, DeadlockIsItsCycle) {
  Trial trial = ended(End::kDeadlocked);
  const auto wait = [&](std::uint32_t thread, std::uint32_t holder, schedule::Kind kind) {
    trial.waiting.push_back({.thread = thread, .kind = kind, .holder = holder, .object = 0x1000});
  };
  wait(0, 3, schedule::Kind::kJoin);
  wait(3, 1, schedule::Kind::kLock);
  wait(1, 2, schedule::Kind::kLock);
  wait(2, 1, schedule::Kind::kLock);
  Found found;
  found.add(trial);
  const Finding& finding = found.hit().at(0)->finding;
  EXPECT_EQ(finding.kind, Kind::kDeadlock);
  EXPECT_EQ(finding.message,
            "nobody can go on: T1 waits for a lock, held by T2, T2 waits for a lock, held by T1, "
            "and 2 other threads wait for them");
  EXPECT_EQ(finding.events.size(), 2U);
}

}  // namespace
}  // namespace tomos::campaign
