// `--help`, drawn from CLI11's record of the options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tomos {

class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat();
  std::string make_option_opts(const CLI::Option* option) const override;
  std::string make_option_desc(const CLI::Option* option) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
};

// The first line of a command's description.
std::string summary(const CLI::App& app);

// " (default: text)", on a line of its own if it is long, or nothing.
std::string default_note(const CLI::Option& option);

}  // namespace tomos
