// Compiled by both compilers, loaded and asked about by symbols_test.cpp. A comment "@name" marks
// the line where `tell("name")` must be found to stand.
#include <array>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

using Tell = void (*)(const char* what, const void* address);
static Tell tell_address;
// The next allocation is told of under this name. Compilers take it that operator new reads
// nothing.
static const char* volatile allocating;

// The address in the caller is what is told: nothing here may be inlined.
__attribute__((noinline)) static void tell(const char* what) {
  tell_address(what, __builtin_return_address(0));
}
static void variable(const char* what, const volatile void* address) {
  tell_address(what, const_cast<const void*>(address));
}

__attribute__((noinline)) void* operator new(std::size_t size) {
  if (allocating != nullptr) tell_address(allocating, __builtin_return_address(0));
  allocating = nullptr;
  return std::malloc(size);
}
__attribute__((noinline)) void* operator new[](std::size_t size) {
  if (allocating != nullptr) tell_address(allocating, __builtin_return_address(0));
  allocating = nullptr;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace bank {

struct Empty {};
struct Person {
  long id = 0;
  char initials[2] = {};
};
struct Customer : Person {
  virtual ~Customer() = default;
  std::string name;
  union {
    int age;
    float weight;
  };
  unsigned gold : 1 = 0;
  unsigned rank : 12 = 0;
};
struct Order : Empty {
  int number = 0;
  Customer customer;
  int amounts[2][3] = {};
  std::array<Person, 4> people;
  std::pair<int, Person> pair;
  std::vector<int> items;
};

class Account {
 public:
  __attribute__((noinline)) void deposit(int amount);
  template <class T>
  __attribute__((noinline)) void add(T amount) {
    balance_ += static_cast<int>(amount);
    tell("template");  // @template
    ++balance_;
  }
  static int count_;
  std::mutex m_;

 private:
  __attribute__((noinline)) void check() {
    tell("private");  // @private
    ++balance_;
  }
  int balance_ = 0;
  int history_[4] = {};
};
int Account::count_ = 1;

inline __attribute__((always_inline)) void inner(int& value) {
  value += 1;
  tell("inlined");  // @inlined
  value += 2;
}
inline __attribute__((always_inline)) void outer(int& value) {
  inner(value);  // @inlined-2
  ++value;
}

void Account::deposit(int amount) {
  balance_ += amount;
  tell("deposit");  // @deposit
  outer(balance_);  // @inlined-3
  check();
}

namespace {
int hidden_count;
struct Node {
  Node* next;
  int key[3];
} table[5];
__attribute__((noinline)) void hidden() {
  ++hidden_count;
  tell("hidden");  // @hidden
  ++hidden_count;
}
}  // namespace

inline namespace v1 {
Order order;
std::mutex lock;
}  // namespace v1

int next_id() {
  static int id = 0;
  variable("static", &id);
  return ++id;
}

struct Hidden {
  int a, b;
};

}  // namespace bank

static void* volatile sink;  // keeps what is stored to it from being optimised away

// What our compiler pass would record, one line each: a record names the line it stands on, and the
// columns where clang and g++ see the allocation.
// clang-format off
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define RECORD(type, column, other) "/elsewhere/bank.cpp\0" TEXT(__LINE__) column "\0" type "\0bank.cpp\0" TEXT(__LINE__) other "\0" type "\0"
#define RECORDS [[gnu::section("tomos_heap_types"), gnu::used]] static const char
__attribute__((noinline)) static void recorded() { sink = new bank::Hidden; } RECORDS record[] = RECORD("bank::Hidden", ":59", ":69") RECORD("bank::Hidden", ":59()", ":69()");
template <class T> __attribute__((noinline)) T* make() { return new T; } RECORDS records[] = RECORD("bank::Hidden", ":65", ":69") RECORD("bank::Person", ":65", ":69");
// clang-format on

__attribute__((noinline)) static void allocations() {
  allocating = "new-vector";
  std::vector<bank::Order> orders(2);
  sink = orders.data();
  allocating = "new-list";
  std::list<bank::Person> people(1);
  sink = &people;
  allocating = "new-map";
  std::map<int, bank::Person> map;
  map[1].id = 3;
  sink = &map;
  allocating = "new-shared";
  auto shared = std::make_shared<bank::Order>();
  sink = shared.get();
  allocating = "new-unique";
  auto unique = std::make_unique<bank::Person>();
  sink = unique.get();
  allocating = "new-declared";
  auto* plain = new bank::Person;
  sink = plain;
  delete plain;
  allocating = "new-unknown";
  sink = new bank::Person;
  delete static_cast<bank::Person*>(sink);
}

extern "C" void run(Tell tell_function) {
  tell_address = tell_function;
  static bank::Account account;
  account.deposit(1);
  account.add<long>(2);
  bank::hidden();
  const auto first = [](int) { tell("no"); };
  const auto second = [&]() __attribute__((noinline)) {
    tell("lambda");  // @lambda
    account.m_.lock();
    account.m_.unlock();
  };
  if (bank::hidden_count == 0) first(1);
  second();
  bank::next_id();
  variable("counter", &bank::hidden_count);
  variable("table[3].key[1]", &bank::table[3].key[1]);
  variable("table[0].next", &bank::table[0].next);
  variable("member", &bank::Account::count_);
  variable("order.id", &bank::order.customer.id);
  variable("order.name", &bank::order.customer.name);
  variable("order.age", &bank::order.customer.age);
  variable("order.amounts", &bank::order.amounts[1][2]);
  variable("order.people", &bank::order.people[2].initials[1]);
  variable("order.pair", &bank::order.pair.second.id);
  variable("order.items", reinterpret_cast<const char*>(&bank::order.items) + 8);
  variable("lock", &bank::lock);
  allocations();
  allocating = "new-recorded";
  recorded();
  delete static_cast<bank::Hidden*>(sink);
  allocating = "new-template";
  delete make<bank::Person>();
}
