#include "campaign/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "campaign/describe_parts.h"
#include "report/layout.h"

namespace tomos::campaign {

using schedule::Violation;

namespace {

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

std::string signal_meaning(int signal) {
  const char* text = ::sigdescr_np(signal);
  return text == nullptr ? "unknown" : text;
}

// The stack at a signal begins with the instruction itself, not with a return address.
std::vector<PlaceId> signal_stack(const Trial& trial, const TrialModules& modules) {
  std::vector<PlaceId> stack = modules.stack(trial.signal_place);
  if (!stack.empty() && modules.place(trial.signal_place.frames[0]) != 0) ++stack.front();
  return stack;
}

void append(std::string& key, std::span<const PlaceId> stack) {
  for (const PlaceId place : stack) key += fmt::format(" {:x}", place);
  key += ';';
}

char letter(schedule::Kind kind) { return op_of(kind) == "write" ? 'W' : 'R'; }

std::string describe_transaction(const Finding::Transaction& transaction) {
  std::string text = transaction.label.empty() ? "the block" : transaction.label;
  text += fmt::format(" ({}", transaction.thread);
  if (transaction.location != Location()) text += ", " + to_string(transaction.location);
  return text + ')';
}

// "after transfer (T1, bank.cpp:12) was cut by T2": what the trial had done before.
std::string what_went_before(const Trial& trial, const TrialModules& modules, Names& names) {
  if (trial.violations.empty()) return "";
  const Finding last = describe(trial.violations.back(), trial, modules, names);
  const std::size_t count = trial.violations.size();
  return fmt::format(", after {}{} was cut by {}",
                     count == 1 ? "" : fmt::format("{} violations; in the last, ", count),
                     describe_transaction(last.transactions[0]), last.transactions[1].thread);
}

Finding describe_signal(const Trial& trial, const TrialModules& modules, Names& names) {
  Finding finding = confirmed(Kind::kCrash);
  const std::vector<PlaceId> stack = signal_stack(trial, modules);
  Finding::Event event = {.thread = thread_name(trial.signal_thread),
                          .op = signal_name(trial.signal),
                          .location = names.location(stack),
                          .stack = names.frames(stack)};
  finding.pattern = event.op;
  finding.message =
      fmt::format("{} died of {} ({})", event.thread, event.op, signal_meaning(trial.signal));
  if (event.location != Location()) finding.message += " at " + to_string(event.location);
  finding.transactions.push_back({.thread = event.thread, .location = event.location});
  finding.events.push_back(std::move(event));
  return finding;
}

Finding describe_end(const std::string& op, const std::string& message) {
  Finding finding = confirmed(Kind::kCrash);
  finding.pattern = op;
  finding.message = message;
  finding.transactions.push_back({.thread = thread_name(0)});
  finding.events.push_back({.thread = thread_name(0), .op = op});
  return finding;
}

}  // namespace

std::string thread_name(std::uint32_t number) {
  return number == 0 ? "main" : fmt::format("T{}", number);
}

std::optional<Bug> bug_of(const Trial& trial, const Expected& expected) {
  switch (trial.end) {
    case End::kSignalled:
      return Bug::kSignal;
    case End::kDeadlocked:
      return Bug::kDeadlock;
    case End::kTimedOut:
      // A server runs until it is stopped.
      if (expected.end == End::kTimedOut) return std::nullopt;
      return Bug::kHang;
    case End::kExited:
      if (trial.exit_status == 0) return std::nullopt;
      if (expected.end == End::kExited && trial.exit_status == expected.exit_status) {
        return std::nullopt;
      }
      return Bug::kExit;
    case End::kStopped:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string key_of(const Violation& violation, const TrialModules& modules) {
  std::string key = fmt::format("v{}.{}.{} {} {:x};", std::to_underlying(violation.first_kind),
                                std::to_underlying(violation.other_kind),
                                std::to_underlying(violation.second_kind), violation.block.name,
                                modules.place(violation.block.begin));
  for (const schedule::Place* place : {&violation.first, &violation.other, &violation.second}) {
    append(key, modules.stack(*place));
  }
  return key;
}

std::string key_of(Bug bug, const Trial& trial, const TrialModules& modules) {
  std::string key;
  switch (bug) {
    case Bug::kSignal:
      key = fmt::format("s{};", trial.signal);
      append(key, modules.stack(trial.signal_place));
      return key;
    case Bug::kExit:
      return fmt::format("e{}", trial.exit_status);
    case Bug::kHang:
      return "h";
    case Bug::kDeadlock:
      key = "d";
      for (const schedule::Waiting& waiting : trial.waiting) {
        key += fmt::format("{}.{}.{}:", waiting.thread, std::to_underlying(waiting.kind),
                           waiting.holder);
        append(key, modules.stack(waiting.place));
        append(key, modules.stack(waiting.taken));
      }
      return key;
  }
  return key;
}

Finding describe(const Violation& violation, const Trial& trial, const TrialModules& modules,
                 Names& names) {
  Finding finding = confirmed(Kind::kAtomicity);
  const std::vector<PlaceId> first = modules.stack(violation.first);
  const std::string object =
      object_name(violation.object, violation.object_size == 0, violation.first, modules, names);
  const auto event = [&](std::uint32_t thread, schedule::Kind kind, const schedule::Place& place,
                         std::size_t transaction) {
    finding.events.push_back(event_of(thread, kind, object, place, modules, names));
    finding.events.back().transaction = transaction;
  };
  event(violation.thread, violation.first_kind, violation.first, 0);
  event(violation.other_thread, violation.other_kind, violation.other, 1);
  event(violation.thread, violation.second_kind, violation.second, 0);
  finding.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};

  // A lock is often taken by a function of the library that does nothing else. What the block is
  // part of then has both events in it.
  std::vector<PlaceId> home = {modules.place(violation.block.begin)};
  if (!names.is_users(home.front())) home = names.common(first, modules.stack(violation.second));
  const std::string function = names.function(home);
  finding.transactions.push_back(
      {.label = violation.block.name[0] != 0
                    ? std::string(violation.block.name)
                    : fmt::format("critical section{}{}", function.empty() ? "" : " in ", function),
       .thread = thread_name(violation.thread),
       .location = names.location(home)});
  // Without a place, so that what cuts one block in several ways is shown together.
  finding.transactions.push_back({.thread = thread_name(violation.other_thread)});
  add_threads(finding, trial, modules, names);

  const bool is_lock = violation.object_size == 0;
  const std::string span = fmt::format("from {} to {}", to_string(finding.events[0].location),
                                       to_string(finding.events[2].location));
  if (is_lock) {
    finding.fix = fmt::format("hold {} {}: it is given back in between", object, span);
  } else {
    finding.pattern = fmt::format("{}-{}-{}", letter(violation.first_kind),
                                  letter(violation.other_kind), letter(violation.second_kind));
    finding.fix = fmt::format("hold one lock {}, and the same lock at {}", span,
                              to_string(finding.events[1].location));
  }
  finding.message = fmt::format(
      "{} is not atomic: it was cut by {} at {}", describe_transaction(finding.transactions[0]),
      finding.transactions[1].thread, to_string(finding.events[1].location));
  return finding;
}

Finding describe(Bug bug, const Trial& trial, const TrialModules& modules, Names& names) {
  Finding finding;
  switch (bug) {
    case Bug::kSignal:
      finding = describe_signal(trial, modules, names);
      break;
    case Bug::kExit:
      finding = describe_end(fmt::format("exit status {}", trial.exit_status),
                             fmt::format("the program ended with exit status {}, which it does not "
                                         "when it runs by itself",
                                         trial.exit_status));
      break;
    case Bug::kHang:
      finding = describe_end("hang", "the program did not come to an end in time");
      break;
    case Bug::kDeadlock:
      finding = describe_deadlock(trial, modules, names);
      break;
  }
  finding.message += what_went_before(trial, modules, names);
  finding.output = trial.output;
  add_threads(finding, trial, modules, names);
  return finding;
}

}  // namespace tomos::campaign
