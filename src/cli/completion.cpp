#include "cli/completion.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "cli/help_format.h"
#include "cli/options.h"

namespace tomos {

namespace {

// The app itself under the empty name, and each of its commands.
struct Level {
  std::string command;
  const CLI::App* app;
};

std::vector<Level> levels(const CLI::App& app) {
  std::vector<Level> result = {{"", &app}};
  for (const std::string& name : command_names(app))
    result.push_back({name, app.get_subcommand(name)});
  return result;
}

std::vector<std::string> spellings(const CLI::Option& option) {
  std::vector<std::string> result;
  for (const std::string& name : option.get_snames()) result.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.push_back("--" + name);
  return result;
}

// Inside single quotes of a zsh _arguments specification.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const CLI::Option& option) {
  const std::vector<std::string> values = values_of(option);
  if (!values.empty()) return fmt::format("({})", fmt::join(values, " "));
  return option.get_positional() || placeholder(option) == "FILE" ? "_files" : " ";
}

std::string zsh_option(const CLI::Option& option) {
  if (option.get_positional()) {
    return fmt::format(" '{}:{}:{}'", option.get_expected_max() > 1 ? "*" : "",
                       option.get_name(true), zsh_action(option));
  }
  std::string out;
  for (const std::string& name : spellings(option)) {
    out += fmt::format(" '{}[{}]", name, zsh_text(option.get_description()));
    if (!is_flag(option)) {
      out += fmt::format(":{}:{}", zsh_text(placeholder(option)), zsh_action(option));
    }
    out += '\'';
  }
  return out;
}

std::string zsh_arguments(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options()) out += " \\\n       " + zsh_option(*option);
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string values;
  std::string names;
  for (const auto& [command, level] : levels(app)) {
    std::vector<std::string> options;
    std::vector<std::string> words;  // what a bare argument may be; anything, if empty
    if (command.empty()) words = command_names(app);
    for (const CLI::Option* option : level->get_options()) {
      const std::vector<std::string> allowed = values_of(*option);
      if (option->get_positional()) words = allowed;
      for (const std::string& name : spellings(*option)) {
        options.push_back(name);
        if (is_flag(*option)) continue;
        values +=
            fmt::format("    '{} {}') words='{}' ;;\n", command, name, fmt::join(allowed, " "));
      }
    }
    names += fmt::format("    '{} -'*) words='{}' ;;\n", command, fmt::join(options, " "));
    names += fmt::format("    '{} '*) words='{}' ;;\n", command, fmt::join(words, " "));
  }
  return fmt::format(
      R"(# bash completion for tomos: source this file, or put it where bash looks for completions.
_tomos() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in
    {}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case "$command $before" in
{}    *)
    case "$command $word" in
{}    esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o bashdefault -o default -F _tomos tomos
)",
      fmt::join(command_names(app), "|"), values, names);
}

std::string zsh_completion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const auto& [command, level] : levels(app)) {
    if (command.empty()) continue;
    commands += fmt::format(" '{}:{}'", command, zsh_text(summary(*level)));
    cases += fmt::format("  {}) _arguments{} ;;\n", command, zsh_arguments(*level));
  }
  return fmt::format(R"(#compdef tomos
# zsh completion for tomos: put this file as _tomos into a folder of $fpath, or source it.
_tomos() {{
  local state
  local -a commands line
  commands=({})
  _arguments -C{} \
        '1:command:{{_describe command commands}}' '*::argument:->arguments'
  case $line[1] in
{}  esac
}}
if [ "$funcstack[1]" = _tomos ]; then _tomos "$@"; else compdef _tomos tomos; fi
)",
                     commands, zsh_arguments(app), cases);
}

}  // namespace tomos
