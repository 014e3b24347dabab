#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"

namespace tomos {

std::function<int()> declare_help(CLI::App& app) {
  app.description("Show help for a command\n");
  app.footer("Example:\n  tomos help check");
  const CLI::App* root = app.get_parent();
  auto command = std::make_shared<std::string>();
  app.add_option("COMMAND", *command, "The command to explain")
      ->check(one_of(command_names(*root)));
  return [root, command] {
    if (command->empty()) {
      return print(
          root->get_formatter()->make_help(root, root->get_name(), CLI::AppFormatMode::Normal));
    }
    return print(root->get_subcommand(*command)->help(root->get_name()));
  };
}

}  // namespace tomos
