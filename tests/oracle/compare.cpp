#include "compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "check_finding.h"
#include "random.h"

namespace tomos::oracle {

namespace {

// In the numbers that the trace shows as locations.
std::string lines(std::span<const std::uint64_t> violating) {
  std::vector<std::uint64_t> numbers(violating.begin(), violating.end());
  for (std::uint64_t& number : numbers) ++number;
  return numbers.empty() ? "none" : fmt::format("{}", fmt::join(numbers, " "));
}

void feed(Monitor& monitor, std::span<const Event> events, Random& random) {
  const std::uint32_t longest = random.percent(50) ? 4 : 600;
  while (!events.empty()) {
    const std::size_t run = std::min<std::size_t>(random.below(longest + 1), events.size());
    monitor.on_events(events.first(run));
    events = events.subspan(run);
  }
}

std::string describe_all(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) text += describe(finding);
  return text;
}

std::string check_findings(const std::vector<Finding>& findings, const Monitor& monitor,
                           const Order& order, const Truth& truth) {
  if (truth.violating.empty() != findings.empty()) {
    return fmt::format("brute force says {} and there are {} findings\n",
                       truth.violating.empty() ? "ok" : "violation", findings.size());
  }
  std::uint64_t met = monitor.left_out();
  for (const Finding& finding : findings) {
    met += finding.count;
    if (finding.analysis != monitor.name())
      return "a finding under another name: " + finding.analysis;
    const std::string wrong = check_finding(finding, order);
    if (!wrong.empty()) return wrong + ":\n" + describe(finding);
  }
  if (met < truth.violating.size()) {
    return fmt::format("{} violating events, but the findings were met {} times\n",
                       truth.violating.size(), met);
  }
  return {};
}

}  // namespace

std::string compare(const Subject& subject, const Order& order, const Truth& truth,
                    std::uint64_t seed) {
  const Analysis& analysis = subject.analysis;
  Random random(seed, 0);
  std::vector<std::uint64_t> violating;
  const std::unique_ptr<Monitor> monitor =
      analysis.make({.edges = order.edges, .violating_events = &violating});
  std::unique_ptr<Monitor> clone;
  std::vector<std::uint64_t> of_clone;
  std::size_t before_clone = 0;
  std::span<const Event> rest = order.events;
  const bool clones = random.percent(25);
  const bool clone_first = random.percent(50);
  if (clones) {
    const std::uint32_t at = random.below(static_cast<std::uint32_t>(order.events.size()) + 1);
    feed(*monitor, rest.first(at), random);
    rest = rest.subspan(at);
    clone = monitor->clone();
    before_clone = violating.size();
  }
  // The clone reports into the same vector; what it says is moved to a vector of its own.
  const auto run_clone = [&] {
    const std::size_t before = violating.size();
    feed(*clone, rest, random);
    clone->finish();
    of_clone.assign(violating.begin(),
                    violating.begin() + static_cast<std::ptrdiff_t>(before_clone));
    of_clone.insert(of_clone.end(), violating.begin() + static_cast<std::ptrdiff_t>(before),
                    violating.end());
    violating.resize(before);
  };
  if (clones && clone_first) run_clone();
  feed(*monitor, rest, random);
  monitor->finish();
  if (clones && !clone_first) run_clone();

  if (violating != truth.violating) {
    return fmt::format("brute force: violating events {}\n{}: violating events {}\n",
                       lines(truth.violating), analysis.name, lines(violating));
  }
  const std::vector<Finding> findings = monitor->findings(names());
  const std::string wrong =
      subject.whole_cycles ? check_findings(findings, *monitor, order, truth) : "";
  if (!wrong.empty()) return fmt::format("{}: {}", analysis.name, wrong);
  if (!clones) return {};
  if (of_clone != violating) {
    return fmt::format("{}: violating events {}\nits clone: {}\n", analysis.name, lines(violating),
                       lines(of_clone));
  }
  if (!subject.whole_cycles) return {};
  const std::string original = describe_all(findings);
  const std::string copy = describe_all(clone->findings(names()));
  if (original == copy) return {};
  return fmt::format("{}:\n{}its clone:\n{}", analysis.name, original, copy);
}

std::string self_check(const Truth& truth) {
  const bool same =
      truth.violating.empty() ? !truth.first_cycle : truth.first_cycle == truth.violating.front();
  if (same) return {};
  return fmt::format("brute force: first cycle at {}, violating events {}\n",
                     truth.first_cycle ? *truth.first_cycle + 1 : 0, lines(truth.violating));
}

}  // namespace tomos::oracle
