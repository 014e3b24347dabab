// model_oracle: the model checker against a naive interpreter, on random small programs, with and
// without each of its reductions.
//
// The first program on which they disagree is made smaller as long as they do, and printed with
// what both say and the command that shows it again.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/compile.h"
#include "model/judge.h"
#include "model/run.h"
#include "naive.h"
#include "random_program.h"

namespace tomos::oracle {

namespace {

constexpr std::uint32_t kMostSteps = 10;

struct Way {
  const char* name;
  bool symmetry = false;
  bool partial_order = false;
  bool compact = false;
  unsigned jobs = 1;
};

constexpr Way kWays[] = {
    {.name = "plain"},
    {.name = "symmetry", .symmetry = true},
    {.name = "partial order", .partial_order = true},
    {.name = "both", .symmetry = true, .partial_order = true},
    {.name = "compact", .symmetry = true, .partial_order = true, .compact = true},
    {.name = "two threads", .symmetry = true, .partial_order = true, .jobs = 2},
};

std::optional<Wrong> meaning(model::Failure failure) {
  switch (failure) {
    case model::Failure::kCycle:
      return Wrong::kCycle;
    case model::Failure::kAssertion:
      return Wrong::kAssertion;
    case model::Failure::kNotHeld:
      return Wrong::kNotHeld;
    case model::Failure::kStarted:
      return Wrong::kStarted;
    case model::Failure::kDeadlock:
      return Wrong::kDeadlock;
    case model::Failure::kNone:
    case model::Failure::kRange:
    case model::Failure::kIndex:
      break;
  }
  return std::nullopt;
}

std::string_view word(Wrong wrong) {
  switch (wrong) {
    case Wrong::kCycle:
      return "cycle";
    case Wrong::kAssertion:
      return "assertion";
    case Wrong::kNotHeld:
      return "lock not held";
    case Wrong::kStarted:
      return "started twice";
    case Wrong::kDeadlock:
      return "deadlock";
  }
  return "";
}

std::string describe(const NaiveTruth& truth) {
  if (truth.wrong.empty()) return "nothing goes wrong";
  std::string text = fmt::format("in {} steps:", truth.shortest);
  for (const Wrong wrong : truth.wrong) text += fmt::format(" {}", word(wrong));
  return text;
}

// What is wrong with the answer; empty if nothing.
std::string compare(const NaiveTruth& truth, const model::Program& program, const Way& way) {
  model::SearchOptions options;
  options.machine.symmetry = way.symmetry;
  options.machine.partial_order = way.partial_order;
  options.compact = way.compact;
  options.jobs = way.jobs;
  const model::Judged judged = model::judge(program, options);
  const model::SearchResult& result = judged.result;
  if (result.end == model::SearchResult::End::kAll) {
    return truth.wrong.empty() ? "" : fmt::format("{}: proved", way.name);
  }
  if (result.end != model::SearchResult::End::kFailure) return fmt::format("{}: gave up", way.name);
  const auto wrong = meaning(result.failure);
  std::string said = fmt::format("{}: in {} steps: {}", way.name, result.run.size(),
                                 wrong ? word(*wrong) : "something else");
  const bool beyond = !truth.complete && truth.wrong.empty() && result.run.size() >= kMostSteps;
  if (beyond) return "";
  if (!judged.shortest || !wrong) return said + ", not sure";
  if (result.run.size() != truth.shortest || !truth.wrong.contains(*wrong)) return said;
  // It throws if the run is not what it is said to be.
  model::finding_of(program, result, model::run_of(program, result));
  return "";
}

struct Disagreement {
  std::string what;
  std::size_t way = 0;
};

// Nothing if they agree; `tally` counts what was true.
std::optional<Disagreement> disagreement(const SmallProgram& small, std::size_t first_way,
                                         std::size_t ways, std::map<std::string, int>* tally) {
  const auto truth = go_through(small, kMostSteps);
  if (!truth) {
    if (tally != nullptr) ++(*tally)["too many runs"];
    return std::nullopt;
  }
  if (tally != nullptr) {
    ++(*tally)[truth->wrong.empty() ? (truth->complete ? "right" : "right so far")
                                    : std::string(word(*truth->wrong.begin()))];
  }
  const auto program = model::load(to_text(small), "random.bp");
  if (!program) {
    return Disagreement{.what = program.error().where + ": " + program.error().what, .way = 0};
  }
  for (std::size_t i = first_way; i < first_way + ways; ++i) {
    std::string what;
    try {
      what = compare(*truth, *program, kWays[i]);
    } catch (const std::exception& exception) {
      what = fmt::format("{}: {}", kWays[i].name, exception.what());
    }
    if (!what.empty()) {
      return Disagreement{.what = fmt::format("naive: {}\n{}", describe(*truth), what), .way = i};
    }
  }
  return std::nullopt;
}

SmallProgram shrink(SmallProgram program, std::size_t way) {
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (SmallProgram& candidate : smaller(program)) {
      if (!disagreement(candidate, way, 1, nullptr)) continue;
      program = std::move(candidate);
      shorter = true;
      break;
    }
  }
  return program;
}

struct Options {
  std::uint64_t programs = 20000;
  std::uint64_t seed = 1;
  std::uint64_t start = 0;
  bool print = false;
};

SmallProgram program_of(const Options& options, std::uint64_t number) {
  Random random(options.seed, number);
  return random_program(random);
}

int run(const Options& options) {
  std::atomic<std::uint64_t> next = options.start;
  std::mutex mutex;
  std::optional<std::uint64_t> failed;
  std::map<std::string, int> total;
  const auto work = [&] {
    std::map<std::string, int> tally;
    for (std::uint64_t i = next++; i < options.start + options.programs; i = next++) {
      // To start a thread takes longer than all the rest.
      const std::size_t ways = std::size(kWays) - (i % 64 == 0 ? 0 : 1);
      if (!disagreement(program_of(options, i), 0, ways, &tally)) continue;
      const std::lock_guard lock(mutex);
      failed = std::min(failed.value_or(i), i);
      next = options.start + options.programs;
    }
    const std::lock_guard lock(mutex);
    for (const auto& [what, count] : tally) total[what] += count;
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads.emplace_back(work);
    }
  }
  for (const auto& [what, count] : total) fmt::print("{}: {}\n", what, count);
  if (!failed) return 0;
  SmallProgram program = program_of(options, *failed);
  const auto found = disagreement(program, 0, std::size(kWays), nullptr);
  if (found) program = shrink(program, found->way);
  const auto smallest = disagreement(program, 0, std::size(kWays), nullptr);
  fmt::print("{}\n{}\nmodel_oracle --seed {} --start {} --programs 1\n", to_text(program),
             smallest ? smallest->what : "only once", options.seed, *failed);
  return 1;
}

}  // namespace

}  // namespace tomos::oracle

int main(int argc, char** argv) {
  CLI::App app("Compares the model checker with a naive interpreter");
  tomos::oracle::Options options;
  app.add_option("--programs", options.programs);
  app.add_option("--seed", options.seed);
  app.add_option("--start", options.start, "Number of the first program");
  app.add_flag("--print", options.print, "Only print the first program");
  CLI11_PARSE(app, argc, argv);
  if (options.print) {
    fmt::print("{}", to_text(tomos::oracle::program_of(options, options.start)));
    return 0;
  }
  return tomos::oracle::run(options);
}
