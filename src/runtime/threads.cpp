// The life of threads and of the process.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/escape.h"
#include "runtime/runtime.h"
#include "runtime/shadow.h"
#include "runtime/spin_lock.h"
#include "schedule/control.h"

namespace tomos::runtime {

using recording::Op;

std::atomic<Thread*>* threads = nullptr;
std::atomic<bool> shared_process = false;
std::atomic<std::uint32_t> unjoined = 0;

SpinLock locks::spare_threads;

namespace {

std::atomic<ThreadNumber> next_number = 1;

// States of threads that have ended, to be used again.
Thread* spare = nullptr;

// Something for clock.h to hang a thread's start and end on.
Address start_of(ThreadNumber thread) { return 0x7100'0000'0000'0000 + thread; }
Address end_of(ThreadNumber thread) { return 0x7200'0000'0000'0000 + thread; }

Thread* take_spare() {
  const Guard guard(locks::spare_threads);
  Thread* thread = spare;
  if (thread != nullptr) spare = reinterpret_cast<Thread*>(thread->stack_low);
  return thread;
}

void find_stack(Thread& thread) {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  thread.stack_low = reinterpret_cast<Address>(low);
  thread.stack_high = thread.stack_low + size;
}

}  // namespace

ThreadNumber thread_count() {
  const ThreadNumber count = next_number.load(std::memory_order_relaxed);
  return count < kMaxThreads ? count : kMaxThreads;
}

// The table of calls is the bulk of it, and is only as real as the thread's stack is deep.
Thread* make_thread(ThreadNumber number) {
  Thread* thread = take_spare();
  if (thread == nullptr) {
    void* memory = mmap(nullptr, sizeof(Thread), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    thread = static_cast<Thread*>(memory);
  } else {
    __builtin_memset(static_cast<void*>(thread), 0, offsetof(Thread, filter));
  }
  new_period(*thread);
  thread->number = number;
  thread->local_cell = local_to(number);
  thread->fast_cell = thread->local_cell;
  thread->shared_stack = ~Address{0};
  thread->stamp = ticks();
  thread->open_since = kNoTransaction;
  find_stack(*thread);
  if (number < kMaxThreads) threads[number] = thread;
  return thread;
}

void start_sharing(Thread& thread) {
  shared_process = true;
  observer = &thread;
  record_modules(thread, true);
  record_all_labels(thread);
  if (thread.not_atomic == 0) reopen_transaction(thread);
  for (std::uint32_t i = 0; i < thread.held_count; ++i) {
    const Held& held = thread.held[i];
    for (std::uint32_t times = 0; times < held.times; ++times) {
      record(thread, held.mode == LockMode::kWrite ? Op::kAcquire : Op::kReadAcquire, 0,
             reinterpret_cast<Address>(held.lock), held.pc);
    }
  }
  escape_globals(thread);
}

ThreadNumber thread_create(const void*, const void* argument, Address pc) {
  set_up();
  Thread* thread = current_thread;
  if (thread == nullptr) return 0;
  const ThreadNumber number = next_number.fetch_add(1);
  const AtWork at_work(thread);
  if (!at_work) return number;
  if (!shared_process.load()) start_sharing(*thread);
  look_at_stored_pointer(*thread);
  escape_value(*thread, reinterpret_cast<Address>(argument));
  unjoined.fetch_add(1);
  note_synchronising(*thread, pc);
  record(*thread, Op::kFork, 0, number, pc);
  new_period(*thread);
  leave(start_of(number), thread->stamp);
  return number;
}

// The fork stands in the recording; a thread that does nothing is a thread.
void thread_not_created(ThreadNumber number) {
  if (number != 0) unjoined.fetch_sub(1);
}

void thread_start(ThreadNumber number, const void*) {
  if (!is_recording() || number == 0 || number >= kMaxThreads) return;
  Thread* thread = make_thread(number);
  if (thread == nullptr) return;
  thread->stamp = follow(start_of(number), thread->stamp);
  current_thread = thread;
  observer = thread;
}

void thread_end() {
  Thread* thread = current_thread;
  if (thread == nullptr || thread->number == 0) return;
  {
    const AtWork at_work(thread);
    if (!at_work) return;
    look_at_stored_pointer(*thread);
    if (thread->opened != Opened::kNothing) close_transaction(*thread, 0);
    forget_stack(*thread, thread->stack_high);
    record(*thread, Op::kExit, 0, 0, 0);
    leave(end_of(thread->number), thread->stamp);
    forget_cells(thread->stack_low, thread->stack_high - thread->stack_low);
    hand_back_chunk(*thread);
  }
  current_thread = nullptr;
  observer = nullptr;
  threads[thread->number] = nullptr;
  const Guard guard(locks::spare_threads);
  thread->stack_low = reinterpret_cast<Address>(spare);
  spare = thread;
}

void thread_joined(ThreadNumber number, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work || number == 0) return;
  look_at_stored_pointer(*thread);
  thread->stamp = follow(end_of(number), thread->stamp);
  record(*thread, Op::kJoin, 0, number, pc);
  unjoined.fetch_sub(1);
  new_period(*thread);
}

void thread_named(ThreadNumber number, const char* name) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (at_work) {
    record_text(*thread, Op::kThreadName, 0, number, 0, name, __builtin_strlen(name));
  }
}

ThreadNumber this_thread() { return current_thread == nullptr ? 0 : current_thread->number; }

// --- Memory.

void allocated(const void* start, std::size_t size, Address pc) {
  set_up();
  Thread* thread = current_thread;
  if (thread == nullptr || thread->at_work != 0) return;
  const auto address = reinterpret_cast<Address>(start);
  const std::uint32_t calls = thread->call_count;
  add_object(address, size, pc, calls - 1 < kMaxCalls ? thread->calls[calls - 1].site : 0);
  thread->stamp = follow(address, thread->stamp);
}

void freeing(const void* start, std::size_t size, Address pc) {
  Thread* thread = current_thread;
  const AtWork at_work(thread);
  if (!at_work) return;
  const auto address = reinterpret_cast<Address>(start);
  const Object object = remove_object(address);
  if (!shared_process.load(std::memory_order_relaxed)) return;
  look_at_stored_pointer(*thread);
  forget_memory(*thread, address, object.size > size ? object.size : size, object.escaped, pc);
}

void unmapping(const void* start, std::size_t size, Address pc) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  look_at_stored_pointer(*thread);
  forget_memory(*thread, reinterpret_cast<Address>(start), size, true, pc);
}

void read_range(const void* start, std::size_t size, Address pc) {
  if (Thread* thread = observer; thread != nullptr) {
    access_range(*thread, reinterpret_cast<Address>(start), size, false, pc);
  }
}

void write_range(const void* start, std::size_t size, Address pc) {
  if (Thread* thread = observer; thread != nullptr) {
    access_range(*thread, reinterpret_cast<Address>(start), size, true, pc);
  }
}

void stored_pointer(const void* where, const void* value) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  look_at_stored_pointer(*thread);
  const auto address = reinterpret_cast<Address>(where);
  Region* const region = region_at(address);
  if (region == nullptr || cell_value(*region, address) == thread->local_cell) return;
  escape_value(*thread, reinterpret_cast<Address>(value));
}

// --- Processes.

namespace {

constexpr SpinLock* kAllLocks[] = {&locks::modules, &locks::labels, &locks::spare_threads,
                                   &locks::rests,   &locks::file,   &locks::large_objects};

}  // namespace

void before_fork() {
  for (SpinLock* lock : kAllLocks) lock->lock();
}

void after_fork_in_parent() {
  for (SpinLock* lock : kAllLocks) lock->unlock();
}

// The child has one thread, which begins a recording of its own with what it inherited.
void after_fork_in_child() {
  for (SpinLock* lock : kAllLocks) lock->unlock();
  forget_atomic_operations();
  Thread* thread = current_thread;
  if (thread == nullptr) return;
  const auto parent = static_cast<std::uint32_t>(getppid());
  forget_recording(*thread);
  for (ThreadNumber number = 0; number < next_number && number < kMaxThreads; ++number) {
    threads[number] = nullptr;
  }
  thread->number = 0;
  thread->opened = Opened::kNothing;
  thread->begin_written = false;
  thread->familiar = nullptr;
  thread->stored_pointer = 0;
  thread->fast_cell = thread->local_cell;
  threads[0] = thread;
  next_number = 1;
  unjoined = 0;
  shared_process = false;
  observer = nullptr;
  if (!open_recording(config.recording, parent)) current_thread = nullptr;
}

void before_exec() { set_ending(recording::Ending::kExec); }
void exec_failed() { set_ending(recording::Ending::kRunning); }
void process_exit() { set_ending(recording::Ending::kExited); }

bool inside() { return current_thread != nullptr && current_thread->at_work != 0; }

Ignore::Ignore() {
  if (current_thread != nullptr && current_thread->ignoring++ == 0) observer = nullptr;
}

Ignore::~Ignore() {
  if (current_thread != nullptr && --current_thread->ignoring == 0 && shared_process.load()) {
    observer = current_thread;
  }
}

// --- Setting up.

namespace {

std::atomic<int> set_up_state = 0;  // 0: not yet, 1: somebody is at it, 2: done

void really_set_up() {
  read_config();
  if (config.recording == nullptr) {
    // The scheduler has a use for functions, too.
    read_function_table(config.functions);
    if (config.functions != nullptr) know_all_functions();
    return;
  }
  void* memory = mmap(nullptr, kMaxThreads * sizeof(Thread*), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || !set_up_shadow()) return;
  threads = static_cast<std::atomic<Thread*>*>(memory);
  if (!open_recording(config.recording, 0)) return;
  Thread* thread = make_thread(0);
  if (thread == nullptr) return;
  read_function_table(config.functions);
  current_thread = thread;
  record_modules(*thread, true);
}

__attribute__((constructor(101))) void at_start() { set_up(); }
__attribute__((destructor(101))) void at_end() {
  schedule::process_ends();
  process_exit();
}

}  // namespace

void set_up() {
  if (set_up_state.load(std::memory_order_acquire) != 0) return;
  int none = 0;
  if (!set_up_state.compare_exchange_strong(none, 1)) return;
  really_set_up();
  set_up_state = 2;
}

}  // namespace tomos::runtime

extern "C" __attribute__((visibility("default"))) void __tsan_init() {
  tomos::runtime::set_up();
  tomos::runtime::modules_changed();
}
