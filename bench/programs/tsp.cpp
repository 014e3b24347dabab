// The travelling salesman by branch and bound: threads take beginnings of tours from a shared
// queue, put longer beginnings back while they are short, and search the rest by themselves. The
// best tour so far is shared under a lock, and every step of the search asks for its length.
//
//   tsp [CITIES]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

constexpr int kThreads = 2;
constexpr std::size_t kMostCities = 32;
constexpr std::size_t kShared = 4;  // beginnings shorter than this go through the queue

class Map {
 public:
  explicit Map(std::size_t cities) : cities_(std::clamp<std::size_t>(cities, 5, kMostCities)) {
    std::vector<std::array<double, 2>> places(cities_);
    std::uint64_t seed = 7;
    for (auto& place : places) {
      for (double& coordinate : place) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        coordinate = static_cast<double>((seed >> 33) % 1000);
      }
    }
    for (std::size_t i = 0; i < cities_; i++) {
      cheapest_[i] = std::numeric_limits<int>::max();
      for (std::size_t j = 0; j < cities_; j++) {
        distance_[i][j] =
            static_cast<int>(std::hypot(places[i][0] - places[j][0], places[i][1] - places[j][1]));
        if (i != j) cheapest_[i] = std::min(cheapest_[i], distance_[i][j]);
      }
    }
  }
  std::size_t cities() const { return cities_; }
  int distance(std::size_t from, std::size_t to) const { return distance_[from][to]; }
  int cheapest(std::size_t from) const { return cheapest_[from]; }  // the least way out of a city

 private:
  std::size_t cities_;
  std::array<std::array<int, kMostCities>, kMostCities> distance_ = {};
  std::array<int, kMostCities> cheapest_ = {};
};

// The first cities of a tour.
struct Beginning {
  std::array<std::uint8_t, kMostCities> cities = {};
  std::size_t count = 1;
  std::uint32_t visited = 1;
  int length = 0;
  int bound = 0;  // no tour that begins so is shorter
};

class Search {
 public:
  explicit Search(const Map& map) : map_(map) { queue_.push({}); }

  void work() {
    for (Beginning beginning; take(&beginning);) {
      if (beginning.count < kShared) {
        for (const Beginning& longer : longer_by_one(beginning)) put(longer);
      } else {
        finish(beginning);
      }
      done();
    }
  }
  int best_length() {
    const std::lock_guard lock(best_mutex_);
    return best_.length;
  }

 private:
  struct Later {
    bool operator()(const Beginning& a, const Beginning& b) const { return a.bound > b.bound; }
  };

  bool take(Beginning* beginning) {
    while (true) {
      {
        const std::lock_guard lock(queue_mutex_);
        if (!queue_.empty()) {
          *beginning = queue_.top();
          queue_.pop();
          busy_++;
          return true;
        }
        if (busy_ == 0) return false;
      }
      std::this_thread::yield();  // one that is at work may put something in
    }
  }
  void put(const Beginning& beginning) {
    const std::lock_guard lock(queue_mutex_);
    queue_.push(beginning);
  }
  void done() {
    const std::lock_guard lock(queue_mutex_);
    busy_--;
  }

  Beginning with(const Beginning& beginning, std::size_t city) const {
    Beginning longer = beginning;
    longer.cities[longer.count] = static_cast<std::uint8_t>(city);
    longer.length += map_.distance(beginning.cities[beginning.count - 1], city);
    longer.count++;
    longer.visited |= 1U << city;
    longer.bound = longer.length + map_.cheapest(city);
    for (std::size_t other = 0; other < map_.cities(); other++) {
      if (!(longer.visited & 1U << other)) longer.bound += map_.cheapest(other);
    }
    return longer;
  }

  // Those that may still become the best, the most hopeful first.
  std::vector<Beginning> longer_by_one(const Beginning& beginning) {
    std::vector<Beginning> result;
    const int best = best_length();
    for (std::size_t city = 0; city < map_.cities(); city++) {
      if (beginning.visited & 1U << city) continue;
      const Beginning longer = with(beginning, city);
      if (longer.bound < best) result.push_back(longer);
    }
    std::ranges::sort(result, {}, &Beginning::bound);
    return result;
  }

  void finish(const Beginning& beginning) {
    if (beginning.count == map_.cities()) {
      Beginning tour = beginning;
      tour.length += map_.distance(tour.cities[tour.count - 1], tour.cities[0]);
      const std::lock_guard lock(best_mutex_);
      if (tour.length < best_.length) best_ = tour;
      return;
    }
    for (const Beginning& longer : longer_by_one(beginning)) finish(longer);
  }

  const Map& map_;
  std::mutex queue_mutex_;
  std::priority_queue<Beginning, std::vector<Beginning>, Later> queue_;
  int busy_ = 0;  // threads that may still put something into the queue
  std::mutex best_mutex_;
  Beginning best_ = {.length = std::numeric_limits<int>::max()};
};

int main(int argc, char** argv) {
  const Map map(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 14);
  Search search(map);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&search] { search.work(); });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu cities, best tour %d\n", map.cities(), search.best_length());
}
