// Lambdas that are handed to somebody who calls them at once: counted where they are handed over.
#include <algorithm>
#include <functional>
#include <mutex>

class Box {
 public:
  template <class Function>
  void visit(Function each) {
    const std::lock_guard guard(mutex_);
    each(size_);
  }
  template <class Function>
  void pass_on(Function each) {
    visit(each);
  }
  template <class Function>
  void keep(Function each) {
    auto kept = each;
    visit(kept);
  }
  template <class Function>
  void visit_all(Function each) {
    const std::lock_guard guard(mutex_);
    for (int i = 0; i < size_; ++i) each(i);
  }
  template <class Function>
  void for_each(Function each) {
    const std::lock_guard guard(mutex_);
    std::for_each(&size_, &size_ + 1, each);
  }
  void visited() {
    visit([](int) {});
  }
  void passed_on() {
    pass_on([](int) {});
  }
  void kept() {
    keep([](int) {});
  }
  void unknown(const std::function<void(int)>& each) { visit(each); }
  void counted() {
    visit([this](int) { count(); });
  }
  void counted_often() {
    visit_all([this](int) { count(); });
  }
  void counted_by_algorithm() {
    for_each([this](int) { count(); });
  }
  struct Now {
    template <class Function>
    explicit Now(Function each) {
      each(1);
    }
  };
  void made() {
    const Now now([this](int) { count_twice(); });
  }
  void made_new() {
    delete new Now([this](int) { count_twice(); });
  }
  template <class Function>
  void made_of_kept(Function each) {
    auto kept = each;
    const Now now(kept);
  }
  void kept_for_made() {
    made_of_kept([](int) {});
  }
  void by_lambda() {
    const auto run = [](auto each) { each(1); };
    run([this](int) { count_twice(); });
  }
  void count_twice() {
    count();
    count();
  }
  void count() {
    const std::lock_guard guard(second_);
    ++count_;
  }

 private:
  std::mutex mutex_;
  std::mutex second_;
  int size_ = 0;
  int count_ = 0;
};

void schedule(std::function<void()> later);

// Lambdas that call themselves, at once and later.
class Splitter {
 public:
  void split(int first, int last) {
    std::function<void(int, int)> halve = [this, &halve](int from, int to) {
      while (to - from > 1) {
        const int middle = (from + to) / 2;
        schedule([&halve, middle, to] { halve(middle, to); });
        to = middle;
      }
      const std::lock_guard guard(mutex_);
      done_ += from;
    };
    halve(first, last);
    std::function<void(int)> count = [this, &count](int left) {
      const std::lock_guard guard(mutex_);
      ++done_;
      if (left > 0) count(left - 1);
    };
    count(last);
  }
  int done() {
    const std::lock_guard guard(mutex_);
    return done_;
  }

 private:
  std::mutex mutex_;
  int done_ = 0;
};

void use(Box& box) {
  box.visited();
  box.passed_on();
  box.kept();
  box.unknown({});
  box.counted();
  box.counted_often();
  box.counted_by_algorithm();
  box.made();
  box.made_new();
  box.kept_for_made();
  box.by_lambda();
}
