// A hash map with a lock for every stripe of buckets; four threads look up and store.
//
//   hash_map [MILLIONS OF OPERATIONS]
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

constexpr unsigned kThreads = 4;
constexpr std::uint64_t kKeys = 100'000;

class StripedMap {
 public:
  bool get(std::uint64_t key, std::uint64_t* value) {
    Stripe& stripe = stripe_of(key);
    const std::lock_guard lock(stripe.mutex);
    for (const Node* node = bucket_of(stripe, key).get(); node; node = node->next.get()) {
      if (node->key == key) {
        *value = node->value;
        return true;
      }
    }
    return false;
  }

  void put(std::uint64_t key, std::uint64_t value) {
    Stripe& stripe = stripe_of(key);
    const std::lock_guard lock(stripe.mutex);
    std::unique_ptr<Node>& bucket = bucket_of(stripe, key);
    for (Node* node = bucket.get(); node; node = node->next.get()) {
      if (node->key == key) {
        node->value = value;
        return;
      }
    }
    bucket = std::make_unique<Node>(Node{key, value, std::move(bucket)});
    stripe.count++;
  }

  std::size_t size() {
    std::size_t total = 0;
    for (Stripe& stripe : stripes_) {
      const std::lock_guard lock(stripe.mutex);
      total += stripe.count;
    }
    return total;
  }

 private:
  static constexpr std::size_t kStripes = 64;
  static constexpr std::size_t kBuckets = 1024;  // in each stripe

  struct Node {
    std::uint64_t key;
    std::uint64_t value;
    std::unique_ptr<Node> next;
  };
  struct Stripe {
    std::mutex mutex;
    std::size_t count = 0;
    std::array<std::unique_ptr<Node>, kBuckets> buckets;
  };

  static std::uint64_t hash(std::uint64_t key) { return key * 0x9e3779b97f4a7c15U; }
  Stripe& stripe_of(std::uint64_t key) { return stripes_[hash(key) >> 58]; }
  static std::unique_ptr<Node>& bucket_of(Stripe& stripe, std::uint64_t key) {
    return stripe.buckets[(hash(key) >> 40) % kBuckets];
  }

  std::array<Stripe, kStripes> stripes_;
};

static void mix(StripedMap& map, std::uint64_t seed, std::uint64_t operations,
                std::uint64_t* found) {
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; i < operations; i++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    const std::uint64_t key = seed % kKeys;
    std::uint64_t value = 0;
    if ((seed >> 40) % 4 == 0) {
      map.put(key, seed);
    } else if (map.get(key, &value)) {
      hits++;
    }
  }
  *found = hits;
}

int main(int argc, char** argv) {
  const double millions = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  const auto operations = static_cast<std::uint64_t>(millions * 1e6 / kThreads);
  const auto map = std::make_unique<StripedMap>();
  std::array<std::uint64_t, kThreads> found = {};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (unsigned i = 0; i < kThreads; i++) {
    threads.emplace_back([&map, &found, i, operations] {
      mix(*map, 88172645463325252U + i, operations, &found[i]);
    });
  }
  std::uint64_t total = 0;
  for (unsigned i = 0; i < kThreads; i++) {
    threads[i].join();
    total += found[i];
  }
  std::printf("%zu keys\n", map->size());
  // How many were there already depends on who came first.
  std::fprintf(stderr, "%llu found\n", static_cast<unsigned long long>(total));
}
