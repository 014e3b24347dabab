// A pipeline: each stage takes an item from its queue, works on it alone, and hands it to the next.
// Items are nobody else's meanwhile.
#include <cstddef>
#include <deque>
#include <thread>

template <class Body>
void atomically(Body body) {
  body();
}

struct Item {
  int value = 0;
  int stage = 0;
};

std::deque<Item*> first;
std::deque<Item*> second;
bool closed = false;

Item* take(std::deque<Item*>& from) {
  Item* taken = nullptr;
  atomically([&] {
    if (!from.empty()) {
      taken = from.front();
      from.pop_front();
    }
  });
  return taken;
}

void put(std::deque<Item*>& to, Item* item) {
  atomically([&] { to.push_back(item); });
}

bool is_closed() {
  bool result = false;
  atomically([&] { result = closed; });
  return result;
}

void work() {
  while (!is_closed()) {
    Item* item = take(first);
    if (item == nullptr) continue;
    item->value *= 2;
    ++item->stage;
    put(second, item);
  }
}

int main() {
  std::thread one(work);
  std::thread two(work);
  for (int i = 0; i < 100; ++i) put(first, new Item{i, 0});
  atomically([&] { closed = true; });
  one.join();
  two.join();
  std::size_t left = second.size();
  return left > 100 ? 1 : 0;
}
