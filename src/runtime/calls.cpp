// The functions a thread is in, for stacks in reports, and for knowing when a frame is gone.
#include "runtime/escape.h"
#include "runtime/runtime.h"
#include "schedule/control.h"

namespace tomos::runtime {

namespace {

bool in_own_stack(const Thread& thread, Address stack_pointer) {
  return stack_pointer >= thread.stack_low && stack_pointer < thread.stack_high;
}

}  // namespace

void heal(Thread& thread, Address stack_pointer) {
  // A signal handler on a stack of its own says nothing about this one.
  if (!in_own_stack(thread, stack_pointer)) return;
  thread.filter.note_unknown();  // what was asked for may not have come
  while (thread.call_count > 0 && thread.call_count <= kMaxCalls &&
         thread.calls[thread.call_count - 1].stack_pointer <= stack_pointer) {
    --thread.call_count;
  }
  while (thread.entered_count > 0 && thread.entered_count <= kMaxCalls &&
         thread.entered[thread.entered_count - 1].stack_pointer < stack_pointer) {
    --thread.entered_count;
    if (thread.opened == Opened::kFunction && thread.entered_count < thread.opened_at) {
      close_transaction(thread, 0);
    }
  }
}

}  // namespace tomos::runtime

using namespace tomos::runtime;

extern "C" {
#pragma GCC visibility push(default)

void __tsan_func_entry(void* site) {
  Thread* thread = current_thread;
  if (thread == nullptr) {
    tomos::schedule::call_begins(reinterpret_cast<Address>(site));
    return;
  }
  const auto stack_pointer = reinterpret_cast<Address>(__builtin_frame_address(0));
  std::uint32_t count = thread->call_count;
  std::uint64_t outer = 0;
  if (count > 0 && count <= kMaxCalls) {
    if (thread->calls[count - 1].stack_pointer <= stack_pointer) {
      heal(*thread, stack_pointer);
      count = thread->call_count;
    }
    if (count > 0) outer = thread->calls[count - 1].hash;
  }
  if (count < kMaxCalls) {
    const auto pc = reinterpret_cast<Address>(site);
    thread->calls[count] = {.site = pc,
                            .stack_pointer = stack_pointer,
                            .hash = (outer ^ pc) * 0x9e37'79b9'7f4a'7c15U + (outer >> 29)};
  }
  thread->call_count = count + 1;
}

void __tsan_func_exit() {
  Thread* thread = current_thread;
  if (thread == nullptr) {
    tomos::schedule::call_ends();
    return;
  }
  if (thread->call_count == 0) return;
  const std::uint32_t count = --thread->call_count;
  if (count >= kMaxCalls) return;
  const Address above = count > 0 ? thread->calls[count - 1].stack_pointer : thread->stack_high;
  if (thread->shared_stack.load(std::memory_order_relaxed) < above && count > 0) {
    forget_stack(*thread, above);
  }
}

#pragma GCC visibility pop
}
