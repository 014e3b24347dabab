// Methods that anybody may call, and that are only ever called under a lock.
#include <mutex>

class Pool {
 public:
  void put() {
    std::lock_guard guard(lock_);
    ++used_;
    grow();
    meter_.bump();
  }
  void take() {
    std::lock_guard guard(lock_);
    --used_;
    grow();
    meter_.bump();
  }
  void grow() { hint_ = hint_ * 2 + 1; }  // counts on the lock of its callers
  void shrink() { hint_ = hint_ / 2; }    // does not: see below
  int hint() const { return hint_; }
  void set_hint(int hint) { hint_ = hint; }
  void forget() { hint_ = 0; }
  int used() {
    std::lock_guard guard(lock_);
    shrink();
    return used_;
  }
  void idle() { shrink(); }

  struct Meter {
    void bump() { ++ticks; }  // the lock of somebody else's object
    int ticks = 0;
  };
  Meter& meter() { return meter_; }

 private:
  std::mutex lock_;
  int used_ = 0;
  int hint_ = 0;
  Meter meter_;
};

int free_reads(Pool& pool) {
  pool.set_hint(pool.hint() + pool.meter().ticks);
  pool.meter().ticks = 0;
  pool.meter().ticks += 1;
  pool.forget();
  return pool.meter().ticks;
}
