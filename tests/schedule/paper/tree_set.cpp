// TreeSet of the paper's Table 1: containsAll and removeAll.
// PAPER: 0.99
#include <algorithm>
#include <set>

#include "collections.h"

struct Traits {
  static bool add(std::set<int>& items, int item) { return items.insert(item).second; }
  static auto find(std::set<int>& items, int item) { return items.find(item); }
};

int main() { return drive<Collection<std::set<int>, Traits>>(); }
