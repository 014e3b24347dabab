// ArrayList of the paper's Table 1: containsAll and removeAll.
// PAPER: 0.97
#include <algorithm>
#include <vector>

#include "collections.h"

struct Traits {
  static bool add(std::vector<int>& items, int item) {
    items.push_back(item);
    return true;
  }
  static auto find(std::vector<int>& items, int item) { return std::ranges::find(items, item); }
};

int main() { return drive<Collection<std::vector<int>, Traits>>(); }
