#include "monitor/reduction_online.h"

#include <algorithm>

namespace tomos {

namespace {

AnalysisOptions plain(AnalysisOptions options) {
  options.escape = options.happens_before = options.multilockset = options.acq_a_rel = false;
  return options;
}

}  // namespace

ReductionOnline::ReductionOnline(const AnalysisOptions& options)
    : context_(plain(options)), variables_(plain(options)), reports_(options.max_findings) {}

void ReductionOnline::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
    const Context::Thread& now = context_.thread(event.thread);
    Step step{
        .op = event.op, .object = event.object, .location = event.location, .held = now.locks};
    if (event.op == Op::kRelease || event.op == Op::kReadRelease) {
      const auto lock = std::ranges::find(now.held, event.object, &Context::Held::lock);
      if (lock != now.held.end()) step.acquired = lock->acquired;
    }
    switch (context_.take(event)) {
      case Context::Step::kNothing:
        break;
      case Context::Step::kAccess:
        variables_.access(event, context_);
        step.object = context_.variable();
        take(event.thread, variables_.is_racy(step.object) ? 'N' : 'B', step);
        break;
      case Context::Step::kAcquire:
        locks_.use(event, context_);
        take(event.thread, locks_.is_both_mover(event.object) ? 'B' : 'R', step);
        break;
      case Context::Step::kRelease:
        locks_.use(event, context_);
        take(event.thread, locks_.is_both_mover(event.object) ? 'B' : 'L', step);
        break;
      case Context::Step::kBegin:
      case Context::Step::kCut:
        restart(event.thread);
        break;
    }
  }
}

void ReductionOnline::restart(ThreadId id) {
  Thread& thread = this->thread(id);
  thread.is_past = thread.is_reported = false;
  thread.number = transactions_++;
  thread.pattern.clear();
}

void ReductionOnline::take(ThreadId id, char letter, const Step& step) {
  if (!context_.thread(id).transaction.inside()) return;
  Thread& thread = this->thread(id);
  if (thread.is_reported) return;
  thread.pattern.add(letter);
  if (letter == 'B') return;
  if (!thread.is_past) {
    thread.is_past = letter != 'R';
    thread.past = step;
  } else if (letter != 'L') {
    thread.is_reported = true;
    report(id, thread, step);
  }
}

void ReductionOnline::report(ThreadId id, const Thread& thread, const Step& last) {
  const TransactionBounds& bounds = context_.thread(id).transaction;
  MisfitReport known{.thread = id, .label = bounds.label, .begin = bounds.start};
  known.first.op = thread.past.op;
  known.first.location = thread.past.location;
  known.second.op = last.op;
  known.second.location = last.location;
  known.number = thread.number;
  MisfitReport* fresh = reports_.add(known, 1);
  if (fresh == nullptr) return;
  fresh->pattern = thread.pattern.text();
  fresh->first = event_of(thread.past, id);
  fresh->second = event_of(last, id);
}

MisfitEvent ReductionOnline::event_of(const Step& step, ThreadId thread) const {
  MisfitEvent event{.op = step.op,
                    .object = step.object,
                    .location = step.location,
                    .other_end = step.acquired,
                    .locks = context_.locksets().locks(step.held),
                    .partner = {}};
  if (step.op == Op::kRead || step.op == Op::kWrite) {
    find_partner(event, thread, variables_, context_);
  }
  return event;
}

}  // namespace tomos
