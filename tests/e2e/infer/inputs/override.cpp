// An override that needs a lock, and those who call what it overrides.
#define CAP(x) __attribute__((x))
struct CAP(capability("mutex")) Mutex {
  void lock() CAP(acquire_capability());
  void unlock() CAP(release_capability());
};
struct Base {
  virtual ~Base() = default;
  virtual void step() {}
};
class Derived : public Base {
 public:
  void step() CAP(requires_capability(mutex_)) override { ++count_; }
  void safe() {
    mutex_.lock();
    step();
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  int count_ CAP(guarded_by(mutex_)) = 0;
};
void run(Base& of) { of.step(); }
