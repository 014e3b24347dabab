#include "validity.h"

#include <algorithm>

#include "event/names.h"

namespace tomos::oracle {

namespace {

template <class T>
T& at(std::vector<T>& table, std::size_t index) {
  if (index >= table.size()) table.resize(index + 1);
  return table[index];
}

}  // namespace

Validity::Hold Validity::holds(ThreadId thread, LockId lock) const {
  if (lock >= locks_.size()) return Hold::kNone;
  const Lock& l = locks_[lock];
  if (l.depth > 0 && l.owner == thread) return Hold::kWrite;
  return std::ranges::count(l.readers, thread) > 0 ? Hold::kRead : Hold::kNone;
}

bool Validity::take(const Event& event) {
  at(threads_, event.thread);
  switch (object_kind(event.op)) {
    case NameKind::kThread:
      at(threads_, event.object);
      break;
    case NameKind::kLock:
      at(locks_, event.object);
      break;
    case NameKind::kVariable:
      at(variables_, event.object);
      break;
    case NameKind::kBarrier:
      at(barriers_, event.object);
      break;
    case NameKind::kLabel:
    case NameKind::kLocation:
      break;
  }
  if (!allows(event)) return false;
  threads_[event.thread].started = true;
  apply(event);
  return true;
}

bool Validity::allows(const Event& event) {
  const Thread& self = threads_[event.thread];
  if (self.over || self.joined || self.waiting) return false;
  switch (event.op) {
    case Op::kBegin:
    case Op::kRead:
    case Op::kWrite:
    case Op::kFree:
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
      return true;
    case Op::kEnd:
      return self.depth > 0;
    case Op::kAcquire: {
      const Lock& lock = locks_[event.object];
      return lock.readers.empty() && (lock.depth == 0 || lock.owner == event.thread);
    }
    case Op::kReadAcquire:
      return locks_[event.object].depth == 0;
    case Op::kRelease:
      return holds(event.thread, event.object) == Hold::kWrite;
    case Op::kReadRelease:
      return holds(event.thread, event.object) == Hold::kRead;
    case Op::kFork:
      return event.object != event.thread && !threads_[event.object].started;
    case Op::kJoin: {
      const Thread& other = threads_[event.object];
      return event.object != event.thread && other.started && !other.joined && other.idle();
    }
    case Op::kNew:
      return !variables_[event.object].used;
    case Op::kEscape:
      return variables_[event.object].local;
    case Op::kExit:
      return self.idle();
  }
  return false;
}

void Validity::apply(const Event& event) {
  Thread& self = threads_[event.thread];
  switch (event.op) {
    case Op::kBegin:
      ++self.depth;
      break;
    case Op::kEnd:
      --self.depth;
      break;
    case Op::kRead:
    case Op::kWrite:
      variables_[event.object].used = true;
      break;
    case Op::kAcquire:
      locks_[event.object].owner = event.thread;
      ++locks_[event.object].depth;
      ++self.held;
      break;
    case Op::kRelease:
      --locks_[event.object].depth;
      --self.held;
      break;
    case Op::kReadAcquire:
      locks_[event.object].readers.push_back(event.thread);
      ++self.held;
      break;
    case Op::kReadRelease: {
      std::vector<ThreadId>& readers = locks_[event.object].readers;
      readers.erase(std::ranges::find(readers, event.thread));
      --self.held;
      break;
    }
    case Op::kFork:
      threads_[event.object].started = true;
      break;
    case Op::kJoin:
      threads_[event.object].joined = true;
      break;
    case Op::kBarrier: {
      std::vector<ThreadId>& waiting = barriers_[event.object];
      self.waiting = true;
      waiting.push_back(event.thread);
      if (waiting.size() < event.count) break;
      for (const ThreadId thread : waiting) threads_[thread].waiting = false;
      waiting.clear();
      break;
    }
    case Op::kNew:
      variables_[event.object] = {.used = true, .local = true};
      break;
    case Op::kEscape:
      variables_[event.object].local = false;
      break;
    case Op::kFree:
      variables_[event.object] = {};
      break;
    case Op::kExit:
      self.over = true;
      break;
    case Op::kSignal:
    case Op::kWait:
      break;
  }
}

bool is_valid(std::span<const Event> events) {
  Validity validity;
  return std::ranges::all_of(events, [&](const Event& event) { return validity.take(event); });
}

}  // namespace tomos::oracle
