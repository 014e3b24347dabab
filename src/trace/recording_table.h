// A hash table by address (or by page, pc, number) for lookups that come in the millions.
//
// In front of the table stands a small cache of recent answers, "not there" included: accesses keep
// coming back to the same few places. Elements never move.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tomos::recording {

template <class T>
class AddressTable {
 public:
  std::size_t size() const { return items_.size(); }

  // Null if there is none.
  T* find(std::uint64_t key) {
    Recent& recent = recent_[key % recent_.size()];
    if (recent.key != key) [[unlikely]] {
      const auto item = items_.find(key);
      recent = {key, item == items_.end() ? nullptr : &item->second};
    }
    return recent.item;
  }

  // Made if there is none.
  T& at(std::uint64_t key) {
    if (T* const item = find(key)) return *item;
    T& item = items_[key];
    recent_[key % recent_.size()] = {key, &item};
    return item;
  }

  // Calls `visit(key, item)` for the keys from `first` to before `end` that are there, in order. In
  // proportion to the range or to the table, whichever is smaller.
  template <class Visit>
  void in_range(std::uint64_t first, std::uint64_t end, Visit visit) {
    if (end - first <= items_.size()) {
      for (; first != end; ++first) {
        if (T* const item = find(first)) visit(first, *item);
      }
      return;
    }
    std::vector<std::pair<std::uint64_t, T*>> found;
    for (auto& [key, item] : items_) {
      if (key >= first && key < end) found.emplace_back(key, &item);
    }
    std::ranges::sort(found);
    for (auto& [key, item] : found) visit(key, *item);
  }

  // Takes the elements out one by one, in no order: `take(key, item)`.
  template <class Take>
  void drain(Take take) {
    recent_.fill({});
    while (!items_.empty()) {
      auto node = items_.extract(items_.begin());
      take(node.key(), std::move(node.mapped()));
    }
  }

 private:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};
  struct Recent {
    std::uint64_t key = kNoKey;
    T* item = nullptr;
  };

  std::unordered_map<std::uint64_t, T> items_;
  std::array<Recent, 1024> recent_;
};

}  // namespace tomos::recording
