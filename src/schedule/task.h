// The scheduler's own view: the threads under control, what they wait for, and what there is to
// wait for. Everything here is read and written with the gate held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/address_table.h"
#include "schedule/area.h"
#include "schedule/control.h"
#include "schedule/raw.h"

namespace tomos::schedule {

enum class State : std::uint8_t {
  kNew,      // made, not yet chosen for the first time
  kReady,    // at a hook: waits for its turn, and perhaps for something else
  kRunning,  // has the turn
  kOutside,  // runs on its own, or sleeps in the kernel
  kEnded,
};

// What a thread has done to a lock or a variable in the atomic block that it is in.
struct Touched {
  Address object;
  std::uint64_t step;  // of the trial; 0: nothing
  Address pc;
  std::uint32_t size;  // 0: a lock
  Kind kind;
  bool released;  // a lock: and given back
  Place place;    // only in a replay
};
inline constexpr std::size_t kTouched = 64;
inline constexpr std::size_t kTouchedAlike = 8;  // of one hash

struct BlockState {
  BlockSource source = BlockSource::kNone;
  bool waits = false;  // nothing in it counts
  std::uint32_t depth = 0;
  const char* name = nullptr;
  Address begin = 0;
  std::uint32_t number = 0;  // of the blocks of this trial
  // What the block stands in, if it was declared inside another.
  BlockSource around = BlockSource::kNone;
  const char* around_name = nullptr;
  Address around_begin = 0;
  std::uint32_t around_depth = 0;
  // By hash of the object; of one hash, a newer one drives the oldest out.
  Touched touched[kTouched];
};

inline constexpr std::size_t kHeld = 8;
inline constexpr std::size_t kPlacesKept = 6;
inline constexpr std::uint32_t kSpinning = 24;  // accesses to one object in a row
// A thread that goes round and round with the turn would keep it for ever.
inline constexpr std::uint32_t kLongRun = 5000;    // steps
inline constexpr std::uint32_t kLongPause = 2000;  // steps for which others may be waited for

inline constexpr std::uint32_t kCallers = 16;

struct Task {
  std::atomic<std::uint32_t> turn;  // futex: 1 when it is given
  std::uint32_t number;
  State state;
  std::uint32_t at_work;  // depth of the scheduler in this thread
  std::uint32_t steps;
  std::uint32_t telling_steps;  // those that others could notice
  bool has_told;                // the last step was such a one
  std::uint32_t created_by;
  std::uint64_t created_at;  // step of the trial
  std::uint32_t tid;
  std::uint64_t handle;  // pthread_t
  Task* joins;           // for kJoin

  // What it is about to do.
  Turn next;
  Address place;              // of its code, and of the calls that led there
  Address callers[kCallers];  // those calls, the innermost first: only if a run is followed
  std::uint32_t caller_count;
  bool notified;     // condition, futex, barrier: what it waits for has come
  bool interrupted;  // a handled signal
  bool cancelled;    // somebody asked for its end
  bool timed_out;    // it goes on only because of the time
  bool input_ready;
  bool signal_sent;    // to it alone, since it last waited for one
  std::uint32_t bits;  // of a futex wait
  std::uint64_t wait_order;
  std::uint64_t slept_since;
  InputWait input;

  // For the strategies.
  std::uint64_t priority;
  std::uint64_t yielded_at;  // step of the trial at which it last said that others should go on
  bool yielded;
  bool paused;   // AtomFuzzer: until another comes to the same object
  bool decided;  // AtomFuzzer: the coin for the next step has been thrown
  bool urgent;   // AtomFuzzer: to go on next
  std::uint32_t paused_for;
  std::uint32_t cut;  // the step of its own before which it waits; 0: none
  bool cut_over;
  Address last_object;        // of the last access
  std::uint32_t same_object;  // how many in a row went there
  std::uint32_t sections;     // critical sections it is in
  Address held[kHeld];        // the locks, as far as there is room; 0: no lock
  BlockState block;
};

// A lock, barrier, once or futex.
struct Acquisition {
  Task* task;
  std::uint64_t step;
  Address pc;
  Place place;
};
struct Object {
  std::uint32_t ordinal;
  // A lock: who took it first, where, and whether another did too.
  Task* first;
  bool shared;
  Address places[kPlacesKept];
  Task* holder;         // for writing
  std::uint32_t times;  // it holds it
  std::uint32_t readers;
  bool robust;            // free again when its holder has ended
  std::uint32_t arrived;  // barrier
  Place taken;
  Acquisition last;      // of the lock
  Acquisition previous;  // the last one by another thread than `last`
};
using Objects = runtime::AddressTable<Object>;

inline constexpr std::size_t kMaxTasks = 1U << 16;

struct World {
  Area* area = nullptr;  // nullptr: nothing is controlled
  Gate gate;
  Task** tasks = nullptr;  // those that have not ended, by number
  std::size_t task_count = 0;
  std::uint32_t tasks_made = 0;
  Task* running = nullptr;
  std::uint64_t time = 0;       // virtual nanoseconds
  std::uint64_t step_time = 0;  // that a step takes
  std::uint64_t wait_order = 0;
  std::uint32_t objects_made = 0;
  std::uint32_t blocks_made = 0;
  bool replaying = false;
  bool profiled = false;
  bool impatient = false;  // short sleeps may end at once
  std::atomic<bool> look_again = false;
  bool signals = false;  // handlers of the program may wake somebody at any time
  bool timers = false;
  bool stuck = false;              // nobody can go on, but for such a handler
  const Task* last_run = nullptr;  // and for how many steps without a break
  std::uint32_t run_length = 0;
  std::atomic<std::uint32_t> leaving = 0;  // the thread that has ended last, until it is gone
  Chance chance;
};
extern constinit World world;
extern constinit Objects objects;

Object& object_at(const volatile void* address);
inline bool is_spinning(const Task& task) { return task.same_object >= kSpinning; }
inline Address id(const volatile void* object) { return reinterpret_cast<Address>(object); }

// The scheduler at work in this thread, with the gate held.
class AtWork {
 public:
  AtWork() {
    if (self != nullptr) ++self->at_work;
    world.gate.lock();
  }
  ~AtWork() {
    world.gate.unlock();
    if (self != nullptr) --self->at_work;
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
};

// Puts the thread to sleep until it has the turn. The gate is not held.
void park(Task& task);
// Until the kernel, too, has done with the thread that has ended last.
void see_off();
// The step that the task was about to do counts as done.
void count_step(Task& task);
extern constinit Task** enabled_tasks;  // room for dispatch()

// Whether it could do its next step now. Sets timed_out.
bool can_go_on(Task& task);

// Gives the turn to whom the strategy says; to nobody if nobody can go on and somebody outside may
// come back. `current` is the one that had it (nullptr: nobody).
void dispatch(Task* current);
// The thread runs on its own from here on; the first reason is told.
void let_go(const Task& task, const char* why);

// --- strategy.cpp. `enabled` are those that can go on, at least one, in the order of their
// numbers.
void begin_strategy();
void task_joined_in(Task& task);
// `current` is among `enabled` or nullptr.
Task& choose(Task** enabled, std::size_t count, Task* current);
void step_done(Task& task);
// It goes round and round, or says itself that others should go on.
void stand_back(Task& task);

// --- pct.cpp, pos.cpp, atomfuzzer.cpp, replay.cpp
void pct_begin();
void pct_join(Task& task);
Task* pct_choose(Task** enabled, std::size_t count);
void pct_yield(Task& task);
void pos_begin();
void pos_assign(Task& task);
Task* pos_choose(Task** enabled, std::size_t count);
void pos_done(const Task& task);
Task* atomfuzzer_choose(Task** enabled, std::size_t count, double pause_probability);
void atomfuzzer_released(const void* lock);
void cut_begin();
void cut_join(Task& task);
Task* cut_choose(Task** enabled, std::size_t count, Task* current);
void cut_done(const Task& task, const volatile void* released);
void aim_begin();
Task* aim_choose(Task** enabled, std::size_t count, Task* current);
void aim_done(const Task& task);
void follow_begin();
Task* follow_choose(Task** enabled, std::size_t count, Task* current);
void follow_done(const Task& task);
Task* replay_choose(Task** enabled, std::size_t count, Task* current);
void replay_begin();

// --- profile.cpp
void begin_profile();
bool is_switching_point(Address pc);
void place_is_shared(Address pc);
// Keeps the place for later, as far as there is room.
void keep_place(Address* places, Address pc);
void lock_is_used(Object& lock, Task& task, Address pc);
bool is_telling(const Turn& turn);
void profile_step(Task& task);
void profile_task(const Task& task, std::uint32_t creator);
void task_joined(const Task& task, std::uint32_t thread);
bool has_joined(const Task& task, std::uint32_t thread);
std::uint64_t expected_work(const Task& task);
Task* weighted(Task** enabled, std::size_t count);  // by expected work; strategy.cpp

// --- calls.cpp
Address place_in_calls(Address pc);
void note_callers(Task& task);  // of what this thread does next

// --- blocks.cpp
Touched* touched_in_block(Task& task, Address object);
void lock_taken_in_block(Task& task, Address lock, const Object& object, Address pc);
void lock_released_in_block(Task& task, Address lock);
void accessed(Task& task, Kind kind, Address address, std::uint32_t size, Address pc);
// Whether other threads have accessed the variable, as far as is remembered.
bool is_touched_by_others(Address address);
// Whether the next step goes to something that the block has touched before.
bool is_second_touch(Task& task);
bool conflicts(const Turn& one, const Turn& other);

// --- places.cpp
Place place_at(Address pc);  // with the call chain of this thread, in a replay; otherwise alone
void record_modules();
void watch_fatal_signals();

// --- watch.cpp
void start_watch();
void wake_watch();
void stop_watch();
void forget_watch();  // in a forked child, which does not have it

// What is pending for a thread, as a set of bits.
std::uint64_t pending_signals(std::uint32_t tid);

// True while it is too early to say that nobody will ever go on.
bool may_be_woken();
[[noreturn]] void deadlock();

}  // namespace tomos::schedule
