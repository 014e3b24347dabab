// The program behind the benchmark traces for prediction: a solver with a queue of work and a
// shared best result, of the size of tsp in Wang & Stoller's Table 4.
//
// Its text is made once, from a fixed seed: methods of a few dozen lines, of which some are run
// over and over and many only once. Locks form a hierarchy of two levels: a method holds one outer
// lock for as long as it deals with what that guards, and inside takes inner locks that belong to
// it, each once. Such methods are atomic, whatever is left out of them. Two of them are not: like
// tsp, they look at the best result so far before they take the lock. Locks are always taken in the
// same order.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"
#include "workload.h"

namespace tomos::bench {

// One line of a method.
struct Line {
  Op op;
  std::uint32_t object;
  std::uint32_t number;
};

// Lines that are run all or not at all: a loose access, or an inner lock and what is done under it.
using Piece = std::vector<Line>;

struct Method {
  LabelId label;
  std::vector<Piece> before;  // without a lock: reads of what never changes, and the early look
  LockId lock;
  std::vector<Piece> inside;  // under it
};

struct PredictProgram {
  static constexpr std::uint32_t kOuter = 4;       // locks
  static constexpr std::uint32_t kInner = 3;       // for each of them
  static constexpr std::uint32_t kGuarded = 6;     // variables of each lock
  static constexpr std::uint32_t kConstants = 48;  // variables that never change
  static constexpr std::uint32_t kRepeated = 40;   // methods
  static constexpr std::uint32_t kOnce = 150;      // methods
  static constexpr std::uint32_t kLines = 100;     // of a method at most

  static constexpr std::uint32_t kLocks = kOuter * (1 + kInner);
  static constexpr std::uint32_t kShared = kLocks * kGuarded + kConstants;
  static constexpr VariableId kBest = 0;  // guarded by lock 0

  PredictProgram();

  std::vector<Method> methods;  // first those that are repeated
};

}  // namespace tomos::bench
