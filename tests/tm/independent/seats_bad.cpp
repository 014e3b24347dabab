// Seats: enough are free, says one transaction; they are taken by another.
#include <pthread.h>

class Flight {
 public:
  bool has(int wanted) {
    bool enough = false;
    atomic_commit { enough = free_ >= wanted; }
    return enough;
  }
  void take(int wanted) {
    atomic_commit {
      free_ -= wanted;
      sold_ += wanted;
    }
  }

 private:
  int free_ = 100;
  int sold_ = 0;
};

static Flight flight;

static void* customer(void*) {
  for (int wanted = 1; wanted < 5; ++wanted) {
    if (flight.has(wanted)) flight.take(wanted);
  }
  return nullptr;
}

int main() {
  pthread_t one;
  pthread_t other;
  pthread_create(&one, nullptr, customer, nullptr);
  pthread_create(&other, nullptr, customer, nullptr);
  pthread_join(one, nullptr);
  pthread_join(other, nullptr);
}
