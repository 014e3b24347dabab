#include "monitor/shape_reduction.h"

#include <algorithm>
#include <iterator>

namespace tomos {

bool leave_only(const std::function<bool(SharedId)>& is_wanted, Shape& shape) {
  std::vector<Step>& steps = shape.steps;
  std::erase_if(steps,
                [&](const Step& step) { return step.is_access() && !is_wanted(step.object); });
  const auto holds_nothing = [](const Step& step) { return step.held == 0; };
  const auto last = std::ranges::find_if(steps.rbegin(), steps.rend(), &Step::is_access).base();
  if (last == steps.begin()) return false;
  // An access without locks is itself such a moment.
  if (!holds_nothing(*std::prev(last))) {
    const auto free = std::find_if(last, steps.end(), holds_nothing);
    steps.erase(free == steps.end() ? free : std::next(free), steps.end());
  } else {
    steps.erase(last, steps.end());
  }
  if (shape.outer != 0) return true;
  const auto first = std::ranges::find_if(steps, &Step::is_access);
  const auto free = std::find_if(std::make_reverse_iterator(first), steps.rend(), holds_nothing);
  steps.erase(steps.begin(), free.base());
  return true;
}

}  // namespace tomos
