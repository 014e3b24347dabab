// Annotations: what programs themselves say about their synchronisation, in ThreadSanitizer's words
// (<sanitizer/tsan_interface.h>, and the older dynamic annotations), and what the pass plugin says
// about the synchronisation that is header-only in libstdc++ (abi.h).
#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/abi.h"
#include "runtime/interpose.h"
#include "schedule/control.h"

using namespace tomos::runtime;

namespace {

// An Ignore that one call begins and another ends. It has no state of its own.
static_assert(sizeof(Ignore) == 1);
union OpenIgnore {
  OpenIgnore() {}
  ~OpenIgnore() {}
  Ignore ignore;
};

void begin_ignoring() {
  OpenIgnore open;
  new (&open.ignore) Ignore;
}
void end_ignoring() {
  OpenIgnore open;
  open.ignore.~Ignore();
}

// The flags of <sanitizer/tsan_interface.h> that change what is told.
constexpr unsigned kReadLock = 1U << 3;
constexpr unsigned kTryLock = 1U << 4;
constexpr unsigned kTryLockFailed = 1U << 5;
constexpr unsigned kRecursiveLock = 1U << 6;
constexpr unsigned kRecursiveUnlock = 1U << 7;

LockMode mode_of(unsigned flags) {
  return (flags & kReadLock) != 0 ? LockMode::kRead : LockMode::kWrite;
}

}  // namespace

// --- Order.

TOMOS_EXPORT void __tsan_acquire(void* object) { wait_over(object, TOMOS_CALLER()); }
TOMOS_EXPORT void __tsan_release(void* object) { signal(object, TOMOS_CALLER()); }

// --- Locks that the program makes itself. What they do inside is no business of ours.

TOMOS_EXPORT void __tsan_mutex_create(void* /*lock*/, unsigned /*flags*/) {}
TOMOS_EXPORT void __tsan_mutex_destroy(void* lock, unsigned /*flags*/) {
  destroyed(lock, TOMOS_CALLER());
}
TOMOS_EXPORT void __tsan_mutex_pre_lock(void* /*lock*/, unsigned /*flags*/) { begin_ignoring(); }
TOMOS_EXPORT void __tsan_mutex_post_lock(void* lock, unsigned flags, int recursion) {
  end_ignoring();
  if ((flags & kTryLockFailed) != 0) return;
  const int times = (flags & kRecursiveLock) != 0 ? recursion : 1;
  const Taking how = (flags & kTryLock) != 0 ? Taking::kTrying : Taking::kWaiting;
  for (int i = 0; i < times; ++i) acquired(lock, mode_of(flags), TOMOS_CALLER(), how);
}
// How many levels a recursive unlock gives back is the lock's to know; one is what we answer.
TOMOS_EXPORT int __tsan_mutex_pre_unlock(void* lock, unsigned flags) {
  releasing(lock, mode_of(flags), TOMOS_CALLER());
  begin_ignoring();
  return (flags & kRecursiveUnlock) != 0 ? 1 : 0;
}
TOMOS_EXPORT void __tsan_mutex_post_unlock(void* /*lock*/, unsigned /*flags*/) { end_ignoring(); }
TOMOS_EXPORT void __tsan_mutex_pre_signal(void* /*lock*/, unsigned /*flags*/) { begin_ignoring(); }
TOMOS_EXPORT void __tsan_mutex_post_signal(void* /*lock*/, unsigned /*flags*/) { end_ignoring(); }
// The program's own work again, in the midst of an operation on a lock.
TOMOS_EXPORT void __tsan_mutex_pre_divert(void* /*lock*/, unsigned /*flags*/) { end_ignoring(); }
TOMOS_EXPORT void __tsan_mutex_post_divert(void* /*lock*/, unsigned /*flags*/) { begin_ignoring(); }
TOMOS_EXPORT void __tsan_check_no_mutexes_held() {}

// --- Leaving out.

TOMOS_EXPORT void __tsan_ignore_thread_begin() { begin_ignoring(); }
TOMOS_EXPORT void __tsan_ignore_thread_end() { end_ignoring(); }

// --- Objects of libraries that are not instrumented: one variable each, at their first byte.

TOMOS_EXPORT void* __tsan_external_register_tag(const char* /*name*/) {
  static constinit char tag = 0;
  return &tag;
}
TOMOS_EXPORT void __tsan_external_register_header(void* /*tag*/, const char* /*header*/) {}
TOMOS_EXPORT void __tsan_external_assign_tag(void* /*object*/, void* /*tag*/) {}
TOMOS_EXPORT void __tsan_external_read(void* object, void* caller, void* /*tag*/) {
  read_range(object, 1, reinterpret_cast<Address>(caller));
}
TOMOS_EXPORT void __tsan_external_write(void* object, void* caller, void* /*tag*/) {
  write_range(object, 1, reinterpret_cast<Address>(caller));
}

// --- Fibers. What a fiber does counts as done by the thread that it runs on: a fiber that moves to
// another thread is not followed, but what it did there comes before what it does here.

namespace {

struct Fiber {
  char object;
};
constinit thread_local Fiber thread_fiber = {};
constinit thread_local Fiber* current_fiber = nullptr;

Fiber* this_fiber() { return current_fiber == nullptr ? &thread_fiber : current_fiber; }

constexpr unsigned kSwitchWithoutOrder = 1;

}  // namespace

TOMOS_EXPORT void* __tsan_get_current_fiber() { return this_fiber(); }
TOMOS_EXPORT void* __tsan_create_fiber(unsigned /*flags*/) {
  return allocate(sizeof(Fiber), TOMOS_CALLER());
}
TOMOS_EXPORT void __tsan_destroy_fiber(void* fiber) { deallocate(fiber, TOMOS_CALLER()); }
TOMOS_EXPORT void __tsan_switch_to_fiber(void* fiber, unsigned flags) {
  if ((flags & kSwitchWithoutOrder) == 0) {
    signal(this_fiber(), TOMOS_CALLER());
    wait_over(fiber, TOMOS_CALLER());
  }
  current_fiber = static_cast<Fiber*>(fiber);
}
TOMOS_EXPORT void __tsan_set_fiber_name(void* /*fiber*/, const char* /*name*/) {}

// --- The dynamic annotations.

using File = const char*;
using Place = const volatile void*;

TOMOS_EXPORT void AnnotateHappensBefore(File, int, Place object) {
  signal(const_cast<const void*>(object), TOMOS_CALLER());
}
TOMOS_EXPORT void AnnotateHappensAfter(File, int, Place object) {
  wait_over(const_cast<const void*>(object), TOMOS_CALLER());
}
TOMOS_EXPORT void WTFAnnotateHappensBefore(File, int, Place object) {
  signal(const_cast<const void*>(object), TOMOS_CALLER());
}
TOMOS_EXPORT void WTFAnnotateHappensAfter(File, int, Place object) {
  wait_over(const_cast<const void*>(object), TOMOS_CALLER());
}
TOMOS_EXPORT void AnnotateCondVarSignal(File, int, Place object) {
  signal(const_cast<const void*>(object), TOMOS_CALLER(), OrderKind::kCondition);
}
TOMOS_EXPORT void AnnotateCondVarSignalAll(File, int, Place object) {
  signal(const_cast<const void*>(object), TOMOS_CALLER(), OrderKind::kCondition);
}
TOMOS_EXPORT void AnnotateCondVarWait(File, int, Place object, Place /*lock*/) {
  wait_over(const_cast<const void*>(object), TOMOS_CALLER(), OrderKind::kCondition);
}

TOMOS_EXPORT void AnnotateRWLockCreate(File, int, Place /*lock*/) {}
TOMOS_EXPORT void AnnotateRWLockCreateStatic(File, int, Place /*lock*/) {}
TOMOS_EXPORT void AnnotateRWLockDestroy(File, int, Place lock) {
  destroyed(const_cast<const void*>(lock), TOMOS_CALLER());
}
TOMOS_EXPORT void AnnotateRWLockAcquired(File, int, Place lock, long is_write) {
  acquired(const_cast<const void*>(lock), is_write != 0 ? LockMode::kWrite : LockMode::kRead,
           TOMOS_CALLER());
}
TOMOS_EXPORT void AnnotateRWLockReleased(File, int, Place lock, long is_write) {
  releasing(const_cast<const void*>(lock), is_write != 0 ? LockMode::kWrite : LockMode::kRead,
            TOMOS_CALLER());
}

TOMOS_EXPORT void AnnotateIgnoreReadsBegin(File, int) { begin_ignoring(); }
TOMOS_EXPORT void AnnotateIgnoreReadsEnd(File, int) { end_ignoring(); }
TOMOS_EXPORT void AnnotateIgnoreWritesBegin(File, int) { begin_ignoring(); }
TOMOS_EXPORT void AnnotateIgnoreWritesEnd(File, int) { end_ignoring(); }

TOMOS_EXPORT void AnnotateThreadName(File, int, const char* name) {
  thread_named(this_thread(), name);
}

// --- The pass plugin's.

// An arrival for several threads at once meets nobody in particular: it is order, not a meeting.
TOMOS_EXPORT void __tomos_std_barrier_arrive(const void* object, long expected) {
  tomos::schedule::fine_turn(object, TOMOS_CALLER());
  if (expected > 0) {
    barrier_arrive(object, static_cast<std::uint32_t>(expected), TOMOS_CALLER());
  } else {
    signal(object, TOMOS_CALLER());
  }
}
TOMOS_EXPORT void __tomos_std_barrier_arrived(const void* object, bool last) {
  if (last) barrier_leave(object, TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_std_barrier_leave(const void* object) {
  barrier_leave(object, TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_std_signal(const void* object) {
  tomos::schedule::fine_turn(object, TOMOS_CALLER());
  signal(object, TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_std_ask(const void* object) {
  tomos::schedule::fine_turn(object, TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_std_wait_over(const void* object, bool success) {
  if (success) wait_over(object, TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_semaphore_release(const void* object, long tokens) {
  tomos::schedule::fine_turn(object, TOMOS_CALLER());
  if (tokens > 0) semaphore_posting(object, static_cast<std::uint64_t>(tokens), TOMOS_CALLER());
}
TOMOS_EXPORT void __tomos_semaphore_acquired(const void* object, bool success, int left) {
  if (!success) return;
  semaphore_passed(object, left > 0 ? static_cast<std::uint64_t>(left) : 0, TOMOS_CALLER());
}
