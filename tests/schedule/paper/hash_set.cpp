// HashSet of the paper's Table 1: containsAll and removeAll.
// PAPER: 0.98
#include <algorithm>
#include <unordered_set>

#include "collections.h"

struct Traits {
  static bool add(std::unordered_set<int>& items, int item) { return items.insert(item).second; }
  static auto find(std::unordered_set<int>& items, int item) { return items.find(item); }
};

int main() { return drive<Collection<std::unordered_set<int>, Traits>>(); }
