#include "monitor/violations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "monitor/telling.h"

namespace tomos {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e37'79b9'7f4a'7c15U;
  return h ^ (h >> 32U);
}

std::uint64_t hash(const CycleEvent& event) {
  std::uint64_t h = mix(mix(1, static_cast<std::uint64_t>(event.op)), event.label);
  h = mix(h, event.begin);
  return mix(h, event.location);
}

// Not the same as of (to, from).
std::uint64_t hash(const CycleEdge& edge) { return mix(mix(1, hash(edge.from)), hash(edge.to)); }

// The same for every rotation of a cycle: which of its events came last does not make it another
// one.
std::uint64_t key(Cycle cycle) {
  std::uint64_t sum = cycle.size();
  std::uint64_t previous = hash(cycle.back());
  for (const CycleEdge& edge : cycle) {
    const std::uint64_t own = hash(edge);
    sum += mix(mix(1, previous), own);
    previous = own;
  }
  return sum;
}

bool is_start(const CycleEvent& event) {
  return event.op == Op::kFork && event.object == event.thread;
}

std::string op_name(const CycleEvent& event) {
  return is_start(event) ? "start" : std::string(op_word(event.op));
}

std::string object_name(const CycleEvent& event, const Names& names) {
  if (event.op == Op::kExit || is_start(event)) return "";
  return names.name(object_kind(event.op), event.object);
}

// Where an event stands in the run. The end of a thread is placed by the join that waits for it,
// just before, and its start by the fork, just after.
using Place = std::tuple<std::uint64_t, int, ThreadId>;

Place place_of(const CycleEvent& event) {
  const int rank = event.op == Op::kExit ? 0 : is_start(event) ? 2 : 1;
  return {event.index, rank, event.thread};
}

// "R-W-R": the operations in the order of the run; with the variable when there are several.
std::string pattern_of(const Finding& finding) {
  bool several = false;
  for (const Finding::Event& event : finding.events) {
    several |= event.variable != finding.events[0].variable;
  }
  constexpr std::size_t kMost = 8;  // then only both ends
  std::string pattern;
  for (std::size_t i = 0; i < finding.events.size(); ++i) {
    if (i == kMost / 2 && finding.events.size() > kMost) {
      pattern += "-...";
      i = finding.events.size() - kMost / 2;
    }
    const Finding::Event& event = finding.events[i];
    if (!pattern.empty()) pattern += '-';
    if (event.op == "read" || event.op == "write") {
      pattern += event.op == "read" ? 'R' : 'W';
    } else {
      pattern += event.op;
    }
    if (several && !event.variable.empty()) pattern += fmt::format("({})", event.variable);
  }
  return pattern;
}

std::string message_of(const Finding& finding) {
  constexpr std::size_t kMost = 5;
  const std::size_t others = finding.transactions.size() - 1;
  const std::size_t named = others > kMost ? kMost - 1 : others;
  std::string message =
      fmt::format("{} is not atomic: it {} cut by ", describe_transaction(finding, 0),
                  finding.verdict == Certainty::kObserved ? "was" : "can be");
  for (std::size_t i = 1; i <= named; ++i) {
    if (i > 1) message += i == others ? " and " : ", ";
    message += describe_transaction(finding, i);
  }
  if (named < others) message += fmt::format(" and {} other transactions", others - named);
  return message;
}

// Which lock would have to be held from where to where for the first transaction to stay whole.
std::string fix_of_cut(const Finding& finding) {
  const Finding::Event* first = nullptr;
  const Finding::Event* last = nullptr;
  std::map<std::string, std::size_t> holders;
  for (const Finding::Event& event : finding.events) {
    for (const std::string& lock : event.locks) ++holders[lock];
    if (event.transaction != 0) continue;
    if (first == nullptr) first = &event;
    last = &event;
  }
  const auto common = std::ranges::find_if(
      holders, [&](const auto& holder) { return holder.second == finding.events.size(); });
  // Of a cycle that is not known all round, the first event may be missing.
  const Location& start = first == last ? finding.transactions[0].location : first->location;
  const std::string span =
      fmt::format("from {} to {}", to_string(start), to_string(last->location));
  if (common != holders.end()) {
    return fmt::format("hold {} {}: every access of the cycle holds it, but not for long enough",
                       common->first, span);
  }
  return fmt::format("hold one lock {}, and the same lock in every other transaction named here",
                     span);
}

}  // namespace

std::size_t Violations::add(Cycle cycle, const Locksets& locksets) {
  if (cycle.empty()) {
    ++left_out_;
    return ~std::size_t{0};
  }
  const auto [at, is_new] = by_key_.try_emplace(key(cycle), kept_.size());
  if (!is_new) {
    ++kept_[at->second].count;
    return at->second;
  }
  if (kept_.size() >= limit_) {
    by_key_.erase(at);
    ++left_out_;
    return ~std::size_t{0};
  }
  Kept kept{.edges = {cycle.begin(), cycle.end()}, .locks = {}};
  for (const CycleEdge& edge : cycle) {
    kept.locks.push_back(locksets.locks(edge.from.locks));
    kept.locks.push_back(locksets.locks(edge.to.locks));
  }
  kept_.push_back(std::move(kept));
  return kept_.size() - 1;
}

std::vector<Finding> Violations::findings(std::string_view analysis, const Names& names) const {
  std::vector<Finding> findings;
  for (const Kept& kept : kept_) {
    Finding finding;
    finding.analysis = analysis;
    finding.verdict = certainty_;
    finding.count = kept.count;

    // Every distinct event once, in the order of the run; transactions in the order of the cycle.
    struct Source {
      const CycleEvent* event;
      const std::vector<LockId>* locks;
      std::size_t transaction;
    };
    std::map<Place, Source> events;
    std::map<std::pair<ThreadId, std::uint64_t>, std::size_t> transactions;
    const auto enter = [&](const CycleEvent& event, const std::vector<LockId>& locks) {
      const auto [at, is_new] =
          transactions.try_emplace({event.thread, event.transaction}, finding.transactions.size());
      if (is_new) {
        finding.transactions.push_back(
            tell_transaction(names, event.thread, event.label, event.begin));
      }
      events.try_emplace(place_of(event),
                         Source{.event = &event, .locks = &locks, .transaction = at->second});
    };
    enter(kept.edges.back().to, kept.locks.back());
    for (std::size_t i = 0; i < kept.edges.size(); ++i) {
      enter(kept.edges[i].from, kept.locks[2 * i]);
      enter(kept.edges[i].to, kept.locks[2 * i + 1]);
    }
    std::map<Place, std::size_t> position;
    for (const auto& [when, source] : events) {
      std::vector<ModeLock> locks;
      for (const LockId lock : *source.locks) {
        locks.push_back(certainty_ == Certainty::kObserved ? mode_lock(lock, false) : lock);
      }
      const CycleEvent& of = *source.event;
      Finding::Event event =
          tell_event(names, of.thread, of.op, of.object, of.location, locks, source.transaction);
      event.op = op_name(of);
      event.variable = object_name(of, names);
      position[when] = finding.events.size();
      finding.events.push_back(std::move(event));
    }
    for (const CycleEdge& edge : kept.edges) {
      finding.edges.push_back(
          {.from = position.at(place_of(edge.from)), .to = position.at(place_of(edge.to))});
    }
    finding.pattern = pattern_of(finding);
    finding.message = message_of(finding);
    finding.fix = fix_of_cut(finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace tomos
