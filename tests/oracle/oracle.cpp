// oracle: every serializability monitor against brute force on random traces.
//
// The traces are checked in child processes, so that a monitor that crashes or hangs is found like
// one that is wrong. The first trace that fails is shrunk, again with a child for every attempt,
// and printed with what each side says.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "brute_force.h"
#include "compare.h"
#include "generator.h"
#include "shrink.h"
#include "subjects.h"

namespace tomos::oracle {

namespace {

// More than any trace needs. Shrinking tries hundreds of traces that may all hang, so it waits
// less.
constexpr time_t kSecondsForTrace = 10;
constexpr time_t kSecondsForShrunk = 1;

struct Options {
  std::uint64_t traces = 20000;
  std::uint64_t seed = 1;
  std::uint64_t start = 0;
  unsigned jobs = 1;
  std::vector<Edges> edges;
  std::vector<const Subject*> subjects;
};

// What a worker has done, in memory that it shares with its parent.
struct Tally {
  std::uint64_t trace = 0;  // being checked, on these edges, by this monitor
  std::size_t edges = 0;
  std::size_t subject = 0;
  std::array<std::uint64_t, 2> violations{};  // traces, for each edge set
  std::array<std::uint64_t, 2> events{};      // violating ones
};

const char* word(Edges edges) { return edges == Edges::kData ? "data" : "sync"; }

// What is wrong with one monitor, or with brute force itself, on one trace. A shorter trace is cut
// into other runs and cloned elsewhere than the one it comes from, so several ways are tried.
std::string disagreement(const Trace& trace, Edges edges, const Subject& subject,
                         std::uint64_t seed) {
  constexpr std::uint64_t kWays = 30;
  const Order order = order_of(trace, edges);
  const Truth truth = brute_force(order);
  std::string wrong = self_check(truth);
  for (std::uint64_t way = 0; way < kWays && wrong.empty(); ++way) {
    wrong = compare(subject, order, truth, seed + way);
  }
  return wrong;
}

void limit_processor_time(time_t seconds) {
  const itimerval limit{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

// True if all of the worker's traces agree.
bool work(const Options& options, unsigned worker, Tally& tally) {
  for (std::uint64_t k = worker; k < options.traces; k += options.jobs) {
    limit_processor_time(kSecondsForTrace);
    tally.trace = options.start + k;
    tally.edges = tally.subject = 0;
    const Trace trace = random_trace(options.seed, tally.trace);
    for (; tally.edges < options.edges.size(); ++tally.edges) {
      const Order order = order_of(trace, options.edges[tally.edges]);
      const Truth truth = brute_force(order);
      if (!self_check(truth).empty()) return false;
      for (tally.subject = 0; tally.subject < options.subjects.size(); ++tally.subject) {
        const Subject& subject = *options.subjects[tally.subject];
        if (!compare(subject, order, truth, options.seed + tally.trace).empty()) return false;
      }
      tally.subject = 0;
      tally.violations[tally.edges] += truth.violating.empty() ? 0 : 1;
      tally.events[tally.edges] += truth.violating.size();
    }
  }
  return true;
}

// Sanitizers reserve more than any limit.
void limit_memory() {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  constexpr rlim_t kMemory = rlim_t{2} << 30U;
  const rlimit limit{.rlim_cur = kMemory, .rlim_max = kMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

pid_t start_child(const std::function<bool()>& job) {
  static_cast<void>(std::fflush(stdout));
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_memory();
  const bool good = job();
  static_cast<void>(std::fflush(stdout));
  _exit(good ? 0 : 1);
}

// The child's wait status: 0 if its job said yes.
int run_child(const std::function<bool()>& job) {
  const pid_t child = start_child(job);
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  return status;
}

void report(const Options& options, const Tally& tally, const std::string& program) {
  const Edges edges = options.edges[tally.edges];
  const Subject& subject = *options.subjects[tally.subject];
  const std::uint64_t seed = options.seed + tally.trace;
  const Trace original = random_trace(options.seed, tally.trace);
  const Trace small = shrink(original, [&](const Trace& trace) {
    return run_child([&] {
             limit_processor_time(kSecondsForShrunk);
             return disagreement(trace, edges, subject, seed).empty();
           }) != 0;
  });
  fmt::print("oracle: {} is wrong on trace {} with --edges {}; shrunk from {} to {} events:\n{}",
             subject.analysis.name, tally.trace, word(edges), original.size(), small.size(),
             to_std(small));
  const int status = run_child([&] {
    limit_processor_time(kSecondsForShrunk);
    const std::string wrong = disagreement(small, edges, subject, seed);
    fmt::print("{}", wrong.empty() ? "nothing is wrong with this trace alone\n" : wrong);
    return true;
  });
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    fmt::print("{}: {} (signal {})\n", subject.analysis.name,
               signal == SIGPROF ? "hangs" : "crashes", signal);
  } else if (status != 0) {
    fmt::print("{}: ends the process\n", subject.analysis.name);
  }
  fmt::print("repeat: {} --seed {} --start {} --traces 1 --edges {} --analysis {}\n", program,
             options.seed, tally.trace, word(edges), subject.analysis.name);
}

void summarize(const Options& options, const std::vector<const Tally*>& tallies) {
  std::uint64_t all = 0;
  std::string parts;
  for (std::size_t e = 0; e < options.edges.size(); ++e) {
    std::uint64_t violations = 0;
    std::uint64_t events = 0;
    for (const Tally* tally : tallies) {
      violations += tally->violations[e];
      events += tally->events[e];
    }
    all += violations;
    parts += fmt::format(" {} {} violations with {} violating events;", word(options.edges[e]),
                         violations, events);
  }
  parts.pop_back();
  fmt::print("oracle:{}\n", parts);
  const std::uint64_t runs = std::max<std::uint64_t>(options.traces * options.edges.size(), 1);
  fmt::print("oracle: {} traces, {} edge sets, {} monitors, 0 disagreements ({}% violations)\n",
             options.traces, options.edges.size(), options.subjects.size(), all * 100 / runs);
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
    report(options, *tally, program);
    return 1;
  }
  summarize(options, tallies);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::string edges = "all";
  std::string analysis = "all";
  CLI::App app("Compares the serializability monitors with brute force on random traces.",
               "oracle");
  app.add_option("--traces", options.traces, "how many traces")->capture_default_str();
  app.add_option("--seed", options.seed, "which traces")->capture_default_str();
  app.add_option("--start", options.start, "number of the first trace of the seed")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--edges", edges, "data, sync or all")
      ->check(CLI::IsMember({"data", "sync", "all"}))
      ->capture_default_str();
  app.add_option("--analysis", analysis, "one monitor, or all")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (edges != "sync") options.edges.push_back(Edges::kData);
  if (edges != "data") options.edges.push_back(Edges::kSync);
  for (const Subject& subject : subjects()) {
    if (analysis == "all" || analysis == subject.analysis.name) {
      options.subjects.push_back(&subject);
    }
  }
  if (options.subjects.empty()) {
    fmt::print(stderr, "oracle: no such analysis: {}\n", analysis);
    return 2;
  }
  return run(options, argv[0]);
}

}  // namespace tomos::oracle

int main(int argc, char** argv) { return tomos::oracle::main(argc, argv); }
