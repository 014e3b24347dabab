// The counts of shared_ptr are the library's business.
#include <memory>
#include <thread>

struct Settings {
  int width = 3;
  int height = 4;
};

int area(std::shared_ptr<const Settings> settings) {
  std::shared_ptr<const Settings> mine = settings;
  std::weak_ptr<const Settings> weak = mine;
  const auto again = weak.lock();
  return again ? mine->width * again->height : 0;
}

int main() {
  auto settings = std::make_shared<const Settings>();
  std::thread first([settings] { area(settings); });
  std::thread second([settings] { area(settings); });
  settings.reset();
  first.join();
  second.join();
}
