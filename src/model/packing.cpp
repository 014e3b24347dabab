#include "model/packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "model/graph.h"

namespace tomos::model {

// The widest first, each into the first word that has room: so hardly a bit is left over, and no
// value is in two words.
Packing::Packing(const Program& program, std::size_t tracked) : tracked_(tracked) {
  struct Wanted {
    std::uint16_t at = 0;
    unsigned bits = 0;
    bool label = false;
  };
  const std::size_t threads = program.threads.size();
  std::vector<Wanted> wanted;
  std::uint16_t at = 0;
  const auto add = [&](std::size_t most) {
    wanted.push_back({.at = at++, .bits = static_cast<unsigned>(std::bit_width(most))});
  };
  const auto add_type = [&](const Type& type) {
    add(static_cast<std::size_t>(type.high - type.low));
  };
  for (const Variable& variable : program.variables) add_type(variable.type);
  for (std::size_t i = 0; i < program.locks.size(); ++i) add(threads);
  for (const ThreadInfo& thread : program.threads) {
    const Code& code = program.codes[thread.code];
    add(code.locations.size() - 1);
    for (const Type& type : code.locals) add_type(type);
  }
  if (tracked > 0) {
    const std::size_t all = (std::size_t{1} << threads) - 1;
    for (std::size_t i = 0; i < 1 + 2 * threads; ++i) add(all);
  }
  first_label_ = at;
  for (std::size_t i = 0; i < 3 * tracked; ++i) {
    wanted.push_back({.at = static_cast<std::uint16_t>(i),
                      .bits = static_cast<unsigned>(threads),
                      .label = true});
  }
  std::ranges::sort(wanted, [](const Wanted& a, const Wanted& b) {
    return std::tie(b.bits, a.label, a.at) < std::tie(a.bits, b.label, b.at);
  });
  for (const Wanted& one : wanted) {
    if (one.bits == 0) break;
    auto word =
        std::ranges::find_if(words_, [&](const Word& w) { return w.used + one.bits <= 64; });
    if (word == words_.end()) word = words_.insert(words_.end(), Word{});
    (one.label ? word->labels : word->values)
        .push_back({.at = one.at,
                    .shift = static_cast<std::uint16_t>(word->used),
                    .mask = static_cast<Value>((1U << one.bits) - 1)});
    word->used += one.bits;
  }
  if (words_.empty()) words_.emplace_back();
}

// Of the four sets of labels that a node may be in, a normalised graph knows six combinations:
// none, each alone, and CRead with SWrite. They fit in three bits.
void Packing::pack(std::span<const Value> values, std::span<std::uint64_t> words) const {
  std::array<Value, 3 * kMostTracked> sets;  // NOLINT(*-member-init): as many as there are
  const Value* label = values.data() + first_label_;
  for (std::size_t i = 0; i < tracked_; ++i, label += Graph::kSets) {
    const Value c_write = label[Graph::kCWrite];
    const Value s_write = label[Graph::kSWrite];
    const Value c_read = label[Graph::kCRead];
    sets[3 * i] = c_read | c_write;
    sets[3 * i + 1] = s_write | c_write;
    sets[3 * i + 2] = static_cast<Value>(label[Graph::kSRead] | (c_read & s_write));
  }
  for (std::size_t i = 0; i < words_.size(); ++i) {
    std::uint64_t word = 0;
    for (const Field& field : words_[i].values) {
      word |= std::uint64_t{values[field.at]} << field.shift;
    }
    for (const Field& field : words_[i].labels) {
      word |= std::uint64_t{sets[field.at]} << field.shift;
    }
    words[i] = word;
  }
}

void Packing::unpack(std::span<const std::uint64_t> words, std::span<Value> values) const {
  std::array<Value, 3 * kMostTracked> sets;  // NOLINT(*-member-init): as many as there are
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t word = words[i];
    for (const Field& field : words_[i].values) {
      values[field.at] = static_cast<Value>(word >> field.shift) & field.mask;
    }
    for (const Field& field : words_[i].labels) {
      sets[field.at] = static_cast<Value>(word >> field.shift) & field.mask;
    }
  }
  Value* label = values.data() + first_label_;
  for (std::size_t i = 0; i < tracked_; ++i, label += Graph::kSets) {
    const Value c = sets[3 * i];
    const Value write = sets[3 * i + 1];
    const Value read = sets[3 * i + 2];
    label[Graph::kSRead] = static_cast<Value>(read & ~c & ~write);
    label[Graph::kSWrite] = static_cast<Value>(write & (~c | read));
    label[Graph::kCRead] = static_cast<Value>(c & (~write | read));
    label[Graph::kCWrite] = static_cast<Value>(c & write & ~read);
  }
}

}  // namespace tomos::model
