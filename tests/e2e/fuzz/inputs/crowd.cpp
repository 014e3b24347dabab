// A block touches sixteen other things between two uses of the one that another thread writes.
#include <tomos/tomos.h>

#include <cstdlib>
#include <thread>

static int cells[8192];

int main(int /*count*/, char** words) {
  int* const mine = cells + std::atoi(words[1]);
  std::thread other([&] { *mine = 7; });
  {
    TOMOS_ATOMIC("crowd");
    const int first = *mine;
    for (int i = 1; i <= 16; ++i) mine[(i * i * i * 7) % 8000] += 1;
    *mine = first + 1;
  }
  other.join();
}
