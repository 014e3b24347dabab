// The runtime: what is linked into the program under test.
//
// Ground rules. It runs inside somebody else's program, so
//   - it is freestanding C++: no exceptions, no RTTI, no static constructors, no standard library
//     beyond header-only atomics; of libc it calls mmap and its kin, dl_iterate_phdr and getenv;
//   - it never allocates from the program's heap: memory comes from mmap, and threads' own;
//   - it never changes errno, the program's output, its exit status or its signals;
//   - every hook may be entered before set-up, in a signal handler, and in a forked child; a hook
//     that finds the runtime already at work in this thread does nothing;
//   - it takes a lock of its own only where no lock of the program can be waited for;
//   - when it cannot go on (the disk is full), it stops recording, says so in the recording, and
//   the
//     program goes on.
//
// Nothing is recorded until the program makes a second thread: nothing has escaped yet (escape.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/abi.h"
#include "runtime/cell.h"
#include "runtime/distinct.h"
#include "runtime/familiar.h"
#include "runtime/hooks.h"
#include "runtime/repeat_filter.h"
#include "trace/recording_format.h"

namespace tomos::runtime {

// A function the thread is in. Stack pointers tell which of them were left by a longjmp.
struct Call {
  Address site;  // the return address
  Address stack_pointer;
  std::uint64_t hash;  // of the sites up to here
};

// A function that the pass plugin marked.
struct Entered {
  FunctionDescriptor* function;
  Address stack_pointer;
};

struct Held {
  const void* lock;
  LockMode mode;
  std::uint32_t times;
  Address pc;
};

struct Range {
  Address start;
  Address end;
};

// The run of accesses that the thread wrote last.
struct Run {
  recording::Slot* slot;
  Address pc;
  Address next;  // the address that carries it on
  std::int64_t stride;
  std::uint32_t size;
  bool write;
  std::uint64_t since;  // version of the moment it began
  Cell cell;            // of its first element
  std::uint32_t epoch;
};

// An access of a loop, told before the loop; streams.cpp.
struct Stream {
  Address start;
  std::int64_t step;
  Address pc;
  std::uint32_t what;  // StreamFlags
  bool quiet;          // there is nothing to be said of it
};

// Where the recording goes back to if what follows is taken back.
struct Mark {
  recording::Slot* slot;        // nullptr: it cannot be taken back
  recording::Slot* slot_after;  // behind the record that the mark was set for
  Stamp stamp_written;
  std::uint64_t held;  // fingerprint of the locks
  std::uint64_t ends;  // of lives
  std::uint32_t last_stack;
};

// A transaction that has ended, of which it is not decided yet whether it is on record already.
struct Ended {
  std::uint64_t fingerprint;  // 0: none
  Mark mark;
  Stamp stamp;
  Address begin_pc;
  Address end_pc;
  std::uint32_t label;
};

// Memory for the tables of fingerprints.
struct Pages {
  static std::uint64_t* take(std::size_t words);
  static void give_back(std::uint64_t* memory, std::size_t words);
  static void clear(std::uint64_t* memory, std::size_t words);  // and need no more of it
};
using Fingerprints = Crowd<Pages, 14, 20>;
extern Fingerprints fingerprints;

inline constexpr Stamp kNoTransaction = ~Stamp{0};

enum class Opened : std::uint8_t { kNothing, kFunction, kCriticalSection, kScope };

inline constexpr std::size_t kMaxCalls = std::size_t{1} << 16;
inline constexpr std::size_t kMaxHeld = 64;
inline constexpr std::size_t kKnownStacks = 512;
inline constexpr std::size_t kEscapingRows = 4096;
inline constexpr std::size_t kFamiliar = 128;
inline constexpr std::size_t kStreamRoom = std::size_t{4} * kMaxStreams;

struct Thread {
  // What the path of an access needs.
  Cell fast_cell;  // local_cell, or a value that no cell has while a stored pointer awaits a look
  Cell local_cell;
  Address stored_pointer;  // escaped place into which a pointer may just have gone; 0: none
  std::size_t stored_size;
  Familiar* familiar;               // the transaction that the open one has been the same as so far
  const Familiar::Step* next_step;  // of it
  std::atomic<Address> shared_stack;  // lowest address of this thread's stack that is shared

  // The recording.
  recording::Slot* next = nullptr;
  recording::Slot* end = nullptr;
  recording::Slot* chunk = nullptr;
  Stamp stamp;          // of the latest event, on record or not
  Stamp stamp_written;  // that the reader knows of

  Run run;
  Mark mark;
  Ended ended;

  // horizon.h
  std::atomic<Stamp> open_since;  // when the open transaction began; kNoTransaction
  Stamp horizon;                  // all that was open at the last look began after it
  Stamp horizon_until;            // no other look before this moment

  ThreadNumber number;
  std::uint32_t at_work;  // depth of the runtime in this thread
  std::uint32_t ignoring;

  std::uint32_t period;

  // The transaction.
  Opened opened;
  bool begin_written;
  std::uint32_t label;
  std::uint32_t opened_at;  // depth in `entered` of the function that opened it
  Address begin_pc;
  std::uint32_t not_atomic;  // depth of TOMOS_NOT_ATOMIC
  std::uint32_t scopes;      // depth of TOMOS_ATOMIC

  // The loop that is being told.
  std::uint32_t stream_count;
  Stream streams[kStreamRoom];

  // Locks.
  std::uint32_t held_count;
  std::uint32_t held_beyond;  // more than the table has room for
  Held held[kMaxHeld];

  // The stack.
  Address stack_low;
  Address stack_high;
  std::uint32_t call_count;
  std::uint32_t entered_count;
  std::uint32_t last_stack;  // id that the reader takes the thread to be in
  std::uint32_t known_stacks[kKnownStacks];

  RepeatFilter filter;
  Distinct<Pages, Fingerprints> distinct;  // also for accesses outside transactions
  Familiar familiars[kFamiliar];           // by the place where they begin
  Call calls[kMaxCalls];
  Entered entered[kMaxCalls];
  Range escaping[kEscapingRows];  // memory that is being scanned, escape.cpp
};

// The state of this thread; nullptr if nothing is to be recorded in this process.
extern thread_local constinit Thread* current_thread;
// The same while accesses are to be looked at: nullptr as long as the thread is the only one, and
// while it ignores.
extern thread_local constinit Thread* observer;

// Threads by number; nullptr for those that have ended.
extern std::atomic<Thread*>* threads;

// Whether the process has had a second thread.
extern std::atomic<bool> shared_process;
// Threads that were made and have not been joined. While there are none, what the last thread does
// comes after all that others did and before all they will do: its accesses are not recorded.
extern std::atomic<std::uint32_t> unjoined;

// Says that the runtime is at work in this thread. `entered` is false if it was already.
class AtWork {
 public:
  explicit AtWork(Thread* thread) : thread_(thread) {
    if (thread_ != nullptr && thread_->at_work++ != 0) {
      --thread_->at_work;
      thread_ = nullptr;
    }
  }
  ~AtWork() {
    if (thread_ != nullptr) --thread_->at_work;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  explicit operator bool() const { return thread_ != nullptr; }

 private:
  Thread* thread_;
};

// How often each part of memory has been freed.
extern Lives lives;

// --- recorder.cpp
bool open_recording(const char* path, std::uint32_t parent_pid);
void record(Thread& thread, recording::Op op, std::uint8_t small, std::uint64_t value, Address pc);
// With the stamp of the event before it.
void record_at_once(Thread& thread, recording::Op op, std::uint8_t small, std::uint64_t value,
                    Address pc);
// With one more slot of the two words.
void record(Thread& thread, recording::Op op, std::uint8_t small, std::uint64_t value, Address pc,
            std::uint64_t first, std::uint64_t second);
// A record with text: the head, a slot {first, length}, the text.
void record_text(Thread& thread, recording::Op op, std::uint8_t small, std::uint64_t value,
                 std::uint64_t first, const char* text, std::size_t length);
void record_module(Thread& thread, Address bias, Address first, Address end, std::uint64_t flags,
                   const char* path);
struct Object;
void record_object(Thread& thread, const Object& object);
// The two words for places and the bitmaps, to be filled in as long as the chunk is the thread's.
std::uint64_t* record_touched(Thread& thread, std::uint8_t size, Address first, Address pc);
// From here on the records can be taken back, as long as they are accesses and uses of locks.
void set_mark(Thread& thread);
// What the records since the mark say, as a number; 0: they are like no others.
std::uint64_t fingerprint(const Thread& thread);
void take_back(Thread& thread, const Mark& mark);
// Of the transaction that ended last, if it is open whether it is on record already.
void settle(Thread& thread);
void hand_back_chunk(Thread& thread);
void forget_recording(Thread& thread);  // in a forked child
void set_ending(recording::Ending ending);
bool is_recording();

// --- calls.cpp
// Drops the functions that a longjmp left: those whose frames lie below the stack pointer.
void heal(Thread& thread, Address stack_pointer);

// --- access.cpp
void access_range(Thread& thread, Address start, std::size_t size, bool write, Address pc);
// Brings the cell of an access up to date. Whether to record it; `shared`: whether others can reach
// the memory.
bool note_access(Thread& thread, Address address, std::uint32_t size, bool write, Address pc,
                 bool* shared);

// Records an access to memory that may be shared, unless it can be left out.
// False: others cannot reach it. `following`: so many accesses go through memory from here.
bool take_access(Thread& thread, Address address, std::uint32_t size, bool write, Address pc,
                 std::uint32_t following = 0);

// --- familiar.cpp
// Whether all that it uses is what it was.
bool is_still(Familiar& familiar);
// The open transaction may be one that the thread knows by heart. False: it is not.
bool begin_familiar(Thread& thread);
// Where such a transaction that begins here is kept, or would be.
Familiar& familiar_at(Thread& thread, Address begin_pc);
// It has gone another way: records what it did.
void abandon_familiar(Thread& thread);
// This one is on record already.
void learn_familiar(Thread& thread, const Ended& ended);

// --- transactions.cpp
void write_begin(Thread& thread);
// Something happened that makes every later access a new one.
void new_epoch(Thread& thread);
// Something happened that orders what is before against what other threads do after, or the other
// way round.
void new_period(Thread& thread);
void open_transaction(Thread& thread, Opened how, std::uint32_t label, Address pc);
void close_transaction(Thread& thread, Address pc);
void reopen_transaction(Thread& thread);  // for the functions that the thread is in already
void enter_function(FunctionDescriptor& function, Address pc, Address stack_pointer);
void leave_function(FunctionDescriptor& function, Address pc);
// The same for the scheduler.
void enter_block(FunctionDescriptor& function, Address pc);
void leave_block(const FunctionDescriptor& function);
void record_all_labels(Thread& thread);
std::uint32_t critical_section_label(Address pc);

// --- locks.cpp
std::uint64_t held_fingerprint(const Thread& thread);
void forget_atomic_operations();  // of the threads that a forked child does not have

// --- threads.cpp
Thread* make_thread(ThreadNumber number);
ThreadNumber thread_count();  // numbers given so far
void start_sharing(Thread& thread);

// --- function_table.cpp
void read_function_table(const char* path);
void know_functions_of(const char* module, Address bias);

// --- modules.cpp
void record_modules(Thread& thread, bool again);
// The same for functions alone, in a process that is not recorded.
void know_all_functions();
// At an operation that synchronises: names whoever called it, once, if it is a library that is not
// instrumented.
void note_synchronising(Thread& thread, Address pc);
// Calls `look` for every word of every module's writable data.
void for_each_global_word(void (*look)(Thread& thread, Address word), Thread& thread);

// --- config.cpp
enum class Filter : std::uint8_t {
  kOff,
  kRepeats,   // leaves out what tells no analysis anything (repeat_filter.h)
  kDistinct,  // and what tells nothing to those that do not ask for order (distinct.h)
};

struct Config {
  const char* recording;  // path, or nullptr: record nothing
  const char* functions;  // the table of functions
  Filter filter;
  std::size_t array_cutoff;  // bytes of a large heap object that are looked at; 0: all
};
extern Config config;
void read_config();
// What the project file and the flags say of a function.
bool is_transaction(const FunctionDescriptor& function);

// Sets up what is needed, once.
void set_up();

}  // namespace tomos::runtime
