// Locks that are not known yet, and which of them are the same: union and find, where a set may be
// bound to a lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/locks.h"

namespace tomos::infer {

class Unifier {
 public:
  enum class Node : std::uint32_t {};

  Node fresh() { return add(std::nullopt); }
  // To an unknown lock: to one that is no other, unknown ones included.
  Node bound(core::LockId lock) { return add(lock); }

  Node find(Node node) const {
    while (at(node).parent != node) node = at(node).parent;
    return node;
  }
  std::optional<core::LockId> lock_of(Node node) const { return at(find(node)).lock; }

  // No: they are different locks.
  bool unify(Node a, Node b) {
    a = find(a);
    b = find(b);
    if (a == b) return true;
    const auto one = at(a).lock;
    const auto other = at(b).lock;
    if (one && other && (*one != *other || *one == core::Locks::kUnknown)) return false;
    if (other) std::swap(a, b);
    nodes_[static_cast<std::size_t>(b)].parent = a;
    return true;
  }

 private:
  struct Entry {
    Node parent = {};
    std::optional<core::LockId> lock;
  };

  Node add(std::optional<core::LockId> lock) {
    const auto made = static_cast<Node>(nodes_.size());
    nodes_.push_back({.parent = made, .lock = lock});
    return made;
  }
  const Entry& at(Node node) const { return nodes_[static_cast<std::size_t>(node)]; }

  std::vector<Entry> nodes_;
};

}  // namespace tomos::infer
