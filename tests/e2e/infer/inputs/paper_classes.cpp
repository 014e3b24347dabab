// Library classes in which the paper (section 7.1) finds errors, in C++: with the errors (BAD), and
// corrected.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

// append reads the length of another buffer and then its text: in between it may shrink.
class StringBuffer {
 public:
  std::size_t length() const {
    std::lock_guard<std::mutex> hold(m_);
    return text_.size();
  }
  void set_length(std::size_t length) {
    std::lock_guard<std::mutex> hold(m_);
    text_.resize(length);
  }
  void get_chars(std::size_t length, std::vector<char>& into) const {
    std::lock_guard<std::mutex> hold(m_);
    into.assign(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(length));
  }
  void append(char letter) {
    std::lock_guard<std::mutex> hold(m_);
    text_.push_back(letter);
  }
#ifdef BAD
  void append(const StringBuffer& other) {
    std::lock_guard<std::mutex> hold(m_);
    const std::size_t length = other.length();
    std::vector<char> more;
    other.get_chars(length, more);
    text_.insert(text_.end(), more.begin(), more.end());
  }
#else
  void append(const StringBuffer& other) {
    std::scoped_lock both(m_, other.m_);
    text_.insert(text_.end(), other.text_.begin(), other.text_.end());
  }
#endif

 private:
  mutable std::mutex m_;
  std::vector<char> text_;
};

class Collection {
 public:
  std::size_t size() const {
    std::lock_guard<std::mutex> hold(m_);
    return elements_.size();
  }
  bool contains(int element) const {
    std::lock_guard<std::mutex> hold(m_);
    return contains_locked(element);
  }
  void to_array(std::vector<int>& into) const {
    std::lock_guard<std::mutex> hold(m_);
    into = elements_;
  }
  void add(int element) {
    std::lock_guard<std::mutex> hold(m_);
    elements_.push_back(element);
  }
  bool contains_locked(int element) const {
    return std::find(elements_.begin(), elements_.end(), element) != elements_.end();
  }

  mutable std::mutex m_;

 private:
  std::vector<int> elements_;
};

// The constructor (Fig. 11) and remove_all see a collection that others change meanwhile.
class Vector {
 public:
#ifdef BAD
  void copy_from(const Collection& of) {
    std::lock_guard<std::mutex> hold(m_);
    count_ = of.size();
    of.to_array(elements_);
  }
  void remove_all(const Collection& of) {
    std::lock_guard<std::mutex> hold(m_);
    for (std::size_t i = 0; i < elements_.size();) {
      if (of.contains(elements_[i])) {
        elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    count_ = elements_.size();
  }
#else
  void copy_from(const Collection& of) {
    std::lock_guard<std::mutex> hold(m_);
    of.to_array(elements_);
    count_ = elements_.size();
  }
  void remove_all(const Collection& of) {
    std::scoped_lock both(m_, of.m_);
    for (std::size_t i = 0; i < elements_.size();) {
      if (of.contains_locked(elements_[i])) {
        elements_.erase(elements_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    count_ = elements_.size();
  }
#endif
  std::size_t size() const {
    std::lock_guard<std::mutex> hold(m_);
    return count_;
  }
  void add(int element) {
    std::lock_guard<std::mutex> hold(m_);
    elements_.push_back(element);
    ++count_;
  }

 private:
  mutable std::mutex m_;
  std::vector<int> elements_;
  std::size_t count_ = 0;
};

// A wrapper that locks around each use of a list that does not.
class SynchronizedList {
 public:
  void add(int element) {
    std::lock_guard<std::mutex> hold(m_);
    list_.push_back(element);
  }
  std::size_t size() const {
    std::lock_guard<std::mutex> hold(m_);
    return list_.size();
  }
#ifdef BAD
  void retain_all(const Collection& of) {
    std::lock_guard<std::mutex> hold(m_);
    std::erase_if(list_, [&of](int element) { return !of.contains(element); });
  }
#else
  void retain_all(const Collection& of) {
    std::scoped_lock both(m_, of.m_);
    for (int& element : list_) {
      if (!of.contains_locked(element)) element = 0;
    }
  }
#endif

 private:
  mutable std::mutex m_;
  std::vector<int> list_;
};

// Nothing is wrong with it.
class Observable {
 public:
  void add_observer(int observer) {
    std::lock_guard<std::recursive_mutex> hold(m_);
    observers_.push_back(observer);
  }
  void delete_observers() {
    std::lock_guard<std::recursive_mutex> hold(m_);
    observers_.clear();
  }
  std::size_t count_observers() const {
    std::lock_guard<std::recursive_mutex> hold(m_);
    return observers_.size();
  }
  void set_changed() {
    std::lock_guard<std::recursive_mutex> hold(m_);
    changed_ = true;
  }
  void clear_changed() {
    std::lock_guard<std::recursive_mutex> hold(m_);
    changed_ = false;
  }
  bool has_changed() const {
    std::lock_guard<std::recursive_mutex> hold(m_);
    return changed_;
  }
  std::vector<int> take_changed() {
    std::lock_guard<std::recursive_mutex> hold(m_);
    if (!has_changed()) return {};
    clear_changed();
    return observers_;
  }

 private:
  mutable std::recursive_mutex m_;
  std::vector<int> observers_;
  bool changed_ = false;
};

// Others may write to the stream below between two parts of a line.
class Stream {
 public:
  void write(char letter) {
    std::lock_guard<std::mutex> hold(m_);
    written_.push_back(letter);
  }
  void write_line(char letter) {
    std::lock_guard<std::mutex> hold(m_);
    written_.push_back(letter);
    written_.push_back('\n');
  }

 private:
  std::mutex m_;
  std::vector<char> written_;
};

class PrintWriter {
 public:
  explicit PrintWriter(Stream& below) : below_(below) {}
  void print(char letter) {
    std::lock_guard<std::recursive_mutex> hold(m_);
    below_.write(letter);
    ++count_;
  }
#ifdef BAD
  void println(char letter) {
    std::lock_guard<std::recursive_mutex> hold(m_);
    print(letter);
    print('\n');
  }
#else
  void println(char letter) {
    std::lock_guard<std::recursive_mutex> hold(m_);
    below_.write_line(letter);
    count_ += 2;
  }
#endif

 private:
  std::recursive_mutex m_;
  Stream& below_;
  int count_ = 0;
};

class SynchronizedBoolean {
 public:
  bool get() const {
    std::lock_guard<std::mutex> hold(m_);
    return value_;
  }
  bool set(bool value) {
    std::lock_guard<std::mutex> hold(m_);
    const bool old = value_;
    value_ = value;
    return old;
  }
  bool commit(bool assumed, bool value) {
    std::lock_guard<std::mutex> hold(m_);
    const bool success = assumed == value_;
    if (success) value_ = value;
    return success;
  }
  bool complement() {
    std::lock_guard<std::mutex> hold(m_);
    value_ = !value_;
    return value_;
  }
#ifdef BAD
  bool equals(const SynchronizedBoolean& other) const { return get() == other.get(); }
#else
  bool equals(const SynchronizedBoolean& other) const {
    std::scoped_lock both(m_, other.m_);
    return value_ == other.value_;
  }
#endif

 private:
  mutable std::mutex m_;
  bool value_ = false;
};
