// A capability that nobody acquires: the thread that an object is used in, which it asserts.
class __attribute__((capability("thread"))) Checker {
 public:
  void assert_current() const __attribute__((assert_capability(this))) {}
};

class Stream {
 public:
  void start() {
    checker_.assert_current();
    running_ = true;
    reset();
  }
  int count() {
    checker_.assert_current();
    return running_ ? count_ : 0;
  }

 private:
  void reset() { count_ = 0; }

  Checker checker_;
  bool running_ = false;
  int count_ = 0;
};

int use(Stream& stream) {
  stream.start();
  return stream.count();
}
