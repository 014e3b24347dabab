// Values that options take: checked, listed in help, offered by completion, all from CLI11's own
// record of the option.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tomos {

// One of the values; a wrong one is answered with all of them and the nearest.
CLI::Validator one_of(std::vector<std::string> values);
// Some of the values, separated by commas.
CLI::Validator list_of(std::vector<std::string> values);
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

// The values that one_of() or list_of() allows for this option; none for other options.
std::vector<std::string> values_of(const CLI::Option& option);

// Those that this process may use: what --jobs is unless told otherwise.
unsigned processors();

bool is_flag(const CLI::Option& option);

// What stands for an option's value in help: "FILE", "text|json"; empty for a flag.
std::string placeholder(const CLI::Option& option);

// Whether a command wants "--" before its arguments, which are a program and what belongs to it.
bool takes_program(const CLI::App& app);

std::vector<std::string> command_names(const CLI::App& app);

bool contains(const std::vector<std::string>& values, std::string_view value);
std::vector<std::string> split(std::string_view text, char separator);

// As one word of a shell command.
std::string quoted(const std::string& text);

// " Did you mean 'check'?", or nothing if none of the candidates is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tomos
