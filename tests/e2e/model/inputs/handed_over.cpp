// Promises, several locks at once, a barrier that calls a function: proved; with -DBROKEN each
// thread takes the locks in its own order.
#include <pthread.h>

#include <barrier>
#include <cassert>
#include <future>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

struct Account {
  std::mutex mutex;
  int balance = 0;
};

void transfer(Account& from, Account& to) {
#ifdef BROKEN
  std::lock_guard first(from.mutex);
  std::lock_guard second(to.mutex);
#else
  std::unique_lock first(from.mutex, std::defer_lock);
  std::unique_lock second(to.mutex, std::defer_lock);
  std::lock(first, second);
#endif
  --from.balance;
  ++to.balance;
}

Account a;
Account b;
std::counting_semaphore<200> many(200);
pthread_once_t once = PTHREAD_ONCE_INIT;
bool made;
bool even = true;

void make() { made = true; }

int main() {
  std::promise<int> promise;
  auto turn = []() noexcept { even = !even; };
  std::barrier barrier(2, turn);
  std::thread first(
      [&](std::future<int> ready) {
        many.acquire();
        ready.wait();
        assert(made);
        transfer(a, b);
        barrier.arrive_and_wait();
        assert(!even);
      },
      promise.get_future());
  std::thread second(
      [&](std::promise<int> given) {
        pthread_once(&once, make);
        given.set_value(1);
        transfer(b, a);
        barrier.arrive_and_wait();
        assert(!even);
      },
      std::move(promise));
  {
    std::scoped_lock both(b.mutex, a.mutex);
    a.balance = b.balance;
  }
  first.join();
  second.join();
}
