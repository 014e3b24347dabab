// Small methods, called over and over from few places in an order that a seed draws. Mostly they do
// the same; now and then they access something else, are called with a lock held, or find other
// objects where theirs were. Threads take turns, which only unwatched code knows of, so that every
// run with a seed does the same.
//
//   familiar SEED CALLS
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#define UNWATCHED [[clang::no_sanitize("thread")]]

class Pair {
 public:
  long sum() const { return first_ + second_; }
  void move(long by) {
    first_ -= by;
    second_ += by;
  }
  // What it accesses depends on what it is given.
  void set(bool both, long to) {
    first_ = to;
    if (both) second_ = to;
  }
  long locked_sum() {
    const std::lock_guard lock(mutex_);
    return first_ + second_;
  }
  void locked_move(long by) {
    const std::lock_guard lock(mutex_);
    first_ -= by;
    second_ += by;
  }
  // Atomic under its lock or not, as the caller has it.
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  long first_ = 0;
  long second_ = 0;
};

constexpr std::size_t kThreads = 3;
constexpr std::size_t kPairs = 4;
Pair* pairs[kPairs];
volatile long seen;

// One of the methods, with its call at a place of its own.
static void call(std::uint32_t what, std::uint32_t extra) {
  Pair& pair = *pairs[what / 8 % kPairs];
  switch (what % 8) {
    case 0:
      seen = pair.sum();
      break;
    case 1:
      pair.move(1);
      break;
    case 2:
      pair.set(extra % 16 != 0, 3);
      break;
    case 3:
      seen = pair.locked_sum();
      break;
    case 4:
      pair.locked_move(1);
      break;
    case 5: {
      const std::lock_guard lock(pair.mutex());
      seen = pair.sum();
      break;
    }
    case 6: {
      std::unique_lock lock(pair.mutex(), std::defer_lock);
      if (extra % 4 != 0) lock.lock();
      pair.move(2);
      break;
    }
    default:
      for (std::uint32_t i = 0; i < extra % 8; i++) seen = pair.sum();
  }
}

struct Turns {
  std::vector<std::uint32_t> whose, what, extra;
  std::uint32_t next = 0;
};
Turns turns;

UNWATCHED static void draw(unsigned seed, std::size_t calls) {
  std::mt19937 random(seed);
  // Few different calls, so that they come again and again.
  std::vector<std::uint32_t> few(3 + random() % 6);
  for (auto& one : few) one = random() % 32;
  for (std::size_t i = 0; i < calls; i++) {
    turns.whose.push_back(random() % kThreads);
    turns.what.push_back(random() % 40 == 0 ? 1000 + random() % kPairs
                                            : few[random() % few.size()]);
    turns.extra.push_back(random());
  }
}

UNWATCHED static bool wait_for_turn(std::uint32_t self, std::uint32_t* turn) {
  for (;;) {
    const std::uint32_t now = __atomic_load_n(&turns.next, __ATOMIC_ACQUIRE);
    if (now == turns.whose.size()) return false;
    if (turns.whose[now] == self) {
      *turn = now;
      return true;
    }
    std::this_thread::yield();
  }
}

static void replace(std::uint32_t which) {
  delete pairs[which];
  pairs[which] = new Pair;
}

UNWATCHED static void work(std::uint32_t self) {
  std::uint32_t turn = 0;
  while (wait_for_turn(self, &turn)) {
    if (turns.what[turn] >= 1000) {
      replace(turns.what[turn] - 1000);
    } else {
      call(turns.what[turn], turns.extra[turn]);
    }
    __atomic_store_n(&turns.next, turn + 1, __ATOMIC_RELEASE);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  draw(static_cast<unsigned>(std::atoi(argv[1])), static_cast<std::size_t>(std::atoi(argv[2])));
  for (auto& pair : pairs) pair = new Pair;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; i++) threads.emplace_back([i] { work(i); });
  for (auto& thread : threads) thread.join();
}
