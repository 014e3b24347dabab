#include "cli/help_format.h"

#include <fmt/format.h>

#include <sstream>

#include "cli/options.h"

namespace tomos {

HelpFormat::HelpFormat() {
  column_width(28);
  label("Positionals", "Arguments");
  label("SUBCOMMAND", "COMMAND");
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  const std::string value = option->get_positional() ? "" : placeholder(*option);
  return value.empty() ? "" : " " + value;
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  return option->get_description() + default_note(*option);
}

std::string HelpFormat::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (takes_program(*app)) usage.insert(usage.find("PROG"), "-- ");
  return usage;
}

std::string HelpFormat::make_subcommand(const CLI::App* sub) const {
  std::ostringstream out;
  CLI::detail::format_help(out, sub->get_name(), summary(*sub), column_width_);
  return out.str();
}

std::string summary(const CLI::App& app) {
  const std::string description = app.get_description();
  return description.substr(0, description.find('\n'));
}

std::string default_note(const CLI::Option& option) {
  const bool shown =
      !is_flag(option) && !option.get_positional() && !option.get_default_str().empty();
  if (!shown) return "";
  const std::string value = option.get_default_str();
  return fmt::format("{}(default: {})", value.size() > 30 ? "\n" : " ", value);
}

}  // namespace tomos
