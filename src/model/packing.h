// A state in a few words: every value takes the bits it needs, in one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/program.h"

namespace tomos::model {

class Packing {
 public:
  // `tracked`: how many variables the monitor knows.
  Packing(const Program& program, std::size_t tracked);

  std::size_t words() const { return words_.size(); }
  void pack(std::span<const Value> values, std::span<std::uint64_t> words) const;
  void unpack(std::span<const std::uint64_t> words, std::span<Value> values) const;

 private:
  struct Field {
    std::uint16_t at = 0;
    std::uint16_t shift = 0;
    Value mask = 0;
  };
  struct Word {
    std::vector<Field> values;  // those before the labels of the monitor
    std::vector<Field> labels;  // three sets a variable: see pack()
    unsigned used = 0;
  };
  std::vector<Word> words_;
  std::size_t first_label_ = 0;
  std::size_t tracked_;
};

}  // namespace tomos::model
