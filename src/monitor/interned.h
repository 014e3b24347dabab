// Equal values get one number. A type that wants this has `std::uint64_t hash_of(const T&)` beside
// it, and ==.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tomos {

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e37'79b9'7f4a'7c15U;
  h = (h ^ (h >> 32U)) * 0xd6e8'feb8'6659'fd93U;
  return h ^ (h >> 29U);
}
constexpr std::uint64_t pair(std::uint32_t a, std::uint32_t b) {
  return (std::uint64_t{a} << 32U) | b;
}

template <class T>
class Interned {
 public:
  // The number; made if it is new.
  std::uint32_t intern(const T& value) {
    std::size_t slot = find(value);
    if (slots_[slot] != 0) return slots_[slot] - 1;
    if (slots_.size() < 2 * (values_.size() + 1)) {
      slots_.assign(2 * slots_.size(), 0);
      for (std::uint32_t id = 0; id < size(); ++id) slots_[find(values_[id])] = id + 1;
      slot = find(value);
    }
    values_.push_back(value);
    slots_[slot] = size();
    return size() - 1;
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(values_.size()); }
  const T& operator[](std::uint32_t id) const { return values_[id]; }
  const std::vector<T>& values() const { return values_; }

 private:
  std::size_t find(const T& wanted) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t hash = hash_of(wanted);
    std::size_t i = (hash ^ (hash >> 32U)) & mask;
    while (slots_[i] != 0 && values_[slots_[i] - 1] != wanted) i = (i + 1) & mask;
    return i;
  }

  std::vector<T> values_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(64);  // id + 1
};

}  // namespace tomos
