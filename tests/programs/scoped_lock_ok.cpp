// std::scoped_lock waits for one lock and only tries the other: threads that name the locks in
// different orders cannot block each other.
#include <mutex>

#include "threads.h"

std::mutex left;
std::mutex right;
int count;

static void add(std::mutex& first, std::mutex& second) {
  std::scoped_lock both(first, second);
  count++;
}

int main() {
  in_threads({[] { add(left, right); }, [] { add(right, left); }});
}
