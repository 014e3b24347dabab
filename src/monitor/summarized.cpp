#include "monitor/summarized.h"

#include <stdexcept>

namespace tomos {

namespace {

using Space = SummarizedGraph::Space;
using Label = SummarizedGraph::Label;

AnalysisOptions quiet(AnalysisOptions options) {
  options.violating_events = nullptr;
  return options;
}

}  // namespace

Summarized::Summarized(const AnalysisOptions& options)
    : options_(options), explanation_(quiet(options)) {}

void Summarized::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
    if (step(event)) {
      ++violations_;
      if (options_.violating_events != nullptr) options_.violating_events->push_back(index_);
    }
    ++index_;
  }
  explanation_.on_events(events);
  if (explanation_.violating_events() != violations_) {
    throw std::logic_error("summarized and vector-clock disagree");
  }
}

Summarized::Slot Summarized::slot_of(ThreadId thread) {
  if (thread >= slot_of_.size()) slot_of_.resize(thread + 1, kNobody);
  Slot& slot = slot_of_[thread];
  if (slot == kNobody) {
    slot = graph_.open_thread();
    if (slot >= threads_.size()) threads_.resize(slot + 1);
    threads_[slot] = {};
  }
  return slot;
}

bool Summarized::step(const Event& event) {
  switch (event.op) {
    case Op::kRead:
    case Op::kWrite: {
      const bool is_write = event.op == Op::kWrite;
      const Slot slot = slot_of(event.thread);
      const bool closes = graph_.order(slot, Space::kVariable, event.object, is_write);
      graph_.record(slot, Space::kVariable, event.object, is_write ? Label::kWrite : Label::kRead);
      return closes;
    }
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kReadAcquire:
    case Op::kReadRelease:
      return options_.edges == Edges::kSync && synchronise(event);
    case Op::kBegin: {
      const Slot slot = slot_of(event.thread);
      if (threads_[slot].transaction.begin(event)) graph_.begin(slot);
      return false;
    }
    case Op::kEnd: {
      const Slot slot = slot_of(event.thread);
      if (threads_[slot].transaction.end()) graph_.end(slot);
      return false;
    }
    case Op::kFork: {
      const Slot slot = cut(event.thread);
      if (options_.edges == Edges::kSync) graph_.follow(slot_of(event.object), slot);
      resume(slot);
      return false;
    }
    case Op::kJoin:
      join(event);
      return false;
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
      resume(cut(event.thread));
      return false;
    case Op::kFree:
      graph_.forget(Space::kVariable, event.object);
      return false;
    case Op::kExit:
      exit(event.thread);
      return false;
    case Op::kNew:
    case Op::kEscape:
      return false;
  }
  return false;
}

bool Summarized::synchronise(const Event& event) {
  const Slot slot = slot_of(event.thread);
  HeldLocks& held = threads_[slot].locks;
  const bool takes = event.op == Op::kAcquire || event.op == Op::kReadAcquire;
  const bool outermost = takes ? held.acquire(event.object) : held.release(event.object);
  if (!outermost) return false;
  if (takes) {
    return graph_.order(slot, Space::kLock, event.object, event.op == Op::kAcquire);
  }
  graph_.record(slot, Space::kLock, event.object,
                event.op == Op::kRelease ? Label::kWrite : Label::kRead);
  return false;
}

Summarized::Slot Summarized::cut(ThreadId thread) {
  const Slot slot = slot_of(thread);
  if (threads_[slot].transaction.inside()) graph_.end(slot);
  return slot;
}

void Summarized::resume(Slot slot) {
  if (threads_[slot].transaction.inside()) graph_.begin(slot);
}

void Summarized::join(const Event& event) {
  const ThreadId child = event.object;
  const Slot slot = cut(event.thread);
  if (const auto exited = exited_.find(child); exited != exited_.end()) {
    graph_.join(slot, exited->second);
    exited_.erase(exited);
  } else if (child < slot_of_.size() && slot_of_[child] != kNobody) {
    const Slot ended = cut(child);
    if (options_.edges == Edges::kSync) graph_.follow(slot, ended);
    graph_.close_thread(ended);
    slot_of_[child] = kNobody;
  }
  resume(slot);
}

void Summarized::exit(ThreadId thread) {
  const Slot slot = cut(thread);
  slot_of_[thread] = kNobody;
  if (options_.edges == Edges::kData) {
    graph_.close_thread(slot);
    return;
  }
  const SummarizedGraph::Ended ended = graph_.close_unjoined(slot);
  if (ended != SummarizedGraph::kNothing) exited_.insert_or_assign(thread, ended);
}

}  // namespace tomos
