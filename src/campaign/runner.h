// Runs trials: some at a time. No process that a trial has started outlives it.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "campaign/program.h"
#include "campaign/trial.h"
#include "event/error.h"

namespace tomos::campaign {

class Runner {
 public:
  using Clock = std::chrono::steady_clock;

  enum class Output : std::uint8_t { kKept, kShown };

  struct Options {
    unsigned jobs = 1;
    std::chrono::milliseconds timeout{10'000};  // for a trial
    Output output = Output::kKept;
    bool (*stop)() = nullptr;  // asked by run(): whether nobody wants to know any more
  };

  static Result<Runner> make(const Program& program, const Options& options);
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) = delete;
  ~Runner();  // stops what runs

  bool is_full() const;
  bool is_idle() const;
  Result<void> start(Order order);
  // Those that have ended; waits for the first of them, but no longer than so. Signals end the
  // wait, too.
  std::vector<Trial> wait(std::chrono::milliseconds longest);
  void stop_all();

  // One trial, to its end, or until options.stop says so. Nothing else may be running.
  Result<Trial> run(Order order);

 private:
  struct Worker;
  Runner(std::vector<std::unique_ptr<Worker>> workers, const Options& options);

  Trial finish(Worker& worker);

  std::vector<std::unique_ptr<Worker>> workers_;
  Options options_;
};

// Kills every process that a runner has started; may be called by a signal handler.
void kill_everything();

}  // namespace tomos::campaign
