// Orders: each is a transaction, and so is what is counted about it. The counters mean nothing to
// one another.
#include <pthread.h>

template <class Body>
void atomically(Body body) {
  body();
}

struct Shop {
  int stock = 1000;
  int reserved = 0;
  long orders = 0;
  long refused = 0;
};

static Shop shop;

static void* order(void*) {
  for (int wanted = 1; wanted < 20; ++wanted) {
    bool done = false;
    atomically([&] {
      if (shop.stock - shop.reserved >= wanted) {
        shop.reserved += wanted;
        done = true;
      }
    });
    if (done) {
      atomically([&] { ++shop.orders; });
    } else {
      atomically([&] { ++shop.refused; });
    }
  }
  return nullptr;
}

static void* deliver(void*) {
  for (int i = 0; i < 10; ++i) {
    atomically([&] {
      shop.stock -= shop.reserved;
      shop.reserved = 0;
    });
  }
  return nullptr;
}

int main() {
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, order, nullptr);
  pthread_create(&threads[1], nullptr, order, nullptr);
  pthread_create(&threads[2], nullptr, deliver, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
