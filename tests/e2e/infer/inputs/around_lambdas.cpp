// Functions that run what they are given: with which locks.
#include <mutex>

struct Account {
  std::mutex mutex;
  int within = 0;
  int twice = 0;
  int outside = 0;
  int deferred = 0;
  int by_hand = 0;
  int on_one_way = 0;
};

template <class Action>
void within(std::mutex& mutex, Action action) {
  std::lock_guard lock(mutex);
  action();
  action();
}
void change_within(Account& account) {
  within(account.mutex, [&] { ++account.within; });
}

template <class Action>
void twice(std::mutex& mutex, Action action) {
  {
    std::lock_guard lock(mutex);
    action();
  }
  action();
}
void change_twice(Account& account) {
  twice(account.mutex, [&] { ++account.twice; });
}

template <class Action>
void outside(std::mutex& mutex, Action action) {
  std::unique_lock lock(mutex);
  lock.unlock();
  action();
}
void change_outside(Account& account) {
  outside(account.mutex, [&] { ++account.outside; });
}

template <class Action>
void deferred(std::mutex& mutex, Action action) {
  std::unique_lock lock(mutex, std::defer_lock);
  action();
  lock.lock();
}
void change_deferred(Account& account) {
  deferred(account.mutex, [&] { ++account.deferred; });
}

template <class Action>
void by_hand(std::mutex& mutex, Action action) {
  std::lock_guard lock(mutex);
  mutex.unlock();
  action();
  mutex.lock();
}
void change_by_hand(Account& account) {
  by_hand(account.mutex, [&] { ++account.by_hand; });
}

template <class Action>
void on_one_way(std::mutex& mutex, bool locks, Action action) {
  if (locks) {
    std::lock_guard lock(mutex);
    action();
  } else {
    action();
  }
}
void change_on_one_way(Account& account, bool locks) {
  on_one_way(account.mutex, locks, [&] { ++account.on_one_way; });
}
