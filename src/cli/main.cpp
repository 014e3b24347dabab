// tomos: the commands and what they share. Everything a command does is in the file named after it.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/errors.h"
#include "cli/help_format.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/output.h"

namespace tomos {

namespace {

constexpr std::array kCommands = {
    Command{.name = "run", .declare = declare_run, .takes_program = true},
    Command{.name = "record", .declare = declare_record, .takes_program = true},
    Command{"check", declare_check},
    Command{"convert", declare_convert},
    Command{.name = "fuzz", .declare = declare_fuzz, .takes_program = true},
    Command{.name = "replay", .declare = declare_replay, .takes_program = true},
    Command{.name = "infer", .declare = declare_infer, .takes_program = true},
    Command{.name = "tm", .declare = declare_tm, .takes_program = true},
    Command{.name = "model", .declare = declare_model, .takes_program = true},
    Command{"help", declare_help},
};

constexpr const char* kMainDescription =
    "Tomos finds code that was meant to be atomic and was cut by another thread.";

constexpr const char* kMainExamples =
    "Examples:\n"
    "  tomos run -- ./server            run a program that tomos-c++ has built, and judge the run\n"
    "  tomos check run.tomos            judge a recorded run\n"
    "  tomos convert run.tomos run.std  make it readable\n"
    "  tomos fuzz -- ./server           run any program under many schedules\n"
    "  tomos infer list.aj2             which locks guard what, and which methods are atomic\n"
    "  tomos tm bank.cpp                transactions that should be one\n"
    "  tomos model lock.bp              prove that no schedule of a Boolean program does harm\n"
    "  tomos help check                 all about one command";

// The command line as the option parser is to see it.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto command =
      std::ranges::find_if(words, [](const std::string& word) { return !word.starts_with('-'); });
  const bool marked = std::ranges::any_of(kCommands, [&](const Command& one) {
    return one.takes_program && command != words.end() && *command == one.name;
  });
  if (marked) {
    words = mark_program(std::move(words));
    std::erase(words, "--");  // the parser would not take more words for an option that has some
  }
  std::ranges::reverse(words);  // as the parser wants them
  return words;
}

int run(int argc, char** argv) {
  CLI::App app(kMainDescription, "tomos");
  app.footer(kMainExamples);
  app.formatter(std::make_shared<HelpFormat>());
  app.option_defaults()->always_capture_default();
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", "tomos " TOMOS_VERSION, "Print the version and exit");

  std::map<const CLI::App*, std::function<int()>> runs;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name);
    sub->group("Commands");
    runs[sub] = command.declare(*sub);
  }
  std::string manual;
  std::string shell;
  app.add_option("--man", manual, "Print the manual page of tomos or of a command, as roff")
      ->type_name("NAME")
      ->check(one_of(page_names(app)));
  app.add_option("--completion", shell, "Print the completion script for a shell")
      ->type_name("")
      ->check(one_of({"bash", "zsh"}));

  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::CallForVersion&) {
    return print("tomos " TOMOS_VERSION "\n");
  } catch (const CLI::ParseError& error) {
    print_error(explain(app, error));
    return kBadInput;
  }
  if (!manual.empty()) return print(manual_page(app, manual));
  if (!shell.empty()) return print(shell == "bash" ? bash_completion(app) : zsh_completion(app));
  for (const CLI::App* sub : app.get_subcommands()) return runs.at(sub)();
  print_error(no_command(app));
  return kBadInput;
}

// The last stop of an exception, whichever thread it comes from.
[[noreturn]] void die_of_exception() {
  remove_unfinished();
  int status = kBug;
  try {
    if (const std::exception_ptr exception = std::current_exception()) {
      std::rethrow_exception(exception);
    }
    print_error(bug("terminated"));
  } catch (const std::bad_alloc&) {
    print_error({.where = "",
                 .what = "out of memory",
                 .remedy = "Run fewer analyses at once, or on a machine with more memory."});
    status = kBadInput;
  } catch (const std::exception& exception) {
    print_error(bug(exception.what()));
  } catch (...) {
    print_error(bug("unknown exception"));
  }
  _exit(status);
}

}  // namespace

}  // namespace tomos

int main(int argc, char** argv) {
  std::set_terminate(tomos::die_of_exception);
  tomos::die_of_closed_pipe();
  return tomos::run(argc, argv);
}
