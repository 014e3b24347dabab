// What a campaign and the process under its control share: one file, mapped by both.
//
// The campaign makes the file, fills in the settings, names it in TOMOS_SCHEDULE and starts the
// program; the scheduler in the program (control.h) writes what it did and saw. The rest of the
// file is zero. All is plain data without pointers, and stays readable however the program ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tomos::schedule {

inline constexpr std::uint64_t kMagic = 0x32'68'63'73'73'6f'6d'74;  // "tmossch2"

enum class Strategy : std::uint32_t {
  kRandom,      // Algorithm 1 of the AtomFuzzer paper
  kAtomFuzzer,  // Algorithm 2
  kPct,         // probabilistic concurrency testing
  kPos,         // partial order sampling
  kRoundRobin,
  kReplay,  // as the schedule in the area says
  kWalk,    // a random walk in which threads with more to do are chosen more often
  kCut,     // every thread is stopped once, until another has come in between
  kAim,     // makes happen what an earlier trial showed to be possible
  kFollow,  // the stretches in the area
};

// What a thread does next, or has done.
enum class Kind : std::uint8_t {
  kNone,
  kStart,  // the thread's first step
  kExit,
  kCreate,
  kJoin,
  kLock,  // object: the mutex, spin lock or reader-writer lock
  kReadLock,
  kTryLock,
  kUnlock,
  kWait,  // object: the condition variable
  kNotify,
  kSemaphoreWait,
  kSemaphorePost,
  kBarrier,
  kOnce,
  kFutexWait,
  kFutexWake,
  kSleep,
  kYield,
  kInput,    // object: the file descriptor
  kOutside,  // a call that may block for reasons that the scheduler does not see
  kAtomicRead,
  kAtomicWrite,
  kRead,
  kWrite,
};

struct Settings {
  Strategy strategy;
  std::uint32_t accesses;  // memory accesses of instrumented code are switching points
  std::uint64_t seed;
  double pause_probability;   // AtomFuzzer's q
  std::uint32_t depth;        // PCT's d
  std::uint32_t patience_ms;  // a thread that does not come back for so long is let go
  // For kReplay: the choices that follow, `choice_count` of them. A trial that goes another way
  // than they say sets kDiverged, and goes on without preemption.
  std::uint32_t choice_count;
  std::uint32_t debug;       // no patience: somebody may be looking at it
  std::uint32_t undeclared;  // violations that are doubtful are told too
  std::uint32_t log;         // what threads do is to be put on record
  // Threads can also be stopped before they give a lock back, not only afterwards, and before
  // std::latch and the like: a run that was thought out may tell who comes first there.
  std::uint32_t fine_steps;
  std::uint32_t unused;
};

// A choice that differs from the rule "the thread that runs goes on; if it cannot, the lowest
// numbered that can": when `thread` had done `step` steps of its own and was about to do another,
// `next` went on.
struct Choice {
  std::uint32_t thread;
  std::uint32_t step;
  std::uint32_t next;
  std::uint32_t preempts;  // the thread could have gone on itself
};

// A place: an address of code, with the call chain that led there, innermost first; 0 ends it.
inline constexpr std::size_t kFrames = 16;
struct Place {
  std::uint64_t frames[kFrames];
};

// An atomic block, as its place and, if it has one, its name.
struct Block {
  std::uint64_t begin;  // where it was entered
  char name[104];       // "transfer"; empty: a critical section
};

// A violation that was created: `thread`, inside `block`, did `first`, then `other_thread` did
// `other`, then `thread` did `second`, all three to the same object.
struct Violation {
  std::uint32_t thread;
  std::uint32_t other_thread;
  std::uint64_t object;       // address of the lock or variable
  std::uint32_t object_size;  // 0: a lock
  Kind first_kind;
  Kind other_kind;
  Kind second_kind;
  // Nobody said that the block is atomic, and it may well not be meant to be: a function, or a
  // critical section in which another lock was taken twice.
  std::uint8_t doubtful;
  std::uint64_t step;  // of the trial, at which it was complete
  Block block;
  Place first;
  Place other;
  Place second;
};
inline constexpr std::uint32_t kMaxViolations = 64;

// A thread that waits, when nobody could go on.
struct Waiting {
  std::uint32_t thread;
  Kind kind;
  std::uint8_t unused[3];
  std::uint32_t holder;  // the thread that it waits for; ~0: not known
  std::uint32_t unused2;
  std::uint64_t object;
  Place place;  // where it waits
  Place taken;  // where the holder took the lock, if it is one
};
inline constexpr std::uint32_t kMaxWaiting = 32;

// Code that was loaded, so that places can be named.
struct Module {
  std::uint64_t bias;
  std::uint64_t first;
  std::uint64_t end;
  char path[232];
};
inline constexpr std::uint32_t kMaxModules = 64;

struct ThreadInfo {
  std::uint32_t creator;
  std::uint32_t unused;
  std::uint64_t entry;  // its start routine
  Place created;
};
inline constexpr std::uint32_t kMaxThreadInfos = 64;

enum Flags : std::uint32_t {
  kLetGo = 1,     // somebody was let go: the schedule need not come out the same again
  kDiverged = 2,  // a replay could not do as it was told; see `diverged_at`: a step, or a stretch
  kChoicesLost = 4,  // more choices than there is room for
  kDeadlock = 8,     // nobody could go on; see `waiting`
  kForked = 16,      // other processes were made, which have no schedule on record
  kAtEnd = 32,       // the process came to its regular end
};

struct Trial {
  std::atomic<std::uint32_t> started;  // the process whose trial it is; 0: none has come
  std::uint32_t flags;
  std::uint64_t steps;
  std::uint64_t switches;
  std::uint64_t preemptions;
  std::uint64_t hash;  // over all steps: who did what to which object
  std::uint32_t threads;
  std::uint32_t doubtful;  // violations that were not told
  std::uint32_t warnings;  // different places where a violation seemed possible
  std::uint64_t diverged_at;
  std::uint64_t followed;  // stretches that were done or given up
  char let_go[200];        // the first reason: "thread 2 did not come back from ..."
  std::uint64_t let_go_place;

  std::uint32_t violation_count;
  std::uint32_t waiting_count;
  std::uint32_t module_count;
  std::uint32_t choice_count;
  Violation violations[kMaxViolations];
  Waiting waiting[kMaxWaiting];
  Module modules[kMaxModules];
  ThreadInfo thread_infos[kMaxThreadInfos];  // by number
  // Where a signal that kills was raised.
  std::int32_t signal;
  std::uint32_t signal_thread;
  std::uint64_t signal_address;
  Place signal_place;
};

// What is known of a program from earlier trials: where threads touch what others touch, and how
// much they do.
inline constexpr std::uint32_t kMaxPlaces = 4096;
inline constexpr std::uint32_t kMaxProfiled = 256;
struct Profile {
  std::uint32_t place_count;
  std::uint32_t thread_count;
  std::uint64_t steps;
  std::uint64_t accesses;  // 0: none was seen, the program is not instrumented
  // Accesses and locks elsewhere are no switching points.
  std::uint64_t places[kMaxPlaces];
  std::uint32_t thread_steps[kMaxProfiled];  // by number
  std::uint32_t creators[kMaxProfiled];
};

inline constexpr std::uint32_t kLoggedLocks = 4;
// A step that a thread did, as far as others could notice it.
struct Step {
  std::uint32_t thread;
  Kind kind;
  std::uint8_t unused[3];
  std::uint32_t block;  // the number of the atomic block that it was in; 0: none
  std::uint32_t unused2;
  std::uint64_t object;
  std::uint64_t place;               // of the code, and of the calls that led there
  std::uint64_t held[kLoggedLocks];  // locks, before the step, as far as there is room; 0: none
};
inline constexpr std::uint32_t kMaxLogged = 1U << 14;
struct Log {
  std::uint32_t count;
  std::uint32_t unused;
  Step steps[kMaxLogged];
};

// A step to come: the thread is at this place for the nth time, the first being 1.
struct Mark {
  std::uint64_t place;
  std::uint32_t thread;
  std::uint32_t nth;
};

// Two steps of a thread with steps of another between them, such that no order of the two threads
// one after the other explains it.
struct Aim {
  Mark cut;   // the second of the two: the thread waits before it; no place: there is no aim
  Mark from;  // the first and the last step of the other that are to come in between
  Mark to;
  Mark then;  // what the other came to do when the first was there, if all this was still to come
};

// A part of a run that is to be followed: the thread goes on until it has done such a step so
// often.
struct Stretch {
  std::uint32_t thread;
  std::uint32_t times;
  std::uint32_t first_range;  // of the code that does it
  std::uint32_t range_count;  // 0: it may be anywhere
  Kind kind;
  std::uint8_t unused[7];
};
inline constexpr std::uint32_t kMaxStretches = 4096;
struct CodeRange {
  std::uint64_t begin;  // in the file of the program
  std::uint64_t end;
};
inline constexpr std::uint32_t kMaxRanges = 1U << 14;

inline constexpr std::uint32_t kMaxChoices = 1U << 20;

struct Area {
  std::uint64_t magic;
  std::uint64_t size;  // of this struct
  Settings settings;
  Trial trial;
  Profile profile;              // from the campaign; no threads: there is none
  Profile seen;                 // in this trial
  Aim aim;                      // from the campaign, for kAim
  Log log;                      // of this trial
  std::uint64_t stretch_count;  // from the campaign, for kFollow
  Stretch stretches[kMaxStretches];
  CodeRange ranges[kMaxRanges];
  Choice replayed[kMaxChoices];  // from the campaign
  Choice choices[kMaxChoices];   // what this trial did
};

static_assert(sizeof(Choice) == 16 && sizeof(Place) == 128 && sizeof(Module) == 256);
static_assert(sizeof(Settings) == 56 && sizeof(Block) == 112 && sizeof(Violation) == 528);
static_assert(sizeof(Step) == 64 && sizeof(Aim) == 64 && sizeof(Stretch) == 24);

}  // namespace tomos::schedule
