// Where the parts of a report stand in SARIF 2.1.0 (the numbers are sections of the standard):
// findings are results (3.27), each with the place of what is cut, the other transactions as
// related locations (3.27.22), the events as a code flow with a thread flow for every thread (3.36,
// 3.37), and its id as a fingerprint (3.27.17), by which hosts know a finding again. Notes are
// notifications (3.58). Advice has no place of its own, since a fix (3.55) is an edit: it ends the
// message.
#include "report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "report/code_frames.h"

namespace tomos {

namespace {

using Sarif = nlohmann::ordered_json;

constexpr std::uint32_t kSnippetContext = 2;

// A path as a URI: all that is not plainly allowed in one is escaped.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/+@,=";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       kPlain.contains(c);
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

Sarif message_of(const std::string& text) { return {{"text", text}}; }

std::string_view rule_text(Kind kind) {
  switch (kind) {
    case Kind::kAtomicity:
      return "What was meant to be atomic can be cut by another thread";
    case Kind::kRace:
      return "Two threads use the same data at once, and one of them writes";
    case Kind::kDeadlock:
      return "Threads can wait for each other for ever";
    case Kind::kCrash:
      return "The program failed in a run under control";
    case Kind::kAnomaly:
      return "Transactions or critical sections that should be one";
  }
  return "";
}

// What a controlled run or a proof has shown is an error, what may be is a warning.
std::string_view level_of(const Finding& finding) {
  if (!finding.doubt.empty()) return "note";
  return finding.verdict == Certainty::kPredicted ? "warning" : "error";
}

// Of what happened in threads, and where.
class SarifPlaces {
 public:
  // Nothing if it is in no file that is known.
  Sarif physical(const Location& at) {
    if (at.file.empty() || at.line == 0) return nullptr;
    Sarif place = {{"artifactLocation", {{"uri", uri_of(at.file)}}},
                   {"region", {{"startLine", at.line}}}};
    if (at.column != 0) place["region"]["startColumn"] = at.column;
    const std::vector<std::string>& lines = sources_.of(at.file);
    if (at.line > lines.size()) return place;
    place["region"]["snippet"] = message_of(lines[at.line - 1]);
    const std::uint32_t first = at.line > kSnippetContext ? at.line - kSnippetContext : 1;
    const auto last = std::min(at.line + kSnippetContext, static_cast<std::uint32_t>(lines.size()));
    std::string around;
    for (std::uint32_t line = first; line <= last; ++line) around += lines[line - 1] + '\n';
    place["contextRegion"] = {
        {"startLine", first}, {"endLine", last}, {"snippet", message_of(around)}};
    return place;
  }

  Sarif location(const Location& at, const std::string& says, const std::string& name) {
    Sarif made = Sarif::object();
    if (Sarif place = physical(at); !place.is_null()) made["physicalLocation"] = std::move(place);
    if (!name.empty()) {
      made["logicalLocations"] = Sarif::array({{{"fullyQualifiedName", name}}});
    }
    if (!says.empty()) made["message"] = message_of(says);
    return made;
  }

 private:
  SourceLines sources_;
};

Sarif code_flow(const Finding& finding, SarifPlaces& places) {
  Sarif flows = Sarif::array();
  std::vector<std::string> threads;
  for (std::size_t i = 0; i < finding.events.size(); ++i) {
    const Finding::Event& event = finding.events[i];
    auto known = std::ranges::find(threads, event.thread);
    if (known == threads.end()) {
      known = threads.insert(threads.end(), event.thread);
      flows.push_back({{"locations", Sarif::array()}});
      if (!event.thread.empty()) flows.back()["id"] = event.thread;
    }
    flows[static_cast<std::size_t>(known - threads.begin())]["locations"].push_back(
        {{"location", places.location(event.location, says(event), "")},
         {"executionOrder", i + 1}});
  }
  return Sarif::array({{{"threadFlows", std::move(flows)}}});
}

Sarif result_of(const Finding& finding, std::size_t rule, SarifPlaces& places) {
  std::string text =
      finding.message.empty() ? std::string(rule_text(finding.kind)) + '.' : finding.message;
  if (!finding.doubt.empty()) text += fmt::format(" Less sure: {}.", finding.doubt);
  if (!finding.fix.empty()) text += fmt::format(" Fix: {}.", finding.fix);
  Sarif result = {{"ruleId", to_string(finding.kind)},
                  {"ruleIndex", rule},
                  {"level", level_of(finding)},
                  {"message", message_of(text)},
                  {"locations", Sarif::array()}};
  // A host shows a result at one place. Of an anomaly the first event is a part to merge, in the
  // function that has to change; of others the transaction that is cut comes first.
  const auto in_file = [](const auto& one) {
    return !one.location.file.empty() && one.location.line != 0;
  };
  const auto named = std::ranges::find_if(finding.transactions, in_file);
  const auto happened = std::ranges::find_if(finding.events, in_file);
  const bool by_event = finding.kind == Kind::kAnomaly || named == finding.transactions.end();
  if (by_event && happened != finding.events.end()) {
    result["locations"].push_back(places.location(happened->location, "", ""));
  } else if (named != finding.transactions.end()) {
    result["locations"].push_back(places.location(named->location, "", named->label));
  }
  if (!finding.transactions.empty()) result["relatedLocations"] = Sarif::array();
  for (std::size_t i = 0; i < finding.transactions.size(); ++i) {
    const Finding::Transaction& one = finding.transactions[i];
    const std::string says = one.thread.empty()  ? one.label
                             : one.label.empty() ? one.thread
                                                 : fmt::format("{}: {}", one.thread, one.label);
    Sarif related = places.location(one.location, says, one.label);
    related["id"] = i + 1;
    result["relatedLocations"].push_back(std::move(related));
  }
  if (!finding.events.empty()) result["codeFlows"] = code_flow(finding, places);
  result["partialFingerprints"] = {{"tomos/v1", finding.id()}};
  result["occurrenceCount"] = std::max<std::uint64_t>(finding.count, 1);
  result["properties"] = {{"analysis", finding.analysis},
                          {"verdict", to_string(finding.verdict)},
                          {"pattern", finding.pattern},
                          {"fix", finding.fix},
                          {"replay", finding.replay}};
  return result;
}

}  // namespace

std::string print_sarif(const Report& report, std::string_view version) {
  Sarif rules = Sarif::array();
  Sarif results = Sarif::array();
  std::vector<Kind> kinds;
  SarifPlaces places;
  for (const Finding& finding : report.findings) {
    auto rule = std::ranges::find(kinds, finding.kind);
    if (rule == kinds.end()) {
      rule = kinds.insert(kinds.end(), finding.kind);
      rules.push_back({{"id", to_string(finding.kind)},
                       {"shortDescription", message_of(std::string(rule_text(finding.kind)))}});
    }
    results.push_back(result_of(finding, static_cast<std::size_t>(rule - kinds.begin()), places));
  }
  Sarif verdicts = Sarif::object();
  for (const auto& judgement : report.verdicts) {
    verdicts[judgement.analysis] = to_string(judgement.verdict);
  }
  Sarif invocation = {{"executionSuccessful", true},
                      {"toolExecutionNotifications", Sarif::array()}};
  for (const std::string& note : report.notes) {
    invocation["toolExecutionNotifications"].push_back(
        {{"level", "note"}, {"message", message_of(note)}});
  }
  const Sarif run = {
      {"tool",
       {{"driver",
         {{"name", "tomos " + report.tool}, {"version", version}, {"rules", std::move(rules)}}}}},
      {"invocations", Sarif::array({std::move(invocation)})},
      {"columnKind", "unicodeCodePoints"},
      {"results", std::move(results)},
      {"properties", {{"verdicts", std::move(verdicts)}}}};
  const Sarif log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Sarif::array({run})}};
  return log.dump(2, ' ', false, Sarif::error_handler_t::replace) + '\n';
}

}  // namespace tomos
