// The raytracer of the Java Grande benchmarks: every thread adds to the checksum, under the lock of
// its own scene. Each lock is another one.
// FINDS: label=RayTracer::render variable=checksum at=add
#include <mutex>

#include "threads.h"

long checksum;
std::mutex checksum_lock;

class RayTracer {
 public:
  void render(int first_row, int end_row) {
#ifdef BAD
    std::lock_guard lock(scene_lock_);
#else
    std::lock_guard lock(checksum_lock);
#endif
    for (int row = first_row; row < end_row; row++) checksum += trace(row);  // @add
  }

 private:
  long trace(int row) { return row * depth_ % 7; }

  [[maybe_unused]] std::mutex scene_lock_;
  long depth_ = 3;
};

int main() {
  in_threads({[] { RayTracer().render(0, 50); }, [] { RayTracer().render(50, 100); }});
}
