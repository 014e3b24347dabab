#include "monitor/reduction_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>

#include "monitor/telling.h"

namespace tomos {

namespace {

std::uint64_t key_of(const MisfitReport& report) {
  std::uint64_t key = 0;
  const auto mix = [&](std::uint64_t value) {
    key = (key ^ value) * 0x9e37'79b9'7f4a'7c15U;
    key ^= key >> 32U;
  };
  mix(std::uint64_t{report.label} << 32U | report.begin);
  for (const MisfitEvent* event : {&report.first, &report.second}) {
    mix(std::uint64_t{event->location} << 32U | static_cast<std::uint64_t>(event->op));
  }
  return key;
}

bool same_transaction(const RacePartner& a, const RacePartner& b) {
  return a.is_known && b.is_known && a.period == b.period && a.transaction == b.transaction;
}

// The partner of the second event may be in the transaction of the first one's, or be the same.
bool same_access(const MisfitEvent& a, const MisfitEvent& b) {
  return same_transaction(a.partner, b.partner) && a.partner.location == b.partner.location &&
         a.partner.op == b.partner.op && a.object == b.object;
}

// Where the partners are among the finding's events; kNowhere if not known.
struct Told {
  static constexpr std::size_t kNowhere = SIZE_MAX;
  std::size_t first_partner = kNowhere;
  std::size_t second_partner = kNowhere;
};

// The partners stand between the two: that is where they could cut in.
Told tell_events(const MisfitReport& report, Finding& finding, const Names& names) {
  const auto tell = [&](const MisfitEvent& event) {
    finding.events.push_back(
        tell_event(names, report.thread, event.op, event.object, event.location, event.locks, 0));
  };
  const auto tell_partner = [&](const MisfitEvent& event, bool in_last) {
    const RacePartner& partner = event.partner;
    if (!in_last) {
      finding.transactions.push_back(tell_transaction(
          names, partner.thread, partner.transaction.label, partner.transaction.begin));
    }
    finding.events.push_back(tell_event(names, partner.thread, partner.op, event.object,
                                        partner.location, partner.locks,
                                        finding.transactions.size() - 1));
    return finding.events.size() - 1;
  };
  Told told;
  const RacePartner& first = report.first.partner;
  const RacePartner& second = report.second.partner;
  tell(report.first);
  if (first.is_known) told.first_partner = tell_partner(report.first, false);
  if (same_access(report.first, report.second)) {
    told.second_partner = told.first_partner;
  } else if (second.is_known) {
    told.second_partner = tell_partner(report.second, same_transaction(first, second));
  }
  tell(report.second);
  return told;
}

std::string place(const Names& names, LocationId location) {
  return to_string(parse_location(names.name(NameKind::kLocation, location)));
}

std::string object_name(const MisfitEvent& event, const Names& names) {
  return names.name(object_kind(event.op), event.object);
}

std::string_view verb(Op op) {
  if (op == Op::kRead) return "reads";
  if (op == Op::kWrite) return "writes";
  return op == Op::kAcquire || op == Op::kReadAcquire ? "acquires" : "has released";
}

// "acquires M at 20", "writes x at 12, which races with the write of T2 at 30".
std::string says(const MisfitEvent& event, std::size_t partner_event, const Finding& finding,
                 const Names& names) {
  std::string text =
      fmt::format("{} {}{} at {}", verb(event.op), object_name(event, names),
                  event.op == Op::kReadAcquire ? " for reading" : "", place(names, event.location));
  if (!is_access(event.op)) return text;
  if (partner_event == Told::kNowhere) return text + ", which other threads race for";
  const Finding::Event& partner = finding.events[partner_event];
  const std::string& label = finding.transactions[partner.transaction].label;
  return fmt::format("{}, {} the {} of {}{} at {}", text,
                     event.partner.races ? "which races with" : "and other accesses race with",
                     partner.op, partner.thread, label.empty() ? "" : " in " + in_sentence(label),
                     to_string(partner.location));
}

bool holds(const std::vector<ModeLock>& locks, LockId lock, bool reads = false) {
  return std::ranges::find(locks, mode_lock(lock, reads)) != locks.end();
}

// The lock that the accesses among the two hold anyway.
std::optional<LockId> own_lock(const MisfitReport& report) {
  const MisfitEvent& one = is_access(report.second.op) ? report.second : report.first;
  const MisfitEvent& other = is_access(report.first.op) ? report.first : one;
  for (const ModeLock lock : one.locks) {
    if (!only_reads(lock) && holds(other.locks, lock_of(lock))) return lock_of(lock);
  }
  return std::nullopt;
}

// The lock that the partners hold.
std::optional<LockId> lock_of_partners(const MisfitReport& report) {
  for (const MisfitEvent* event : {&report.first, &report.second}) {
    for (const ModeLock lock : event->partner.locks) {
      if (!only_reads(lock)) return lock_of(lock);
    }
  }
  return std::nullopt;
}

// The places of the partners that do not hold the lock; of all, if there is none.
std::string places_without(std::optional<LockId> lock, const MisfitReport& report,
                           const Names& names) {
  std::string places;
  for (const MisfitEvent* event : {&report.first, &report.second}) {
    const RacePartner& partner = event->partner;
    if (!partner.is_known || (lock && holds(partner.locks, *lock))) continue;
    const std::string at = place(names, partner.location);
    if (places.empty()) {
      places = at;
    } else if (places != at) {
      places += " and " + at;
    }
  }
  return places;
}

// For a lock that is released too early.
std::string fix_locks(const MisfitReport& report, const Names& names) {
  const MisfitEvent& first = report.first;
  const MisfitEvent& second = report.second;
  const std::string lock = object_name(first, names);
  const std::string from = place(names, first.other_end != 0 ? first.other_end : report.begin);
  if (first.object == second.object) {
    const std::string to =
        second.other_end != 0 ? place(names, second.other_end) : "the end of the transaction";
    return fmt::format("hold {} from {} to {}, without releasing it at {}", lock, from, to,
                       place(names, first.location));
  }
  return fmt::format("hold {} from {} to {}, so that {} is acquired before {} is released", lock,
                     from, place(names, second.location), object_name(second, names), lock);
}

std::string fix_of_misfit(const MisfitReport& report, const Names& names) {
  if (!is_access(report.first.op) && !is_access(report.second.op)) return fix_locks(report, names);
  const std::string variable =
      object_name(is_access(report.first.op) ? report.first : report.second, names);
  const std::string span = fmt::format("from {} to {}", place(names, report.first.location),
                                       place(names, report.second.location));
  const auto name = [&](LockId lock) { return names.name(NameKind::kLock, lock); };
  if (const auto own = own_lock(report)) {
    const std::string places = places_without(own, report, names);
    if (!places.empty()) {
      return fmt::format("hold {} also at {}, and wherever else {} is accessed", name(*own), places,
                         variable);
    }
  } else if (const auto theirs = lock_of_partners(report)) {
    return fmt::format("hold {} {}, and wherever else {} is accessed", name(*theirs), span,
                       variable);
  }
  const std::string others = places_without(std::nullopt, report, names);
  return fmt::format(
      "hold one lock {}, and the same lock {}", span,
      others.empty() ? "wherever else " + variable + " is accessed" : "at " + others);
}

Finding finding_of(const MisfitReport& report, const Names& names) {
  Finding finding;
  finding.kind = Kind::kAtomicity;
  finding.verdict = Certainty::kPredicted;
  finding.pattern = report.pattern;
  finding.count = report.count;
  finding.transactions.push_back(
      tell_transaction(names, report.thread, report.label, report.begin));

  const Told told = tell_events(report, finding, names);
  const std::string one = says(report.first, told.first_partner, finding, names);
  const std::string other = says(report.second, told.second_partner, finding, names);
  const std::string who = describe_transaction(finding, 0);
  finding.message = is_access(report.first.op)
                        ? fmt::format("{} may not be atomic: it {}; then it {}", who, one, other)
                        : fmt::format("{} may not be atomic: it {} after it {}", who, other, one);
  finding.fix = fix_of_misfit(report, names);
  return finding;
}

}  // namespace

std::string MoverPattern::text() const {
  std::string text;
  for (const char letter : all_.size() <= kMost ? all_ : essence_) {
    if (!text.empty()) text += ' ';
    text += letter;
  }
  return text;
}

void find_partner(MisfitEvent& access, ThreadId thread, const VariableMovers& variables,
                  const Context& context) {
  const SharedId variable = access.object;
  access.object = context.variables().variable(variable);
  RacePartner& best = access.partner;
  int best_rank = -1;
  const auto offer = [&](const SeenAccess& seen, Op op) {
    if (seen.period == kNoPeriod || context.periods().thread(seen.period) == thread) return;
    const bool conflicts = access.op == Op::kWrite || op == Op::kWrite;
    std::vector<ModeLock> locks = context.locksets().locks(seen.held);
    const bool apart = std::ranges::any_of(locks, [&](ModeLock lock) {
      return holds(access.locks, lock_of(lock)) ||
             (!only_reads(lock) && holds(access.locks, lock_of(lock), true));
    });
    const int rank = (apart ? 0 : 2) + (conflicts ? 1 : 0);
    if (rank <= best_rank) return;
    best_rank = rank;
    // Outside of transactions the access is a transaction of its own.
    const TransactionSite transaction = seen.transaction == kOutside
                                            ? TransactionSite{.begin = seen.location}
                                            : variables.transaction(seen.transaction);
    best = {.is_known = true,
            .races = conflicts && !apart,
            .thread = context.periods().thread(seen.period),
            .period = seen.period,
            .op = op,
            .location = seen.location,
            .transaction = transaction,
            .locks = std::move(locks)};
  };
  for (const SeenAccess& seen : variables.writes(variable)) offer(seen, Op::kWrite);
  for (const SeenAccess& seen : variables.reads(variable)) offer(seen, Op::kRead);
}

MisfitReport* MisfitReports::add(const MisfitReport& report, std::uint64_t count) {
  const auto [at, is_new] = by_key_.try_emplace(key_of(report), reports_.size());
  if (!is_new) {
    reports_[at->second].count += count;
    return nullptr;
  }
  if (reports_.size() >= limit_) {
    by_key_.erase(at);
    left_out_ += count;
    return nullptr;
  }
  reports_.push_back(report);
  reports_.back().count = count;
  return &reports_.back();
}

std::vector<Finding> MisfitReports::findings(std::string_view analysis, const Names& names) const {
  std::vector<const MisfitReport*> sorted;
  sorted.reserve(reports_.size());
  for (const MisfitReport& report : reports_) sorted.push_back(&report);
  std::ranges::sort(sorted, {}, &MisfitReport::number);
  std::vector<Finding> findings;
  for (const MisfitReport* report : sorted) {
    Finding finding = finding_of(*report, names);
    finding.analysis = analysis;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tomos
