// Atomic blocks, and the violations that are made of them.
//
// A violation is three steps: the thread does something inside its block, another thread something
// that conflicts with it, and the thread, still inside, something that conflicts with that: then no
// serial order of the block and the other's step gives the same. Two kinds are looked for:
//   - of a lock: taken and given back, taken by another, taken again (the pattern of the AtomFuzzer
//     paper). For blocks that the program declares, and for critical sections as long as accesses
//     are not seen;
//   - of a variable: the four unserializable triples of read and write. Operations on atomics count
//     only in blocks that the program declares: loops that wait for them are everywhere.
// They are noticed whatever the strategy, since all that the threads do is seen in its order.
#include "schedule/task.h"

namespace tomos::schedule {

namespace {

struct LastAccess {
  std::uint32_t thread;
  Kind kind;
  std::uint64_t step;  // 0: none
  Address pc;
};

// By address, a newer variable drives an older one out.
struct Variable {
  Address address;
  LastAccess write;
  LastAccess read;
  // Until it is known that threads conflict over it: who has touched it, and where.
  bool conflicting;
  bool shared;
  bool written;
  std::uint32_t thread;
  Address places[kPlacesKept];
  Address locks[kHeld];  // that were held at all accesses
};
constexpr std::size_t kVariables = std::size_t{1} << 15;
constinit Variable variables[kVariables] = {};

constinit bool saw_accesses = false;

std::size_t hash(Address address) { return (address * 0x9e37'79b9'7f4a'7c15) >> 32; }

bool is_write(Kind kind) { return kind == Kind::kWrite || kind == Kind::kAtomicWrite; }
bool is_read(Kind kind) { return kind == Kind::kRead || kind == Kind::kAtomicRead; }
bool is_atomic(Kind kind) { return kind == Kind::kAtomicRead || kind == Kind::kAtomicWrite; }

bool is_inside(const Task& task) {
  return task.block.source != BlockSource::kNone && !task.block.waits;
}

// Different second steps, for the number of warnings.
constexpr std::size_t kWarned = 256;
constinit Address warned[kWarned] = {};

void warn(Address pc) {
  Address& place = warned[hash(pc) % kWarned];
  if (place == pc) return;
  place = pc;
  ++world.area->trial.warnings;
}

// The locks that are held now, too.
void intersect(Variable& variable, const Task& task) {
  for (Address& lock : variable.locks) {
    bool held = false;
    for (const Address one : task.held) held |= one == lock;
    if (!held) lock = 0;
  }
}

bool is_protected(const Variable& variable) {
  for (const Address lock : variable.locks) {
    if (lock != 0) return true;
  }
  return false;
}

// Whether all that was done to the variable before comes before this thread's life, or after the
// life of the one that did it.
bool is_handed_over(const Variable& variable, const Task& task) {
  if (variable.shared || variable.thread == task.number) return false;
  const std::uint64_t last =
      variable.write.step > variable.read.step ? variable.write.step : variable.read.step;
  return (task.created_by == variable.thread && last <= task.created_at) ||
         has_joined(task, variable.thread);
}

// While there is one thread only, nothing that it does matters.
void learn(Variable& variable, const Task& task, Kind kind, Address pc) {
  if (variable.conflicting) return place_is_shared(pc);
  if (is_handed_over(variable, task)) {
    variable.written = false;
    for (Address& place : variable.places) place = 0;
  }
  if (variable.places[0] == 0) {
    variable.thread = task.number;
    __builtin_memcpy(variable.locks, task.held, sizeof(task.held));
  } else {
    intersect(variable, task);
  }
  keep_place(variable.places, pc);
  variable.written |= is_write(kind);
  variable.shared |= task.number != variable.thread;
  if (!variable.shared || !variable.written) return;
  if (is_protected(variable) && !is_atomic(kind)) return;
  variable.conflicting = true;
  for (const Address place : variable.places) place_is_shared(place);
}

Place only(Address pc) {
  Place place = {};
  place.frames[0] = pc;
  return place;
}

void copy_name(char* to, std::size_t room, const char* from) {
  std::size_t at = 0;
  while (from != nullptr && from[at] != 0 && at + 1 < room) {
    to[at] = from[at];
    ++at;
  }
  to[at] = 0;
}

bool is_same(const Violation& one, const Violation& other) {
  return one.block.begin == other.block.begin && one.first.frames[0] == other.first.frames[0] &&
         one.other.frames[0] == other.other.frames[0] &&
         one.second.frames[0] == other.second.frames[0];
}

void report(const Violation& violation) {
  Trial& trial = world.area->trial;
  for (std::uint32_t i = 0; i < trial.violation_count; ++i) {
    if (is_same(trial.violations[i], violation)) return;
  }
  if (violation.doubtful != 0 && world.area->settings.undeclared == 0) {
    ++trial.doubtful;
    return;
  }
  if (trial.violation_count == kMaxViolations) return;
  trial.violations[trial.violation_count] = violation;
  ++trial.violation_count;
}

Violation violation_of(const Task& task, const Touched& first, Address object) {
  Violation violation = {};
  violation.thread = task.number;
  violation.object = object;
  violation.object_size = first.size;
  violation.first_kind = first.kind;
  violation.step = world.area->trial.steps;
  violation.block.begin = task.block.begin;
  copy_name(violation.block.name, sizeof(violation.block.name), task.block.name);
  violation.first = first.place;
  return violation;
}

// Where what was done to the object is kept, if it is. A block touches few things; but if two had
// to share a place, which depends on where the stack happens to be, nothing would be seen of
// either.
Touched* alike(Task& task, Address object) {
  return &task.block.touched[hash(object) % (kTouched / kTouchedAlike) * kTouchedAlike];
}

void remember(Task& task, Address object, std::uint32_t size, Kind kind, const Place& place) {
  Touched* const first = alike(task, object);
  Touched* to = first;
  for (Touched* one = first; one != first + kTouchedAlike; ++one) {
    if (one->object == object) {
      to = one;
      break;
    }
    if (one->step < to->step) to = one;
  }
  *to = {.object = object,
         .step = world.area->trial.steps,
         .pc = place.frames[0],
         .size = size,
         .kind = kind,
         .released = false,
         .place = place};
}

}  // namespace

bool conflicts(const Turn& one, const Turn& other) {
  if (one.object != other.object || one.object == nullptr) return false;
  return !(is_read(one.kind) && is_read(other.kind));
}

Touched* touched_in_block(Task& task, Address object) {
  if (!is_inside(task)) return nullptr;
  Touched* const first = alike(task, object);
  for (Touched* one = first; one != first + kTouchedAlike; ++one) {
    if (one->object == object) return one->step != 0 ? one : nullptr;
  }
  return nullptr;
}

bool is_second_touch(Task& task) {
  const Kind kind = task.next.kind;
  if (!is_switching_point(task.next.pc)) return false;
  const Touched* const first = touched_in_block(task, reinterpret_cast<Address>(task.next.object));
  if (first == nullptr) return false;
  if (kind == Kind::kLock || kind == Kind::kReadLock) return first->size == 0 && first->released;
  return first->size != 0 && (is_write(kind) || is_read(kind));
}

void lock_taken_in_block(Task& task, Address lock, const Object& object, Address pc) {
  if (task.sections++ == 0 && task.block.source == BlockSource::kNone) {
    task.block.source = BlockSource::kSection;
    task.block.waits = false;
    task.block.name = nullptr;
    task.block.begin = pc;
    task.block.number = ++world.blocks_made;
    for (Touched& touched : task.block.touched) touched.step = 0;
  }
  if (!is_inside(task)) return;
  const Touched* const first = touched_in_block(task, lock);
  if (first != nullptr && first->released) {
    warn(pc);
    const bool counts = task.block.source == BlockSource::kAnnotated ||
                        (task.block.source == BlockSource::kSection && !saw_accesses);
    const Acquisition& other = object.previous;
    if (counts && other.task != nullptr && other.task != &task && other.step > first->step) {
      Violation violation = violation_of(task, *first, lock);
      violation.other_thread = other.task->number;
      violation.other_kind = Kind::kLock;
      violation.second_kind = Kind::kLock;
      violation.other = other.place;
      violation.second = object.taken;
      violation.doubtful = task.block.source == BlockSource::kAnnotated ? 0 : 1;
      report(violation);
    }
  }
  remember(task, lock, 0, Kind::kLock, object.taken);
}

void lock_released_in_block(Task& task, Address lock) {
  if (Touched* const touched = touched_in_block(task, lock); touched != nullptr) {
    touched->released = true;
  }
  if (task.sections > 0) --task.sections;
  if (task.sections == 0 && task.block.source == BlockSource::kSection) {
    task.block.source = BlockSource::kNone;
    task.block.depth = 0;
  }
}

void accessed(Task& task, Kind kind, Address address, std::uint32_t size, Address pc) {
  saw_accesses = true;
  ++world.area->seen.accesses;
  Variable& variable = variables[hash(address) % kVariables];
  if (variable.address != address) {
    variable = {};
    variable.address = address;
  }
  if (world.task_count > 1) learn(variable, task, kind, pc);
  const std::uint64_t step = world.area->trial.steps;
  if (is_inside(task)) {
    if (const Touched* const first = touched_in_block(task, address); first != nullptr) {
      // Reads conflict with writes only; between two writes only a read makes a difference.
      const bool want_read = is_write(kind) && is_write(first->kind);
      const LastAccess& other = want_read ? variable.read : variable.write;
      const bool atomic = is_atomic(kind) || is_atomic(first->kind);
      if (other.step > first->step && other.thread != task.number &&
          (!atomic || task.block.source == BlockSource::kAnnotated)) {
        Violation violation = violation_of(task, *first, address);
        violation.other_thread = other.thread;
        violation.other_kind = other.kind;
        violation.second_kind = kind;
        violation.other = only(other.pc);
        violation.second = only(pc);
        violation.doubtful = task.block.source == BlockSource::kFunction ? 1 : 0;
        report(violation);
      }
    }
    remember(task, address, size, kind, only(pc));
  }
  LastAccess& last = is_write(kind) ? variable.write : variable.read;
  last = {.thread = task.number, .kind = kind, .step = step, .pc = pc};
}

bool is_touched_by_others(Address address) {
  const Variable& variable = variables[hash(address) % kVariables];
  if (variable.address != address) return false;
  const auto by_other = [](const LastAccess& last) {
    return last.step != 0 && last.thread != self->number;
  };
  return by_other(variable.write) || by_other(variable.read);
}

void memory_freed(const void* start, std::uint64_t size) {
  if (!saw_accesses || !controlled()) return;
  const auto first = reinterpret_cast<Address>(start);
  ++self->at_work;
  world.gate.lock();
  for (Variable& variable : variables) {
    if (size < 4096) break;
    if (variable.address - first < size) variable = {};
  }
  for (std::uint64_t at = 0; size < 4096 && at < size; ++at) {
    Variable& variable = variables[hash(first + at) % kVariables];
    if (variable.address == first + at) variable = {};
  }
  for (std::size_t i = 0; i < world.task_count; ++i) {
    if (!is_inside(*world.tasks[i])) continue;
    for (Touched& touched : world.tasks[i]->block.touched) {
      if (touched.object - first < size) touched.step = 0;
    }
  }
  world.gate.unlock();
  --self->at_work;
}

// --- Where blocks begin and end. Only the outermost counts; but one that the program declares is
// what it says it is, whatever surrounds it.

void block_begins(BlockSource source, const char* name, Address pc) {
  if (self == nullptr) return;
  BlockState& block = self->block;
  if (block.source == BlockSource::kAnnotated ||
      (block.source != BlockSource::kNone && source != BlockSource::kAnnotated)) {
    ++block.depth;
    return;
  }
  block.around = block.source;
  block.around_name = block.name;
  block.around_begin = block.begin;
  block.around_depth = block.depth;
  block.source = source;
  block.waits = false;
  block.depth = 0;
  block.name = name;
  block.begin = pc;
  block.number = ++world.blocks_made;
  for (Touched& touched : block.touched) touched.step = 0;
}

void block_ends() {
  if (self == nullptr) return;
  BlockState& block = self->block;
  if (block.depth > 0) {
    --block.depth;
    return;
  }
  if (block.source == BlockSource::kNone || block.source == BlockSource::kSection) return;
  block.source = block.around;
  block.name = block.around_name;
  block.begin = block.around_begin;
  block.depth = block.around_depth;
  block.number = ++world.blocks_made;
  block.around = BlockSource::kNone;
  for (Touched& touched : block.touched) touched.step = 0;
}

}  // namespace tomos::schedule
