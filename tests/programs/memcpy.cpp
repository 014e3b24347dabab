// A structure is copied by memcpy while its fields are changed one by one.
// FINDS: label=snapshot variable=shared_state at=copy
#include <cstring>
#include <mutex>

#include "threads.h"

struct State {
  long position = 0;
  long speed = 0;
  char name[200] = {};
};

std::mutex mutex;
State shared_state;

void advance() {
  std::lock_guard lock(mutex);
  shared_state.speed++;
  shared_state.position += shared_state.speed;
}

void snapshot(State* to) {
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  std::memcpy(to, &shared_state, sizeof(State));  // @copy
}

int main() {
  in_threads({[] { advance(); },
              [] {
                State mine;
                snapshot(&mine);
                keep(mine);
              }});
}
