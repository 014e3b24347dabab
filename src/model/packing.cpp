#include "model/packing.h"

#include <algorithm>
#include <bit>

#include "model/graph.h"

namespace tomos::model {

namespace {

bool has_bit_instructions() {
#ifdef __x86_64__
  return __builtin_cpu_supports("bmi2") != 0;
#else
  return false;
#endif
}

// The bits of `word` that are in `mask`, put together.
template <bool kInstructions>
std::uint64_t gathered(std::uint64_t word, std::uint64_t mask) {
  std::uint64_t result = 0;
#ifdef __x86_64__
  if constexpr (kInstructions) {
    asm("pext %2, %1, %0" : "=r"(result) : "r"(word), "r"(mask));
    return result;
  }
#endif
  word &= mask;
  for (int shift = 0; mask != 0; word >>= 16U, mask >>= 16U) {
    result |= (word & 0xffffU) << shift;
    shift += std::popcount(mask & 0xffffU);
  }
  return result;
}

// The other way round. Of each lane the mask has the lowest bits.
template <bool kInstructions>
std::uint64_t scattered(std::uint64_t bits, std::uint64_t mask) {
  std::uint64_t result = 0;
#ifdef __x86_64__
  if constexpr (kInstructions) {
    asm("pdep %2, %1, %0" : "=r"(result) : "r"(bits), "r"(mask));
    return result;
  }
#endif
  for (unsigned lane = 0; lane < 64; lane += 16) {
    const std::uint64_t own = (mask >> lane) & 0xffffU;
    result |= (bits & own) << lane;
    bits >>= static_cast<unsigned>(std::popcount(own));
  }
  return result;
}

}  // namespace

Packing::Packing(const Program& program, std::size_t tracked)
    : has_instructions_(has_bit_instructions()) {
  const std::size_t threads = program.threads.size();
  std::vector<Value> masks;
  const auto add_value = [&](std::size_t most) {
    masks.push_back(static_cast<Value>((std::uint64_t{1} << std::bit_width(most)) - 1));
  };
  const auto add_type = [&](const Type& type) {
    add_value(static_cast<std::size_t>(type.high - type.low));
  };
  for (const Variable& variable : program.variables) add_type(variable.type);
  for (std::size_t i = 0; i < program.locks.size(); ++i) add_value(threads);
  for (const ThreadInfo& thread : program.threads) {
    const Code& code = program.codes[thread.code];
    add_value(code.locations.size() - 1);
    for (const Type& type : code.locals) add_type(type);
  }
  const std::size_t all = (std::size_t{1} << threads) - 1;
  for (std::size_t i = 0; i < 1 + 2 * threads; ++i) add_value(tracked > 0 ? all : 0);

  const std::size_t first_label = masks.size();
  masks.resize(first_label + kLanes);  // the last group may reach behind the last value
  for (std::size_t at = 0; at < first_label; at += kLanes) add(values_, at, lanes(&masks[at]));
  for (std::size_t i = 0; i < tracked; ++i) {
    add(labels_, first_label + i * Graph::kSets, all * (kLaneOnes >> 16U));
  }
  words_ = std::max<std::size_t>(1, (bits_ + 63) / 64);
  size_ = first_label + std::max(kLanes, Graph::kSets * tracked);
}

void Packing::add(std::vector<Group>& groups, std::size_t at, std::uint64_t mask) {
  if (mask == 0) return;
  const auto count = static_cast<std::size_t>(std::popcount(mask));
  groups.push_back({.mask = mask,
                    .at = static_cast<std::uint16_t>(at),
                    .word = static_cast<std::uint16_t>(bits_ / 64),
                    .shift = static_cast<std::uint8_t>(bits_ % 64),
                    .count = static_cast<std::uint8_t>(count),
                    .spills = bits_ % 64 + count > 64});
  bits_ += count;
}

// Of the four sets of labels that a node may be in, a normalised graph knows six combinations:
// none, each alone, and CRead with SWrite. They fit in three bits.
template <bool kInstructions>
void Packing::pack_with(const Value* values, std::uint64_t* words) const {
  std::uint64_t full = 0;
  unsigned used = 0;
  const auto put = [&](const Group& group, std::uint64_t word) {
    const std::uint64_t bits = gathered<kInstructions>(word, group.mask);
    full |= bits << used;
    used += group.count;
    if (used < 64) return;
    *words++ = full;
    used -= 64;
    full = used == 0 ? 0 : bits >> (group.count - used);
  };
  for (const Group& group : values_) put(group, lanes(values + group.at));
  for (const Group& group : labels_) {
    const Value* const label = values + group.at;
    const Value c_write = label[Graph::kCWrite];
    const Value s_write = label[Graph::kSWrite];
    const Value c_read = label[Graph::kCRead];
    const std::uint64_t c = c_read | c_write;
    const std::uint64_t write = s_write | c_write;
    const std::uint64_t read = label[Graph::kSRead] | (c_read & s_write);
    put(group, c | write << 16U | read << 32U);
  }
  if (used > 0 || bits_ == 0) *words = full;
}

template <bool kInstructions>
void Packing::unpack_with(const std::uint64_t* words, Value* values) const {
  const auto get = [&](const Group& group) {
    std::uint64_t bits = words[group.word] >> group.shift;
    if (group.spills) bits |= words[group.word + 1] << (64U - group.shift);
    return scattered<kInstructions>(bits, group.mask);
  };
  // The last of them may reach into the labels, which follow.
  for (const Group& group : values_) set_lanes(values + group.at, get(group));
  for (const Group& group : labels_) {
    const std::uint64_t sets = get(group);
    const auto c = static_cast<Value>(sets);
    const auto write = static_cast<Value>(sets >> 16U);
    const auto read = static_cast<Value>(sets >> 32U);
    Value* const label = values + group.at;
    label[Graph::kSRead] = static_cast<Value>(read & ~c & ~write);
    label[Graph::kSWrite] = static_cast<Value>(write & (~c | read));
    label[Graph::kCRead] = static_cast<Value>(c & (~write | read));
    label[Graph::kCWrite] = static_cast<Value>(c & write & ~read);
  }
}

void Packing::pack(std::span<const Value> values, std::span<std::uint64_t> words) const {
  has_instructions_ ? pack_with<true>(values.data(), words.data())
                    : pack_with<false>(values.data(), words.data());
}

void Packing::unpack(std::span<const std::uint64_t> words, std::span<Value> values) const {
  has_instructions_ ? unpack_with<true>(words.data(), values.data())
                    : unpack_with<false>(words.data(), values.data());
}

}  // namespace tomos::model
