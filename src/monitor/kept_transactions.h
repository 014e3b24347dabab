// Transactions kept until the end of a trace, in little space.
//
// A server that does the same for many clients runs the same code on different variables under
// different locks. So what transactions have in common is kept once, as a pattern: their places and
// operations, where variables and locks have numbers in the order in which they come. Of each
// transaction there remain its pattern, its variables and locks, and the periods in which it ran.
// Where loops make long transactions, each of a pattern of its own, the patterns take the most
// space: so they are rows of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "monitor/interned.h"
#include "monitor/locksets.h"
#include "monitor/thread_periods.h"
#include "monitor/transaction_shape.h"

namespace tomos {

class KeptTransactions {
 public:
  // Keeps what `shape` looks like, unless that is known; notes that it ran in the period. Its own
  // periods are not looked at. Whether it is new.
  bool add(const Shape& shape, const PeriodSet::Run& period, const Locksets& locksets);

  // The same for each of its own periods.
  void add_all(const Shape& shape, const Locksets& locksets);

  std::size_t size() const { return kept_.size(); }
  // The memory that they take, in numbers of four bytes.
  std::size_t numbers() const { return count_ + bytes_ / sizeof(std::uint32_t) + 6 * kept_.size(); }
  // As it was added, with all periods. Valid until the next call.
  const Shape& shape(std::size_t i, Locksets& locksets) const;
  // Makes room: nobody will ask for those before this one, nor add any.
  void forget_before(std::size_t i);

  // Transactions with one pattern differ only in their objects and periods.
  std::uint32_t pattern(std::size_t i) const { return kept_[i].pattern; }
  std::span<const std::uint32_t> objects(std::size_t i) const { return objects(kept_[i]); }
  std::span<const PeriodSet::Run> periods(std::size_t i) const;
  // Which of a pattern's objects are locks.
  std::vector<bool> are_locks(std::uint32_t pattern) const;

 private:
  // How the lock of a step is held after it.
  enum class Mode : std::uint8_t { kNot, kReads, kWrites };
  // A step but for its object.
  struct Kind {
    LocationId location;
    Op op;
    Mode mode;

    friend bool operator==(const Kind&, const Kind&) = default;
    friend std::uint64_t hash_of(const Kind& kind) {
      return mix(kind.location,
                 pair(static_cast<std::uint32_t>(kind.op), static_cast<std::uint32_t>(kind.mode)));
    }
  };
  // For each step the number of its kind and that of its object, seven bits a byte.
  using Row = std::span<const std::uint8_t>;
  struct Pattern {
    LabelId label;
    LocationId begin;
    LocksetId outer;
    std::uint32_t objects;  // how many
    std::uint32_t block;    // where its row is
    std::uint32_t first;    // byte there
    std::uint32_t size;     // in bytes
  };
  struct Kept {
    std::uint32_t pattern;
    std::uint32_t block;    // where its objects are
    std::uint32_t objects;  // where they begin there
    PeriodSet::Run run;     // the only one, if ...
    std::uint32_t more;     // ... this is 0; else all are in more_[more - 1]
  };
  // What a lock operation does to the locks held.
  struct Change {
    LocksetId before;
    LockId lock;
    LocksetId after;
    Mode mode;
    bool known = false;
  };
  // A critical section: the locks held before and in it.
  struct Nested {
    LockId lock;
    LocksetId before;
    LocksetId inside;
  };
  // Numbers objects in the order they come; starts anew without a sweep over all.
  class Numbering {
   public:
    void start() { ++now_; }
    // The object's number; `next` if it has none.
    std::uint32_t number(std::uint32_t object, std::uint32_t next);

   private:
    struct Entry {
      std::uint32_t when = 0;
      std::uint32_t number = 0;
    };
    std::vector<Entry> entries_;  // by object
    std::uint32_t now_ = 0;
  };

  void encode(const Shape& shape, const Locksets& locksets);
  std::uint32_t intern_pattern(const Shape& shape);
  void keep_row(Pattern& pattern);
  void keep_objects(Kept& kept);
  template <class Visit>
  void for_each_step(Row row, Visit visit) const;
  LocksetId held_then(LocksetId before, LockId lock, Mode mode, Locksets& locksets) const;
  std::size_t find(std::uint32_t pattern, std::span<const std::uint32_t> objects) const;
  Row row(const Pattern& pattern) const {
    return Row(rows_[pattern.block]).subspan(pattern.first, pattern.size);
  }
  std::span<const std::uint32_t> objects(const Kept& kept) const {
    return std::span(objects_[kept.block]).subspan(kept.objects, patterns_[kept.pattern].objects);
  }

  std::vector<Pattern> patterns_;
  Interned<Kind> kinds_;
  std::vector<std::vector<std::uint8_t>> rows_;  // of all patterns, in blocks that are not copied
  std::size_t bytes_ = 0;                        // in them
  std::vector<Kept> kept_;
  std::vector<std::vector<std::uint32_t>> objects_;  // of all that are kept, in blocks likewise
  std::size_t count_ = 0;                            // of objects
  std::size_t forgotten_ = 0;                        // blocks of objects
  std::vector<PeriodSet> more_;
  std::vector<std::uint32_t> pattern_slots_ = std::vector<std::uint32_t>(64);  // number + 1
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64);          // number + 1

  // Of the transaction at hand.
  Numbering variables_;
  Numbering locks_;
  std::vector<std::uint8_t> encoded_;
  std::vector<std::uint32_t> encoded_objects_;
  mutable Shape shape_;
  mutable std::vector<Nested> nested_;
  mutable std::vector<Change> changes_;  // by hash: some that are known
};

}  // namespace tomos
