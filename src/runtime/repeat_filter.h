// Which accesses to shared memory need not be recorded: repeats that tell no analysis anything new.
//
// An access is a repeat if the thread made the same one (variable, kind) in the same epoch (nothing
// was acquired, released, forked, joined, begun or ended since) and nobody made a conflicting
// access since (the cell says so, cell.h).
//
// Inside a transaction the first two are kept. Dropping the third: to the conflict graph it is an
// access of the same node with the same neighbours. To a prediction, an access of another thread
// that can fall between the second and the third can fall between the first and the second, for
// the thread holds the same locks all the way; and what cannot fall between the first two falls
// before or after all three.
//
// Outside a transaction every access is a transaction of its own, and their order matters: with
//     t: r(x)      u: begin r(y)      t: w(y)  r(x)      u: w(x) end
// the second r(x) closes a cycle that the first does not, because t's write to y came in between.
// So a repeat is dropped only if nothing new came in between, and is recorded again otherwise. New
// is an access that may come behind one of a transaction that is still open: nothing that comes
// behind what is over can be part of a cycle through it. That is up to the World (runtime:
// horizon.h).
//
// Two memories. The table knows single variables by place, so that each place that accesses a
// variable is on record. The stretches know 512 neighbouring elements each, whatever the place:
// they serve the places that sweep over memory, for which the table is too small.
//
// A sweep is recorded by stretches too: one record with a bit for each element (kTouched), which
// stands where it was begun. An access joins it if the memory has not changed hands since, so that
// no conflicting access of another thread lies between. Inside a transaction that is all: in one
// epoch the thread's locks are the same, and another thread's access either fits anywhere between
// its accesses or nowhere; only what reads the transaction's own writes has to stay behind them,
// and as a record tells its reads first, the stretch is recorded access by access from there on.
// When an access to the stretch is recorded by itself, its record ends.
// Outside, nothing new may have come since (as above), and no transaction
// that was open when the record was begun may have used the memory.
//
// The same code decides in the oracle test that compares every verdict with and without it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cell.h"

namespace tomos::runtime {

struct Access {
  std::uint64_t address;
  std::uint32_t size;
  bool write;
  bool changed;  // the cell changed hands with this access
  bool in_transaction;
  std::uint64_t pc;
  Cell cell;          // after the access
  bool many = false;  // so many of its neighbours follow that a record of them pays
};

class RepeatFilter {
 public:
  static constexpr std::uint32_t kSweep = 8;  // accesses in a row that go elsewhere

  // A place in the program that accesses memory.
  struct Place {
    std::uint64_t pc;
    std::uint64_t last;     // address
    std::int64_t stride;    // between the last two
    std::uint32_t streak;   // accesses in a row that went elsewhere
    std::uint32_t regular;  // accesses in a row with this stride
    std::uint32_t epoch;
  };

  // Something happened that makes every later access a new one.
  void new_epoch() {
    epoch_ = ++last_epoch_;
    add_news();
  }

  // The same where order does not matter, when the thread is outside transactions and holds no
  // lock: then it is again where it was when it last was.
  void resume() {
    if (outside_.tag == 0) {
      new_epoch();
      outside_ = {.epoch = epoch_, .news = news_, .tag = tag_, .moment = moment_};
      return;
    }
    epoch_ = outside_.epoch;
    news_ = outside_.news;
    tag_ = outside_.tag;
    moment_ = outside_.moment;
  }
  // It never will be again.
  void new_period() {
    new_epoch();
    outside_ = {};
  }

  // Whether decide() is known to drop this access. `cell` is the cell as it is. The short cut for
  // most of what is dropped.
  bool is_known(std::uint64_t address, std::uint32_t size, bool write, std::uint64_t pc,
                Cell cell) const {
    const Known& known = known_[known_slot(address, write, pc)];
    return known.access == known_key(address, size, write) &&
           (known.cell == cell || known.cell == (cell ^ pc * kHash));
  }

  // The short cut for sweeps: true if the access belongs to a record that is under way, and has
  // been dealt with. What decide() would do, without its questions. `version`: of the cell, if the
  // access leaves it as it is; if not, more than any.
  [[gnu::always_inline]] bool sweeps(std::uint64_t address, std::uint32_t size, bool write,
                                     std::uint64_t pc, bool in_transaction, Cell cell,
                                     std::uint64_t version) {
    if (sweeping_ != moment_) return false;
    const std::uint64_t element = address >> __builtin_ctz(size);
    const std::uint64_t key = (element / kElements) << 8 | size;
    Stretch* pair = stretch_slot(key);
    Stretch& stretch = pair[pair[0].key == key ? 0 : 1];
    if (stretch.key != key || (address & (size - 1)) != 0 || stretch.under_way[write] != moment_ ||
        version >= stretch.since) {
      return false;
    }
    const std::size_t word = element % kElements / 64;
    const std::uint64_t bit = 1ULL << (element % 64);
    std::uint64_t& current = stretch.current[write][word];
    if ((current & bit) == 0) {
      note_unknown();
      if (in_transaction && !write && (stretch.seen[true][word] & bit) != 0) return false;
      std::uint64_t& seen = stretch.seen[write][word];
      const bool again = (seen & bit) != 0;
      seen |= bit;
      stretch.record[2 + (2 * write + again) * (kElements / 64) + word] |= bit;
      if (in_transaction && !again) return true;
      current |= bit;
    }
    make_known(address, size, write, pc, cell);
    return true;
  }

  enum class Swept : std::uint8_t { kDone, kNotUnderWay, kNotTogether };

  // The same for up to 64 elements at once: bit i of `elements` is the one at `block` + i * size;
  // the block is as long as all of them. `unchanged_since(version)`: whether the accesses leave
  // all cells as they are, and these are older.
  template <class UnchangedSince>
  Swept sweeps_all(std::uint64_t block, std::uint32_t size, std::uint64_t elements, bool write,
                   bool in_transaction, UnchangedSince unchanged_since) {
    if (sweeping_ != moment_) return Swept::kNotUnderWay;
    const std::uint64_t element = block >> __builtin_ctz(size);
    const std::uint64_t key = (element / kElements) << 8 | size;
    Stretch* pair = stretch_slot(key);
    Stretch& stretch = pair[pair[0].key == key ? 0 : 1];
    if (stretch.key != key || stretch.under_way[write] != moment_) return Swept::kNotUnderWay;
    if (!unchanged_since(stretch.since)) return Swept::kNotTogether;
    const std::size_t word = element % kElements / 64;
    std::uint64_t& current = stretch.current[write][word];
    const std::uint64_t left = elements & ~current;
    if (left == 0) return Swept::kDone;
    note_unknown();
    if (in_transaction && !write && (stretch.seen[true][word] & left) != 0) {
      return Swept::kNotTogether;
    }
    std::uint64_t& seen = stretch.seen[write][word];
    const std::uint64_t again = seen & left;
    std::uint64_t* const bits = stretch.record + 2 + (write ? 2 : 0) * (kElements / 64) + word;
    bits[0] |= left & ~again;
    bits[kElements / 64] |= again;
    seen |= left;
    current |= in_transaction ? again : left;
    return Swept::kDone;
  }

  // An access comes that is_known() does not know.
  void note_unknown() { ++unknown_; }

  // The short cut for accesses that always come together, a group, where order does not matter:
  // whether all are known to be dropped. `pc`: of the question, after which all of them come unless
  // the answer is true. So they were all known if nothing unknown has come since it was asked
  // before; and they still are if nothing is new and the cells are the same. `now()`: a Stamp.
  // `shared_before(version)`: whether all cells are shared, and older.
  template <class Now, class SharedBefore>
  bool is_known_group(std::uint64_t start, std::uint32_t what, std::uint64_t pc, Now now,
                      SharedBefore shared_before) {
    Group& group = groups_[((start ^ pc << 7) * kHash) >> (64 - kGroupBits)];
    if (group.start != start || group.pc != pc || group.what != what || group.tag != tag_) {
      group = {.start = start, .pc = pc, .what = what, .tag = tag_};
      return false;
    }
    if (group.since == 0 || !shared_before(group.since)) {
      group.since = now() >> kVersionShift;
      group.unknown = unknown_;
      return false;
    }
    if (group.unknown == kAllKnown) return true;
    const bool known = group.unknown == unknown_;
    group.unknown = known ? kAllKnown : unknown_;
    return known;
  }

  std::uint32_t epoch() const { return epoch_; }

  Place& place(const Access& access) {
    Place& place = places_[(access.pc * kHash) >> (64 - kPlaceBits)];
    // A place that goes elsewhere in each transaction does not sweep.
    if (place.pc != access.pc || (access.in_transaction && place.epoch != epoch_)) {
      place = {.pc = access.pc, .last = access.address, .epoch = epoch_};
    }
    const auto stride = static_cast<std::int64_t>(access.address - place.last);
    place.regular = stride == place.stride && stride != 0 ? place.regular + 1 : 0;
    place.streak = stride != 0 ? place.streak + 1 : 0;
    place.stride = stride;
    place.last = access.address;
    return place;
  }

  enum class Fate : std::uint8_t {
    kDrop,
    kRecord,  // by itself
    kJoined,  // it has joined a record
    kBegin,   // begin a record, and attach() it
  };

  // What to do with an access. The world has now(), a Stamp; horizon(), one before which no open
  // transaction began; and settled(access): whether no transaction that is open now can have made a
  // conflicting access before this one.
  template <class World>
  Fate decide(const Access& access, const Place& place, World& world) {
    if (place.streak < kSweep || !is_element(access)) {
      if (!is_repeat(access, world)) {
        if (access.in_transaction && sweeping_ == moment_) end_records_of(access);
        return Fate::kRecord;
      }
      // The same from another place is another matter.
      make_known(access.address, access.size, access.write, access.pc,
                 access.cell ^ access.pc * kHash);
      return Fate::kDrop;
    }
    return decide_in_sweep(access, world);
  }

  // The record that decide() asked for: two words for the places, then the bitmaps.
  void attach(const Access& access, std::uint64_t* record) {
    const std::uint64_t element = element_of(access);
    Stretch& stretch = stretch_of((element / kElements) << 8 | access.size);
    const bool twice =
        access.in_transaction &&
        (stretch.current[access.write][element % kElements / 64] >> (element % 64) & 1) != 0;
    stretch.record = record;
    stretch.generation = generation_;
    join(stretch, access, twice);
  }

  // The records begun so far cannot be written to any more.
  void forget_records() {
    ++generation_;
    moment_ = ++last_moment_;
    outside_.moment = epoch_ == outside_.epoch ? moment_ : ++last_moment_;
  }

  // The same without regard to the place's habits.
  template <class World>
  bool is_repeat(const Access& access, World& world) {
    const std::uint64_t what = access.address | static_cast<std::uint64_t>(access.size) << 48 |
                               static_cast<std::uint64_t>(access.write) << 62 | 1ULL << 63;
    Seen& seen = seen_of(what, access.pc, access.in_transaction);
    // Memory that was freed and taken again within one version has the same cell, but has changed.
    if (seen.access == what && seen.pc == access.pc && seen.cell == access.cell &&
        seen.epoch == epoch_ && !access.changed) {
      if (access.in_transaction) {
        if (seen.count >= 2) return true;
        ++seen.count;
        return false;
      }
      if (seen.count == news_) return true;
      seen.count = news_;
      return false;
    }
    const bool news = !access.in_transaction && !world.settled(access);
    if (news) add_news();
    // What is new may be several variables at once, and the first of them comes behind the last
    // when the access is repeated: once more, then.
    seen = {.access = what,
            .pc = access.pc,
            .cell = access.cell,
            .epoch = epoch_,
            .count = access.in_transaction ? 1 : news_ - news};
    return false;
  }

 private:
  static constexpr std::uint64_t kHash = 0x9e37'79b9'7f4a'7c15U;
  static constexpr unsigned kPlaceBits = 8;
  static constexpr unsigned kTableBits = 10;
  static constexpr unsigned kNearBits = 5;
  static constexpr unsigned kStretchBits = 9;
  static constexpr std::uint64_t kElements = 512;
  static constexpr std::uint32_t kFew = 4;

  // An access that was dropped. It would be dropped again as long as the cell is the same and
  // nothing is new: the tag says so.
  struct Known {
    std::uint64_t access;
    Cell cell;
  };
  static constexpr unsigned kKnownBits = 12;
  static constexpr unsigned kTagBits = 13;
  // Rows of a matrix do not fall on the same entries, nor do the places that access one field.
  static std::size_t known_slot(std::uint64_t address, bool write, std::uint64_t pc) {
    return (address >> 3 ^ address >> 12 << 5 ^ static_cast<std::uint64_t>(write) << 11 ^
            (pc * kHash) >> (64 - kKnownBits)) &
           ((1U << kKnownBits) - 1);
  }
  void make_known(std::uint64_t address, std::uint32_t size, bool write, std::uint64_t pc,
                  Cell cell) {
    known_[known_slot(address, write, pc)] = {.access = known_key(address, size, write),
                                              .cell = cell};
  }
  std::uint64_t known_key(std::uint64_t address, std::uint32_t size, bool write) const {
    return address | static_cast<std::uint64_t>(write) << 47 |
           static_cast<std::uint64_t>(size & 7) << 48 | static_cast<std::uint64_t>(tag_) << 51;
  }

  // Accesses that were asked for together.
  struct Group {
    std::uint64_t start;
    std::uint64_t pc;
    std::uint32_t what;
    std::uint32_t tag;
    std::uint64_t since;    // cells of an older version are as they were then; 0: never
    std::uint64_t unknown;  // unknown_ when it was asked for last; kAllKnown: they are
  };
  static constexpr std::uint64_t kAllKnown = ~std::uint64_t{0};
  static constexpr unsigned kGroupBits = 8;

  void add_news() {
    news_ = ++last_news_;
    moment_ = ++last_moment_;
    tag_ = ++last_tag_;
    if (tag_ < 1U << kTagBits) return;
    tag_ = last_tag_ = 1;
    outside_ = {};
    for (Known& known : known_) known = {};
    for (Group& group : groups_) group = {};
  }

  struct Seen {
    std::uint64_t access;
    std::uint64_t pc;
    Cell cell;
    std::uint32_t epoch;
    std::uint32_t count;  // in a transaction: how many are on record; outside: news_ at the last
  };

  // Four places for each access: of two that fall together in a loop neither drives out the other.
  // Before them, for transactions, which mostly are small, one that is always at hand: what is not
  // there is not in the table either, unless another access of the epoch is there.
  Seen& seen_of(std::uint64_t what, std::uint64_t pc, bool in_transaction) {
    constexpr std::size_t kWays = 4;
    const std::uint64_t hash = (what ^ pc << 7) * kHash;
    if (in_transaction) {
      Seen& near = near_[hash >> (64 - kNearBits)];
      if (near.epoch != epoch_ || (near.access == what && near.pc == pc)) return near;
    }
    Seen* const set = &table_[(hash >> (64 - kTableBits)) & ~(kWays - 1)];
    Seen* victim = nullptr;
    for (Seen* way = set; way < set + kWays; ++way) {
      if (way->access == what && way->pc == pc) return *way;
      if (way->epoch != epoch_) victim = way;
    }
    return victim != nullptr ? *victim : set[turn_++ % kWays];
  }

  // An element's bit in `seen`: one is on record. In `current`, in a transaction: two are; outside:
  // one is, and nothing new came since (as long as `news` is news_).
  struct Stretch {
    std::uint64_t key;
    std::uint64_t since;  // cells of an older version are as they were when their bits were set
    std::uint32_t epoch;
    std::uint32_t news;
    std::uint32_t alone;         // accesses recorded by themselves
    std::uint32_t generation;    // of the record
    bool ordered;                // it is recorded access by access
    std::uint64_t under_way[2];  // the moment, if a read or write can be added to the record
    std::uint64_t* record;
    std::uint64_t seen[2][kElements / 64];
    std::uint64_t current[2][kElements / 64];

    void end_record() {
      record = nullptr;
      under_way[0] = under_way[1] = 0;
    }
  };

  // An access is recorded by itself: what follows it in its transaction must not join a record that
  // stands before it.
  void end_records_of(const Access& access) {
    for (std::uint32_t size = 1; size <= 8; size *= 2) {
      const std::uint64_t key = (access.address >> __builtin_ctz(size)) / kElements << 8 | size;
      Stretch* pair = stretch_slot(key);
      if (pair[0].key == key) pair[0].end_record();
      if (pair[1].key == key) pair[1].end_record();
    }
  }

  // Two places for each key.
  Stretch* stretch_slot(std::uint64_t key) {
    return &stretches_[((key * kHash) >> (64 - kStretchBits)) & ~std::size_t{1}];
  }
  Stretch& stretch_of(std::uint64_t key) {
    Stretch* pair = stretch_slot(key);
    if (pair[0].key == key) return pair[0];
    if (pair[1].key == key) return pair[1];
    // The one whose epoch is over, or else the one that was made first.
    if (pair[0].epoch != epoch_) return pair[0];
    if (pair[1].epoch != epoch_) return pair[1];
    return pair[pair[1].since < pair[0].since ? 1 : 0];
  }

  template <class World>
  Fate decide_in_sweep(const Access& access, World& world) {
    const std::uint64_t element = element_of(access);
    const std::uint64_t key = (element / kElements) << 8 | access.size;
    Stretch& stretch = stretch_of(key);
    const std::size_t word = element % kElements / 64;
    const std::uint64_t bit = 1ULL << (element % 64);
    const auto unchanged = [&] {
      return !access.changed && (access.cell & kVersionMask) < stretch.since;
    };
    if (stretch.key != key || stretch.epoch != epoch_ ||
        (!unchanged() && (stretch.seen[access.write][word] & bit) != 0)) {
      Stamp since = world.now();
      if (!access.in_transaction && world.horizon() < since) since = world.horizon();
      stretch = {.key = key, .since = since >> kVersionShift, .epoch = epoch_, .news = news_};
    }
    std::uint64_t& seen = stretch.seen[access.write][word];
    std::uint64_t& current = stretch.current[access.write][word];
    bool news = false;
    if (!access.in_transaction) {
      news = (seen & bit) == 0 && !world.settled(access);
      if (news) add_news();
      if (stretch.news != news_) {
        stretch.news = news_;
        stretch.end_record();
        for (auto& kind : stretch.current) {
          for (std::uint64_t& bits : kind) bits = 0;
        }
      }
    }
    const bool drop = (current & bit) != 0;
    const bool again = (seen & bit) != 0;
    seen |= bit;
    if (again || (!access.in_transaction && !news)) current |= bit;
    if ((current & bit) != 0) {
      make_known(access.address, access.size, access.write, access.pc, access.cell);
    }
    if (drop) return Fate::kDrop;
    if (access.in_transaction && !access.write && (stretch.seen[true][word] & bit) != 0) {
      stretch.ordered = true;
      stretch.end_record();
    }
    if (!unchanged() && access.in_transaction) stretch.end_record();
    if (!unchanged() || stretch.ordered) return Fate::kRecord;
    if (stretch.record != nullptr && stretch.generation == generation_) {
      join(stretch, access, again);
      return Fate::kJoined;
    }
    return ++stretch.alone < kFew && !access.many ? Fate::kRecord : Fate::kBegin;
  }

  // Sizes are powers of two where it matters; a division for each access would be half its cost.
  static bool is_element(const Access& access) {
    return (access.size & (access.size - 1)) == 0 && (access.address & (access.size - 1)) == 0;
  }
  static std::uint64_t element_of(const Access& access) {
    return access.address >> __builtin_ctz(access.size);
  }

  void join(Stretch& stretch, const Access& access, bool again) {
    std::uint64_t* const record = stretch.record;
    const std::uint64_t element = element_of(access) % kElements;
    stretch.under_way[access.write] = sweeping_ = moment_;
    if (record[access.write] == 0) record[access.write] = access.pc;
    std::uint64_t* bits = record + 2 + (2 * access.write + again) * (kElements / 64);
    bits[element / 64] |= 1ULL << (element % 64);
  }

  // Where the thread is outside transactions, without locks; tag 0: nowhere yet.
  struct Outside {
    std::uint32_t epoch;
    std::uint32_t news;
    std::uint32_t tag;
    std::uint64_t moment;
  };

  std::uint32_t epoch_ = 1;
  std::uint32_t news_ = 1;
  std::uint32_t tag_ = 1;
  std::uint32_t last_epoch_ = 1;
  std::uint32_t last_news_ = 1;
  std::uint32_t last_tag_ = 1;
  std::uint32_t generation_ = 1;
  // One number for all that makes a record under way one that cannot be added to.
  std::uint64_t moment_ = 1;
  std::uint64_t last_moment_ = 1;
  std::uint32_t turn_ = 0;
  std::uint64_t sweeping_ = 0;  // the last moment at which something was added to a record
  Outside outside_{};
  Place places_[1U << kPlaceBits];
  Seen near_[1U << kNearBits];
  Seen table_[1U << kTableBits];
  Stretch stretches_[1U << kStretchBits];
  Known known_[1U << kKnownBits];
  std::uint64_t unknown_ = 0;  // accesses that no short cut knew
  Group groups_[1U << kGroupBits];
};

}  // namespace tomos::runtime
