#include <mutex>

// No lock of its own: whoever has one uses it under his.
class Counter {
 public:
  void inc() { n_ += 1; }
  int get() const { return n_; }

 private:
  int n_ = 0;
};

class Door {
 public:
  void enter() {
    std::lock_guard<std::mutex> guard(mutex_);
    in_.inc();
    all_.inc();
  }
  int all() {
    std::lock_guard<std::mutex> guard(mutex_);
    return all_.get();
  }
  bool is_quiet() {
    std::lock_guard<std::mutex> guard(mutex_);
    return in_.get() == 0;
  }

 private:
  std::mutex mutex_;
  Counter in_;
  Counter all_;
};

class Gate {
 public:
  void pass() {
    std::lock_guard<std::mutex> guard(lock_);
    count();
  }

 private:
  void count() {
    passed_->inc();
    passed_->inc();
  }
  std::mutex lock_;
  Counter* const passed_ = new Counter;
};

// A lock of its own, under that of its owner (Fig. 4 of the type-inference paper).
class List {
 public:
  void add(int value) {
    std::lock_guard<std::mutex> guard(m_);
    last_ = value;
  }
  bool contains(int value) {
    std::lock_guard<std::mutex> guard(m_);
    return last_ == value;
  }

 private:
  std::mutex m_;
  int last_ = 0;
};

class Set {
 public:
  void add(int value) {
    std::lock_guard<std::mutex> guard(mutex_);
    if (!list_.contains(value)) list_.add(value);
  }

 private:
  std::mutex mutex_;
  List list_;
};

// Nobody's, and so no lock's.
class Loose {
 public:
  void hit() { hits_ += 1; }

 private:
  int hits_ = 0;
};

class Holder {
 public:
  void hit() {
    std::lock_guard<std::mutex> guard(mutex_);
    loose_.hit();
  }
  Loose& loose() { return loose_; }

 private:
  std::mutex mutex_;
  Loose loose_;
};

void hit(Holder& holder) { holder.loose().hit(); }
