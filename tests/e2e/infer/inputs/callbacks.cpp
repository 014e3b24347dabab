// Lambdas that become pointers to functions, and lambdas that no function is around.
#include <pthread.h>

#include <functional>
#include <mutex>

std::mutex lock;
int by_thread = 0;
int by_pointer = 0;
int by_plus = 0;
int by_table = 0;
int by_local_table = 0;
int by_global = 0;
int by_name = 0;
int by_default = 0;

void register_callback(void (*callback)(void*), void* argument);
struct Operations {
  void (*run)(int);
};

void begin() {
  pthread_t thread;
  pthread_create(&thread, nullptr, [](void*) -> void* { return ++by_thread, nullptr; }, nullptr);
  void (*later)(void*) = [](void*) { ++by_pointer; };
  register_callback(later, nullptr);
  register_callback(+[](void*) { ++by_plus; }, nullptr);
  static const Operations operations = {[](int n) { by_local_table = n; }};
  operations.run(1);
}

const Operations table = {[](int n) { by_table = n; }};
std::function<void()> global = [] { ++by_global; };
struct Defaults {
  std::function<void()> callback = [] { ++by_default; };
};

// What is called by its name is called where it is called.
constexpr auto add = [](int n) { by_name += n; };
void add_one() {
  std::lock_guard held(lock);
  add(1);
}
void add_two() {
  std::lock_guard held(lock);
  add(2);
}

// A callback leads back to the object that registered it.
class Client {
 public:
  Client() {
    register_callback([](void* self) { static_cast<Client*>(self)->done(); }, this);
  }
  int count() {
    std::lock_guard held(mutex_);
    return count_;
  }

 private:
  void done() {
    std::lock_guard held(mutex_);
    ++count_;
  }
  std::mutex mutex_;
  int count_ = 0;
};
class Counter {
 public:
  int count() {
    std::lock_guard held(mutex_);
    return count_;
  }

 private:
  std::mutex mutex_;
  int count_ = 0;
  std::function<void()> up_ = [this] {
    std::lock_guard held(mutex_);
    ++count_;
  };
};
