#include "smaller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "oracle/shrink.h"
#include "oracle/validity.h"

namespace tomos::predict {

namespace {

class Smaller {
 public:
  Smaller(Trace trace, const std::function<bool(const Trace&)>& shows)
      : trace_(std::move(trace)),
        shows_([&shows](const Trace& t) { return used_when_shared(t) && shows(t); }) {}

  Trace run() {
    do {
      trace_ = oracle::shrink(std::move(trace_), shows_);
    } while (drop_barrier() || drop_thread());
    run_on();
    return std::move(trace_);
  }

 private:
  bool take(Trace candidate) {
    if (candidate == trace_ || !oracle::is_valid(candidate)) return false;
    oracle::number_events(candidate);
    if (!shows_(candidate)) return false;
    trace_ = std::move(candidate);
    return true;
  }

  // With all who meet there.
  bool drop_barrier() {
    std::set<std::uint32_t> barriers;
    for (const Event& e : trace_) {
      if (e.op == Op::kBarrier) barriers.insert(e.object);
    }
    return std::ranges::any_of(barriers, [&](std::uint32_t barrier) {
      Trace candidate = trace_;
      std::erase_if(candidate,
                    [&](const Event& e) { return e.op == Op::kBarrier && e.object == barrier; });
      return take(std::move(candidate));
    });
  }

  // One less meets at the barriers.
  bool drop_thread() {
    std::set<ThreadId> threads;
    for (const Event& e : trace_) threads.insert(e.thread);
    return std::ranges::any_of(threads, [&](ThreadId thread) {
      Trace candidate = trace_;
      std::erase_if(candidate, [&](const Event& e) {
        return e.thread == thread || (object_kind(e.op) == NameKind::kThread && e.object == thread);
      });
      for (Event& e : candidate) {
        if (e.op == Op::kBarrier && e.count > 1) --e.count;
      }
      return take(std::move(candidate));
    });
  }

  // Moves events forward to the last one of their thread.
  void run_on() {
    for (std::size_t i = 1; i < trace_.size(); ++i) {
      for (std::size_t to = 1; to < i; ++to) {
        if (trace_[to - 1].thread != trace_[i].thread) continue;
        Trace candidate = trace_;
        std::rotate(candidate.begin() + static_cast<std::ptrdiff_t>(to),
                    candidate.begin() + static_cast<std::ptrdiff_t>(i),
                    candidate.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        const bool own_order =
            std::ranges::none_of(trace_.begin() + static_cast<std::ptrdiff_t>(to),
                                 trace_.begin() + static_cast<std::ptrdiff_t>(i),
                                 [&](const Event& e) { return e.thread == trace_[i].thread; });
        if (own_order && take(std::move(candidate))) break;
      }
    }
  }

  Trace trace_;
  std::function<bool(const Trace&)> shows_;
};

}  // namespace

Trace smaller(Trace trace, const std::function<bool(const Trace&)>& shows) {
  return Smaller(std::move(trace), shows).run();
}

}  // namespace tomos::predict
