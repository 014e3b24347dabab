#include "monitor/context.h"

#include <algorithm>
#include <utility>

namespace tomos {

Context::Step Context::take(const Event& event) {
  if (event.thread >= threads_.size()) threads_.resize(event.thread + std::size_t{1});
  Thread& thread = threads_[event.thread];
  switch (event.op) {
    case Op::kRead:
    case Op::kWrite:
      variable_ = variables_.access(event.thread, event.object);
      return variable_ == SharedVariables::kLocal ? Step::kNothing : Step::kAccess;
    case Op::kAcquire:
    case Op::kReadAcquire:
      return acquire(event);
    case Op::kRelease:
    case Op::kReadRelease:
      return release(event);
    case Op::kBegin:
      return thread.transaction.begin(event) ? Step::kBegin : Step::kNothing;
    case Op::kEnd:
      return thread.transaction.end() ? Step::kCut : Step::kNothing;
    case Op::kFork:
      periods_.fork(event.thread, event.object);
      return Step::kCut;
    case Op::kJoin:
      periods_.join(event.thread, event.object);
      return Step::kCut;
    case Op::kBarrier:
      periods_.barrier(event.thread, event.object, event.count);
      return Step::kCut;
    case Op::kSignal:
      periods_.signal(event.thread, event.object);
      return Step::kCut;
    case Op::kWait:
      periods_.wait(event.thread, event.object);
      return Step::kCut;
    case Op::kExit:
      thread.transaction = {};
      return Step::kCut;
    case Op::kNew:
      variables_.on_new(event.thread, event.object);
      break;
    case Op::kEscape:
      variables_.on_escape(event.object);
      break;
    case Op::kFree:
      variables_.on_free(event.object);
      break;
  }
  return Step::kNothing;
}

Context::Step Context::acquire(const Event& event) {
  Thread& thread = threads_[event.thread];
  const bool reads = event.op == Op::kReadAcquire;
  auto held = std::ranges::find(thread.held, event.object, &Held::lock);
  const bool known = held != thread.held.end();
  if (!known) {
    held =
        thread.held.insert(thread.held.end(), {.lock = event.object, .acquired = event.location});
  }
  const bool stronger = !known || (!reads && held->writes == 0);
  ++(reads ? held->reads : held->writes);
  if (!stronger) return Step::kNothing;
  refresh(thread);
  return Step::kAcquire;
}

Context::Step Context::release(const Event& event) {
  Thread& thread = threads_[event.thread];
  const bool reads = event.op == Op::kReadRelease;
  const auto held = std::ranges::find(thread.held, event.object, &Held::lock);
  if (held == thread.held.end()) return Step::kNothing;
  std::uint32_t& depth = reads ? held->reads : held->writes;
  if (depth == 0) return Step::kNothing;
  --depth;
  if (depth > 0) return Step::kNothing;
  if (held->reads + held->writes == 0) {
    thread.held.erase(held);
  } else if (reads) {
    return Step::kNothing;  // still held, and not only for reading
  }
  refresh(thread);
  return Step::kRelease;
}

void Context::refresh(Thread& thread) {
  if (thread.held.size() < 2) {
    thread.locks = thread.held.empty() ? 0 : locksets_.intern_one(thread.held[0].code());
    return;
  }
  std::vector<ModeLock> locks;
  locks.reserve(thread.held.size());
  for (const Held& held : thread.held) locks.push_back(held.code());
  thread.locks = locksets_.intern(std::move(locks));
}

}  // namespace tomos
