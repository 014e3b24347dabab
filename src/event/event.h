// The event: one step of one thread, in sixteen bytes.
//
// Everything in Tomos that watches a run (a trace file, a running program, a controlled run, a
// model) says what happened in these. Threads, locks, variables, barriers, locations and labels are
// dense numbers; their names live in Names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tomos {

enum class Op : std::uint8_t {
  kBegin,        // object: label. A transaction starts; nested ones count only for matching.
  kEnd,          // object: 0
  kRead,         // object: variable
  kWrite,        // object: variable
  kAcquire,      // object: lock. Re-acquiring by the holder is allowed. count: 1 if the thread only
                 // tried, and would not have waited
  kRelease,      // object: lock
  kReadAcquire,  // object: lock, taken for reading. count: likewise
  kReadRelease,  // object: lock
  kFork,         // object: thread. Ends the transaction it stands in.
  kJoin,         // object: thread. Ends the transaction it stands in.
  kBarrier,  // object: barrier, count: how many threads meet. Ends the transaction it stands in.
  kNew,      // object: variable, thread-local from here
  kEscape,   // object: variable, shared from here
  kFree,     // object: variable; the same id afterwards is another variable
  kExit,     // object: 0. The thread has ended.
  kSignal,   // object: what is signalled. Ends the transaction it stands in.
  kWait,     // object: likewise. It comes after every signal of it that stands before it, in all
             // runs. Ends the transaction it stands in.
};
inline constexpr std::size_t kOpCount = 17;

constexpr bool is_access(Op op) { return op == Op::kRead || op == Op::kWrite; }

using ThreadId = std::uint32_t;
using LockId = std::uint32_t;
using VariableId = std::uint32_t;
using LabelId = std::uint32_t;     // 0: no label
using LocationId = std::uint32_t;  // 0: unknown; see names.h for the numeric ones

struct Event {
  ThreadId thread;
  std::uint32_t object;  // what `op` says
  LocationId location;
  Op op;
  std::uint8_t spare;   // zero
  std::uint16_t count;  // what `op` says; zero otherwise

  friend bool operator==(const Event&, const Event&) = default;
};

static_assert(sizeof(Event) == 16 && alignof(Event) == 4);
static_assert(offsetof(Event, thread) == 0 && offsetof(Event, object) == 4 &&
              offsetof(Event, location) == 8 && offsetof(Event, op) == 12 &&
              offsetof(Event, spare) == 13 && offsetof(Event, count) == 14);
static_assert(std::is_trivially_copyable_v<Event>);

}  // namespace tomos
