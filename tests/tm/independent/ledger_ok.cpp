// Accounts of a bank: money moves in one scope, and the auditor adds up in one scope.
#include <array>
#include <thread>

namespace stm {
struct Scope {
  Scope();
  ~Scope();
};
}  // namespace stm

struct Ledger {
  std::array<long, 16> accounts{};
  long moved = 0;
};

static Ledger ledger;

static bool transfer(int from, int to, long amount) {
  stm::Scope scope;
  if (ledger.accounts[from] < amount) return false;
  ledger.accounts[from] -= amount;
  ledger.accounts[to] += amount;
  ledger.moved += amount;
  return true;
}

static void teller(int seed) {
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!transfer((i + seed) % 16, (i * 7) % 16, i % 10)) ++failed;
  }
}

static void auditor() {
  for (int i = 0; i < 100; ++i) {
    long sum = 0;
    {
      stm::Scope scope;
      for (const long one : ledger.accounts) sum += one;
    }
    if (sum != 0) return;
  }
}

int main() {
  std::thread one(teller, 1);
  std::thread two(teller, 2);
  std::thread three(auditor);
  one.join();
  two.join();
  three.join();
}
