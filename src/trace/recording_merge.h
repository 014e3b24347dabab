// All threads' records as one row, by (stamp, thread number).
//
// A thread's records stand in segments of the file, each with the stamp it starts at, so a segment
// is read only when its turn comes: of a thread that has not started yet, or waits, nothing is in
// memory. The threads are kept in a binary heap; while one of them stays ahead of the others that
// costs two comparisons a record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "event/error.h"
#include "trace/recording_file.h"
#include "trace/recording_format.h"

namespace tomos::recording {

// A row of records of one thread that follow one another in the file.
struct Segment {
  std::uint64_t offset = 0;
  std::uint32_t slots = 0;
  std::uint64_t stamp = 0;
};

struct ThreadSegments {
  std::uint64_t number = 0;
  std::vector<Segment> segments;
};

// Which operations somebody wants to see.
class OpSet {
 public:
  constexpr OpSet(std::initializer_list<Op> ops) {
    for (const Op op : ops) bits_ |= bit(op);
  }
  constexpr bool has(Op op) const { return (bits_ & bit(op)) != 0; }
  constexpr OpSet operator|(OpSet other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr std::uint64_t bit(Op op) { return std::uint64_t{1} << static_cast<int>(op); }
  static_assert(kOpCount <= 64);
  std::uint64_t bits_ = 0;
};

// One record. Valid until the next one is asked for.
struct Record {
  std::size_t thread = 0;  // index in the threads given to Merge
  Op op = Op::kNone;
  std::uint8_t small = 0;
  std::uint64_t value = 0;
  std::uint64_t pc = 0;
  std::uint64_t stack = 0;      // id of the thread's stack
  const Slot* extra = nullptr;  // the slots behind the first
};

class Merge {
 public:
  // `threads` in the order of their numbers. Adds the bytes it has read to `done`.
  Merge(const File& file, std::span<const ThreadSegments> threads, OpSet wanted,
        std::atomic<std::uint64_t>& done);

  // The next wanted record; false at the end.
  bool next(Record& record);

  // Why some records are missing: the file has changed since it was opened, or cannot be read.
  const std::optional<Error>& error() const { return error_; }

 private:
  struct Cursor {
    std::uint64_t stamp = 0;
    std::uint64_t stack = 0;
    std::size_t segment = 0;
    std::unique_ptr<Slot[]> slots;  // of the segment; null while it waits for its turn
    std::size_t end = 0;            // of them
    std::size_t at = 0;             // the record whose turn it is
    std::size_t size = 0;           // slots of that record
  };
  struct Entry {
    std::uint64_t stamp = 0;
    std::uint32_t cursor = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  bool find_wanted(std::size_t index);
  bool load(std::size_t index);
  void leave_segment(std::size_t index);
  void move_top();
  void settle_top(bool more);

  const File& file_;
  std::span<const ThreadSegments> threads_;
  OpSet wanted_;
  std::atomic<std::uint64_t>& done_;
  std::vector<Cursor> cursors_;
  std::vector<Entry> heap_;
  std::vector<std::unique_ptr<Slot[]>> spare_;
  bool given_ = false;  // the record of the first thread in the heap has been given out
  std::optional<Error> error_;
};

}  // namespace tomos::recording
