// A subcommand: one file, one function that declares its options and says what to run with them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace tomos {

// Exit status, as scripts rely on it.
inline constexpr int kNothingFound = 0;
inline constexpr int kBadInput = 2;
inline constexpr int kFindings = 66;
inline constexpr int kBug = 70;

struct Command {
  const char* name;
  // Declares options, description and examples on the subcommand's app; the result runs it and
  // gives the exit status.
  std::function<int()> (*declare)(CLI::App& app);
  bool takes_program =
      false;  // what stands behind "--" is somebody else's: a program and its arguments
};

std::function<int()> declare_check(CLI::App& app);
std::function<int()> declare_convert(CLI::App& app);
std::function<int()> declare_fuzz(CLI::App& app);
std::function<int()> declare_help(CLI::App& app);
std::function<int()> declare_infer(CLI::App& app);
std::function<int()> declare_model(CLI::App& app);
std::function<int()> declare_record(CLI::App& app);
std::function<int()> declare_replay(CLI::App& app);
std::function<int()> declare_run(CLI::App& app);
std::function<int()> declare_tm(CLI::App& app);

}  // namespace tomos
