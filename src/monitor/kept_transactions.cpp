#include "monitor/kept_transactions.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tomos {

namespace {

void append(std::uint32_t number, std::vector<std::uint8_t>& row) {
  for (; number >= 128; number >>= 7U) row.push_back(static_cast<std::uint8_t>(number | 128U));
  row.push_back(static_cast<std::uint8_t>(number));
}

std::uint32_t next_number(const std::uint8_t*& at) {
  std::uint32_t number = *at & 127U;
  for (unsigned shift = 7; *at++ >= 128; shift += 7) {
    number |= (*at & 127U) << shift;
  }
  return number;
}

std::uint64_t hash_of(std::uint64_t h, std::span<const std::uint8_t> row) {
  for (std::size_t i = 0; i < row.size(); i += sizeof(h)) {
    std::uint64_t word = 0;
    std::memcpy(&word, row.data() + i, std::min(sizeof(word), row.size() - i));
    h = mix(h, word);
  }
  return h;
}

// Puts `items` behind the others, of which there are `count`, in one block; which, and where there.
// A block is never copied.
template <class Item>
std::pair<std::uint32_t, std::uint32_t> keep(const std::vector<Item>& items, std::size_t count,
                                             std::vector<std::vector<Item>>& blocks) {
  constexpr std::size_t kBlock = (std::size_t{1} << 20U) / sizeof(Item);
  if (blocks.empty() || blocks.back().capacity() - blocks.back().size() < items.size()) {
    // The first ones are small: most runs need no more.
    const std::size_t size = std::clamp<std::size_t>(count, 1024 / sizeof(Item), kBlock);
    blocks.emplace_back().reserve(std::max(size, items.size()));
  }
  std::vector<Item>& block = blocks.back();
  const auto first = static_cast<std::uint32_t>(block.size());
  block.insert(block.end(), items.begin(), items.end());
  return {static_cast<std::uint32_t>(blocks.size() - 1), first};
}

std::uint64_t hash_of(std::uint32_t pattern, std::span<const std::uint32_t> objects) {
  std::uint64_t h = mix(1, pattern);
  for (const std::uint32_t object : objects) h = mix(h, object);
  return h;
}

}  // namespace

std::uint32_t KeptTransactions::Numbering::number(std::uint32_t object, std::uint32_t next) {
  if (object >= entries_.size()) entries_.resize(object + std::size_t{1});
  Entry& entry = entries_[object];
  if (entry.when != now_) entry = {.when = now_, .number = next};
  return entry.number;
}

void KeptTransactions::encode(const Shape& shape, const Locksets& locksets) {
  variables_.start();
  locks_.start();
  encoded_.clear();
  encoded_objects_.clear();
  for (const Step& step : shape.steps) {
    const auto next = static_cast<std::uint32_t>(encoded_objects_.size());
    Numbering& numbering = step.is_access() ? variables_ : locks_;
    const std::uint32_t number = numbering.number(step.object, next);
    if (number == next) encoded_objects_.push_back(step.object);
    auto mode = Mode::kNot;
    if (!step.is_access()) {
      for (const ModeLock held : locksets.locks(step.held)) {
        if (lock_of(held) == step.object) mode = only_reads(held) ? Mode::kReads : Mode::kWrites;
      }
    }
    append(kinds_.intern({.location = step.location, .op = step.op, .mode = mode}), encoded_);
    append(number, encoded_);
  }
}

// Calls `visit(kind, number)` for each step.
template <class Visit>
void KeptTransactions::for_each_step(Row row, Visit visit) const {
  for (const std::uint8_t* at = row.data(); at != row.data() + row.size();) {
    const Kind& kind = kinds_[next_number(at)];
    visit(kind, next_number(at));
  }
}

// The pattern of what was encoded.
std::uint32_t KeptTransactions::intern_pattern(const Shape& shape) {
  Pattern wanted{.label = shape.label,
                 .begin = shape.begin,
                 .outer = shape.outer,
                 .objects = static_cast<std::uint32_t>(encoded_objects_.size()),
                 .block = 0,
                 .first = 0,
                 .size = static_cast<std::uint32_t>(encoded_.size())};
  const auto find = [&](const Pattern& pattern, Row its) {
    const std::size_t mask = pattern_slots_.size() - 1;
    const std::uint64_t seed = mix(mix(1, pair(pattern.label, pattern.begin)), pattern.outer);
    std::size_t i = hash_of(seed, its) & mask;
    for (; pattern_slots_[i] != 0; i = (i + 1) & mask) {
      const Pattern& known = patterns_[pattern_slots_[i] - 1];
      if (known.label == pattern.label && known.begin == pattern.begin &&
          known.outer == pattern.outer && std::ranges::equal(row(known), its)) {
        break;
      }
    }
    return i;
  };
  if (pattern_slots_.size() < 2 * (patterns_.size() + 1)) {
    pattern_slots_.assign(2 * pattern_slots_.size(), 0);
    for (std::uint32_t id = 0; id < patterns_.size(); ++id) {
      pattern_slots_[find(patterns_[id], row(patterns_[id]))] = id + 1;
    }
  }
  std::uint32_t& slot = pattern_slots_[find(wanted, encoded_)];
  if (slot == 0) {
    keep_row(wanted);
    patterns_.push_back(wanted);
    slot = static_cast<std::uint32_t>(patterns_.size());
  }
  return slot - 1;
}

// Keeps what was encoded as the pattern's.
void KeptTransactions::keep_row(Pattern& pattern) {
  const auto [block, first] = keep(encoded_, bytes_, rows_);
  pattern.block = block;
  pattern.first = first;
  bytes_ += encoded_.size();
}

// Keeps the objects of what was encoded as the transaction's.
void KeptTransactions::keep_objects(Kept& kept) {
  const auto [block, first] = keep(encoded_objects_, count_, objects_);
  kept.block = block;
  kept.objects = first;
  count_ += encoded_objects_.size();
}

void KeptTransactions::forget_before(std::size_t i) {
  slots_ = {};
  pattern_slots_ = {};
  for (; forgotten_ < kept_[i].block; ++forgotten_) objects_[forgotten_] = {};
}

std::size_t KeptTransactions::find(std::uint32_t pattern,
                                   std::span<const std::uint32_t> objects) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(pattern, objects) & mask;
  for (; slots_[i] != 0; i = (i + 1) & mask) {
    const Kept& known = kept_[slots_[i] - 1];
    if (known.pattern == pattern && std::ranges::equal(this->objects(known), objects)) break;
  }
  return i;
}

bool KeptTransactions::add(const Shape& shape, const PeriodSet::Run& period,
                           const Locksets& locksets) {
  encode(shape, locksets);
  const std::uint32_t pattern = intern_pattern(shape);
  if (slots_.size() < 2 * (kept_.size() + 1)) {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t i = 0; i < kept_.size(); ++i) {
      slots_[find(kept_[i].pattern, objects(kept_[i]))] = i + 1;
    }
  }
  std::uint32_t& slot = slots_[find(pattern, encoded_objects_)];
  if (slot == 0) {
    kept_.push_back({.pattern = pattern, .block = 0, .objects = 0, .run = period, .more = 0});
    keep_objects(kept_.back());
    slot = static_cast<std::uint32_t>(kept_.size());
    return true;
  }
  Kept& known = kept_[slot - 1];
  if (known.more == 0) {
    if (period.thread == known.run.thread && period.first >= known.run.first &&
        period.first <= known.run.last + 1) {
      known.run.last = std::max(known.run.last, period.last);
      return false;
    }
    more_.emplace_back().add(known.run);
    known.more = static_cast<std::uint32_t>(more_.size());
  }
  more_[known.more - 1].add(period);
  return false;
}

void KeptTransactions::add_all(const Shape& shape, const Locksets& locksets) {
  for (const PeriodSet::Run& run : shape.periods.runs()) add(shape, run, locksets);
}

std::span<const PeriodSet::Run> KeptTransactions::periods(std::size_t i) const {
  const Kept& kept = kept_[i];
  if (kept.more == 0) return {&kept.run, 1};
  return more_[kept.more - 1].runs();
}

std::vector<bool> KeptTransactions::are_locks(std::uint32_t pattern) const {
  std::vector<bool> are_locks(patterns_[pattern].objects);
  for_each_step(row(patterns_[pattern]), [&](const Kind& kind, std::uint32_t number) {
    are_locks[number] = kind.op == Op::kAcquire || kind.op == Op::kRelease;
  });
  return are_locks;
}

// The locks held after one of them has changed.
LocksetId KeptTransactions::held_then(LocksetId before, LockId lock, Mode mode,
                                      Locksets& locksets) const {
  const std::uint64_t h = mix(pair(before, lock), static_cast<std::uint64_t>(mode));
  Change& change = changes_[h & (changes_.size() - 1)];
  if (!change.known || change.before != before || change.lock != lock || change.mode != mode) {
    std::vector<ModeLock> held = locksets.locks(before);
    std::erase_if(held, [&](ModeLock other) { return lock_of(other) == lock; });
    if (mode != Mode::kNot) held.push_back(mode_lock(lock, mode == Mode::kReads));
    change = {.before = before,
              .lock = lock,
              .after = locksets.intern(std::move(held)),
              .mode = mode,
              .known = true};
  }
  return change.after;
}

const Shape& KeptTransactions::shape(std::size_t i, Locksets& locksets) const {
  const Kept& kept = kept_[i];
  const Pattern& pattern = patterns_[kept.pattern];
  const std::span<const std::uint32_t> objects = this->objects(kept);
  shape_.label = pattern.label;
  shape_.begin = pattern.begin;
  shape_.outer = pattern.outer;
  shape_.periods = {};
  for (const PeriodSet::Run& run : periods(i)) shape_.periods.add(run);
  // Of each set with several locks there are a few.
  constexpr std::size_t kMostChanges = std::size_t{1} << 16U;
  const std::size_t enough = std::bit_ceil(std::min(kMostChanges, 4 * locksets.ids()));
  if (changes_.size() < enough) changes_.assign(enough, {});
  const Row row = this->row(pattern);
  shape_.steps.resize(row.size() / 2);  // so many at most
  Step* next = shape_.steps.data();
  LocksetId locks = pattern.outer;
  nested_.clear();
  for_each_step(row, [&](const Kind& kind, std::uint32_t number) {
    const std::uint32_t object = objects[number];
    if (kind.op == Op::kAcquire) {
      const LocksetId before = std::exchange(locks, held_then(locks, object, kind.mode, locksets));
      nested_.push_back({.lock = object, .before = before, .inside = locks});
    } else if (kind.op == Op::kRelease) {
      const bool leaves = kind.mode == Mode::kNot && !nested_.empty() &&
                          nested_.back().lock == object && nested_.back().inside == locks;
      locks = leaves ? nested_.back().before : held_then(locks, object, kind.mode, locksets);
      if (leaves) nested_.pop_back();
    }
    *next++ = {.object = object, .location = kind.location, .held = locks, .op = kind.op};
  });
  shape_.steps.resize(static_cast<std::size_t>(next - shape_.steps.data()));
  return shape_;
}

}  // namespace tomos
