#include "monitor/kept_transactions.h"

#include <algorithm>
#include <array>

#include "monitor/interned.h"

namespace tomos {

namespace {

// Of the lower half of a word: two bits for the mode, two for the operation, the rest a number.
constexpr unsigned kModeBits = 2;
constexpr unsigned kOpBits = 2;
constexpr std::uint32_t kMask = 3;
constexpr std::array kOps = {Op::kRead, Op::kWrite, Op::kAcquire, Op::kRelease};

std::uint32_t code_of(Op op) {
  return static_cast<std::uint32_t>(std::ranges::find(kOps, op) - kOps.begin());
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
    const std::uint32_t low = (number << (kModeBits + kOpBits)) | (code_of(step.op) << kModeBits) |
                              static_cast<std::uint32_t>(mode);
    encoded_.push_back(pair(step.location, low));
  }
}

std::uint64_t KeptTransactions::hash(const Pattern& pattern, std::span<const Word> words) const {
  std::uint64_t h = mix(mix(1, pair(pattern.label, pattern.begin)), pattern.outer);
  for (const Word word : words) h = mix(h, word);
  return h;
}

// The pattern of what was encoded.
std::uint32_t KeptTransactions::intern_pattern(const Shape& shape) {
  const Pattern wanted{.label = shape.label,
                       .begin = shape.begin,
                       .outer = shape.outer,
                       .words = static_cast<std::uint32_t>(words_.size()),
                       .objects = static_cast<std::uint32_t>(encoded_objects_.size()),
                       .size = static_cast<std::uint32_t>(encoded_.size())};
  const auto find = [&](const Pattern& pattern, std::span<const Word> its) {
    const std::size_t mask = pattern_slots_.size() - 1;
    std::size_t i = hash(pattern, its) & mask;
    for (; pattern_slots_[i] != 0; i = (i + 1) & mask) {
      const Pattern& known = patterns_[pattern_slots_[i] - 1];
      if (known.label == pattern.label && known.begin == pattern.begin &&
          known.outer == pattern.outer && std::ranges::equal(words(known), its)) {
        break;
      }
    }
    return i;
  };
  if (pattern_slots_.size() < 2 * (patterns_.size() + 1)) {
    pattern_slots_.assign(2 * pattern_slots_.size(), 0);
    for (std::uint32_t id = 0; id < patterns_.size(); ++id) {
      pattern_slots_[find(patterns_[id], words(patterns_[id]))] = id + 1;
    }
  }
  std::uint32_t& slot = pattern_slots_[find(wanted, encoded_)];
  if (slot == 0) {
    patterns_.push_back(wanted);
    words_.insert(words_.end(), encoded_.begin(), encoded_.end());
    slot = static_cast<std::uint32_t>(patterns_.size());
  }
  return slot - 1;
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
    kept_.push_back({.pattern = pattern,
                     .objects = static_cast<std::uint32_t>(objects_.size()),
                     .run = period,
                     .more = 0});
    objects_.insert(objects_.end(), encoded_objects_.begin(), encoded_objects_.end());
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

std::span<const PeriodSet::Run> KeptTransactions::periods(std::size_t i) const {
  const Kept& kept = kept_[i];
  if (kept.more == 0) return {&kept.run, 1};
  return more_[kept.more - 1].runs();
}

std::vector<bool> KeptTransactions::are_locks(std::uint32_t pattern) const {
  std::vector<bool> are_locks(patterns_[pattern].objects);
  for (const Word word : words(patterns_[pattern])) {
    const auto low = static_cast<std::uint32_t>(word);
    const Op op = kOps.at((low >> kModeBits) & kMask);
    are_locks[low >> (kModeBits + kOpBits)] = op == Op::kAcquire || op == Op::kRelease;
  }
  return are_locks;
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
  shape_.steps.clear();
  std::vector<ModeLock> held = locksets.locks(pattern.outer);
  LocksetId locks = pattern.outer;
  for (const Word word : words(pattern)) {
    const auto low = static_cast<std::uint32_t>(word);
    const Op op = kOps.at((low >> kModeBits) & kMask);
    const std::uint32_t object = objects[low >> (kModeBits + kOpBits)];
    if (op == Op::kAcquire || op == Op::kRelease) {
      const auto mode = static_cast<Mode>(low & kMask);
      std::erase_if(held, [&](ModeLock lock) { return lock_of(lock) == object; });
      if (mode != Mode::kNot) held.push_back(mode_lock(object, mode == Mode::kReads));
      locks = locksets.intern(held);
    }
    shape_.steps.push_back({.object = object,
                            .location = static_cast<LocationId>(word >> 32U),
                            .held = locks,
                            .op = op});
  }
  return shape_;
}

}  // namespace tomos
