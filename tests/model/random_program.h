// Small random Boolean programs, as data of their own: the naive interpreter (naive.h) reads this,
// the model checker reads what to_text() makes of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/random.h"

namespace tomos::oracle {

struct Term {
  enum class Kind : std::uint8_t { kFalse, kTrue, kAny, kShared, kLocal, kNot, kAnd, kOr, kEqual };
  Kind kind = Kind::kTrue;
  std::uint32_t variable = 0;
  std::vector<Term> terms;
};

struct Line {
  enum class Kind : std::uint8_t {
    kSkip,
    kAssign,  // shared or local; `guarded`: when (term)
    kSwap,    // two shared variables at once
    kAssume,
    kAssert,
    kIf,
    kWhile,
    kAtomic,
    kAcquire,
    kTry,  // acquire, or `otherwise` if it is not free
    kRelease,
    kStart,
    kJoin,
    kWait,
    kNotify,
    kNotifyAll,
  };
  Kind kind = Kind::kSkip;
  std::uint32_t object = 0;  // variable, lock, declared thread
  bool local = false;
  bool guarded = false;
  Term term;   // condition
  Term value;  // of an assignment
  std::vector<Line> body;
  std::vector<Line> otherwise;
};

struct Task {
  std::uint32_t count = 1;  // T[count], if more than one
  std::vector<Line> lines;
};

struct SmallProgram {
  static constexpr std::uint32_t kShared = 4;
  static constexpr std::uint32_t kSilent = 3;  // of these: no event tells of it
  static constexpr std::uint32_t kLocals = 2;
  static constexpr std::uint32_t kLocks = 2;
  std::vector<Task> tasks;
};

SmallProgram random_program(Random& random);
std::string to_text(const SmallProgram& program);

// All programs that are a little smaller: without a task, without a line, with a block's content
// instead of the block, with one thread less.
std::vector<SmallProgram> smaller(const SmallProgram& program);

}  // namespace tomos::oracle
