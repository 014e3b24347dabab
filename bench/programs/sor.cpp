// Red-black successive over-relaxation on a grid: threads own bands of rows, read the rows of their
// neighbours, and meet at a barrier after each colour.
//
//   sor [ITERATIONS]
#include <pthread.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr std::size_t kSide = 800;
constexpr std::size_t kThreads = 2;
constexpr double kOmega = 1.25;

static void relax_band(std::vector<std::vector<double>>& grid, std::size_t first, std::size_t end,
                       std::size_t colour) {
  for (std::size_t i = first; i < end; i++) {
    const std::vector<double>& above = grid[i - 1];
    const std::vector<double>& below = grid[i + 1];
    std::vector<double>& row = grid[i];
    for (std::size_t j = 1 + (i + colour) % 2; j + 1 < kSide; j += 2) {
      const double around = above[j] + below[j] + row[j - 1] + row[j + 1];
      row[j] = kOmega / 4 * around + (1 - kOmega) * row[j];
    }
  }
}

int main(int argc, char** argv) {
  const long iterations = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100;
  std::vector<std::vector<double>> grid(kSide, std::vector<double>(kSide));
  for (std::size_t i = 0; i < kSide; i++) {
    for (std::size_t j = 0; j < kSide; j++) grid[i][j] = static_cast<double>((i * j) % 17);
  }
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; t++) {
    const std::size_t rows = kSide - 2;
    const std::size_t first = 1 + rows * t / kThreads;
    const std::size_t end = 1 + rows * (t + 1) / kThreads;
    threads.emplace_back([&grid, &barrier, first, end, iterations] {
      for (long i = 0; i < 2 * iterations; i++) {
        relax_band(grid, first, end, static_cast<std::size_t>(i % 2));
        pthread_barrier_wait(&barrier);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  pthread_barrier_destroy(&barrier);
  double total = 0;
  for (const auto& row : grid) {
    for (const double cell : row) total += cell;
  }
  std::printf("total %.6f\n", total);
}
