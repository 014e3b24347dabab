// The kernel and chance, without libc: what the scheduler calls must be neither interposed, nor a
// cancellation point, nor touch errno.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace tomos::schedule {

inline long raw_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                     long f = 0) {
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;  // -errno
}

// 0, or -EAGAIN, -EINTR, -ETIMEDOUT. A wait with a time ends with every signal that was handled,
// one without goes on after handlers that ask for it (SA_RESTART).
inline long futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                       const timespec* time) {
  return raw_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAIT_PRIVATE, value,
                  reinterpret_cast<long>(time));
}

inline void futex_wake(const std::atomic<std::uint32_t>& word) {
  raw_call(SYS_futex, reinterpret_cast<long>(&word), FUTEX_WAKE_PRIVATE, 1);
}

// A lock for moments.
class Gate {
 public:
  void lock() {
    for (unsigned tries = 0; held_.exchange(true, std::memory_order_acquire); ++tries) {
      if (tries > 32) {
        raw_call(SYS_sched_yield);
      } else {
        __builtin_ia32_pause();
      }
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_ = false;
};

inline std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e37'79b9'7f4a'7c15;
  value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9;
  value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11eb;
  return value ^ (value >> 31);
}

// A sequence that its seed determines (SplitMix64).
class Chance {
 public:
  void seed(std::uint64_t seed) { state_ = seed; }
  std::uint64_t next() {
    state_ += 0x9e37'79b9'7f4a'7c15;
    return mixed(state_);
  }
  // Below `bound`, which is small: the bias does not count.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  bool with_probability(double probability) {
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace tomos::schedule
