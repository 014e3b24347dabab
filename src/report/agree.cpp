// One finding where several analyses speak of one thing.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "report/report.h"

namespace tomos {

namespace {

std::string transaction_key(const Finding::Transaction& transaction) {
  return fmt::format("{}\n{}\n", transaction.label, to_string(transaction.location));
}

std::string set_key(const std::set<std::string>& parts) {
  return fmt::format("{}\n{}\n", parts.size(), fmt::join(parts, "\n"));
}

std::string place_key(const Finding& finding) {
  std::set<std::string> transactions;
  for (const auto& transaction : finding.transactions) {
    transactions.insert(transaction_key(transaction));
  }
  std::set<std::string> events;
  for (const auto& event : finding.events) {
    events.insert(fmt::format("{}\n{}\n{}", event.op, event.variable, to_string(event.location)));
  }
  return fmt::format("{}\n{}\n{}{}", to_string(finding.kind), finding.input, set_key(transactions),
                     set_key(events));
}

std::string cut_key(const Finding& finding) {
  return fmt::format("{}\n{}\n{}", to_string(finding.kind), finding.input,
                     finding.transactions.empty() ? "" : transaction_key(finding.transactions[0]));
}

// `other` has found the same as `into`.
void join(Finding& into, Finding other) {
  std::vector<std::string> analyses = std::move(into.analyses);
  if (std::ranges::find(analyses, other.analysis) == analyses.end()) {
    analyses.push_back(other.analysis);
  }
  const bool by_movers = is_mover_pattern(other.pattern);
  // What shows how goes before what only says that.
  if (other.verdict > into.verdict || (is_mover_pattern(into.pattern) && !by_movers)) {
    const std::uint64_t count = std::max(into.count, other.count);
    into = std::move(other);
    into.count = count;
  }
  into.analyses = std::move(analyses);
}

}  // namespace

std::vector<Finding> agree(std::vector<Finding> findings) {
  std::vector<Finding> agreed;
  std::unordered_map<std::string, std::size_t> places;
  std::unordered_map<std::string, std::size_t> cut;  // of the first finding about a transaction
  for (const bool movers : {false, true}) {
    for (Finding& finding : findings) {
      if (is_mover_pattern(finding.pattern) != movers) continue;
      finding.analyses = {finding.analysis};
      const std::string cut_by_any = cut_key(finding);
      std::size_t place = agreed.size();
      if (const auto known = cut.find(cut_by_any); movers && known != cut.end()) {
        place = known->second;
      } else {
        place = places.emplace(place_key(finding), place).first->second;
      }
      if (place < agreed.size()) {
        join(agreed[place], std::move(finding));
        continue;
      }
      cut.emplace(cut_by_any, place);
      agreed.push_back(std::move(finding));
    }
  }
  for (Finding& finding : agreed) {
    const auto own = std::ranges::find(finding.analyses, finding.analysis);
    std::rotate(finding.analyses.begin(), own, own + 1);
  }
  return agreed;
}

}  // namespace tomos
