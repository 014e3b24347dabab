// The locks of the standard library, and the ways to hold them.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Account {
 public:
  int get() {
    std::lock_guard<std::mutex> hold(m_);
    return balance_;
  }
  void set(int value) {
    m_.lock();
    balance_ = value;
    m_.unlock();
  }
  void deposit(int value) { set(get() + value); }
  bool try_deposit(int value) {
    std::unique_lock<std::mutex> hold(m_, std::try_to_lock);
    if (!hold.owns_lock()) return false;
    balance_ += value;
    history_.push_back(value);
    return true;
  }
  void wait_for_money() {
    std::unique_lock<std::mutex> hold(m_);
    changed_.wait(hold, [this] { return balance_ > 0; });
    hold.unlock();
    waits_++;
  }
  void later() {
    std::thread helper([this] { deposit(1); });
    helper.join();
  }
  void visit(const std::function<void(int)>& visitor);
  static void move(Account* from, Account& to) {
    std::scoped_lock both(from->m_, to.m_);
    from->balance_ -= 1;
    to.balance_ += 1;
  }

 private:
  std::mutex m_;
  std::condition_variable changed_;
  int balance_ = 0;
  std::vector<int> history_;
  std::atomic<int> waits_{0};
  const int limit_ = 100;
};

struct Node {
  std::mutex mu;
  int value = 0;
  Node* next = nullptr;
};

int sum(Node* at) {
  int total = 0;
  while (at != nullptr) {
    at->mu.lock();
    total += at->value;
    at->mu.unlock();
    at = at->next;
  }
  return total;
}

namespace {
int calls = 0;
std::mutex calls_mutex;
}  // namespace

template <class Function>
void with_lock(Function function) {
  std::lock_guard<std::mutex> hold(calls_mutex);
  function();
}

void count() {
  with_lock([] { ++calls; });
}

std::atomic<int> ready;
void get_ready() { ready.store(1, std::memory_order_release); }
