// String functions as accesses of what they touch: a string up to its end, or as far as it was
// looked at.
#include <cstddef>
#include <cstdint>

#include "runtime/interpose.h"

using namespace tomos::runtime;

// <string.h> is left out: it declares strchr and others as overloads, which these are not.
// NOLINTNEXTLINE(readability-redundant-declaration): another file has it
extern "C" void* memcpy(void* to, const void* from, std::size_t size);

TOMOS_REAL(std::size_t, strlen, const char* text);
TOMOS_REAL(std::size_t, strnlen, const char* text, std::size_t size);

namespace {

// Works without relocation, as the memory functions do (interpose_bytes.cpp).
std::size_t length_of(const char* text) {
  if (real_functions_resolved) return REAL(strlen)(text);
  std::size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

// How much of a text of at most `size` bytes is looked at to find its end.
std::size_t looked_at(const char* text, std::size_t size) {
  const std::size_t length = REAL(strnlen)(text, size);
  return length < size ? length + 1 : size;
}

std::size_t up_to(const char* text, const char* last) { return last + 1 - text; }

char as_is(char c) { return c; }
char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// How much is looked at to compare: up to the first difference, the end, or `size`.
std::size_t compared(const char* one, const char* other, std::size_t size, char (*fold)(char)) {
  for (std::size_t i = 0; i < size; ++i) {
    if (one[i] == 0 || fold(one[i]) != fold(other[i])) return i + 1;
  }
  return size;
}

void tell_compare(const char* one, const char* other, std::size_t size, char (*fold)(char),
                  const Teller& teller) {
  const std::size_t read = compared(one, other, size, fold);
  teller.reads(one, read);
  teller.reads(other, read);
}

}  // namespace

TOMOS_EXPORT std::size_t strlen(const char* text) {
  const std::size_t length = length_of(text);
  Teller(TOMOS_CALLER()).reads(text, length + 1);
  return length;
}
TOMOS_EXPORT std::size_t strnlen(const char* text, std::size_t size) {
  const std::size_t length = REAL(strnlen)(text, size);
  Teller(TOMOS_CALLER()).reads(text, length < size ? length + 1 : size);
  return length;
}

// --- Comparing.

TOMOS_INTERPOSE(int, strcmp, const char* one, const char* other) {
  const Teller teller(TOMOS_CALLER());
  if (real_functions_resolved && !teller) return REAL(strcmp)(one, other);
  const std::size_t last = compared(one, other, SIZE_MAX, as_is) - 1;
  teller.reads(one, last + 1);
  teller.reads(other, last + 1);
  return static_cast<unsigned char>(one[last]) - static_cast<unsigned char>(other[last]);
}
TOMOS_INTERPOSE(int, strncmp, const char* one, const char* other, std::size_t size) {
  const Teller teller(TOMOS_CALLER());
  if (real_functions_resolved && !teller) return REAL(strncmp)(one, other, size);
  if (size == 0) return 0;
  const std::size_t last = compared(one, other, size, as_is) - 1;
  teller.reads(one, last + 1);
  teller.reads(other, last + 1);
  return static_cast<unsigned char>(one[last]) - static_cast<unsigned char>(other[last]);
}
TOMOS_INTERPOSE(int, strcasecmp, const char* one, const char* other) {
  if (const Teller teller(TOMOS_CALLER()); teller) {
    tell_compare(one, other, SIZE_MAX, lower_case, teller);
  }
  return REAL(strcasecmp)(one, other);
}
TOMOS_INTERPOSE(int, strncasecmp, const char* one, const char* other, std::size_t size) {
  if (const Teller teller(TOMOS_CALLER()); teller) {
    tell_compare(one, other, size, lower_case, teller);
  }
  return REAL(strncasecmp)(one, other, size);
}

// --- Searching.

TOMOS_INTERPOSE(char*, strchr, const char* text, int wanted) {
  char* const found = REAL(strchr)(text, wanted);
  if (const Teller teller(TOMOS_CALLER()); teller) {
    teller.reads(text, found == nullptr ? length_of(text) + 1 : up_to(text, found));
  }
  return found;
}
TOMOS_INTERPOSE(char*, strchrnul, const char* text, int wanted) {
  char* const found = REAL(strchrnul)(text, wanted);
  Teller(TOMOS_CALLER()).reads(text, up_to(text, found));
  return found;
}
TOMOS_INTERPOSE(char*, strrchr, const char* text, int wanted) {
  if (const Teller teller(TOMOS_CALLER()); teller) teller.reads(text, length_of(text) + 1);
  return REAL(strrchr)(text, wanted);
}
TOMOS_INTERPOSE(char*, strstr, const char* text, const char* wanted) {
  char* const found = REAL(strstr)(text, wanted);
  if (const Teller teller(TOMOS_CALLER()); teller) {
    const std::size_t length = length_of(wanted);
    teller.reads(text, found == nullptr ? length_of(text) + 1 : found - text + length);
    teller.reads(wanted, length + 1);
  }
  return found;
}
TOMOS_INTERPOSE(std::size_t, strspn, const char* text, const char* set) {
  const std::size_t length = REAL(strspn)(text, set);
  if (const Teller teller(TOMOS_CALLER()); teller) {
    teller.reads(text, length + 1);
    teller.reads(set, length_of(set) + 1);
  }
  return length;
}
TOMOS_INTERPOSE(std::size_t, strcspn, const char* text, const char* set) {
  const std::size_t length = REAL(strcspn)(text, set);
  if (const Teller teller(TOMOS_CALLER()); teller) {
    teller.reads(text, length + 1);
    teller.reads(set, length_of(set) + 1);
  }
  return length;
}
TOMOS_INTERPOSE(char*, strpbrk, const char* text, const char* set) {
  char* const found = REAL(strpbrk)(text, set);
  if (const Teller teller(TOMOS_CALLER()); teller) {
    teller.reads(text, found == nullptr ? length_of(text) + 1 : up_to(text, found));
    teller.reads(set, length_of(set) + 1);
  }
  return found;
}

// --- Copying. Each in two forms: as written, and as _FORTIFY_SOURCE makes it.

namespace {

void tell_copy(const char* to, const char* from, Address pc) {
  if (const Teller teller(pc); teller) {
    const std::size_t size = length_of(from) + 1;
    teller.reads(from, size);
    teller.writes(to, size);
  }
}

// strncpy fills what is left.
void tell_bounded_copy(const char* to, const char* from, std::size_t size, Address pc) {
  if (const Teller teller(pc); teller) {
    teller.reads(from, looked_at(from, size));
    teller.writes(to, size);
  }
}

void tell_append(const char* to, const char* from, std::size_t size, Address pc) {
  if (const Teller teller(pc); teller) {
    const std::size_t old = length_of(to);
    const std::size_t added = REAL(strnlen)(from, size);
    teller.reads(to, old + 1);
    teller.reads(from, added < size ? added + 1 : size);
    teller.writes(to + old, added + 1);
  }
}

}  // namespace

TOMOS_INTERPOSE(char*, strcpy, char* to, const char* from) {
  tell_copy(to, from, TOMOS_CALLER());
  return REAL(strcpy)(to, from);
}
TOMOS_INTERPOSE(char*, __strcpy_chk, char* to, const char* from, std::size_t room) {
  tell_copy(to, from, TOMOS_CALLER());
  return REAL(__strcpy_chk)(to, from, room);
}
TOMOS_INTERPOSE(char*, stpcpy, char* to, const char* from) {
  tell_copy(to, from, TOMOS_CALLER());
  return REAL(stpcpy)(to, from);
}
TOMOS_INTERPOSE(char*, __stpcpy_chk, char* to, const char* from, std::size_t room) {
  tell_copy(to, from, TOMOS_CALLER());
  return REAL(__stpcpy_chk)(to, from, room);
}
TOMOS_INTERPOSE(char*, strncpy, char* to, const char* from, std::size_t size) {
  tell_bounded_copy(to, from, size, TOMOS_CALLER());
  return REAL(strncpy)(to, from, size);
}
TOMOS_INTERPOSE(char*, __strncpy_chk, char* to, const char* from, std::size_t size,
                std::size_t room) {
  tell_bounded_copy(to, from, size, TOMOS_CALLER());
  return REAL(__strncpy_chk)(to, from, size, room);
}
TOMOS_INTERPOSE(char*, strcat, char* to, const char* from) {
  tell_append(to, from, SIZE_MAX, TOMOS_CALLER());
  return REAL(strcat)(to, from);
}
TOMOS_INTERPOSE(char*, __strcat_chk, char* to, const char* from, std::size_t room) {
  tell_append(to, from, SIZE_MAX, TOMOS_CALLER());
  return REAL(__strcat_chk)(to, from, room);
}
TOMOS_INTERPOSE(char*, strncat, char* to, const char* from, std::size_t size) {
  tell_append(to, from, size, TOMOS_CALLER());
  return REAL(strncat)(to, from, size);
}
TOMOS_INTERPOSE(char*, __strncat_chk, char* to, const char* from, std::size_t size,
                std::size_t room) {
  tell_append(to, from, size, TOMOS_CALLER());
  return REAL(__strncat_chk)(to, from, size, room);
}

// --- Copies in new memory. libc's would do, but then they would seem to be made there.

namespace {

char* duplicate(const char* text, std::size_t length, std::size_t read, Address pc) {
  auto* const made = static_cast<char*>(allocate(length + 1, pc));
  if (made == nullptr) return nullptr;
  Teller(pc).reads(text, read);
  memcpy(made, text, length);
  made[length] = 0;
  return made;
}

}  // namespace

TOMOS_EXPORT char* strdup(const char* text) {
  const std::size_t length = length_of(text);
  return duplicate(text, length, length + 1, TOMOS_CALLER());
}
TOMOS_EXPORT char* strndup(const char* text, std::size_t size) {
  const std::size_t length = REAL(strnlen)(text, size);
  return duplicate(text, length, looked_at(text, size), TOMOS_CALLER());
}
