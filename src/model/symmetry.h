// Threads of one group do the same, so states that differ only in which of them does what have the
// same future. Here they are put in one order.
//
// The order is by what can be said of a thread without naming another one, then by what it has to
// do with others of which the same is true: a number is made of it, in which every value, lock and
// label has a factor of its own. Threads with one number stay as they are: then some states that
// are alike are not recognised as such, which costs time and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/graph.h"
#include "model/program.h"

namespace tomos::model {

class Symmetry {
 public:
  // `tracked`: how many variables the monitor knows.
  Symmetry(const Program& program, std::size_t tracked);

  // Thread i becomes what thread from[i] was; `from` says so afterwards. Whether anything was
  // moved.
  bool sort(std::vector<Value>& values, std::span<std::uint8_t> from);

 private:
  using Keys = std::array<std::uint64_t, kMostThreads>;

  Keys keys_of(const Graph& graph, const std::vector<Value>& values) const;
  void move(std::vector<Value>& values, std::span<const std::uint8_t> from);

  const Program& program_;
  std::size_t tracked_;
  struct Row {  // of a thread: its fields
    std::size_t first = 0;
    std::size_t size = 0;
    std::size_t groups = 0;  // of four
    std::uint64_t last = 0;  // what of the last group is the thread's
  };
  std::vector<Row> rows_;
  std::vector<std::vector<std::uint8_t>> groups_;  // of more than one thread
  std::vector<std::uint64_t> factors_;             // by field, then by 16 variables of the monitor
  std::vector<Value> old_;
};

}  // namespace tomos::model
