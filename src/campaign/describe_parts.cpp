#include "campaign/describe_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "campaign/describe.h"
#include "report/layout.h"

namespace tomos::campaign {

Finding confirmed(Kind kind) {
  Finding finding;
  finding.analysis = "fuzz";
  finding.kind = kind;
  finding.verdict = Certainty::kConfirmed;
  return finding;
}

std::string_view op_of(schedule::Kind kind) {
  using enum schedule::Kind;
  switch (kind) {
    case kNone:
      return "step";
    case kStart:
      return "start";
    case kExit:
      return "exit";
    case kCreate:
      return "fork";
    case kJoin:
      return "join";
    case kLock:
    case kTryLock:
      return "acquire";
    case kReadLock:
      return "read-acquire";
    case kUnlock:
      return "release";
    case kWait:
    case kSemaphoreWait:
    case kOnce:
    case kFutexWait:
      return "wait for";
    case kNotify:
    case kFutexWake:
      return "notify";
    case kSemaphorePost:
      return "post";
    case kBarrier:
      return "wait at";
    case kSleep:
      return "sleep";
    case kYield:
      return "yield";
    case kInput:
      return "wait for input";
    case kOutside:
      return "call";
    case kAtomicRead:
    case kRead:
      return "read";
    case kAtomicWrite:
    case kWrite:
      return "write";
  }
  return "step";
}

std::string object_name(std::uint64_t address, bool is_lock, const schedule::Place& used,
                        const TrialModules& modules, Names& names) {
  std::string name = names.global(modules.place(address));
  if (!name.empty()) return name;
  const Location where = names.location(modules.stack(used));
  if (where == Location()) return is_lock ? "a lock" : "a variable";
  return is_lock ? fmt::format("the lock taken at {}", to_string(where))
                 : fmt::format("the memory used at {}", to_string(where));
}

Finding::Event event_of(std::uint32_t thread, schedule::Kind kind, const std::string& object,
                        const schedule::Place& place, const TrialModules& modules, Names& names) {
  const std::vector<PlaceId> stack = modules.stack(place);
  return {.thread = thread_name(thread),
          .op = std::string(op_of(kind)),
          .variable = object,
          .location = names.location(stack),
          .stack = names.frames(stack)};
}

void add_threads(Finding& finding, const Trial& trial, const TrialModules& modules, Names& names) {
  for (std::uint32_t number = 1; number < trial.thread_infos.size(); ++number) {
    const std::string name = thread_name(number);
    const bool named =
        std::ranges::find(finding.events, name, &Finding::Event::thread) != finding.events.end();
    const bool known =
        std::ranges::find(finding.threads, name, &Finding::Thread::name) != finding.threads.end();
    if (!named || known) continue;
    const schedule::ThreadInfo& info = trial.thread_infos[number];
    const std::vector<PlaceId> stack = modules.stack(info.created);
    finding.threads.push_back({.name = name,
                               .creator = thread_name(info.creator),
                               .location = names.location(stack),
                               .stack = names.frames(stack)});
  }
}

namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

// Threads each of which waits for the next, the last for the first; empty if there are none.
std::vector<const schedule::Waiting*> cycle_of(const std::vector<schedule::Waiting>& waiting) {
  for (const schedule::Waiting& start : waiting) {
    std::vector<const schedule::Waiting*> path;
    for (const schedule::Waiting* at = &start;;) {
      path.push_back(at);
      const auto next = std::ranges::find(waiting, at->holder, &schedule::Waiting::thread);
      if (next == waiting.end()) break;
      if (&*next == &start) return path;
      if (path.size() > waiting.size()) break;  // into a cycle that it is not part of
      at = &*next;
    }
  }
  return {};
}

// What a thread waits for: "m", "T2", "a condition".
std::string awaited(const schedule::Waiting& waiting, const TrialModules& modules, Names& names) {
  using enum schedule::Kind;
  const bool is_lock = waiting.kind == kLock || waiting.kind == kReadLock;
  if (is_lock) return object_name(waiting.object, true, waiting.taken, modules, names);
  if (waiting.kind == kJoin) {
    return waiting.holder == kNobody ? "a thread" : thread_name(waiting.holder);
  }
  std::string name = names.global(modules.place(waiting.object));
  if (!name.empty()) return name;
  if (waiting.kind == kWait) return "a condition variable";
  if (waiting.kind == kSemaphoreWait) return "a semaphore";
  if (waiting.kind == kBarrier) return "a barrier";
  if (waiting.kind == kOnce) return "an initialisation";
  return waiting.kind == kFutexWait ? "an atomic variable" : "";
}

}  // namespace

Finding describe_deadlock(const Trial& trial, const TrialModules& modules, Names& names) {
  Finding finding = confirmed(Kind::kDeadlock);
  finding.analyses = {finding.analysis};  // makes the id independent of where the cycle begins
  std::vector<const schedule::Waiting*> members = cycle_of(trial.waiting);
  const bool is_cycle = !members.empty();
  if (!is_cycle) {
    for (const schedule::Waiting& waiting : trial.waiting) members.push_back(&waiting);
  }
  std::vector<Finding::Event> wanted;
  std::string message;
  for (const schedule::Waiting* waiting : members) {
    const std::string what = awaited(*waiting, modules, names);
    const bool is_held = waiting->holder != kNobody && waiting->kind != schedule::Kind::kJoin;
    if (is_held && waiting->taken.frames[0] != 0) {
      finding.events.push_back(
          event_of(waiting->holder, schedule::Kind::kLock, what, waiting->taken, modules, names));
    }
    wanted.push_back(
        event_of(waiting->thread, waiting->kind, what, waiting->place, modules, names));
    message += fmt::format("{}{} waits for {}", message.empty() ? "" : ", ", wanted.back().thread,
                           what.empty() ? "something" : what);
    if (is_held) {
      const bool own = waiting->holder == waiting->thread;
      message += own ? ", which it holds itself"
                     : fmt::format(", held by {}", thread_name(waiting->holder));
    }
  }
  finding.events.insert(finding.events.end(), wanted.begin(), wanted.end());
  for (Finding::Event& event : finding.events) {
    const auto known =
        std::ranges::find(finding.transactions, event.thread, &Finding::Transaction::thread);
    event.transaction = static_cast<std::size_t>(known - finding.transactions.begin());
    if (known == finding.transactions.end()) {
      finding.transactions.push_back({.thread = event.thread, .location = event.location});
    }
  }
  const std::size_t others = trial.waiting.size() - members.size();
  if (others > 0) {
    message += fmt::format(", and {} {} for them", counted(others, "other thread"),
                           others == 1 ? "waits" : "wait");
  }
  finding.message = "nobody can go on: " + message;
  return finding;
}

}  // namespace tomos::campaign
