// What the interposition layer tells: one call for every step of a program that Tomos cares about.
//
// The layer (interpose_*.cpp, atomics.cpp, annotations.cpp) knows the interfaces of libc, pthreads
// and the compilers; what stands behind these hooks (the recorder, and later the scheduler) knows
// nothing of them. `pc` is always the return address into the code that asked
// (__builtin_return_address(0) in the interposed function itself).
//
// All hooks may be called before the runtime is set up, in any thread, in signal handlers and in a
// forked child; they cost a test when nothing is recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tomos::runtime {

using Address = std::uintptr_t;
using ThreadNumber = std::uint32_t;

enum class LockMode : std::uint8_t { kWrite, kRead };

// --- Locks. Called for every acquire and release, re-entrant ones too.
enum class Taking : std::uint8_t { kWaiting, kTrying };  // would it have waited for the lock?
// After it was taken.
void acquired(const void* lock, LockMode mode, Address pc, Taking how = Taking::kWaiting);
void releasing(const void* lock, LockMode mode, Address pc);  // before it is given back
void destroyed(const void* lock, Address pc);                 // before it is destroyed

// --- Waiting on a condition: before the mutex is given back (releasing() follows, and acquired()
// when the wait is over). Or for input, without a mutex. Functions that wait are not transactions.
void waiting(Address pc, const void* mutex = nullptr);

// --- Order without a lock: once, condition variables, latches, futures, __tsan_release. What a
// thread did before signal(o) comes before what follows a wait_over(o) that saw it.
enum class OrderKind : std::uint8_t { kPlain, kCondition };
// Before the operation that others can see; and after the operation that saw it.
void signal(const void* object, Address pc, OrderKind kind = OrderKind::kPlain);
void wait_over(const void* object, Address pc, OrderKind kind = OrderKind::kPlain);

// --- Semaphores: before tokens are given, and after one was taken, when `left` more are there.
void semaphore_posting(const void* semaphore, std::uint64_t tokens, Address pc);
void semaphore_passed(const void* semaphore, std::uint64_t left, Address pc);

// --- Barriers of `count` threads.
void barrier_arrive(const void* barrier, std::uint32_t count, Address pc);  // before waiting
void barrier_leave(const void* barrier, Address pc);                        // after

// --- Threads.
// In the creator, before the thread exists; `argument` is what it is given (it escapes).
ThreadNumber thread_create(const void* start_routine, const void* argument, Address pc);
void thread_not_created(ThreadNumber thread);                       // creation failed after all
void thread_start(ThreadNumber thread, const void* start_routine);  // first thing in the thread
void thread_end();                                                  // last thing in the thread
void thread_joined(ThreadNumber thread, Address pc);                // after the join
void thread_named(ThreadNumber thread, const char* name);
ThreadNumber this_thread();

// --- Memory.
void allocated(const void* start, std::size_t size, Address pc);
void freeing(const void* start, std::size_t size, Address pc);    // before; the same size
void unmapping(const void* start, std::size_t size, Address pc);  // munmap, or mmap over it
void read_range(const void* start, std::size_t size, Address pc);
void write_range(const void* start, std::size_t size, Address pc);
// A pointer was stored into memory by code that is not instrumented (libstdc++'s list and tree).
void stored_pointer(const void* where, const void* value);

// --- Atomic operations. release()-like effects before, acquire()-like ones after.
enum class AtomicKind : std::uint8_t { kRead, kWrite, kUpdate };
void atomic_before(const volatile void* address, AtomicKind kind, int order);
// `kind` as it came out: a compare-exchange that failed is a read.
void atomic_after(const volatile void* address, std::size_t size, AtomicKind kind, int order,
                  Address pc);
void fence(int order);

// --- Modules: after dlopen, and after dlclose.
void modules_changed();

// --- Processes.
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();
void before_exec();  // all is on record
void exec_failed();
void process_exit();  // threads may still run, and go on being recorded until the end

// Whether the runtime itself is at work in this thread: the interposed functions then only pass on.
bool inside();
// For the time of its life, calls of this thread pass through unrecorded.
class Ignore {
 public:
  Ignore();
  ~Ignore();
  Ignore(const Ignore&) = delete;
  Ignore& operator=(const Ignore&) = delete;
};

}  // namespace tomos::runtime
