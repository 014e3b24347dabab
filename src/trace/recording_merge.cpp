#include "trace/recording_merge.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "trace/recording_slots.h"

namespace tomos::recording {

Merge::Merge(const File& file, std::span<const ThreadSegments> threads, OpSet wanted,
             std::atomic<std::uint64_t>& done)
    : file_(file), threads_(threads), wanted_(wanted), done_(done), cursors_(threads.size()) {
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (threads[i].segments.empty()) continue;
    cursors_[i].stamp = threads[i].segments[0].stamp;
    heap_.push_back({cursors_[i].stamp, static_cast<std::uint32_t>(i)});
  }
  std::ranges::make_heap(heap_, std::greater());
}

// Reads the segment whose turn has come. False if there is nothing in it.
bool Merge::load(std::size_t index) {
  Cursor& cursor = cursors_[index];
  const Segment& segment = threads_[index].segments[cursor.segment];
  if (spare_.empty()) {
    cursor.slots = std::make_unique_for_overwrite<Slot[]>(kSlotsPerChunk);
  } else {
    cursor.slots = std::move(spare_.back());
    spare_.pop_back();
  }
  cursor.end = segment.slots;
  cursor.at = 0;
  cursor.size = 0;
  const std::size_t bytes = segment.slots * sizeof(Slot);
  const Result<std::size_t> got =
      file_.read(segment.offset, std::as_writable_bytes(std::span(cursor.slots.get(), cursor.end)));
  done_.fetch_add(bytes, std::memory_order_relaxed);
  if (got && *got == bytes) return true;
  if (!error_) {
    error_ =
        got ? file_.damaged(segment.offset + *got, "cut off while it was being read") : got.error();
  }
  // What follows in this thread would stand without what was before it.
  cursor.segment = threads_[index].segments.size() - 1;
  return false;
}

void Merge::leave_segment(std::size_t index) {
  Cursor& cursor = cursors_[index];
  spare_.push_back(std::move(cursor.slots));
  ++cursor.segment;
}

// Moves to the next wanted record of the segment; false if there is none.
bool Merge::find_wanted(std::size_t index) {
  Cursor& cursor = cursors_[index];
  cursor.at += cursor.size;
  while (cursor.at < cursor.end) {
    const Slot& slot = cursor.slots[cursor.at];
    cursor.size = record_size(std::span(&slot, cursor.end - cursor.at));
    if (cursor.size == 0) {
      const Segment& segment = threads_[index].segments[cursor.segment];
      if (!error_) {
        error_ = file_.damaged(segment.offset + cursor.at * sizeof(Slot),
                               "it changed while it was being read");
      }
      cursor.segment = threads_[index].segments.size() - 1;
      return false;
    }
    const Op op = op_of(slot.a);
    if (op == Op::kTime) {
      // A clock that runs backwards must not turn the order within a thread around.
      cursor.stamp = std::max(cursor.stamp, slot.b);
    } else {
      cursor.stamp += delta_of(slot.b);
      if (wanted_.has(op)) return true;
      if (op == Op::kStack) cursor.stack = value_of(slot.a);
    }
    cursor.at += cursor.size;
  }
  return false;
}

// The first thread in the heap has moved on, or has no `more` records: finds it its place.
void Merge::settle_top(bool more) {
  if (!more) {
    heap_[0] = heap_.back();
    heap_.pop_back();
  } else {
    heap_[0].stamp = cursors_[heap_[0].cursor].stamp;
  }
  const std::size_t size = heap_.size();
  std::size_t at = 0;
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= size) return;
    if (child + 1 < size && heap_[child + 1] < heap_[child]) ++child;
    if (heap_[at] < heap_[child]) return;
    std::swap(heap_[at], heap_[child]);
    at = child;
  }
}

// Moves the first thread in the heap to its next wanted record, or to the start of its next segment
// that is still to be read.
void Merge::move_top() {
  const std::size_t index = heap_[0].cursor;
  Cursor& cursor = cursors_[index];
  bool more = cursor.slots != nullptr || load(index);
  more = more && find_wanted(index);
  if (!more) {
    leave_segment(index);
    const std::span<const Segment> segments = threads_[index].segments;
    more = cursor.segment < segments.size();
    if (more) cursor.stamp = std::max(cursor.stamp, segments[cursor.segment].stamp);
  }
  settle_top(more);
}

bool Merge::next(Record& record) {
  if (given_) move_top();
  given_ = false;
  while (!heap_.empty()) {
    const Cursor& cursor = cursors_[heap_[0].cursor];
    if (cursor.slots != nullptr) {
      const Slot* const slot = cursor.slots.get() + cursor.at;
      record = {.thread = heap_[0].cursor,
                .op = op_of(slot->a),
                .small = small_of(slot->a),
                .value = value_of(slot->a),
                .pc = pc_of(slot->b),
                .stack = cursor.stack,
                .extra = slot + 1};
      given_ = true;
      return true;
    }
    move_top();
  }
  return false;
}

}  // namespace tomos::recording
