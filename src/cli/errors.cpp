#include "cli/errors.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/options.h"
#include "report/layout.h"

namespace tomos {

namespace {

void print_message(std::string_view prefix, const Error& error) {
  std::string text(prefix);
  for (const std::string& part : {error.where, error.what}) {
    if (!part.empty()) text += ": " + printable(part);
  }
  text += '\n';
  if (!error.remedy.empty()) text += "  " + printable(error.remedy) + '\n';
  // One write, so that lines of several processes do not mix. If it fails, there is no one to tell.
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The name that CLI11's message begins with.
const CLI::Option* option_of(const CLI::App& app, std::string_view message) {
  return app.get_option_no_throw(std::string(message.substr(0, message.find(':'))));
}

}  // namespace

void print_error(const Error& error) { print_message("tomos", error); }
void print_warning(const Error& error) { print_message("tomos: warning", error); }

int refuse(const Error& error) {
  print_error(error);
  return kBadInput;
}

Error explain(const CLI::App& app, const CLI::ParseError& error) {
  const auto parsed = app.get_subcommands();
  const CLI::App& at = parsed.empty() ? app : *parsed.front();
  Error result;
  if (!parsed.empty()) result.where = at.get_name();
  result.remedy = fmt::format("See 'tomos {}--help'.", parsed.empty() ? "" : at.get_name() + " ");

  if (takes_program(at)) result.remedy += " Options of the program stand behind --.";

  // An unknown option is the cause of whatever else is missing.
  for (const std::string& word : at.remaining()) {
    if (word.starts_with('-') && word != "--") {
      result.what = fmt::format("unknown option '{}'.{}", word,
                                did_you_mean(word.substr(0, word.find('=')), option_names(at)));
      return result;
    }
    if (parsed.empty()) {
      const std::vector<std::string> names = command_names(app);
      result.what = fmt::format("'{}' is not a command; the commands are {}.{}", word,
                                fmt::join(names, ", "), did_you_mean(word, names));
      return result;
    }
  }
  result.what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (const CLI::Option* option = option_of(at, result.what)) {
      const bool missing = option->count() == 0;
      result.what =
          fmt::format("{} {} ({})", option->get_name(),
                      missing ? "needs a value" : "may be given only once", placeholder(*option));
    }
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    result.what = fmt::format("'{}' is one argument too many", at.remaining().front());
  }
  return result;
}

Error no_command(const CLI::App& app) {
  return {.where = "",
          .what = "no command given",
          .remedy = fmt::format("Usage: tomos COMMAND [ARGUMENTS]; the commands are {}. "
                                "'tomos --help' says what they do.",
                                fmt::join(command_names(app), ", "))};
}

Error bug(std::string_view what) {
  return {.where = "a bug in Tomos",
          .what = std::string(what),
          .remedy =
              "Please report it with the command line, the trace and what 'tomos --version' "
              "prints."};
}

}  // namespace tomos
