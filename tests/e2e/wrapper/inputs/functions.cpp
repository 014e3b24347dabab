#include <tomos/tomos.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace bank {
class Account {
  int balance_ = 0, limit_ = 0;
  void change(int by) { balance_ += by; }

 public:
  explicit Account(int start) : balance_(start) {}
  virtual ~Account() { balance_ = limit_; }
  void withdraw(int amount) {
    if (amount > balance_) throw std::runtime_error("too much");
    change(-amount);
  }
  bool operator==(const Account& other) const { return balance_ == other.balance_; }
  explicit operator bool() const { return balance_ + limit_ != 0; }
  operator std::string() const { return "account"; }
  template <class T>
  T as() const {
    return static_cast<T>(balance_ + limit_);
  }
  virtual void run() { hidden(); }

 protected:
  void hidden() { balance_ += limit_; }
};
}  // namespace bank
int one, two;
namespace {
int nowhere_else(int x) { return x + 1; }
struct Local {
  void method() {}
};
}  // namespace
static int taken(int x) { return x + one + two; }
int (*volatile pointer)(int) = taken;
int tail(int x) { return x + one + two; }
int jump(int x) { [[clang::musttail]] return tail(x); }
TOMOS_ATOMIC_FUNCTION static int marked(int x) { return x; }
TOMOS_NOT_ATOMIC_FUNCTION int loop(int x) { return x; }
__attribute__((no_sanitize("thread"))) int left_alone(int x) { return x; }
int just_one() { return one; }
struct Plain {
  std::string text;
};
template <class F>
void apply(F f) {
  f(1);
}

int main() {
  bank::Account a(5);
  a.withdraw(1);
  try {
    a.withdraw(10);
  } catch (const std::exception&) {
    std::puts("caught");
  }
  bool all = a == a;
  all = all && a;
  std::string text = a;
  all = all && a.as<long>() != 0;
  a.run();
  Local().method();
  int sum = nowhere_else(1) + pointer(1) + jump(1) + marked(1) + loop(1) + left_alone(1);
  sum += just_one();
  Plain first{text}, second = first;
  std::vector<Plain> many(3, second);
  apply([&](int x) { sum += x; });
  apply([&](auto x) { sum += x; });
  std::puts("last");
  return 0;
}
