// A lock of the runtime's own. Nothing that the program can wait for is called while it is held.
#pragma once

#include <atomic>

#include "schedule/raw.h"

namespace tomos::runtime {

class SpinLock {
 public:
  void lock() {
    for (unsigned tries = 0; held_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries > 64) schedule::raw_call(SYS_sched_yield);
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_ = false;
};

// All of them, in the order in which they are taken: a fork must not find one of them held, nor
// what it protects half changed.
namespace locks {
extern SpinLock modules;        // modules.cpp
extern SpinLock labels;         // transactions.cpp
extern SpinLock spare_threads;  // threads.cpp
extern SpinLock rests;          // recorder.cpp
extern SpinLock file;           // recorder.cpp
extern SpinLock large_objects;  // large_objects.cpp
}  // namespace locks

class Guard {
 public:
  explicit Guard(SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~Guard() { lock_.unlock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace tomos::runtime
