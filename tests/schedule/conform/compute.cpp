// Long computation without any synchronisation, in threads that other threads wait for.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

int main() {
  std::vector<unsigned> results(3);
  std::atomic<int> left = 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&, t] {
      unsigned value = 1;
      for (int i = 0; i < 3'000'000; i++) value = value * 1664525U + 1013904223U;
      results[t] = value;
      left--;
    });
  }
  while (left > 0) std::this_thread::yield();
  for (auto& thread : threads) thread.join();
  CHECK(results[0] == results[1] && results[1] == results[2]);
  return ok();
}
