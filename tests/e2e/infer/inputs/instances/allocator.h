// A field of a class that the parameter names: each unit has another.
#pragma once
#include <mutex>

template <class Config>
struct Cache {
  int last = 0;
  std::mutex mutex;
  void store(int value) {
    std::lock_guard<std::mutex> lock(mutex);
    last = value;
  }
};
template <class Config>
struct NoCache {
  void store(int) {}
  int none = 0;
};
template <class Config, int kParts>
struct Parts {
  int parts[kParts];
  int used = 0;
};
template <class Config>
struct Parts<Config, 0> {
  int unused = 0;
};
template <class Config>
struct Allocator {
  void allocate(int size) {
    std::lock_guard<std::mutex> lock(mutex);
    used += size;
    cache.store(size);
    if constexpr (requires { cache.last; }) {
      ++parts.used;
    } else {
      ++cache.none;
      ++parts.unused;
    }
  }
  int get() {
    std::lock_guard<std::mutex> lock(mutex);
    return used;
  }

 private:
  std::mutex mutex;
  typename Config::template CacheOf<Config> cache;
  Parts<Config, Config::kParts> parts;
  int used = 0;
};
