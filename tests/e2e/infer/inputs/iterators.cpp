// What is changed behind iterators and references that are handed out.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct Node {
  int value = 0;
  std::map<int, Node> children;
};

struct Point {
  int x = 0;
};

class Table {
 public:
  void add(int key, int n) {
    const std::lock_guard lock(m_);
    auto it = found_.find(key);
    if (it == found_.end()) it = assigned_.find(key);
    it->second += n;
    direct_.find(key)->second += n;
  }
  void walk(int first, int second) {
    const std::lock_guard lock(m_);
    auto node = tree_.find(first);
    node = node->second.children.find(second);
    node = node->second.children.find(first);
    auto below = node->second.children.find(second);
    node = below->second.children.find(first);
    node->second.value = 5;
    below->second.value = 6;
  }
  void move_all() {
    const std::lock_guard lock(m_);
    for (auto it = points_.begin(); it != points_.end(); ++it) it->x = 5;
    for (auto& [key, value] : bound_) value = key;
    const auto at = std::find(sought_.begin(), sought_.end(), 3);
    *at = 4;
    maybe_->x = 6;
    const auto only = read_.find(7);
    last_ = only->second;
  }
  int sum() {
    const std::lock_guard lock(m_);
    return static_cast<int>(found_.size() + direct_.size() + bound_.size()) + last_ + maybe_->x;
  }

  void rename(const std::string& to) {
    const std::lock_guard lock(m_);
    name_ = to;
  }
  std::string copy() {
    const std::lock_guard lock(m_);
    return name_ + name_;
  }
  const std::string& name() const { return name_; }
  int& level() { return level_; }
  int& number() { return number_; }
  void reset() {
    const std::lock_guard lock(m_);
    level_ = 0;
    level_ = level_ + 1;
  }

 private:
  std::mutex m_;
  std::map<int, Node> tree_;
  std::map<int, int> found_;
  std::map<int, int> assigned_;
  std::map<int, int> direct_;
  std::map<int, int> bound_;
  std::map<int, int> read_;
  std::vector<Point> points_;
  std::vector<int> sought_;
  std::optional<Point> maybe_;
  std::map<int, int>::iterator own_;
  int last_ = 0;
  std::string name_;
  int level_ = 0;
  int number_ = 0;
};
