// Numbers that are the same on every machine: splitmix64, a stream of its own for every trace of a
// seed.
#pragma once

#include <cstdint>

namespace tomos::oracle {

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) { state_ = next() ^ stream; }

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // 0 .. bound-1
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32U) * bound >> 32U);
  }

  // low .. high
  std::uint32_t between(std::uint32_t low, std::uint32_t high) {
    return low + below(high - low + 1);
  }

  bool percent(std::uint32_t chance) { return below(100) < chance; }

 private:
  std::uint64_t state_;
};

}  // namespace tomos::oracle
