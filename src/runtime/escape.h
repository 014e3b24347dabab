// Escape: when memory of one thread comes within reach of others (Wang & Stoller, section 3).
//
// Nothing has escaped while the process has one thread. When the second is made, all that globals
// lead to has. From then on an object escapes when
//   - a pointer to it is stored into escaped memory,
//   - a pointer to it is handed to a new thread,
//   - another thread touches it (however it got there);
// and with an object all that it leads to: its content is scanned for anything that looks like a
// pointer. Objects are the allocator's; on a stack, the whole frame that holds the address.
//
// Instrumented code announces a store before it happens, so the value is looked at when the thread
// next does anything that the runtime sees: always before another thread can have been told of it
// by synchronisation, and before the owner's next access.
#pragma once

#include <cstddef>

#include "runtime/runtime.h"
#include "runtime/shadow.h"

namespace tomos::runtime {

// The cell of an address that is not shared, touched by `thread`: makes it local or shared.
void first_touch(Thread& thread, Region& region, Address address, Cell old);

// Whatever this value points to escapes.
void escape_value(Thread& thread, Address value);

// All that the process's globals lead to escapes.
void escape_globals(Thread& thread);

void look_at_stored_pointer_now(Thread& thread);

inline bool may_be_pointer(Address value) { return value >> 47 == 0 && value >= 65536; }

// Most stored values are no addresses: that is seen at once. True: nothing is left to look at.
[[gnu::always_inline]] inline bool is_no_pointer(Thread& thread) {
  if (thread.stored_pointer == 0) return true;
  if (thread.stored_size > 16 || thread.stored_size % 8 != 0 || thread.stored_pointer % 8 != 0) {
    return false;
  }
  const auto* values = reinterpret_cast<const volatile Address*>(thread.stored_pointer);
  if (may_be_pointer(values[0])) return false;
  if (thread.stored_size == 16 && may_be_pointer(values[1])) return false;
  thread.stored_pointer = 0;
  thread.fast_cell = thread.local_cell;
  return true;
}

// Nor do most addresses say anything new. True: nothing is left to look at.
bool is_nothing_new(Thread& thread);

inline void look_at_stored_pointer(Thread& thread) {
  if (!is_no_pointer(thread)) look_at_stored_pointer_now(thread);
}

inline void await_stored_pointer(Thread& thread, Address where) {
  thread.stored_pointer = where;
  thread.stored_size = 8;
  thread.fast_cell = kNoCell;
}

inline void await_stored_range(Thread& thread, Address where, std::size_t size) {
  thread.stored_pointer = where;
  thread.stored_size = size;
  thread.fast_cell = kNoCell;
}

// The memory is no more. Tells the reader if others could reach it.
void forget_memory(Thread& thread, Address start, std::size_t size, bool escaped, Address pc);

// The part of the thread's own stack below the address is no more.
void forget_stack(Thread& thread, Address above);

}  // namespace tomos::runtime
