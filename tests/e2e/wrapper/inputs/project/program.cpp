#include <thread>

extern "C" int next(void);
int main() {
  std::thread other([] { next(); });
  other.join();
  return next() - 2;
}
