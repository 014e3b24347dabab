// How a campaign is doing: a few lines at the bottom of a terminal, rewritten in place; elsewhere a
// line now and then.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "campaign/campaign.h"

namespace tomos {

class FuzzStatus {
 public:
  struct Goal {
    std::string program;
    std::optional<std::uint64_t> trials;
    std::optional<std::chrono::milliseconds> time;
  };

  FuzzStatus(Goal goal, bool quiet);
  FuzzStatus(const FuzzStatus&) = delete;
  FuzzStatus& operator=(const FuzzStatus&) = delete;
  ~FuzzStatus();  // takes the lines away

  void show(const campaign::Status& status);

 private:
  using Clock = std::chrono::steady_clock;

  void show_on_terminal(const campaign::Status& status);
  void show_as_line(const campaign::Status& status);
  void erase();

  Goal goal_;
  bool quiet_;
  bool terminal_;
  int lines_ = 0;  // on the terminal now
  Clock::time_point next_;
};

}  // namespace tomos
