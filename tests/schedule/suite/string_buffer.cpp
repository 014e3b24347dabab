// StringBuffer.append of JDK 1.4, with calls of other methods around it that make the window small.
#include <mutex>
#include <string>

#include "threads.h"

class StringBuffer {
 public:
  void append(const std::string& text) {
    std::lock_guard lock(monitor_);
    value_ += text;
  }
  void append(StringBuffer& other) {
#ifdef FIXED
    std::scoped_lock lock(monitor_, other.monitor_);
#else
    std::lock_guard lock(monitor_);
#endif
    const auto length = other.length();
    const auto text = other.characters(length);
    assert(text.size() == length);
    value_ += text;
  }
  std::size_t length() {
    std::lock_guard lock(monitor_);
    return value_.size();
  }
  std::string characters(std::size_t end) {
    std::lock_guard lock(monitor_);
    return value_.substr(0, end);
  }
  void set_length(std::size_t length) {
    std::lock_guard lock(monitor_);
    value_.resize(length);
  }

 private:
  std::recursive_mutex monitor_;
  std::string value_;
};

int main() {
  StringBuffer one, two;
  two.append("hello");
  return run({[&] {
                for (int i = 0; i < 5; i++) one.append("x");
                one.append(two);
                one.append("end");
              },
              [&] {
                for (int i = 0; i < 5; i++) one.length();
                two.set_length(2);
                two.append("world");
              }});
}
