// LinkedHashSet of the paper's Table 1: containsAll and removeAll.
// PAPER: 0.77
#include <list>
#include <unordered_map>

#include "collections.h"

// A set that keeps the order in which items came.
class LinkedHashSet {
 public:
  using iterator = std::list<int>::iterator;
  iterator begin() { return order_.begin(); }
  iterator end() { return order_.end(); }
  iterator erase(iterator place) {
    places_.erase(*place);
    return order_.erase(place);
  }
  iterator find(int item) {
    const auto found = places_.find(item);
    return found == places_.end() ? order_.end() : found->second;
  }
  bool add(int item) {
    if (places_.contains(item)) return false;
    places_[item] = order_.insert(order_.end(), item);
    return true;
  }

 private:
  std::list<int> order_;
  std::unordered_map<int, iterator> places_;
};

struct Traits {
  static bool add(LinkedHashSet& items, int item) { return items.add(item); }
  static auto find(LinkedHashSet& items, int item) { return items.find(item); }
};

int main() { return drive<Collection<LinkedHashSet, Traits>>(); }
