// Methods that nobody calls here and that say, by a test which ends the program, what they need.
#include <cassert>
#include <cstdlib>
#include <mutex>

class Lock {
 public:
  void lock() { mutex_.lock(), held_ = true; }
  void unlock() { held_ = false, mutex_.unlock(); }
  bool isHeld() const { return held_; }
  bool is_locked_by_me() const { return held_; }

 private:
  std::mutex mutex_;
  bool held_ = false;
};
bool lock_own(const Lock* lock) { return lock->isHeld(); }

[[noreturn]] void crash() { std::abort(); }
struct Fatal {
  Fatal& operator<<(const char*) { return *this; }
  [[noreturn]] ~Fatal() { std::abort(); }
};
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ASSERT(x)                \
  do {                           \
    if (UNLIKELY(!(x))) crash(); \
  } while (0)
#define CHECK(x) \
  if (x)         \
    ;            \
  else           \
    Fatal() << #x

class Counter {
 public:
  void plain() {
    assert(lock_.isHeld());
    plain_++;
  }
  void by_macro() {
    ASSERT(lock_.isHeld());
    by_macro_++;
  }
  void by_log() {
    CHECK(lock_.is_locked_by_me()) << "of all things";
    by_log_++;
  }
  void by_function() {
    assert(lock_own(&lock_) && "hold it");
    by_function_++;
  }
  void either() {  // says little
    assert(lock_.isHeld() || either_ == 0);
    either_++;
  }
  void tests_it() {  // a test, and no assertion
    if (!lock_.isHeld()) {
      if (tests_it_ < 0) crash();
      tests_it_ = 1;
    }
    tests_it_++;
  }
  void opposite() {
    assert(!lock_.isHeld());
    opposite_++;
  }
  void taken() {
    std::lock_guard guard(lock_);
    assert(lock_.isHeld());
    taken_++;
  }

 private:
  Lock lock_;
  int plain_ = 0, by_macro_ = 0, by_log_ = 0, by_function_ = 0;
  int either_ = 0, tests_it_ = 0, opposite_ = 0, taken_ = 0;
};
