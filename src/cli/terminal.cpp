#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tomos {

namespace {

constexpr std::size_t kDefaultColumns = 100;
constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 1000;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets it
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool use_color(const std::string& mode, int descriptor) {
  if (mode != "auto") return mode == "always";
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  if (environment("CLICOLOR") == "0") return false;
  return ::isatty(descriptor) == 1 && environment("TERM") != "dumb";
}

std::size_t terminal_columns(int descriptor) {
  const std::string_view text = environment("COLUMNS");
  std::size_t columns = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), columns);
  winsize size = {};
  if (parsed.ec != std::errc() || columns == 0) {
    columns = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                             : kDefaultColumns;
  }
  return std::clamp(columns, kNarrowest, kWidest);
}

}  // namespace tomos
