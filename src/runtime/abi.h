// What instrumented code calls besides the compilers' own __tsan_* entry points, and what it hands
// over. The pass plugin (instrument/), the annotation header (include/tomos/tomos.h) and the
// runtime share it.
#pragma once

#include <cstdint>

namespace tomos::runtime {

enum FunctionFlags : std::uint32_t {
  kCandidate = 1,  // external linkage, not a private method, not in a system header, not main
  kAtomic = 2,     // marked so in the source
  kNotAtomic = 4,  // marked so in the source
  kUserCode = 8,   // not in a system header
  kWaits = 16,     // has a way to a wait on a condition or for input, as far as its module shows
};

// What waits on a condition. The functions of std::condition_variable that are templates or inline
// end in one of these.
inline constexpr const char* kConditionWaits[] = {
    "pthread_cond_wait",      "pthread_cond_timedwait",
    "pthread_cond_clockwait", "cnd_wait",
    "cnd_timedwait",          "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"};

// One a function, in the module's writable data. The pass plugin fills in the upper part.
struct FunctionDescriptor {
  const char* name;  // "Account::deposit": qualified, demangled, without parameters
  const char* file;  // as the compiler saw it
  std::uint32_t line;
  std::uint32_t flags;  // FunctionFlags
  // The runtime's own, zero at first.
  std::uint32_t label;
  std::uint32_t state;
};
static_assert(sizeof(FunctionDescriptor) == 32);

// A stream, __tomos_stream: in its lowest byte the size of an element (1, 2, 4 or 8), then
enum StreamFlags : std::uint32_t {
  kStreamWrites = 1U << 8,
  kStreamPointers = 1U << 9,  // what it stores may be pointers
  kStreamFirst = 1U << 10,    // of its loop
  kStreamLast = 1U << 11,
};
inline constexpr unsigned kStreamPiecesShift = 12;  // then the pieces that it accesses a round
inline constexpr unsigned kMaxStreamPieces = 15;
inline constexpr unsigned kStreamWidthShift = 16;  // then the bytes of a piece
inline constexpr unsigned kMaxStreamWidth = 0xffff;
inline constexpr unsigned kMaxStreams = 12;  // a loop

// A group of accesses, __tomos_quiet: in its lowest byte how many bytes they lie in, then
enum GroupFlags : std::uint32_t {
  kGroupReads = 1U << 8,
  kGroupWrites = 1U << 9,
  kGroupPointers = 1U << 10,  // what it stores may be pointers
};
// then, if all are whole words of eight bytes, a bit for each of these; 0: they are not.
inline constexpr unsigned kGroupWordsShift = 16;
inline constexpr unsigned kMaxGroupBytes = 64;

}  // namespace tomos::runtime

// NOLINTBEGIN(bugprone-reserved-identifier): names that no program of a user has
extern "C" {
// Entry and every exit of a function, unwinding included. Inserted before inlining, so that inlined
// functions count.
void __tomos_enter(tomos::runtime::FunctionDescriptor* function);
void __tomos_exit(tomos::runtime::FunctionDescriptor* function);
// Before a loop of so many rounds, for each of its accesses in their order: it will go to `start`,
// and on from there by `step` bytes from piece to piece. `what` is made of StreamFlags.
void __tomos_stream(const void* start, std::int64_t step, std::uint64_t rounds, std::uint32_t what);
// Not 0: loops are to be told in advance.
extern char __tomos_streams_wanted;
// Before accesses to memory from `start` on: true if nothing need be said of them. `what` is made
// of GroupFlags.
bool __tomos_quiet(const void* start, std::uint32_t what);
// TOMOS_ATOMIC("name"); and TOMOS_NOT_ATOMIC; each until the end of the enclosing block
void __tomos_begin_atomic(const char* name, const char* file, std::uint32_t line);
void __tomos_end_atomic(void);
void __tomos_begin_not_atomic(void);
void __tomos_end_not_atomic(void);
// Synchronisation that is header-only in libstdc++ and so passes no interposed function. The pass
// plugin keeps the insides of these classes uninstrumented (their atomics are no variables of the
// user's) and puts these around the user's calls of them, `object` being the object called.
// Before an arrival at a std::barrier: arrive(), arrive_and_wait() and arrive_and_drop().
// `expected` is how many arrivals this phase waits for; 0 if this call arrives for several at once.
void __tomos_std_barrier_arrive(const void* object, long expected);
// When that is done, `last` saying whether it was the last of its phase: the completion function,
// which it runs then, comes after all arrivals. `object` is the insides of the barrier, at the same
// address.
void __tomos_std_barrier_arrived(const void* object, bool last);
// After a wait() or arrive_and_wait(). An arrival need not be followed by one.
void __tomos_std_barrier_leave(const void* object);
// Before std::latch::count_down() and arrive_and_wait().
void __tomos_std_signal(const void* object);
// Before std::latch::try_wait() and std::counting_semaphore::acquire() and try_acquire*().
void __tomos_std_ask(const void* object);
// After std::latch::wait(), try_wait() and arrive_and_wait(); `success` is their result: nothing is
// ordered when it is false.
void __tomos_std_wait_over(const void* object, bool success);
// Before std::counting_semaphore::release(tokens).
void __tomos_semaphore_release(const void* object, long tokens);
// After acquire() and try_acquire*(); `left` is the semaphore's count then.
void __tomos_semaphore_acquired(const void* object, bool success, int left);
// g++ -finstrument-functions
void __cyg_profile_func_enter(void* function, void* call_site);
void __cyg_profile_func_exit(void* function, void* call_site);
}
// NOLINTEND(bugprone-reserved-identifier)
