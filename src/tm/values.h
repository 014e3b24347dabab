// Abstract values, and a store that keeps them by place. States are copied at every branch, and
// most of what they hold is the same on both ways: a store is made of groups (the variables of one
// activation, the parts of one object) that copies share until one of them writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tm/locations.h"
#include "tm/program.h"

namespace tomos::tm {

// A read that a value depends on: which execution of a transaction, what it read, and whether the
// value was only chosen by it.
struct Origin {
  std::uint32_t execution = 0;
  LocationId location = {};
  bool implicit = false;

  friend auto operator<=>(const Origin&, const Origin&) = default;
};
using Origins = Few<Origin>;

Origins made_implicit(const Origins& origins);

// A lock that was taken if it was free, and the value says whether.
struct Tried {
  NodeId node = kNoNode;
  Few<LocationId> at;
  std::uint32_t frame = 0;  // by whom
  bool if_true = true;      // the value is not zero: it was

  friend bool operator==(const Tried&, const Tried&) = default;
};

struct Value {
  Few<LocationId> points;  // where it may lead
  Origins origins;
  // Of a condition: these are what is there now, if it holds, and if it does not.
  Origins if_true;
  Origins if_false;
  // Of the address of a new object: which making of it. An object stands for all that one place
  // makes; this one is told from the others until it is passed on (Executor::State::own).
  std::uint32_t made = 0;
  std::optional<std::uint32_t> number;  // that it surely is
  std::optional<Tried> tried;

  // Of what may be one or the other nothing is known as a condition.
  void join(const Value& other) {
    if (points.empty()) {
      made = other.made;
    } else if (!other.points.empty() && made != other.made) {
      made = 0;
    }
    points.insert(other.points);
    origins.insert(other.origins);
    if_true = {};
    if_false = {};
    if (number != other.number) number = std::nullopt;
    if (tried != other.tried) tried = std::nullopt;
  }
  friend bool operator==(const Value&, const Value&) = default;
};

class Store {
 public:
  Store() = default;
  explicit Store(const Locations* locations) : locations_(locations) {}

  const Value* find(LocationId at) const;  // null: nothing was kept there
  Value& get(LocationId at);               // to be changed; made if it is not there
  template <class Do>
  void for_each(std::uint64_t activation, const Do& act) const {
    const auto group = std::ranges::lower_bound(groups_, activation, {}, &Group::activation);
    if (group == groups_.end() || group->activation != activation) return;
    for (const Entry& entry : *group->entries) act(entry.at, entry.value);
  }
  // The variables of an activation that has ended, except those that are still known. Their parts
  // stay: what a variable leads to may be one of them.
  void forget(std::uint32_t activation, const Few<LocationId>& known);
  void join(const Store& other);

 private:
  struct Entry {
    LocationId at = {};
    Value value;

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Group {
    std::uint64_t activation = 0;
    std::shared_ptr<std::vector<Entry>> entries;  // by place
  };

  static void join(Group& mine, const Group& other);

  const Locations* locations_ = nullptr;
  std::vector<Group> groups_;  // by activation
};

}  // namespace tomos::tm
