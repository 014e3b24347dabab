// Transactions that a thread knows by heart, where order does not matter (distinct.h).
//
// Small methods are run over and over: the same few accesses, a million times. Recording one only
// to take it back costs more than the method. So the last known transaction of each place is kept
// with its accesses; as long as the next one does the same, step by step, nothing is done but to
// compare. When it does something else, what it did so far is recorded after all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tomos::runtime {

struct Familiar {
  static constexpr std::size_t kMaxSteps = 8;
  static constexpr std::uint32_t kPatience = 16;

  struct Step {
    std::uint64_t what;  // address:48 size:8 write:8; 0: behind the last step
    std::uint64_t pc;

    static constexpr std::uint64_t pack(std::uint64_t address, std::uint32_t size, bool write) {
      return address | static_cast<std::uint64_t>(size) << 48 |
             static_cast<std::uint64_t>(write) << 56;
    }
    std::uint64_t address() const { return what & 0xffff'ffff'ffff; }
    std::uint32_t size() const { return what >> 48 & 0xff; }
    bool write() const { return what >> 56 != 0; }
  };

  std::uint64_t begin_pc;
  std::uint64_t held;  // fingerprint of the locks held when it begins
  std::uint64_t ends;  // of lives, when `lives` was last compared
  std::uint64_t lives;
  std::uint32_t label;   // 0: none
  std::uint32_t period;  // of the thread
  std::uint32_t misses;  // how often it was begun and went another way
  Step steps[kMaxSteps + 1];
};

}  // namespace tomos::runtime
