#pragma once
#include <mutex>

struct Event {
  int count;
  int twice() const { return 2 * count; }
  static int name(int action);
};
// Both units define a part of it.
struct Pool {
  std::mutex mutex;
  int free = 0;
  int resets = 0;
  void give();
  int take();
  void reset();
};
extern "C" int log_print(int priority, const char* tag, const char* format, ...);
