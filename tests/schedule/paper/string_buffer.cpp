// java.lang.StringBuffer of JDK 1.4: append(StringBuffer) asks the other for its length and then
// for its characters, each under the other's lock; in between it may become shorter.
// PAPER: 0.78
#include <tomos/tomos.h>

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

class StringBuffer {
 public:
  explicit StringBuffer(std::string text) : value_(std::move(text)) {}

  std::size_t length() {
    std::lock_guard lock(monitor_);
    return value_.size();
  }
  std::string characters(std::size_t begin, std::size_t end) {
    std::lock_guard lock(monitor_);
    if (begin > end || end > value_.size()) throw std::out_of_range("characters");
    return value_.substr(begin, end - begin);
  }
  void append(StringBuffer& other) {
    TOMOS_ATOMIC("StringBuffer::append");
    std::lock_guard lock(monitor_);
    const auto length = other.length();
    value_ += other.characters(0, length);
  }
  void erase(std::size_t begin, std::size_t end) {
    std::lock_guard lock(monitor_);
    value_.erase(begin, end - begin);
  }

 private:
  std::recursive_mutex monitor_;
  std::string value_;
};

int main() {
  StringBuffer one("abc"), two("defghi");
  std::thread appender([&] { one.append(two); });
  std::thread eraser([&] {
    for (int i = 0; i < 3; i++) two.erase(0, 2);
  });
  appender.join();
  eraser.join();
  std::puts("ok");
}
