// Threads: pthread_create and its kin, and C11's.
//
// A thread that is made runs our body first, which says that it starts. That it ends is said by the
// destructor of a thread-specific value: so pthread_exit and cancellation count too, and the
// destructors of the program's own values and of its thread_local objects come before.
//
// A pthread_t is used again once its thread has been joined, or has ended detached. The record of a
// thread therefore lives as long as its pthread_t is the program's to use; and who joins looks it
// up before.
#include <errno.h>
#include <pthread.h>
#include <threads.h>
#include <time.h>

#include "runtime/address_table.h"
#include "runtime/interpose.h"
#include "schedule/clock.h"
#include "schedule/control.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

struct Started {
  ThreadNumber number;
  const void* routine;
  void* argument;
  schedule::Task* task;  // nullptr: not controlled
  bool in_table;
  bool detached;
  bool ended;
  bool creator_done;
};

constinit AddressTable<Started> threads_by_handle;
using Record = AddressTable<Started>::Record;

constinit pthread_key_t end_key = 0;

void give_back_if_over(Record* record) {
  if (!record->value.ended || !record->value.detached || !record->value.creator_done) return;
  threads_by_handle.remove(record);
  threads_by_handle.give_back(record);
}

// glibc goes over the thread-specific values until none is left, but at most this often. The last
// round is ours.
struct Ending {
  Record* record;
  int rounds;
};
constinit thread_local Ending ending = {};

void at_thread_end(void* /*value*/) {
  if (++ending.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, &ending);
    return;
  }
  if (!inside()) thread_end();
  if (schedule::controlled()) schedule::task_ends();
  Record* const record = ending.record;
  if (record == nullptr) return;
  const Guard guard(threads_by_handle.lock());
  record->value.ended = true;
  give_back_if_over(record);
}

// First thing in the thread. The record may go to somebody else once this thread has ended.
Started enter_thread(void* started) {
  auto* const record = static_cast<Record*>(started);
  const Started copy = record->value;
  {
    const Guard guard(threads_by_handle.lock());
    if (!record->value.in_table) {
      threads_by_handle.insert(record, pthread_self());
      record->value.in_table = true;
    }
  }
  ending.record = record;
  pthread_setspecific(end_key, &ending);
  if (copy.task != nullptr) schedule::task_starts(copy.task);
  thread_start(copy.number, copy.routine);
  return copy;
}

void* pthread_body(void* started) {
  const Started thread = enter_thread(started);
  return reinterpret_cast<void* (*)(void*)>(const_cast<void*>(thread.routine))(thread.argument);
}

int c11_body(void* started) {
  const Started thread = enter_thread(started);
  return reinterpret_cast<thrd_start_t>(const_cast<void*>(thread.routine))(thread.argument);
}

Record* about_to_create(const void* routine, void* argument, bool detached, Address pc) {
  Record* record = nullptr;
  {
    const Guard guard(threads_by_handle.lock());
    record = threads_by_handle.make();
  }
  if (record == nullptr) return nullptr;
  record->value.number =
      thread_create(routine, argument, maker_of_thread != 0 ? maker_of_thread : pc);
  record->value.routine = routine;
  record->value.argument = argument;
  record->value.detached = detached;
  if (schedule::controlled()) {
    record->value.task = schedule::task_made(reinterpret_cast<Address>(routine), pc);
  }
  return record;
}

// In the creator; `handle` is set.
void created(Record* record, const pthread_t* handle) {
  const Guard guard(threads_by_handle.lock());
  // Otherwise *handle may be gone: it is the program's, which runs in the new thread by now.
  if (!record->value.in_table) {
    threads_by_handle.insert(record, *handle);
    record->value.in_table = true;
  }
  record->value.creator_done = true;
  give_back_if_over(record);
}

void not_created(Record* record) {
  thread_not_created(record->value.number);
  const Guard guard(threads_by_handle.lock());
  threads_by_handle.give_back(record);
}

Record* find_thread(pthread_t handle) {
  const Guard guard(threads_by_handle.lock());
  return threads_by_handle.find(handle);
}

void joined(Record* record, Address pc) {
  if (record == nullptr) return;
  const ThreadNumber number = record->value.number;
  {
    const Guard guard(threads_by_handle.lock());
    record->value.detached = true;  // nobody will ask for it any more
    give_back_if_over(record);
  }
  thread_joined(number, pc);
}

void detached(Record* record) {
  if (record == nullptr) return;
  const Guard guard(threads_by_handle.lock());
  record->value.detached = true;
  give_back_if_over(record);
}

bool is_detached(const pthread_attr_t* attributes) {
  int state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
  return state == PTHREAD_CREATE_DETACHED;
}

// thread_create etc. are told only of threads that the runtime itself does not make.
template <class Create>
int create(const void* routine, void* argument, bool detached, const pthread_t* handle,
           int out_of_memory, Address pc, Create create_real) {
  Record* const record = about_to_create(routine, argument, detached, pc);
  if (record == nullptr) return out_of_memory;
  const int error = create_real(record);
  schedule::Task* const task = record->value.task;
  if (error == 0) {
    if (task != nullptr) schedule::task_exists(task, *handle);
    created(record, handle);
  } else {
    if (task != nullptr) schedule::task_not_made(task);
    not_created(record);
  }
  if (schedule::controlled()) schedule::take_turn({.kind = schedule::Kind::kCreate, .pc = pc});
  return error;
}

constexpr std::uint64_t kAtOnce = 0;  // without waiting, whatever the real one says

// False: the time is over.
bool turn_to_join(pthread_t thread, std::uint64_t deadline, Address pc) {
  if (!schedule::controlled()) return true;
  if (deadline == kAtOnce) {
    schedule::take_turn({.kind = schedule::Kind::kYield, .pc = pc});
    return true;
  }
  return schedule::turn_to_join(schedule::task_of(thread), {.kind = schedule::Kind::kJoin,
                                                            .pc = pc,
                                                            .deadline = deadline,
                                                            .cancellable = true}) ==
         schedule::Outcome::kGo;
}

template <class Join>
int join(pthread_t thread, std::uint64_t deadline, Address pc, Join join_real) {
  if (inside()) return join_real();
  Record* const record = find_thread(thread);
  if (!turn_to_join(thread, deadline, pc)) return ETIMEDOUT;
  const int error = join_real();
  if (error == 0) joined(record, pc);
  return error;
}

template <class Detach>
int detach(pthread_t thread, Detach detach_real) {
  if (inside()) return detach_real();
  Record* const record = find_thread(thread);
  const int error = detach_real();
  if (error == 0) detached(record);
  return error;
}

}  // namespace

namespace tomos::runtime {

void watch_end_of_thread() { pthread_setspecific(end_key, &ending); }

void lock_thread_table() { threads_by_handle.lock().lock(); }
void unlock_thread_table() { threads_by_handle.lock().unlock(); }

void watch_thread_ends() {
  pthread_key_create(&end_key, at_thread_end);
  // For a pthread_exit in main: that thread ends before the process.
  pthread_setspecific(end_key, &ending);
}

}  // namespace tomos::runtime

TOMOS_INTERPOSE(int, pthread_create, pthread_t* thread, const pthread_attr_t* attributes,
                void* (*routine)(void*), void* argument) {
  if (inside()) return REAL(pthread_create)(thread, attributes, routine, argument);
  return create(reinterpret_cast<const void*>(routine), argument, is_detached(attributes), thread,
                EAGAIN, TOMOS_CALLER(), [&](Record* record) {
                  return REAL(pthread_create)(thread, attributes, pthread_body, record);
                });
}

TOMOS_INTERPOSE(int, pthread_join, pthread_t thread, void** result) {
  return join(thread, schedule::kNever, TOMOS_CALLER(),
              [&] { return REAL(pthread_join)(thread, result); });
}
TOMOS_INTERPOSE(int, pthread_tryjoin_np, pthread_t thread, void** result) {
  return join(thread, kAtOnce, TOMOS_CALLER(),
              [&] { return REAL(pthread_tryjoin_np)(thread, result); });
}
TOMOS_INTERPOSE(int, pthread_timedjoin_np, pthread_t thread, void** result, const timespec* until) {
  return join(thread, schedule::deadline_at(CLOCK_REALTIME, until), TOMOS_CALLER(),
              [&] { return REAL(pthread_timedjoin_np)(thread, result, until); });
}
TOMOS_INTERPOSE(int, pthread_clockjoin_np, pthread_t thread, void** result, clockid_t clock,
                const timespec* until) {
  return join(thread, schedule::deadline_at(clock, until), TOMOS_CALLER(),
              [&] { return REAL(pthread_clockjoin_np)(thread, result, clock, until); });
}

TOMOS_INTERPOSE(int, pthread_detach, pthread_t thread) {
  return detach(thread, [&] { return REAL(pthread_detach)(thread); });
}

TOMOS_INTERPOSE(int, pthread_setname_np, pthread_t thread, const char* name) {
  const int error = REAL(pthread_setname_np)(thread, name);
  if (error != 0 || inside()) return error;
  if (pthread_equal(thread, pthread_self()) != 0) {
    thread_named(this_thread(), name);
  } else if (const Record* const record = find_thread(thread); record != nullptr) {
    thread_named(record->value.number, name);
  }
  return error;
}

// glibc makes C11's threads with its own inner pthread_create; a thrd_t is a pthread_t.
TOMOS_INTERPOSE(int, thrd_create, thrd_t* thread, thrd_start_t routine, void* argument) {
  if (inside()) return REAL(thrd_create)(thread, routine, argument);
  return create(reinterpret_cast<const void*>(routine), argument, false, thread, thrd_nomem,
                TOMOS_CALLER(),
                [&](Record* record) { return REAL(thrd_create)(thread, c11_body, record); });
}
TOMOS_INTERPOSE(int, thrd_join, thrd_t thread, int* result) {
  return join(thread, schedule::kNever, TOMOS_CALLER(),
              [&] { return REAL(thrd_join)(thread, result); });
}
TOMOS_INTERPOSE(int, thrd_detach, thrd_t thread) {
  return detach(thread, [&] { return REAL(thrd_detach)(thread); });
}
