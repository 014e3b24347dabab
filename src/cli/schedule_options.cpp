#include "cli/schedule_options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/options.h"

namespace tomos {

namespace {

constexpr const char* kTimeout = "10s";

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  using Unit = std::pair<std::string_view, double>;
  constexpr std::array kUnits = {Unit{"ms", 1},        Unit{"s", 1000},       Unit{"m", 60'000},
                                 Unit{"h", 3'600'000}, Unit{"d", 86'400'000}, Unit{"", 1000}};
  double number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const auto& [name, factor] : kUnits) {
    if (unit != name) continue;
    const double result = number * factor;
    constexpr double kMost = 1e11;  // three years
    if (!(result >= 1 && result <= kMost)) return std::nullopt;
    return std::chrono::milliseconds(static_cast<std::int64_t>(result));
  }
  return std::nullopt;
}

CLI::Validator probability() {
  return {[](const std::string& text) {
            double number = 0;
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, number);
            if (error == std::errc() && stop == end && number >= 0 && number <= 1) {
              return std::string();
            }
            return fmt::format("'{}' is not a number from 0 to 1.", text);
          },
          ""};
}

}  // namespace

campaign::Settings ScheduleOptions::settings() const {
  return {.strategy = campaign::strategy_called(strategy),
          .pause_probability = pause_probability,
          .depth = depth,
          .undeclared = undeclared,
          .learn = !no_learning,
          .accesses = !no_accesses};
}

void declare_schedule(ScheduleOptions& options, CLI::App& app) {
  std::vector<std::string> names = {"mix"};
  for (const schedule::Strategy strategy : campaign::strategies()) {
    names.emplace_back(campaign::to_string(strategy));
  }
  app.add_option("--strategy", options.strategy,
                 "Who goes on: mix gives each trial one of the\nothers, according to its seed")
      ->type_name("NAME")
      ->check(one_of(std::move(names)));
  app.add_option("--pause-probability", options.pause_probability,
                 "How often atomfuzzer waits for somebody to cut in")
      ->type_name("Q")
      ->check(probability());
  app.add_option("--depth", options.depth, "How many ordering constraints pct looks for")
      ->type_name("D")
      ->check(whole_number(1, 1000));
  app.add_flag(
      "--no-accesses", options.no_accesses,
      "Do not switch at memory accesses of instrumented\ncode: faster, but only violations "
      "with locks");
  app.add_flag("--no-learning", options.no_learning,
               "No trials before the others to learn where\nswitching matters");
  app.add_flag(
      "--undeclared", options.undeclared,
      "Report also violations of functions, and of locks in\ncritical sections, that nothing "
      "declares atomic");
  app.add_option("--timeout", options.timeout, "A trial that takes longer hangs")
      ->type_name("TIME")
      ->default_str(kTimeout)
      ->check(duration());
}

CLI::Validator duration() {
  return {[](const std::string& text) {
            if (parse_duration(text)) return std::string();
            return fmt::format("'{}' is not a time like 30s, 10m or 2h.", text);
          },
          ""};
}

std::chrono::milliseconds to_duration(const std::string& text) {
  return parse_duration(text).value_or(std::chrono::milliseconds(0));
}

std::chrono::milliseconds ScheduleOptions::time() const {
  return to_duration(timeout.empty() ? kTimeout : timeout);
}

std::string replay_command(const ScheduleOptions& options, std::uint64_t seed,
                           const std::vector<std::string>& program) {
  const ScheduleOptions usual;
  std::string command = fmt::format("tomos replay --seed {}", seed);
  if (options.strategy != usual.strategy) command += " --strategy " + options.strategy;
  if (options.pause_probability != usual.pause_probability) {
    command += fmt::format(" --pause-probability {}", options.pause_probability);
  }
  if (options.depth != usual.depth) command += fmt::format(" --depth {}", options.depth);
  if (options.no_accesses) command += " --no-accesses";
  if (options.no_learning) command += " --no-learning";
  if (options.undeclared) command += " --undeclared";
  if (!options.timeout.empty()) command += " --timeout " + options.timeout;
  command += " --";
  for (const std::string& word : program) command += ' ' + quoted(word);
  return command;
}

}  // namespace tomos
