#include "monitor/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "monitor/telling.h"
#include "report/finding.h"

namespace tomos {

namespace {

std::uint64_t with(std::uint64_t key, const SeenAccess& seen, Op op) {
  if (seen.period == kNoPeriod) return key;
  for (const std::uint64_t value :
       {std::uint64_t{seen.location} << 32U | seen.transaction, static_cast<std::uint64_t>(op)}) {
    key = (key ^ value) * 0x9e37'79b9'7f4a'7c15U;
    key ^= key >> 32U;
  }
  return key;
}

std::string locks_of(const Finding::Event& event) {
  if (event.locks.empty()) return "no lock";
  return fmt::format("{}", fmt::join(event.locks, ", "));
}

// "the write of T1 in deposit at account.cpp:12 (no lock)".
std::string access_of(const Finding& finding, const Finding::Event& event) {
  const std::string& label = finding.transactions[event.transaction].label;
  return fmt::format("the {} of {}{} at {} (with {})", event.op, event.thread,
                     label.empty() ? "" : " in " + in_sentence(label), to_string(event.location),
                     locks_of(event));
}

std::string fix_of_race(const Finding& finding) {
  const std::string& variable = finding.events.front().variable;
  if (finding.events.size() == 2) {
    for (const bool swapped : {false, true}) {
      const Finding::Event& with = finding.events[swapped ? 1 : 0];
      const Finding::Event& without = finding.events[swapped ? 0 : 1];
      for (const std::string& lock : with.locks) {
        if (lock.ends_with(" for reading") && without.op == "write") continue;
        if (std::ranges::find(without.locks, lock) != without.locks.end()) continue;
        return fmt::format("hold {} at {}, as at {}, and wherever else {} is accessed", lock,
                           to_string(without.location), to_string(with.location), variable);
      }
    }
    return fmt::format("hold one lock at {} and at {}, and wherever else {} is accessed",
                       to_string(finding.events[0].location), to_string(finding.events[1].location),
                       variable);
  }
  return fmt::format("hold one lock at {} and wherever else {} is accessed",
                     to_string(finding.events[0].location), variable);
}

}  // namespace

std::string_view to_string(RaceDetector detector) {
  switch (detector) {
    case RaceDetector::kEraser:
      return "eraser";
    case RaceDetector::kObject:
      return "object";
    case RaceDetector::kAtomizer:
      return "atomizer";
    case RaceDetector::kMultilockset:
      return "multilockset";
  }
  return "";
}

void Races::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
    if (context_.take(event) != Context::Step::kAccess) continue;
    const SharedId variable = context_.variable();
    if (variable >= states_.size()) states_.resize(variable + std::size_t{1});
    const RaceAccess access = accesses_.access(event, context_);
    bool is_news = false;
    for (const RaceDetector detector : options_.races) {
      const RaceNews news = update(detector, variable, access);
      is_news |= news != RaceNews::kNone;
      if (news != RaceNews::kRace) continue;
      states_[variable].racy |= bit(detector);
      add(detector, witnesses_.race(variable, access, context_.periods(), context_.locksets()));
    }
    if (is_news) witnesses_.remember(variable, access, context_.periods(), context_.locksets());
  }
}

RaceNews Races::update(RaceDetector detector, SharedId variable, const RaceAccess& access) {
  switch (detector) {
    case RaceDetector::kEraser:
      return tomos::update(states_[variable].eraser, access, context_.locksets());
    case RaceDetector::kObject:
      return tomos::update(states_[variable].object, access, context_.locksets());
    case RaceDetector::kAtomizer:
      return tomos::update(states_[variable].atomizer, access, context_.locksets());
    case RaceDetector::kMultilockset:
      if (!multilockset_.is_news(variable, access.period, access.held, access.writes())) {
        return RaceNews::kNone;
      }
      return multilockset_.learn(variable, access, context_.periods(), context_.locksets());
  }
  return RaceNews::kNone;
}

void Races::add(RaceDetector detector, const Race& race) {
  const std::uint64_t key = with(with(0, race.first, race.first_op), race.second, race.second_op);
  const auto [at, is_new] = by_key_.try_emplace(key, found_.size());
  if (is_new && found_.size() >= options_.max_findings) {
    by_key_.erase(at);
    ++left_out_;
    return;
  }
  if (is_new) found_.push_back({.race = race});
  Found& found = found_[at->second];
  // Another detector that says the same of the same variable does not make it two.
  if (is_new || found.last != race.variable) ++found.count;
  found.last = race.variable;
  found.detectors |= bit(detector);
}

std::vector<Finding> Races::findings(const Names& names) const {
  std::vector<Finding> findings;
  findings.reserve(found_.size());
  for (const Found& found : found_) findings.push_back(finding_of(found, names));
  return findings;
}

// "multilockset finds a race", "eraser, multilockset find a race (object: none)".
std::string Races::who(const Found& found) const {
  std::vector<std::string_view> yes;
  std::vector<std::string_view> elsewhere;
  std::vector<std::string_view> no;
  for (const RaceDetector detector : options_.races) {
    const std::uint8_t racy = states_[found.race.variable].racy;
    std::vector<std::string_view>& group = (found.detectors & bit(detector)) != 0 ? yes
                                           : (racy & bit(detector)) != 0          ? elsewhere
                                                                                  : no;
    group.push_back(to_string(detector));
  }
  std::string text =
      fmt::format("{} {} a race", fmt::join(yes, ", "), yes.size() == 1 ? "finds" : "find");
  std::vector<std::string> others;
  if (!elsewhere.empty()) {
    others.push_back(fmt::format("{}: between other accesses", fmt::join(elsewhere, ", ")));
  }
  if (!no.empty()) others.push_back(fmt::format("{}: none", fmt::join(no, ", ")));
  if (!others.empty()) text += fmt::format(" ({})", fmt::join(others, "; "));
  return text;
}

Finding Races::finding_of(const Found& found, const Names& names) const {
  Finding finding;
  finding.analysis = name();
  finding.kind = Kind::kRace;
  finding.verdict = Certainty::kPredicted;
  finding.count = found.count;
  const VariableId variable = context_.variables().variable(found.race.variable);
  const auto tell = [&](const SeenAccess& seen, Op op) {
    if (seen.period == kNoPeriod) return;
    const ThreadId thread = context_.periods().thread(seen.period);
    // Outside of transactions the access is a transaction of its own.
    const TransactionSite transaction = seen.transaction == kOutside
                                            ? TransactionSite{.begin = seen.location}
                                            : accesses_.transaction(seen.transaction);
    finding.transactions.push_back(
        tell_transaction(names, thread, transaction.label, transaction.begin));
    finding.events.push_back(tell_event(names, thread, op, variable, seen.location,
                                        context_.locksets().locks(seen.held),
                                        finding.transactions.size() - 1));
    if (!finding.pattern.empty()) finding.pattern += '-';
    finding.pattern += op == Op::kWrite ? 'W' : 'R';
  };
  tell(found.race.first, found.race.first_op);
  tell(found.race.second, found.race.second_op);
  const std::string last = access_of(finding, finding.events.back());
  finding.message =
      finding.events.size() == 2
          ? fmt::format("{} on {} between {} and {}", who(found), finding.events[0].variable,
                        access_of(finding, finding.events[0]), last)
          : fmt::format("{} on {} with {}", who(found), finding.events[0].variable, last);
  finding.fix = fix_of_race(finding);
  return finding;
}

}  // namespace tomos
