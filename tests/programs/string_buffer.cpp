// java.lang.StringBuffer: append(StringBuffer) asks the other buffer for its length and then for
// its characters, and holds only its own lock in between.
// FINDS: label=StringBuffer::append variable=source.count_ at=length,characters
#include <algorithm>
#include <mutex>

#include "threads.h"

class StringBuffer {
 public:
  explicit StringBuffer(const char* text) {
    while (text[count_] != '\0') {
      value_[count_] = text[count_];
      count_++;
    }
  }

  int length() {
    std::lock_guard lock(monitor_);
    return count_;  // @length
  }

  void get_characters(int end, char* to) {
    std::lock_guard lock(monitor_);
    std::copy_n(value_, std::min(end, count_), to);  // @characters
  }

  void append(StringBuffer& other) {
    std::lock_guard lock(monitor_);
#ifndef BAD
    std::lock_guard both(other.monitor_);
#endif
    const int more = std::min(other.length(), kRoom - count_);
    other.get_characters(more, value_ + count_);
    count_ += more;
  }

  void set_length(int length) {
    std::lock_guard lock(monitor_);
    count_ = length;
  }

 private:
  static constexpr int kRoom = 100;
  std::recursive_mutex monitor_;
  char value_[kRoom] = {};
  int count_ = 0;
};

StringBuffer source("abc");
StringBuffer target("xyz");

int main() {
  in_threads({[] { target.append(source); }, [] { source.set_length(0); }});
}
