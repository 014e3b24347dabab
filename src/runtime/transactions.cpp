// What is atomic, told while the program runs.
//
// A transaction is opened by the outermost of: a function that is one (see is_transaction), a
// TOMOS_ATOMIC scope, a critical section. It ends with what opened it. The function a thread starts
// with is none, nor is one that waits on a condition: that is known from its descriptor, or else
// when it first waits, and from then on. Nor is one that leaves with a lock that it has taken: it
// begins a critical section of its caller's.
#include "runtime/runtime.h"
#include "runtime/spin_lock.h"
#include "schedule/control.h"

namespace tomos::runtime {

using recording::Op;

SpinLock locks::labels;

namespace {

enum State : std::uint32_t {
  kUndecided = 0,
  kTransaction = 1,
  kPlain = 2,
  kTestBody = 3,
  kForetold = 4,  // a transaction but for the waits in it; plain once that is on record
};

// Labels by number. Critical sections are found by the place of the acquire.
struct Label {
  const char* name;  // nullptr: a critical section
  const char* file;
  std::uint32_t line;
  std::uint8_t flags;
  bool waits;
  Address pc;
};
constexpr std::uint32_t kMaxLabels = 1U << 16;
Label labels[kMaxLabels];
std::uint32_t label_count = 1;  // 0: no label

constexpr std::uint32_t kPlaces = 1U << 14;
std::atomic<std::uint32_t>
    places[kPlaces];  // labels of critical sections and scopes, by hash of pc

std::size_t copy(char* to, std::size_t at, std::size_t room, const char* from) {
  while (from != nullptr && *from != 0 && at < room) to[at++] = *from++;
  return at;
}

void record_label(Thread& thread, std::uint32_t number) {
  const Label& label = labels[number];
  char text[2000];
  std::size_t length = copy(text, 0, 1000, label.name);
  text[length++] = 0;
  length = copy(text, length, sizeof(text), label.file);
  record_text(thread, Op::kLabel, label.flags, number, label.line, text, length);
}

std::uint32_t new_label(const Label& label) {
  std::uint32_t number = 0;
  {
    const Guard guard(locks::labels);
    if (label_count == kMaxLabels) return 0;
    number = label_count++;
    labels[number] = label;
  }
  if (current_thread != nullptr && shared_process.load(std::memory_order_relaxed)) {
    record_label(*current_thread, number);
  }
  return number;
}

// The label of a place in the program; made if it is new.
std::uint32_t label_at(Address pc, const Label& fresh) {
  std::uint32_t slot = static_cast<std::uint32_t>((pc * 0x9e37'79b9'7f4a'7c15U) >> 50) % kPlaces;
  for (std::uint32_t tries = 0; tries < kPlaces; ++tries, slot = (slot + 1) % kPlaces) {
    std::uint32_t number = places[slot].load(std::memory_order_acquire);
    if (number == 0) {
      const std::uint32_t made = new_label(fresh);
      if (places[slot].compare_exchange_strong(number, made)) return made;
    }
    if (labels[number].pc == pc) return number;
  }
  return 0;
}

std::uint32_t label_of(FunctionDescriptor& function) {
  std::uint32_t number = __atomic_load_n(&function.label, __ATOMIC_ACQUIRE);
  if (number != 0) return number;
  const std::uint32_t made = new_label({.name = function.name,
                                        .file = function.file,
                                        .line = function.line,
                                        .flags = recording::kFunctionLabel});
  std::uint32_t none = 0;
  __atomic_compare_exchange_n(&function.label, &none, made, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
  return made;
}

// GoogleTest makes TEST(Suite, Name) a class Suite_Name_Test. How much of the name of its TestBody
// is "Suite_Name"; 0 for other functions.
std::size_t test_name_length(const char* name) {
  constexpr char kEnd[] = "_Test::TestBody";
  const std::size_t length = __builtin_strlen(name);
  constexpr std::size_t kEndLength = sizeof(kEnd) - 1;
  if (length <= kEndLength || __builtin_strcmp(name + length - kEndLength, kEnd) != 0) return 0;
  return length - kEndLength;
}

// "Suite.Name": suites have no underscores in their names (GoogleTest asks for that).
void record_test(Thread& thread, const char* name) {
  char text[512];
  std::size_t length = test_name_length(name);
  if (length > sizeof(text)) length = sizeof(text);
  bool dotted = false;
  for (std::size_t i = 0; i < length; ++i) {
    const bool first = name[i] == '_' && !dotted;
    text[i] = first ? '.' : name[i];
    dotted |= first;
  }
  record_text(thread, Op::kNote, static_cast<std::uint8_t>(recording::Note::kTest), 0, 0, text,
              length);
}

std::uint32_t state_of(FunctionDescriptor& function) {
  const std::uint32_t state = __atomic_load_n(&function.state, __ATOMIC_RELAXED);
  if (state != kUndecided) return state;
  const bool waits = (function.flags & (kWaits | kAtomic)) == kWaits;
  const std::uint32_t decided = test_name_length(function.name) != 0 ? kTestBody
                                : !is_transaction(function)          ? kPlain
                                : waits                              ? kForetold
                                                                     : kTransaction;
  __atomic_store_n(&function.state, decided, __ATOMIC_RELAXED);
  return decided;
}

}  // namespace

void record_all_labels(Thread& thread) {
  for (std::uint32_t number = 1; number < label_count; ++number) record_label(thread, number);
}

std::uint32_t critical_section_label(Address pc) {
  return label_at(pc, {.flags = recording::kCriticalSection, .pc = pc});
}

void new_epoch(Thread& thread) {
  abandon_familiar(thread);
  if (config.filter == Filter::kDistinct && thread.opened == Opened::kNothing &&
      thread.held_count + thread.held_beyond == 0) {
    thread.filter.resume();
  } else {
    thread.filter.new_epoch();
  }
}

void new_period(Thread& thread) {
  abandon_familiar(thread);
  settle(thread);
  ++thread.period;
  thread.filter.new_period();
  thread.distinct.new_period();
}

void open_transaction(Thread& thread, Opened how, std::uint32_t label, Address pc) {
  thread.opened = how;
  thread.opened_at = thread.entered_count;
  thread.label = label;
  thread.begin_pc = pc;
  thread.begin_written = false;
  thread.mark.slot = nullptr;
  // The lock that opens a critical section is a part of it.
  thread.mark.held = how == Opened::kCriticalSection ? 0 : held_fingerprint(thread);
  if (config.filter != Filter::kDistinct) {
    thread.open_since.store(ticks(), std::memory_order_release);
  } else if (begin_familiar(thread)) {
    return;
  }
  new_epoch(thread);
}

void reopen_transaction(Thread& thread) {
  for (std::uint32_t i = 0; i < thread.entered_count && i < kMaxCalls; ++i) {
    FunctionDescriptor& function = *thread.entered[i].function;
    if (state_of(function) != kTransaction) continue;
    open_transaction(thread, Opened::kFunction, label_of(function), 0);
    thread.opened_at = i + 1;
    return;
  }
}

// A begin is written with the first event that follows: transactions without events cost nothing.
void write_begin(Thread& thread) {
  if (thread.opened == Opened::kNothing || thread.begin_written) return;
  abandon_familiar(thread);
  if (thread.begin_written) return;
  thread.begin_written = true;
  set_mark(thread);
  record_at_once(thread, Op::kBegin, 0, thread.label, thread.begin_pc);
}

namespace {

// Whether the open transaction may be on record already.
bool may_be_known(const Thread& thread) {
  if (config.filter != Filter::kDistinct || thread.mark.slot == nullptr) return false;
  // One that takes locks along, or leaves some behind, is needed to know what comes after it.
  return thread.held_beyond == 0 && held_fingerprint(thread) == thread.mark.held;
}

}  // namespace

void close_transaction(Thread& thread, Address pc) {
  if (thread.familiar != nullptr && thread.next_step->what == 0 && is_still(*thread.familiar)) {
    thread.familiar = nullptr;
    thread.opened = Opened::kNothing;
    return;
  }
  abandon_familiar(thread);
  if (thread.begin_written) {
    const bool may_be = may_be_known(thread) && thread.end - thread.next >= 2;
    if (const std::uint64_t known_by = may_be ? fingerprint(thread) : 0; known_by != 0) {
      // The answer takes its time; the program need not wait for it.
      thread.ended = {.fingerprint = known_by,
                      .mark = thread.mark,
                      .stamp = thread.stamp,
                      .begin_pc = thread.begin_pc,
                      .end_pc = pc,
                      .label = thread.label};
      thread.distinct.fetch(thread.ended.fingerprint, thread.number, fingerprints);
    } else {
      record_at_once(thread, Op::kEnd, 0, 0, pc);
    }
  }
  thread.opened = Opened::kNothing;
  thread.begin_written = false;
  thread.mark.slot = nullptr;
  thread.open_since.store(kNoTransaction, std::memory_order_release);
  new_epoch(thread);
}

namespace {

// It is no transaction after all. The reader takes back those that are on record already, and tells
// people of those that wait.
void make_plain(Thread& thread, FunctionDescriptor& function, bool waits) {
  // A function without a label was never taken for a transaction, but it may be about to be.
  const std::uint32_t label = state_of(function) == kForetold
                                  ? label_of(function)
                                  : __atomic_load_n(&function.label, __ATOMIC_ACQUIRE);
  __atomic_store_n(&function.state, static_cast<std::uint32_t>(kPlain), __ATOMIC_RELAXED);
  if (label == 0 || __atomic_exchange_n(&labels[label].waits, true, __ATOMIC_RELAXED)) return;
  record_text(thread, Op::kNote, static_cast<std::uint8_t>(recording::Note::kWaits), 0, label,
              function.name, waits ? __builtin_strlen(function.name) : 0);
}

// Whether the open transaction, of a function that is about to leave, has taken a lock that it
// keeps.
bool keeps_lock(const Thread& thread) {
  return thread.mark.held == 0 && thread.held_count > 0 && thread.held_beyond == 0;
}

}  // namespace

void enter_function(FunctionDescriptor& function, Address pc, Address stack_pointer) {
  Thread* thread = current_thread;
  std::uint32_t count = thread->entered_count;
  if (count > 0 && count <= kMaxCalls && thread->entered[count - 1].stack_pointer < stack_pointer) {
    heal(*thread, stack_pointer);
    count = thread->entered_count;
  }
  if (count < kMaxCalls) {
    thread->entered[count] = {.function = &function, .stack_pointer = stack_pointer};
  }
  thread->entered_count = count + 1;
  const std::uint32_t state = state_of(function);
  if (state == kTestBody) {
    const AtWork at_work(thread);
    if (at_work) record_test(*thread, function.name);
  }
  if (thread->opened != Opened::kNothing || thread->not_atomic != 0 || observer == nullptr) return;
  // The first function of a thread is the thread.
  if (count == 0 && thread->number != 0 && (function.flags & kAtomic) == 0) return;
  if (state != kTransaction && state != kForetold) return;
  const AtWork at_work(thread);
  if (!at_work) return;
  if (state == kForetold) {
    make_plain(*thread, function, /*waits=*/true);
  } else {
    open_transaction(*thread, Opened::kFunction, label_of(function), pc);
  }
}

void leave_function(FunctionDescriptor& function, Address pc) {
  Thread* thread = current_thread;
  if (thread->entered_count == 0) return;
  std::uint32_t count = thread->entered_count - 1;
  if (count < kMaxCalls) {
    // What was entered and not left in between was left by a jump.
    while (count > 0 && thread->entered[count].function != &function) --count;
    if (thread->entered[count].function != &function) return;
  }
  thread->entered_count = count;
  if (state_of(function) == kTestBody) {
    const AtWork at_work(thread);
    if (at_work) {
      record_text(*thread, Op::kNote, static_cast<std::uint8_t>(recording::Note::kTest), 0, 0, "",
                  0);
    }
  }
  if (thread->opened != Opened::kFunction || count >= thread->opened_at) return;
  const AtWork at_work(thread);
  if (!at_work) return;
  const bool begins_section = (function.flags & kAtomic) == 0 && keeps_lock(*thread);
  close_transaction(*thread, pc);
  if (begins_section) {
    make_plain(*thread, function, /*waits=*/false);
    const Address taken_at = thread->held[0].pc;
    open_transaction(*thread, Opened::kCriticalSection, critical_section_label(taken_at), taken_at);
    write_begin(*thread);  // now, while the stack is the one with which the lock was taken
  }
}

void waiting(Address pc, const void* mutex) {
  Thread* thread = observer;
  const AtWork at_work(thread);
  if (!at_work) return;
  // All functions the thread is in wait.
  for (std::uint32_t i = 0; i < thread->entered_count && i < kMaxCalls; ++i) {
    FunctionDescriptor& function = *thread->entered[i].function;
    if ((function.flags & kAtomic) != 0 || state_of(function) == kTestBody) continue;
    make_plain(*thread, function, /*waits=*/true);
  }
  // A critical section is over when its lock is given back, and another one begins when the thread
  // has it again.
  const bool ends_with_lock = thread->opened == Opened::kCriticalSection &&
                              thread->held_count + thread->held_beyond == 1 &&
                              thread->held[0].lock == mutex && thread->held[0].times == 1;
  if (thread->opened != Opened::kNothing && !ends_with_lock) close_transaction(*thread, pc);
}

namespace {

// The short way of enter_function() for most functions: those that open no transaction, because
// they are none or are called in one. False: it is not for this one.
[[gnu::always_inline]] inline bool enters_within(Thread& thread, FunctionDescriptor& function,
                                                 Address stack_pointer) {
  const std::uint32_t count = thread.entered_count;
  if (count == 0 || count >= kMaxCalls || thread.entered[count - 1].stack_pointer < stack_pointer) {
    return false;
  }
  const std::uint32_t state = __atomic_load_n(&function.state, __ATOMIC_RELAXED);
  if (state != kPlain && (state != kTransaction || thread.opened == Opened::kNothing)) return false;
  thread.entered[count] = {.function = &function, .stack_pointer = stack_pointer};
  thread.entered_count = count + 1;
  return true;
}

// The same for those that open a transaction which the thread knows by heart, with no lock held.
[[gnu::always_inline]] inline bool enters_familiar(Thread& thread, FunctionDescriptor& function,
                                                   Address pc, Address stack_pointer) {
  const std::uint32_t count = thread.entered_count;
  if (count == 0 || count >= kMaxCalls || thread.entered[count - 1].stack_pointer < stack_pointer ||
      thread.opened != Opened::kNothing || thread.held_count + thread.held_beyond != 0 ||
      thread.not_atomic != 0 || observer == nullptr || config.filter != Filter::kDistinct ||
      __atomic_load_n(&function.state, __ATOMIC_RELAXED) != kTransaction) {
    return false;
  }
  const AtWork at_work(&thread);
  if (!at_work) return false;
  Familiar& familiar = familiar_at(thread, pc);
  if (familiar.begin_pc != pc || familiar.label == 0 ||
      familiar.label != __atomic_load_n(&function.label, __ATOMIC_RELAXED) ||
      familiar.period != thread.period || familiar.held != 0 || familiar.ends != lives.ends()) {
    return false;
  }
  thread.entered[count] = {.function = &function, .stack_pointer = stack_pointer};
  thread.entered_count = count + 1;
  thread.opened = Opened::kFunction;
  thread.opened_at = count + 1;
  thread.label = familiar.label;
  thread.begin_pc = pc;
  thread.begin_written = false;
  thread.mark.slot = nullptr;
  thread.mark.held = 0;
  thread.familiar = &familiar;
  thread.next_step = familiar.steps;
  return true;
}

// The same for leave_function(), of functions that end no transaction.
[[gnu::always_inline]] inline bool leaves_within(Thread& thread,
                                                 const FunctionDescriptor& function) {
  const std::uint32_t count = thread.entered_count - 1;
  if (count >= kMaxCalls || thread.entered[count].function != &function ||
      (thread.opened == Opened::kFunction && count < thread.opened_at)) {
    return false;
  }
  const std::uint32_t state = __atomic_load_n(&function.state, __ATOMIC_RELAXED);
  if (state != kPlain && state != kTransaction) return false;
  thread.entered_count = count;
  return true;
}

// The same for those that end a transaction known by heart in which all has been as it should.
[[gnu::always_inline]] inline bool leaves_familiar(Thread& thread,
                                                   const FunctionDescriptor& function) {
  const Familiar* const familiar = thread.familiar;
  const std::uint32_t count = thread.entered_count - 1;
  if (familiar == nullptr || thread.next_step->what != 0 || familiar->ends != lives.ends() ||
      thread.opened != Opened::kFunction || count >= kMaxCalls || count >= thread.opened_at ||
      thread.entered[count].function != &function || thread.held_count + thread.held_beyond != 0) {
    return false;
  }
  const AtWork at_work(&thread);
  if (!at_work) return false;
  thread.entered_count = count;
  thread.familiar = nullptr;
  thread.opened = Opened::kNothing;
  return true;
}

}  // namespace

// --- The same for the scheduler, which has no use for labels: the outermost function that is a
// transaction is an atomic block.

namespace {

struct Inside {
  std::uint32_t functions;             // entered and not left
  const FunctionDescriptor* function;  // the one that is the block; nullptr: none
  std::uint32_t times;                 // it was entered, by itself
};
constinit thread_local Inside inside_of = {};

}  // namespace

[[gnu::noinline]] void enter_block(FunctionDescriptor& function, Address pc) {
  const bool first = inside_of.functions++ == 0;
  if (inside_of.function == &function) ++inside_of.times;
  if (inside_of.function != nullptr || state_of(function) != kTransaction) return;
  const bool declared = (function.flags & kAtomic) != 0;
  // The first function of a thread is the thread.
  if (first && !declared && schedule::is_made_thread()) return;
  inside_of.function = &function;
  inside_of.times = 1;
  schedule::block_begins(
      declared ? schedule::BlockSource::kAnnotated : schedule::BlockSource::kFunction,
      function.name, pc);
}

[[gnu::noinline]] void leave_block(const FunctionDescriptor& function) {
  if (inside_of.functions > 0) --inside_of.functions;
  if (inside_of.function != &function || --inside_of.times > 0) return;
  inside_of.function = nullptr;
  schedule::block_ends();
}

}  // namespace tomos::runtime

using namespace tomos::runtime;

extern "C" {
#pragma GCC visibility push(default)

void __tomos_enter(FunctionDescriptor* function) {
  const auto pc = reinterpret_cast<Address>(__builtin_return_address(0));
  const auto stack_pointer = reinterpret_cast<Address>(__builtin_frame_address(0));
  if (tomos::schedule::self != nullptr) [[unlikely]]
    enter_block(*function, pc);
  Thread* const thread = current_thread;
  if (thread == nullptr || enters_within(*thread, *function, stack_pointer) ||
      enters_familiar(*thread, *function, pc, stack_pointer)) {
    return;
  }
  enter_function(*function, pc, stack_pointer);
}

void __tomos_exit(FunctionDescriptor* function) {
  if (tomos::schedule::self != nullptr) [[unlikely]]
    leave_block(*function);
  Thread* const thread = current_thread;
  if (thread == nullptr || leaves_within(*thread, *function) ||
      leaves_familiar(*thread, *function)) {
    return;
  }
  leave_function(*function, reinterpret_cast<Address>(__builtin_return_address(0)));
}

void __tomos_begin_atomic(const char* name, const char* file, std::uint32_t line) {
  tomos::schedule::block_begins(tomos::schedule::BlockSource::kAnnotated, name,
                                reinterpret_cast<Address>(__builtin_return_address(0)));
  Thread* thread = observer;
  if (thread == nullptr) return;
  ++thread->scopes;
  if (thread->opened != Opened::kNothing) return;
  const AtWork at_work(thread);
  if (!at_work) return;
  const auto pc = reinterpret_cast<Address>(__builtin_return_address(0));
  const std::uint32_t label = label_at(
      pc,
      {.name = name, .file = file, .line = line, .flags = tomos::recording::kScopeLabel, .pc = pc});
  open_transaction(*thread, Opened::kScope, label, pc);
  thread->opened_at = thread->scopes;
}

void __tomos_end_atomic() {
  tomos::schedule::block_ends();
  Thread* thread = observer;
  if (thread == nullptr || thread->scopes == 0) return;
  if (thread->opened == Opened::kScope && thread->opened_at == thread->scopes) {
    const AtWork at_work(thread);
    if (at_work) {
      close_transaction(*thread, reinterpret_cast<Address>(__builtin_return_address(0)));
    }
  }
  --thread->scopes;
}

void __tomos_begin_not_atomic() {
  Thread* thread = observer;
  if (thread == nullptr) return;
  ++thread->not_atomic;
  if (thread->opened == Opened::kNothing) return;
  const AtWork at_work(thread);
  if (at_work) {
    close_transaction(*thread, reinterpret_cast<Address>(__builtin_return_address(0)));
  }
}

void __tomos_end_not_atomic() {
  Thread* thread = observer;
  if (thread != nullptr && thread->not_atomic != 0) --thread->not_atomic;
}

#pragma GCC visibility pop
}
