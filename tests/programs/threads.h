// Threads for the programs of this folder.
#pragma once

#include <initializer_list>
#include <thread>
#include <vector>

// Keeps the optimiser from dropping what computes a value.
template <class T>
static void keep(const T& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

// In each thread this function comes first and is the thread entry, which is no transaction. What
// it calls can be one.
static void thread_entry(void (*work)()) { work(); }

// Not a transaction either: internal linkage.
[[maybe_unused]] static void in_threads(std::initializer_list<void (*)()> works) {
  std::vector<std::thread> threads;
  for (auto work : works) threads.emplace_back(thread_entry, work);
  for (auto& thread : threads) thread.join();
}
