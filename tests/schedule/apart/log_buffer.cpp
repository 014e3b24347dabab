// Lines are copied to the end of a buffer whose length is moved on afterwards.
#include <cstring>
#include <mutex>

#include "../suite/threads.h"

class Log {
 public:
  void write(const char* line) {
    const std::size_t size = std::strlen(line);
#ifdef FIXED
    std::lock_guard lock(mutex_);
#endif
    if (used_ + size > sizeof text_) used_ = 0;
    std::memcpy(text_ + used_, line, size);
    used_ += size;
  }
  void check() const {
    assert(used_ == 12);
    for (const char* at = text_; at != text_ + used_; at += 4) {
      assert(std::memcmp(at, "one\n", 4) == 0 || std::memcmp(at, "two\n", 4) == 0);
    }
  }

 private:
  [[maybe_unused]] std::mutex mutex_;
  char text_[64] = {};
  std::size_t used_ = 0;
};

int main() {
  Log log;
  return run({[&] {
                log.write("one\n");
                log.write("one\n");
              },
              [&] { log.write("two\n"); }},
             [&] { log.check(); });
}
