// A vector that grows block by block: nothing is ever copied, and no more is taken than one block
// too much.
#pragma once

#include <cstddef>
#include <vector>

namespace tomos {

template <class T>
class BlockVector {
 public:
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return blocks_[i / kBlock][i % kBlock]; }
  const T& operator[](std::size_t i) const { return blocks_[i / kBlock][i % kBlock]; }

  void push_back(const T& item) {
    if (size_ == kBlock * blocks_.size()) blocks_.emplace_back().reserve(kBlock);
    blocks_[size_ / kBlock].push_back(item);
    ++size_;
  }

  // Takes the last ones off.
  void shrink(std::size_t size) {
    for (; size_ > size; --size_) blocks_[(size_ - 1) / kBlock].pop_back();
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 14U;
  std::vector<std::vector<T>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace tomos
