#include "report/inferred.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "report/layout.h"

namespace tomos {

namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// Long names push what is said of them aside, but only in their own line.
constexpr std::size_t kWidest = 40;

std::string two_columns(std::string_view title, const Entries& lines) {
  if (lines.empty()) return "";
  std::size_t widest = 0;
  for (const auto& [name, says] : lines) widest = std::max(widest, width(name));
  std::string out = fmt::format("{}:\n", title);
  for (const auto& [name, says] : lines) {
    out += fmt::format("  {}  {}\n", pad(name, std::min(widest, kWidest)), says);
  }
  return out + '\n';
}

std::string says_of(const Inferred::Guard& guard) {
  std::string text = guard.access == "none" ? "no guard" : guard.access;
  if (!guard.lock.empty()) text += ' ' + guard.lock;
  if (!guard.elsewhere.empty()) {
    const bool unsayable = guard.elsewhere == "without_attributes";
    text = fmt::format("guarded {}by {}{}",
                       guard.elsewhere == "where_held"  ? "where it is held "
                       : guard.elsewhere == "in_method" ? "in its one method "
                                                        : "",
                       guard.lock_elsewhere, unsayable ? ", a lock without attributes" : "");
  }
  if (guard.given) text += " (given)";
  for (const auto& [name, lock] : guard.ghosts) text += fmt::format("; its {} is {}", name, lock);
  return printable(text);
}

std::string share_of(std::uint64_t part, std::uint64_t total) {
  return fmt::format(
      "({:.0f}%)",
      total == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(total));
}

std::string table_row(std::string_view name, const Inferred::Count& count) {
  const std::uint64_t others = count.total - count.atomic;
  return fmt::format("{:<18}{:>7}{:>8} {:>6}{:>8} {:>6}\n", name, count.total, count.atomic,
                     share_of(count.atomic, count.total), others, share_of(others, count.total));
}

}  // namespace

std::string print_guards_and_methods(const Inferred& inferred) {
  Entries guards;
  for (const auto& guard : inferred.guards) {
    const std::string name = guard.owner.empty() ? guard.field : guard.owner + '.' + guard.field;
    guards.emplace_back(printable(name), says_of(guard));
  }
  Entries methods;
  for (const auto& method : inferred.methods) {
    std::string text = method.atomicity;
    std::vector<std::string> required = method.required;
    required.insert(required.end(), method.of_owner.begin(), method.of_owner.end());
    required.insert(required.end(), method.unsaid.begin(), method.unsaid.end());
    if (!required.empty()) text += fmt::format("; requires {}", fmt::join(required, ", "));
    methods.emplace_back(printable(method.name), printable(text));
  }
  return two_columns("Guards", guards) + two_columns("Methods", methods);
}

std::string print_table(const Inferred& inferred) {
  std::string out =
      fmt::format("{:<18}{:>7}{:>8} {:>6}{:>15}\n", "", "total", "atomic", "", "not atomic") +
      table_row("methods", inferred.method_count) +
      table_row("critical sections", inferred.section_count);
  std::string times;
  for (const auto& [phase, seconds] : inferred.phases) {
    times += fmt::format("{}{} {:.2f} s", times.empty() ? "" : ", ", phase, seconds);
  }
  return out + times + "\n\n";
}

}  // namespace tomos
