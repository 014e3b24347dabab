// One line on the terminal that says how far a long piece of work is.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "event/source.h"

namespace tomos {

class ProgressLine {
 public:
  // Silent if standard error is not a terminal, if `quiet`, and for the first second.
  ProgressLine(const std::string& name, bool quiet);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  // takes the line away

  void update(std::uint64_t events, const Source::Progress& progress);

  // For what goes on after the reading: what it is, and, called now and then, for how long.
  void work_on(std::string_view what);
  void tick();

 private:
  using Clock = std::chrono::steady_clock;

  bool is_time();
  void show(const std::string& line);

  std::string name_;
  bool enabled_;
  bool shown_ = false;
  std::string work_;
  Clock::time_point work_start_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::seconds(1);
};

}  // namespace tomos
