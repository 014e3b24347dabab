// A state in a few words: every value takes the bits it needs.
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

  std::size_t words() const { return words_; }
  void pack(std::span<const Value> values, std::span<std::uint64_t> words) const;
  void unpack(std::span<const std::uint64_t> words, std::span<Value> values) const;

 private:
  std::vector<std::uint8_t> bits_;  // of the values before the labels of the monitor
  std::size_t threads_;
  std::size_t tracked_;
  std::size_t words_;
};

}  // namespace tomos::model
