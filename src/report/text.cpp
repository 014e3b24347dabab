#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/interleaving.h"
#include "report/layout.h"

namespace tomos {

namespace {

// The colours, all empty when there are none.
struct Palette {
  explicit Palette(bool color) {
    if (!color) return;
    bad = "\x1b[1;31m";
    good = "\x1b[1;32m";
    unsure = "\x1b[1;33m";
    off = "\x1b[0m";
  }
  std::string_view bad, good, unsure, off;
};

std::string paint(std::string_view color, std::string_view text, const Palette& palette) {
  return fmt::format("{}{}{}", color, text, palette.off);
}

Finding made_printable(Finding finding) {
  const auto clean = [](std::string& text) { text = printable(text); };
  for (auto& transaction : finding.transactions) {
    clean(transaction.label);
    clean(transaction.thread);
    clean(transaction.location.file);
  }
  for (auto& event : finding.events) {
    clean(event.thread);
    clean(event.op);
    clean(event.variable);
    clean(event.location.file);
    for (std::string& lock : event.locks) clean(lock);
  }
  for (std::string* text : {&finding.analysis, &finding.pattern, &finding.message, &finding.fix,
                            &finding.replay, &finding.input}) {
    clean(*text);
  }
  return finding;
}

std::string_view title(Kind kind) {
  switch (kind) {
    case Kind::kAtomicity:
      return "Atomicity violation";
    case Kind::kRace:
      return "Data race";
    case Kind::kDeadlock:
      return "Deadlock";
    case Kind::kCrash:
      return "Crash";
    case Kind::kAnomaly:
      return "Anomaly";
  }
  return "";
}

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

// Why the one event must come before the other.
std::string reason(const Finding::Event& from, const Finding::Event& to) {
  const std::string_view first = participle(from.op);
  const std::string_view second = participle(to.op);
  if (from.thread != to.thread && from.variable == to.variable && !first.empty() &&
      !second.empty()) {
    return fmt::format("{} was {}{}, then {}{}", from.variable, first, at(from.location), second,
                       at(to.location));
  }
  return fmt::format("{}{} {}{}, then {} {}{}",
                     from.thread == to.thread ? from.thread + " did " : "", from.op, from.variable,
                     at(from.location), to.op, to.variable, at(to.location));
}

// The cycle in words, with the numbers that the drawing bears.
std::string explain_cycle(const Finding& finding, std::size_t columns) {
  const std::vector<std::string> names = transaction_names(finding);
  std::string out = "  No serial order gives this run:\n";
  const std::size_t edges = finding.edges.size();
  for (std::size_t i = 0; i < edges; ++i) {
    const auto& from = finding.events.at(finding.edges[i].from);
    const auto& to = finding.events.at(finding.edges[i].to);
    const bool back = edges == 2 && i == 1 && names.size() == 2;
    const std::string must = back
                                 ? "and after it"
                                 : fmt::format("{} must come before {}", names.at(from.transaction),
                                               names.at(to.transaction));
    out += wrap(fmt::format("    {}  ", i + 1), fmt::format("{}: {}", must, reason(from, to)),
                columns);
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

// A cycle of hundreds of transactions helps nobody: its beginning and its end do.
constexpr std::size_t kMostEdges = 16;

Finding abridged(const Finding& finding) {
  if (finding.edges.size() <= kMostEdges) return finding;
  Finding result = finding;
  result.edges.assign(finding.edges.begin(), finding.edges.begin() + kMostEdges / 2);
  result.edges.insert(result.edges.end(), finding.edges.end() - kMostEdges / 2,
                      finding.edges.end());
  std::map<std::size_t, std::size_t> events;
  for (const Finding::Edge& edge : result.edges) events[edge.from] = events[edge.to] = 0;
  result.events.clear();
  result.transactions = {finding.transactions.at(0)};
  std::map<std::size_t, std::size_t> transactions = {{0, 0}};
  for (auto& [old, place] : events) {
    place = result.events.size();
    result.events.push_back(finding.events.at(old));
    std::size_t& transaction = result.events.back().transaction;
    const auto [known, is_new] = transactions.try_emplace(transaction, result.transactions.size());
    if (is_new) result.transactions.push_back(finding.transactions.at(transaction));
    transaction = known->second;
  }
  for (Finding::Edge& edge : result.edges) {
    edge = {.from = events[edge.from], .to = events[edge.to]};
  }
  return result;
}

std::string print_finding(const Finding& original, std::size_t number, const TextStyle& style,
                          const Palette& palette) {
  const Finding finding = made_printable(abridged(original));
  std::string heading = fmt::format("{}, {} by {}", title(finding.kind), to_string(finding.verdict),
                                    finding.analysis);
  if (!finding.input.empty()) heading += " in " + finding.input;
  if (finding.count > 1) heading += fmt::format(", found {} times", finding.count);
  const std::string numbered = wrap(fmt::format("{}. ", number), heading, style.columns);
  std::string out = paint(palette.bad, numbered.substr(0, numbered.size() - 1), palette) + '\n';
  if (!finding.message.empty()) out += wrap("  ", finding.message, style.columns);
  out += '\n';

  const std::string drawing = draw_interleaving(finding, style.columns - 4);
  if (!drawing.empty()) {
    out += wrap("  ",
                finding.edges.empty()
                    ? "In the order of the run (locks held in brackets):"
                    : "In the order of the run (n> must come before >n, locks held in brackets):",
                style.columns);
    for (std::size_t begin = 0; begin < drawing.size();) {
      const std::size_t end = drawing.find('\n', begin) + 1;
      out += "    " + drawing.substr(begin, end - begin);
      begin = end;
    }
    out += '\n';
  }
  if (finding.edges.size() < original.edges.size()) {
    out += wrap("  ",
                fmt::format("Only both ends of the cycle are shown: {} of {} edges. --format json "
                            "has all of them.",
                            finding.edges.size(), original.edges.size()),
                style.columns) +
           '\n';
  }
  if (!finding.edges.empty() && finding.events.at(finding.edges[0].from).transaction != 0) {
    out += wrap("  ",
                "The cycle begins in the first transaction, but led from there through threads "
                "that have ended; that stretch of it was not kept.",
                style.columns) +
           '\n';
  }
  if (!finding.edges.empty()) out += explain_cycle(finding, style.columns) + '\n';
  if (!finding.fix.empty()) out += wrap("  Fix: ", finding.fix, style.columns);
  if (!finding.replay.empty()) out += "  See it again: " + finding.replay + '\n';
  return out + fmt::format("  Id: {}\n", original.id());
}

// Findings about the same transactions are one thing to fix: one is shown in full, the others by
// what differs.
std::string group_key(const Finding& finding) {
  std::string key(to_string(finding.kind));
  for (const auto& transaction : finding.transactions) {
    key += fmt::format("\n{}\n{}", transaction.label, to_string(transaction.location));
  }
  return key;
}

std::string print_variant(const Finding& original, const Finding& first, std::size_t number,
                          std::size_t columns) {
  const Finding finding = made_printable(abridged(original));
  std::string text = finding.pattern.empty() ? "" : finding.pattern + " ";
  for (const auto& event : finding.events) {
    text += (&event == finding.events.data() ? "at " : ", ") + to_string(event.location);
  }
  if (original.analysis != first.analysis) text += ", by " + finding.analysis;
  if (original.input != first.input) text += ", in " + finding.input;
  if (finding.count > 1) text += fmt::format(", found {} times", finding.count);
  return wrap(fmt::format("    {}. ", number), fmt::format("{}; id {}", text, original.id()),
              columns);
}

std::string print_findings(const std::vector<Finding>& findings, const TextStyle& style,
                           const Palette& palette) {
  std::vector<std::vector<const Finding*>> groups;
  std::unordered_map<std::string, std::size_t> places;
  for (const Finding& finding : findings) {
    const auto [place, is_new] = places.emplace(group_key(finding), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(&finding);
  }
  std::string out;
  std::size_t number = 0;
  for (const auto& group : groups) {
    out += print_finding(*group.front(), ++number, style, palette);
    if (group.size() > 1) out += "  The same transactions, also in this way:\n";
    for (std::size_t i = 1; i < group.size(); ++i) {
      out += print_variant(*group[i], *group.front(), ++number, style.columns);
    }
    out += '\n';
  }
  return out;
}

std::string summarize(const Report& report, const Palette& palette) {
  std::string out;
  for (const auto& judgement : report.verdicts) {
    const std::string_view color = judgement.verdict == Verdict::kOk          ? palette.good
                                   : judgement.verdict == Verdict::kViolation ? palette.bad
                                                                              : palette.unsure;
    if (!out.empty()) out += ", ";
    out += fmt::format("{}: {}", judgement.analysis,
                       paint(color, to_string(judgement.verdict), palette));
    const auto found = std::ranges::count(report.findings, judgement.analysis, &Finding::analysis);
    if (found > 0)
      out += fmt::format(" ({})", counted(static_cast<std::uint64_t>(found), "finding"));
  }
  const Stats& stats = report.stats;
  return fmt::format("{}; {}, {}, {}, {:.2f} s\n", out, counted(stats.events, "event"),
                     counted(stats.threads, "thread"), counted(stats.transactions, "transaction"),
                     stats.seconds);
}

}  // namespace

std::string print_text(const Report& report, const TextStyle& style) {
  const Palette palette(style.color);
  std::string out = print_findings(report.findings, style, palette);
  for (const auto& judgement : report.verdicts) {
    if (judgement.left_out == 0) continue;
    out += wrap("Note: ",
                fmt::format("{} of {} at other places {} counted but not shown; a higher "
                            "--max-findings shows more.",
                            counted(judgement.left_out, "further violation"), judgement.analysis,
                            judgement.left_out == 1 ? "was" : "were"),
                style.columns);
  }
  for (const std::string& note : report.notes) {
    out += wrap("Note: ", printable(note), style.columns);
  }
  return out + summarize(report, palette);
}

}  // namespace tomos
