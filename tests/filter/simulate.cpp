#include "simulate.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "runtime/cell.h"
#include "runtime/distinct.h"
#include "runtime/repeat_filter.h"
#include "trace/recording_format.h"

namespace tomos::filter {

namespace {

using runtime::Access;
using runtime::Cell;
using runtime::RepeatFilter;

constexpr std::uint64_t kNoTransaction = UINT64_MAX;

// The recorder's run of elements (runtime/access.cpp).
struct Run {
  std::size_t slot = SIZE_MAX;
  std::uint64_t pc = 0;
  std::uint64_t next = 0;
  std::int64_t stride = 0;
  std::uint64_t since = 0;
  Cell cell = 0;
  std::uint32_t epoch = 0;
};

constexpr std::size_t kWords = recording::kTouchedElements / 64;
using Touched = std::array<std::uint64_t, 2 + 4 * kWords>;

// A record: one event, those of a run, or the elements that were touched.
struct Slot {
  ThreadId thread = 0;
  std::vector<Event> events;
  std::uint32_t size = 0;  // of an element
  std::unique_ptr<Touched> touched;
  bool taken_back = false;
};

// Memory for the runtime's tables, which go with the runtime.
struct Heap {
  static std::uint64_t* take(std::size_t words) {
    return taken().emplace_back(std::make_unique<std::uint64_t[]>(words)).get();
  }
  static void give_back(std::uint64_t*, std::size_t) {}
  static void clear(std::uint64_t* memory, std::size_t words) { std::fill_n(memory, words, 0); }
  static std::vector<std::unique_ptr<std::uint64_t[]>>& taken() {
    static std::vector<std::unique_ptr<std::uint64_t[]>> all;
    return all;
  }
};
// So small that most runs fill them.
using Fingerprints = runtime::Crowd<Heap, 4, 6>;

struct Thread {
  RepeatFilter filter{};
  runtime::Distinct<Heap, Fingerprints, 8> distinct{};
  std::map<std::pair<LockId, Op>, unsigned> held;
  // Of the open transaction: its records, and the locks held when it began.
  std::vector<std::size_t> slots;
  bool can_be_taken_back = false;
  std::uint64_t held_before = 0;
  std::uint64_t ends_before = 0;  // of lives
  unsigned depth = 0;             // of transactions
  std::uint64_t open_since = kNoTransaction;
  std::uint64_t horizon = 0;
  std::size_t last = SIZE_MAX;  // its last slot on record
  Run run;
  std::map<std::uint64_t, std::uint32_t> swept;  // for each sweeping place: in which epoch last
};

// Accesses that a thread makes one after another, asked for together (instrument/groups.cpp).
struct Group {
  ThreadId thread = 0;
  std::uint32_t first = UINT32_MAX;  // of its cells
  std::uint32_t last = 0;
  std::uint64_t pc = 0;  // what is asked for at one place is always the same
  std::size_t size = 0;
};

// The groups of a run, and for each event the number of its group.
struct Groups {
  static constexpr std::size_t kNone = SIZE_MAX;
  static constexpr std::size_t kMost = 3;         // accesses
  static constexpr std::uint32_t kMostCells = 8;  // from the first to the last

  explicit Groups(const Raw& raw) {
    std::map<ThreadId, std::size_t> open;
    for (const Event& e : raw) {
      const bool plain = form_of(e) == Form::kPlain || form_of(e) == Form::kWide;
      std::size_t& group = open.try_emplace(e.thread, kNone).first->second;
      if (!is_access(e.op) || !plain) {
        group = kNone;
        of.push_back(kNone);
        continue;
      }
      if (group == kNone || !takes(all[group], e)) {
        group = all.size();
        all.push_back({.thread = e.thread});
      }
      of.push_back(group);
      add(all[group], e);
    }
  }

  static bool takes(const Group& group, const Event& e) {
    const std::uint32_t cell = cell_of(e.object);
    return group.size < kMost &&
           std::max(group.last, cell) - std::min(group.first, cell) < kMostCells;
  }
  static void add(Group& group, const Event& e) {
    const std::uint32_t cell = cell_of(e.object);
    group.first = std::min(group.first, cell);
    group.last = std::max(group.last, cell);
    group.pc = runtime::mixed(runtime::mixed(group.pc, std::uint64_t{e.count} << 32U | e.object),
                              static_cast<std::uint64_t>(e.op) << 8U | e.spare);
    ++group.size;
  }

  std::vector<Group> all;
  std::vector<std::size_t> of;
};

// Follows the runtime step by step; the decisions are the runtime's own.
class Runtime {
 public:
  Runtime(std::uint64_t ticks, bool distinct) : ticks_(ticks), distinct_(distinct) {
    Heap::taken().clear();
  }

  void take(const Event& e) {
    now_ += ticks_;
    Thread& thread = threads_[e.thread];
    switch (e.op) {
      case Op::kRead:
      case Op::kWrite:
        access(e, thread);
        return;
      case Op::kBegin:
        if (thread.depth++ == 0) {
          thread.open_since = now_;
          thread.slots.clear();
          thread.can_be_taken_back = true;
          thread.held_before = held_fingerprint(thread);
          thread.ends_before = lives_->ends();
          new_epoch(thread);
        }
        break;
      case Op::kEnd:
        if (--thread.depth == 0) {
          record(e, thread);
          thread.open_since = kNoTransaction;
          take_back_if_known(e.thread, thread);
          new_epoch(thread);
          return;
        }
        break;
      case Op::kAcquire:
      case Op::kReadAcquire:
        ++thread.held[{e.object, e.op}];
        new_epoch(thread);
        break;
      case Op::kRelease:
      case Op::kReadRelease: {
        const Op acquire = e.op == Op::kRelease ? Op::kAcquire : Op::kReadAcquire;
        const auto held = thread.held.find({e.object, acquire});
        if (held != thread.held.end() && --held->second == 0) thread.held.erase(held);
        record(e, thread);
        new_epoch(thread);
        return;
      }
      case Op::kFork:
      case Op::kJoin:
      case Op::kBarrier:
      case Op::kSignal:
      case Op::kWait:
        thread.filter.new_period();
        thread.distinct.new_period();
        thread.can_be_taken_back = false;
        break;
      case Op::kFree:
        now_ += std::uint64_t{1} << runtime::kVersionShift;  // what comes until it is used again
        cells_.erase(cell_of(e.object));
        lives_->end(kBase + 8 * std::uint64_t{cell_of(e.object)}, 8);
        thread.can_be_taken_back = false;
        break;
      case Op::kNew:
      case Op::kEscape:
      case Op::kExit:
        thread.can_be_taken_back = false;
        break;
    }
    record(e, thread);
  }

  // The question before the accesses of a group: true if none of them need be told.
  bool is_quiet(const Group& group) {
    if (!distinct_) return false;
    const auto shared_before = [&](std::uint64_t since) {
      for (std::uint32_t cell = group.first; cell <= group.last; ++cell) {
        const auto found = cells_.find(cell);
        if (found == cells_.end() || !runtime::is_shared(found->second) ||
            (found->second & runtime::kVersionMask) >= since) {
          return false;
        }
      }
      return true;
    };
    return threads_[group.thread].filter.is_known_group(
        kBase + 8 * std::uint64_t{group.first}, 0, group.pc, [&] { return now_; }, shared_before);
  }

  Raw record() const {
    Raw all;
    for (const Slot& slot : slots_) {
      if (slot.taken_back) continue;
      all.insert(all.end(), slot.events.begin(), slot.events.end());
      if (slot.touched) add_touched(slot, all);
    }
    return all;
  }

 private:
  // runtime/horizon.h
  struct World {
    const Runtime& runtime;
    Thread& thread;

    std::uint64_t now() const { return runtime.now_; }
    std::uint64_t horizon() const {
      if (runtime.distinct_) return now();
      look();
      return thread.horizon;
    }
    bool settled(const Access& access) const {
      if (runtime.distinct_) return true;
      if (access.changed) return look() == kNoTransaction;
      const std::uint64_t written = ((access.cell & runtime::kVersionMask) + 1)
                                    << runtime::kVersionShift;
      return written < thread.horizon || written < look();
    }
    std::uint64_t look() const {
      std::uint64_t earliest = kNoTransaction;
      for (const auto& [id, other] : runtime.threads_) {
        if (&other != &thread) earliest = std::min(earliest, other.open_since);
      }
      thread.horizon = earliest == kNoTransaction ? runtime.now_ : earliest;
      return earliest;
    }
  };

  void record(const Event& e, Thread& thread) {
    thread.last = slots_.size();
    thread.slots.push_back(slots_.size());
    slots_.push_back({.thread = e.thread, .events = {e}});
  }

  // runtime/transactions.cpp
  void new_epoch(Thread& thread) const {
    if (distinct_ && thread.depth == 0 && thread.held.empty()) {
      thread.filter.resume();
    } else {
      thread.filter.new_epoch();
    }
  }

  static std::uint64_t held_fingerprint(const Thread& thread) {
    std::uint64_t sum = 0;
    for (const auto& [lock, times] : thread.held) {
      sum += runtime::mixed(runtime::mixed(lock.first, static_cast<std::uint64_t>(lock.second)),
                            times);
    }
    return sum;
  }

  std::uint64_t life_of(std::uint32_t cell) const {
    return lives_->of(kBase + 8 * std::uint64_t{cell});
  }

  std::uint64_t fingerprint(std::uint64_t hash, const Event& e) const {
    hash = runtime::mixed(hash, static_cast<std::uint64_t>(e.op) << 40U | e.object);
    hash = runtime::mixed(hash, std::uint64_t{e.count} << 8U | e.spare);
    return is_access(e.op) ? runtime::mixed(hash, life_of(cell_of(e.object))) : hash;
  }

  // runtime/recorder.cpp
  void take_back_if_known(ThreadId id, Thread& thread) {
    if (!distinct_ || !thread.can_be_taken_back) return;
    if (held_fingerprint(thread) != thread.held_before) return;
    const auto ended = [&](std::uint32_t cell) {
      return lives_->ended_since(thread.ends_before, kBase + 8 * std::uint64_t{cell});
    };
    std::uint64_t hash = thread.held_before;
    for (const std::size_t index : thread.slots) {
      const Slot& slot = slots_[index];
      for (const Event& e : slot.events) {
        if (is_access(e.op) && ended(cell_of(e.object))) return;
      }
      for (std::uint32_t cell = 0; slot.touched && cell < kMaxVariables / 2; ++cell) {
        if (ended(cell)) return;
      }
      for (const Event& e : slot.events) hash = fingerprint(hash, e);
      if (!slot.touched) continue;
      for (const std::uint64_t word : *slot.touched) hash = runtime::mixed(hash, word);
      for (std::uint32_t cell = 0; cell < kMaxVariables / 2; ++cell) {
        hash = runtime::mixed(hash, life_of(cell));
      }
    }
    if (thread.distinct.add(hash, id, *fingerprints_)) return;
    for (const std::size_t index : thread.slots) slots_[index].taken_back = true;
    thread.run.slot = SIZE_MAX;
  }

  // runtime/access.cpp
  bool is_known_outside(const Event& e, Thread& thread) const {
    if (!distinct_ || thread.depth != 0) return false;
    return !thread.distinct.add(fingerprint(runtime::mixed(held_fingerprint(thread), 1), e),
                                e.thread, *fingerprints_);
  }

  // Brings the cell up to date; whether it changed hands.
  bool touch(const Event& e, Cell& after) {
    Cell& cell = cells_.try_emplace(cell_of(e.object), runtime::kUntouched).first->second;
    const Cell before = cell;
    if (!runtime::is_shared(cell)) {
      cell = runtime::shared_exclusive(e.thread, runtime::next_version(cell, now_));
    }
    if (!distinct_) cell = runtime::after_access(cell, e.thread, e.op == Op::kWrite, now_);
    after = cell;
    return cell != before;
  }

  void access(const Event& e, Thread& thread) {
    const bool wide = form_of(e) == Form::kWide;
    Access access{.address = kBase + 8 * std::uint64_t{cell_of(e.object)} +
                             (wide ? 0 : 4 * std::uint64_t{e.object % 2}),
                  .size = wide ? 8U : 4U,
                  .write = e.op == Op::kWrite,
                  .in_transaction = thread.depth > 0,
                  .pc = e.count};
    // The path of an access in the runtime takes these short cuts first.
    const bool atomic = form_of(e) == Form::kAtomic || form_of(e) == Form::kUpdate;
    const auto before = cells_.find(cell_of(e.object));
    if (!atomic && before != cells_.end() &&
        (thread.filter.is_known(access.address, access.size, access.write, access.pc,
                                before->second) ||
         thread.filter.sweeps(
             access.address, access.size, access.write, access.pc, access.in_transaction,
             before->second,
             runtime::version_without_change(before->second, e.thread, access.write, distinct_)))) {
      return;
    }
    if (!atomic) thread.filter.note_unknown();
    access.changed = touch(e, access.cell);
    const World world{.runtime = *this, .thread = thread};
    if (atomic) {
      if (!thread.filter.is_repeat(access, world) && !is_known_outside(e, thread)) {
        record(e, thread);
      }
      return;
    }
    if (e.count >= kSweepingPlaces && thread.swept[e.count] != thread.filter.epoch()) {
      sweep_to(e, access);
    }
    const RepeatFilter::Place& place = thread.filter.place(access);
    switch (thread.filter.decide(access, place, world)) {
      case RepeatFilter::Fate::kDrop:
      case RepeatFilter::Fate::kJoined:
        break;
      case RepeatFilter::Fate::kRecord:
        record_access(e, access, place, thread);
        break;
      case RepeatFilter::Fate::kBegin:
        begin_touched(e.thread, access, thread);
        break;
    }
  }

  void record_access(const Event& e, const Access& access, const RepeatFilter::Place& place,
                     Thread& thread) {
    if (place.regular >= 2 && extends_run(thread, access)) {
      slots_[thread.run.slot].events.push_back(e);
      thread.run.next += static_cast<std::uint64_t>(thread.run.stride);
      return;
    }
    if (is_known_outside(e, thread)) return;
    if (place.regular < 2 || thread.last == SIZE_MAX || slots_[thread.last].events.empty() ||
        slots_[thread.last].events.back().count != e.count) {
      record(e, thread);
    } else {
      record(e, thread);
      thread.run = {.slot = thread.last,
                    .pc = access.pc,
                    .next = access.address + static_cast<std::uint64_t>(place.stride),
                    .stride = place.stride,
                    .since = now_ >> runtime::kVersionShift,
                    .cell = access.cell,
                    .epoch = thread.filter.epoch()};
    }
  }

  static bool extends_run(const Thread& thread, const Access& access) {
    const Run& run = thread.run;
    return run.slot != SIZE_MAX && run.slot == thread.last && run.pc == access.pc &&
           run.epoch == thread.filter.epoch() && run.next == access.address && !access.changed &&
           ((access.cell & runtime::kVersionMask) < run.since || access.cell == run.cell);
  }

  void begin_touched(ThreadId id, const Access& access, Thread& thread) {
    thread.last = slots_.size();
    thread.slots.push_back(slots_.size());
    slots_.push_back({.thread = id, .size = access.size, .touched = std::make_unique<Touched>()});
    thread.filter.attach(access, slots_.back().touched->data());
  }

  // The place comes from other elements, of the same stretch, which nobody else accesses: of them
  // nothing needs to stand in the trace.
  void sweep_to(const Event& e, const Access& access) {
    Thread& thread = threads_[e.thread];
    thread.swept[e.count] = thread.filter.epoch();
    const World world{.runtime = *this, .thread = thread};
    for (std::uint64_t before = 12; before > 0; --before) {
      Access other = access;
      other.address = kElsewhere + 8 * (20 - before);
      other.changed = false;
      other.cell = runtime::shared_exclusive(e.thread, 1);
      const RepeatFilter::Place& place = thread.filter.place(other);
      if (thread.filter.decide(other, place, world) == RepeatFilter::Fate::kBegin) {
        begin_touched(e.thread, other, thread);
      }
    }
  }

  // As the reader takes them: all reads, then those made once more, then the writes.
  static void add_touched(const Slot& slot, Raw& all) {
    for (std::size_t map = 0; map < 4; ++map) {
      for (std::uint64_t element = 0; element < recording::kTouchedElements; ++element) {
        const std::uint64_t word = (*slot.touched)[2 + map * kWords + element / 64];
        const std::uint64_t address = kBase / kStretch * kStretch + element * slot.size;
        if ((word >> (element % 64) & 1) == 0 || address < kBase) continue;
        const auto half = static_cast<std::uint32_t>((address - kBase) / 4);
        all.push_back(
            {.thread = slot.thread,
             .object = half,
             .location = 0,
             .op = map < 2 ? Op::kRead : Op::kWrite,
             .spare = static_cast<std::uint8_t>(slot.size == 8 ? Form::kWide : Form::kPlain),
             .count = static_cast<std::uint16_t>((*slot.touched)[map / 2])});
      }
    }
  }

  static constexpr std::uint64_t kStretch = 0x800;  // bytes, of the smallest elements
  static constexpr std::uint64_t kElsewhere = 0x10000;
  static constexpr std::uint64_t kBase = kElsewhere + 0x400;
  std::uint64_t ticks_;
  bool distinct_;
  std::unique_ptr<runtime::Lives> lives_ = std::make_unique<runtime::Lives>();
  std::unique_ptr<Fingerprints> fingerprints_ = std::make_unique<Fingerprints>();
  std::uint64_t now_ = std::uint64_t{1} << 20U;
  std::map<std::uint32_t, Cell> cells_;
  std::map<ThreadId, Thread> threads_;
  std::vector<Slot> slots_;
};

// A variable between two frees.
struct Life {
  std::set<ThreadId> threads;
  bool written = false;
  bool inside = false;  // some transaction accesses it

  bool matters() const { return written && inside && threads.size() > 1; }
};

class Reader {
 public:
  Reader(const Trace& trace, bool distinct)
      : trace_(trace), distinct_(distinct), dropped_(trace.size()) {}

  Trace run() {
    std::vector<Life*> life_of;
    for (const Event& e : trace_) life_of.push_back(survey(e));
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      dropped_[i] = life_of[i] != nullptr && !life_of[i]->matters();
    }
    drop_transactions();
    Trace kept;
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      if (!dropped_[i]) kept.push_back(trace_[i]);
    }
    return kept;
  }

 private:
  // The life that the event is about; nullptr if it is about none.
  Life* survey(const Event& e) {
    if (e.op == Op::kBegin) ++depth_[e.thread];
    if (e.op == Op::kEnd) --depth_[e.thread];
    const bool lock = object_kind(e.op) == NameKind::kLock;
    if (lock && e.object >= kMaxLocks) return &life(variable_of(e.object));
    if (object_kind(e.op) != NameKind::kVariable) return nullptr;
    Life& own = life(e.object);
    if (e.op == Op::kFree) ++freed_[e.object];
    if (is_access(e.op)) own.threads.insert(e.thread);
    if (is_access(e.op) && (!distinct_ || depth_[e.thread] > 0)) own.inside = true;
    if (e.op == Op::kWrite) own.written = true;
    return &own;
  }

  Life& life(VariableId variable) { return lives_[{variable, freed_[variable]}]; }

  void drop_transactions() {
    struct Open {
      std::size_t begin = 0;
      bool empty = true;
    };
    std::map<ThreadId, std::vector<Open>> open;
    for (std::size_t i = 0; i < trace_.size(); ++i) {
      const Event& e = trace_[i];
      if (dropped_[i]) continue;
      std::vector<Open>& own = open[e.thread];
      if (e.op == Op::kBegin) {
        own.push_back({.begin = i});
      } else if (e.op != Op::kEnd) {
        for (Open& each : own) each.empty = false;
      } else {
        if (own.back().empty) dropped_[i] = dropped_[own.back().begin] = true;
        own.pop_back();
      }
    }
  }

  const Trace& trace_;
  bool distinct_;
  std::map<ThreadId, unsigned> depth_;
  std::vector<bool> dropped_;
  std::map<VariableId, unsigned> freed_;
  std::map<std::pair<VariableId, unsigned>, Life> lives_;
};

}  // namespace

Raw recorded(const Raw& raw, std::uint64_t ticks, bool distinct) {
  Runtime runtime(ticks, distinct);
  const Groups groups(raw);
  std::vector<bool> asked(groups.all.size());
  std::vector<bool> quiet(groups.all.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t group = groups.of[i];
    if (group != Groups::kNone && !asked[group]) {
      asked[group] = true;
      quiet[group] = runtime.is_quiet(groups.all[group]);
    }
    if (group == Groups::kNone || !quiet[group]) runtime.take(raw[i]);
  }
  return runtime.record();
}

Trace without_influence(const Trace& trace, bool distinct) { return Reader(trace, distinct).run(); }

}  // namespace tomos::filter
