// Guards of the project's own around those of the standard library, which is what one waits with.
#include <condition_variable>
#include <mutex>

#define HAS(attribute) __attribute__((attribute))

class HAS(capability("mutex")) Mutex {
 public:
  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }

 private:
  mutable std::mutex mutex_;
};

class HAS(scoped_lockable) Held {
 public:
  explicit Held(const Mutex& mutex) HAS(acquire_capability(mutex)) : lock_(mutex.lock()) {}
  ~Held() HAS(release_capability()) {}
  void unlock() HAS(release_capability()) { lock_.unlock(); }
  std::unique_lock<std::mutex>& native_handle() { return lock_; }
  operator std::unique_lock<std::mutex>&() { return lock_; }

 private:
  std::unique_lock<std::mutex> lock_;
};

std::unique_lock<std::mutex>& of_somebody();

class Queue {
 public:
  void wait() {
    Held held(mutex_);
    changed_.wait(held.native_handle(), [this] { return by_name_ > 0; });
    ++waits_;
  }
  void wait_as_one() {
    Held held(mutex_);
    changed_.wait(held, [this] { return converted_ > 0; });
    ++waits_;
  }
  void give_back() {
    Held held(mutex_);
    ++given_back_;
    held.native_handle().unlock();
    --outside_;
  }
  void wait_for_another() {
    Held held(mutex_);
    changed_.wait(of_somebody(), [this] { return unknown_ > 0; });
  }
  void put() {
    Held held(mutex_);
    ++by_name_;
    ++converted_;
    ++given_back_;
    ++outside_;
    ++unknown_;
    changed_.notify_all();
  }
  int waits() {
    Held held(mutex_);
    return waits_;
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  int by_name_ = 0;
  int converted_ = 0;
  int given_back_ = 0;
  int outside_ = 0;
  int unknown_ = 0;
  int waits_ = 0;
};

Queue queue;

int main() {
  queue.put();
  queue.wait();
  queue.wait_as_one();
  queue.give_back();
  queue.wait_for_another();
  return queue.waits();
}
