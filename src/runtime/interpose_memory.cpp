// Memory: the malloc family, operator new and delete, and mappings.
//
// An object's size is what malloc_usable_size says, when it is made and when it is freed: the sizes
// agree without a table of ours. Other allocators that come after us in the program's search order
// (jemalloc, tcmalloc) are the real functions then, and all goes on as with glibc's.
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

#include <new>

#include "runtime/interpose.h"
#include "schedule/control.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

// What the dynamic linker allocates while it looks up the real functions for us: a handful of
// messages about symbols that are not there. Never freed.
class Nursery {
 public:
  void* allocate(std::size_t size) {
    const std::size_t start = (used_ + kAlignment - 1) & ~(kAlignment - 1);
    if (size > sizeof memory_ - kHeader || start > sizeof memory_ - kHeader - size) return nullptr;
    used_ = start + kHeader + size;
    __builtin_memcpy(memory_ + start, &size, sizeof size);
    return memory_ + start + kHeader;
  }
  bool has(const void* object) const {
    return object >= memory_ && object < memory_ + sizeof memory_;
  }
  std::size_t size_of(const void* object) const {
    std::size_t size = 0;
    __builtin_memcpy(&size, static_cast<const char*>(object) - kHeader, sizeof size);
    return size;
  }

 private:
  static constexpr std::size_t kAlignment = 16;
  static constexpr std::size_t kHeader = 16;
  std::size_t used_ = 0;
  alignas(16) char memory_[64 * 1024] = {};
};
constinit Nursery nursery;

TOMOS_REAL(std::size_t, malloc_usable_size, void* object);

void* told_made(void* object, Address pc) {
  if (object != nullptr && !inside()) allocated(object, REAL(malloc_usable_size)(object), pc);
  return object;
}

void tell_freeing(void* object, Address pc) {
  const std::size_t size = REAL(malloc_usable_size)(object);
  schedule::memory_freed(object, size);
  if (!inside()) freeing(object, size, pc);
}

}  // namespace

TOMOS_REAL(void*, malloc, std::size_t size);
TOMOS_REAL(void, free, void* object);

namespace tomos::runtime {

void* allocate(std::size_t size, Address pc) {
  auto* const real = REAL(malloc);
  if (!real_functions_resolved) [[unlikely]] {
    return nursery.allocate(size);
  }
  return told_made(real(size), pc);
}

void deallocate(void* object, Address pc) {
  if (object == nullptr || nursery.has(object)) return;
  tell_freeing(object, pc);
  REAL(free)(object);
}

}  // namespace tomos::runtime

// --- The malloc family.

TOMOS_EXPORT void* malloc(std::size_t size) { return allocate(size, TOMOS_CALLER()); }
TOMOS_EXPORT void free(void* object) { deallocate(object, TOMOS_CALLER()); }

TOMOS_INTERPOSE(void*, calloc, std::size_t count, std::size_t size) {
  auto* const real = REAL(calloc);
  if (!real_functions_resolved) [[unlikely]] {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? nullptr : nursery.allocate(bytes);
  }
  return told_made(real(count, size), TOMOS_CALLER());
}

namespace {

TOMOS_REAL(void*, realloc, void* object, std::size_t size);

void* reallocate(void* object, std::size_t size, Address pc) {
  if (object == nullptr) return allocate(size, pc);
  if (nursery.has(object)) {
    void* const moved = allocate(size, pc);
    if (moved != nullptr) {
      const std::size_t old_size = nursery.size_of(object);
      memcpy(moved, object, old_size < size ? old_size : size);
    }
    return moved;
  }
  // Told first: once the old object is free another thread may be given its memory.
  const std::size_t old_size = REAL(malloc_usable_size)(object);
  if (!inside()) freeing(object, old_size, pc);
  void* const moved = REAL(realloc)(object, size);
  if (moved == nullptr && size != 0 && !inside()) allocated(object, old_size, pc);
  return told_made(moved, pc);
}

}  // namespace

TOMOS_EXPORT void* realloc(void* object, std::size_t size) {
  return reallocate(object, size, TOMOS_CALLER());
}
TOMOS_EXPORT void* reallocarray(void* object, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(object, bytes, TOMOS_CALLER());
}

TOMOS_INTERPOSE(void*, memalign, std::size_t alignment, std::size_t size) {
  return told_made(REAL(memalign)(alignment, size), TOMOS_CALLER());
}
TOMOS_INTERPOSE(void*, aligned_alloc, std::size_t alignment, std::size_t size) {
  return told_made(REAL(aligned_alloc)(alignment, size), TOMOS_CALLER());
}
TOMOS_INTERPOSE(int, posix_memalign, void** object, std::size_t alignment, std::size_t size) {
  const int error = REAL(posix_memalign)(object, alignment, size);
  if (error == 0) told_made(*object, TOMOS_CALLER());
  return error;
}
TOMOS_INTERPOSE(void*, valloc, std::size_t size) {
  return told_made(REAL(valloc)(size), TOMOS_CALLER());
}
TOMOS_INTERPOSE(void*, pvalloc, std::size_t size) {
  return told_made(REAL(pvalloc)(size), TOMOS_CALLER());
}

// --- Operator new and delete. libstdc++'s would do, but then all objects would seem to be made
// there. When there is no memory the real one decides: it knows the new-handler, and throws.

TOMOS_REAL(void*, _Znwm, std::size_t size);
TOMOS_REAL(void*, _Znam, std::size_t size);
TOMOS_REAL(void*, _ZnwmRKSt9nothrow_t, std::size_t size, const std::nothrow_t& tag);
TOMOS_REAL(void*, _ZnamRKSt9nothrow_t, std::size_t size, const std::nothrow_t& tag);
TOMOS_REAL(void*, _ZnwmSt11align_val_t, std::size_t size, std::align_val_t alignment);
TOMOS_REAL(void*, _ZnamSt11align_val_t, std::size_t size, std::align_val_t alignment);
TOMOS_REAL(void*, _ZnwmSt11align_val_tRKSt9nothrow_t, std::size_t size, std::align_val_t alignment,
           const std::nothrow_t& tag);
TOMOS_REAL(void*, _ZnamSt11align_val_tRKSt9nothrow_t, std::size_t size, std::align_val_t alignment,
           const std::nothrow_t& tag);

namespace {

template <class Function>
Function* real_operator(const RealFunction& function) {
  void* const found =
      function.address != nullptr ? function.address : find_in_libstdcxx(function.name);
  if (found == nullptr) abort();
  return reinterpret_cast<Function*>(found);
}

void* allocate_aligned(std::size_t size, std::align_val_t alignment, Address pc) {
  return told_made(REAL(memalign)(static_cast<std::size_t>(alignment), size), pc);
}

}  // namespace

#define TOMOS_OPERATOR __attribute__((visibility("default")))
#define TOMOS_REAL_OPERATOR(name) real_operator<name##_function>(real_##name)

TOMOS_OPERATOR void* operator new(std::size_t size) {
  void* const object = allocate(size, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_Znwm)(size);
}
TOMOS_OPERATOR void* operator new[](std::size_t size) {
  void* const object = allocate(size, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_Znam)(size);
}
TOMOS_OPERATOR void* operator new(std::size_t size, const std::nothrow_t& tag) noexcept {
  void* const object = allocate(size, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_ZnwmRKSt9nothrow_t)(size, tag);
}
TOMOS_OPERATOR void* operator new[](std::size_t size, const std::nothrow_t& tag) noexcept {
  void* const object = allocate(size, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_ZnamRKSt9nothrow_t)(size, tag);
}
TOMOS_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment) {
  void* const object = allocate_aligned(size, alignment, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_ZnwmSt11align_val_t)(size, alignment);
}
TOMOS_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment) {
  void* const object = allocate_aligned(size, alignment, TOMOS_CALLER());
  return object != nullptr ? object : TOMOS_REAL_OPERATOR(_ZnamSt11align_val_t)(size, alignment);
}
TOMOS_OPERATOR void* operator new(std::size_t size, std::align_val_t alignment,
                                  const std::nothrow_t& tag) noexcept {
  void* const object = allocate_aligned(size, alignment, TOMOS_CALLER());
  if (object != nullptr) return object;
  return TOMOS_REAL_OPERATOR(_ZnwmSt11align_val_tRKSt9nothrow_t)(size, alignment, tag);
}
TOMOS_OPERATOR void* operator new[](std::size_t size, std::align_val_t alignment,
                                    const std::nothrow_t& tag) noexcept {
  void* const object = allocate_aligned(size, alignment, TOMOS_CALLER());
  if (object != nullptr) return object;
  return TOMOS_REAL_OPERATOR(_ZnamSt11align_val_tRKSt9nothrow_t)(size, alignment, tag);
}

#define TOMOS_DELETE(...)                                                    \
  TOMOS_OPERATOR void operator delete(void* object __VA_ARGS__) noexcept {   \
    deallocate(object, TOMOS_CALLER());                                      \
  }                                                                          \
  TOMOS_OPERATOR void operator delete[](void* object __VA_ARGS__) noexcept { \
    deallocate(object, TOMOS_CALLER());                                      \
  }
TOMOS_DELETE()
TOMOS_DELETE(, std::size_t)
TOMOS_DELETE(, const std::nothrow_t&)
TOMOS_DELETE(, std::align_val_t)
TOMOS_DELETE(, std::size_t, std::align_val_t)
TOMOS_DELETE(, std::align_val_t, const std::nothrow_t&)

// --- Mappings. Only what goes away is told; new memory is unknown until it is touched.

namespace {

void tell_unmapping(const void* start, std::size_t size, Address pc) {
  if (size != 0 && !inside()) unmapping(start, size, pc);
}

}  // namespace

TOMOS_INTERPOSE(void*, mmap, void* start, std::size_t size, int protection, int flags, int file,
                off_t offset) {
  if ((flags & MAP_FIXED) != 0) tell_unmapping(start, size, TOMOS_CALLER());
  return REAL(mmap)(start, size, protection, flags, file, offset);
}
TOMOS_INTERPOSE(void*, mmap64, void* start, std::size_t size, int protection, int flags, int file,
                off64_t offset) {
  if ((flags & MAP_FIXED) != 0) tell_unmapping(start, size, TOMOS_CALLER());
  return REAL(mmap64)(start, size, protection, flags, file, offset);
}
TOMOS_INTERPOSE(int, munmap, void* start, std::size_t size) {
  tell_unmapping(start, size, TOMOS_CALLER());
  return REAL(munmap)(start, size);
}
TOMOS_INTERPOSE(void*, mremap, void* start, std::size_t size, std::size_t new_size, int flags,
                ...) {
  void* target = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    va_list rest;
    va_start(rest, flags);
    target = va_arg(rest, void*);
    va_end(rest);
    tell_unmapping(target, new_size, TOMOS_CALLER());
  }
  if (new_size < size) {
    tell_unmapping(static_cast<char*>(start) + new_size, size - new_size, TOMOS_CALLER());
  }
  void* const moved = REAL(mremap)(start, size, new_size, flags, target);
  // Told after, for most mappings grow where they are and keep their variables.
  if (moved != MAP_FAILED && moved != start) tell_unmapping(start, size, TOMOS_CALLER());
  return moved;
}
