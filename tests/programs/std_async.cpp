// Tasks and futures.
// FINDS: label=add_if_room variable=count at=look,add
#include <future>
#include <mutex>

std::mutex mutex;
int count;

static int look() {
  std::lock_guard lock(mutex);
  return count;  // @look
}

int add_if_room(int amount) {
#ifdef BAD
  const bool room = look() < 100;
  std::lock_guard lock(mutex);
#else
  std::lock_guard lock(mutex);
  const bool room = count < 100;
#endif
  if (room) count += amount;  // @add
  return room ? amount : 0;
}

int main() {
  auto first = std::async(std::launch::async, [] { return add_if_room(1) + add_if_room(2); });
  auto second = std::async(std::launch::async, [] { return add_if_room(3) + add_if_room(4); });
  const int sum = first.get() + second.get();
  return sum == 10 && look() <= 10 ? 0 : 1;
}
