#include "report/report.h"

#include <unordered_map>
#include <utility>

namespace tomos {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kViolation:
      return "violation";
    case Verdict::kUnknown:
      return "unknown";
  }
  return "";
}

std::vector<Finding> merge_equal(std::vector<Finding> findings) {
  std::vector<Finding> merged;
  std::unordered_map<std::string, std::size_t> places;
  for (Finding& finding : findings) {
    const auto [place, is_new] = places.emplace(finding.id(), merged.size());
    if (is_new) {
      merged.push_back(std::move(finding));
    } else {
      merged[place->second].count += finding.count;
    }
  }
  return merged;
}

}  // namespace tomos
