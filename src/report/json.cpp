#include "report/json.h"

#include <nlohmann/json.hpp>

namespace tomos {

namespace {

using Json = nlohmann::ordered_json;  // keys in the order in which they are read best

Json to_json(const Location& location) {
  return {{"file", location.file}, {"line", location.line}, {"column", location.column}};
}

Json to_json(const Finding::Transaction& transaction) {
  return {{"label", transaction.label},
          {"thread", transaction.thread},
          {"location", to_json(transaction.location)}};
}

Json to_json(const Finding::Event& event) {
  return {{"thread", event.thread},
          {"op", event.op},
          {"variable", event.variable},
          {"locks", event.locks},
          {"location", to_json(event.location)},
          {"stack", event.stack},
          {"transaction", event.transaction}};
}

Json to_json(const Finding::Thread& thread) {
  return {{"name", thread.name},
          {"creator", thread.creator},
          {"location", to_json(thread.location)},
          {"stack", thread.stack}};
}

Json to_json(const Finding& finding) {
  const std::vector<std::string> alone = {finding.analysis};
  Json json = {{"id", finding.id()},
               {"analysis", finding.analysis},
               {"analyses", finding.analyses.empty() ? alone : finding.analyses},
               {"kind", to_string(finding.kind)},
               {"verdict", to_string(finding.verdict)},
               {"pattern", finding.pattern},
               {"message", finding.message},
               {"count", finding.count},
               {"input", finding.input},
               {"transactions", Json::array()},
               {"events", Json::array()},
               {"edges", Json::array()}};
  for (const auto& transaction : finding.transactions) {
    json["transactions"].push_back(to_json(transaction));
  }
  for (const auto& event : finding.events) json["events"].push_back(to_json(event));
  for (const auto& edge : finding.edges) {
    json["edges"].push_back({{"from", edge.from}, {"to", edge.to}});
  }
  json["threads"] = Json::array();
  for (const auto& thread : finding.threads) json["threads"].push_back(to_json(thread));
  json["confidence"] = finding.doubt.empty() ? "full" : "reduced";
  if (!finding.doubt.empty()) json["doubt"] = finding.doubt;
  if (!finding.test.empty()) json["test"] = finding.test;
  if (finding.odds) {
    const Finding::Odds& odds = *finding.odds;
    json["hits"] = odds.hits;
    json["trials"] = odds.trials;
    json["probability"] = {{"estimate", odds.trials == 0 ? 0.0
                                                         : static_cast<double>(odds.hits) /
                                                               static_cast<double>(odds.trials)},
                           {"low", odds.low},
                           {"high", odds.high}};
    json["seed"] = odds.seed;
    json["strategy"] = odds.strategy;
    json["preemptions"] = odds.preemptions;
    json["repeatable"] = odds.repeatable;
  }
  if (!finding.output.empty()) json["output"] = finding.output;
  json["fix"] = finding.fix;
  json["replay"] = finding.replay;
  return json;
}

Json to_json(const Inferred::Guard& guard) {
  Json json = {{"class", guard.owner}, {"field", guard.field},
               {"guard", guard.lock},  {"access", guard.access},
               {"given", guard.given}, {"location", to_json(guard.location)}};
  if (!guard.elsewhere.empty()) json["guarded_" + guard.elsewhere] = guard.lock_elsewhere;
  for (const auto& [name, lock] : guard.ghosts) json["ghosts"][name] = lock;
  return json;
}

Json to_json(const Inferred::Method& method) {
  Json json = {{"name", method.name},
               {"atomicity", method.atomicity},
               {"requires", method.required},
               {"given", method.given},
               {"location", to_json(method.location)}};
  if (!method.of_owner.empty()) json["requires_of_owner"] = method.of_owner;
  if (!method.unsaid.empty()) json["requires_unsaid"] = method.unsaid;
  return json;
}

Json to_json(const Inferred::Count& count) {
  return {{"total", count.total}, {"atomic", count.atomic}};
}

void add(Json& json, const Inferred& inferred) {
  json["guards"] = Json::array();
  for (const auto& guard : inferred.guards) json["guards"].push_back(to_json(guard));
  json["methods"] = Json::array();
  for (const auto& method : inferred.methods) json["methods"].push_back(to_json(method));
  json["table"] = {{"methods", to_json(inferred.method_count)},
                   {"critical_sections", to_json(inferred.section_count)},
                   {"seconds", Json::object()}};
  for (const auto& [phase, seconds] : inferred.phases) json["table"]["seconds"][phase] = seconds;
}

Json to_json(const Stats& stats) {
  return {{"events", stats.events},
          {"threads", stats.threads},
          {"variables", stats.variables},
          {"locks", stats.locks},
          {"transactions", stats.transactions},
          {"seconds", stats.seconds},
          {"peak_rss", stats.peak_rss}};
}

}  // namespace

std::string print_json(const Report& report) {
  Json json = {{"schema", "tomos/1"},        {"tool", report.tool},
               {"input", report.inputs},     {"verdicts", Json::object()},
               {"left_out", Json::object()}, {"stats", to_json(report.stats)}};
  if (report.trials) {
    json["trials"] = {{"run", report.trials->run},
                      {"errors", report.trials->errors},
                      {"bugs", report.trials->bugs},
                      {"hung", report.trials->hung},
                      {"warnings", report.trials->warnings}};
  }
  if (report.explored) {
    json["states"] = report.explored->states;
    json["steps"] = report.explored->steps;
    json["depth"] = report.explored->depth;
    json["state_bytes"] = report.explored->state_bytes;
    json["store_bytes"] = report.explored->bytes;
  }
  if (report.inferred) add(json, *report.inferred);
  json["notes"] = report.notes;
  json["findings"] = Json::array();
  for (const auto& judgement : report.verdicts) {
    json["verdicts"][judgement.analysis] = to_string(judgement.verdict);
    json["left_out"][judgement.analysis] = judgement.left_out;
  }
  for (const auto& finding : report.findings) json["findings"].push_back(to_json(finding));
  // Names come from the program under test and may hold any bytes; what is not UTF-8 becomes
  // U+FFFD.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tomos
