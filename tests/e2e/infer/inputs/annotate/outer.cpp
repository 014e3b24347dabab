// A part is under the lock of its owner, but which owner cannot be followed: that of any.
struct __attribute__((capability("mutex"))) Mutex {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};
struct __attribute__((scoped_lockable)) Guard {
  explicit Guard(Mutex& m) __attribute__((acquire_capability(m)));
  ~Guard() __attribute__((release_capability()));
};

class Store {
 public:
  class Entry {
   public:
    void hit() {
      hits_ += 2;
      hits_ -= 1;
      hits_ += age_;
      age_ += 2;
      age_ -= 1;
      age_ += hits_;
    }
    void move(Store* to) { back_ = to; }
    int get() {
      Guard hold(back_->mutex_);
      return hits_ + age_;
    }

   private:
    Store* back_ = nullptr;
    int hits_ = 0;
    int age_ = 0;
  };

  void first() {
    Guard hold(mutex_);
    first_->hit();
  }
  void twice() {
    Guard hold(mutex_);
    first_->hit();
    first_->hit();
  }
  void set(Entry* entry) {
    Guard hold(mutex_);
    first_ = entry;
  }

 private:
  Mutex mutex_;
  Entry* first_ = nullptr;
};
