// What is changed through references, pointers, elements and pointers to methods.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

struct Counts {
  int sent = 0;
};

class Helper {
 public:
  virtual ~Helper() { ++calls_; }
  void help() { ++calls_; }

 private:
  int calls_ = 0;
};

class Special : public Helper {
 public:
  ~Special() override { ++calls_; }

 private:
  int calls_ = 0;
};

class Sender {
 public:
  explicit Sender(Helper* clock)
      : clock_(clock), owned_(new Helper), made_(new Helper), counts_(3) {
    builders_[1] = &Sender::build_first;
    builders_[2] = &Sender::build_second;
  }

  void send(bool first, unsigned i) {
    std::lock_guard<std::mutex> hold(m_);
    std::vector<int>& list = first ? first_ : second_;
    list.push_back(1);
    Counts* one = first ? &first_counts_ : &second_counts_;
    ++one->sent;
    Counts& element = counts_[i];
    ++element.sent;
    int* number = &number_;
    *number = 4;
    owned_->help();
    made_->help();
    clock_->help();
    Special local;
    local.help();
    const Builder builder = builders_[1];
    (this->*builder)(2);
  }
  int sent() {
    std::lock_guard<std::mutex> hold(m_);
    owned_->help();
    made_->help();
    return first_counts_.sent + second_counts_.sent;
  }

 private:
  using Builder = void (Sender::*)(int);

  void build_first(int value) { built_ += value; }
  void build_second(int value) { built_too_ += value; }

  std::mutex m_;
  std::vector<int> first_;
  std::vector<int> second_;
  Counts first_counts_;
  Counts second_counts_;
  int number_ = 0;
  Helper* const clock_;
  const std::unique_ptr<Helper> owned_;
  Helper* const made_;
  std::vector<Counts> counts_;
  std::map<int, Builder> builders_;
  int built_ = 0;
  int built_too_ = 0;
};

void use() {
  Helper clock;
  Sender sender(&clock);
  sender.send(true, 1);
}
