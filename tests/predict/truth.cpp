#include "truth.h"

#include <algorithm>
#include <array>

namespace tomos::predict {

Truth::Truth(std::span<const Event> trace, const ModelOptions& options)
    : interleavings(model_of(trace, options)) {
  if (!interleavings.fits()) return;
  deadlock = interleavings.deadlock(false);
  lock_deadlock = interleavings.deadlock(true);
  race = interleavings.race();
  atomicity = predict::atomicity(interleavings);
  decided = atomicity.decided;
  if (!decided || deadlock) return;
  const auto cut = [&](const Model& part) {
    const Atomicity result = predict::atomicity(Interleavings(part));
    decided = decided && result.decided;
    return !result.atomic;
  };
  const std::vector<Transaction>& transactions = model().transactions;
  for (std::size_t t = 0; t < transactions.size(); ++t) {
    for (std::size_t u = t + 1; u < transactions.size(); ++u) {
      if (transactions[t].thread == transactions[u].thread) continue;
      if (cut(only_transactions(model(), std::array{t, u}))) cut_pairs.emplace_back(t, u);
    }
  }
  for (std::uint32_t variable = 0; variable < model().variables; ++variable) {
    if (cut(only_variable(model(), variable))) cut_variables.push_back(variable);
  }
}

bool Truth::is_cut_pair(std::size_t t, std::size_t u) const {
  return std::ranges::count(cut_pairs, std::pair(std::min(t, u), std::max(t, u))) > 0;
}

}  // namespace tomos::predict
