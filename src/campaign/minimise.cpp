#include "campaign/minimise.h"

#include <algorithm>
#include <utility>

namespace tomos::campaign {

using schedule::Choice;

namespace {

class Minimiser {
 public:
  Minimiser(Shown start, const Attempt& attempt, const Budget& budget)
      : best_(std::move(start)), attempt_(attempt), budget_(budget) {}

  Shown run() {
    cut_tail();
    thin_out(true);
    thin_out(false);
    return std::move(best_);
  }

 private:
  bool may_try() const {
    return tried_ < budget_.attempts && std::chrono::steady_clock::now() - start_ < budget_.time;
  }

  static std::pair<std::size_t, std::size_t> weight(const std::vector<Choice>& choices) {
    return {preemptions(choices), choices.size()};
  }

  // True if it still shows, with less than the best needs.
  bool is_better(const std::vector<Choice>& choices) {
    if (!may_try()) return false;
    ++tried_;
    auto shown = attempt_(choices);
    if (!shown || weight(shown->choices) >= weight(best_.choices)) return false;
    best_ = std::move(*shown);
    return true;
  }

  void cut_tail() {
    const std::vector<Choice> all = best_.choices;
    std::size_t low = 0;  // does not show, as far as is known
    for (std::size_t high = all.size(); low < high && may_try();) {
      const std::size_t middle = low + (high - low) / 2;
      if (is_better({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(middle)})) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
  }

  enum class Part : std::uint8_t { kOnly, kWithout };

  // Of the choices of one kind only, or all but, those from `first` on, `count` of them.
  std::vector<Choice> part(bool preempting, Part which, std::size_t first,
                           std::size_t count) const {
    std::vector<Choice> rest;
    std::size_t number = 0;
    for (const Choice& choice : best_.choices) {
      const bool counts = is_preemption(choice) == preempting;
      const std::size_t place = number;
      if (counts) ++number;
      const bool inside = place >= first && place < first + count;
      if (!counts || inside == (which == Part::kOnly)) rest.push_back(choice);
    }
    return rest;
  }

  std::size_t count(bool preempting) const {
    const std::size_t preempt = preemptions(best_.choices);
    return preempting ? preempt : best_.choices.size() - preempt;
  }

  void thin_out(bool preempting) {
    for (std::size_t piece = count(preempting); piece > 0 && may_try(); piece /= 2) {
      for (std::size_t first = 0; first < count(preempting) && may_try();) {
        if (!is_better(part(preempting, Part::kWithout, first, piece))) first += piece;
      }
      // One piece alone can do it where no step on the way there does.
      for (std::size_t first = 0; piece < count(preempting) && may_try(); first += piece) {
        if (first >= count(preempting)) break;
        if (is_better(part(preempting, Part::kOnly, first, piece))) break;
      }
    }
  }

  Shown best_;
  const Attempt& attempt_;
  Budget budget_;
  unsigned tried_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

bool is_preemption(const Choice& choice) { return choice.preempts != 0; }

std::size_t preemptions(const std::vector<Choice>& choices) {
  return static_cast<std::size_t>(std::ranges::count_if(choices, is_preemption));
}

Shown minimise(Shown start, const Attempt& attempt, const Budget& budget) {
  return Minimiser(std::move(start), attempt, budget).run();
}

}  // namespace tomos::campaign
