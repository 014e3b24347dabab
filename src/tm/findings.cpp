#include "tm/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <string>

namespace tomos::tm {

namespace {

tomos::Location in_report(const Program& program, const Position& position) {
  if (position.line == 0 || position.file >= program.files.size()) return {};
  return {.file = program.files[position.file], .line = position.line, .column = position.column};
}

std::string lines_of(const Program& program, const std::vector<Part>& parts) {
  std::set<std::uint32_t> lines;
  for (const Part& part : parts) lines.insert(part.position.line);
  return fmt::format("{}:{}", program.files[parts.front().position.file], fmt::join(lines, ", "));
}

class Telling {
 public:
  Telling(const Program& program, const Traces& traces) : program_(program), traces_(traces) {}

  // What the transaction does to the location; where it does both, `prefer_write` says which.
  void add(Finding& finding, const std::string& thread, TransactionId id, LocationId at,
           bool prefer_write) const {
    const Transaction& transaction = traces_.transactions[id];
    const auto read = transaction.reads.find(at);
    const auto write = transaction.writes.find(at);
    const bool writes =
        write != transaction.writes.end() && (prefer_write || read == transaction.reads.end());
    if (!writes && read == transaction.reads.end()) return;
    add(finding, thread, writes ? "write" : "read", traces_.name_of(program_, at),
        writes ? write->second : read->second, index(finding, thread, id));
  }

  static std::size_t index(const Finding& finding, const std::string& thread,
                           TransactionId /*id*/) {
    for (std::size_t i = 0; i < finding.transactions.size(); ++i) {
      if (finding.transactions[i].thread == thread) return i;
    }
    return 0;
  }

  void add(Finding& finding, const std::string& thread, std::string op, std::string variable,
           const Position& position, std::size_t transaction) const {
    finding.events.push_back({.thread = thread,
                              .op = std::move(op),
                              .variable = std::move(variable),
                              .locks = {},
                              .location = in_report(program_, position),
                              .stack = {},
                              .transaction = transaction});
  }

 private:
  const Program& program_;
  const Traces& traces_;
};

}  // namespace

Finding finding_of(const Program& program, const Traces& traces, const Region& region,
                   const std::string& section) {
  const Anomaly& main = region.anomalies.front();
  const Telling telling(program, traces);
  Finding finding = {.analysis = "tm",
                     .kind = tomos::Kind::kAnomaly,
                     .verdict = Certainty::kPredicted,
                     .doubt = main.doubt};
  std::set<std::string> patterns;
  std::set<std::string> cuts;
  for (const Anomaly& anomaly : region.anomalies) {
    if (anomaly.doubt.empty() || !main.doubt.empty()) {
      patterns.insert(anomaly.pattern);
      cuts.insert(traces.transactions[anomaly.cut].function);
    }
  }
  finding.pattern = fmt::format("{}", fmt::join(patterns, ", "));

  std::vector<std::string> names;
  names.reserve(region.parts.size());
  for (const Part& part : region.parts) {
    names.push_back(traces.transactions[part.transaction].function);
  }
  const std::string one = traces.name_of(program, main.one);
  const std::string other = traces.name_of(program, main.other);
  const std::string what = one == other ? one : fmt::format("{} and {}", one, other);
  std::string why;
  if (main.pattern == "WrW") {
    why = fmt::format("it can see {} written and {} not yet", one, other);
  } else if (main.pattern == "RwW") {
    why = fmt::format("what is written then rests on a value of {} that is no longer there", one);
  } else if (one == other) {
    why = fmt::format("what follows rests on a value of {} that is no longer there", one);
  } else {
    why = fmt::format("what was read of {} and of {} does not belong together", one, other);
  }
  const std::string how =
      region.parts.size() == 1
          ? fmt::format("{} runs a {} again and again ({})", region.function, section,
                        finding.pattern)
          : fmt::format("{} is split into {} {}s ({}; {})", region.function, region.parts.size(),
                        section, fmt::join(names, ", "), finding.pattern);
  finding.message =
      fmt::format("{}. {} can come between them: {}.", how, fmt::join(cuts, " or "), why);

  for (const auto& [thread, id] :
       {std::pair("1st half", main.first), {"between", main.cut}, {"2nd half", main.second}}) {
    const Transaction& transaction = traces.transactions[id];
    finding.transactions.push_back({.label = transaction.function,
                                    .thread = thread,
                                    .location = in_report(program, transaction.position)});
  }
  for (const Part& part : region.parts) {
    telling.add(finding, "", fmt::format("{} here", section),
                traces.transactions[part.transaction].function, part.position, 0);
  }
  const bool writes_first = main.pattern == "WrW";
  telling.add(finding, "1st half", main.first, main.one, writes_first);
  telling.add(finding, "between", main.cut, main.one, !writes_first);
  if (main.other != main.one) telling.add(finding, "between", main.cut, main.other, !writes_first);
  telling.add(finding, "2nd half", main.second, main.other, main.pattern != "RwR");
  finding.fix = fmt::format("Make {} one {} in {} ({}), so that {} cannot change in between",
                            region.parts.size() == 2 ? "both" : "them all", section,
                            region.function, lines_of(program, region.parts), what);
  return finding;
}

Finding finding_of(const Program& program, const Traces& traces, const Race& race) {
  const Telling telling(program, traces);
  const std::string name = traces.name_of(program, race.one.location);
  const auto does = [](const Access& of) { return of.writes ? "writes" : "reads"; };
  Finding finding = {
      .analysis = "tm", .kind = tomos::Kind::kRace, .verdict = Certainty::kPredicted};
  finding.pattern = "race";
  const Location::Kind kind = traces.locations[traces.locations.root(race.one.location)].kind;
  if (kind == Location::Kind::kNew || kind == Location::Kind::kUnknown) {
    finding.doubt = "objects that are made at one place count as one, and these may be two";
  }
  finding.message =
      fmt::format("{} {} {} outside of any transaction, and {} {} it at the same time{}.",
                  race.one.function, does(race.one), name, race.other.function, does(race.other),
                  race.other.in_transaction ? ", in a transaction" : ", too");
  for (const Access* access : {&race.one, &race.other}) {
    finding.transactions.push_back({.label = access->function,
                                    .thread = "",
                                    .location = in_report(program, access->position)});
    telling.add(finding, "",
                access->in_transaction ? fmt::format("{} in a transaction", does(*access))
                                       : fmt::format("{} outside", does(*access)),
                name, access->position, finding.transactions.size() - 1);
  }
  finding.fix = fmt::format("Put the access in {} into a transaction", race.one.function);
  return finding;
}

}  // namespace tomos::tm
