// A lock that is one by its base can be said like any other, although it does more than lock.
struct __attribute__((capability("mutex"))) Monitor {
  void lock() __attribute__((acquire_capability()));
  void unlock() __attribute__((release_capability()));
};
struct __attribute__((scoped_lockable)) Locked {
  explicit Locked(Monitor& monitor) __attribute__((acquire_capability(monitor)));
  ~Locked() __attribute__((release_capability()));
};
class CountedMonitor : public Monitor {
 public:
  void add_reference() { __atomic_fetch_add(&references_, 1, __ATOMIC_RELAXED); }

 private:
  int references_ = 0;
};

class Channel {
 public:
  explicit Channel(CountedMonitor& monitor) : monitor_(monitor) {}
  void send() {
    Locked locked(monitor_);
    ++sent_;
  }
  int sent() {
    Locked locked(monitor_);
    return sent_;
  }

 private:
  CountedMonitor& monitor_;
  int sent_ = 0;
};

class Queue {
 public:
  void put(int value) {
    Locked locked(monitor_);
    last_ = value;
    ++size_;
  }
  int take() {
    Locked locked(monitor_);
    --size_;
    return last_;
  }

 private:
  Monitor monitor_;
  int last_ = 0;
  int size_ = 0;
};
