// Fields that share a word are different variables, with different locks; bits of one byte are not.
// FINDS: label=add_to_first variable=flags
#include <mutex>

#include "threads.h"

struct Flags {
#ifdef BAD
  unsigned char first : 4;
  unsigned char second : 4;
#else
  unsigned char first;
  unsigned char second;
#endif
};

std::mutex first_mutex;
std::mutex second_mutex;
Flags flags;

void add_to_first() {
  std::lock_guard lock(first_mutex);
  flags.first = static_cast<unsigned char>((flags.first + 1) & 15);
}

void add_to_second() {
  std::lock_guard lock(second_mutex);
  flags.second = static_cast<unsigned char>((flags.second + 1) & 15);
}

int main() {
  in_threads({[] { add_to_first(); }, [] { add_to_second(); }});
}
