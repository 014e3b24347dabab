// Monte Carlo simulation of prices: each task makes a random path of prices from a seed of its own
// and finds what it earns; threads take tasks from a shared list, and put their results into a
// shared one under a lock.
//
//   montecarlo [TASKS]
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

constexpr int kThreads = 2;
constexpr std::size_t kDays = 1000;
constexpr double kDrift = 0.0002;
constexpr double kVolatility = 0.01;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  // Normally distributed, two at a time (Box and Muller's polar method).
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
      x = uniform();
      y = uniform();
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }

 private:
  double uniform() {  // between -1 and 1
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
  }
  std::uint64_t state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

// The prices of the days of one simulated run.
class PricePath {
 public:
  explicit PricePath(Random& random) {
    prices_.reserve(kDays);
    double price = 100;
    for (std::size_t day = 0; day < kDays; day++) {
      price *= std::exp(kDrift + kVolatility * random.normal());
      prices_.push_back(price);
    }
  }
  double gain() const { return std::log(prices_.back() / prices_.front()); }
  double volatility() const {
    const double mean = gain() / static_cast<double>(kDays - 1);
    double squares = 0;
    for (std::size_t day = 1; day < kDays; day++) {
      const double difference = (prices_[day] - prices_[day - 1]) / prices_[day - 1] - mean;
      squares += difference * difference;
    }
    return std::sqrt(squares / static_cast<double>(kDays - 1));
  }

 private:
  std::vector<double> prices_;
};

struct Outcome {
  std::size_t task;
  double gain;
  double volatility;
};

class Simulation {
 public:
  explicit Simulation(std::size_t tasks) : tasks_(tasks) {}

  void work() {
    for (std::size_t task = 0; take(&task);) {
      Random random(task + 1);
      const auto path = std::make_unique<PricePath>(random);
      put({task, path->gain(), path->volatility()});
    }
  }
  std::vector<Outcome> outcomes() {
    const std::lock_guard lock(mutex_);
    return outcomes_;
  }

 private:
  bool take(std::size_t* task) {
    const std::lock_guard lock(mutex_);
    if (next_ == tasks_) return false;
    *task = next_++;
    return true;
  }
  void put(const Outcome& outcome) {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(outcome);
  }

  const std::size_t tasks_;
  std::mutex mutex_;
  std::size_t next_ = 0;
  std::vector<Outcome> outcomes_;
};

int main(int argc, char** argv) {
  Simulation simulation(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 2000);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([&simulation] { simulation.work(); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Outcome> outcomes = simulation.outcomes();
  // Sums of floating point numbers depend on their order, and that of the threads is by chance.
  std::ranges::sort(outcomes, {}, &Outcome::task);
  double gain = 0;
  double volatility = 0;
  for (const Outcome& outcome : outcomes) {
    gain += outcome.gain;
    volatility += outcome.volatility;
  }
  const auto count = static_cast<double>(outcomes.size());
  std::printf("%zu paths, gain %.9f, volatility %.9f\n", outcomes.size(), gain / count,
              volatility / count);
}
