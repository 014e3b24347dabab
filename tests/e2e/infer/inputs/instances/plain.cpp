#include "allocator.h"

struct Plain {
  template <class Config>
  using CacheOf = NoCache<Config>;
  static constexpr int kParts = 0;
};

int use(Allocator<Plain>& allocator) {
  allocator.allocate(1);
  return allocator.get();
}
