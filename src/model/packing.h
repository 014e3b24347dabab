// A state in a few words: every value takes the bits it needs, one after the other.
//
// Four neighbouring values are one word of memory, of which the bits that count are put together
// and taken apart again at once: by an instruction of its own where there is one (PEXT and PDEP of
// x86-64), otherwise value by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/lanes.h"
#include "model/program.h"

namespace tomos::model {

class Packing {
 public:
  // `tracked`: how many variables the monitor knows.
  Packing(const Program& program, std::size_t tracked);

  std::size_t words() const { return words_; }
  // Of a row of values that can be packed: there may be some behind the last.
  std::size_t size() const { return size_; }
  void pack(std::span<const Value> values, std::span<std::uint64_t> words) const;
  void unpack(std::span<const std::uint64_t> words, std::span<Value> values) const;

  void avoid_instructions() { has_instructions_ = false; }  // for tests

 private:
  struct Group {  // of kLanes values
    std::uint64_t mask = 0;
    std::uint16_t at = 0;
    std::uint16_t word = 0;
    std::uint8_t shift = 0;
    std::uint8_t count = 0;  // of bits
    bool spills = false;     // into the next word
  };
  void add(std::vector<Group>& groups, std::size_t at, std::uint64_t mask);
  template <bool kInstructions>
  void pack_with(const Value* values, std::uint64_t* words) const;
  template <bool kInstructions>
  void unpack_with(const std::uint64_t* words, Value* values) const;

  std::vector<Group> values_;  // those before the labels of the monitor
  std::vector<Group> labels_;  // three sets a variable: see pack_with()
  std::size_t words_ = 0;
  std::size_t size_ = 0;
  std::size_t bits_ = 0;
  bool has_instructions_;
};

}  // namespace tomos::model
