// A stack: that it is not empty is no longer true when something is taken from it.
#include <pthread.h>

class Stack {
 public:
  bool empty() __transaction_atomic { return size_ == 0; }
  void push(int value) __transaction_atomic { values_[size_++] = value; }
  int pop() __transaction_atomic { return values_[--size_]; }

 private:
  int values_[100] = {};
  int size_ = 0;
};

static Stack stack;

static void* produce(void*) {
  for (int i = 0; i < 50; ++i) stack.push(i);
  return nullptr;
}

static void* consume(void*) {
  for (int i = 0; i < 50; ++i) {
    if (!stack.empty()) stack.pop();
  }
  return nullptr;
}

int main() {
  pthread_t threads[3];
  pthread_create(&threads[0], nullptr, produce, nullptr);
  pthread_create(&threads[1], nullptr, consume, nullptr);
  pthread_create(&threads[2], nullptr, consume, nullptr);
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
}
