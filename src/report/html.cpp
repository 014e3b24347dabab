// The page says what the text says: the same printer fills it (text.h), so that the two cannot
// differ. What the page adds is a list of the findings, links, and colours for source and marks.
#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/layout.h"
#include "report/text.h"

namespace tomos {

namespace {

constexpr std::size_t kPageColumns = 110;

constexpr std::string_view kPageStyle = R"(
:root { color-scheme: light dark; --line: #8884; --mark: #b3261e; --dim: #777; }
@media (prefers-color-scheme: dark) { :root { --mark: #ff8a80; --dim: #999; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
article { border: 1px solid var(--line); border-radius: 8px; padding: 0 1rem; margin: 1.5rem 0; }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem } ul { list-style: none; padding: 0 }
pre { font: 13px/1.45 ui-monospace, monospace; overflow-x: auto; }
.number { color: var(--dim) } .mark { color: var(--mark); font-weight: bold }
)";

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Source lines are "   13 | code", what is said about one is "      |   ^ words".
std::string html_line(std::string_view line) {
  const std::size_t bar = line.find(" |");
  const bool frame =
      bar != std::string_view::npos && line.starts_with("      ") &&
      line.substr(0, bar).find_first_not_of(" .0123456789") == std::string_view::npos;
  if (!frame) return html_text(line);
  const std::string_view rest = line.substr(bar + 2);
  const bool is_mark = line.substr(0, bar).find_first_not_of(' ') == std::string_view::npos;
  return fmt::format(
      "<span class=\"number\">{} |</span>{}", line.substr(0, bar),
      is_mark ? fmt::format("<span class=\"mark\">{}</span>", html_text(rest)) : html_text(rest));
}

std::string html_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    out += html_line(text.substr(0, text[end] == '\n' ? end : end + 1)) + '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

std::string print_html(const Report& report) {
  const TextStyle style = {.color = false, .columns = kPageColumns};
  const TextParts parts = text_parts(report, style);
  std::string list;
  std::string articles;
  for (const TextParts::One& one : parts.findings) {
    list += fmt::format("<li><a href=\"#{}\">{}. {}</a> {}</li>\n", one.id, one.number,
                        html_text(one.heading), html_text(one.message));
    articles += fmt::format(
        "<article id=\"{}\">\n<h2>{}. {}</h2>\n<p>{}</p>\n<pre>{}</pre>\n</article>\n", one.id,
        one.number, html_text(one.heading), html_text(one.message), html_lines(one.body));
  }
  if (!list.empty()) list = fmt::format("<ul>\n{}</ul>\n", list);
  const std::string before =
      parts.before.empty() ? "" : fmt::format("<pre>{}</pre>\n", html_text(parts.before));
  std::string inputs;
  for (const std::string& input : report.inputs) inputs += ' ' + html_text(printable(input));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>tomos {0}{1}</title>\n"
      "<style>{2}</style>\n</head>\n<body>\n<h1>tomos {0}{1}</h1>\n{3}{4}{5}<pre>{6}</pre>\n"
      "</body>\n</html>\n",
      html_text(report.tool), inputs, kPageStyle, list, before, articles, html_text(parts.after));
}

}  // namespace tomos
