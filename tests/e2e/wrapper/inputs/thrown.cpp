#include <tomos/tomos.h>

#include <cstdio>
#include <stdexcept>

void fail() {
  TOMOS_ATOMIC("thrown");
  throw std::runtime_error("no");
}
int main() {
  try {
    fail();
  } catch (const std::exception&) {
    std::puts("caught");
  }
}
