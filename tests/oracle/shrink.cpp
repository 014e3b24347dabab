// Greedy: try every smaller trace of a few kinds, from coarse to fine, take the first that is valid
// and still shows it, and start again until nothing helps.
#include "shrink.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "validity.h"

namespace tomos::oracle {

namespace {

class Shrinker {
 public:
  Shrinker(Trace trace, const std::function<bool(const Trace&)>& shows)
      : trace_(std::move(trace)), shows_(shows) {}

  Trace run() {
    while (drop_threads() || drop_runs() || drop_transactions() || drop_pairs() ||
           merge_objects()) {
    }
    return std::move(trace_);
  }

 private:
  bool take(Trace candidate) {
    if (candidate == trace_ || !is_valid(candidate)) return false;
    number_events(candidate);
    if (!shows_(candidate)) return false;
    trace_ = std::move(candidate);
    return true;
  }

  template <class Drop>
  bool take_without(Drop drop) {
    Trace candidate;
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      if (!drop(i)) candidate.push_back(trace_[i]);
    }
    return take(std::move(candidate));
  }

  static std::uint32_t count(const Trace& trace, NameKind kind) {
    std::uint32_t count = 0;
    for (const Event& event : trace) {
      if (kind == NameKind::kThread) count = std::max(count, event.thread + 1);
      if (object_kind(event.op) == kind) count = std::max(count, event.object + 1);
    }
    return count;
  }

  bool drop_threads() {
    const std::uint32_t threads = count(trace_, NameKind::kThread);
    for (ThreadId thread = 0; thread < threads; ++thread) {
      if (take_without([&](std::size_t i) {
            const Event& event = trace_[i];
            return event.thread == thread ||
                   (object_kind(event.op) == NameKind::kThread && event.object == thread);
          })) {
        return true;
      }
    }
    return false;
  }

  bool drop_runs() {
    for (std::size_t length = std::max<std::size_t>(trace_.size() / 2, 1); length > 0;
         length /= 2) {
      for (std::size_t first = 0; first < trace_.size(); first += length) {
        if (take_without([&](std::size_t i) { return first <= i && i < first + length; }))
          return true;
      }
    }
    return false;
  }

  // The event that closes what event `opener` opens; the size of the trace if nothing does.
  std::size_t closer(std::size_t opener) const {
    const Event& open = trace_[opener];
    const bool transaction = open.op == Op::kBegin;
    Op close_op = Op::kEnd;
    if (open.op == Op::kAcquire) close_op = Op::kRelease;
    if (open.op == Op::kReadAcquire) close_op = Op::kReadRelease;
    unsigned depth = 0;
    for (std::size_t i = opener; i < trace_.size(); ++i) {
      const Event& event = trace_[i];
      if (event.thread != open.thread || (!transaction && event.object != open.object)) continue;
      if (event.op == open.op) ++depth;
      if (event.op == close_op && --depth == 0) return i;
    }
    return trace_.size();
  }

  bool drop_transactions() {
    for (std::size_t begin = 0; begin < trace_.size(); ++begin) {
      if (trace_[begin].op != Op::kBegin) continue;
      const std::size_t end = closer(begin);
      const ThreadId thread = trace_[begin].thread;
      if (take_without([&](std::size_t i) {
            return begin <= i && i <= end && trace_[i].thread == thread;
          })) {
        return true;
      }
    }
    return false;
  }

  bool drop_pairs() {
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const Op op = trace_[i].op;
      if (op != Op::kBegin && op != Op::kAcquire && op != Op::kReadAcquire) continue;
      const std::size_t j = closer(i);
      if (take_without([&](std::size_t k) { return k == i || k == j; })) return true;
    }
    return false;
  }

  // One for two; with neighbours this also closes the gaps that left-out ones have made in the
  // numbering.
  bool merge_objects() {
    for (const NameKind kind : {NameKind::kVariable, NameKind::kLock, NameKind::kThread}) {
      const std::uint32_t objects = count(trace_, kind);
      for (std::uint32_t from = 1; from < objects; ++from) {
        for (std::uint32_t to = 0; to < from; ++to) {
          Trace candidate = trace_;
          for (Event& event : candidate) {
            if (kind == NameKind::kThread && event.thread == from) event.thread = to;
            if (object_kind(event.op) == kind && event.object == from) event.object = to;
          }
          if (take(std::move(candidate))) return true;
        }
      }
    }
    return false;
  }

  Trace trace_;
  const std::function<bool(const Trace&)>& shows_;
};

}  // namespace

Trace shrink(Trace trace, const std::function<bool(const Trace&)>& shows) {
  return Shrinker(std::move(trace), shows).run();
}

}  // namespace tomos::oracle
