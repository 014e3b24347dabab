// How the command line says that something is wrong: where, what, and what to do about it.
#pragma once

#include <CLI/CLI.hpp>
#include <string_view>

#include "event/error.h"

namespace tomos {

// `tomos: WHERE: WHAT` and the remedy on lines of its own, on standard error. What is empty is left
// out.
void print_error(const Error& error);
void print_warning(const Error& error);
// Prints the error and gives the exit status for bad usage and bad input.
int refuse(const Error& error);

// What a wrong command line means in words a user can act on.
Error explain(const CLI::App& app, const CLI::ParseError& error);

// For someone who typed only `tomos`.
Error no_command(const CLI::App& app);

// Something that cannot happen has happened.
Error bug(std::string_view what);

}  // namespace tomos
