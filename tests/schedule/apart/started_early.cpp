// A thread is started before the field that it uses has been set.
#include <atomic>
#include <memory>

#include "../suite/threads.h"

struct Window {
  std::atomic<const char*> title = nullptr;
  std::thread painter;

  Window() {
#ifdef FIXED
    title = "main";
#endif
    painter = std::thread([this] {
      for (int i = 0; i < 2; i++) painted += i;
      const char* text = title;
      assert(text != nullptr);
      painted += text[0];
    });
    for (int i = 0; i < 4; i++) prepared += i;
    title = "main";
  }
  ~Window() { painter.join(); }

  std::atomic<int> painted = 0;
  std::atomic<int> prepared = 0;
};

int main() {
  return run({[] { Window(); }});
}
