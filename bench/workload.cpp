#include "workload.h"

#include <algorithm>
#include <limits>

#include "event/names.h"

namespace tomos::bench {
namespace {

constexpr std::uint8_t kNobody = 0xff;
constexpr std::uint32_t kForever = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kMethods = 100;
constexpr std::uint32_t kLines = 50;  // of a method
constexpr std::uint32_t kHot = 16;    // variables
constexpr int kTries = 4;             // before a thread does something else

constexpr std::uint64_t bit(ThreadId id) { return std::uint64_t{1} << id; }

// Unary accesses come between transactions; how many there are follows from when the next one
// begins.
double begin_chance(const Shape& shape) {
  const double accesses = 0.5 * (shape.min_accesses + shape.max_accesses);
  return 1.0 / (1.0 + accesses * shape.unary / (1.0 - shape.unary));
}

}  // namespace

Workload::Workload(const Shape& shape, const WorkloadOptions& options)
    : shape_(shape),
      options_(options),
      random_(options.seed * 256 + static_cast<std::uint8_t>(shape.name)),
      begin_chance_(begin_chance(shape)),
      threads_(shape.threads),
      holders_(shape.variables, 0),
      writer_(shape.variables, kNobody),
      locked_(shape.locks, 0) {}

void Workload::next(std::vector<Event>& events, std::size_t limit) {
  events.clear();
  out_ = &events;
  if (emitted_ == 0 && shape_.whole_trace && options_.events > 2) begin(0);
  while (events.size() < limit && emitted_ < options_.events) {
    const std::uint64_t left = options_.events - emitted_;
    const ThreadId id = random_.below(shape_.threads);
    if (left > owed_ + 1) {
      step(id);
    } else if (left == owed_) {
      close_last();
    } else if (!fill(id)) {
      close(id);
    }
  }
}

void Workload::step(ThreadId id) {
  switch (threads_[id].phase) {
    case Phase::kOutside:
      return step_outside(id);
    case Phase::kGaining:
      return step_gaining(id);
    case Phase::kGivingBack:
      return step_giving_back(id);
  }
}

void Workload::step_outside(ThreadId id) {
  if (!threads_[id].locks.empty()) {
    if (random_.chance(0.25)) return release(id);
  } else {
    if (random_.chance(begin_chance_)) return begin(id);
    if (random_.chance(0.05) && acquire(id)) return;
  }
  access_any(id, false);
}

void Workload::step_gaining(ThreadId id) {
  Thread& thread = threads_[id];
  if (thread.locks_left > 0 && random_.chance(0.3)) {
    --thread.locks_left;
    if (acquire(id)) return;
  }
  if (nest(id)) return;
  const auto held = static_cast<std::uint32_t>(thread.variables.size());
  if (held > 0 && random_.chance(0.15)) {
    access_held(id, random_.below(held));
  } else if (!access_any(id, true)) {
    if (held == 0) return;
    access_held(id, random_.below(held));
  }
  if (--thread.accesses_left > 0) return;

  thread.phase = Phase::kGivingBack;
  if (shape_.whole_trace && id == 0) {
    thread.accesses_left = kForever;
    thread.keep = std::max(1U, static_cast<std::uint32_t>(thread.variables.size() / 2));
  } else {
    thread.accesses_left = thread.give_back_accesses;
    thread.keep = 0;
  }
}

void Workload::step_giving_back(ThreadId id) {
  Thread& thread = threads_[id];
  if (!thread.locks.empty() && random_.chance(0.3)) return release(id);
  const bool racy = options_.flavour == Flavour::kRacy;
  if (thread.accesses_left == 0 || (!racy && thread.variables.empty())) return close(id);
  if (nest(id)) return;
  if (thread.accesses_left != kForever) --thread.accesses_left;
  if (racy) {
    access_any(id, false);
    return;
  }
  const auto index = random_.below(static_cast<std::uint32_t>(thread.variables.size()));
  access_held(id, index);
  if (thread.variables.size() > thread.keep && random_.chance(0.5)) give_back(id, index);
}

// One access that opens nothing; false if the thread has none to make.
bool Workload::fill(ThreadId id) {
  const Thread& thread = threads_[id];
  if (options_.flavour == Flavour::kRacy) return access_any(id, false);
  if (!thread.variables.empty()) {
    access_held(id, 0);
    return true;
  }
  return thread.phase != Phase::kGivingBack && access_any(id, thread.phase == Phase::kGaining);
}

// One step towards having nothing open.
void Workload::close(ThreadId id) {
  if (!threads_[id].locks.empty()) return release(id);
  if (threads_[id].depth > 0) end(id);
}

// The first thread closes last, for the sake of the transaction that spans the trace.
void Workload::close_last() {
  const auto open = std::find_if(threads_.rbegin(), threads_.rend(), [](const Thread& thread) {
    return thread.depth > 0 || !thread.locks.empty();
  });
  close(static_cast<ThreadId>(std::distance(open, threads_.rend()) - 1));
}

void Workload::begin(ThreadId id) {
  Thread& thread = threads_[id];
  if (thread.depth++ == 0) {
    thread.phase = Phase::kGaining;
    const std::uint32_t range = shape_.max_accesses - shape_.min_accesses + 1;
    const std::uint32_t accesses = shape_.min_accesses + random_.below(range);
    thread.give_back_accesses = accesses / 3;
    thread.accesses_left = accesses - thread.give_back_accesses;
    thread.locks_left = random_.below(shape_.max_acquires + 1);
    if (shape_.whole_trace && id == 0) {
      thread.accesses_left =
          static_cast<std::uint32_t>(std::clamp<std::uint64_t>(options_.events / 64, 1, 1500));
    }
    thread.method = random_.below(kMethods);
    thread.line = random_.below(kLines);
  }
  ++owed_;
  emit(id, Op::kBegin, 0);
}

void Workload::end(ThreadId id) {
  Thread& thread = threads_[id];
  --owed_;
  emit(id, Op::kEnd, 0);
  if (--thread.depth > 0) return;
  thread.phase = Phase::kOutside;
  while (!thread.variables.empty()) give_back(id, thread.variables.size() - 1);
}

bool Workload::nest(ThreadId id) {
  if (shape_.depth == 1) return false;
  const std::uint32_t depth = threads_[id].depth;
  if (depth > 1 && random_.chance(0.1)) {
    end(id);
    return true;
  }
  if (depth < shape_.depth && random_.chance(0.1)) {
    begin(id);
    return true;
  }
  return false;
}

// Half of the locks, and a quarter of the variables, come one after the other instead of at random,
// so that all are used.
bool Workload::acquire(ThreadId id) {
  for (int i = 0; i < kTries; ++i) {
    LockId lock = random_.below(shape_.locks);
    if (random_.chance(0.5)) lock = lock_sweep_++ % shape_.locks;
    if (locked_[lock] != 0) continue;
    locked_[lock] = 1;
    threads_[id].locks.push_back(lock);
    ++owed_;
    emit(id, Op::kAcquire, lock);
    return true;
  }
  return false;
}

void Workload::release(ThreadId id) {
  const LockId lock = threads_[id].locks.back();
  threads_[id].locks.pop_back();
  locked_[lock] = 0;
  --owed_;
  emit(id, Op::kRelease, lock);
}

// Most picks are uniform. Some go through all variables in turn, so that every one is used, and
// some to a few hot ones, so that transactions meet even among a million variables.
VariableId Workload::pick_variable() {
  const std::uint32_t die = random_.below(16);
  if (die < 2) return random_.below(kHot);
  if (die < 4) return variable_sweep_++ % shape_.variables;
  return random_.below(shape_.variables);
}

// One access in four writes. In a serial trace not all that want to write may, so the others make
// up for them.
bool Workload::want_write() {
  if (options_.flavour == Flavour::kRacy) return random_.chance(0.25);
  return random_.chance(writes_ * 3 < reads_ ? 0.8 : 0.2);
}

bool Workload::access_any(ThreadId id, bool hold) {
  const bool racy = options_.flavour == Flavour::kRacy;
  bool write = want_write();
  for (int i = 0; i < 2 * kTries; ++i) {
    if (i == kTries) write = false;
    const VariableId variable = pick_variable();
    if (!racy && !(write ? may_write(id, variable) : may_read(id, variable))) continue;
    if (!racy && hold) take(id, variable, write);
    access(id, variable, write);
    return true;
  }
  return false;
}

void Workload::access_held(ThreadId id, std::size_t index) {
  const VariableId variable = threads_[id].variables[index];
  const bool gaining = threads_[id].phase == Phase::kGaining;
  const bool may = gaining ? may_write(id, variable) : writer_[variable] == id;
  const bool write = may && want_write();
  if (write) take(id, variable, true);
  access(id, variable, write);
}

void Workload::access(ThreadId id, VariableId variable, bool write) {
  ++(write ? writes_ : reads_);
  emit(id, write ? Op::kWrite : Op::kRead, variable);
}

void Workload::emit(ThreadId id, Op op, std::uint32_t object) {
  Thread& thread = threads_[id];
  thread.line = (thread.line + 1) % kLines;
  ++emitted_;
  const std::uint64_t location =
      options_.unique_locations ? emitted_ : 1 + thread.method * kLines + thread.line;
  out_->push_back({.thread = id,
                   .object = object,
                   .location = kNumericLocation | static_cast<LocationId>(location),
                   .op = op,
                   .spare = 0,
                   .count = 0});
}

bool Workload::may_read(ThreadId id, VariableId variable) const {
  return writer_[variable] == kNobody || writer_[variable] == id;
}

bool Workload::may_write(ThreadId id, VariableId variable) const {
  return (holders_[variable] & ~bit(id)) == 0;
}

void Workload::take(ThreadId id, VariableId variable, bool write) {
  if ((holders_[variable] & bit(id)) == 0) threads_[id].variables.push_back(variable);
  holders_[variable] |= bit(id);
  if (write) writer_[variable] = static_cast<std::uint8_t>(id);
}

void Workload::give_back(ThreadId id, std::size_t index) {
  std::vector<VariableId>& variables = threads_[id].variables;
  const VariableId variable = variables[index];
  variables[index] = variables.back();
  variables.pop_back();
  holders_[variable] &= ~bit(id);
  if (writer_[variable] == id) writer_[variable] = kNobody;
}

}  // namespace tomos::bench
