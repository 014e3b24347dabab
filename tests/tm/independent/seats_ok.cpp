// Seats: asked for and taken in one transaction; how many are left is only shown.
#include <pthread.h>
#include <stdio.h>

class Flight {
 public:
  bool book(int wanted) {
    bool booked = false;
    atomic_commit {
      if (free_ >= wanted) {
        free_ -= wanted;
        sold_ += wanted;
        booked = true;
      }
    }
    return booked;
  }
  int left() {
    int result = 0;
    atomic_commit { result = free_; }
    return result;
  }

 private:
  int free_ = 100;
  int sold_ = 0;
};

static Flight flight;

static void* customer(void*) {
  int booked = 0;
  for (int wanted = 1; wanted < 5; ++wanted) {
    if (flight.book(wanted)) booked += wanted;
  }
  printf("%d booked, %d left\n", booked, flight.left());
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
