// What is changed in ways that are easily overlooked: by references to pointers, by addresses that
// are kept, in instances of partial specializations, in generic lambdas. All of it without a lock,
// so that nothing of it is final.
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

struct Node {
  Node* next = nullptr;
  int n = 0;
};

class Pointers {
 public:
  void set(int i) {
    Node*& slot = head_;
    slot = nullptr;
    Node*& one = table_[i];
    one = nullptr;
    std::unique_ptr<Node>& mine = owned_;
    mine.reset();
    std::shared_ptr<Node>& ours = shared_;
    std::shared_ptr<Node> kept = std::move(ours);
  }
  void walk() {
    Node** at = &first_;
    while (*at != nullptr) at = &(*at)->next;
    *at = nullptr;
  }
  int look() {
    auto& known = (fixed_);
    return known->n;
  }

 private:
  Node* head_ = nullptr;
  Node* table_[8];
  std::unique_ptr<Node> owned_;
  std::shared_ptr<Node> shared_;
  Node* first_ = nullptr;
  Node* fixed_ = nullptr;
};

void fill(int* to);
int look_at(const int* at);
class Addresses {
 public:
  void give(bool first) {
    int* to;
    to = &assigned_;
    *to = 1;
    to = first ? &left_ : &right_;
    *to = 2;
    fill(&filled_);
    look_at(&looked_at_);
    kept_ = &stored_;
    list_.push_back(&listed_);
    std::thread by_address([](int* at) { *at = 3; }, &to_thread_);
    std::thread by_reference([](int& at) { at = 3; }, std::ref(to_other_));
    by_address.join();
    by_reference.join();
    ::new (place_) int(3);
    buffer_.reset(new char[size_]);
  }

 private:
  int assigned_, left_, right_, filled_, looked_at_, stored_, listed_, to_thread_, to_other_;
  alignas(int) char place_[sizeof(int)];
  int* kept_;
  std::vector<int*> list_;
  int size_ = 8;
  std::unique_ptr<char[]> buffer_;
};

// Only partial specializations are defined.
template <class T, class Enabled = void>
struct Value;
template <class T>
struct Value<T, std::enable_if_t<std::is_integral_v<T>>> {
  void set(T to) { number = to; }
  T number;
};
template <class T>
struct Value<T, std::enable_if_t<!std::is_integral_v<T>>> {
  void set(T to) { other = to; }
  T other;
};

// One body stands for all instances, but not for those that have their own.
struct Call {
  virtual ~Call();
  virtual void done(int* at) = 0;
};
template <class T>
struct TypedCall : Call {
  void done(int* at) override;
  int by_int, by_long;
};
template <>
void TypedCall<int>::done(int* at) {
  by_int = *at;
}
template <>
void TypedCall<long>::done(int* from) {
  by_long = *from;
}

class Sums {
 public:
  void add() {
    std::for_each(all_.begin(), all_.end(), [&](const auto& one) {
      if (one > limit_) {
        over_ = true;
        return;
      }
      std::lock_guard held(mutex_);
      sum_ += one;
      for (int i = 0; i < 3; ++i) kept_.push_back(one);
    });
  }
  void wait() {
    std::unique_lock held(mutex_);
    more_.wait_for(held, std::chrono::milliseconds(patience_));
  }
  void be_patient() { ++patience_; }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<int> all_, kept_;
  int limit_ = 0, sum_ = 0, patience_ = 0;
  bool over_ = false;
};

// A function sets the pointer that it is given.
class Moving {
 public:
  void drain() {
    for (Node* at = from_;; next(at)) {
      std::lock_guard held(locks_[at->n]);
      at->n = 1;
      if (at->next == nullptr) break;
    }
  }
  static void next(Node*& at) { at = at->next; }

 private:
  std::mutex locks_[8];
  Node* from_ = nullptr;
};

// A function that only returns a lock is that lock, also if it makes it.
std::mutex& lock_of_log() {
  static auto& mutex = *new std::mutex;
  return mutex;
}
int logged = 0;
void log_one() {
  std::lock_guard held(lock_of_log());
  ++logged;
}
void log_two() {
  std::lock_guard held(lock_of_log());
  logged += 2;
}

int main() {
  log_one();
  log_two();
  Pointers pointers;
  pointers.set(1);
  pointers.walk();
  pointers.look();
  Addresses addresses;
  addresses.give(true);
  Value<int> number;
  number.set(1);
  Value<double> other;
  other.set(1.5);
  int zero = 0;
  TypedCall<int> by_int;
  by_int.done(&zero);
  TypedCall<long> by_long;
  by_long.done(&zero);
  Sums sums;
  sums.add();
  sums.wait();
  sums.be_patient();
  Moving moving;
  moving.drain();
}
