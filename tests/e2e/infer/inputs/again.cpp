// Locks that are acquired by who holds them: wrongly, and not.
#define CAP(x) __attribute__((x))
#include <mutex>

class Jitter {
 public:
  void insert(int n) {
    const std::lock_guard guard(mutex_);
    size_ += n;
    if (size_ > 10) flush();
  }
  void flush() {
    const std::lock_guard guard(mutex_);
    size_ = 0;
  }
  template <class Function>
  int visit(Function each) {
    const std::lock_guard guard(mutex_);
    return each(size_);
  }
  int doubled() {
    return visit([this](int n) { return n + size_; });
  }
  int doubled_wrongly() {
    const std::lock_guard guard(mutex_);
    return visit([this](int n) { return n + size_; });
  }

 private:
  std::mutex mutex_;
  int size_ = 0;
};

// A standard mutex, whoever does it, and in a macro, too.
#define WITH_LOCK(mutex, code)          \
  {                                     \
    const std::lock_guard guard(mutex); \
    code;                               \
  }
class Careless {
 public:
  void clear() {
    const std::lock_guard guard(mutex_);
    size_ = 0;
  }
  void clear_in_macro() { WITH_LOCK(mutex_, clear()); }
  void clear_and_add() {
    const std::lock_guard guard(mutex_);
    clear();
    ++size_;
  }
  void add_and_clear() {
    const std::lock_guard guard(mutex_);
    ++size_;
    clear();
  }

 private:
  std::mutex mutex_;
  int size_ = 0;
};

// Only for Clang's checker to see.
struct CAP(capability("promise")) Promise {};
struct CAP(scoped_lockable) Promised {
  explicit Promised(const Promise* promise) CAP(acquire_capability(promise)) {}
  ~Promised() CAP(release_capability()) {}
};
class Buffer {
 public:
  void add(int n) {
    const Promised here(&promise_);
    size_ += n;
    if (size_ > 10) clear();
  }
  void clear() {
    const Promised here(&promise_);
    size_ = 0;
  }

 private:
  Promise promise_;
  int size_ = 0;
};

// What it does nobody knows, but everybody does it again.
struct CAP(capability("checker")) Checker {};
struct CAP(scoped_lockable) Checked {
  explicit Checked(const Checker* checker) CAP(acquire_capability(checker));
  ~Checked() CAP(release_capability());
};
class Generator {
 public:
  int rate() {
    const Checked here(&checker_);
    return rate_;
  }
  void set(int rate) {
    const Checked here(&checker_);
    if (this->rate() != rate) rate_ = rate;
  }
  void step() {
    const Checked here(&checker_);
    rate_ += rate();
  }
  void reset() {
    const Checked here(&checker_);
    if (rate() != 0) rate_ = 0;
  }

 private:
  Checker checker_;
  int rate_ = 0;
};

void use(Jitter& jitter, Careless& careless, Buffer& buffer, Generator& generator) {
  jitter.insert(1);
  jitter.doubled();
  jitter.doubled_wrongly();
  careless.clear_in_macro();
  careless.clear_and_add();
  careless.add_and_clear();
  buffer.add(1);
  generator.set(1);
  generator.step();
  generator.reset();
}
