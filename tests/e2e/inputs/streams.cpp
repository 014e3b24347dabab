// Tells the runtime of random loops: as the pass plugin does, before the loop, or ("one-by-one")
// access by access. Nothing is accessed in truth.
//
//   streams SEED LOOPS together|one-by-one
#include <semaphore.h>
#include <tomos/tomos.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

extern "C" {
void __tomos_stream(const void* start, std::int64_t step, std::uint64_t rounds, std::uint32_t what);
void __tsan_read1(void* address);
void __tsan_write1(void* address);
void __tsan_unaligned_read2(void* address);
void __tsan_unaligned_write2(void* address);
void __tsan_unaligned_read4(void* address);
void __tsan_unaligned_write4(void* address);
void __tsan_unaligned_read8(void* address);
void __tsan_unaligned_write8(void* address);
}

// More than a page of each size: only accesses of one size meet.
constexpr int kSize = 6000;
std::uint8_t ones[kSize];
std::uint16_t twos[kSize / 2];
std::uint32_t fours[kSize / 4];
std::uint64_t eights[kSize / 8];

static char* array_of(std::uint32_t element) {
  switch (element) {
    case 1:
      return reinterpret_cast<char*>(ones);
    case 2:
      return reinterpret_cast<char*>(twos);
    case 4:
      return reinterpret_cast<char*>(fours);
    default:
      return reinterpret_cast<char*>(eights);
  }
}

struct Stream {
  std::int64_t start;
  std::int64_t step;
  std::uint32_t element, width, pieces;
  bool write;
};

class Loops {
 public:
  Loops(unsigned seed, int count, bool together)
      : random_(seed), count_(count), together_(together) {}

  [[clang::no_sanitize("thread")]] void run() {
    for (int i = 0; i < count_; i++) {
      const std::vector<Stream> streams = make();
      TOMOS_ATOMIC("loop");
      // Several loops may follow each other in a transaction.
      for (int again = pick(1, 3); again > 0; again--) tell(streams, rounds(streams));
    }
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // None leaves its array.
  int rounds(const std::vector<Stream>& streams) {
    int most = 60;
    for (const Stream& one : streams) {
      const auto step = static_cast<int>(std::abs(one.step) * one.pieces);
      if (step != 0) most = std::min(most, kSize / 3 / step);
    }
    return pick(1, most);
  }

  std::vector<Stream> make() {
    std::vector<Stream> streams(static_cast<std::size_t>(pick(1, 4)));
    // Mostly of one kind, so that they meet.
    const int size = pick(0, 3);
    const int round = pick(-4, 4);
    for (Stream& one : streams) {
      one.element = 1U << (pick(0, 5) == 0 ? pick(0, 3) : size);
      const int element = static_cast<int>(one.element);
      one.width = one.element * static_cast<unsigned>(pick(0, 3) == 0 ? pick(1, 4) : 1);
      one.step = (pick(0, 3) == 0 ? pick(-40, 40) : round) * element;
      // Pieces do not meet each other in a round.
      one.pieces = pick(0, 3) == 0 && std::abs(one.step) >= one.width ? 2 : 1;
      one.start = kSize / 16 * 8 + element * (pick(0, 3) == 0 ? pick(-40, 40) : pick(-2, 2));
      one.write = pick(0, 2) == 0;
    }
    return streams;
  }

  [[clang::no_sanitize("thread")]] void tell(const std::vector<Stream>& streams, int rounds) {
    for (std::size_t i = 0; together_ && i < streams.size(); i++) {
      const Stream& one = streams[i];
      const std::uint32_t what = one.element | (one.write ? 1U << 8 : 0) | (i == 0 ? 1U << 10 : 0) |
                                 (i + 1 == streams.size() ? 1U << 11 : 0) | one.pieces << 12 |
                                 one.width << 16;
      __tomos_stream(array_of(one.element) + one.start, one.step,
                     static_cast<std::uint64_t>(rounds), what);
    }
    for (int round = 0; !together_ && round < rounds; round++) {
      for (const Stream& one : streams) {
        for (std::uint32_t piece = 0; piece < one.pieces; piece++) {
          char* at = array_of(one.element) + one.start +
                     one.step * (round * static_cast<int>(one.pieces) + static_cast<int>(piece));
          for (std::uint32_t i = 0; i < one.width; i += one.element)
            tell(at + i, one.element, one.write);
        }
      }
    }
  }

  [[clang::no_sanitize("thread")]] static void tell(void* at, std::uint32_t size, bool write) {
    switch (size) {
      case 1:
        return write ? __tsan_write1(at) : __tsan_read1(at);
      case 2:
        return write ? __tsan_unaligned_write2(at) : __tsan_unaligned_read2(at);
      case 4:
        return write ? __tsan_unaligned_write4(at) : __tsan_unaligned_read4(at);
      default:
        return write ? __tsan_unaligned_write8(at) : __tsan_unaligned_read8(at);
    }
  }

  std::mt19937 random_;
  int count_;
  bool together_;
};

int main(int /*argc*/, char** argv) {
  const auto seed = static_cast<unsigned>(std::atoi(argv[1]));
  const int loops = std::atoi(argv[2]);
  const bool together = std::strcmp(argv[3], "together") == 0;
  sem_t first_is_done;
  sem_t may_end;
  sem_init(&first_is_done, 0, 0);
  sem_init(&may_end, 0, 0);
  std::thread first([&] {
    Loops(seed, loops, together).run();
    sem_post(&first_is_done);
    sem_wait(&may_end);
  });
  std::thread second([&] {
    sem_wait(&first_is_done);
    Loops(seed + 1, loops, together).run();
    sem_post(&may_end);
  });
  first.join();
  second.join();
}
