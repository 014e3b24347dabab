// Lets through only what makes a valid trace (the rules are those of validate.h).
//
// A recording of a whole run has nothing to repair. One that began late, lost its end or comes from
// a program that unlocks what it never locked does: then the step that does not fit is left out, or
// what must have happened before it is put in (the holder of a lock that another thread takes has
// released it). Every such case is counted.
//
// A transaction begins with its first event: one without any never shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/event.h"

namespace tomos::recording {

class Repair {
 public:
  // With `everything`, transactions without events show too.
  explicit Repair(bool everything) : everything_(everything) {}

  // A step of a thread. Events go to `out`.
  void step(const Event& event, std::vector<Event>& out);

  // Whether an event of this thread would come through.
  bool runs(ThreadId thread) const {
    return thread >= threads_.size() || threads_[thread].state < State::kExited;
  }

  // For an event of a thread that runs, if it needs no repair: an access, a free, or an operation
  // on a lock that is used nowhere else.
  void pass(const Event& event, std::vector<Event>& out) {
    Thread& thread = at(event.thread);
    thread.state = State::kRuns;
    if (!thread.begun.empty()) [[unlikely]]
      flush(thread, out);
    out.push_back(event);
  }

  // The lock is no more: nobody holds it.
  void destroy(LockId lock, std::vector<Event>& out);

  std::uint64_t repaired() const { return repaired_; }
  void count_repair() { ++repaired_; }

 private:
  enum class State : std::uint8_t { kUnknown, kForked, kRuns, kExited, kJoined };
  struct Hold {
    LockId lock = 0;
    std::uint32_t writes = 0;  // how often it was acquired
    std::uint32_t reads = 0;
  };
  struct Thread {
    State state = State::kUnknown;
    std::uint32_t depth = 0;   // of transactions that show
    std::vector<Event> begun;  // transactions that do not show yet
    std::vector<Hold> held;
  };
  using Holders = std::vector<ThreadId>;  // of one lock

  Thread& at(ThreadId thread);
  static void flush(Thread& thread, std::vector<Event>& out);
  void acquire(const Event& event, std::vector<Event>& out);
  void release(const Event& event, std::vector<Event>& out);
  void fork(const Event& event, std::vector<Event>& out);
  void join(const Event& event, std::vector<Event>& out);
  void end(const Event& event, std::vector<Event>& out);
  // Releases what the thread holds of `lock`.
  void let_go(ThreadId thread, LockId lock, std::vector<Event>& out);
  // Releases every lock the thread holds, ends its transactions.
  void close(ThreadId thread, std::vector<Event>& out);

  bool everything_;
  std::vector<Thread> threads_;
  std::vector<Holders> holders_;
  std::uint64_t repaired_ = 0;
};

}  // namespace tomos::recording
