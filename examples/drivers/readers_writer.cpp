// tomos model --from-cpp examples/drivers/readers_writer.cpp -- -std=c++20
// tomos model --from-cpp examples/drivers/readers_writer.cpp -- -std=c++20 -DBROKEN
//
// Many may read at a time, one may write. Broken: the writer takes the lock as a reader, so that
// the other one sees half of what it writes.
#include <mutex>
#include <shared_mutex>
#include <thread>

class Point {
 public:
  void move(int by) {
#ifdef BROKEN
    const std::shared_lock lock(mutex_);
#else
    const std::unique_lock lock(mutex_);
#endif
    x_ = x_ + by;
    y_ = y_ + by;
  }

  int sum() {
    const std::shared_lock lock(mutex_);
    return x_ + y_;
  }

 private:
  std::shared_mutex mutex_;
  int x_ = 0;
  int y_ = 0;
};

int main() {
  Point point;
  std::jthread writer([&] { point.move(3); });
  std::jthread readers[] = {std::jthread([&] { (void)point.sum(); }),
                            std::jthread([&] { (void)point.sum(); })};
}
