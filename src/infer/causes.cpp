#include "infer/causes.h"

#include <algorithm>
#include <map>
#include <set>

namespace tomos::infer {

std::vector<Cause> find_causes(const std::vector<Problem>& problems) {
  std::set<MethodId> wrong;
  for (const Problem& problem : problems) wrong.insert(problem.method);
  const auto is_first = [&](const Problem& problem) {
    return std::ranges::none_of(problem.through, [&](MethodId callee) {
      return callee != problem.method && wrong.contains(callee);
    });
  };
  // The method that it begins with, by each that gets it wrong.
  std::map<MethodId, MethodId> first;
  for (const Problem& problem : problems) {
    if (is_first(problem)) first.emplace(problem.method, problem.method);
  }
  const auto cause_of = [&](const Problem& problem) {
    const auto at = std::ranges::find_if(problem.through, [&](MethodId callee) {
      return callee != problem.method && first.contains(callee);
    });
    return at == problem.through.end() ? problem.method : first.at(*at);
  };
  for (bool more = true; more;) {
    more = false;
    for (const Problem& problem : problems) {
      if (first.contains(problem.method) || cause_of(problem) == problem.method) continue;
      first.emplace(problem.method, cause_of(problem));
      more = true;
    }
  }
  std::map<MethodId, std::set<MethodId>> consequences;
  for (const auto& [method, cause] : first) {
    if (method != cause) consequences[cause].insert(method);
  }
  std::vector<Cause> causes;
  std::set<MethodId> counted;
  for (const Problem& problem : problems) {
    if (!is_first(problem) && cause_of(problem) != problem.method) continue;
    const bool counts = counted.insert(problem.method).second;
    causes.push_back(
        {.problem = &problem, .consequences = counts ? consequences[problem.method].size() : 0});
  }
  return causes;
}

}  // namespace tomos::infer
