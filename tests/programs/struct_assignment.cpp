// The same as memcpy.cpp by assignment, in both directions.
// FINDS: label=store variable=shared_point at=store
// FINDS: label=load variable=shared_point at=load
#include <mutex>

#include "threads.h"

struct Point {
  double x = 0;
  double y = 0;
  double z = 0;
};

std::mutex mutex;
Point shared_point;

void store(const Point& point) {
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  shared_point = point;  // @store
}

Point load() {
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  Point copy = shared_point;  // @load
  return copy;
}

int length_class() {
#ifndef BAD
  std::lock_guard lock(mutex);
#endif
  return shared_point.x + shared_point.y > shared_point.z ? 1 : 0;
}

static void write_points() {
  store({1, 2, 3});
  keep(length_class());
}

int main() {
  in_threads({write_points, [] { keep(load()); }});
}
