#include "runtime/large_objects.h"

#include <sys/mman.h>

#include "runtime/spin_lock.h"

namespace tomos::runtime {

SpinLock locks::large_objects;

namespace large_objects {

namespace {

// Four million of them; the pages come as they are used.
constexpr std::size_t kCapacity = std::size_t{4} << 20;
Address* starts = nullptr;  // in order
std::size_t count = 0;

// How many starts are at or below the address.
std::size_t rank(Address address) {
  std::size_t low = 0;
  std::size_t high = count;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (starts[middle] <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

void add(Address start) {
  const Guard guard(locks::large_objects);
  if (starts == nullptr) {
    void* memory = mmap(nullptr, kCapacity * sizeof(Address), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    starts = static_cast<Address*>(memory);
  }
  const std::size_t at = rank(start);
  if (count == kCapacity || (at > 0 && starts[at - 1] == start)) return;
  __builtin_memmove(starts + at + 1, starts + at, (count - at) * sizeof(Address));
  starts[at] = start;
  ++count;
}

void remove(Address start) {
  const Guard guard(locks::large_objects);
  const std::size_t at = rank(start);
  if (at == 0 || starts[at - 1] != start) return;
  __builtin_memmove(starts + at - 1, starts + at, (count - at) * sizeof(Address));
  --count;
}

Address find(Address inside) {
  const Guard guard(locks::large_objects);
  const std::size_t at = rank(inside);
  return at == 0 ? 0 : starts[at - 1];
}

}  // namespace large_objects
}  // namespace tomos::runtime
