#include "runtime/horizon.h"

namespace tomos::runtime {

Stamp World::look() const {
  const Stamp moment = ticks();
  const ThreadNumber count = thread_count();
  // A look costs as much as there are threads; until the next one the last answer serves.
  if (moment < thread.horizon_until) return thread.horizon;
  Stamp earliest = kNoTransaction;
  for (ThreadNumber number = 0; number < count; ++number) {
    const Thread* other = threads[number].load(std::memory_order_acquire);
    if (other == nullptr || other == &thread) continue;
    const Stamp since = other->open_since.load(std::memory_order_relaxed);
    if (since < earliest) earliest = since;
  }
  thread.horizon = earliest == kNoTransaction ? moment : earliest;
  thread.horizon_until = count > 64 ? moment + Stamp{256} * count : 0;
  return earliest;
}

}  // namespace tomos::runtime
