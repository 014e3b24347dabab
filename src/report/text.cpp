#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/code_frames.h"
#include "report/explain.h"
#include "report/inferred.h"
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
    for (std::string& frame : event.stack) clean(frame);
  }
  for (auto& thread : finding.threads) {
    clean(thread.name);
    clean(thread.creator);
    clean(thread.location.file);
    for (std::string& frame : thread.stack) clean(frame);
  }
  for (std::string& analysis : finding.analyses) clean(analysis);
  for (std::string* text : {&finding.analysis, &finding.pattern, &finding.message, &finding.fix,
                            &finding.replay, &finding.input, &finding.test, &finding.doubt}) {
    clean(*text);
  }
  if (finding.odds) {
    clean(finding.odds->strategy);
    clean(finding.odds->preemptions);
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

// Threads that block each other first all get what they hold and then want what others hold.
Finding in_order(Finding finding) {
  if (finding.kind != Kind::kDeadlock) return finding;
  std::set<std::string> holding;
  std::vector<Finding::Event> held;
  std::vector<Finding::Event> wanted;
  for (Finding::Event& event : finding.events) {
    (holding.insert(event.thread).second ? held : wanted).push_back(std::move(event));
  }
  finding.events = std::move(held);
  finding.events.insert(finding.events.end(), wanted.begin(), wanted.end());
  return finding;
}

std::string heading_of(const Finding& finding) {
  std::string heading = fmt::format(
      "{}, {}{}{} by {}", title(finding.kind), to_string(finding.verdict),
      finding.doubt.empty() ? "" : " (less sure)", finding.analyses.size() > 1 ? "; found" : "",
      finding.analyses.empty() ? finding.analysis
                               : fmt::format("{}", fmt::join(finding.analyses, ", ")));
  if (!finding.input.empty()) heading += " in " + finding.input;
  if (!finding.test.empty()) heading += ", in test " + finding.test;
  if (finding.count > 1) heading += fmt::format(", found {} times", finding.count);
  return heading;
}

// A stack that is not more than the place that the drawing shows says nothing.
std::string print_stacks(const Finding& finding, std::size_t columns) {
  std::string out;
  std::set<std::string> shown;
  const auto add = [&](const std::string& head, const std::vector<std::string>& stack) {
    std::string text = wrap("    ", head, columns);
    for (const std::string& frame : stack) text += wrap("      ", frame, columns);
    if (shown.insert(text).second) out += text;
  };
  for (const auto& event : finding.events) {
    if (event.stack.size() < 2) continue;
    add(fmt::format("{}, {}{}{}:", event.thread, event.op, event.variable.empty() ? "" : " ",
                    event.variable),
        event.stack);
  }
  if (!out.empty()) out = "  Called from:\n" + out + '\n';
  std::string threads;
  std::swap(out, threads);
  for (const auto& thread : finding.threads) {
    const bool whole = thread.stack.size() > 1;
    add(fmt::format("{} was started by {}{}{}", thread.name, thread.creator,
                    thread.location.line == 0 ? "" : " at " + to_string(thread.location),
                    whole ? ":" : ""),
        whole ? thread.stack : std::vector<std::string>());
  }
  if (!out.empty()) out = "  Threads:\n" + out + '\n';
  return threads + out;
}

std::string print_odds(const Finding::Odds& odds, std::size_t columns) {
  const auto percent = [](double part) { return fmt::format("{:.1f}%", 100 * part); };
  std::string text = fmt::format("{} of {}", odds.hits, counted(odds.trials, "trial"));
  if (odds.trials > 1) {
    text += fmt::format(": probability {} ({} to {} with 95% confidence)",
                        percent(static_cast<double>(odds.hits) / static_cast<double>(odds.trials)),
                        percent(odds.low), percent(odds.high));
  }
  text += fmt::format(", first with seed {} ({})", odds.seed, odds.strategy);
  std::string out = wrap("  Hit by ", text, columns);
  if (!odds.repeatable) {
    out += wrap("  ",
                "Its schedule could not be controlled all the time: the same seed may give another "
                "one.",
                columns);
  }
  if (!odds.preemptions.empty()) out += wrap("  Preemptions: ", odds.preemptions, columns);
  return out;
}

std::string print_output(const std::string& output, std::size_t columns) {
  std::string out = "  The last that the program printed:\n";
  for (std::size_t begin = 0; begin < output.size();) {
    const std::size_t end = std::min(output.find('\n', begin), output.size());
    out += "    " +
           fit(printable(std::string_view(output).substr(begin, end - begin)), columns - 4,
               Cut::kTail) +
           '\n';
    begin = end + 1;
  }
  return out + '\n';
}

// What stands below its heading and its message.
std::string print_finding(const Finding& original, const Finding& finding, const TextStyle& style,
                          SourceLines& sources) {
  std::string out;
  // Source that nobody ran has no order in which its parts ran.
  const std::string drawing =
      is_of_source(finding) ? "" : draw_interleaving(finding, style.columns - 4);
  if (!drawing.empty()) {
    out += wrap("  ", drawing_title(finding), style.columns);
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
  if (const std::string why = explain(finding, style.columns); !why.empty()) out += why + '\n';
  // A trace may speak of any file, or of one that has changed since; a recording with stacks is of
  // a program that is there.
  const bool recorded =
      std::ranges::any_of(finding.events, [](const auto& event) { return !event.stack.empty(); });
  const std::string code =
      recorded || is_of_source(finding) ? code_frames(finding, sources, style.columns) : "";
  if (!code.empty()) {
    out += "  In the source:\n" + code + '\n';
  }
  out += print_stacks(finding, style.columns);
  if (!finding.output.empty()) out += print_output(finding.output, style.columns);
  if (!finding.doubt.empty()) out += wrap("  Less sure: ", finding.doubt, style.columns);
  if (finding.odds) out += print_odds(*finding.odds, style.columns);
  if (!finding.fix.empty()) out += wrap("  Fix: ", finding.fix, style.columns);
  if (!finding.replay.empty()) out += "  See it again: " + finding.replay + '\n';
  return out + fmt::format("  Id: {}\n", original.id());
}

// Findings about the same transactions are one thing to fix: one is shown in full, the others by
// what differs.
std::string group_key(const Finding& finding, std::size_t transactions) {
  std::string key(to_string(finding.kind));
  for (std::size_t i = 0; i < transactions; ++i) {
    const auto& transaction = finding.transactions[i];
    key += fmt::format("\n{}\n{}", transaction.label, to_string(transaction.location));
  }
  return key;
}

// What was seen before what could be; of that, what is beyond doubt before the rest, and what shows
// how before what only says that.
std::vector<const Finding*> most_certain_first(const std::vector<Finding>& findings) {
  std::vector<const Finding*> sorted;
  sorted.reserve(findings.size());
  for (const Finding& finding : findings) sorted.push_back(&finding);
  std::ranges::sort(sorted, [](const Finding* a, const Finding* b) {
    if (a->verdict != b->verdict) return a->verdict > b->verdict;
    if (a->doubt.empty() != b->doubt.empty()) return a->doubt.empty();
    if (a->odds && b->odds) return a < b;  // all of them happened
    if (a->edges.empty() != b->edges.empty()) return b->edges.empty();
    return a < b;  // of one vector: in its order
  });
  return sorted;
}

std::vector<std::vector<const Finding*>> grouped(const std::vector<Finding>& findings) {
  std::vector<std::vector<const Finding*>> groups;
  std::unordered_map<std::string, std::size_t> places;  // by all transactions
  std::unordered_map<std::string, std::size_t> cut;     // by the one that is cut
  for (const Finding* finding : most_certain_first(findings)) {
    const std::size_t transactions = finding->transactions.size();
    const std::string first = group_key(*finding, std::min<std::size_t>(transactions, 1));
    // Reduction does not ask by whom.
    const auto known = is_mover_pattern(finding->pattern) ? cut.find(first) : cut.end();
    if (known != cut.end()) {
      groups[known->second].push_back(finding);
      continue;
    }
    const auto [place, is_new] = places.emplace(group_key(*finding, transactions), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(finding);
    cut.try_emplace(first, place->second);
  }
  return groups;
}

// The variable, if all events are about the same one.
std::string only_variable(const Finding& finding) {
  if (is_mover_pattern(finding.pattern)) return "";
  for (const auto& event : finding.events) {
    if (event.variable != finding.events[0].variable) return "";
  }
  return finding.events.empty() ? "" : finding.events[0].variable;
}

// What tells this finding from the first of its group: "R-W-R at 12, 22, 14".
std::string difference(const Finding& finding, const Finding& first) {
  const auto places = [](const Finding& of) {
    std::string text;
    for (const auto& event : of.events) {
      text += (&event == of.events.data() ? "at " : ", ") + to_string(event.location);
    }
    return text;
  };
  const std::string variable = only_variable(finding);
  const std::string usual = only_variable(first);
  if (finding.pattern == first.pattern && variable == usual && places(finding) == places(first)) {
    return "the same";
  }
  std::string text = finding.pattern.empty() ? "" : short_pattern(finding) + ' ';
  if (!variable.empty() && !usual.empty() && variable != usual) text += "on " + variable + ' ';
  return text + places(finding);
}

std::string print_variant(const Finding& original, const Finding& first, std::size_t number,
                          std::size_t columns) {
  const Finding finding = made_printable(abridged(original));
  std::string text = difference(finding, made_printable(abridged(first)));
  if (original.analysis != first.analysis) {
    text += fmt::format(
        ", {}by {}",
        original.verdict == first.verdict ? "" : std::string(to_string(original.verdict)) + ' ',
        finding.analysis);
  }
  if (original.input != first.input) text += ", in " + finding.input;
  if (finding.count > 1) text += fmt::format(", found {} times", finding.count);
  if (finding.odds) {
    text += fmt::format(", hit by {} of {}, first with seed {}", finding.odds->hits,
                        counted(finding.odds->trials, "trial"), finding.odds->seed);
  }
  return wrap(fmt::format("    {}. ", number), fmt::format("{}; id {}", text, original.id()),
              columns);
}

// Whoever mends the first few will have mended most of the others.
constexpr std::size_t kMaxVariants = 8;

std::vector<TextParts::One> print_findings(const std::vector<Finding>& findings,
                                           const TextStyle& style) {
  std::vector<TextParts::One> all;
  std::size_t number = 0;
  SourceLines sources;
  for (const auto& group : grouped(findings)) {
    const Finding& first = *group.front();
    const Finding shown = made_printable(in_order(abridged(first)));
    std::string body = print_finding(first, shown, style, sources);
    const std::size_t own = ++number;
    if (group.size() > 1) body += "  The same transactions, also in this way:\n";
    for (std::size_t i = 1; i < group.size() && i <= kMaxVariants; ++i) {
      body += print_variant(*group[i], first, ++number, style.columns);
    }
    if (group.size() > kMaxVariants + 1) {
      const std::size_t rest = group.size() - kMaxVariants - 1;
      number += rest;
      body += fmt::format("    and {} more; --format json has them all\n", rest);
    }
    all.push_back({.number = own,
                   .id = first.id(),
                   .heading = heading_of(shown),
                   .message = shown.message,
                   .body = std::move(body)});
  }
  return all;
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
    const auto found = std::ranges::count_if(report.findings, [&](const Finding& finding) {
      return finding.analysis == judgement.analysis ||
             std::ranges::find(finding.analyses, judgement.analysis) != finding.analyses.end();
    });
    if (found > 0)
      out += fmt::format(" ({})", counted(static_cast<std::uint64_t>(found), "finding"));
  }
  const Stats& stats = report.stats;
  if (report.trials) {
    const Trials& trials = *report.trials;
    return fmt::format("{}; {}: {} with errors, {} with bugs, {} hung; {:.2f} s, {:.0f} trials/s\n",
                       out, counted(trials.run, "trial"), trials.errors, trials.bugs, trials.hung,
                       stats.seconds,
                       static_cast<double>(trials.run) / std::max(stats.seconds, 1e-3));
  }
  if (report.explored) {
    return fmt::format("{}; {}, depth {}, {:.2f} s\n", out,
                       counted(report.explored->states, "state"), report.explored->depth,
                       stats.seconds);
  }
  if (report.inferred) {
    return fmt::format("{}; {}, {:.2f} s\n", out,
                       counted(report.inferred->methods.size(), "method"), stats.seconds);
  }
  return fmt::format("{}; {}, {}, {}, {:.2f} s\n", out, counted(stats.events, "event"),
                     counted(stats.threads, "thread"), counted(stats.transactions, "transaction"),
                     stats.seconds);
}

}  // namespace

TextParts text_parts(const Report& report, const TextStyle& style) {
  TextParts parts;
  if (report.inferred) parts.before = print_guards_and_methods(*report.inferred);
  parts.findings = print_findings(report.findings, style);
  for (const auto& judgement : report.verdicts) {
    if (judgement.left_out == 0) continue;
    parts.after += wrap("Note: ",
                        fmt::format("{} of {} at other places {} counted but not shown; a higher "
                                    "--max-findings shows more.",
                                    counted(judgement.left_out, "further violation"),
                                    judgement.analysis, judgement.left_out == 1 ? "was" : "were"),
                        style.columns);
  }
  for (const std::string& note : report.notes) {
    parts.after += wrap("Note: ", printable(note), style.columns);
  }
  if (report.inferred) parts.after += print_table(*report.inferred);
  parts.after += summarize(report, Palette(style.color));
  return parts;
}

std::string print_text(const Report& report, const TextStyle& style) {
  const Palette palette(style.color);
  const TextParts parts = text_parts(report, style);
  std::string out = parts.before;
  for (const TextParts::One& one : parts.findings) {
    const std::string numbered = wrap(fmt::format("{}. ", one.number), one.heading, style.columns);
    out += paint(palette.bad, numbered.substr(0, numbered.size() - 1), palette) + '\n';
    if (!one.message.empty()) out += wrap("  ", one.message, style.columns);
    out += '\n' + one.body + '\n';
  }
  return out + parts.after;
}

}  // namespace tomos
