// Between the two operations of a push another thread may push, too. No value is kept of the head,
// and nothing goes wrong that could be seen from outside.
#include <atomic>
#include <thread>

class Stack {
 public:
  void push() {
    const int head = head_.load();
    head_.store(head + 1);
  }

 private:
  std::atomic<int> head_{0};
};

static Stack stack;

int main() {
  std::thread first([] { stack.push(); });
  std::thread second([] { stack.push(); });
  first.join();
  second.join();
}
