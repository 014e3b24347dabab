#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/interleaving.h"
#include "report/layout.h"

namespace tomos {

namespace {

std::string at(const Location& location) {
  return location == Location() ? "" : " at " + to_string(location);
}

std::string_view participle(std::string_view op) {
  if (op == "read") return "read";
  if (op == "write") return "written";
  if (op == "acquire") return "acquired";
  if (op == "release") return "released";
  if (op == "read-acquire") return "acquired for reading";
  if (op == "read-release") return "released after reading";
  return "";
}

bool is_predicted(const Finding& finding) { return finding.verdict == Certainty::kPredicted; }

// Why the one event must come before the other. What was only predicted did not happen: no past
// tense.
std::string reason(const Finding::Event& from, const Finding::Event& to, bool predicted) {
  const std::string_view first = participle(from.op);
  const std::string_view second = participle(to.op);
  if (from.thread != to.thread && from.variable == to.variable && !first.empty() &&
      !second.empty()) {
    return fmt::format("{} {} {}{}, then {}{}", from.variable, predicted ? "is" : "was", first,
                       at(from.location), second, at(to.location));
  }
  const std::string actor =
      from.thread == to.thread ? from.thread + (predicted ? " does " : " did ") : "";
  return fmt::format("{}{} {}{}, then {} {}{}", actor, from.op, from.variable, at(from.location),
                     to.op, to.variable, at(to.location));
}

std::string explain_cycle(const Finding& finding, std::size_t columns) {
  const std::vector<std::string> names = transaction_names(finding);
  const bool predicted = is_predicted(finding);
  std::string out =
      predicted ? "  No serial order gives the same:\n" : "  No serial order gives this run:\n";
  const std::size_t edges = finding.edges.size();
  for (std::size_t i = 0; i < edges; ++i) {
    const auto& from = finding.events.at(finding.edges[i].from);
    const auto& to = finding.events.at(finding.edges[i].to);
    const bool back = edges == 2 && i == 1 && names.size() == 2;
    const std::string must = back
                                 ? "and after it"
                                 : fmt::format("{} must come before {}", names.at(from.transaction),
                                               names.at(to.transaction));
    out += wrap(fmt::format("    {}  ", i + 1),
                fmt::format("{}: {}", must, reason(from, to, predicted)), columns);
    // From one transaction of a thread to a later one no events are needed.
    const auto& next = finding.events.at(finding.edges[(i + 1) % edges].from);
    if (next.transaction != to.transaction && next.thread == to.thread) {
      out += wrap("       ",
                  fmt::format("{} comes before {} in {}'s own order", names.at(to.transaction),
                              names.at(next.transaction), to.thread),
                  columns);
    }
  }
  return out;
}

std::string explain_movers(const Finding& finding, std::size_t columns) {
  std::string letters;
  const auto mean = [&](char letter, std::string_view meaning) {
    if (finding.pattern.find(letter) == std::string::npos) return;
    letters += fmt::format("{}{} {}", letters.empty() ? "" : ", ", letter, meaning);
  };
  mean('R', "acquire");
  mean('L', "release");
  mean('B', "step that commutes with all others");
  mean('N', "access with a race");
  return wrap("  ", fmt::format("Its steps: {} ({})", short_pattern(finding), letters), columns) +
         wrap("  ",
              "Surely atomic would be: acquires, then at most one N, then releases, with B "
              "anywhere. "
              "What is not may still be atomic: --analysis blocks says whether another transaction "
              "can really cut in.",
              columns);
}

// Of the locks held at both of two events, those that only one thread can hold in this way.
std::vector<std::string> common_locks(const Finding::Event& one, const Finding::Event& other) {
  constexpr std::string_view kReading = " for reading";
  std::vector<std::string> common;
  for (std::string_view lock : one.locks) {
    const bool reading = lock.ends_with(kReading);
    if (reading) lock.remove_suffix(kReading.size());
    const std::string shared = std::string(lock).append(kReading);
    if (std::ranges::find(other.locks, lock) != other.locks.end() ||
        (!reading && std::ranges::find(other.locks, shared) != other.locks.end())) {
      common.emplace_back(lock);
    }
  }
  return common;
}

std::string explain_race(const Finding& finding, std::size_t columns) {
  if (finding.events.empty()) return "";
  const std::string& variable = finding.events[0].variable;
  std::string why = fmt::format("No lock is held at every access to {}.", variable);
  if (finding.events.size() == 2) {
    const std::vector<std::string> common = common_locks(finding.events[0], finding.events[1]);
    why = common.empty() ? "No lock keeps them apart."
                         : fmt::format(
                               "Both hold {}, but no lock is held at every access to {}: "
                               "this may be a false alarm.",
                               fmt::join(common, ", "), variable);
  }
  return wrap("  ", why, columns);
}

}  // namespace

std::string drawing_title(const Finding& finding) {
  constexpr std::string_view kLocks = "locks held in brackets";
  if (finding.kind == Kind::kCrash) return "There it ended:";
  if (finding.verdict == Certainty::kConfirmed && finding.edges.empty()) {
    return "In the order of the run:";
  }
  if (is_predicted(finding)) {
    if (is_mover_pattern(finding.pattern)) return fmt::format("What does not fit ({}):", kLocks);
    if (finding.kind == Kind::kRace) {
      std::string_view what = "This access can meet another one";
      if (finding.events.size() == 2) {
        what = common_locks(finding.events[0], finding.events[1]).empty()
                   ? "These accesses can meet"
                   : "These accesses are suspected";
      }
      return fmt::format("{} ({}):", what, kLocks);
    }
  }
  return fmt::format(
      "{} ({}{}):", is_predicted(finding) ? "This order is possible" : "In the order of the run",
      finding.edges.empty() ? "" : "n> must come before >n, ", kLocks);
}

std::string explain(const Finding& finding, std::size_t columns) {
  if (!finding.edges.empty()) return explain_cycle(finding, columns);
  if (is_mover_pattern(finding.pattern)) return explain_movers(finding, columns);
  if (is_of_source(finding)) return "";
  if (finding.kind == Kind::kRace) return explain_race(finding, columns);
  if (finding.kind == Kind::kDeadlock) {
    if (!is_predicted(finding)) return "";
    const bool by_locks = std::ranges::none_of(finding.events, [](const Finding::Event& event) {
      return event.op == "wait" || event.op == "assume" || event.op == "join";
    });
    return wrap("  ",
                by_locks ? "Then nobody can go on: each waits for a lock that another one holds."
                         : "Then nobody can go on.",
                columns);
  }
  return "";
}

std::string short_pattern(const Finding& finding) {
  constexpr std::size_t kEnd = 40;
  const std::string& pattern = finding.pattern;
  if (width(pattern) <= 2 * kEnd) return pattern;
  return fit(pattern, kEnd, Cut::kTail) + fit(pattern, kEnd, Cut::kHead);
}

}  // namespace tomos
