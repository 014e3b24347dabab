// Events from records: what recording_format.h says of each operation, in terms of event.h.
//
// An atomic operation takes a lock of its own that every variable has for this, for reading or for
// writing: alone it is indivisible and races with no other atomic operation, but two of them in a
// row can be cut.
#include "trace/recording_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <expected>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "trace/recording_guards.h"
#include "trace/recording_merge.h"
#include "trace/recording_naming.h"
#include "trace/recording_order.h"
#include "trace/recording_repair.h"
#include "trace/recording_slots.h"
#include "trace/recording_survey.h"
#include "trace/recording_touched.h"
#include "trace/recording_variables.h"

namespace tomos::recording {

namespace {

using EventOp = tomos::Op;

constexpr std::size_t kBatch = 8192;

constexpr OpSet kPlainReads = {Op::kRead, Op::kReadRange, Op::kReadRun};
constexpr OpSet kPlainWrites = {Op::kWrite, Op::kWriteRange, Op::kWriteRun};
constexpr OpSet kAtomics = {Op::kAtomicRead, Op::kAtomicWrite, Op::kAtomicUpdate};
constexpr OpSet kReads = kPlainReads | OpSet{Op::kAtomicRead, Op::kAtomicUpdate};
constexpr OpSet kWrites = kPlainWrites | OpSet{Op::kAtomicWrite, Op::kAtomicUpdate};
constexpr OpSet kAccesses = kReads | kWrites | OpSet{Op::kTouched};
constexpr OpSet kRanges = {Op::kReadRange, Op::kWriteRange};
constexpr OpSet kRuns = {Op::kReadRun, Op::kWriteRun};
constexpr OpSet kTold =
    kAccesses | Orders::kOps | OpSet{Op::kAcquire, Op::kRelease, Op::kReadAcquire, Op::kReadRelease,
                                     Op::kDestroy, Op::kFork,    Op::kJoin,        Op::kBarrier,
                                     Op::kBegin,   Op::kEnd,     Op::kFree,        Op::kExit,
                                     Op::kObject,  Op::kNote};

// What is left of an access record: `count` accesses of `size` bytes each.
struct Accesses {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
  std::int64_t stride = 0;

  explicit Accesses(const Record& record) : address(record.value), size(record.small), count(1) {
    if (kRanges.has(record.op)) size = record.extra[0].a;
    if (kRuns.has(record.op)) {
      count = record.extra[0].a;
      stride = static_cast<std::int64_t>(record.extra[0].b);
      if (stride == 0) count = std::min<std::uint64_t>(count, 1);
    }
    if (size == 0) count = 0;
  }
  Accesses() = default;

  void advance(std::uint64_t by) {
    address += static_cast<std::uint64_t>(stride) * by;
    count -= by;
  }
};

class Events : public RecordedEvents {
 public:
  Events(const File& file, const Tables& tables, const std::optional<Error>& damage,
         RecordingNames& names, const RecordingOptions& options)
      : file_(file),
        tables_(tables),
        damage_(damage),
        options_(options),
        source_(names),
        naming_(tables, names),
        repair_(options.keep_everything),
        thread_ids_(tables.threads.size(), kNoId),
        waiting_(tables.threads.size()) {
    for (const ThreadSegments& thread : tables.segments) {
      for (const Segment& segment : thread.segments) bytes_ += segment.slots * sizeof(Slot);
    }
  }

  Result<void> next(Batch& batch) override;
  const Names& names() const override { return naming_.names(); }
  Progress progress() const override {
    return {.done = done_.load(std::memory_order_relaxed), .size = 2 * bytes_};
  }
  std::uint64_t repaired() const override { return repair_.repaired(); }
  std::span<const std::uint64_t> stack(LocationId location) const override {
    return naming_.stack(location);
  }
  std::span<const Test> tests() const override { return tests_; }

 private:
  static constexpr std::uint32_t kNoId = ~std::uint32_t{0};
  // A place of Variables holds the id + 1 of the variable; with this bit while it is alive. Of a
  // dead one the id can be used again if the next variable there has the same name.
  static constexpr Variables::Place kAlive = Variables::Place{1} << 31;
  // The same for one that nobody is told of.
  static constexpr VariableId kLeftOut = kAlive - 2;
  // While guards are learnt, the locks of atomic operations are these, with the variable's id.
  static constexpr LockId kAtomicLock = LockId{1} << 31;

  bool is_access(const Record& record) {
    return kAccesses.has(record.op) && (!kAtomics.has(record.op) || naming_.is_users(record.pc));
  }
  // Whether nothing in so many bytes matters, and nothing is to be repaired. Most often it is so.
  bool is_idle(std::uint64_t size) {
    return !variables_->any(record_.value, record_.value + size) && repair_.runs(thread());
  }
  void survey();
  void learn_orders();
  void learn_guards(const std::vector<SurveyedPage>& surveyed);
  void tell();
  void take_row(TouchedRows& rows);
  void tell_accesses();
  void tell_atomic();
  void tell_free();
  void tell_lock(EventOp op);
  void tell_barrier();
  void tell_order();
  void tell_begin();
  void end_locks(std::uint64_t address, std::uint64_t size);
  void end_barriers(std::uint64_t address, std::uint64_t size);

  ThreadId thread();
  LocationId location() { return learns_ ? 0 : naming_.location(record_.pc, record_.stack); }
  VariableId variable(Variables::Place& place, std::uint64_t address, std::uint64_t size);
  LockId atomic_lock(VariableId variable);
  void step(EventOp op, std::uint32_t object) {
    repair_.step({.thread = thread(), .object = object, .location = location(), .op = op}, *out_);
  }
  void pass(EventOp op, std::uint32_t object) {
    repair_.pass({.thread = thread(), .object = object, .location = location(), .op = op}, *out_);
  }

  const File& file_;
  const Tables& tables_;
  const std::optional<Error>& damage_;
  RecordingOptions options_;
  RecordingNames& source_;
  std::uint64_t bytes_ = 0;
  std::atomic<std::uint64_t> done_ = 0;

  // Variables to be left out; null if none are. Who learns which tells it of all of them, and needs
  // no names.
  std::unique_ptr<Guards> guards_;
  bool learns_ = false;
  std::size_t lives_ = 0;  // of variables, so far

  Naming naming_;
  Repair repair_;
  std::unique_ptr<Variables> variables_;  // null until the survey is done
  std::unique_ptr<Merge> merge_;
  Lives locks_;
  Lives barriers_;
  Orders orders_;
  std::vector<std::uint16_t> barrier_counts_;  // by barrier
  std::vector<LockId> atomic_locks_;           // by variable; kNoId: none in this life
  std::vector<ThreadId> thread_ids_;           // by place in tables_
  std::vector<bool> waiting_;         // likewise: in what would be a transaction if it did not wait
  std::vector<VariableId> together_;  // what one atomic operation accesses
  std::vector<Test> tests_;

  // The record at hand.
  Record record_;
  Record touched_;                   // the kTouched record that ...
  std::optional<TouchedRows> rows_;  // ... these rows are of
  Accesses accesses_;                // still to be told
  std::uint64_t told_to_ = 0;        // of the first of them: up to this address it has been
  std::vector<Event>* out_ = nullptr;

  std::uint64_t delivered_ = 0;
  std::optional<Error> error_;
};

// The first pass.
void Events::survey() {
  Survey survey(options_.keep_everything, options_.max_pages);
  OpSet wanted = kAccesses | OpSet{Op::kFree};
  if (options_.order_free) wanted = wanted | OpSet{Op::kBegin, Op::kEnd};
  Merge merge(file_, tables_.segments, wanted, done_);
  std::vector<bool> inside(tables_.threads.size(), !options_.order_free);
  while (!survey.overflown() && merge.next(record_)) {
    Survey::How how = {.thread = static_cast<std::uint32_t>(record_.thread),
                       .writes = kWrites.has(record_.op),
                       .inside = inside[record_.thread]};
    if (record_.op == Op::kFree) {
      survey.free(record_.value, record_.extra[0].a);
    } else if (record_.op == Op::kBegin || record_.op == Op::kEnd) {
      inside[record_.thread] = record_.op == Op::kBegin && !tables_.waiting.contains(record_.value);
    } else if (record_.op == Op::kTouched) {
      if (survey.is_repeated(record_, how.inside)) continue;
      TouchedRows rows(record_.extra);
      for (TouchedRows::Row row; rows.next(row);) {
        if (row.again) continue;
        how.writes = row.writes;
        survey.accesses(how, record_.value + row.element * record_.small, record_.small, row.count);
      }
    } else if (is_access(record_)) {
      for (Accesses accesses(record_); accesses.count > 0 && !survey.overflown();
           accesses.advance(1)) {
        survey.access(how, accesses.address, accesses.size);
      }
    }
  }
  if (survey.overflown()) {
    error_ = Error{file_.path(),
                   fmt::format("the program's accesses touch more than {} MB of shared memory",
                               options_.max_pages * kPageSize >> 20),
                   "Record a smaller run of the program; if it is small, the file is damaged."};
    return;
  }
  std::vector<SurveyedPage> surveyed = survey.finish();
  if (tables_.has_waits) learn_orders();
  std::size_t count = 0;
  for (const SurveyedPage& page : surveyed) count += page.variables();
  if (options_.pairs_only && !options_.keep_everything && count >= options_.many_variables) {
    learn_guards(surveyed);
  }
  variables_ = std::make_unique<Variables>(std::move(surveyed));
  merge_ = std::make_unique<Merge>(file_, tables_.segments, kTold, done_);
}

void Events::learn_orders() {
  std::atomic<std::uint64_t> uncounted = 0;
  Merge merge(file_, tables_.segments, Orders::kOps, uncounted);
  while (merge.next(record_)) orders_.learn(record_);
}

// By telling of everything, to nobody else.
void Events::learn_guards(const std::vector<SurveyedPage>& surveyed) {
  std::atomic<std::uint64_t> uncounted = 0;
  std::vector<SurveyedPage> copy;
  copy.reserve(surveyed.size());
  for (const SurveyedPage& page : surveyed) copy.push_back(page.copy());
  Events learner(file_, tables_, damage_, source_, options_);
  learner.learns_ = true;
  learner.orders_ = orders_;
  learner.guards_ = std::make_unique<Guards>();
  learner.variables_ = std::make_unique<Variables>(std::move(copy));
  learner.merge_ = std::make_unique<Merge>(file_, tables_.segments, kTold, uncounted);
  for (Batch batch; learner.next(batch) && !batch.events.empty();) {
    learner.guards_->take(batch.events);
  }
  learner.guards_->finish();
  guards_ = std::move(learner.guards_);
}

Result<void> Events::next(Batch& batch) {
  batch.events.clear();
  batch.gaps.clear();
  batch.first = delivered_;
  batch.first_line = 0;
  out_ = &batch.events;
  if (!variables_ && !error_) survey();
  while (!error_ && batch.events.size() < kBatch) {
    if (accesses_.count > 0) {
      tell_accesses();
    } else if (rows_) {
      take_row(*rows_);
    } else if (merge_->next(record_)) {
      tell();
    } else {
      error_ = damage_ ? damage_ : merge_->error();
      break;
    }
  }
  delivered_ += batch.events.size();
  if (batch.events.empty() && error_) return std::unexpected(*error_);
  return {};
}

ThreadId Events::thread() {
  ThreadId& id = thread_ids_[record_.thread];
  if (id == kNoId) id = naming_.thread(tables_.segments[record_.thread].number);
  return id;
}

void Events::tell() {
  switch (record_.op) {
    case Op::kRead:
    case Op::kWrite:
      if (is_idle(record_.small)) break;
      [[fallthrough]];
    case Op::kReadRange:
    case Op::kWriteRange:
    case Op::kReadRun:
    case Op::kWriteRun:
    case Op::kAtomicRead:
    case Op::kAtomicWrite:
    case Op::kAtomicUpdate:
      if (!is_access(record_)) break;
      accesses_ = Accesses(record_);
      told_to_ = accesses_.address;
      break;
    case Op::kTouched:
      if (is_idle(kTouchedElements * record_.small)) break;
      touched_ = record_;
      rows_.emplace(record_.extra);
      break;
    case Op::kAcquire:
      tell_lock(EventOp::kAcquire);
      break;
    case Op::kRelease:
      tell_lock(EventOp::kRelease);
      break;
    case Op::kReadAcquire:
      tell_lock(EventOp::kReadAcquire);
      break;
    case Op::kReadRelease:
      tell_lock(EventOp::kReadRelease);
      break;
    case Op::kDestroy:
      orders_.meaning(record_);
      end_locks(record_.value, 1);
      end_barriers(record_.value, 1);
      break;
    case Op::kFork:
      step(EventOp::kFork, naming_.thread(record_.value));
      break;
    case Op::kJoin:
      step(EventOp::kJoin, naming_.thread(record_.value));
      break;
    case Op::kBarrier:
      tell_barrier();
      break;
    case Op::kBegin:
      tell_begin();
      break;
    case Op::kEnd:
      if (!waiting_[record_.thread]) step(EventOp::kEnd, 0);
      waiting_[record_.thread] = false;
      break;
    case Op::kFree:
      tell_free();
      break;
    case Op::kExit:
      step(EventOp::kExit, 0);
      break;
    case Op::kObject:
      if (learns_) break;
      naming_.objects().add({.address = record_.value,
                             .length = record_.extra[0].a,
                             .pc = record_.extra[0].b,
                             .caller = record_.extra[1].a,
                             .thread = record_.extra[1].b});
      break;
    case Op::kNote:
      if (record_.small == static_cast<std::uint8_t>(Note::kTest)) {
        tests_.push_back({.name = std::string(text_behind(record_.extra)),
                          .first_event = delivered_ + out_->size()});
      }
      break;
    case Op::kSignal:
    case Op::kWait:
      tell_order();
      break;
    case Op::kNone:
    case Op::kThread:
    case Op::kTime:
    case Op::kStack:
    case Op::kLabel:
    case Op::kModule:
    case Op::kThreadName:
      break;
  }
}

VariableId Events::variable(Variables::Place& place, std::uint64_t address, std::uint64_t size) {
  if ((place & kAlive) != 0) [[likely]]
    return (place & ~kAlive) - 1;
  if (learns_) {
    place = guards_->begin_life() + 1;
  } else if (guards_ && guards_->leaves_out(lives_++)) {
    place = kLeftOut + 1;
  } else if (place == 0 || place == kLeftOut + 1 ||
             !naming_.same_variable(place - 1, address, size, record_.pc)) {
    place = naming_.add_variable(address, size, record_.pc) + 1;
  }
  const VariableId id = place - 1;
  place |= kAlive;
  return id;
}

// The next row of a kTouched record: an access to all of it. The bounds make each element a
// variable of its own.
void Events::take_row(TouchedRows& rows) {
  TouchedRows::Row row;
  if (!rows.next(row)) {
    rows_.reset();
    return;
  }
  record_ = touched_;
  record_.op = row.writes ? Op::kWriteRange : Op::kReadRange;
  record_.pc = rows.pc(row.writes);
  accesses_ = {};
  accesses_.address = touched_.value + row.element * touched_.small;
  accesses_.size = row.count * touched_.small;
  accesses_.count = 1;
  told_to_ = accesses_.address;
}

// Goes on with the accesses of the record at hand until all are told or the batch is full.
void Events::tell_accesses() {
  if (!repair_.runs(thread())) {
    repair_.count_repair();
    accesses_.count = 0;
    return;
  }
  if (kAtomics.has(record_.op)) {
    tell_atomic();
    accesses_.count = 0;
    return;
  }
  const EventOp op = kWrites.has(record_.op) ? EventOp::kWrite : EventOp::kRead;
  while (accesses_.count > 0) {
    const std::uint64_t end = accesses_.address + accesses_.size;
    told_to_ = variables_->access(
        told_to_, end, [&](Variables::Place& place, std::uint64_t address, std::uint64_t size) {
          const VariableId id = variable(place, address, size);
          if (id != kLeftOut) pass(op, id);
          return out_->size() < kBatch;
        });
    if (told_to_ < end) return;
    accesses_.advance(1);
    told_to_ = accesses_.address;
    if (out_->size() >= kBatch) return;
  }
}

LockId Events::atomic_lock(VariableId variable) {
  if (learns_) return kAtomicLock | variable;
  if (variable >= atomic_locks_.size()) atomic_locks_.resize(variable + std::size_t{1}, kNoId);
  LockId& lock = atomic_locks_[variable];
  if (lock == kNoId) lock = naming_.add_atomic(variable);
  return lock;
}

void Events::tell_atomic() {
  const bool writes = kWrites.has(record_.op);
  together_.clear();
  variables_->access(told_to_, accesses_.address + accesses_.size,
                     [&](Variables::Place& place, std::uint64_t address, std::uint64_t size) {
                       const VariableId id = variable(place, address, size);
                       if (id != kLeftOut) together_.push_back(id);
                       return true;
                     });
  for (const VariableId id : together_) {
    pass(writes ? EventOp::kAcquire : EventOp::kReadAcquire, atomic_lock(id));
  }
  for (const VariableId id : together_) {
    if (kReads.has(record_.op)) pass(EventOp::kRead, id);
  }
  for (const VariableId id : together_) {
    if (writes) pass(EventOp::kWrite, id);
  }
  for (std::size_t i = together_.size(); i-- > 0;) {
    pass(writes ? EventOp::kRelease : EventOp::kReadRelease, atomic_lock(together_[i]));
  }
}

void Events::end_locks(std::uint64_t address, std::uint64_t size) {
  locks_.end(address, size, [this](LockId lock) { repair_.destroy(lock, *out_); });
}

void Events::end_barriers(std::uint64_t address, std::uint64_t size) {
  barriers_.end(address, size, [](std::uint32_t) {});
}

void Events::tell_free() {
  const std::uint64_t size = record_.extra[0].a;
  const bool runs = repair_.runs(thread());
  variables_->free(record_.value, size, [&](Variables::Place& place) {
    if ((place & kAlive) == 0) return;
    place &= ~kAlive;
    const VariableId id = place - 1;
    if (id == kLeftOut) return;
    if (id < atomic_locks_.size()) atomic_locks_[id] = kNoId;
    if (runs) pass(EventOp::kFree, id);
  });
  orders_.meaning(record_);
  end_locks(record_.value, size);
  end_barriers(record_.value, size);
  naming_.objects().free(record_.value, size);
}

void Events::tell_lock(EventOp op) {
  LockId& lock = locks_.at(record_.value);
  if (lock == Lives::kNone) lock = naming_.add_lock(record_.value, record_.pc);
  const bool tried =
      (record_.op == Op::kAcquire || record_.op == Op::kReadAcquire) && record_.small == 1;
  repair_.step({.thread = thread(),
                .object = lock,
                .location = location(),
                .op = op,
                .count = static_cast<std::uint16_t>(tried ? 1 : 0)},
               *out_);
}

void Events::tell_barrier() {
  const std::uint64_t count = record_.extra[0].a;
  if (count == 0 || count > std::numeric_limits<std::uint16_t>::max()) {
    repair_.count_repair();
    return;
  }
  std::uint32_t& barrier = barriers_.at(record_.value);
  // A barrier set up again for another number of threads is another barrier.
  if (barrier == Lives::kNone || barrier_counts_[barrier] != count) {
    barrier = naming_.add_barrier(record_.value, record_.pc);
    barrier_counts_.resize(barrier + std::size_t{1});
    barrier_counts_[barrier] = static_cast<std::uint16_t>(count);
  }
  repair_.step({.thread = thread(),
                .object = barrier,
                .location = location(),
                .op = EventOp::kBarrier,
                .count = static_cast<std::uint16_t>(count)},
               *out_);
}

void Events::tell_order() {
  EventOp op = EventOp::kSignal;
  switch (orders_.meaning(record_)) {
    case Orders::Meaning::kNothing:
      return;
    case Orders::Meaning::kAcquire:
      return tell_lock(EventOp::kAcquire);
    case Orders::Meaning::kRelease:
      return tell_lock(EventOp::kRelease);
    case Orders::Meaning::kSignal:
      break;
    case Orders::Meaning::kWait:
      op = EventOp::kWait;
      break;
  }
  for (std::uint32_t* const object : orders_.objects()) {
    if (*object == Lives::kNone) *object = naming_.add_barrier(record_.value, record_.pc);
    step(op, *object);
  }
}

void Events::tell_begin() {
  // What waits on a condition is no transaction, also when that was not known yet.
  waiting_[record_.thread] = tables_.waiting.contains(record_.value);
  if (waiting_[record_.thread]) return;
  Naming::Begin begin;
  if (!learns_) begin = naming_.begin(record_.value, record_.pc, record_.stack);
  repair_.step({.thread = thread(),
                .object = begin.label,
                .location = begin.location != 0 ? begin.location : location(),
                .op = EventOp::kBegin},
               *out_);
}

}  // namespace

std::unique_ptr<RecordedEvents> make_events(const File& file, const Tables& tables,
                                            const std::optional<Error>& damage,
                                            RecordingNames& names,
                                            const RecordingOptions& options) {
  return std::make_unique<Events>(file, tables, damage, names, options);
}

}  // namespace tomos::recording
