// Preloaded: every allocation of 100 kB or more fails, by running out of memory or in a way that
// must not happen.
#include <cstdlib>
#include <new>
#include <stdexcept>

void* operator new(std::size_t size) {
  if (size >= 100'000 && std::getenv("FAIL_AS_BUG") != nullptr) throw std::logic_error("injected");
  void* memory = size >= 100'000 ? nullptr : std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
