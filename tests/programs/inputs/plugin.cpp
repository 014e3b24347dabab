// A library that dlopen.cpp opens while threads run.
#include <mutex>

std::mutex plugin_mutex;
int plugin_count;

extern "C" void plugin_add_if_room() {
  std::unique_lock lock(plugin_mutex);
  const bool room = plugin_count < 10;  // @look
#ifdef BAD
  lock.unlock();
  lock.lock();
#endif
  if (room) plugin_count++;  // @add
}
