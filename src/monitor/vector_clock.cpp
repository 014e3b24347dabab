#include "monitor/vector_clock.h"

#include <algorithm>
#include <bit>

namespace tomos {

namespace {

// A Witness whose slot is nobody's and whose position is this stands for several; see spills_.
constexpr Frontier::Position kSeveral = Frontier::kNever;

bool is_several(const Witness& witness) {
  return witness.slot == Frontier::kNobody && witness.position == kSeveral;
}

}  // namespace

void VectorClock::on_events(std::span<const Event> events) {
  // Variables are met in no order: ask for their memory well before it is needed.
  constexpr std::size_t kAhead = 12;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + kAhead < events.size()) {
      const Event& later = events[i + kAhead];
      if (is_access(later.op) && later.object < variables_.size()) {
        __builtin_prefetch(&variables_[later.object], 1);
      }
    }
    const Event& event = events[i];
    violated_ = false;
    switch (event.op) {
      case Op::kRead:
      case Op::kWrite:
        access(event);
        break;
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kReadAcquire:
      case Op::kReadRelease:
        synchronise(event);
        break;
      case Op::kBegin:
        begin(event);
        break;
      case Op::kEnd:
        end(event);
        break;
      case Op::kFork:
        fork(event);
        break;
      case Op::kJoin:
        join(event);
        break;
      case Op::kBarrier:
      case Op::kSignal:
      case Op::kWait: {
        const Slot slot = slot_of(event.thread);
        cut(slot);
        resume(slot);
        break;
      }
      case Op::kFree: {
        History& freed = history(variables_, event.object);
        clear(freed.write);
        clear(freed.read);
        break;
      }
      case Op::kExit:
        exit(event.thread);
        break;
      case Op::kNew:
      case Op::kEscape:
        break;
    }
    if (violated_) {
      ++violating_events_;
      if (options_.violating_events != nullptr) options_.violating_events->push_back(index_);
    }
    ++index_;
  }
  if (locksets_.wants_collection() || frontier_.wants_sweep() || exited_.size() > exited_limit_) {
    collect();
  }
}

VectorClock::Slot VectorClock::enter(ThreadId thread) {
  if (thread >= slot_of_.size()) slot_of_.resize(thread + 1, Frontier::kNobody);
  const Slot slot = frontier_.open_slot();
  slot_of_[thread] = slot;
  if (slot >= threads_.size()) threads_.resize(slot + 1);
  threads_[slot] = {.id = thread};
  return slot;
}

VectorClock::Slot VectorClock::move(Slot slot) {
  const Slot next = frontier_.move(slot);
  if (next >= threads_.size()) threads_.resize(next + 1);
  threads_[next] = std::move(threads_[slot]);
  slot_of_[threads_[next].id] = next;
  return next;
}

void VectorClock::retire(ThreadId thread) {
  const Slot slot = slot_of(thread);
  cut(slot);
  threads_[slot] = {};
  frontier_.close_slot(slot);
  slot_of_[thread] = Frontier::kNobody;
}

VectorClock::History& VectorClock::history(std::vector<History>& histories, std::uint32_t object) {
  if (object >= histories.size()) {
    histories.resize(std::max<std::size_t>(object + 1, 2 * histories.size()));
  }
  return histories[object];
}

Witness VectorClock::outside(const Event& event, Slot slot) const {
  Witness result;
  result.index = index_;
  result.slot = slot;
  result.position = frontier_.tip(slot);
  result.thread = threads_[slot].id;
  result.location = event.location;
  result.begin = event.location;
  return result;
}

Witness VectorClock::inside(const Event& event, Slot slot) {
  const Thread& thread = threads_[slot];
  Witness result = outside(event, slot);
  result.locks = thread.locks.id(locksets_);
  if (thread.transaction.inside()) {
    result.in_transaction = 1;
    result.label = thread.transaction.label;
    result.begin = thread.transaction.start;
  }
  return result;
}

void VectorClock::access(const Event& event) {
  Slot slot = slot_of(event.thread);
  History& variable = history(variables_, event.object);
  slot = meet(variable.write, event, Op::kWrite, slot);
  if (event.op == Op::kWrite) {
    slot = meet(variable.read, event, Op::kRead, slot);
    replace(variable, event, slot);
  } else {
    add(variable.read, event, slot);
  }
}

void VectorClock::synchronise(const Event& event) {
  Slot slot = slot_of(event.thread);
  HeldLocks& held = threads_[slot].locks;
  const bool takes = event.op == Op::kAcquire || event.op == Op::kReadAcquire;
  const bool outermost = takes ? held.acquire(event.object) : held.release(event.object);
  if (options_.edges == Edges::kData || !outermost) return;
  History& lock = history(locks_, event.object);
  if (takes) {
    slot = meet(lock.write, event, Op::kRelease, slot);
    if (event.op == Op::kAcquire) {
      slot = meet(lock.read, event, Op::kReadRelease, slot);
      keep_contradicting(lock.write, slot);
      keep_contradicting(lock.read, slot);
    }
  } else {
    add(event.op == Op::kRelease ? lock.write : lock.read, event, slot);
  }
}

void VectorClock::begin(const Event& event) {
  const Slot slot = slot_of(event.thread);
  if (threads_[slot].transaction.begin(event)) resume(slot);
}

void VectorClock::end(const Event& event) {
  const Slot slot = slot_of(event.thread);
  if (threads_[slot].transaction.end()) frontier_.end(slot);
}

void VectorClock::cut(Slot slot) {
  if (threads_[slot].transaction.inside()) frontier_.end(slot);
}

void VectorClock::resume(Slot slot) {
  if (!threads_[slot].transaction.inside()) return;
  if (frontier_.full(slot)) slot = move(slot);
  frontier_.begin(slot);
}

void VectorClock::fork(const Event& event) {
  const Slot slot = slot_of(event.thread);
  cut(slot);
  if (options_.edges == Edges::kSync) {
    const Slot child = slot_of(event.object);
    const Witness from = outside(event, slot);
    Witness to = from;
    to.slot = child;
    to.thread = event.object;
    frontier_.order(
        {.from = from, .to = to, .object = event.object, .from_op = Op::kFork, .to_op = Op::kFork},
        child);
  }
  resume(slot);
}

void VectorClock::join(const Event& event) {
  const Slot slot = slot_of(event.thread);
  const ThreadId child = event.object;
  cut(slot);
  Witness last;
  if (child < slot_of_.size() && slot_of_[child] != Frontier::kNobody) {
    last = outside(event, slot_of_[child]);
    retire(child);
  } else if (const auto exited = exited_.find(child); exited != exited_.end()) {
    last = exited->second;
    last.index = index_;
    last.location = last.begin = event.location;
    exited_.erase(exited);
  }
  if (options_.edges == Edges::kSync && frontier_.live(last)) {
    frontier_.order({.from = last,
                     .to = outside(event, slot),
                     .object = child,
                     .from_op = Op::kExit,
                     .to_op = Op::kJoin},
                    slot);
  }
  resume(slot);
}

void VectorClock::exit(ThreadId thread) {
  const Slot slot = slot_of(thread);
  if (options_.edges == Edges::kSync) {
    cut(slot);
    threads_[slot].transaction = {};
    const Witness last = outside(Event{}, slot);
    if (frontier_.live(last)) exited_.insert_or_assign(thread, last);
  }
  retire(thread);
}

VectorClock::Slot VectorClock::meet(const Witness& sources, const Event& event, Op from_op,
                                    Slot slot) {
  if (sources.slot == slot || !frontier_.live(sources)) return slot;
  if (!is_several(sources)) return meet_one(sources, event, from_op, slot);
  for (const Witness& source : all(sources)) {
    if (source.slot != slot && frontier_.live(source)) {
      slot = meet_one(source, event, from_op, slot);
    }
  }
  return slot;
}

VectorClock::Slot VectorClock::meet_one(const Witness& source, const Event& event, Op from_op,
                                        Slot slot) {
  if (frontier_.reaches(slot, source)) report(source, event, from_op, slot);
  if (!frontier_.learns(slot, source)) return slot;
  if (!threads_[slot].transaction.inside() && frontier_.full(slot)) slot = move(slot);
  frontier_.order({.from = source,
                   .to = inside(event, slot),
                   .object = event.object,
                   .from_op = from_op,
                   .to_op = event.op},
                  slot);
  return slot;
}

void VectorClock::report(const Witness& source, const Event& event, Op from_op, Slot slot) {
  violated_ = true;
  cycle_.clear();
  frontier_.path(slot, source, cycle_);
  cycle_.push_back({.from = Frontier::event_of(source, from_op, event.object),
                    .to = Frontier::event_of(inside(event, slot), event.op, event.object)});
  violations_.add(cycle_, locksets_);
}

void VectorClock::keep_contradicting(Witness& witnesses, Slot slot) {
  if (!is_several(witnesses)) {
    if (!contradicts(witnesses, slot)) witnesses = {};
    return;
  }
  kept_.clear();
  for (const Witness& one : all(witnesses)) {
    if (contradicts(one, slot)) kept_.push_back(one);
  }
  assign(witnesses, kept_);
}

void VectorClock::replace(History& history, const Event& event, Slot slot) {
  keep_contradicting(history.read, slot);
  keep_contradicting(history.write, slot);
  add(history.write, event, slot);
}

void VectorClock::add(Witness& witnesses, const Event& event, Slot slot) {
  const Witness now = inside(event, slot);
  if (witnesses.slot == slot || !frontier_.live(witnesses)) {
    witnesses = now;
    return;
  }
  if (!is_several(witnesses)) {
    kept_ = {witnesses, now};
    assign(witnesses, kept_);
    return;
  }
  std::vector<Witness>& several = spills_[witnesses.thread];
  for (Witness& one : several) {
    if (one.slot == slot) {
      one = now;
      return;
    }
  }
  if (std::has_single_bit(several.size())) prune(several);
  several.push_back(now);
}

// Of the threads that have come and gone, only a few events are worth remembering: all others come
// after the same open transactions as one of those.
void VectorClock::prune(std::vector<Witness>& several) const {
  std::erase_if(several, [&](const Witness& one) { return !frontier_.live(one); });
  for (std::size_t i = 0; i < several.size();) {
    const Witness& one = several[i];
    const bool is_needless = std::ranges::any_of(several, [&](const Witness& other) {
      // What comes after the other's own transaction is what that one still has to be told.
      return &other != &one && frontier_.covers(other, one) &&
             !(slot_of_[other.thread] == other.slot && frontier_.reaches(other.slot, one));
    });
    if (is_needless) {
      several[i] = several.back();
      several.pop_back();
    } else {
      ++i;
    }
  }
}

std::span<const Witness> VectorClock::all(const Witness& witnesses) const {
  if (is_several(witnesses)) return spills_[witnesses.thread];
  return {&witnesses, 1};
}

void VectorClock::assign(Witness& witnesses, const std::vector<Witness>& several) {
  if (several.size() < 2) {
    clear(witnesses);
    if (!several.empty()) witnesses = several[0];
    return;
  }
  if (!is_several(witnesses)) {
    witnesses = {};
    witnesses.position = kSeveral;
    if (free_spills_.empty()) {
      witnesses.thread = static_cast<std::uint32_t>(spills_.size());
      spills_.emplace_back();
    } else {
      witnesses.thread = free_spills_.back();
      free_spills_.pop_back();
    }
  }
  spills_[witnesses.thread] = several;
}

void VectorClock::clear(Witness& witnesses) {
  if (is_several(witnesses)) {
    spills_[witnesses.thread].clear();
    free_spills_.push_back(witnesses.thread);
  }
  witnesses = {};
}

// Forgets the lock sets and the slots of ended threads that no remembered event needs.
void VectorClock::collect() {
  std::vector<bool> used_sets(locksets_.ids());
  std::vector<bool> used_slots(frontier_.slots());
  const auto mark_set = [&](LocksetId id) {
    if (id < used_sets.size()) used_sets[id] = true;
  };
  const auto mark = [&](const Witness& witness) {
    if (is_several(witness) || !frontier_.live(witness)) return;
    mark_set(witness.locks);
    used_slots[witness.slot] = true;
  };
  for (const std::vector<History>* histories : {&variables_, &locks_}) {
    for (const History& history : *histories) {
      mark(history.write);
      mark(history.read);
    }
  }
  for (const std::vector<Witness>& spill : spills_) {
    for (const Witness& witness : spill) mark(witness);
  }
  std::erase_if(exited_, [&](const auto& exited) { return !frontier_.live(exited.second); });
  exited_limit_ = 2 * exited_.size() + 64;
  for (const auto& [thread, witness] : exited_) mark(witness);
  for (const Thread& thread : threads_) mark_set(thread.locks.id(locksets_));
  frontier_.each_witness([&](const Witness& witness) { mark_set(witness.locks); });
  locksets_.collect(used_sets);
  if (frontier_.wants_sweep()) frontier_.sweep(used_slots);
}

}  // namespace tomos
