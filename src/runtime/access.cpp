// Every read and write of instrumented code comes through here.
//
// The path of most accesses is four loads and a comparison: the cell says that only this thread can
// reach the memory, and the access is dropped.
#include "runtime/escape.h"
#include "runtime/horizon.h"
#include "runtime/runtime.h"
#include "runtime/shadow.h"

namespace tomos::runtime {

using recording::Op;

thread_local constinit Thread* current_thread = nullptr;
thread_local constinit Thread* observer = nullptr;

namespace {

enum class Touch : std::uint8_t { kPrivate, kIgnored, kUnchanged, kChanged };

// Brings the cell up to date with an access of this thread. Private: the access is nobody else's
// business. Ignored: only what it stores matters. Changed: the memory changed hands.
Touch touch(Thread& thread, Address address, bool write, Cell& after) {
  std::atomic<Cell>* cell = cell_at(address);
  if (cell == nullptr) return Touch::kPrivate;
  bool changed = false;
  after = cell->load(std::memory_order_relaxed);
  for (;;) {
    if (is_exclusive_to(after, thread.number)) break;
    if (after == thread.local_cell) return Touch::kPrivate;
    if (after == runtime::kIgnored) return Touch::kIgnored;
    if (!is_shared(after)) {
      first_touch(thread, address, *cell, after);
      after = cell->load(std::memory_order_relaxed);
      changed = true;
      continue;
    }
    if (!write && (after & kReadShared) != 0) break;
    const Cell next = after_access(after, thread.number, write, ticks());
    if (cell->compare_exchange_weak(after, next)) {
      after = next;
      changed = true;
      break;
    }
  }
  return changed ? Touch::kChanged : Touch::kUnchanged;
}

// An element that carries on the run which the thread wrote last needs no slot of its own. The run
// stands where its first element stood: that is exact for memory which has not changed hands since.
bool extends_run(Thread& thread, const Access& access) {
  Run& run = thread.run;
  if (run.slot == nullptr || run.slot + 2 != thread.next || run.pc != access.pc ||
      run.epoch != thread.filter.epoch() || run.next != access.address || access.changed ||
      ((access.cell & kVersionMask) >= run.since && access.cell != run.cell)) {
    return false;
  }
  run.next += static_cast<Address>(run.stride);
  // If the process is killed here the count is the old one or the new one.
  __atomic_store_n(&run.slot[1].a, run.slot[1].a + 1, __ATOMIC_RELAXED);
  return true;
}

void record_access(Thread& thread, const Access& access, const RepeatFilter::Place& place) {
  const auto size = static_cast<std::uint8_t>(access.size);
  if (place.regular < 2) {
    record(thread, access.write ? Op::kWrite : Op::kRead, size, access.address, access.pc);
    return;
  }
  if (extends_run(thread, access)) return;
  record(thread, access.write ? Op::kWriteRun : Op::kReadRun, size, access.address, access.pc, 1,
         static_cast<std::uint64_t>(place.stride));
  thread.run = {.slot = thread.next == nullptr ? nullptr : thread.next - 2,
                .pc = access.pc,
                .next = access.address + static_cast<Address>(place.stride),
                .stride = place.stride,
                .since = thread.stamp >> kVersionShift,
                .cell = access.cell,
                .epoch = thread.filter.epoch()};
}

void begin_touched(Thread& thread, const Access& access) {
  const Address stretch = recording::kTouchedElements * access.size;
  std::uint64_t* words = record_touched(thread, static_cast<std::uint8_t>(access.size),
                                        access.address / stretch * stretch, access.pc);
  if (words != nullptr) thread.filter.attach(access, words);
}

}  // namespace

bool note_access(Thread& thread, Address address, std::uint32_t size, bool write, Address pc,
                 bool* shared) {
  Access access{.address = address, .size = size, .write = write, .pc = pc};
  const Touch touched = touch(thread, address, write, access.cell);
  if (touched == Touch::kPrivate) return false;
  *shared = true;
  if (touched == Touch::kIgnored) return false;
  if (unjoined.load(std::memory_order_relaxed) == 0) return false;
  if (!config.filter) return true;
  access.changed = touched == Touch::kChanged;
  access.in_transaction = thread.opened != Opened::kNothing;
  World world{.thread = thread};
  return !thread.filter.is_repeat(access, world);
}

namespace {

// All but the path of local memory. The bytes lie in one cell.
[[gnu::noinline]] void slow_access(Thread& thread, Address address, std::uint32_t size, bool write,
                                   Address pc) {
  const AtWork at_work(&thread);
  if (!at_work) return;
  look_at_stored_pointer(thread);
  Access access{.address = address, .size = size, .write = write, .pc = pc};
  const Touch touched = touch(thread, address, write, access.cell);
  if (touched == Touch::kPrivate) return;
  if (touched == Touch::kIgnored || unjoined.load(std::memory_order_relaxed) == 0) {
    // Only what it stores matters.
  } else if (config.filter) {
    access.changed = touched == Touch::kChanged;
    access.in_transaction = thread.opened != Opened::kNothing;
    const RepeatFilter::Place& place = thread.filter.place(access);
    World world{.thread = thread};
    switch (thread.filter.decide(access, place, world)) {
      case RepeatFilter::Fate::kDrop:
      case RepeatFilter::Fate::kJoined:
        break;
      case RepeatFilter::Fate::kRecord:
        record_access(thread, access, place);
        break;
      case RepeatFilter::Fate::kBegin:
        begin_touched(thread, access);
        break;
    }
  } else {
    record(thread, write ? Op::kWrite : Op::kRead, static_cast<std::uint8_t>(size), address, pc);
  }
  // What is stored is known after this call has returned.
  if (write && size == 8) await_stored_pointer(thread, address);
}

template <bool kWrite, std::uint32_t kSize>
[[gnu::always_inline]] inline void access(Address address, Address pc) {
  Thread* thread = observer;
  if (thread == nullptr || !has_shadow(address)) return;
  Region* region = regions[address >> kRegionBits].load(std::memory_order_relaxed);
  if (region != nullptr) {
    const Cell cell = cell_in(*region, address).load(std::memory_order_relaxed);
    if (cell == thread->fast_cell) return;
    if (is_no_pointer(*thread)) {
      if (cell == thread->local_cell) return;
      if (cell == tomos::runtime::kIgnored ||
          thread->filter.is_known(address, kSize, kWrite, pc, cell) ||
          thread->filter.sweeps(address, kSize, kWrite, thread->opened != Opened::kNothing, cell,
                                thread->number)) {
        if (kWrite && kSize == 8) await_stored_pointer(*thread, address);
        return;
      }
    }
  }
  slow_access(*thread, address, kSize, kWrite, pc);
}

// May lie across two cells.
template <bool kWrite, std::uint32_t kSize>
[[gnu::always_inline]] inline void unaligned_access(Address address, Address pc) {
  const std::uint32_t first = 8 - (address & 7);
  if (kSize <= first) {
    access<kWrite, kSize>(address, pc);
    return;
  }
  if (kSize == 16 && first == 8) {
    access<kWrite, 8>(address, pc);
    access<kWrite, 8>(address + 8, pc);
    return;
  }
  Thread* thread = observer;
  if (thread == nullptr || !has_shadow(address)) return;
  for (Address at = address; at < address + kSize;) {
    const Address next = (at | 7) + 1;
    const Address end = next < address + kSize ? next : address + kSize;
    slow_access(*thread, at, static_cast<std::uint32_t>(end - at), kWrite, pc);
    at = end;
  }
}

}  // namespace

void access_range(Thread& thread, Address start, std::size_t size, bool write, Address pc) {
  if (size == 0 || !has_shadow(start) || !has_shadow(start + size)) return;
  const AtWork at_work(&thread);
  if (!at_work) return;
  look_at_stored_pointer(thread);
  const Address end = start + size;
  const Op op = write ? Op::kWriteRange : Op::kReadRange;
  Address shared = 0;  // where the stretch of shared memory began
  std::uint64_t cells = 0;
  bool any_shared = false;
  const std::uint64_t length_seed = size * 0x9e37'79b9'7f4a'7c15U;
  const bool alone = unjoined.load(std::memory_order_relaxed) == 0;
  const auto tell = [&](Address stop) {
    if (alone) return;
    const std::size_t length = stop - shared;
    World world{.thread = thread};
    if (config.filter &&
        thread.filter.is_repeat({.address = shared,
                                 .size = static_cast<std::uint32_t>(length & 0x3fff),
                                 .write = write,
                                 .changed = true,
                                 .in_transaction = thread.opened != Opened::kNothing,
                                 .pc = pc,
                                 .cell = cells},
                                world)) {
      return;
    }
    if (length <= 8) {
      record(thread, write ? Op::kWrite : Op::kRead, static_cast<std::uint8_t>(length), shared, pc);
    } else {
      record(thread, op, 0, shared, pc, length, 0);
    }
  };
  for (Address at = start; at < end; at = (at | 7) + 1) {
    Cell cell = 0;
    const Touch touched = touch(thread, at, write, cell);
    any_shared |= touched != Touch::kPrivate;
    if (touched == Touch::kUnchanged || touched == Touch::kChanged) {
      if (shared == 0) {
        shared = at;
        cells = length_seed;
      }
      cells = (cells ^ cell) * 0x9e37'79b9'7f4a'7c15U;
    } else if (shared != 0) {
      tell(at);
      shared = 0;
    }
  }
  if (shared != 0) tell(end);
  if (write && any_shared) await_stored_range(thread, start, size);
}

}  // namespace tomos::runtime

using namespace tomos::runtime;

#define CALLER reinterpret_cast<Address>(__builtin_return_address(0))
#define ADDRESS reinterpret_cast<Address>(address)

extern "C" {
#pragma GCC visibility push(default)

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a function template.
#define TOMOS_ACCESS(name, function, write, size) \
  void __tsan_##name(void* address) { function<write, size>(ADDRESS, CALLER); }
#define TOMOS_ACCESSES(size)                                                 \
  TOMOS_ACCESS(read##size, access, false, size)                              \
  TOMOS_ACCESS(write##size, access, true, size)                              \
  TOMOS_ACCESS(volatile_read##size, access, false, size)                     \
  TOMOS_ACCESS(volatile_write##size, access, true, size)                     \
  TOMOS_ACCESS(unaligned_read##size, unaligned_access, false, size)          \
  TOMOS_ACCESS(unaligned_write##size, unaligned_access, true, size)          \
  TOMOS_ACCESS(unaligned_volatile_read##size, unaligned_access, false, size) \
  TOMOS_ACCESS(unaligned_volatile_write##size, unaligned_access, true, size)

TOMOS_ACCESSES(1)
TOMOS_ACCESSES(2)
TOMOS_ACCESSES(4)
TOMOS_ACCESSES(8)
// Sixteen bytes take two cells at least.
TOMOS_ACCESS(read16, unaligned_access, false, 16)
TOMOS_ACCESS(write16, unaligned_access, true, 16)
TOMOS_ACCESS(volatile_read16, unaligned_access, false, 16)
TOMOS_ACCESS(volatile_write16, unaligned_access, true, 16)
TOMOS_ACCESS(unaligned_read16, unaligned_access, false, 16)
TOMOS_ACCESS(unaligned_write16, unaligned_access, true, 16)
TOMOS_ACCESS(unaligned_volatile_read16, unaligned_access, false, 16)
TOMOS_ACCESS(unaligned_volatile_write16, unaligned_access, true, 16)

// -tsan-compound-read-before-write
#define TOMOS_READ_WRITE(prefix, function, size)          \
  void __tsan_##prefix##read_write##size(void* address) { \
    function<false, size>(ADDRESS, CALLER);               \
    function<true, size>(ADDRESS, CALLER);                \
  }
// NOLINTEND(bugprone-macro-parentheses)
TOMOS_READ_WRITE(, access, 1)
TOMOS_READ_WRITE(, access, 2)
TOMOS_READ_WRITE(, access, 4)
TOMOS_READ_WRITE(, access, 8)
TOMOS_READ_WRITE(, unaligned_access, 16)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 1)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 2)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 4)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 8)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 16)

void __tsan_vptr_update(void** address, void* value) {
  if (*address != value) access<true, 8>(ADDRESS, CALLER);
}
void __tsan_vptr_read(void** address) { access<false, 8>(ADDRESS, CALLER); }

void __tsan_read_range(void* address, std::size_t size) {
  if (Thread* thread = observer; thread != nullptr) {
    access_range(*thread, ADDRESS, size, false, CALLER);
  }
}
void __tsan_write_range(void* address, std::size_t size) {
  if (Thread* thread = observer; thread != nullptr) {
    access_range(*thread, ADDRESS, size, true, CALLER);
  }
}

#pragma GCC visibility pop
}
