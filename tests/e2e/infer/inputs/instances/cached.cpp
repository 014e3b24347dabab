#include "allocator.h"

struct Cached {
  template <class Config>
  using CacheOf = Cache<Config>;
  static constexpr int kParts = 4;
};

int use(Allocator<Cached>& allocator) {
  allocator.allocate(1);
  return allocator.get();
}
