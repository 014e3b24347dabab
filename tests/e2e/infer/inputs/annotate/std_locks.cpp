// Every lock and guard of the standard library, as Clang's analysis should see it. BAD: as it
// should not be.
#include <tomos/thread_annotations.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

class Locks {
 public:
  void guard() {
    std::lock_guard<std::mutex> hold(m_);
    ++x_;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock<std::mutex> hold(m_);
    changed_.wait(hold, [this]() REQUIRES(m_) { return x_ > 0; });
    --x_;
    hold.unlock();
    hold.lock();
    ++x_;
  }
  void several() {
    std::scoped_lock both(m_, other_);
    ++x_;
    ++y_;
  }
  void one() {
    std::scoped_lock hold(m_);
    ++x_;
  }
  void deferred() {
    std::unique_lock<std::mutex> hold(m_, std::defer_lock);
    hold.lock();
    ++x_;
  }
  void adopted() {
    m_.lock();
    std::lock_guard<std::mutex> hold(m_, std::adopt_lock);
    ++x_;
  }
  void at_once() {
    std::lock(m_, other_);
    std::lock_guard<std::mutex> hold(m_, std::adopt_lock);
    std::lock_guard<std::mutex> also(other_, std::adopt_lock);
    ++x_;
    ++y_;
  }
  int shared() {
    std::shared_lock hold(shared_);
    hold.unlock();
    hold.lock();
    return z_;
  }
  void exclusive() {
    std::unique_lock hold(shared_);
    ++z_;
  }
  bool tried() {
    if (!m_.try_lock()) return false;
    ++x_;
    m_.unlock();
    return true;
  }
  bool tried_for() {
    if (!timed_.try_lock_for(std::chrono::seconds(1))) return false;
    ++t_;
    timed_.unlock();
    return true;
  }
  void recursive() {
    std::lock_guard<std::recursive_mutex> hold(recursive_);
    ++r_;
  }
  void moved() {
    std::unique_lock<std::mutex> first(m_);
    std::unique_lock<std::mutex> second;
    second = std::move(first);
    swap(first, second);
  }
#ifdef BAD
  void unguarded() { ++x_; }
  void too_late() {
    std::unique_lock<std::mutex> hold(m_);
    hold.unlock();
    ++x_;
  }
  void only_shared() {
    std::shared_lock hold(shared_);
    ++z_;
  }
  void kept() {
    m_.lock();
    ++x_;
  }
#endif

 private:
  std::mutex m_, other_;
  std::condition_variable changed_;
  std::shared_mutex shared_;
  std::timed_mutex timed_;
  std::recursive_mutex recursive_;
  int x_ GUARDED_BY(m_) = 0;
  int y_ GUARDED_BY(other_) = 0;
  int z_ GUARDED_BY(shared_) = 0;
  int t_ GUARDED_BY(timed_) = 0;
  int r_ GUARDED_BY(recursive_) = 0;
};

int main() {
  Locks locks;
  auto waiting = std::async(std::launch::async, [&] { locks.wait(); });
  locks.guard();
  waiting.get();
  locks.several();
  locks.one();
  locks.deferred();
  locks.adopted();
  locks.at_once();
  locks.exclusive();
  locks.recursive();
  locks.moved();
  return locks.tried() && locks.tried_for() && locks.shared() == 1 ? 0 : 1;
}
