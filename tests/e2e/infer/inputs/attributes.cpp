// Own locks that carry Clang's attributes, own guards with and without them, pthreads.
#define ATTRIBUTE(x) __attribute__((x))

class ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() ATTRIBUTE(acquire_capability());
  void Unlock() ATTRIBUTE(release_capability());
  bool TryLock() ATTRIBUTE(try_acquire_capability(true));
  void AssertHeld() ATTRIBUTE(assert_capability(this));
};

class ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) ATTRIBUTE(acquire_capability(mutex));
  ~MutexLock() ATTRIBUTE(release_capability());
};

class PlainLock {  // no attributes: it is what it does
 public:
  explicit PlainLock(Mutex& mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~PlainLock() { mutex_.Unlock(); }

 private:
  Mutex& mutex_;
};

#define LOCK(mutex) PlainLock lock_at_this_line(mutex)

class Base {
 public:
  virtual ~Base() = default;
  virtual int size() = 0;

 protected:
  Mutex mu_;
};

class Queue : public Base {
 public:
  int size() override {
    MutexLock hold(&mu_);
    return size_;
  }
  void push() {
    LOCK(mu_);
    push_locked();
  }
  bool try_push() {
    if (mu_.TryLock()) {
      push_locked();
      mu_.Unlock();
      return true;
    }
    return false;
  }
  void wait_until_empty() {
    mu_.Lock();
    while (size_ != 0) {
      mu_.Unlock();
      mu_.Lock();
    }
    mu_.Unlock();
  }

 private:
  void push_locked() {
    mu_.AssertHeld();
    ++size_;
    last_ = size_;
  }

  int size_ = 0;
  int last_ ATTRIBUTE(guarded_by(mu_)) = 0;
};

int total(Base& of) { return of.size(); }

// The older names of attributes, locks of any object, and what is guarded by a lock to be found.
class ATTRIBUTE(lockable) OldMutex {
 public:
  void Lock() ATTRIBUTE(exclusive_lock_function());
  void Unlock() ATTRIBUTE(unlock_function());
  bool TryLock() ATTRIBUTE(exclusive_trylock_function(true));
  void AssertHeld() ATTRIBUTE(assert_exclusive_lock());
};

class Store {
 public:
  bool try_use() {
    if (!mu_.TryLock()) return false;
    ++uses_;
    mu_.Unlock();
    return true;
  }
  void use() {
    mu_.AssertHeld();
    ++uses_;
  }

 private:
  struct Entry {
    void hit() ATTRIBUTE(exclusive_locks_required(&Store::mu_)) { ++hits; }
    int hits ATTRIBUTE(guarded_by(&Store::mu_)) = 0;
  };
  OldMutex mu_;
  int uses_ ATTRIBUTE(guarded_var) = 0;
  Entry entry_;
};

// Takes a lock and gives it back, and does more: nothing that calls it is atomic.
class Session {
 public:
  void begin() ATTRIBUTE(acquire_capability(mu_)) {
    ++begun_;
    mu_.Lock();
  }
  void end() ATTRIBUTE(release_capability(mu_)) {
    mu_.Unlock();
    ++begun_;
  }
  void run() {
    begin();
    ++runs_;
    end();
  }
  void run_again() {
    begin();
    ++runs_;
    end();
  }

 private:
  Mutex mu_;
  int begun_ = 0;
  int runs_ = 0;
};
