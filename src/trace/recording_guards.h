// Variables that no pair of transactions needs to be asked about.
//
// If there is a lock that every transaction with a variable holds, not only for reading, from its
// first access to its last (of any variable), no two of them can get at each other: nothing on the
// variable, nor on it and another one, leaves two transactions without a serial order. The same if
// only transactions with a single access get at it: those have no blocks. An analysis of pairs
// finds that out at the end of the run, and has kept everything until then. A program that hands
// objects through queues has millions of such variables; so the reader, which can go through the
// recording as often as it likes, finds them first and never tells of them.
//
// It counts lives: each time that a variable is met at its place for the first time, or for the
// first time after a free, one begins. They come in the same order whenever the recording is read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "event/event.h"

namespace tomos::recording {

class Guards {
 public:
  // A life begins. The id of the variable in the events that follow, until it is freed.
  VariableId begin_life();
  // The events of the recording, with these ids. May lag behind begin_life().
  void take(std::span<const Event> events);
  void finish();

  // Whether the variable of this life, counted from 0, can be left out.
  bool leaves_out(std::size_t life) const { return life < left_out_.size() && left_out_[life]; }

 private:
  static constexpr LockId kNoLock = ~LockId{0};
  struct Variable {
    std::size_t life = 0;
    std::uint64_t seen = 0;  // the transaction that it was last seen in
    // More locks than two are not followed: then it counts as not guarded, which drops less.
    std::array<LockId, 2> guards = {kNoLock, kNoLock};
    std::uint32_t open = 0;  // transactions with it that are not over
    bool met = false;        // some are over
    bool in_block = false;   // one of them has other accesses too
    bool freed = false;
  };
  struct Held {
    LockId lock = kNoLock;
    std::uint32_t times = 0;  // not only for reading
  };
  struct Thread {
    std::uint32_t depth = 0;  // of transactions
    std::vector<Held> held;
    // Of the transaction:
    std::uint64_t number = 0;
    std::size_t accesses = 0;
    std::vector<VariableId> variables;
    std::vector<LockId> since;  // locks held since the first access ...
    std::vector<LockId> whole;  // ... up to the last
    bool let_go = false;        // of one of them, since the last access
  };

  void take(const Event& event);
  void access(Thread& thread, VariableId id);
  void acquire(Thread& thread, LockId lock);
  void release(Thread& thread, LockId lock);
  void close(Thread& thread);
  static void meet(Variable& variable, const Thread& thread);
  void end_life(VariableId id);

  std::vector<Thread> threads_;
  std::vector<Variable> variables_;
  std::vector<VariableId> spare_;
  std::vector<bool> left_out_;  // by life
  std::uint64_t transactions_ = 0;
};

}  // namespace tomos::recording
