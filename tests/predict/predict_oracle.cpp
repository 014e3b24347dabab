// predict_oracle: every predictive analysis against brute force over all interleavings of small
// random traces.
//
// The traces are checked in child processes. Disagreements are counted for each analysis, and the
// first of each is shrunk, again with a child for every attempt, and printed with what each side
// says.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "child.h"
#include "compare.h"
#include "examples.h"
#include "judge.h"
#include "programs.h"
#include "smaller.h"
#include "subjects.h"
#include "valid.h"

namespace tomos::predict {

namespace {

// More than any trace needs. Shrinking tries hundreds of traces that may all hang, so it waits
// less.
constexpr time_t kSecondsForTrace = 20;
constexpr time_t kSecondsForShrunk = 2;

// Every so many traces are also run with the switches off.
constexpr std::uint64_t kTracesForSwitches = 4;

constexpr std::size_t kMaxSubjects = 16;

struct Options {
  std::uint64_t traces = 4000;
  std::uint64_t seed = 1;
  std::uint64_t start = 0;
  unsigned jobs = 1;
  std::vector<const Subject*> subjects;
};

// Where a worker is, or was when something was wrong.
struct Place {
  std::uint64_t trace = 0;
  std::size_t subject = 0;
  Switch way = Switch::kDefault;
};

struct Count {
  std::uint64_t compared = 0;
  std::uint64_t violations = 0;  // by brute force
  std::uint64_t missed = 0;
  std::uint64_t false_alarms = 0;
  std::array<std::uint64_t, kWrongCount> wrong{};  // disagreements of each kind
  std::array<Place, kWrongCount> first;            // of them
};

// What a worker has done, in memory that it shares with its parent.
struct Tally {
  Place now;
  std::uint64_t too_big = 0;    // traces that brute force gave up
  std::uint64_t deadlocks = 0;  // with potential for deadlock
  std::uint64_t lock_deadlocks = 0;
  std::uint64_t races = 0;
  std::uint64_t not_atomic = 0;   // of those without deadlock
  std::uint64_t only_larger = 0;  // of those: no pair is cut
  bool invalid = false;           // the trace that it stopped at
  std::array<Count, kMaxSubjects> counts;
};

Comparison compare_at(const Options& options, const Place& place, Case& the_case) {
  return compare(*options.subjects[place.subject], place.way, the_case, options.seed + place.trace);
}

void count(const Comparison& comparison, const Place& place, Count& count) {
  const auto kind = static_cast<std::size_t>(comparison.wrong);
  if (comparison.wrong != Wrong::kNothing && count.wrong[kind]++ == 0) count.first[kind] = place;
  if (place.way != Switch::kDefault || !comparison.compared) return;
  ++count.compared;
  count.violations += comparison.violates ? 1 : 0;
  count.missed += comparison.violates && comparison.verdict == Verdict::kOk ? 1 : 0;
  count.false_alarms += !comparison.violates && comparison.verdict == Verdict::kViolation ? 1 : 0;
}

// Stops early if a trace is invalid.
int work(const Options& options, unsigned worker, Tally& tally) {
  for (std::uint64_t k = worker; k < options.traces; k += options.jobs) {
    limit_processor_time(kSecondsForTrace);
    tally.now = {.trace = options.start + k};
    Case the_case(random_trace(options.seed, tally.now.trace));
    const Truth& truth = the_case.truth(Switch::kDefault);
    tally.invalid = !why_invalid(the_case.trace(), truth).empty();
    if (tally.invalid) return 1;
    if (!truth.decided) {
      ++tally.too_big;
      continue;
    }
    const bool cut = !truth.deadlock && !truth.atomicity.atomic;
    tally.deadlocks += truth.deadlock ? 1 : 0;
    tally.lock_deadlocks += truth.lock_deadlock ? 1 : 0;
    tally.races += truth.race ? 1 : 0;
    tally.not_atomic += cut ? 1 : 0;
    tally.only_larger += cut && truth.cut_pairs.empty() ? 1 : 0;
    const std::size_t ways = tally.now.trace % kTracesForSwitches == 0 ? kSwitchCount : 1;
    for (std::size_t s = 0; s < options.subjects.size(); ++s) {
      for (std::size_t way = 0; way < ways; ++way) {
        tally.now.subject = s;
        tally.now.way = static_cast<Switch>(way);
        count(compare_at(options, tally.now, the_case), tally.now, tally.counts[s]);
      }
    }
  }
  return 0;
}

// Shrinks what is wrong at a place and prints it.
void report(const Options& options, const Place& place, const std::string& program) {
  const Subject& subject = *options.subjects[place.subject];
  const auto wrong_with = [&](const Trace& trace) {
    return run_child([&] {
      limit_processor_time(kSecondsForShrunk);
      Case the_case(trace);
      return static_cast<int>(compare_at(options, place, the_case).wrong);
    });
  };
  Trace original = random_trace(options.seed, place.trace);
  int status = wrong_with(original);
  // Of two verdicts on the same T one is wrong by itself, which is easier to understand.
  const bool order = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(Wrong::kOrder);
  if (order && subject.promise == Promise::kExact) {
    const Trace other = observed_otherwise(original, options.seed + place.trace).value_or(original);
    if (const int by_itself = wrong_with(other); by_itself != 0) {
      original = other;
      status = by_itself;
    }
  }
  const Trace small = smaller(original, [&](const Trace& t) { return wrong_with(t) == status; });
  fmt::print("predict_oracle: {} ({}) is wrong on trace {}; shrunk from {} to {} events:\n{}",
             subject.name, word(place.way), place.trace, original.size(), small.size(),
             oracle::to_std(small));
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    fmt::print("{}: {} (signal {})\n", subject.name, signal == SIGPROF ? "hangs" : "crashes",
               signal);
  } else {
    Case the_case(small);
    fmt::print("{}", compare_at(options, place, the_case).text);
  }
  fmt::print("brute force in full: {}", judge(small, oracle::names()));
  fmt::print("repeat: {} --seed {} --start {} --traces 1 --analysis {}\n\n", program, options.seed,
             place.trace, subject.name);
}

void add(Count& sum, const Count& count) {
  for (std::size_t kind = 0; kind < kWrongCount; ++kind) {
    if (sum.wrong[kind] == 0) sum.first[kind] = count.first[kind];
    sum.wrong[kind] += count.wrong[kind];
  }
  sum.compared += count.compared;
  sum.violations += count.violations;
  sum.missed += count.missed;
  sum.false_alarms += count.false_alarms;
}

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print_line(const Subject& subject, const Count& count) {
  const std::uint64_t ok = count.compared - count.violations;
  fmt::print("{:>17}: {} compared; missed {} of {} ({:.1f}%), false alarms {} of {} ({:.1f}%);",
             subject.name, count.compared, count.missed, count.violations,
             percent(count.missed, count.violations), count.false_alarms, ok,
             percent(count.false_alarms, ok));
  bool agrees = true;
  for (std::size_t kind = 0; kind < kWrongCount; ++kind) {
    if (count.wrong[kind] == 0) continue;
    fmt::print(" {} x {}", count.wrong[kind], word(static_cast<Wrong>(kind)));
    agrees = false;
  }
  fmt::print("{}\n", agrees ? " 0 disagreements" : "");
}

// True if nothing is wrong.
bool summarize(const Options& options, const std::vector<const Tally*>& tallies,
               const std::string& program) {
  Tally sum;
  for (const Tally* tally : tallies) {
    sum.too_big += tally->too_big;
    sum.deadlocks += tally->deadlocks;
    sum.lock_deadlocks += tally->lock_deadlocks;
    sum.races += tally->races;
    sum.not_atomic += tally->not_atomic;
    sum.only_larger += tally->only_larger;
    for (std::size_t s = 0; s < kMaxSubjects; ++s) add(sum.counts[s], tally->counts[s]);
  }
  bool good = true;
  for (std::size_t s = 0; s < options.subjects.size(); ++s) {
    for (std::size_t kind = 0; kind < kWrongCount; ++kind) {
      if (sum.counts[s].wrong[kind] == 0) continue;
      report(options, sum.counts[s].first[kind], program);
      good = false;
    }
  }
  fmt::print(
      "predict_oracle: {} traces, {} too big; {} have races, {} can deadlock ({} by locks)\n",
      options.traces, sum.too_big, sum.races, sum.deadlocks, sum.lock_deadlocks);
  fmt::print("of those that cannot {} are not atomic, {} only for three or more transactions\n",
             sum.not_atomic, sum.only_larger);
  for (std::size_t s = 0; s < options.subjects.size(); ++s)
    print_line(*options.subjects[s], sum.counts[s]);
  return good;
}

int run(const Options& options, const std::string& program) {
  void* shared = mmap(nullptr, sizeof(Tally) * options.jobs, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  std::vector<const Tally*> tallies;
  std::map<pid_t, const Tally*> workers;
  for (unsigned j = 0; j < options.jobs; ++j) {
    Tally* tally = new (static_cast<Tally*>(shared) + j) Tally;
    tallies.push_back(tally);
    const pid_t worker = start_child([&options, j, tally] { return work(options, j, *tally); });
    if (worker > 0) workers[worker] = tally;
  }
  if (workers.size() != options.jobs) return 2;
  while (!workers.empty()) {
    int status = 0;
    const auto ended = workers.find(wait(&status));
    if (ended == workers.end()) return 2;
    const Tally* tally = ended->second;
    workers.erase(ended);
    if (status == 0) continue;
    for (const auto& [worker, unused] : workers) kill(worker, SIGKILL);
    if (tally->invalid) {
      const Trace trace = random_trace(options.seed, tally->now.trace);
      fmt::print("predict_oracle: trace {} is invalid: {}\n{}", tally->now.trace,
                 why_invalid(trace, Truth(trace)), oracle::to_std(trace));
    } else {
      report(options, tally->now, program);
    }
    return 1;
  }
  return summarize(options, tallies, program) ? 0 : 1;
}

int self_check() {
  const std::string wrong = check_examples();
  fmt::print("{}",
             wrong.empty() ? "predict_oracle: brute force agrees with the examples\n" : wrong);
  return wrong.empty() ? 0 : 1;
}

int print_traces(const Options& options) {
  for (std::uint64_t k = options.start; k < options.start + options.traces; ++k) {
    fmt::print("# trace {}\n{}", k, oracle::to_std(random_trace(options.seed, k)));
  }
  return 0;
}

int judge_and_print(const std::string& path) {
  const Result<std::string> text = judge_file(path);
  if (text) {
    fmt::print("{}", *text);
    return 0;
  }
  fmt::print(stderr, "{}: {}\n", text.error().where, text.error().what);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string analysis = "all";
  std::string judged;
  bool self = false;
  bool show = false;
  CLI::App app("Compares the predictive analyses with brute force on random traces.",
               "predict_oracle");
  app.add_option("--traces", options.traces, "how many traces")->capture_default_str();
  app.add_option("--seed", options.seed, "which traces")->capture_default_str();
  app.add_option("--start", options.start, "number of the first trace of the seed")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--analysis", analysis, "one analysis, or all")->capture_default_str();
  app.add_option("--judge", judged, "a trace: say what brute force says of it, and no more");
  app.add_flag("--self-check", self,
               "compare brute force with examples judged by hand, and no more");
  app.add_flag("--show", show, "print the traces, and no more");
  CLI11_PARSE(app, argc, argv);
  if (self) return self_check();
  if (!judged.empty()) return judge_and_print(judged);
  if (show) return print_traces(options);
  for (const Subject& subject : subjects()) {
    if (analysis != "all" && analysis != subject.name) continue;
    if (subject.analysis != nullptr) {
      options.subjects.push_back(&subject);
    } else {
      fmt::print("predict_oracle: {} is not there\n", subject.name);
    }
  }
  if (options.subjects.empty() && analysis != "all") {
    fmt::print(stderr, "predict_oracle: no such analysis: {}\n", analysis);
    return 2;
  }
  return run(options, argv[0]);
}

}  // namespace tomos::predict

int main(int argc, char** argv) { return tomos::predict::main(argc, argv); }
