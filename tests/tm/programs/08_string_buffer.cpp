// StringBuffer: the length that was asked for is out of date when the characters are fetched.
#include "08_string_buffer.h"

#include <thread>

class StringBuffer {
 public:
  int length() {
    __transaction_atomic { return text_.length(); }
  }
  void getChars(int from, int to, char* into) {
    __transaction_atomic { text_.getChars(from, to, into); }
  }
  void erase() {
    __transaction_atomic { text_.erase(); }
  }
  void append(StringBuffer& other) {
#ifdef FIXED
    __transaction_atomic {
      int len = other.length();
      char* buf = new char[len];
      other.getChars(0, len, buf);
      text_.append(buf, len);
    }
#else
    int len = other.length();
    char* buf = new char[len];
    other.getChars(0, len, buf);
    __transaction_atomic { text_.append(buf, len); }
#endif
  }

 private:
  Text text_;
};

StringBuffer source;
StringBuffer target;

void appends() { target.append(source); }
void erases() { source.erase(); }

int main() {
  std::thread t1(appends);
  std::thread t2(erases);
  t1.join();
  t2.join();
}
