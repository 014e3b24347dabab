// Locks and guards of a project's own, as large projects write them: mixins, macros, lambdas.
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define ATTRIBUTE(x) __attribute__((x))

template <class Parent>
class ATTRIBUTE(capability("mutex")) Annotated : public Parent {
 public:
  void lock() ATTRIBUTE(acquire_capability()) { Parent::lock(); }
  void unlock() ATTRIBUTE(release_capability()) { Parent::unlock(); }
  using Guard = std::unique_lock<Parent>;
};
using Mutex = Annotated<std::mutex>;
using RecursiveMutex = Annotated<std::recursive_mutex>;

template <class Lock>
class ATTRIBUTE(scoped_lockable) Scoped : public Lock::Guard {
 public:
  explicit Scoped(Lock& lock, const char* name, bool tries = false)
      ATTRIBUTE(acquire_capability(lock))
      : Lock::Guard(lock) {}
  ~Scoped() ATTRIBUTE(release_capability()) {}
  operator bool() { return this->owns_lock(); }
};

template <class Lock>
Lock& checked(Lock& lock) ATTRIBUTE(lock_returned(lock)) {
  return lock;
}

#define LOCK(lock) Scoped scope_##__LINE__(checked(lock), #lock)
#define TRY_LOCK(lock, name) Scoped name(checked(lock), #lock, true)
#define WITH_LOCK(lock, code) \
  ([&]() -> decltype(auto) {  \
    LOCK(lock);               \
    code;                     \
  }())

RecursiveMutex main_lock;
int height = 0;

struct Peer {
  Mutex mutex;
  int score = 0;
};

class Manager {
 public:
  void raise(int id) {
    std::shared_ptr<Peer> peer = find(id);
    if (!peer) return;
    LOCK(peer->mutex);
    peer->score += 1;
  }
  int get() { return WITH_LOCK(lock_, return total_); }
  void maybe() {
    TRY_LOCK(main_lock, held);
    if (!held) return;
    height++;
  }
  template <class Function>
  void for_each(Function&& function) {
    LOCK(lock_);
    for (auto& [id, peer] : peers_) function(peer);
  }
  void count() {
    LOCK(main_lock);
    for_each([&](std::shared_ptr<Peer>& peer) {
      height += 1;
      total_++;
    });
  }
  void start() {
    later([this] { add(); });
    std::thread(&Manager::run, this).detach();
  }
  void run() {
    LOCK(lock_);
    total_ = 2;
    peers_[1] = std::make_shared<Peer>();
    add_locked();
  }

 private:
  std::shared_ptr<Peer> find(int id) {
    LOCK(lock_);
    auto at = peers_.find(id);
    return at != peers_.end() ? at->second : nullptr;
  }
  void add() {
    LOCK(lock_);
    add_locked();
  }
  void add_locked() { ++total_; }
  void later(std::function<void()> work) {
    LOCK(queue_lock_);
    queue_.push_back(std::move(work));
  }

  RecursiveMutex lock_;
  int total_ = 0;
  std::map<int, std::shared_ptr<Peer>> peers_;
  Mutex queue_lock_;
  std::vector<std::function<void()>> queue_;
};

// What is likely makes no difference.
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
class Tried {
 public:
  void add() {
    if (LIKELY(mutex_.try_lock())) {
      ++tried_;
      mutex_.unlock();
    }
  }
  void subtract() {
    const bool held = mutex_.try_lock();
    if (LIKELY(!held)) return;
    --tried_;
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  int tried_ = 0;
};
