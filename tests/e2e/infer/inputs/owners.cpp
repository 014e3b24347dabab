// What belongs to an object, and who can still see it.
#include <map>
#include <memory>
#include <mutex>

struct Base {
  virtual ~Base() = default;
};

struct Root {
  virtual ~Root() = default;
  virtual const Base* data() const { return nullptr; }
};

// One class for all instantiations, and each returns something else.
template <class Data>
class Iterator : public Root {
 public:
  explicit Iterator(const Data* data) : data_(data) {}
  const Data* data() const override { return data_; }

 private:
  const Data* data_;
};

struct Numbers : Base {
  int number = 1;
};
struct Letters : Base {
  int letter = 2;
};

template <class T>
class Pointer : public std::unique_ptr<T> {
 public:
  using std::unique_ptr<T>::unique_ptr;
};

struct Node {
  int value = 0;
};

// A condition variable of the project's own, which waits with a guard.
class Bell {
 public:
  void wait(std::unique_lock<std::mutex>& held);
  void notify_all();

 private:
  int waiters_ = 0;
};

void make(std::unique_ptr<Letters>* to);

class NumberIterator : public Iterator<Numbers> {
 public:
  using Iterator<Numbers>::Iterator;
  ~NumberIterator() override {
    const std::lock_guard lock(m_);
    stopped_ = true;
    changed_.notify_all();
  }
  int next() {
    std::unique_lock lock(m_);
    while (!stopped_ && sum_ < 0) changed_.wait(lock);
    sum_ += data()->number;
    node_->value = 5;
    shared_->notify_all();
    return sum_ + static_cast<int>(items_->size() + more_->size());
  }
  void put(int item) {
    const std::lock_guard lock(m_);
    (*items_)[item] = 4;
    more_->clear();
    changed_.notify_all();
    shared_->notify_all();
  }
  void init() { make(&made_); }
  void make_two() {
    const std::lock_guard lock(m_);
    made_ = std::make_unique<Letters>();
    made_ = nullptr;
  }
  int made() {
    const std::lock_guard lock(m_);
    made_ = std::make_unique<Letters>();
    return made_ ? 1 : 0;
  }

 private:
  std::mutex m_;
  bool stopped_ = false;
  int sum_ = 0;
  std::unique_ptr<Letters> made_;
  std::unique_ptr<std::map<int, int>> items_ = std::make_unique<std::map<int, int>>();
  std::unique_ptr<std::map<int, int>> more_ = std::make_unique<std::map<int, int>>();
  Pointer<Node> node_;
  Bell changed_;
  std::shared_ptr<Bell> shared_ = std::make_shared<Bell>();
};

class LetterIterator : public Iterator<Letters> {
 public:
  using Iterator<Letters>::Iterator;
  int next() {
    const std::lock_guard lock(m_);
    sum_ += data()->letter;
    return sum_;
  }

 private:
  std::mutex m_;
  int sum_ = 0;
};

int use(NumberIterator& numbers, LetterIterator& letters) {
  return numbers.next() + letters.next();
}

// A lock behind a pointer that is set later.
struct State {
  std::mutex m;
  long used = 0;
};
class Context {
 public:
  void start() { state_ = std::make_unique<State>(); }
  void add(int n) {
    if (!state_) return;
    const std::lock_guard lock(state_->m);
    state_->used += n;
  }
  long used() const {
    if (!state_) return 0;
    const std::lock_guard lock(state_->m);
    return state_->used;
  }

 private:
  std::unique_ptr<State> state_;
};

// The overrides of all instantiations are one; what only another one's would call is not called.
struct Table {
  virtual ~Table() = default;
  virtual void insert(int key) = 0;
};
template <class Key>
class HashTable : public Table {
 public:
  void insert(int key) override {
    const std::lock_guard lock(m_);
    grow(static_cast<Key>(key));
  }

 private:
  void grow(Key key) {
    ++entries_;
    last_ = static_cast<int>(key);
  }

  std::mutex m_;
  int entries_ = 0;
  int last_ = 0;
};
template class HashTable<int>;
template class HashTable<long>;
template class HashTable<char>;

void use(Table& table, Context& context) {
  table.insert(1);
  context.add(2);
}
