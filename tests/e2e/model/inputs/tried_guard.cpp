// A guard that tries: what the if does is a critical section, until the guard gives the lock back.
#include <mutex>
#include <thread>

static std::mutex m;
static bool ready, done;

static void take() {
  if (std::unique_lock lock(m, std::try_to_lock); lock) {
    done = ready;
    done = ready;
  }
}
static void give() {
#ifdef LOCKED
  std::lock_guard lock(m);
#endif
  ready = true;
}

int main() {
  std::thread other(take);
  give();
  other.join();
}
