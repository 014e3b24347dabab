// A document that is worked on outside: what was read is written back only if its version is still
// the same, else all begins again.
#include <thread>

struct Document {
  int version = 0;
  int text = 0;
};

static Document document;

static int edited(int text, int by) { return text * 31 + by; }

static void edit(int by) {
  for (;;) {
    int seen = 0;
    int text = 0;
    __transaction_atomic {
      seen = document.version;
      text = document.text;
    }
    const int made = edited(text, by);
    bool done = false;
    __transaction_atomic {
      if (document.version == seen) {
        document.text = made;
        document.version = seen + 1;
        done = true;
      }
    }
    if (done) return;
  }
}

static void author(int by) {
  for (int i = 0; i < 100; ++i) edit(by);
}

int main() {
  std::thread one(author, 1);
  std::thread two(author, 2);
  one.join();
  two.join();
  return document.version == 200 ? 0 : 1;
}
