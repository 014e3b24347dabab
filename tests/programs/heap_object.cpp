// An object on the heap, named by its field.
// FINDS: label=Account::deposit clang:variable=Account::balance at=look,store
#include <memory>
#include <mutex>
#include <thread>

struct Account {
  std::mutex mutex;
  long number = 1;
  long balance = 0;

  void deposit(long amount) {
    std::unique_lock lock(mutex);
    const long before = balance;  // @look
#ifdef BAD
    lock.unlock();
    lock.lock();
#endif
    balance = before + amount;  // @store
  }
};

int main() {
  auto account = std::unique_ptr<Account>(new Account);
  std::thread first([&] { account->deposit(1); });
  std::thread second([&] { account->deposit(2); });
  first.join();
  second.join();
}
