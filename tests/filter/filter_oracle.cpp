// filter_oracle: what the runtime does not record, and what the reader of recordings drops, has no
// influence on any verdict.
//
// Random runs are judged whole, without repeats (decided by the runtime's own code), and without
// what the reader drops. A verdict that changes is shrunk and printed. Findings that change while
// the verdict stays are counted.
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

#include "compare.h"
#include "predict/child.h"
#include "predict/smaller.h"
#include "programs.h"
#include "raw.h"

namespace tomos::filter {

namespace {

using predict::limit_processor_time;
using predict::run_child;
using predict::start_child;

constexpr time_t kSecondsForTrace = 20;
constexpr time_t kSecondsForShrunk = 2;
constexpr std::size_t kMaxSubjects = 24;

struct Options {
  std::uint64_t traces = 4000;
  std::uint64_t seed = 1;
  std::uint64_t start = 0;
  std::uint64_t ticks = 0;  // 0: each trace its own
  unsigned jobs = 1;
  bool distinct = false;          // record as for analyses that do not ask for order
  Wrong least = Wrong::kVerdict;  // what is a failure
  std::vector<const Subject*> subjects;
};

// An event takes the runtime from thirty cycles on; the program may do other things in between.
std::uint64_t ticks_of(const Options& options, std::uint64_t trace) {
  constexpr std::array<std::uint64_t, 3> kTicks{30, 100, 1000};
  return options.ticks != 0 ? options.ticks : kTicks[trace % kTicks.size()];
}

struct Count {
  std::array<std::uint64_t, kWrongs> times{};
  std::array<std::uint64_t, kWrongs> first{};  // trace
};

// What a worker has done, in memory that it shares with its parent.
struct Tally {
  std::uint64_t trace = 0;
  std::uint64_t events = 0;
  std::uint64_t recorded = 0;
  std::uint64_t read = 0;
  std::size_t subject = 0;
  std::array<std::uint64_t, kMaxSubjects> violations{};
  std::array<std::array<Count, kStages>, kMaxSubjects> counts;
};

int work(const Options& options, unsigned worker, Tally& tally) {
  for (std::uint64_t k = worker; k < options.traces; k += options.jobs) {
    limit_processor_time(kSecondsForTrace);
    tally.trace = options.start + k;
    const Raw raw = random_raw(options.seed, tally.trace);
    const Case the_case(raw, ticks_of(options, tally.trace), options.distinct);
    tally.events += the_case.trace(Stage::kWhole).size();
    tally.recorded += the_case.trace(Stage::kRecorded).size();
    tally.read += the_case.trace(Stage::kRead).size();
    for (tally.subject = 0; tally.subject < options.subjects.size(); ++tally.subject) {
      const Comparison result = compare(*options.subjects[tally.subject], the_case);
      tally.violations[tally.subject] += result.violation ? 1 : 0;
      for (std::size_t stage = 0; stage < kStages; ++stage) {
        const auto kind = static_cast<std::size_t>(result.wrong[stage]);
        Count& count = tally.counts[tally.subject][stage];
        if (count.times[kind]++ == 0) count.first[kind] = tally.trace;
      }
    }
  }
  return 0;
}

std::string show(const Options& options, const Raw& raw, std::uint64_t ticks,
                 const std::vector<const Subject*>& subjects) {
  const Case the_case(raw, ticks, options.distinct);
  std::string text;
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    text += fmt::format("# {}\n{}", word(static_cast<Stage>(stage)),
                        to_std(the_case.trace(static_cast<Stage>(stage))));
  }
  for (const Subject* subject : subjects) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      const Judged judged = judge(*subject, the_case.trace(static_cast<Stage>(stage)));
      text += fmt::format("{:>22} {:>8}: {}\n", subject->name, word(static_cast<Stage>(stage)),
                          judged.describe());
    }
  }
  return text;
}

// Plain accesses are easier to understand than others.
Raw plainer(Raw raw, const std::function<bool(const Raw&)>& shows) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    Raw candidate = raw;
    candidate[i].spare = 0;
    if (candidate != raw && shows(candidate)) raw = std::move(candidate);
  }
  return raw;
}

// Shrinks a trace on which a subject is wrong in this way, or crashes or hangs, and prints it.
void report(const Options& options, const Subject& subject, std::uint64_t trace,
            const std::string& program) {
  const std::uint64_t ticks = ticks_of(options, trace);
  const auto wrong_with = [&](const Raw& raw) {
    return run_child([&] {
      limit_processor_time(kSecondsForShrunk);
      const Comparison result = compare(subject, Case(raw, ticks, options.distinct));
      int status = 0;
      for (const Wrong wrong : result.wrong) {
        status = 5 * status + (wrong >= options.least ? static_cast<int>(wrong) : 0);
      }
      return status;
    });
  };
  const Raw original = random_raw(options.seed, trace);
  const int status = wrong_with(original);
  const auto shows = [&](const Raw& raw) { return wrong_with(raw) == status; };
  const Raw small = predict::smaller(plainer(predict::smaller(original, shows), shows), shows);
  fmt::print("filter_oracle: {} on trace {}, {} ticks an event; shrunk from {} to {} events:\n",
             subject.name, trace, ticks, original.size(), small.size());
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    fmt::print("{}{} (signal {})\n", to_std(deliver(small)),
               signal == SIGPROF ? "hangs" : "crashes", signal);
  } else {
    fmt::print("{}", show(options, small, ticks, {&subject}));
  }
  fmt::print("repeat: {} --seed {} --start {} --traces 1 --ticks {} --analysis {}{}\n\n", program,
             options.seed, trace, ticks, subject.name, options.distinct ? " --distinct" : "");
}

void add(Tally& sum, const Tally& tally) {
  sum.events += tally.events;
  sum.recorded += tally.recorded;
  sum.read += tally.read;
  for (std::size_t s = 0; s < kMaxSubjects; ++s) {
    sum.violations[s] += tally.violations[s];
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      Count& into = sum.counts[s][stage];
      const Count& from = tally.counts[s][stage];
      for (std::size_t kind = 0; kind < kWrongs; ++kind) {
        if (into.times[kind] == 0) into.first[kind] = from.first[kind];
        into.times[kind] += from.times[kind];
      }
    }
  }
}

// True if nothing is wrong.
bool summarize(const Options& options, const std::vector<const Tally*>& tallies,
               const std::string& program) {
  Tally sum;
  for (const Tally* tally : tallies) add(sum, *tally);
  bool good = true;
  for (std::size_t s = 0; s < options.subjects.size(); ++s) {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      const Count& count = sum.counts[s][stage];
      for (auto kind = static_cast<std::size_t>(options.least); kind < kWrongs; ++kind) {
        if (count.times[kind] == 0) continue;
        report(options, *options.subjects[s], count.first[kind], program);
        good = false;
      }
    }
  }
  fmt::print("filter_oracle: {} traces of {} events, {} recorded, {} read\n", options.traces,
             sum.events, sum.recorded, sum.read);
  for (std::size_t s = 0; s < options.subjects.size(); ++s) {
    fmt::print("{:>22}: {} violations;", options.subjects[s]->name, sum.violations[s]);
    for (std::size_t stage = 1; stage < kStages; ++stage) {
      fmt::print(" {}:", word(static_cast<Stage>(stage)));
      for (std::size_t kind = kWrongs - 1; kind > 0; --kind) {
        fmt::print(" {} {}", sum.counts[s][stage].times[kind], word(static_cast<Wrong>(kind)));
      }
    }
    fmt::print("\n");
  }
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
    report(options, *options.subjects[tally->subject], tally->trace, program);
    return 1;
  }
  return summarize(options, tallies, program) ? 0 : 1;
}

int judge_and_print(const Options& options, const std::string& path) {
  const Result<Raw> raw = read_raw(path);
  if (raw) {
    fmt::print("{}",
               show(options, *raw, options.ticks == 0 ? 100 : options.ticks, options.subjects));
    return 0;
  }
  fmt::print(stderr, "{}: {}\n", raw.error().where, raw.error().what);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string analysis = "all";
  std::string judged;
  bool strict = false;
  CLI::App app("Compares verdicts with and without what recordings leave out.", "filter_oracle");
  app.add_option("--traces", options.traces, "how many traces")->capture_default_str();
  app.add_option("--seed", options.seed, "which traces")->capture_default_str();
  app.add_option("--start", options.start, "number of the first trace of the seed")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--ticks", options.ticks, "of the clock between two events; 0: it varies")
      ->capture_default_str();
  app.add_option("--analysis", analysis, "one analysis, or all")->capture_default_str();
  app.add_option("--judge", judged, "a trace: say what is left of it and the verdicts, no more");
  app.add_flag("--distinct", options.distinct,
               "record as for the analyses that do not ask for order");
  app.add_flag("--strict", strict, "the same transactions must be reported, by all analyses");
  CLI11_PARSE(app, argc, argv);
  if (strict) options.least = Wrong::kTransaction;
  for (const Subject& subject : subjects()) {
    if (analysis != "all" && analysis != subject.name) continue;
    if (!options.distinct || subject.analysis->order_free) options.subjects.push_back(&subject);
  }
  if (options.subjects.empty()) {
    fmt::print(stderr, "filter_oracle: no such analysis: {}\n", analysis);
    return 2;
  }
  return judged.empty() ? run(options, argv[0]) : judge_and_print(options, judged);
}

}  // namespace tomos::filter

int main(int argc, char** argv) { return tomos::filter::main(argc, argv); }
