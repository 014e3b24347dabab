#include "model/packing.h"

#include <algorithm>
#include <bit>

#include "model/graph.h"

namespace tomos::model {

namespace {

unsigned bits_for(std::size_t most) { return static_cast<unsigned>(std::bit_width(most)); }

class Writer {
 public:
  explicit Writer(std::span<std::uint64_t> words) : words_(words) {
    for (std::uint64_t& word : words) word = 0;
  }
  void put(std::uint64_t value, unsigned bits) {
    if (bits == 0) return;
    words_[at_] |= value << used_;
    used_ += bits;
    if (used_ < 64) return;
    used_ -= 64;
    ++at_;
    if (used_ > 0) words_[at_] = value >> (bits - used_);
  }

 private:
  std::span<std::uint64_t> words_;
  std::size_t at_ = 0;
  unsigned used_ = 0;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint64_t> words) : words_(words) {}
  Value get(unsigned bits) {
    if (bits == 0) return 0;
    std::uint64_t value = words_[at_] >> used_;
    used_ += bits;
    if (used_ >= 64) {
      used_ -= 64;
      ++at_;
      if (used_ > 0) value |= words_[at_] << (bits - used_);
    }
    return static_cast<Value>(value & ((std::uint64_t{1} << bits) - 1));
  }

 private:
  std::span<const std::uint64_t> words_;
  std::size_t at_ = 0;
  unsigned used_ = 0;
};

}  // namespace

Packing::Packing(const Program& program, std::size_t tracked)
    : threads_(program.threads.size()), tracked_(tracked) {
  const auto add = [&](std::size_t most) {
    bits_.push_back(static_cast<std::uint8_t>(bits_for(most)));
  };
  const auto add_type = [&](const Type& type) {
    add(static_cast<std::size_t>(type.high - type.low));
  };
  for (const Variable& variable : program.variables) add_type(variable.type);
  for (std::size_t i = 0; i < program.locks.size(); ++i) add(threads_);
  for (const ThreadInfo& thread : program.threads) {
    const Code& code = program.codes[thread.code];
    add(code.locations.size() - 1);
    for (const Type& type : code.locals) add_type(type);
  }
  if (tracked > 0) {
    for (std::size_t i = 0; i < 1 + 2 * threads_; ++i) {
      bits_.push_back(static_cast<std::uint8_t>(threads_));
    }
  }
  std::size_t all = 3 * threads_ * tracked;
  for (const std::uint8_t bits : bits_) all += bits;
  words_ = std::max<std::size_t>(1, (all + 63) / 64);
}

// Of the four sets of labels that a node may be in, a normalised graph knows six combinations:
// none, each alone, and CRead with SWrite. They fit in three bits.
void Packing::pack(std::span<const Value> values, std::span<std::uint64_t> words) const {
  Writer writer(words);
  for (std::size_t i = 0; i < bits_.size(); ++i) writer.put(values[i], bits_[i]);
  if (tracked_ == 0) return;
  for (std::size_t i = bits_.size(); i < bits_.size() + Graph::kSets * tracked_;
       i += Graph::kSets) {
    const unsigned s_read = values[i + Graph::kSRead];
    const unsigned s_write = values[i + Graph::kSWrite];
    const unsigned c_read = values[i + Graph::kCRead];
    const unsigned c_write = values[i + Graph::kCWrite];
    writer.put(c_read | c_write, static_cast<unsigned>(threads_));
    writer.put(s_write | c_write, static_cast<unsigned>(threads_));
    writer.put(s_read | (c_read & s_write), static_cast<unsigned>(threads_));
  }
}

void Packing::unpack(std::span<const std::uint64_t> words, std::span<Value> values) const {
  Reader reader(words);
  for (std::size_t i = 0; i < bits_.size(); ++i) values[i] = reader.get(bits_[i]);
  if (tracked_ == 0) return;
  for (std::size_t i = bits_.size(); i < bits_.size() + Graph::kSets * tracked_;
       i += Graph::kSets) {
    const unsigned c = reader.get(static_cast<unsigned>(threads_));
    const unsigned write = reader.get(static_cast<unsigned>(threads_));
    const unsigned read = reader.get(static_cast<unsigned>(threads_));
    values[i + Graph::kSRead] = static_cast<Value>(read & ~c & ~write);
    values[i + Graph::kSWrite] = static_cast<Value>(write & (~c | read));
    values[i + Graph::kCRead] = static_cast<Value>(c & (~write | read));
    values[i + Graph::kCWrite] = static_cast<Value>(c & write & ~read);
  }
}

}  // namespace tomos::model
