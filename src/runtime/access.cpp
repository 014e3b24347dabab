// Every read and write of instrumented code comes through here.
//
// The path of most accesses is four loads and a comparison: the cell says that only this thread can
// reach the memory, and the access is dropped.
#include "runtime/escape.h"
#include "runtime/horizon.h"
#include "runtime/runtime.h"
#include "runtime/shadow.h"
#include "schedule/control.h"

namespace tomos::runtime {

using recording::Op;

thread_local constinit Thread* current_thread = nullptr;
thread_local constinit Thread* observer = nullptr;

namespace {

enum class Touch : std::uint8_t { kPrivate, kIgnored, kUnchanged, kChanged };

// Brings the cell up to date with an access of this thread. Private: the access is nobody else's
// business. Ignored: only what it stores matters. Changed: the memory changed hands.
Touch touch(Thread& thread, Address address, bool write, Cell& after) {
  Region* const region = region_at(address);
  if (region == nullptr) return Touch::kPrivate;
  bool changed = false;
  for (;;) {
    after = cell_value(*region, address);
    if (is_exclusive_to(after, thread.number)) break;
    if (after == thread.local_cell) return Touch::kPrivate;
    if (after == runtime::kIgnored) return Touch::kIgnored;
    if (!is_shared(after)) {
      first_touch(thread, *region, address, after);
      changed = true;
      continue;
    }
    if (!write && (after & kReadShared) != 0) break;
    // Where order does not matter, who was there last does not either.
    if (config.filter == Filter::kDistinct) break;
    const Cell next = after_access(after, thread.number, write, ticks());
    if (cell_in(*region, address).compare_exchange_weak(after, next)) {
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
      run.size != access.size || run.write != access.write || run.epoch != thread.filter.epoch() ||
      run.next != access.address || access.changed ||
      ((access.cell & kVersionMask) >= run.since && access.cell != run.cell)) {
    return false;
  }
  run.next += static_cast<Address>(run.stride);
  // If the process is killed here the count is the old one or the new one.
  __atomic_store_n(&run.slot[1].a, run.slot[1].a + 1, __ATOMIC_RELAXED);
  return true;
}

// Whether the thread has this access outside transactions on record, with the same locks. `cell`:
// of the memory.
bool is_known_outside(Thread& thread, Op op, Address start, std::size_t size, Address pc,
                      Cell cell) {
  if (config.filter != Filter::kDistinct || thread.opened != Opened::kNothing ||
      thread.held_beyond != 0) {
    return false;
  }
  // Most memory that was shared a moment ago will soon be gone, and all that is known of it nothing
  // but a burden.
  constexpr Stamp kMoment = Stamp{1} << 28;  // some 100 ms
  if (thread.stamp < ((cell & kVersionMask) << kVersionShift) + kMoment) return false;
  std::uint64_t hash = mixed(held_fingerprint(thread), recording::pack_a(op, 0, start));
  hash = mixed(mixed(hash, pc), size);
  for (Address at = start; at < start + size; at = (at | 63) + 1) hash = mixed(hash, lives.of(at));
  return !thread.distinct.add(hash, thread.number, fingerprints);
}

void record_access(Thread& thread, const Access& access, const RepeatFilter::Place& place) {
  const auto size = static_cast<std::uint8_t>(access.size);
  const Op op = access.write ? Op::kWrite : Op::kRead;
  if (place.regular >= 2 && extends_run(thread, access)) return;
  if (is_known_outside(thread, op, access.address, access.size, access.pc, access.cell)) return;
  // A run that others come between never gets longer.
  if (place.regular < 2 || thread.next == thread.chunk ||
      recording::pc_of(thread.next[-1].b) != access.pc) {
    // Where order does not matter, that of the locks is enough to tell old memory from new.
    if (config.filter == Filter::kDistinct && !access.changed) {
      record_at_once(thread, op, size, access.address, access.pc);
    } else {
      record(thread, op, size, access.address, access.pc);
    }
    return;
  }
  record(thread, access.write ? Op::kWriteRun : Op::kReadRun, size, access.address, access.pc, 1,
         static_cast<std::uint64_t>(place.stride));
  thread.run = {.slot = thread.next == nullptr ? nullptr : thread.next - 2,
                .pc = access.pc,
                .next = access.address + static_cast<Address>(place.stride),
                .stride = place.stride,
                .size = access.size,
                .write = access.write,
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
  abandon_familiar(thread);
  if (unjoined.load(std::memory_order_relaxed) == 0) return false;
  if (config.filter == Filter::kOff) return true;
  access.changed = touched == Touch::kChanged;
  access.in_transaction = thread.opened != Opened::kNothing;
  World world{.thread = thread};
  return !thread.filter.is_repeat(access, world) &&
         !is_known_outside(thread, write ? Op::kAtomicUpdate : Op::kAtomicRead, address, size, pc,
                           access.cell);
}

namespace {

// A record of a stretch takes the room of 18 accesses.
constexpr std::uint32_t kMany = 18;

}  // namespace

bool take_access(Thread& thread, Address address, std::uint32_t size, bool write, Address pc,
                 std::uint32_t following) {
  Access access{.address = address, .size = size, .write = write, .pc = pc};
  const Touch touched = touch(thread, address, write, access.cell);
  if (touched == Touch::kPrivate) return false;
  if (touched == Touch::kIgnored || unjoined.load(std::memory_order_relaxed) == 0) {
    // Only what it stores matters.
  } else if (config.filter != Filter::kOff) {
    access.changed = touched == Touch::kChanged;
    access.in_transaction = thread.opened != Opened::kNothing;
    RepeatFilter::Place& place = thread.filter.place(access);
    if (following != 0) place.streak = RepeatFilter::kSweep;
    access.many = following >= kMany;
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
  return true;
}

namespace {

// All but the path of local memory. The bytes lie in one cell.
[[gnu::noinline]] void slow_access(Thread& thread, Address address, std::uint32_t size, bool write,
                                   Address pc) {
  const AtWork at_work(&thread);
  if (!at_work) return;
  thread.filter.note_unknown();
  look_at_stored_pointer(thread);
  abandon_familiar(thread);
  const bool shared = take_access(thread, address, size, write, pc);
  // What is stored is known after this call has returned.
  if (shared && write && size == 8) await_stored_pointer(thread, address);
}

// Whether the access is what a transaction known by heart does next.
bool is_familiar(Thread& thread, Address address, std::uint32_t size, bool write, Address pc) {
  const Familiar::Step& step = *thread.next_step;
  if (step.what != Familiar::Step::pack(address, size, write) || step.pc != pc) return false;
  ++thread.next_step;
  return true;
}

// What is not local, or comes after a store of what may be a pointer. Apart, so that the path of
// local memory saves no registers.
template <bool kWrite, std::uint32_t kSize>
[[gnu::noinline]] void shared_access(Thread& thread, Address address, Address pc, Cell cell) {
  if (is_no_pointer(thread) || is_nothing_new(thread)) {
    if (cell == thread.local_cell) return;
    if (cell == tomos::runtime::kIgnored ||
        (thread.familiar != nullptr
             ? is_familiar(thread, address, kSize, kWrite, pc)
             : thread.filter.is_known(address, kSize, kWrite, pc, cell) ||
                   thread.filter.sweeps(
                       address, kSize, kWrite, pc, thread.opened != Opened::kNothing, cell,
                       version_without_change(cell, thread.number, kWrite,
                                              config.filter == Filter::kDistinct)))) {
      if (kWrite && kSize == 8) await_stored_pointer(thread, address);
      return;
    }
  }
  slow_access(thread, address, kSize, kWrite, pc);
}

// Nothing is recorded in this thread.
template <bool kWrite, std::uint32_t kSize>
[[gnu::noinline]] void unobserved_access(Address address, Address pc) {
  schedule::access(kWrite ? schedule::Kind::kWrite : schedule::Kind::kRead,
                   reinterpret_cast<const void*>(address), kSize, pc);
}

template <bool kWrite, std::uint32_t kSize>
[[gnu::always_inline]] inline void access(Address address, Address pc) {
  Thread* thread = observer;
  if (thread == nullptr) {
    if (schedule::accesses_wanted) [[unlikely]]
      unobserved_access<kWrite, kSize>(address, pc);
    return;
  }
  if (!has_shadow(address)) return;
  Region* region = region_of(address);
  if (region == nullptr) return slow_access(*thread, address, kSize, kWrite, pc);
  const PageState page = page_in(*region, address).load(std::memory_order_relaxed);
  // Of ignored memory only stored pointers matter.
  constexpr bool kNoPointer = !kWrite || kSize < 8;
  if (page == static_cast<PageState>(thread->fast_cell)) [[likely]]
    return;
  if (kNoPointer && page == tomos::runtime::kIgnored) return;
  // The program waits for its memory, and then for ours, if they do not come together.
  __builtin_prefetch(reinterpret_cast<const void*>(address));
  const Cell cell =
      is_uniform(page) ? page : cell_in(*region, address).load(std::memory_order_relaxed);
  if (cell == thread->fast_cell || (kNoPointer && cell == tomos::runtime::kIgnored)) return;
  return shared_access<kWrite, kSize>(*thread, address, pc, cell);
}

template <bool kWrite, std::uint32_t kSize>
[[gnu::noinline]] void shared_spanning_access(Thread& thread, Address address, Address pc) {
  for (Address at = address; at < address + kSize;) {
    const Address next = (at | 7) + 1;
    const Address end = next < address + kSize ? next : address + kSize;
    if (end - at == 8) {
      access<kWrite, 8>(at, pc);
    } else {
      slow_access(thread, at, static_cast<std::uint32_t>(end - at), kWrite, pc);
    }
    at = end;
  }
  // Also what goes into the first part.
  if (kWrite && kSize >= 8 && thread.stored_pointer != 0) {
    await_stored_range(thread, address, kSize);
  }
}

// In several neighbouring cells.
template <bool kWrite, std::uint32_t kSize>
[[gnu::always_inline]] inline void spanning_access(Address address, Address pc) {
  Thread* thread = observer;
  if (thread == nullptr) {
    if (schedule::accesses_wanted) [[unlikely]]
      unobserved_access<kWrite, kSize>(address, pc);
    return;
  }
  if (!has_shadow(address)) return;
  Region* region = region_of(address);
  if (region != nullptr && address % kPageSize <= kPageSize - kSize) {
    const PageState page = page_in(*region, address).load(std::memory_order_relaxed);
    if (page == static_cast<PageState>(thread->fast_cell)) return;
    if (page == tomos::runtime::kIgnored && (!kWrite || is_no_pointer(*thread))) {
      if (kWrite && kSize >= 8) await_stored_range(*thread, address, kSize);
      return;
    }
    if (!is_uniform(page)) {
      const std::atomic<Cell>* cells = &cell_in(*region, address);
      const Cell first = cells[0].load(std::memory_order_relaxed);
      const Cell second = cells[1].load(std::memory_order_relaxed);
      const bool both = kSize < 16 || (address & 7) == 0;
      if (first == thread->fast_cell && second == first && both) return;
    }
  }
  return shared_spanning_access<kWrite, kSize>(*thread, address, pc);
}

// The cells of a group.
struct GroupCells {
  const Cell* first;
  std::size_t count;

  bool all_are(Cell value) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (first[i] != value) return false;
    }
    return true;
  }
  // Shared, and of a version before `since`.
  bool operator()(std::uint64_t since) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_shared(first[i]) || (first[i] & kVersionMask) >= since) return false;
    }
    return true;
  }
};

// Apart, so that the path of a sweep saves fewer registers.
[[gnu::noinline]] bool is_known_group(Thread& thread, Address start, std::uint32_t what, Address pc,
                                      const GroupCells& cells) {
  return thread.filter.is_known_group(start, what, pc, ticks, cells);
}

// Accesses that shared_access() would drop, or add to a sweep, one by one.
[[gnu::noinline]] bool is_quiet_group(Thread& thread, Region& region, Address start, Address last,
                                      std::uint32_t what, Address pc) {
  if (!is_no_pointer(thread) && !is_nothing_new(thread)) return false;
  const GroupCells cells{.first = reinterpret_cast<const Cell*>(&cell_in(region, start)),
                         .count = (last >> 3) - (start >> 3) + 1};
  if (cells.all_are(thread.local_cell)) return true;
  if (config.filter != Filter::kDistinct || thread.familiar != nullptr ||
      (what & kGroupPointers) != 0) {
    return false;
  }
  // The first is told together with the others, before what may come in between.
  constexpr std::uint32_t kBoth = kGroupReads | kGroupWrites;
  const std::uint64_t words = what >> kGroupWordsShift;
  constexpr Address kBlock = 512;  // bytes that a sweep keeps book of together
  const Address block = start & ~(kBlock - 1);
  if (words != 0 && (what & kBoth) != kBoth && start % 8 == 0 && (start ^ last) < kBlock &&
      thread.filter.sweeps_all(block, 8, words << ((start - block) >> 3),
                               (what & kGroupWrites) != 0, thread.opened != Opened::kNothing,
                               cells) == RepeatFilter::Swept::kDone) {
    return true;
  }
  return is_known_group(thread, start, what, pc, cells);
}

[[gnu::always_inline]] inline bool is_quiet(Address start, std::uint32_t what, Address pc) {
  Thread* thread = observer;
  if (thread == nullptr) return !schedule::accesses_wanted;
  if (!has_shadow(start)) return true;
  const Address last = start + (what & 0xff) - 1;
  Region* region = region_of(start);
  if (region == nullptr || (start ^ last) >= kPageSize) return false;
  const PageState page = page_in(*region, start).load(std::memory_order_relaxed);
  if (page == static_cast<PageState>(thread->fast_cell)) return true;
  if (page == tomos::runtime::kIgnored) return (what & kGroupPointers) == 0;
  if (is_uniform(page)) return false;
  return is_quiet_group(*thread, *region, start, last, what, pc);
}

// May lie across two cells.
template <bool kWrite, std::uint32_t kSize>
[[gnu::always_inline]] inline void unaligned_access(Address address, Address pc) {
  if (kSize <= 8 - (address & 7)) return access<kWrite, kSize>(address, pc);
  return spanning_access<kWrite, kSize>(address, pc);
}

}  // namespace

void access_range(Thread& thread, Address start, std::size_t size, bool write, Address pc) {
  if (size == 0 || !has_shadow(start) || !has_shadow(start + size)) return;
  const AtWork at_work(&thread);
  if (!at_work) return;
  look_at_stored_pointer(thread);
  abandon_familiar(thread);
  const Address end = start + size;
  const Op op = write ? Op::kWriteRange : Op::kReadRange;
  Address shared = 0;  // where the stretch of shared memory began
  Cell first_cell = 0;
  std::uint64_t cells = 0;
  bool any_shared = false;
  const std::uint64_t length_seed = size * 0x9e37'79b9'7f4a'7c15U;
  const bool alone = unjoined.load(std::memory_order_relaxed) == 0;
  const auto tell = [&](Address stop) {
    if (alone) return;
    const std::size_t length = stop - shared;
    World world{.thread = thread};
    if (config.filter != Filter::kOff &&
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
    if (is_known_outside(thread, op, shared, length, pc, first_cell)) return;
    // What is accessed after it must not join a record that was begun before it.
    if (thread.opened != Opened::kNothing) thread.filter.forget_records();
    if (length <= 8) {
      record(thread, write ? Op::kWrite : Op::kRead, static_cast<std::uint8_t>(length), shared, pc);
    } else {
      record(thread, op, 0, shared, pc, length, 0);
    }
  };
  for (Address at = start, next = 0; at < end; at = next) {
    next = (at | 7) + 1;
    Cell cell = 0;
    const Touch touched = touch(thread, at, write, cell);
    any_shared |= touched != Touch::kPrivate;
    if (touched == Touch::kPrivate || touched == Touch::kIgnored) {
      // The rest of the page likewise, if it is one.
      Region* const region = region_of(at);
      if (region != nullptr && is_uniform(page_in(*region, at).load(std::memory_order_relaxed))) {
        next = (at | (kPageSize - 1)) + 1;
      }
    }
    if (touched == Touch::kUnchanged || touched == Touch::kChanged) {
      if (shared == 0) {
        shared = at;
        first_cell = cell;
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
#define TOMOS_WIDE(name, write) \
  void __tsan_##name##16(void* address) { spanning_access<write, 16>(ADDRESS, CALLER); }
TOMOS_WIDE(read, false)
TOMOS_WIDE(write, true)
TOMOS_WIDE(volatile_read, false)
TOMOS_WIDE(volatile_write, true)
TOMOS_WIDE(unaligned_read, false)
TOMOS_WIDE(unaligned_write, true)
TOMOS_WIDE(unaligned_volatile_read, false)
TOMOS_WIDE(unaligned_volatile_write, true)

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
TOMOS_READ_WRITE(unaligned_, unaligned_access, 1)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 2)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 4)
TOMOS_READ_WRITE(unaligned_, unaligned_access, 8)
#define TOMOS_WIDE_READ_WRITE(name)              \
  void __tsan_##name##16(void* address) {        \
    spanning_access<false, 16>(ADDRESS, CALLER); \
    spanning_access<true, 16>(ADDRESS, CALLER);  \
  }
TOMOS_WIDE_READ_WRITE(read_write)
TOMOS_WIDE_READ_WRITE(unaligned_read_write)

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

bool __tomos_quiet(const void* start, std::uint32_t what) {
  return is_quiet(reinterpret_cast<Address>(start), what, CALLER);
}

#pragma GCC visibility pop
}
