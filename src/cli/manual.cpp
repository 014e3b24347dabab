#include "cli/manual.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/help_format.h"
#include "cli/options.h"

namespace tomos {

namespace {

// Text as roff shows it: a hyphen that stays one when copied, no line that looks like a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// Lines of a description. A blank line starts a paragraph; an indented line stays a line of its
// own.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty()) {
      if (!out.empty() && !out.ends_with(".PP\n")) out += ".PP\n";
    } else if (line.starts_with(' ')) {
      out += ".br\n" + roff(line.substr(line.find_first_not_of(' '))) + '\n';
    } else {
      out += roff(line) + '\n';
    }
  }
  return out.ends_with(".PP\n") ? out.substr(0, out.size() - 4) : out;
}

std::string option_entry(const CLI::Option& option) {
  std::string head =
      fmt::format("\\fB{}\\fR", roff(option.get_name(option.get_positional(), true)));
  const std::string value = option.get_positional() ? "" : placeholder(option);
  if (!value.empty()) head += fmt::format(" \\fI{}\\fR", roff(value));
  return fmt::format(".TP\n{}\n{}", head,
                     paragraphs(option.get_description() + default_note(option)));
}

std::string synopsis(const CLI::App& app) {
  std::string line = "[\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", roff(option->get_name(true)),
                                         option->get_expected_max() > 1 ? " ..." : "");
    if (option->get_name(true) == "PROG") line += " \\-\\-";
    line += option->get_required() ? " " + name : fmt::format(" [{}]", name);
  }
  return line;
}

}  // namespace

std::vector<std::string> page_names(const CLI::App& app) {
  std::vector<std::string> names = command_names(app);
  names.insert(names.begin(), app.get_name());
  return names;
}

std::string manual_page(const CLI::App& app, const std::string& name) {
  const bool whole = name == app.get_name();
  const CLI::App& about = whole ? app : *app.get_subcommand(name);
  const std::string title = whole ? name : app.get_name() + "-" + name;
  const std::string first = summary(about);
  std::string rest = about.get_description().substr(first.size());
  rest.erase(0, rest.find_first_not_of('\n'));

  std::string out =
      fmt::format(".TH \"{}\" 1 \"\" \"Tomos {}\" \"Tomos\"\n", roff(title), TOMOS_VERSION);
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(title), roff(first));
  out += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR {}{}\n", whole ? name : app.get_name() + " " + name,
                     synopsis(about), whole ? " \\fICOMMAND\\fR ..." : "");
  out += ".SH DESCRIPTION\n" + paragraphs(rest.empty() ? first : rest);
  if (whole) {
    out += ".SH COMMANDS\n";
    for (const std::string& command : command_names(app)) {
      out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", command,
                         roff(summary(*app.get_subcommand(command))));
    }
  }
  out += ".SH OPTIONS\n";
  for (const CLI::Option* option : about.get_options()) out += option_entry(*option);
  const std::string footer = about.get_footer();
  out += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n",
                     roff(footer.substr(std::min(footer.find('\n'), footer.size() - 1) + 1)));
  out += ".SH SEE ALSO\n";
  std::string also;
  for (const std::string& page : page_names(app)) {
    if (page == name) continue;
    also += fmt::format("{}\\fB{}\\fR(1)", also.empty() ? "" : ",\n",
                        roff(page == app.get_name() ? page : app.get_name() + "-" + page));
  }
  return out + also + '\n';
}

}  // namespace tomos
