#include "campaign/look_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/layout.h"

namespace tomos::campaign {

namespace {

// Schedules that show one finding, replayed.
class Replays {
 public:
  Replays(Runner& runner, Found& found, Order order)
      : runner_(runner), found_(found), order_(std::move(order)) {
    order_.settings.strategy = schedule::Strategy::kReplay;
    order_.keep_choices = true;
  }

  // The first replay: what it shows of the item is what all others must show.
  std::optional<Shown> begin(Found::Item& item, std::vector<schedule::Choice> choices) {
    auto trial = run(std::move(choices));
    if (!trial) return std::nullopt;
    std::vector<Found::Shows> shown = found_.describe(*trial);
    const auto same = std::ranges::find(shown, item.id, &Found::Shows::id);
    if (same == shown.end()) return std::nullopt;
    item.finding = std::move(same->finding);
    id_ = item.finding.id();
    return Shown{.choices = std::move(trial->choices), .hash = trial->hash};
  }

  std::optional<Shown> attempt(std::vector<schedule::Choice> choices) {
    auto trial = run(std::move(choices));
    if (!trial) return std::nullopt;
    const bool shows = std::ranges::any_of(
        found_.describe(*trial), [&](const Found::Shows& one) { return one.finding.id() == id_; });
    if (!shows) return std::nullopt;
    return Shown{.choices = std::move(trial->choices), .hash = trial->hash};
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Trial> run(std::vector<schedule::Choice> choices) {
    if (error_) return std::nullopt;
    order_.choices = std::move(choices);
    auto trial = runner_.run(order_);
    if (!trial) error_ = trial.error();
    const bool useful = trial && trial->is_repeatable() && !trial->is(schedule::kChoicesLost);
    if (!useful) return std::nullopt;
    return std::move(*trial);
  }

  Runner& runner_;
  Found& found_;
  Order order_;
  std::string id_;
  std::optional<Error> error_;
};

}  // namespace

Result<SecondLook> look_again(Runner& runner, Found& found, Found::Item& item, const Plan& plan,
                              const Budget& budget) {
  SecondLook look;
  Order first = plan.order(item.first_seed);
  first.keep_choices = true;
  const auto trial = runner.run(first);
  if (!trial) return std::unexpected(trial.error());
  if (trial->end == End::kStopped) return look;
  look.again = false;
  for (Found::Shows& shown : found.describe(*trial)) {
    if (shown.id != item.id) continue;
    item.finding = std::move(shown.finding);
    look.again = trial->is_repeatable();
  }
  // A trial that must be waited for until the time is out is not made for being tried 200 times.
  if (!look.again || trial->is(schedule::kChoicesLost) || trial->end == End::kTimedOut) return look;

  Replays replays(runner, found, std::move(first));
  look.schedule = replays.begin(item, trial->choices);
  if (look.schedule) {
    look.schedule = minimise(
        std::move(*look.schedule),
        [&](const std::vector<schedule::Choice>& choices) { return replays.attempt(choices); },
        budget);
  }
  if (replays.error()) return std::unexpected(*replays.error());
  return look;
}

std::string describe_preemptions(const std::vector<schedule::Choice>& choices) {
  constexpr std::size_t kMost = 8;
  const std::size_t count = preemptions(choices);
  if (count == 0) return "0: it is enough who goes on when a thread cannot";
  std::string text;
  std::size_t told = 0;
  for (const schedule::Choice& choice : choices) {
    if (!is_preemption(choice)) continue;
    if (told++ == kMost) {
      text += "; ..";
      break;
    }
    const bool at_start = choice.thread == ~std::uint32_t{0};  // before any choice
    text += fmt::format("{} {}, for {}", text.empty() ? "" : ";",
                        at_start ? "main at first"
                                 : fmt::format("{} after {}", thread_name(choice.thread),
                                               counted(choice.step, "step")),
                        thread_name(choice.next));
  }
  return fmt::format("{}:{}", count, text);
}

}  // namespace tomos::campaign
