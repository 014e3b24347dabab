#include "cli/options.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace tomos {

unsigned processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
}

namespace {

// Levenshtein's: how many letters to change, add or drop.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string one_of(const std::string& value, const std::vector<std::string>& values) {
  return fmt::format("'{}' is not one of {}.{}", value, fmt::join(values, ", "),
                     did_you_mean(value, values));
}

// Braces mark the list of values in the option's type name, where values_of() finds it again.
std::string braced(const std::vector<std::string>& values) {
  return fmt::format("{{{}}}", fmt::join(values, ","));
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> values) {
  const std::string description = braced(values);
  return {[values = std::move(values)](const std::string& value) {
            return contains(values, value) ? std::string() : one_of(value, values);
          },
          description};
}

CLI::Validator list_of(std::vector<std::string> values) {
  const std::string description = braced(values);
  return {[values = std::move(values)](const std::string& list) {
            for (const std::string& value : split(list, ',')) {
              if (!contains(values, value)) return one_of(value, values);
            }
            return std::string();
          },
          description};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[least, most](const std::string& text) {
            std::uint64_t number = 0;
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, number);
            if (error == std::errc() && stop == end && number >= least && number <= most) {
              return std::string();
            }
            return fmt::format("'{}' is not a whole number from {} to {}.", text, least, most);
          },
          ""};
}

std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return split(std::string_view(type).substr(open + 1, close - open - 1), ',');
}

bool is_flag(const CLI::Option& option) { return option.get_expected_max() == 0; }

std::string placeholder(const CLI::Option& option) {
  if (is_flag(option)) return "";
  const std::string type = option.get_type_name();
  const std::string name = type.substr(0, type.find(':'));
  return name.empty() ? fmt::format("{}", fmt::join(values_of(option), "|")) : name;
}

bool takes_program(const CLI::App& app) { return app.get_option_no_throw("PROG") != nullptr; }

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

bool contains(const std::vector<std::string>& values, std::string_view value) {
  return std::ranges::find(values, value) != values.end();
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t far = distance(word, candidate);
    if (far < best) {
      best = far;
      nearest = candidate;
    }
  }
  return nearest ? fmt::format(" Did you mean '{}'?", *nearest) : "";
}

std::string quoted(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+,=@%"
                         "-") == std::string::npos;
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace tomos
