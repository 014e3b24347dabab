// Whether a step is independent of all that the other threads may still do: what partial-order
// reduction (machine.h) asks of every state.
//
// What a step touches is the same at many places of the code, and so is what may still come from a
// place on. Each gets a number, and what two numbers have to do with each other is worked out once,
// when it is first asked for: they have nothing in common, or they are in conflict, or the
// conflict is one only if none of certain locks is held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/program.h"

namespace tomos::model {

class Independence {
 public:
  explicit Independence(const Program& program);

  // Whether all that the thread can do next is.
  bool of(std::span<const Value> values, std::size_t thread) {
    const std::uint32_t step = step_at_[first_[thread] + values[field_[thread]]];
    return step == kLocal || (step != kNeverAlone && of_others(step, values, thread));
  }

  // What the thread may still do, as a number: as long as it stays the same, so does what is
  // independent of it.
  std::uint32_t future(std::span<const Value> values, std::size_t thread) const {
    return future_at_[first_[thread] + values[field_[thread]]];
  }

 private:
  // For each object in conflict: fields of the locks, of which one must be held.
  using Guards = std::vector<std::vector<std::uint16_t>>;
  // Behind the last the number of the guards; with the highest bit the field of the only lock.
  enum Answer : std::uint32_t { kNotAsked, kIndependent, kDependent, kGuarded };
  static constexpr std::uint32_t kOneLock = 1U << 31U;

  // Numbers of steps.
  enum : std::uint32_t { kNeverAlone, kLocal, kFirstStep };

  bool of_others(std::uint32_t step, std::span<const Value> values, std::size_t thread);
  std::uint32_t answer(std::uint32_t step, std::uint32_t future);
  bool are_held(std::uint32_t answer, std::span<const Value> values, std::size_t thread) const;

  const Program& program_;
  std::array<std::uint16_t, kMostThreads> field_{};  // by thread: its place
  std::array<std::uint32_t, kMostThreads> first_{};  // where its code begins in the next two
  std::vector<std::uint32_t> step_at_;               // by place
  std::vector<std::uint32_t> future_at_;
  std::vector<const Facts*> steps_;  // by number: one place where it is so
  std::vector<const Facts*> futures_;
  std::vector<std::vector<std::uint32_t>> answers_;  // by step and future
  std::vector<Guards> guards_;
};

}  // namespace tomos::model
