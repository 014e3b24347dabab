// Locks, barriers, and order without either, as the interposition layer tells them.
#include "runtime/escape.h"
#include "runtime/runtime.h"

namespace tomos::runtime {

using recording::Op;

namespace {

Address id(const volatile void* object) { return reinterpret_cast<Address>(object); }

Held* find_held(Thread& thread, const void* lock) {
  for (std::uint32_t i = thread.held_count; i > 0; --i) {
    if (thread.held[i - 1].lock == lock) return &thread.held[i - 1];
  }
  return nullptr;
}

// A critical section that is no transaction and in which nothing was recorded is nothing to those
// that do not ask for order.
bool is_empty_section(const Thread& thread) {
  return thread.opened == Opened::kNothing && thread.mark.slot != nullptr &&
         thread.mark.slot_after == thread.next && thread.held_count + thread.held_beyond == 0;
}

// The stamp now, for what others will follow.
void advance(Thread& thread) {
  const Stamp now = ticks();
  if (thread.stamp < now) thread.stamp = now;
}

}  // namespace

std::uint64_t held_fingerprint(const Thread& thread) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < thread.held_count; ++i) {
    const Held& held = thread.held[i];
    sum += mixed(mixed(id(held.lock), lives.of(id(held.lock))),
                 held.times << 8 | static_cast<std::uint64_t>(held.mode));
  }
  return sum;
}

void acquired(const void* lock, LockMode mode, Address pc, Taking how) {
  Thread* thread = current_thread;
  const AtWork at_work(thread);
  if (!at_work) return;
  if (Held* held = find_held(*thread, lock); held != nullptr) {
    ++held->times;
  } else {
    const bool outermost = thread->held_count + thread->held_beyond == 0;
    if (thread->held_count < kMaxHeld) {
      thread->held[thread->held_count++] = {.lock = lock, .mode = mode, .times = 1, .pc = pc};
    } else {
      ++thread->held_beyond;
    }
    if (observer == nullptr) return;
    look_at_stored_pointer(*thread);
    if (outermost && thread->opened == Opened::kNothing && thread->not_atomic == 0) {
      open_transaction(*thread, Opened::kCriticalSection, critical_section_label(pc), pc);
    }
  }
  if (observer == nullptr) return;
  note_synchronising(*thread, pc);
  thread->stamp = follow(id(lock), thread->stamp);
  new_epoch(*thread);
  const bool by_itself =
      thread->opened == Opened::kNothing && thread->held_count == 1 && thread->held[0].times == 1;
  if (by_itself) set_mark(*thread);
  record(*thread, mode == LockMode::kWrite ? Op::kAcquire : Op::kReadAcquire,
         how == Taking::kTrying ? 1 : 0, id(lock), pc);
  if (by_itself) thread->mark.slot_after = thread->next;
}

void releasing(const void* lock, LockMode mode, Address pc) {
  Thread* thread = current_thread;
  const AtWork at_work(thread);
  if (!at_work) return;
  Held* held = find_held(*thread, lock);
  if (held != nullptr) {
    mode = held->mode;
    if (--held->times == 0) {
      for (Held* last = &thread->held[--thread->held_count]; held < last; ++held) held[0] = held[1];
    }
  } else if (thread->held_beyond > 0) {
    --thread->held_beyond;
  } else {
    return;  // not this thread's to release
  }
  if (observer == nullptr) return;
  look_at_stored_pointer(*thread);
  if (is_empty_section(*thread)) {
    take_back(*thread, thread->mark);
    thread->mark.slot = nullptr;
    advance(*thread);
  } else {
    record(*thread, mode == LockMode::kWrite ? Op::kRelease : Op::kReadRelease, 0, id(lock), pc);
  }
  if (thread->opened == Opened::kCriticalSection && thread->held_count + thread->held_beyond == 0) {
    close_transaction(*thread, pc);
  } else {
    new_epoch(*thread);
  }
  leave(id(lock), thread->stamp);
}

void destroyed(const void* lock, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  record(*thread, Op::kDestroy, 0, id(lock), pc);
  lives.end(id(lock), 1);
}

namespace {

void record_signal(const void* object, std::uint8_t order, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  look_at_stored_pointer(*thread);
  record(*thread, Op::kSignal, order, id(object), pc);
  new_period(*thread);
  leave(id(object), thread->stamp);
}

void record_wait(const void* object, std::uint8_t order, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  look_at_stored_pointer(*thread);
  note_synchronising(*thread, pc);
  thread->stamp = follow(id(object), thread->stamp);
  new_period(*thread);
  record(*thread, Op::kWait, order, id(object), pc);
}

std::uint8_t order_of(OrderKind kind) {
  return kind == OrderKind::kPlain ? recording::kPlainOrder : recording::kCondition;
}

}  // namespace

// Of a condition variable all that counts is what the mutex protects, and its order is on record.
void signal(const void* object, Address pc, OrderKind kind) {
  if (kind == OrderKind::kCondition) return;
  record_signal(object, order_of(kind), pc);
}

void wait_over(const void* object, Address pc, OrderKind kind) {
  if (kind == OrderKind::kCondition) return;
  record_wait(object, order_of(kind), pc);
}

void semaphore_posting(const void* semaphore, std::uint64_t tokens, Address pc) {
  constexpr std::uint64_t kMost = 1 + recording::kManyLeft - recording::kSemaphore;
  while (tokens > 0) {
    const std::uint64_t some = tokens < kMost ? tokens : kMost;
    record_signal(semaphore, static_cast<std::uint8_t>(recording::kSemaphore + some - 1), pc);
    tokens -= some;
  }
}

void semaphore_passed(const void* semaphore, std::uint64_t left, Address pc) {
  constexpr std::uint64_t kMost = recording::kManyLeft - recording::kSemaphore;
  record_wait(semaphore,
              static_cast<std::uint8_t>(recording::kSemaphore + (left < kMost ? left : kMost)), pc);
}

void barrier_arrive(const void* barrier, std::uint32_t count, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  look_at_stored_pointer(*thread);
  note_synchronising(*thread, pc);
  record(*thread, Op::kBarrier, 0, id(barrier), pc, count, 0);
  new_period(*thread);
  leave(id(barrier), thread->stamp);
}

void barrier_leave(const void* barrier, Address) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (at_work) thread->stamp = follow(id(barrier), thread->stamp);
}

// --- Atomic operations. The operation and its stamp are one step to other threads' operations on
// the same address: a lock for each of a few hundred groups of addresses.

namespace {

constexpr unsigned kGroupBits = 10;
struct alignas(64) Group {
  std::atomic<bool> taken;
};
Group groups[1U << kGroupBits];

Group& group_of(const volatile void* address) {
  return groups[((id(address) >> 3) * 0x9e37'79b9'7f4a'7c15U) >> (64 - kGroupBits)];
}

}  // namespace

void forget_atomic_operations() {
  for (Group& group : groups) group.taken = false;
}

void atomic_before(const volatile void* address, AtomicKind, int) {
  Thread* thread = observer;
  if (thread == nullptr || thread->at_work++ != 0) return;
  look_at_stored_pointer(*thread);
  Group& group = group_of(address);
  while (group.taken.exchange(true, std::memory_order_acquire)) __builtin_ia32_pause();
}

void atomic_after(const volatile void* address, std::size_t size, AtomicKind kind, int,
                  Address pc) {
  Thread* thread = observer;
  if (thread == nullptr || --thread->at_work != 0) return;
  ++thread->at_work;
  thread->stamp = follow(id(address), thread->stamp);
  const bool write = kind != AtomicKind::kRead;
  bool shared = false;
  const bool tell =
      note_access(*thread, id(address), static_cast<std::uint32_t>(size), write, pc, &shared);
  if (tell) {
    const Op op = kind == AtomicKind::kRead    ? Op::kAtomicRead
                  : kind == AtomicKind::kWrite ? Op::kAtomicWrite
                                               : Op::kAtomicUpdate;
    record(*thread, op, static_cast<std::uint8_t>(size), id(address), pc);
  } else {
    advance(*thread);
  }
  if (write) leave(id(address), thread->stamp);
  group_of(address).taken.store(false, std::memory_order_release);
  --thread->at_work;
  if (shared && write && size == 8) await_stored_pointer(*thread, id(address));
}

void fence(int) {}

}  // namespace tomos::runtime
