// Shell completion scripts, written from CLI11's record of the commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace tomos {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);

}  // namespace tomos
