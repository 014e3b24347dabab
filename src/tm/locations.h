// Where a value can be stored: an object, and the fields that lead to a part of it. Arrays and
// containers are one location. Each location is held once: equal ones have equal ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tomos::tm {

enum class LocationId : std::uint32_t {};

struct Location {
  enum class Kind : std::uint8_t {
    kGlobal,       // a: its index
    kThreadLocal,  // a: its index, b: the thread
    kLocal,        // a: the activation of a function, b: the variable
    kNew,          // a: the calls that lead to its making, b: the node that makes it
    kFunction,     // a: its index; an address that can be called
    kThread,       // a: what identifies the thread
    kUnknown,      // some object that other threads may know; its fields are told apart
    kPart,         // a: the whole; name
  };
  Kind kind = Kind::kUnknown;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::string name;
};

class Locations {
 public:
  LocationId get(Location::Kind kind, std::uint32_t a, std::uint32_t b = 0) {
    return intern({.kind = kind, .a = a, .b = b, .name = {}});
  }
  LocationId part(LocationId whole, std::string_view name) {
    // A list node that holds itself by value cannot be; a union of types could seem so.
    if (depth_[static_cast<std::size_t>(whole)] > kDeepest) return whole;
    return intern({.kind = Location::Kind::kPart,
                   .a = static_cast<std::uint32_t>(whole),
                   .b = 0,
                   .name = std::string(name)});
  }
  const Location& operator[](LocationId id) const { return all_[static_cast<std::size_t>(id)]; }
  LocationId root(LocationId id) const {
    while ((*this)[id].kind == Location::Kind::kPart) id = static_cast<LocationId>((*this)[id].a);
    return id;
  }
  // What comes and goes with it: the activation of a variable, else its object. Activations have
  // the smaller numbers.
  std::uint64_t activation(LocationId id) const {
    const LocationId whole = root(id);
    if ((*this)[whole].kind == Location::Kind::kLocal) return (*this)[whole].a;
    return (std::uint64_t{1} << 32) | static_cast<std::uint32_t>(whole);
  }
  bool is_part(LocationId part, LocationId whole) const {
    while (part != whole && (*this)[part].kind == Location::Kind::kPart) {
      part = static_cast<LocationId>((*this)[part].a);
    }
    return part == whole;
  }
  std::size_t size() const { return all_.size(); }

 private:
  static constexpr unsigned kDeepest = 12;

  LocationId intern(Location of) {
    const auto next = static_cast<LocationId>(all_.size());
    const auto [at, is_new] = ids_.emplace(std::tuple(of.kind, of.a, of.b, of.name), next);
    if (is_new) {
      depth_.push_back(of.kind == Location::Kind::kPart ? depth_[of.a] + 1 : 0);
      all_.push_back(std::move(of));
    }
    return at->second;
  }

  std::vector<Location> all_;
  std::vector<unsigned> depth_;
  std::map<std::tuple<Location::Kind, std::uint32_t, std::uint32_t, std::string>, LocationId> ids_;
};

// A set that is copied far more often than changed: copies share what they hold.
template <class T>
class Few {
 public:
  Few() = default;
  // In order, each once.
  explicit Few(std::vector<T> sorted) : all_(std::make_shared<std::vector<T>>(std::move(sorted))) {}

  bool insert(const T& value) {
    const auto at = std::ranges::lower_bound(all(), value);
    if (at != all().end() && *at == value) return false;
    const auto place = at - all().begin();
    std::vector<T>& mine = own();
    mine.insert(mine.begin() + place, value);
    return true;
  }
  bool insert(const Few& others) {
    if (others.all_ == all_ || std::ranges::includes(all(), others.all())) return false;
    if (std::ranges::includes(others.all(), all())) {
      all_ = others.all_;
      return true;
    }
    auto both = std::make_shared<std::vector<T>>();
    both->reserve(size() + others.size());
    std::ranges::set_union(all(), others.all(), std::back_inserter(*both));
    all_ = std::move(both);
    return true;
  }
  void erase(const T& value) {
    if (contains(value)) std::erase(own(), value);
  }
  template <class Is>
  void erase_where(const Is& is) {
    if (std::ranges::any_of(all(), is)) std::erase_if(own(), is);
  }
  bool contains(const T& value) const { return std::ranges::binary_search(all(), value); }
  bool empty() const { return all().empty(); }
  std::size_t size() const { return all().size(); }
  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  friend bool operator==(const Few& one, const Few& other) {
    return one.all_ == other.all_ || one.all() == other.all();
  }
  friend auto operator<=>(const Few& one, const Few& other) { return one.all() <=> other.all(); }

 private:
  const std::vector<T>& all() const {
    static const std::vector<T> kNone;
    return all_ ? *all_ : kNone;
  }
  std::vector<T>& own() {
    if (!all_ || all_.use_count() > 1) all_ = std::make_shared<std::vector<T>>(all());
    return *all_;
  }

  std::shared_ptr<std::vector<T>> all_;  // none: empty
};

template <class T>
Few<T> in_both(const Few<T>& one, const Few<T>& other) {
  Few<T> both;
  for (const T& value : one) {
    if (other.contains(value)) both.insert(value);
  }
  return both;
}

}  // namespace tomos::tm
