#pragma once
struct Event {
  int count;
  int twice() const { return 2 * count; }
  static int name(int action);
};
extern "C" int log_print(int priority, const char* tag, const char* format, ...);
