// Two withdrawals of all there is: each looks and takes under a lock, but not under the same one.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

std::mutex m;
std::mutex own[2];
int balance = 10;

int look() {
  std::lock_guard<std::mutex> guard(m);
  return balance;
}

void take(int amount) {
  std::lock_guard<std::mutex> guard(m);
  balance -= amount;
}

void withdraw(int who) {
  std::lock_guard<std::mutex> guard(own[who]);
  if (look() >= 10) take(10);
}

int main(int argc, char** argv) {
  std::thread one([] { withdraw(0); });
  std::thread two([] { withdraw(1); });
  one.join();
  two.join();
  std::printf("%d left for %s\n", balance, argc > 1 ? argv[1] : "nobody");
  std::fflush(stdout);
  if (balance < 0) std::abort();
  return argc > 2 ? std::atoi(argv[2]) : 0;
}
