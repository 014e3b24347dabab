#include "runtime/escape.h"

#include <sys/mman.h>

#include "runtime/shadow.h"

namespace tomos::runtime {

using recording::Op;

namespace {

// Cells around a first touch that are made local with it, so that the next touch need not ask.
constexpr Address kWindow = kPageSize;

// Memory whose content is still to be looked at.
class Pending {
 public:
  explicit Pending(Thread& thread) : rows_(thread.escaping), capacity_(kEscapingRows) {}
  ~Pending() {
    if (capacity_ != kEscapingRows) munmap(rows_, capacity_ * sizeof(Range));
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void push(Address start, Address end) {
    if (count_ == capacity_) grow();
    if (count_ < capacity_) rows_[count_++] = {.start = start, .end = end};
  }
  bool pop(Range& range) {
    if (count_ == 0) return false;
    range = rows_[--count_];
    return true;
  }

 private:
  // Without memory the rest escapes when another thread touches it.
  void grow() {
    void* memory = mmap(nullptr, 16 * capacity_ * sizeof(Range), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    __builtin_memcpy(memory, rows_, count_ * sizeof(Range));
    if (capacity_ != kEscapingRows) munmap(rows_, capacity_ * sizeof(Range));
    rows_ = static_cast<Range*>(memory);
    capacity_ *= 16;
  }

  Range* rows_;
  std::size_t capacity_;
  std::size_t count_ = 0;
};

// Where the part of an object ends that is looked at: of an array the start must do.
Address end_of_interest(const Object& object) {
  const Address end = object.start + object.size;
  if (config.array_cutoff == 0 || object.size <= recording::kArraySize) return end;
  return (object.start + config.array_cutoff + 7) & ~Address{7};
}

void note_cutoff(Thread& thread) {
  static std::atomic<bool> noted = false;
  if (noted.exchange(true)) return;
  record_text(thread, Op::kNote, static_cast<std::uint8_t>(recording::Note::kCutOff), 0,
              config.array_cutoff, "", 0);
}

// The same for a page within an object. False: it has cells of its own.
bool share_page(Region& region, Address at, bool ignored, Stamp now) {
  std::atomic<PageState>& page = page_in(region, at);
  const PageState old = page.load(std::memory_order_relaxed);
  if (ignored) {
    if (old == kCells) return true;  // whoever touches it first sees to it
    if (old == kMixed) unfold(region, at, kUntouched);
    page.store(kIgnored, std::memory_order_release);
  } else if (is_local(old) && is_uniform(old)) {
    unfold(region, at, shared_exclusive(local_owner(old), next_version(0, now)));
  }
  return old != kMixed || ignored;
}

// Local cells of an object become shared, still in the hands of their owner. Whether some that were
// in use are looked at no more.
bool share_cells(const Object& object) {
  bool ignores = false;
  const Address start = object.start;
  const Address end = object.start + object.size;
  const Address ignored = end_of_interest(object);
  const Stamp now = ticks();
  for (Address at = start & ~Address{7}; at < end && has_shadow(at); at += 8) {
    Region* region = region_of(at);
    if (region == nullptr) {
      at = (at | (kRegionSize - 1)) - 7;
      continue;
    }
    if (at % kPageSize == 0 && end - at >= kPageSize &&
        share_page(*region, at, at >= ignored, now)) {
      ignores |= page_in(*region, at).load(std::memory_order_relaxed) == kIgnored;
      at += kPageSize - 8;
      continue;
    }
    std::atomic<Cell>& cell = cell_in(*region, at);
    Cell old = cell.load(std::memory_order_relaxed);
    if (!is_local(old)) continue;
    ignores |= at >= ignored;
    cell.compare_exchange_strong(
        old, at < ignored ? shared_exclusive(local_owner(old), next_version(0, now)) : kIgnored);
  }
  return ignores;
}

void note_shared_stack(Thread& owner, Address lowest) {
  Address old = owner.shared_stack.load(std::memory_order_relaxed);
  while (lowest < old && !owner.shared_stack.compare_exchange_weak(old, lowest)) {
  }
}

bool in_stack(const Thread& thread, Address address) {
  return address >= thread.stack_low && address < thread.stack_high;
}

// The frame of the thread's own stack that holds the address.
void frame_of(const Thread& thread, Address address, Address& start, Address& end) {
  end = thread.stack_high;
  start = address & ~Address{7};
  std::uint32_t i = thread.call_count < kMaxCalls ? thread.call_count : 0;
  for (; i > 0; --i) {
    const Address pointer = thread.calls[i - 1].stack_pointer;
    if (pointer > address) {
      end = pointer;
      break;
    }
    start = pointer;
  }
  // No frame is known to be this large, but an uninstrumented one may lie next to ours.
  constexpr Address kMost = Address{64} << 10;
  if (address - start > kMost) start = (address - kMost) & ~Address{7};
  if (end - address > kMost) end = (address + kMost) & ~Address{7};
}

void escape_one(Thread& thread, Address value, Pending& pending) {
  if (!has_shadow(value)) return;
  if (in_stack(thread, value)) {
    Region* const own = region_at(value);
    if (own == nullptr || is_shared(cell_value(*own, value))) return;
    Address start = 0;
    Address end = 0;
    frame_of(thread, value, start, end);
    // Also what has not been touched yet; what is shared already has been scanned.
    const Stamp now = ticks();
    bool any = false;
    for (Address at = start; at < end; at += 8) {
      Region* const region = region_at(at);
      if (region == nullptr) continue;
      std::atomic<Cell>& each = cell_in(*region, at);
      Cell old = each.load(std::memory_order_relaxed);
      if (old != thread.local_cell && old != kUntouched) continue;
      any = true;
      each.compare_exchange_strong(old, shared_exclusive(thread.number, next_version(0, now)));
    }
    if (!any) return;
    note_shared_stack(thread, start);
    pending.push(start, end);
    return;
  }
  if (region_of(value) == nullptr) return;
  const Object object = find_object(value);
  if (object.start == 0 || object.escaped || !mark_escaped(object.start)) return;
  record_object(thread, object);
  if (share_cells(object)) note_cutoff(thread);
  pending.push(object.start, object.start + object.size);
}

void cascade(Thread& thread, Pending& pending) {
  Range range{};
  while (pending.pop(range)) {
    for (Address at = (range.start + 7) & ~Address{7}; at + 8 <= range.end; at += 8) {
      const Address value = *reinterpret_cast<const volatile Address*>(at);
      if (may_be_pointer(value)) escape_one(thread, value, pending);
    }
  }
}

// Whether an address outside the thread's own stack leads to nothing that could still escape, as
// far as that can be told without looking for the object: its cells tell it sooner.
bool has_escaped(Address value) {
  Region* const region = region_of(value);
  if (region == nullptr) return true;
  const Cell cell = cell_value(*region, value);
  return is_shared(cell) || cell == kIgnored;
}

}  // namespace

void escape_value(Thread& thread, Address value) {
  // Most stored values are no pointers into the heap: find that out before making room.
  if (!has_shadow(value)) return;
  if (!in_stack(thread, value)) {
    if (has_escaped(value)) return;
    const Object object = find_object(value);
    if (object.start == 0 || object.escaped) return;
  }
  Pending pending(thread);
  escape_one(thread, value, pending);
  cascade(thread, pending);
}

bool is_nothing_new(Thread& thread) {
  const Address end = thread.stored_pointer + thread.stored_size;
  if (thread.stored_size > 64) return false;
  for (Address at = (thread.stored_pointer + 7) & ~Address{7}; at + 8 <= end; at += 8) {
    const Address value = *reinterpret_cast<const volatile Address*>(at);
    if (may_be_pointer(value) && (in_stack(thread, value) || !has_escaped(value))) return false;
  }
  thread.stored_pointer = 0;
  thread.fast_cell = thread.local_cell;
  return true;
}

void escape_globals(Thread& thread) {
  for_each_global_word([](Thread& of, Address word) { escape_value(of, word); }, thread);
}

void look_at_stored_pointer_now(Thread& thread) {
  const Address start = thread.stored_pointer;
  const std::size_t size = thread.stored_size;
  thread.stored_pointer = 0;
  thread.fast_cell = thread.local_cell;
  for (Address at = (start + 7) & ~Address{7}; at + 8 <= start + size; at += 8) {
    escape_value(thread, *reinterpret_cast<const volatile Address*>(at));
  }
}

void first_touch(Thread& thread, Region& region, Address address, Cell old) {
  const Stamp now = ticks();
  std::atomic<Cell>& cell = cell_in(region, address);
  if (is_local(old)) {
    // Another thread's: so it has escaped.
    const ThreadNumber owner = local_owner(old);
    const Object object = find_object(address);
    if (object.start != 0) {
      Pending pending(thread);
      escape_one(thread, address, pending);
      if (share_cells(object)) note_cutoff(thread);
      cascade(thread, pending);
    } else if (Thread* other = threads[owner].load();
               other != nullptr && in_stack(*other, address)) {
      note_shared_stack(*other, address & ~Address{7});
    }
    unfold(region, address);  // if the object has just been freed
    Cell still = cell.load();
    if (is_local(still)) {
      cell.compare_exchange_strong(still, shared_exclusive(owner, next_version(0, now)));
    }
    return;
  }
  if (in_stack(thread, address)) {
    cell.compare_exchange_strong(old, thread.local_cell);
    return;
  }
  const Object object = find_object(address);
  if (object.start == 0) {
    cell.compare_exchange_strong(old, shared_exclusive(thread.number, next_version(0, now)));
    return;
  }
  // With it what is untouched around it, so that the next touch need not ask again.
  const Cell fresh =
      object.escaped ? shared_exclusive(thread.number, next_version(0, now)) : thread.local_cell;
  const Address ignored = object.escaped ? end_of_interest(object) : ~Address{0};
  if (address >= ignored) note_cutoff(thread);
  const Address window = address & ~(kWindow - 1);
  const Address start = object.start > window ? object.start : window;
  const Address object_end = object.start + object.size;
  const Address end = object_end < window + kWindow ? object_end : window + kWindow;
  if (end - start == kWindow) {
    const bool one = !object.escaped || start >= ignored;
    const Cell state = object.escaped ? kIgnored : fresh;
    PageState old_page = kCells;
    std::atomic<PageState>& page = page_in(region, address);
    if (page.compare_exchange_strong(old_page, one ? static_cast<PageState>(state) : kMixed)
            ? one
            : is_uniform(old_page)) {
      return;
    }
  }
  for (Address at = start & ~Address{7}; at < end; at += 8) {
    Cell untouched = kUntouched;
    cell_in(region, at)
        .compare_exchange_strong(untouched, at < ignored ? fresh : kIgnored,
                                 std::memory_order_relaxed);
  }
}

void forget_memory(Thread& thread, Address start, std::size_t size, bool escaped, Address pc) {
  if (escaped) {
    record(thread, Op::kFree, 0, start, pc, size, 0);
    lives.end(start, size);
    leave(start, thread.stamp);
  }
  forget_cells(start, size);
}

void forget_stack(Thread& thread, Address above) {
  const Address lowest = thread.shared_stack.load();
  if (lowest >= above) return;
  const AtWork at_work(&thread);
  if (!at_work) return;
  look_at_stored_pointer(thread);
  // Frames further out may still be shared: what is shared there starts at `above` at the earliest.
  thread.shared_stack.store(above < thread.stack_high ? above : ~Address{0});
  forget_memory(thread, lowest, above - lowest, true, 0);
}

}  // namespace tomos::runtime
