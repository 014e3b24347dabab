#include "infer/ways.h"

#include <algorithm>
#include <iterator>

namespace tomos::infer {

namespace {

void tidy(Way& way, LockId lock) {
  const auto at = way.holds.find(lock);
  if (at == way.holds.end()) return;
  at->second.shared &= at->second.depth > 0;
  if (at->second == Hold()) way.holds.erase(at);
}

}  // namespace

void drop(Way& way, LockId lock) {
  const auto at = way.holds.find(lock);
  if (at != way.holds.end() && at->second.depth > 0) --at->second.depth;
  tidy(way, lock);
}

bool give_back(Way& way, LockId lock) {
  Hold& hold = way.holds[lock];
  const bool own = hold.depth > 0 || hold.maybe;
  if (hold.depth > 0) {
    --hold.depth;
  } else if (hold.maybe) {
    hold.maybe = false;
  } else {
    hold.released = true;
  }
  tidy(way, lock);
  return own;
}

Way meet(const Way& a, const Way& b) {
  if (!a.reachable) return b;
  if (!b.reachable) return a;
  Way met;
  std::ranges::set_intersection(a.unshared, b.unshared,
                                std::inserter(met.unshared, met.unshared.end()));
  const auto add = [&](LockId lock, Hold one, Hold two) {
    // Released and acquired again is as at the entry, where the caller's lock is concerned.
    if (one.released != two.released) {
      Hold& released = one.released ? one : two;
      if (released.depth > 0) {
        --released.depth;
        released.released = false;
      }
    }
    const Hold hold = {.depth = std::min(one.depth, two.depth),
                       .released = one.released || two.released,
                       .maybe = one.maybe || two.maybe || one.depth != two.depth,
                       .shared = std::min(one.depth, two.depth) > 0 && (one.shared || two.shared)};
    if (hold != Hold()) met.holds[lock] = hold;
  };
  const auto find = [](const Holds& in, LockId lock) {
    const auto at = in.find(lock);
    return at == in.end() ? Hold() : at->second;
  };
  for (const auto& [lock, hold] : a.holds) add(lock, hold, find(b.holds, lock));
  for (const auto& [lock, hold] : b.holds) {
    if (!a.holds.contains(lock)) add(lock, Hold(), hold);
  }
  return met;
}

}  // namespace tomos::infer
