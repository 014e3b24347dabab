#include "trace/recording_repair.h"

#include <algorithm>

namespace tomos::recording {

Repair::Thread& Repair::at(ThreadId thread) {
  if (thread >= threads_.size()) threads_.resize(thread + std::size_t{1});
  return threads_[thread];
}

void Repair::flush(Thread& thread, std::vector<Event>& out) {
  out.insert(out.end(), thread.begun.begin(), thread.begun.end());
  thread.depth += static_cast<std::uint32_t>(thread.begun.size());
  thread.begun.clear();
}

void Repair::let_go(ThreadId thread, LockId lock, std::vector<Event>& out) {
  std::vector<Hold>& held = threads_[thread].held;
  const auto hold = std::ranges::find(held, lock, &Hold::lock);
  const auto release = [&](tomos::Op op, std::uint32_t times) {
    for (; times > 0; --times) {
      out.push_back({.thread = thread, .object = lock, .op = op});
      ++repaired_;
    }
  };
  release(tomos::Op::kReadRelease, hold->reads);
  release(tomos::Op::kRelease, hold->writes);
  held.erase(hold);
  std::erase(holders_[lock], thread);
}

void Repair::close(ThreadId thread, std::vector<Event>& out) {
  Thread& closed = threads_[thread];
  closed.begun.clear();
  while (!closed.held.empty()) let_go(thread, closed.held.back().lock, out);
  for (; closed.depth > 0; --closed.depth) {
    out.push_back({.thread = thread, .op = tomos::Op::kEnd});
    ++repaired_;
  }
}

void Repair::destroy(LockId lock, std::vector<Event>& out) {
  if (lock >= holders_.size()) return;
  while (!holders_[lock].empty()) let_go(holders_[lock].back(), lock, out);
}

void Repair::acquire(const Event& event, std::vector<Event>& out) {
  if (event.object >= holders_.size()) holders_.resize(event.object + std::size_t{1});
  const bool reads = event.op == tomos::Op::kReadAcquire;
  Holders& holders = holders_[event.object];
  for (std::size_t i = holders.size(); i-- > 0;) {
    const ThreadId other = holders[i];
    if (other == event.thread) continue;
    const auto hold = std::ranges::find(threads_[other].held, event.object, &Hold::lock);
    if (!reads || hold->writes > 0) let_go(other, event.object, out);
  }
  std::vector<Hold>& held = threads_[event.thread].held;
  auto hold = std::ranges::find(held, event.object, &Hold::lock);
  if (hold == held.end()) {
    hold = held.insert(held.end(), {.lock = event.object});
    holders.push_back(event.thread);
  }
  ++(reads ? hold->reads : hold->writes);
  pass(event, out);
}

void Repair::release(const Event& event, std::vector<Event>& out) {
  std::vector<Hold>& held = threads_[event.thread].held;
  const auto hold = std::ranges::find(held, event.object, &Hold::lock);
  if (hold == held.end()) {
    ++repaired_;
    return;
  }
  bool reads = event.op == tomos::Op::kReadRelease;
  if ((reads ? hold->reads : hold->writes) == 0) {
    ++repaired_;
    reads = !reads;
  }
  --(reads ? hold->reads : hold->writes);
  if (hold->reads + hold->writes == 0) {
    held.erase(hold);
    std::erase(holders_[event.object], event.thread);
  }
  Event right = event;
  right.op = reads ? tomos::Op::kReadRelease : tomos::Op::kRelease;
  pass(right, out);
}

void Repair::fork(const Event& event, std::vector<Event>& out) {
  Thread& forked = at(event.object);
  if (event.object == event.thread || forked.state != State::kUnknown) {
    ++repaired_;
    return;
  }
  forked.state = State::kForked;
  pass(event, out);
}

void Repair::join(const Event& event, std::vector<Event>& out) {
  Thread& joined = at(event.object);
  if (event.object == event.thread || joined.state == State::kJoined) {
    ++repaired_;
    return;
  }
  if (joined.state == State::kRuns) close(event.object, out);
  joined.begun.clear();
  joined.state = State::kJoined;
  pass(event, out);
}

void Repair::end(const Event& event, std::vector<Event>& out) {
  Thread& thread = threads_[event.thread];
  if (!thread.begun.empty()) {
    thread.begun.pop_back();
  } else if (thread.depth > 0) {
    --thread.depth;
    out.push_back(event);
  } else {
    ++repaired_;
  }
}

void Repair::step(const Event& event, std::vector<Event>& out) {
  if (!runs(event.thread)) {
    ++repaired_;
    return;
  }
  Thread& thread = at(event.thread);
  switch (event.op) {
    case tomos::Op::kBegin:
      thread.begun.push_back(event);
      if (everything_) {
        thread.state = State::kRuns;
        flush(thread, out);
      }
      break;
    case tomos::Op::kEnd:
      end(event, out);
      break;
    case tomos::Op::kAcquire:
    case tomos::Op::kReadAcquire:
      acquire(event, out);
      break;
    case tomos::Op::kRelease:
    case tomos::Op::kReadRelease:
      release(event, out);
      break;
    case tomos::Op::kFork:
      fork(event, out);
      break;
    case tomos::Op::kJoin:
      join(event, out);
      break;
    case tomos::Op::kExit:
      close(event.thread, out);
      pass(event, out);
      threads_[event.thread].state = State::kExited;
      break;
    case tomos::Op::kRead:
    case tomos::Op::kWrite:
    case tomos::Op::kBarrier:
    case tomos::Op::kSignal:
    case tomos::Op::kWait:
    case tomos::Op::kNew:
    case tomos::Op::kEscape:
    case tomos::Op::kFree:
      pass(event, out);
      break;
  }
}

}  // namespace tomos::recording
