// Memory functions as accesses of whole ranges: memcpy and its kin, and what clang and GCC call
// instead of them.
//
// They are called before anything is set up: while the dynamic linker still relocates, resolvers of
// indirect functions may copy and compare. So as long as the real functions are not known, these do
// the work themselves, touching nothing that needs relocating.
#include <cstddef>
#include <cstdint>

#include "runtime/interpose.h"

using namespace tomos::runtime;

// <string.h> is left out: it declares memchr and others as overloads, which these are not.
TOMOS_REAL(void*, memcpy, void* to, const void* from, std::size_t size);
TOMOS_REAL(void*, memmove, void* to, const void* from, std::size_t size);
TOMOS_REAL(void*, memset, void* to, int value, std::size_t size);
TOMOS_REAL(int, memcmp, const void* one, const void* other, std::size_t size);

namespace {

void* copy_forwards(void* to, const void* from, std::size_t size) {
  void* const result = to;
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
  return result;
}

void* copy(void* to, const void* from, std::size_t size) {
  return real_functions_resolved ? REAL(memcpy)(to, from, size) : copy_forwards(to, from, size);
}

void* move(void* to, const void* from, std::size_t size) {
  if (real_functions_resolved) return REAL(memmove)(to, from, size);
  if (to <= from) return copy_forwards(to, from, size);
  for (std::size_t i = size; i-- > 0;) {
    static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  }
  return to;
}

void* fill(void* to, int value, std::size_t size) {
  if (real_functions_resolved) return REAL(memset)(to, value, size);
  void* const result = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(value) : "memory");
  return result;
}

// Reads up to the first difference, and so it is told.
int compare(const void* one, const void* other, std::size_t size, const Teller& teller) {
  if (real_functions_resolved && !teller) return REAL(memcmp)(one, other, size);
  const auto* const first = static_cast<const unsigned char*>(one);
  const auto* const second = static_cast<const unsigned char*>(other);
  std::size_t same = 0;
  while (same < size && first[same] == second[same]) ++same;
  const std::size_t read = same < size ? same + 1 : size;
  teller.reads(one, read);
  teller.reads(other, read);
  return same == size ? 0 : first[same] - second[same];
}

void tell_copy(const void* to, const void* from, std::size_t size, Address pc) {
  const Teller teller(pc);
  teller.reads(from, size);
  teller.writes(to, size);
}

void tell_fill(const void* to, std::size_t size, Address pc) { Teller(pc).writes(to, size); }

}  // namespace

TOMOS_EXPORT void* memcpy(void* to, const void* from, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  return copy(to, from, size);
}
TOMOS_EXPORT void* memmove(void* to, const void* from, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  return move(to, from, size);
}
TOMOS_EXPORT void* mempcpy(void* to, const void* from, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  return static_cast<char*>(copy(to, from, size)) + size;
}
TOMOS_EXPORT void bcopy(const void* from, void* to, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  move(to, from, size);
}
TOMOS_EXPORT void* memset(void* to, int value, std::size_t size) {
  tell_fill(to, size, TOMOS_CALLER());
  return fill(to, value, size);
}
TOMOS_EXPORT void bzero(void* to, std::size_t size) {
  tell_fill(to, size, TOMOS_CALLER());
  fill(to, 0, size);
}
TOMOS_EXPORT void explicit_bzero(void* to, std::size_t size) {
  tell_fill(to, size, TOMOS_CALLER());
  fill(to, 0, size);
}
TOMOS_EXPORT int memcmp(const void* one, const void* other, std::size_t size) {
  return compare(one, other, size, Teller(TOMOS_CALLER()));
}
TOMOS_EXPORT int bcmp(const void* one, const void* other, std::size_t size) {
  return compare(one, other, size, Teller(TOMOS_CALLER()));
}

TOMOS_INTERPOSE(void*, memchr, const void* start, int wanted, std::size_t size) {
  void* const found = REAL(memchr)(start, wanted, size);
  const Teller teller(TOMOS_CALLER());
  if (teller) {
    const auto* const end = static_cast<const char*>(found);
    teller.reads(start, end == nullptr ? size : end + 1 - static_cast<const char*>(start));
  }
  return found;
}
TOMOS_INTERPOSE(void*, memrchr, const void* start, int wanted, std::size_t size) {
  void* const found = REAL(memrchr)(start, wanted, size);
  const Teller teller(TOMOS_CALLER());
  if (teller) {
    const void* const first = found == nullptr ? start : found;
    const char* const end = static_cast<const char*>(start) + size;
    teller.reads(first, end - static_cast<const char*>(first));
  }
  return found;
}
TOMOS_INTERPOSE(void*, memmem, const void* start, std::size_t size, const void* wanted,
                std::size_t wanted_size) {
  void* const found = REAL(memmem)(start, size, wanted, wanted_size);
  const Teller teller(TOMOS_CALLER());
  if (teller) {
    const auto* const at = static_cast<const char*>(found);
    teller.reads(start, at == nullptr ? size : at + wanted_size - static_cast<const char*>(start));
    teller.reads(wanted, wanted_size);
  }
  return found;
}

// --- What clang calls in instrumented code.

TOMOS_EXPORT void* __tsan_memcpy(void* to, const void* from, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  return copy(to, from, size);
}
TOMOS_EXPORT void* __tsan_memmove(void* to, const void* from, std::size_t size) {
  tell_copy(to, from, size, TOMOS_CALLER());
  return move(to, from, size);
}
TOMOS_EXPORT void* __tsan_memset(void* to, int value, std::size_t size) {
  tell_fill(to, size, TOMOS_CALLER());
  return fill(to, value, size);
}

// --- What _FORTIFY_SOURCE makes of them. The real ones end the program when there is no room.

TOMOS_INTERPOSE(void*, __memcpy_chk, void* to, const void* from, std::size_t size,
                std::size_t room) {
  if (size <= room) tell_copy(to, from, size, TOMOS_CALLER());
  return REAL(__memcpy_chk)(to, from, size, room);
}
TOMOS_INTERPOSE(void*, __memmove_chk, void* to, const void* from, std::size_t size,
                std::size_t room) {
  if (size <= room) tell_copy(to, from, size, TOMOS_CALLER());
  return REAL(__memmove_chk)(to, from, size, room);
}
TOMOS_INTERPOSE(void*, __mempcpy_chk, void* to, const void* from, std::size_t size,
                std::size_t room) {
  if (size <= room) tell_copy(to, from, size, TOMOS_CALLER());
  return REAL(__mempcpy_chk)(to, from, size, room);
}
TOMOS_INTERPOSE(void*, __memset_chk, void* to, int value, std::size_t size, std::size_t room) {
  if (size <= room) tell_fill(to, size, TOMOS_CALLER());
  return REAL(__memset_chk)(to, value, size, room);
}
