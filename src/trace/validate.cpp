// The rules keep a byte for each thread, lock holders and what `new` made. Most events are
// accesses, and for those one look at the thread's byte is all: it says whether the thread has run
// before and can still run. Only an event that starts or ends something goes further.
//
// `fork`, `join` and `barrier` end a transaction for the analyses, but begin and end are matched as
// they are written.
#include "trace/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace tomos {

namespace {

enum Rule : std::uint8_t {
  kValid,
  kEndWithoutBegin,
  kReleaseWithoutAcquire,
  kAcquireOfHeldLock,
  kEventAfterJoin,
  kEventAfterExit,
  kJoinOfLiveThread,
  kJoinedTwice,
  kJoinOfItself,
  kForkOfItself,
  kForkOfExisting,
  kNewOfLive,
  kBarrierCount,
};

struct RuleText {
  std::string_view what;
  std::string_view remedy;
};
constexpr std::array<RuleText, kBarrierCount + 1> kRules = {{
    {"", ""},
    {"end without begin", "Remove the end, or add the begin that is missing before it."},
    {"release without acquire",
     "A lock is released by the thread that holds it, as often and in the way (acq and rel, racq "
     "and rrel) it was acquired."},
    {"acquire of a lock that another thread holds",
     "Check the order of the events: the holder must release the lock first."},
    {"event after the thread was joined", "A join stands behind all events of the joined thread."},
    {"event after exit", "An exit is the last event of its thread."},
    {"join of a live thread",
     "The joined thread must end its transactions and release its locks first, or exit."},
    {"join of a thread already joined", "A thread is joined once."},
    {"join of itself", "A thread cannot wait for its own end."},
    {"fork of itself", "A thread is forked by another thread."},
    {"fork of a thread that already exists",
     "A fork stands before all events of the forked thread; give a new thread a new name."},
    {"new of a variable that is live",
     "Free the variable first, or give the new one another name."},
    {"barrier with different counts", "Every arrival at a barrier names the same count."},
}};

enum : std::uint8_t {  // what a thread's byte says
  kUnknown = 0,        // never heard of
  kForked = 1,         // no event yet
  kRuns = 2,
  kExited = 3,
  kJoined = 4,
};

constexpr ThreadId kNobody = std::numeric_limits<ThreadId>::max();

struct Hold {
  ThreadId thread;
  std::uint32_t depth;
};

struct Lock {
  Hold writer = {kNobody, 0};
  std::vector<Hold> readers;
};

// The element for an id, made if need be. Ids are dense, so this stays in proportion to the number
// of names.
template <class T>
T& at(std::vector<T>& items, std::uint32_t id) {
  if (id >= items.size()) items.resize(std::max<std::size_t>(id + 1, 2 * items.size()));
  return items[id];
}

}  // namespace

struct Validated::State {
  std::unique_ptr<Source> inner;
  std::string name;
  Validation mode;

  std::vector<std::uint8_t> threads;
  std::vector<std::uint32_t> depth;  // of transactions, for each thread
  std::vector<std::uint32_t> held;   // locks, for each thread
  std::vector<Lock> locks;
  std::vector<std::uint8_t> made_by_new;
  std::vector<std::uint16_t> barrier_counts;

  std::optional<Error> error;
  std::uint64_t delivered = 0;
  std::array<std::uint64_t, kRules.size()> broken = {};
  std::string first;

  Rule check(const Event& event);
  Rule check_running(const Event& event);
  Rule acquire(ThreadId thread, Lock& lock);
  Rule read_acquire(ThreadId thread, Lock& lock);
  Rule release(ThreadId thread, Lock& lock);
  Rule read_release(ThreadId thread, Lock& lock);
  Rule fork(const Event& event);
  Rule join(const Event& event);
  Error describe(const Batch& batch, std::size_t i, Rule rule) const;
  void squeeze(Batch& batch, std::size_t bad, Rule rule);
};

Rule Validated::State::acquire(ThreadId thread, Lock& lock) {
  const auto other = [thread](const Hold& hold) { return hold.thread != thread; };
  if (lock.writer.thread != thread) {
    if (lock.writer.thread != kNobody) return kAcquireOfHeldLock;
    if (std::ranges::any_of(lock.readers, other)) return kAcquireOfHeldLock;
    lock.writer = {thread, 0};
    ++at(held, thread);
  }
  ++lock.writer.depth;
  return kValid;
}

Rule Validated::State::release(ThreadId thread, Lock& lock) {
  if (lock.writer.thread != thread) return kReleaseWithoutAcquire;
  if (--lock.writer.depth == 0) {
    lock.writer.thread = kNobody;
    --held[thread];
  }
  return kValid;
}

Rule Validated::State::read_acquire(ThreadId thread, Lock& lock) {
  if (lock.writer.thread != kNobody && lock.writer.thread != thread) return kAcquireOfHeldLock;
  const auto mine = std::ranges::find(lock.readers, thread, &Hold::thread);
  if (mine != lock.readers.end()) {
    ++mine->depth;
  } else {
    lock.readers.push_back({thread, 1});
    ++at(held, thread);
  }
  return kValid;
}

Rule Validated::State::read_release(ThreadId thread, Lock& lock) {
  const auto mine = std::ranges::find(lock.readers, thread, &Hold::thread);
  if (mine == lock.readers.end()) return kReleaseWithoutAcquire;
  if (--mine->depth == 0) {
    *mine = lock.readers.back();
    lock.readers.pop_back();
    --held[thread];
  }
  return kValid;
}

Rule Validated::State::fork(const Event& event) {
  if (event.object == event.thread) return kForkOfItself;
  std::uint8_t& forked = at(threads, event.object);
  if (forked != kUnknown) return kForkOfExisting;
  forked = kForked;
  return kValid;
}

Rule Validated::State::join(const Event& event) {
  if (event.object == event.thread) return kJoinOfItself;
  std::uint8_t& joined = at(threads, event.object);
  if (joined == kJoined) return kJoinedTwice;
  if (joined == kRuns && (at(depth, event.object) > 0 || at(held, event.object) > 0)) {
    return kJoinOfLiveThread;
  }
  joined = kJoined;
  return kValid;
}

// For an event of a thread that may have events.
Rule Validated::State::check_running(const Event& event) {
  switch (event.op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kEscape:
    case Op::kSignal:
    case Op::kWait:
      return kValid;
    case Op::kBegin:
      ++at(depth, event.thread);
      return kValid;
    case Op::kEnd:
      if (at(depth, event.thread) == 0) return kEndWithoutBegin;
      --depth[event.thread];
      return kValid;
    case Op::kAcquire:
      return acquire(event.thread, at(locks, event.object));
    case Op::kRelease:
      return release(event.thread, at(locks, event.object));
    case Op::kReadAcquire:
      return read_acquire(event.thread, at(locks, event.object));
    case Op::kReadRelease:
      return read_release(event.thread, at(locks, event.object));
    case Op::kFork:
      return fork(event);
    case Op::kJoin:
      return join(event);
    case Op::kBarrier: {
      std::uint16_t& count = at(barrier_counts, event.object);
      if (count != 0 && count != event.count) return kBarrierCount;
      count = event.count;
      return kValid;
    }
    case Op::kNew:
      if (std::exchange(at(made_by_new, event.object), 1) != 0) return kNewOfLive;
      return kValid;
    case Op::kFree:
      at(made_by_new, event.object) = 0;
      return kValid;
    case Op::kExit:
      threads[event.thread] = kExited;
      return kValid;
  }
  return kValid;
}

Rule Validated::State::check(const Event& event) {
  if (event.thread < threads.size() && threads[event.thread] == kRuns) [[likely]] {
    if (event.op == Op::kRead || event.op == Op::kWrite) return kValid;
    return check_running(event);
  }
  const std::uint8_t before = at(threads, event.thread);
  if (before == kJoined) return kEventAfterJoin;
  if (before == kExited) return kEventAfterExit;
  threads[event.thread] = kRuns;
  const Rule rule = check_running(event);
  if (rule != kValid) threads[event.thread] = before;
  return rule;
}

Error Validated::State::describe(const Batch& batch, std::size_t i, Rule rule) const {
  const Event& event = batch.events[i];
  const NameKind kind = object_kind(event.op);
  const Names& names = inner->names();
  constexpr std::array<std::string_view, kOpCount> kVerbs = {"begins a transaction",
                                                             "ends a transaction",
                                                             "reads",
                                                             "writes",
                                                             "acquires",
                                                             "releases",
                                                             "read-acquires",
                                                             "read-releases",
                                                             "forks",
                                                             "joins",
                                                             "arrives at",
                                                             "makes",
                                                             "publishes",
                                                             "frees",
                                                             "exits",
                                                             "signals",
                                                             "waits for"};
  std::string subject = fmt::format("{} {}", names.name(NameKind::kThread, event.thread),
                                    kVerbs[static_cast<std::size_t>(event.op)]);
  if (kind != NameKind::kLocation && kind != NameKind::kLabel) {
    subject += " " + names.name(kind, event.object);
  }
  const std::string where = batch.first_line > 0
                                ? fmt::format("{}:{}", name, batch.line(i))
                                : fmt::format("{} event {}", name, batch.first + i + 1);
  return {where, fmt::format("{}: {}", kRules[rule].what, subject),
          std::string(kRules[rule].remedy)};
}

// Takes the invalid events out of `batch`; events[bad] is the first, and breaks `rule`.
void Validated::State::squeeze(Batch& batch, std::size_t bad, Rule rule) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gaps;
  std::uint64_t first_line = 0;
  std::uint64_t kept_line = 0;  // of the last event kept
  std::uint64_t line = batch.first_line;
  std::size_t kept = 0;
  auto gap = batch.gaps.begin();
  for (std::size_t i = 0; i < batch.events.size(); ++i, ++line) {
    for (; gap != batch.gaps.end() && gap->first == i; ++gap) line += gap->second;
    if (i > bad) rule = check(batch.events[i]);
    if (i >= bad && rule != kValid) {
      if (first.empty()) {
        const Error broken_here = describe(batch, i, rule);
        first = fmt::format("{}: {}", broken_here.where, broken_here.what);
      }
      ++broken[rule];
      continue;
    }
    if (kept == 0) {
      first_line = line;
    } else if (line != kept_line + 1) {
      gaps.emplace_back(static_cast<std::uint32_t>(kept),
                        static_cast<std::uint32_t>(line - kept_line - 1));
    }
    kept_line = line;
    batch.events[kept++] = batch.events[i];
  }
  batch.events.resize(kept);
  if (batch.first_line > 0) {
    batch.first_line = first_line;
    batch.gaps = std::move(gaps);
  }
}

Validated::Validated(std::unique_ptr<Source> inner, std::string name, Validation mode)
    : state_(std::make_unique<State>()) {
  state_->inner = std::move(inner);
  state_->name = std::move(name);
  state_->mode = mode;
}

Validated::~Validated() = default;

Result<void> Validated::next(Batch& batch) {
  State& state = *state_;
  batch.events.clear();
  while (batch.events.empty()) {
    if (state.error) return std::unexpected(*state.error);
    if (Result<void> got = state.inner->next(batch); !got) return got;
    const std::size_t count = batch.events.size();
    if (count == 0) break;
    std::size_t i = 0;
    Rule rule = kValid;
    for (; i < count; ++i) {
      rule = state.check(batch.events[i]);
      if (rule != kValid) break;
    }
    if (i == count) continue;
    if (state.mode == Validation::kStrict) {
      state.error = state.describe(batch, i, rule);
      batch.events.resize(i);
    } else {
      state.squeeze(batch, i, rule);
    }
  }
  batch.first = state.delivered;
  state.delivered += batch.events.size();
  return {};
}

const Names& Validated::names() const { return state_->inner->names(); }

Source::Progress Validated::progress() const { return state_->inner->progress(); }

Skipped Validated::skipped() const {
  Skipped skipped;
  for (std::size_t rule = 0; rule < kRules.size(); ++rule) {
    if (state_->broken[rule] == 0) continue;
    skipped.by_rule.emplace_back(kRules[rule].what, state_->broken[rule]);
    skipped.total += state_->broken[rule];
  }
  skipped.first = state_->first;
  return skipped;
}

}  // namespace tomos
