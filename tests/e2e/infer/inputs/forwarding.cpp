// What is handed to forwarding references, and by const reference: read, unless somebody changes
// it.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

struct Kind {
  explicit Kind(int of) : number(of) {}
  int number;
  int get() const { return number; }
  void set(int to) { number = to; }
};

class Space {
 public:
  Space(const char* name, const Kind& kind) : name_(name), kind_(kind) {}
  int kind() const { return kind_.get(); }

 private:
  std::string name_;
  const Kind& kind_;
};

template <class T, class... Arguments>
std::unique_ptr<T> make_own(Arguments&&... arguments) {
  return std::make_unique<T>(std::forward<Arguments>(arguments)...);
}

template <class T>
struct Holder {
  template <class... Arguments>
  explicit Holder(Arguments&&... arguments) : value(std::forward<Arguments>(arguments)...) {}
  T value;
};

template <class T>
void bump(T&& value) {
  ++value;
}

template <class T>
void bump_later(T&& value) {
  bump(std::forward<T>(value));
}

template <class T>
void reset(T&& kind) {
  kind.set(0);
}

template <class T>
int* address(T&& value) {
  return &value;
}

int look(const Kind& kind) { return kind.get(); }

class Heap {
 public:
  Heap() : cell_(1), object_(2), looked_at_(3), reset_(4) {}
  void make() {
    std::lock_guard lock(m_);
    spaces_.push_back(make_own<Space>("cell", cell_));
    spaces_.push_back(std::make_unique<Space>("object", object_));
    total_ += look(looked_at_);
    reset(reset_);
  }
  void put() {
    std::lock_guard lock(m_);
    auto pair = std::make_pair(first_, second_);
    numbers_.emplace(third_, fourth_);
    std::optional<std::string> some(text_);
    const Holder<int> held(fifth_);
    total_ += pair.first + held.value;
    bump(bumped_);
    bump_later(bumped_later_);
    *address(addressed_) = 1;
    std::tie(tied_, std::ignore) = pair;
    moved_to_ = std::move(moved_);
  }
  int take() {
    std::lock_guard lock(m_);
    return total_ + reset_.get() + bumped_ + bumped_later_ + addressed_ + tied_ +
           static_cast<int>(moved_.size());
  }

 private:
  std::mutex m_;
  Kind cell_;
  Kind object_;
  Kind looked_at_;
  Kind reset_;
  int first_ = 1;
  int second_ = 2;
  int third_ = 3;
  int fourth_ = 4;
  int fifth_ = 5;
  std::string text_;
  int bumped_ = 0;
  int bumped_later_ = 0;
  int addressed_ = 0;
  int tied_ = 0;
  std::string moved_;
  std::string moved_to_;
  int total_ = 0;
  std::vector<std::unique_ptr<Space>> spaces_;
  std::map<int, int> numbers_;
};

int main() {
  Heap heap;
  heap.make();
  heap.put();
  return heap.take();
}
