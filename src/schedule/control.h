// The scheduler as the interposition layer sees it: one thread runs at a time, and who is decided
// before every operation that threads can notice of one another.
//
// An operation under control is three things: its turn (a call of take_turn, which returns when the
// thread may do it and it will not block), the real operation, and what it changes for others
// (lock_taken, condition_notified, ...). Whether a thread can go on is never asked of the kernel:
// it is a function of what is known of locks, semaphores and so on (can_go_on in control.cpp), so
// that it is the same again in every run with the same seed.
//
// Rules: nothing here allocates, calls an interposed function or changes errno. A signal handler
// that interrupts the scheduler itself is not controlled: what it wakes is noticed afterwards
// (look_again).
#pragma once

#include <cstdint>

#include "runtime/hooks.h"
#include "schedule/area.h"

namespace tomos::schedule {

using runtime::Address;

struct Task;
// NOLINTBEGIN(bugprone-dynamic-static-initializers): they are constinit
// Of this thread; nullptr: it is not controlled.
extern thread_local constinit Task* self;
// The scheduler's own thread, and those that have ended but for their last moments.
extern thread_local constinit bool never_controlled;

// Whether operations of this thread are to be controlled now.
bool controlled();
// Whether memory accesses of instrumented code are switching points.
extern bool accesses_wanted;
// NOLINTEND(bugprone-dynamic-static-initializers)

// Reads TOMOS_SCHEDULE; in the first thread, before any other.
void set_up();

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

enum class Outcome : std::uint8_t { kGo, kTimedOut, kInterrupted };

struct Turn {
  Kind kind;
  const volatile void* object = nullptr;
  Address pc = 0;
  std::uint64_t deadline = kNever;  // in virtual nanoseconds, clock.h
  bool cancellable = false;         // a cancellation point
  bool interruptible = false;       // a handled signal ends it, unless it asks for a restart
  bool always_interruptible = false;
  const void* mutex = nullptr;  // for kWait: needed to go on
};
Outcome take_turn(const Turn& turn);
// A turn before what is in headers and made of atomics, only if the trial is one of fine steps.
void fine_turn(const void* object, Address pc);
// The same before a lock is given back.
void fine_turn_to_unlock(const volatile void* lock, Address pc);

// --- Locks. All after the real operation.
void lock_taken(const void* lock, bool shared, Address pc);
// And lets others go on, if the strategy says so.
void lock_given_back(const void* lock, Address pc);
void lock_tried_in_vain();
bool is_holder(const void* lock);  // this thread, for writing
// The mutex, before the wait at a condition variable that goes with it: no turn.
void lock_given_back_to_wait(const void* mutex);
// Whose holder has ended, it is nobody's.
void lock_is_robust(const void* lock);

// --- Condition variables. From now on the thread waits; take_turn follows.
void begin_wait(const void* condition);
void condition_notified(const void* condition, bool all);

// --- Barriers. True for the last to arrive, who frees the others.
bool barrier_arrived(const void* barrier, std::uint32_t count);

// --- Futexes: as conditions.
std::uint32_t futex_woken(const volatile void* word, std::uint32_t count, std::uint32_t bits);
void begin_futex_wait(const volatile void* word, std::uint32_t bits);

// --- Threads.
Task* task_made(Address entry, Address pc);  // before it exists; nullptr: it is not controlled
void task_not_made(Task* task);
void task_exists(Task* task, std::uint64_t handle);  // in the creator; the handle is its pthread_t
void task_starts(Task* task);                        // first thing in the thread
void task_ends();                                    // last thing in the thread
// A thread that nobody was seen to make: glibc has such, for timers.
void adopt_thread();
Task* task_of(std::uint64_t handle);  // nullptr: it has ended, or is not controlled
Outcome turn_to_join(Task* task, const Turn& turn);
void task_cancelled(std::uint64_t handle);

// --- The world outside. Between the two the thread runs on its own.
void go_outside(Address pc, const char* what);
void come_back();

// A wait for input: `ready` asks the kernel without waiting. It is called by other threads too.
struct InputWait {
  bool (*ready)(const InputWait& wait);
  const void* arguments;
  bool by_signal = false;  // it is for a signal: nobody need be about to send one
};
Outcome wait_for_input(const InputWait& wait, std::uint64_t deadline, Address pc);

// --- Memory accesses, before they are done.
void access(Kind kind, const volatile void* address, std::uint32_t size, Address pc);
void memory_freed(const void* start, std::uint64_t size);

// --- Calls of instrumented functions.
void call_begins(Address site);
void call_ends();

// --- Atomic blocks. `name`: nullptr for critical sections.
enum class BlockSource : std::uint8_t { kNone, kSection, kFunction, kAnnotated };
void block_begins(BlockSource source, const char* name, Address pc);
void block_ends();

// Whether this thread is not the process's first.
bool is_made_thread();

// --- Processes.
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();
void process_ends();

// Something happened that the scheduler did not see (a signal handler did it).
void look_again();
// The program handles signals, or has timers: something may be on its way.
void signals_come();
void timers_come();

}  // namespace tomos::schedule
