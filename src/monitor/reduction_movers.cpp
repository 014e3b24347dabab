#include "monitor/reduction_movers.h"

#include <utility>

namespace tomos {

void LockMovers::use(const Event& event, Context& context) {
  const bool writes = event.op == Op::kAcquire || event.op == Op::kRelease;
  sharings_.use(at(event.object).sharing, context.period(event.thread), writes, context.periods());
  // An acquired lock is protected by what is held now, and after a release (or when a lock is only
  // kept for reading) the locks still held have one protector less.
  const Context::Thread& thread = context.thread(event.thread);
  for (const Context::Held& held : thread.held) {
    const State& state = at(held.lock);
    if (state.protectors != 0 && state.held != thread.locks) {
      protect(held.lock, thread, context.locksets());
    }
  }
}

void LockMovers::protect(LockId lock, const Context::Thread& thread, Locksets& locksets) {
  State& state = states_[lock];
  state.held = thread.locks;
  // What is held now and was acquired before it; what was released since then was taken out when
  // that happened.
  std::vector<ModeLock> others;
  for (const Context::Held& held : thread.held) {
    if (held.lock == lock) break;
    if (held.writes > 0) others.push_back(held.code());
  }
  const LocksetId now = locksets.intern(std::move(others));
  state.protectors = state.protectors == kAllLocks ? now : locksets.common(state.protectors, now);
}

void CarriedLocks::before(ThreadId thread) {
  if (thread >= kept_.size()) return;
  for (const LockId lock : kept_[thread]) {
    if (lock >= is_carried_.size()) is_carried_.resize(lock + std::size_t{1});
    is_carried_[lock] = true;
  }
}

void CarriedLocks::after(ThreadId thread, Context& context) {
  const std::vector<Context::Held>& held = context.thread(thread).held;
  if (thread >= kept_.size()) {
    if (held.empty()) return;
    kept_.resize(thread + std::size_t{1});
  }
  // What is kept is held, so if it is as much it is the same.
  std::vector<LockId>& kept = kept_[thread];
  if (kept.size() == held.size()) return;
  kept.clear();
  for (const Context::Held& one : held) kept.push_back(one.lock);
}

void CarriedLocks::release(ThreadId thread, LockId lock) {
  if (thread < kept_.size()) std::erase(kept_[thread], lock);
}

VariableMovers::VariableMovers(const AnalysisOptions& options)
    : algorithm_(options.multilockset                         ? Algorithm::kMultilockset
                 : (options.escape || options.happens_before) ? Algorithm::kRevisedEraser
                                                              : Algorithm::kObject) {}

bool VariableMovers::is_news(SharedId variable, const Event& event, Context& context) {
  if (algorithm_ != Algorithm::kMultilockset) return true;
  const bool is_news =
      multilockset_.is_news(variable, context.period(event.thread),
                            context.thread(event.thread).locks, event.op == Op::kWrite);
  return is_news;
}

RaceNews VariableMovers::judge(SharedId variable, const RaceAccess& access, Context& context) {
  if (algorithm_ == Algorithm::kMultilockset) {
    return multilockset_.learn(variable, access, context.periods(), context.locksets());
  }
  if (variable >= sharing_.size()) sharing_.resize(variable + std::size_t{1});
  sharings_.use(sharing_[variable], access.period, access.writes(), context.periods());
  if (algorithm_ == Algorithm::kRevisedEraser) {
    if (variable >= eraser_.size()) eraser_.resize(variable + std::size_t{1});
    return update_revised(eraser_[variable], access, context.locksets(), context.periods());
  }
  if (variable >= object_.size()) object_.resize(variable + std::size_t{1});
  return update(object_[variable], access, context.locksets());
}

void VariableMovers::access(const Event& event, Context& context) {
  const SharedId variable = context.variable();
  if (!is_news(variable, event, context)) return;
  if (event.object >= shared_of_.size()) shared_of_.resize(event.object + std::size_t{1});
  shared_of_[event.object] = variable;
  const RaceAccess access = accesses_.access(event, context);
  const RaceNews news = judge(variable, access, context);
  if (news == RaceNews::kNone) return;
  witnesses_.remember(variable, access, context.periods(), context.locksets());
  if (news == RaceNews::kRace) {
    if (variable >= is_racy_.size()) is_racy_.resize(variable + std::size_t{1});
    is_racy_[variable] = true;
  }
}

bool VariableMovers::is_harmless(SharedId variable) const {
  return algorithm_ == Algorithm::kMultilockset ? multilockset_.is_harmless(variable)
                                                : sharing_[variable].is_harmless();
}

}  // namespace tomos
