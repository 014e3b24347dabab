// Steps that need no machinery: a constant is assigned to a local variable, a local variable is
// asked which way to go. Nobody else notices them, they cannot fail, and there are many: so the
// partial-order reduction (machine.h), which passes through the states between them, takes them
// here, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/program.h"

namespace tomos::model {

class PlainSteps {
 public:
  explicit PlainSteps(const Program& program);

  struct Taken {
    std::uint32_t steps = 0;
    bool narrows = false;  // as in Edge, of any of them
    bool ends = false;     // or `last`
  };
  // From where the thread stands, as many as there are.
  Taken take(std::span<Value> values, std::size_t thread) const;

 private:
  struct Way {
    std::uint64_t dies = 0;
    std::uint16_t target = 0;
    std::uint16_t assigned = 0;  // to which field behind the thread's place; 0: to none
    Value value = 0;
    bool narrows = false;
    bool ends = false;
  };
  struct Place {
    bool is_plain = false;
    std::uint16_t asked = 0;  // field behind the thread's place; 0: there is one way
    std::array<Way, 2> ways;  // if it is not 0, if it is
  };
  struct Thread {
    std::uint16_t field = 0;
    std::uint16_t code = 0;
  };

  static Place place_of(const Program& program, const Location& location);
  static std::optional<Way> way_of(const Program& program, const Edge& edge);

  std::vector<std::vector<Place>> places_;  // by code
  std::vector<Thread> threads_;
};

}  // namespace tomos::model
