// A promise hands a value over; the future's reader goes on with a shared counter.
// FINDS: label=Tally::add_twice variable=tally.total_ at=add
#include <future>
#include <mutex>
#include <thread>

class Tally {
 public:
  void add(int amount) {
    std::lock_guard lock(mutex_);
    total_ += amount;  // @add
  }
  void add_twice(int amount) {
#ifdef BAD
    add(amount);
    add(amount);
#else
    add(2 * amount);
#endif
  }

 private:
  std::mutex mutex_;
  int total_ = 0;
};

Tally tally;

int main() {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread giver([&promise] {
    promise.set_value(5);
    tally.add_twice(1);
  });
  std::thread taker([&future] { tally.add_twice(future.get()); });
  giver.join();
  taker.join();
}
