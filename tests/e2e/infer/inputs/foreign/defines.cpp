// The project's own versions of what a system header declares.
#include <sys/mman.h>

#include <mutex>

std::mutex mapping;
int mapped;

void* before() { return mmap(nullptr, 1, 0, 0, -1, 0); }

extern "C" void* mmap(void* at, unsigned long, int, int, int, long) noexcept {
  std::lock_guard<std::mutex> lock(mapping);
  ++mapped;
  return at;
}
extern "C" int munmap(void*, unsigned long) noexcept {
  std::lock_guard<std::mutex> lock(mapping);
  return --mapped;
}
// Declared here, defined by the system.
extern "C" int msync(void*, unsigned long, int);
