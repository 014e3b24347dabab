// LinkedList of the paper's Table 1: containsAll and removeAll.
// PAPER: 0.99
#include <algorithm>
#include <list>

#include "collections.h"

struct Traits {
  static bool add(std::list<int>& items, int item) {
    items.push_back(item);
    return true;
  }
  static auto find(std::list<int>& items, int item) { return std::ranges::find(items, item); }
};

int main() { return drive<Collection<std::list<int>, Traits>>(); }
