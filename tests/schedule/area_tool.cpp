// Runs a program under the scheduler, once for each seed, without any of the campaign's code: what
// the scheduler does is judged here on its own.
//
//   area_tool run --strategy random --seed 1 --seeds 200 [--library libtomos_rt.so] -- PROG ARGS
//
// writes one line of JSON for each trial: how the program ended, what it wrote, and what stands in
// the area. With --repeat N a trial is run N times more with the same seed, and with --replay once
// more by the choices that it recorded; the line then says whether all had the same hash. With
// --learn N the trials know what N random ones before them have seen of the program (area.h).
//
// Aims are drawn from what a random trial has put on record, with less sense than the campaign has:
// any two steps of a thread with any steps of another between them. A correct program stands that.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "schedule/area.h"

namespace {

using tomos::schedule::Aim;
using tomos::schedule::Area;
using tomos::schedule::Mark;
using tomos::schedule::Profile;
using tomos::schedule::Step;
using tomos::schedule::Strategy;

struct Options {
  tomos::schedule::Settings settings{.strategy = Strategy::kRandom,
                                     .accesses = 0,
                                     .seed = 1,
                                     .pause_probability = 0.5,
                                     .depth = 3,
                                     .patience_ms = 50,
                                     .choice_count = 0,
                                     .debug = 0};
  std::uint64_t seeds = 1;
  int repeat = 0;
  std::uint64_t learn = 0;
  bool replay = false;
  double timeout = 10;
  std::string library;
  std::string directory = "/tmp";
  std::vector<std::string> command;
};

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "area_tool: " << what << ": " << std::strerror(errno) << '\n';  // NOLINT
  std::exit(2);                                                                // NOLINT
}

// The area, and two files beside it: what the program wrote, and its standard input, which is
// empty.
class Trial {
 public:
  explicit Trial(const Options& options) : options_(options) {
    path_ = options.directory + "/area-" + std::to_string(getpid());
    output_path_ = path_ + ".output";
  }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    forget();
    unlink(output_path_.c_str());
  }

  // A fresh area for each run: it must be zero, and that is the cheapest way to make it so.
  void prepare(Strategy strategy, std::uint64_t seed, const Profile& profile,
               const std::vector<tomos::schedule::Choice>& choices) {
    forget();
    const int file = open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(Area)) != 0) fail(path_);
    void* memory = mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) fail("mmap");  // NOLINT
    close(file);
    area_ = static_cast<Area*>(memory);
    area_->magic = tomos::schedule::kMagic;
    area_->size = sizeof(Area);
    area_->settings = options_.settings;
    area_->settings.strategy = strategy;
    area_->settings.seed = seed;
    area_->settings.choice_count = static_cast<std::uint32_t>(choices.size());
    std::ranges::copy(choices, area_->replayed);
    area_->profile = profile;
  }

  void run() {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) start();
    status_ = 0;
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(options_.timeout);
    limit.tv_nsec = static_cast<long>((options_.timeout - static_cast<double>(limit.tv_sec)) * 1e9);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    timed_out_ = false;
    while (waitpid(child, &status_, WNOHANG) == 0) {
      if (sigtimedwait(&set, nullptr, &limit) < 0 && errno == EAGAIN) {
        timed_out_ = true;
        kill(-child, SIGKILL);
        waitpid(child, &status_, 0);
        break;
      }
    }
    kill(-child, SIGKILL);  // what it left behind
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  [[nodiscard]] nlohmann::json show() const {
    using namespace tomos::schedule;
    const auto& trial = area_->trial;
    nlohmann::json line = {{"seed", area_->settings.seed},
                           {"end", end()},
                           {"output", output()},
                           {"seconds", seconds_},
                           {"started", trial.started.load()},
                           {"steps", trial.steps},
                           {"switches", trial.switches},
                           {"preemptions", trial.preemptions},
                           {"hash", trial.hash},
                           {"threads", trial.threads},
                           {"warnings", trial.warnings},
                           {"violations", trial.violation_count},
                           {"choices", trial.choice_count},
                           {"let_go", trial.let_go}};
    auto& flags = line["flags"] = nlohmann::json::array();
    const std::array<std::pair<Flags, const char*>, 6> names = {{{kLetGo, "let_go"},
                                                                 {kDiverged, "diverged"},
                                                                 {kChoicesLost, "choices_lost"},
                                                                 {kDeadlock, "deadlock"},
                                                                 {kForked, "forked"},
                                                                 {kAtEnd, "at_end"}}};
    for (const auto& [flag, name] : names) {
      if ((trial.flags & flag) != 0) flags.push_back(name);
    }
    auto& waiting = line["waiting"] = nlohmann::json::array();
    for (std::uint32_t i = 0; i < std::min(trial.waiting_count, kMaxWaiting); i++) {
      const auto& one = trial.waiting[i];
      waiting.push_back({{"thread", one.thread},
                         {"kind", static_cast<int>(one.kind)},
                         {"holder", static_cast<std::int32_t>(one.holder)}});
    }
    int certain = 0;
    auto& violations = line["found"] = nlohmann::json::array();
    for (std::uint32_t i = 0; i < std::min(trial.violation_count, kMaxViolations); i++) {
      const auto& one = trial.violations[i];
      if (one.doubtful == 0) certain++;
      violations.push_back({{"thread", one.thread},
                            {"other", one.other_thread},
                            {"block", one.block.name},
                            {"lock", one.object_size == 0},
                            {"kinds",
                             {static_cast<int>(one.first_kind), static_cast<int>(one.other_kind),
                              static_cast<int>(one.second_kind)}}});
    }
    line["certain"] = certain;
    return line;
  }

  [[nodiscard]] Area& area() { return *area_; }
  [[nodiscard]] std::vector<tomos::schedule::Choice> choices() const {
    const auto count = std::min(area_->trial.choice_count, tomos::schedule::kMaxChoices);
    return {area_->choices, area_->choices + count};
  }

 private:
  void forget() {
    if (area_ != nullptr) munmap(area_, sizeof(Area));
    area_ = nullptr;
    unlink(path_.c_str());
  }

  [[noreturn]] void start() const {
    setpgid(0, 0);
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    personality(ADDR_NO_RANDOMIZE);
    setenv("TOMOS_SCHEDULE", path_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    if (!options_.library.empty()) {
      setenv("LD_PRELOAD", options_.library.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int output =
        open(output_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    dup2(nothing, 0);
    dup2(output, 1);
    dup2(output, 2);
    std::vector<char*> arguments;
    arguments.reserve(options_.command.size() + 1);
    for (const auto& word : options_.command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }

  [[nodiscard]] std::string end() const {
    if (timed_out_) return "timeout";
    if (WIFSIGNALED(status_)) return std::string("SIG") + sigabbrev_np(WTERMSIG(status_));
    return "exit " + std::to_string(WEXITSTATUS(status_));
  }

  [[nodiscard]] std::string output() const {
    std::string text(2000, '\0');
    const int file = open(output_path_.c_str(), O_RDONLY | O_CLOEXEC);
    const auto size = file < 0 ? 0 : read(file, text.data(), text.size());
    close(file);
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return text;
  }

  const Options& options_;
  std::string path_;
  std::string output_path_;
  Area* area_ = nullptr;
  int status_ = 0;
  bool timed_out_ = false;
  double seconds_ = 0;
};

// Adds what a trial has seen.
void learn(Profile& all, const Profile& seen) {
  for (std::uint32_t i = 0; i < seen.place_count; i++) {
    auto* const end = all.places + all.place_count;
    if (std::find(all.places, end, seen.places[i]) != end) continue;
    if (all.place_count < tomos::schedule::kMaxPlaces)
      all.places[all.place_count++] = seen.places[i];
  }
  all.thread_count = std::max(all.thread_count, seen.thread_count);
  all.steps = std::max(all.steps, seen.steps);
  all.accesses = std::max(all.accesses, seen.accesses);
  for (std::uint32_t i = 0; i < seen.thread_count && i < tomos::schedule::kMaxProfiled; i++) {
    all.thread_steps[i] = std::max(all.thread_steps[i], seen.thread_steps[i]);
    all.creators[i] = seen.creators[i];
  }
}

struct Marked {
  Mark mark;
  std::size_t at;
};

// Steps on record, as marks, with where they stand.
std::vector<Marked> marks(const tomos::schedule::Log& log) {
  std::vector<Marked> all;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> passed;
  for (std::uint32_t i = 0; i < log.count; i++) {
    const Step& step = log.steps[i];
    if (step.place == 0) continue;
    const auto nth = ++passed[{step.thread, step.place}];
    all.push_back({.mark = {.place = step.place, .thread = step.thread, .nth = nth}, .at = i});
  }
  return all;
}

Aim any_aim(const std::vector<Marked>& all, std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  std::vector<Mark> others;
  if (all.empty()) return {};
  const Marked& cut = all[chance() % all.size()];
  const auto near = [&](std::size_t at) { return at < cut.at + 200 && cut.at < at + 200; };
  for (const auto& [mark, at] : all) {
    if (mark.thread == cut.mark.thread || !near(at)) continue;
    if (others.empty() || mark.thread == others.front().thread) others.push_back(mark);
  }
  if (others.empty()) return {};
  const auto from = chance() % others.size();
  const auto to = from + chance() % (others.size() - from);
  const auto then = chance() % 2 == 0 ? Mark{} : others[chance() % (from + 1)];
  return {.cut = cut.mark, .from = others[from], .to = others[to], .then = then};
}

int run(const Options& options) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);  // for sigtimedwait
  const auto strategy = options.settings.strategy;
  Profile profile{};
  for (std::uint64_t i = 0; i < options.learn; i++) {
    Trial trial(options);
    trial.prepare(Strategy::kRandom, i + 1, {}, {});
    trial.run();
    learn(profile, trial.area().seen);
  }
  std::vector<Marked> recorded;
  if (strategy == Strategy::kAim) {
    Trial trial(options);
    trial.prepare(Strategy::kRandom, 1, profile, {});
    trial.area().settings.log = 1;
    trial.run();
    recorded = marks(trial.area().log);
  }
  for (std::uint64_t i = 0; i < options.seeds; i++) {
    const auto seed = options.settings.seed + i;
    Trial trial(options);
    const Aim aim = any_aim(recorded, seed);
    trial.prepare(strategy, seed, profile, {});
    trial.area().aim = aim;
    trial.run();
    auto line = trial.show();
    const auto hash = trial.area().trial.hash;
    const auto choices = trial.choices();
    bool same = true;
    for (int n = 0; n < options.repeat; n++) {
      trial.prepare(strategy, seed, profile, {});
      trial.area().aim = aim;
      trial.run();
      if (trial.area().trial.hash != hash) same = false;
      // A later run that let go cannot be compared with the first, which did not.
      if ((trial.area().trial.flags & tomos::schedule::kLetGo) != 0) line["later_let_go"] = true;
    }
    if (options.repeat > 0) line["same"] = same;
    if (options.replay) {
      trial.prepare(Strategy::kReplay, seed, profile, choices);
      trial.run();
      line["replay"] = trial.show();
    }
    // Output need not be UTF-8.
    std::cout << line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  Options options;
  auto& settings = options.settings;
  const std::map<std::string, Strategy> strategies = {{"random", Strategy::kRandom},
                                                      {"atomfuzzer", Strategy::kAtomFuzzer},
                                                      {"pct", Strategy::kPct},
                                                      {"pos", Strategy::kPos},
                                                      {"roundrobin", Strategy::kRoundRobin},
                                                      {"walk", Strategy::kWalk},
                                                      {"cut", Strategy::kCut},
                                                      {"aim", Strategy::kAim}};
  CLI::App app("Runs a program under the scheduler");
  app.require_subcommand(1);
  auto* command = app.add_subcommand("run", "One line of JSON for each seed");
  command->add_option("--strategy", settings.strategy)
      ->transform(CLI::CheckedTransformer(strategies));
  command->add_option("--accesses", settings.accesses);
  command->add_option("--seed", settings.seed, "The first");
  command->add_option("--seeds", options.seeds, "How many");
  command->add_option("-q,--pause", settings.pause_probability);
  command->add_option("--depth", settings.depth);
  command->add_option("--patience", settings.patience_ms);
  command->add_option("--undeclared", settings.undeclared);
  command->add_option("--learn", options.learn, "Trials before the first");
  command->add_option("--timeout", options.timeout, "Seconds");
  command->add_option("--repeat", options.repeat);
  command->add_flag("--replay", options.replay);
  command->add_option("--library", options.library, "What is preloaded");
  command->add_option("--directory", options.directory, "Where the area is kept");
  command->add_option("program", options.command)->required();
  command->positionals_at_end();
  CLI11_PARSE(app, count, words);
  return run(options);
}
