#include "monitor/thread_periods.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tomos {

namespace {

// The part of `key` above `bit`.
std::uint32_t above(std::uint32_t key, std::uint32_t bit) { return key & ~(bit | (bit - 1)); }

}  // namespace

PersistentClocks::Version PersistentClocks::leaf(std::uint32_t key, std::uint32_t value) {
  nodes_.push_back({.key = key, .bit = 0, .left = value, .right = 0});
  return static_cast<Version>(nodes_.size() - 1);
}

PersistentClocks::Version PersistentClocks::branch(std::uint32_t bit, Version left, Version right) {
  nodes_.push_back({.key = above(nodes_[left].key, bit), .bit = bit, .left = left, .right = right});
  return static_cast<Version>(nodes_.size() - 1);
}

// Two tries whose keys differ above both their branches become one.
PersistentClocks::Version PersistentClocks::link(Version a, Version b) {
  const std::uint32_t bit = std::bit_floor(nodes_[a].key ^ nodes_[b].key);
  return (nodes_[a].key & bit) == 0 ? branch(bit, a, b) : branch(bit, b, a);
}

std::uint32_t PersistentClocks::get(Version version, std::uint32_t key) const {
  if (version == 0) return 0;
  while (nodes_[version].bit != 0) {
    const Node& node = nodes_[version];
    if (above(key, node.bit) != node.key) return 0;
    version = (key & node.bit) == 0 ? node.left : node.right;
  }
  return nodes_[version].key == key ? nodes_[version].left : 0;
}

PersistentClocks::Version PersistentClocks::raise(Version version, std::uint32_t key,
                                                  std::uint32_t value) {
  if (get(version, key) >= value) return version;
  return join(version, leaf(key, value));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a key has bits.
PersistentClocks::Version PersistentClocks::join(Version a, Version b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  if (nodes_[a].bit < nodes_[b].bit) std::swap(a, b);
  const Node high = nodes_[a];
  const Node low = nodes_[b];
  if (high.bit == 0) {
    if (high.key == low.key) return high.left >= low.left ? a : b;
    return link(a, b);
  }
  if (above(low.key, high.bit) != high.key) return link(a, b);
  if (low.bit == high.bit) {
    const Version left = join(high.left, low.left);
    const Version right = join(high.right, low.right);
    if (left == high.left && right == high.right) return a;
    if (left == low.left && right == low.right) return b;
    return branch(high.bit, left, right);
  }
  if ((low.key & high.bit) == 0) {
    const Version left = join(high.left, b);
    return left == high.left ? a : branch(high.bit, left, high.right);
  }
  const Version right = join(high.right, b);
  return right == high.right ? a : branch(high.bit, high.left, right);
}

PersistentClocks::Version PersistentClocks::keep_only(Version version, std::size_t nodes) {
  std::vector<Node> copies;
  const Version kept = copy(version, nodes, copies);
  nodes_.shrink(nodes);
  for (const Node& node : copies) nodes_.push_back(node);
  return kept;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as a key has bits.
PersistentClocks::Version PersistentClocks::copy(Version version, std::size_t from,
                                                 std::vector<Node>& copies) const {
  if (version < from) return version;
  Node node = nodes_[version];
  if (node.bit != 0) {
    node.left = copy(node.left, from, copies);
    node.right = copy(node.right, from, copies);
  }
  copies.push_back(node);
  return static_cast<Version>(from + copies.size() - 1);
}

void PeriodSet::add(const Run& run) {
  // What is added is nearly always next to what was added last for the thread.
  constexpr std::size_t kFew = 8;
  const std::size_t least = runs_.size() > kFew ? runs_.size() - kFew : 0;
  for (std::size_t i = runs_.size(); i-- > least;) {
    Run& known = runs_[i];
    if (known.thread != run.thread || run.first > known.last + 1 || known.first > run.last + 1) {
      continue;
    }
    if (run.first >= known.first && run.last <= known.last) return;
    known.first = std::min(known.first, run.first);
    known.last = std::max(known.last, run.last);
    tidy_ = false;
    return;
  }
  runs_.push_back(run);
  tidy_ = false;
  if (runs_.size() >= tidy_at_) tidy();
}

void PeriodSet::tidy() const {
  std::ranges::sort(runs_, {}, [](const Run& run) { return std::pair(run.thread, run.first); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < runs_.size(); ++i) {
    Run& last = runs_[kept];
    if (runs_[i].thread == last.thread && runs_[i].first <= last.last + 1) {
      last.last = std::max(last.last, runs_[i].last);
    } else {
      runs_[++kept] = runs_[i];
    }
  }
  if (!runs_.empty()) runs_.resize(kept + 1);
  tidy_at_ = static_cast<std::uint32_t>(std::max<std::size_t>(16, 2 * runs_.size()));
  tidy_ = true;
}

const std::vector<PeriodSet::Run>& PeriodSet::runs() const {
  if (!tidy_) tidy();
  return runs_;
}

void ThreadPeriods::start(ThreadId thread, PersistentClocks::Version known) {
  if (thread >= by_thread_.size()) by_thread_.resize(thread + std::size_t{1});
  std::vector<PeriodId>& own = by_thread_[thread];
  periods_.push_back(
      {.thread = thread, .index = static_cast<std::uint32_t>(own.size()), .known = known});
  own.push_back(static_cast<PeriodId>(periods_.size() - 1));
}

PeriodId ThreadPeriods::current(ThreadId thread) {
  if (thread >= by_thread_.size() || by_thread_[thread].empty()) start(thread, 0);
  return by_thread_[thread].back();
}

// What is known after the thread's current period.
PersistentClocks::Version ThreadPeriods::end(ThreadId thread) {
  const Period period = periods_[current(thread)];
  return clocks_.raise(period.known, thread, period.index + 1);
}

void ThreadPeriods::fork(ThreadId thread, ThreadId child) {
  const PersistentClocks::Version known = end(thread);
  start(thread, periods_[current(thread)].known);
  start(child, known);
}

void ThreadPeriods::join(ThreadId thread, ThreadId child) {
  const PersistentClocks::Version known = periods_[current(thread)].known;
  const std::size_t nodes = clocks_.nodes();
  start(thread, clocks_.keep_only(clocks_.join(known, end(child)), nodes));
}

void ThreadPeriods::barrier(ThreadId thread, std::uint32_t barrier, std::uint32_t count) {
  std::vector<ThreadId>& arrived = waiting_[barrier];
  arrived.push_back(thread);
  if (arrived.size() < count) return;
  const std::size_t nodes = clocks_.nodes();
  PersistentClocks::Version known = 0;
  for (const ThreadId one : arrived) known = clocks_.join(known, end(one));
  known = clocks_.keep_only(known, nodes);
  for (const ThreadId one : arrived) start(one, known);
  waiting_.erase(barrier);
}

void ThreadPeriods::signal(ThreadId thread, std::uint32_t object) {
  const PersistentClocks::Version known = periods_[current(thread)].known;
  PersistentClocks::Version& signalled = signalled_[object];
  const std::size_t nodes = clocks_.nodes();
  signalled = clocks_.keep_only(clocks_.join(signalled, end(thread)), nodes);
  start(thread, known);
}

// One that brings nothing new ends the transaction all the same: its two parts are told apart by
// their periods.
void ThreadPeriods::wait(ThreadId thread, std::uint32_t object) {
  PersistentClocks::Version known = periods_[current(thread)].known;
  if (const auto signalled = signalled_.find(object); signalled != signalled_.end()) {
    const std::size_t nodes = clocks_.nodes();
    known = clocks_.keep_only(clocks_.join(known, signalled->second), nodes);
  }
  start(thread, known);
}

bool ThreadPeriods::before(PeriodId a, PeriodId b) const {
  const Period& first = periods_[a];
  const Period& second = periods_[b];
  if (first.thread == second.thread) return first.index < second.index;
  return happens_before_ && clocks_.get(second.known, first.thread) > first.index;
}

bool ThreadPeriods::concurrent(PeriodId a, PeriodId b) const {
  return thread(a) != thread(b) && !before(a, b) && !before(b, a);
}

// The periods of another thread that are concurrent with one period are neighbours, and move on
// with it: those not before it, up to the last that it is not before.
std::optional<std::pair<PeriodId, PeriodId>> ThreadPeriods::find_concurrent(
    const PeriodSet::Run& a, const PeriodSet::Run& b) const {
  if (a.thread == b.thread) return std::nullopt;
  const std::vector<PeriodId>& first = by_thread_[a.thread];
  const std::vector<PeriodId>& second = by_thread_[b.thread];
  if (!happens_before_) return std::pair(first[a.first], second[b.first]);
  // From the first of a's that is not before all of b's.
  std::uint32_t i = a.first;
  for (std::uint32_t end = a.last + 1, step = 0; i < end;) {
    step = (end - i) / 2;
    if (before(first[i + step], second[b.first])) {
      i += step + 1;
    } else {
      end = i + step;
    }
  }
  for (; i <= a.last; ++i) {
    const std::uint32_t j =
        std::max(b.first, clocks_.get(periods_[first[i]].known, b.thread));  // the first not before
    if (j > b.last) return std::nullopt;
    if (!before(first[i], second[j])) return std::pair(first[i], second[j]);
  }
  return std::nullopt;
}

bool ThreadPeriods::any_before(const PeriodSet& a, const PeriodSet& b) const {
  return std::ranges::any_of(a.runs(), [&](const PeriodSet::Run& one) {
    return std::ranges::any_of(b.runs(), [&](const PeriodSet::Run& other) {
      return one.thread != other.thread &&
             before(by_thread_[one.thread][one.first], by_thread_[other.thread][other.last]);
    });
  });
}

std::vector<PeriodId> ThreadPeriods::some(const PeriodSet& set, std::size_t most) const {
  std::vector<PeriodId> some;
  for (const PeriodSet::Run& run : set.runs()) {
    if (some.size() < most) some.push_back(by_thread_[run.thread][run.first]);
  }
  for (const PeriodSet::Run& run : set.runs()) {
    if (some.size() < most && run.last > run.first)
      some.push_back(by_thread_[run.thread][run.last]);
  }
  return some;
}

std::vector<PeriodId> ThreadPeriods::ids(const PeriodSet& set) const {
  std::vector<PeriodId> ids;
  for (const PeriodSet::Run& run : set.runs()) {
    for (std::uint32_t i = run.first; i <= run.last; ++i) ids.push_back(by_thread_[run.thread][i]);
  }
  std::ranges::sort(ids);
  return ids;
}

std::optional<std::pair<PeriodId, PeriodId>> ThreadPeriods::find_concurrent(
    const PeriodSet& a, const PeriodSet& b) const {
  constexpr std::size_t kMany = 4096;
  const auto search = [&]() -> std::optional<std::pair<PeriodId, PeriodId>> {
    for (const PeriodSet::Run& one : a.runs()) {
      for (const PeriodSet::Run& other : b.runs()) {
        if (const auto found = find_concurrent(one, other)) return found;
      }
    }
    return std::nullopt;
  };
  if (a.runs().size() * b.runs().size() > kMany && !any_concurrent(ids(a), ids(b))) {
    return std::nullopt;
  }
  return search();
}

bool ThreadPeriods::any_concurrent(std::span<const PeriodId> a, std::span<const PeriodId> b) const {
  // In the order of the ids, each period must come after all of the other set so far. If it comes
  // after one that did, only those since then are left to compare.
  constexpr PeriodId kNothing = ~PeriodId{0};
  struct Side {
    std::span<const PeriodId> periods;
    std::size_t next = 0;
    PeriodId covers = kNothing;  // comes after the other side's first `covered`
    std::size_t covered = 0;
  };
  Side sides[2] = {{.periods = a}, {.periods = b}};  // NOLINT(modernize-avoid-c-arrays)
  while (true) {
    const bool more_a = sides[0].next < a.size();
    const bool more_b = sides[1].next < b.size();
    if (!more_a && !more_b) return false;
    const bool take_a = more_a && (!more_b || a[sides[0].next] <= b[sides[1].next]);
    Side& own = sides[take_a ? 0 : 1];
    Side& other = sides[take_a ? 1 : 0];
    const PeriodId period = own.periods[own.next++];
    std::size_t from = own.covers != kNothing && before(own.covers, period) ? own.covered : 0;
    for (; from < other.next; ++from) {
      if (other.periods[from] != period && !before(other.periods[from], period)) return true;
    }
    own.covers = period;
    own.covered = other.next;
  }
}

}  // namespace tomos
