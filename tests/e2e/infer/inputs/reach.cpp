// Who can get at an object: what is kept somewhere may be guarded by a global lock, what one thread
// makes, passes around and forgets is not.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

std::mutex all;
int done = 0;

class Interface {
 public:
  virtual ~Interface() = default;
};

#define WORK(name, ...)          \
  class name __VA_ARGS__ {       \
   public:                       \
    void go() {                  \
      std::lock_guard lock(all); \
      ++steps_;                  \
      ++steps_;                  \
      ++done;                    \
    }                            \
    int get() {                  \
      std::lock_guard lock(all); \
      ++steps_;                  \
      return steps_ + done;      \
    }                            \
                                 \
   private:                      \
    int steps_ = 0;              \
  };                             \
  int use(name& work) {          \
    work.go();                   \
    return work.get();           \
  }

WORK(Passed)                      // on, and forgotten
WORK(InVector)                    // of a field of an object that a global has
WORK(InMap)                       // of the same in a field of something that is only passed on, too
WORK(InOther)                     // instance of a template than the first
WORK(Captured)                    // by what runs later
WORK(Argument)                    // of a thread
WORK(Untyped)                     // as a void*
WORK(Number)                      // as a number
WORK(ByFunction)                  // known to a field only as what a function is given
WORK(ByBase, : public Interface)  // of a class whose pointers a global has

template <class Entry>
struct Slot {
  std::unique_ptr<Entry> entry;
};

struct Kept {
  std::vector<std::unique_ptr<InVector>> all_of_them;
  Slot<int> number;
  Slot<InOther> other;
  std::function<int(ByFunction&)> how;
  std::vector<Interface*> others;
};
Kept kept;

struct Shortly {
  std::map<int, InMap> works;
};

int work(Shortly& with) { return use(with.works[0]); }

// A pointer class that leads to a lock: what is captured is a lock, no class of objects.
template <class T>
class Pointer {
 public:
  explicit Pointer(T* of) : of_(of) {}
  T* operator->() const { return of_; }
  T& operator*() const { return *of_; }

 private:
  T* of_;
};

int use_lock() {
  Pointer<std::mutex> lock(&all);
  std::function<int()> later = [&lock] {
    std::lock_guard held(*lock);
    return ++done;
  };
  return later();
}

void keep(void* what);
void keep(std::uintptr_t what);

int main() {
  Passed passed;
  int sum = use(passed);
  kept.all_of_them.push_back(std::make_unique<InVector>());
  for (auto& one : kept.all_of_them) sum += use(*one);
  Shortly shortly;
  shortly.works[0] = InMap();
  sum += work(shortly);
  kept.other.entry = std::make_unique<InOther>();
  sum += use(*kept.other.entry);
  auto captured = std::make_shared<Captured>();
  std::function<void()> later = [captured] { use(*captured); };
  std::thread runs(later);
  Argument argument;
  std::thread other([](Argument* of) { use(*of); }, &argument);
  sum += use(argument) + use(*captured);
  Untyped untyped;
  keep(&untyped);
  sum += use(untyped);
  Number number;
  keep(reinterpret_cast<std::uintptr_t>(&number));
  sum += use(number);
  ByFunction by_function;
  sum += kept.how ? kept.how(by_function) : use(by_function);
  ByBase by_base;
  kept.others.push_back(&by_base);
  sum += use(by_base);
  runs.join();
  other.join();
  return sum + use_lock();
}
