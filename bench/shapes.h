// The benchmark shapes: how many threads share how much, and how their transactions look.
#pragma once

#include <array>
#include <cstdint>

namespace tomos::bench {

struct Shape {
  char name;
  const char* says;
  std::uint32_t threads;  // at most 64: Workload keeps sets of threads in one word
  std::uint32_t variables;
  std::uint32_t locks;
  std::uint32_t min_accesses;  // of one transaction
  std::uint32_t max_accesses;
  std::uint32_t max_acquires;  // in one transaction
  std::uint32_t depth;         // how deep transactions nest
  double unary;                // share of the accesses outside transactions
  bool whole_trace;            // the first thread's only transaction spans the trace
};

inline constexpr std::array kShapes{
    Shape{'A', "many threads crowd a few variables", 64, 64, 16, 2, 6, 2, 1, 0.1, false},
    Shape{'B', "few threads, a million variables", 4, 1'000'000, 1000, 4, 20, 2, 1, 0.1, false},
    Shape{'C', "transactions of 5,000 accesses", 8, 100'000, 64, 5000, 5000, 16, 1, 0.02, false},
    Shape{'D', "one transaction spans the trace", 8, 10'000, 64, 4, 12, 2, 1, 0.1, true},
    Shape{'E', "transactions nest, up to 4 deep", 16, 10'000, 128, 8, 24, 2, 4, 0.1, false},
    Shape{'F', "80% of accesses in no transaction", 16, 10'000, 128, 4, 12, 2, 1, 0.8, false},
    Shape{'G', "many locks", 8, 100'000, 50'000, 4, 12, 4, 1, 0.1, false},
    Shape{'H', "50 threads, short transactions", 50, 10'000, 100, 2, 8, 2, 1, 0.1, false},
};

}  // namespace tomos::bench
