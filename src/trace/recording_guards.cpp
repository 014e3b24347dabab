#include "trace/recording_guards.h"

#include <algorithm>

namespace tomos::recording {

VariableId Guards::begin_life() {
  VariableId id = 0;
  if (spare_.empty()) {
    id = static_cast<VariableId>(variables_.size());
    variables_.emplace_back();
  } else {
    id = spare_.back();
    spare_.pop_back();
    variables_[id] = {};
  }
  variables_[id].life = left_out_.size();
  left_out_.push_back(false);
  return id;
}

void Guards::take(std::span<const Event> events) {
  for (const Event& event : events) take(event);
}

void Guards::take(const Event& event) {
  if (event.thread >= threads_.size()) threads_.resize(event.thread + std::size_t{1});
  Thread& thread = threads_[event.thread];
  switch (event.op) {
    case tomos::Op::kRead:
    case tomos::Op::kWrite:
      access(thread, event.object);
      break;
    case tomos::Op::kAcquire:
      acquire(thread, event.object);
      break;
    case tomos::Op::kRelease:
      release(thread, event.object);
      break;
    case tomos::Op::kBegin:
      ++thread.depth;
      break;
    case tomos::Op::kEnd:
      if (thread.depth > 0) --thread.depth;
      if (thread.depth == 0) close(thread);
      break;
    case tomos::Op::kFree:
      variables_[event.object].freed = true;
      if (variables_[event.object].open == 0) end_life(event.object);
      break;
    case tomos::Op::kFork:
    case tomos::Op::kJoin:
    case tomos::Op::kBarrier:
    case tomos::Op::kSignal:
    case tomos::Op::kWait:
    case tomos::Op::kExit:
      close(thread);
      break;
    case tomos::Op::kReadAcquire:
    case tomos::Op::kReadRelease:
    case tomos::Op::kNew:
    case tomos::Op::kEscape:
      break;
  }
}

void Guards::access(Thread& thread, VariableId id) {
  if (thread.accesses++ == 0) {
    thread.number = ++transactions_;
    thread.since.clear();
    for (const Held& held : thread.held) thread.since.push_back(held.lock);
    thread.let_go = true;
  }
  if (thread.let_go) thread.whole = thread.since;
  thread.let_go = false;
  Variable& variable = variables_[id];
  if (variable.seen != thread.number) {
    variable.seen = thread.number;
    ++variable.open;
    thread.variables.push_back(id);
  }
  if (thread.depth == 0) close(thread);
}

void Guards::acquire(Thread& thread, LockId lock) {
  const auto held = std::ranges::find(thread.held, lock, &Held::lock);
  if (held == thread.held.end()) {
    thread.held.push_back({.lock = lock, .times = 1});
  } else {
    ++held->times;
  }
}

void Guards::release(Thread& thread, LockId lock) {
  const auto held = std::ranges::find(thread.held, lock, &Held::lock);
  if (held == thread.held.end() || --held->times > 0) return;
  thread.held.erase(held);
  if (std::erase(thread.since, lock) > 0) thread.let_go = true;
}

// The thread's transaction is over.
void Guards::close(Thread& thread) {
  for (const VariableId id : thread.variables) {
    Variable& variable = variables_[id];
    meet(variable, thread);
    if (--variable.open == 0 && variable.freed) end_life(id);
  }
  thread.variables.clear();
  thread.accesses = 0;
}

void Guards::meet(Variable& variable, const Thread& thread) {
  variable.in_block |= thread.accesses > 1;
  if (!variable.met) {
    if (!thread.whole.empty()) variable.guards = {thread.whole.front(), thread.whole.back()};
  } else {
    for (LockId& guard : variable.guards) {
      if (std::ranges::count(thread.whole, guard) == 0) guard = kNoLock;
    }
  }
  variable.met = true;
}

void Guards::end_life(VariableId id) {
  const Variable& variable = variables_[id];
  const bool guarded =
      std::ranges::any_of(variable.guards, [](LockId lock) { return lock != kNoLock; });
  left_out_[variable.life] = guarded || !variable.in_block;
  spare_.push_back(id);
}

void Guards::finish() {
  for (Thread& thread : threads_) close(thread);
  std::vector<bool> over(variables_.size());
  for (const VariableId id : spare_) over[id] = true;
  for (VariableId id = 0; id < variables_.size(); ++id) {
    if (!over[id]) end_life(id);
  }
  threads_ = {};
  variables_ = {};
  spare_ = {};
}

}  // namespace tomos::recording
