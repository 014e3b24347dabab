// Which traces are valid: what a program could really do, and what the trace validator accepts.
#pragma once

#include <span>
#include <vector>

#include "event/event.h"

namespace tomos::oracle {

class Validity {
 public:
  enum class Hold : std::uint8_t { kNone, kRead, kWrite };

  // Takes the event if a valid trace may go on with it; otherwise says no and changes nothing.
  bool take(const Event& event);

  Hold holds(ThreadId thread, LockId lock) const;
  bool in_transaction(ThreadId thread) const {
    return thread < threads_.size() && threads_[thread].depth > 0;
  }

 private:
  struct Thread {
    bool started = false;  // forked, or has events
    bool over = false;     // exit
    bool joined = false;
    bool waiting = false;  // at a barrier
    unsigned depth = 0;    // begins without end
    unsigned held = 0;     // acquires without release

    bool idle() const { return depth == 0 && held == 0 && !waiting; }
  };
  struct Lock {
    ThreadId owner = 0;
    unsigned depth = 0;             // acquires of the owner without release
    std::vector<ThreadId> readers;  // once for each read acquire without release
  };
  struct Variable {
    bool used = false;  // since the start or the last free
    bool local = false;
  };

  bool allows(const Event& event);
  void apply(const Event& event);

  std::vector<Thread> threads_;
  std::vector<Lock> locks_;
  std::vector<Variable> variables_;
  std::vector<std::vector<ThreadId>> barriers_;  // who waits
};

bool is_valid(std::span<const Event> events);

}  // namespace tomos::oracle
