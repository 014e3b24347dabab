#include "monitor/reduction.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tomos {

namespace {

Op op_of(TreeStep::Kind kind) {
  switch (kind) {
    case TreeStep::Kind::kRead:
      return Op::kRead;
    case TreeStep::Kind::kWrite:
      return Op::kWrite;
    case TreeStep::Kind::kAcquire:
      return Op::kAcquire;
    case TreeStep::Kind::kReadAcquire:
      return Op::kReadAcquire;
    case TreeStep::Kind::kRelease:
      return Op::kRelease;
    case TreeStep::Kind::kReadRelease:
      return Op::kReadRelease;
    case TreeStep::Kind::kBlock:
    case TreeStep::Kind::kBegin:
    case TreeStep::Kind::kHeld:
      break;
  }
  return Op::kBegin;
}

const Context::Held* held_by(const Context::Thread& thread, LockId lock) {
  const auto held = std::ranges::find(thread.held, lock, &Context::Held::lock);
  return held == thread.held.end() ? nullptr : &*held;
}

}  // namespace

void Reduction::on_events(std::span<const Event> events) {
  // Variables are met in no order: ask for their memory well before it is needed.
  constexpr std::size_t kSoon = 12;
  constexpr std::size_t kLater = 24;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + kLater < events.size()) {
      if (const Event& later = events[i + kLater]; is_access(later.op)) {
        variables_.expect_later(later.object);
      }
      if (const Event& soon = events[i + kSoon]; is_access(soon.op)) {
        variables_.expect_soon(soon.object);
      }
    }
    const Event& event = events[i];
    switch (context_.take(event)) {
      case Context::Step::kNothing:
        break;
      case Context::Step::kAccess:
        access(event);
        break;
      case Context::Step::kAcquire:
        acquire(event);
        break;
      case Context::Step::kRelease:
        release(event);
        break;
      case Context::Step::kBegin:
        begin(event.thread);
        break;
      case Context::Step::kCut:
        cut(event);
        break;
    }
  }
  if (forest_.size() > forget_at_) forget();
}

void Reduction::finish() {
  for (ThreadId id = 0; id < threads_.size(); ++id) end(id);
  const ReductionJudge judge = this->judge();
  for (const TransactionTree& tree : forest_.trees()) {
    const std::span<const TreeStep> steps = forest_.steps(tree.node);
    if (const auto misfit = judge.judge(steps)) report(judge, steps, tree, *misfit);
  }
}

void Reduction::access(const Event& event) {
  variables_.access(event, context_);
  Thread& thread = this->thread(event.thread);
  if (thread.is_inside) {
    start(thread, event.thread);
    thread.transaction.access(context_.variable(), event.op, event.location);
    if (thread.transaction.steps().size() >= thread.look_at) look_at_long(thread, event.thread);
  } else if (!is_in_transaction(event.thread)) {
    carried_.before(event.thread);
    carried_.after(event.thread, context_);
  }
}

void Reduction::acquire(const Event& event) {
  locks_.use(event, context_);
  Thread& thread = this->thread(event.thread);
  if (thread.is_inside) {
    start(thread, event.thread);
    const Context::Held* held = held_by(context_.thread(event.thread), event.object);
    const bool is_upgrade = held->reads > 0 && held->writes > 0;
    thread.transaction.acquire(event.object, event.op == Op::kReadAcquire, !is_upgrade,
                               event.location);
  } else if (!is_in_transaction(event.thread)) {
    carried_.before(event.thread);
  }
}

void Reduction::release(const Event& event) {
  locks_.use(event, context_);
  Thread& thread = this->thread(event.thread);
  const bool is_over = held_by(context_.thread(event.thread), event.object) == nullptr;
  if (thread.is_inside) {
    start(thread, event.thread);
    thread.transaction.release(event.object, event.op == Op::kReadRelease, is_over, event.location,
                               forest_);
    if (thread.transaction.steps().size() >= thread.look_at) look_at_long(thread, event.thread);
  }
  if (is_over) carried_.release(event.thread, event.object);
  if (!is_in_transaction(event.thread)) carried_.after(event.thread, context_);
}

void Reduction::begin(ThreadId id) {
  Thread& thread = this->thread(id);
  const Context::Thread& now = context_.thread(id);
  thread.transaction.begin(now.transaction.label, now.transaction.start, now.locks);
  thread.is_inside = true;
  thread.is_started = false;
  thread.look_at = limits_.transaction;
  thread.number = transactions_++;
}

void Reduction::end(ThreadId id) {
  Thread& thread = this->thread(id);
  if (thread.is_inside && thread.transaction.may_misfit()) {
    forest_.add(thread.transaction.end(), id, thread.number);
  }
  if (thread.is_started) carried_.after(id, context_);
  thread.is_inside = thread.is_started = false;
}

void Reduction::cut(const Event& event) {
  end(event.thread);
  if (event.op == Op::kEnd) return;
  // Of a thread that is gone nothing is needed.
  if (event.op == Op::kExit) {
    thread(event.thread) = {};
    return;
  }
  if (event.op == Op::kJoin) {
    end(event.object);
    thread(event.object) = {};
  }
  // Fork, join and barrier stand where they are, like a transaction of their own.
  carried_.before(event.thread);
  carried_.after(event.thread, context_);
  if (is_in_transaction(event.thread)) begin(event.thread);
}

// The transaction has a step, so it counts.
void Reduction::start(Thread& thread, ThreadId id) {
  if (!std::exchange(thread.is_started, true)) carried_.before(id);
}

// A transaction that has become very long: perhaps there is no need to hear more of it.
void Reduction::look_at_long(Thread& thread, ThreadId id) {
  const std::span<const TreeStep> steps = thread.transaction.steps();
  const ReductionJudge judge = this->judge();
  if (const auto misfit = judge.judge(steps)) {
    report(judge, steps, {.node = 0, .thread = id, .first = thread.number, .count = 1}, *misfit);
    thread.is_inside = false;
  } else {
    thread.look_at = 2 * steps.size();
  }
}

void Reduction::forget() {
  const ReductionJudge judge = this->judge();
  std::vector<bool> keep(forest_.trees().size());
  for (std::size_t i = 0; i < keep.size(); ++i) {
    const TransactionTree& tree = forest_.trees()[i];
    const std::span<const TreeStep> steps = forest_.steps(tree.node);
    const auto misfit = judge.judge(steps);
    keep[i] = !misfit;
    if (misfit) report(judge, steps, tree, *misfit);
  }
  std::vector<std::span<TreeStep>> running;
  for (Thread& thread : threads_) {
    if (thread.is_inside) running.push_back(thread.transaction.steps());
  }
  forest_.retain(keep, running);
  forget_at_ = std::max(limits_.trees, 2 * forest_.size());
}

void Reduction::report(const ReductionJudge& judge, std::span<const TreeStep> steps,
                       const TransactionTree& tree, const Misfit& misfit) {
  MisfitReport known{.thread = tree.thread,
                     .label = steps.front().object,
                     .begin = steps.front().location,
                     .number = tree.first};
  known.first.op = op_of(misfit.first_step.kind);
  known.first.location = misfit.first_step.location;
  known.second.op = op_of(misfit.second_step.kind);
  known.second.location = misfit.second_step.location;
  MisfitReport* fresh = reports_.add(known, tree.count);
  if (fresh == nullptr) return;
  MisfitDetails details = judge.details(steps, misfit);
  fresh->pattern = std::move(details.pattern);
  fresh->first.object = misfit.first_step.object;
  fresh->first.locks = std::move(details.first_held);
  fresh->first.other_end = details.acquired;
  fresh->second.object = misfit.second_step.object;
  fresh->second.locks = std::move(details.second_held);
  fresh->second.other_end = details.released;
  if (misfit.first_step.is_access()) {
    find_partner(fresh->first, tree.thread, variables_, context_);
  }
  if (misfit.second_step.is_access()) {
    find_partner(fresh->second, tree.thread, variables_, context_);
  }
}

}  // namespace tomos
