// Transfers between a fixed set of accounts, each with a lock of its own: the two locks of a
// transfer are taken in the order of the accounts. One transaction in a thousand looks at all
// accounts, and must find that no money was made or lost.
//
//   bank [THOUSANDS OF TRANSACTIONS]
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

constexpr unsigned kThreads = 4;
constexpr std::size_t kAccounts = 64;
constexpr long kStart = 1000;

class Bank {
 public:
  void transfer(std::size_t from, std::size_t to, long amount) {
    if (from == to) return;
    const std::lock_guard first(accounts_[std::min(from, to)].mutex);
    const std::lock_guard second(accounts_[std::max(from, to)].mutex);
    if (accounts_[from].balance < amount) {
      accounts_[from].refused++;
      return;
    }
    accounts_[from].balance -= amount;
    accounts_[to].balance += amount;
  }

  long total() {
    for (Account& account : accounts_) account.mutex.lock();
    long sum = 0;
    for (const Account& account : accounts_) sum += account.balance;
    for (Account& account : accounts_) account.mutex.unlock();
    return sum;
  }

 private:
  struct Account {
    std::mutex mutex;
    long balance = kStart;
    long refused = 0;
  };

  std::array<Account, kAccounts> accounts_;
};

// Says whether every look at all accounts found the same money.
static bool trade(Bank& bank, std::uint64_t seed, long transactions) {
  bool good = true;
  for (long i = 0; i < transactions; i++) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const std::size_t from = (seed >> 33) % kAccounts;
    const std::size_t to = (seed >> 43) % kAccounts;
    if (i % 1000 == 0) {
      good = good && bank.total() == static_cast<long>(kAccounts) * kStart;
    } else {
      bank.transfer(from, to, static_cast<long>((seed >> 53) % 100));
    }
  }
  return good;
}

int main(int argc, char** argv) {
  const long thousands = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 500;
  Bank bank;
  std::array<bool, kThreads> good = {};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (unsigned i = 0; i < kThreads; i++) {
    threads.emplace_back([&bank, &good, i, thousands] {
      good[i] = trade(bank, i + 1, thousands * 1000 / kThreads);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const bool all_good = std::ranges::all_of(good, [](bool one) { return one; });
  std::printf("%ld in all accounts; seen so throughout: %s\n", bank.total(),
              all_good ? "yes" : "no");
  return all_good ? 0 : 1;
}
