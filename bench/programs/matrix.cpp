// Matrix multiplication in blocks; threads take the blocks of the result from a queue.
//
//   matrix [SIDE]
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

constexpr std::size_t kBlock = 32;
constexpr unsigned kThreads = 2;

class Matrix {
 public:
  explicit Matrix(std::size_t side) : side_(side), cells_(side * side) {}
  std::size_t side() const { return side_; }
  const double* row(std::size_t i) const { return &cells_[i * side_]; }
  double* row(std::size_t i) { return &cells_[i * side_]; }

 private:
  std::size_t side_;
  std::vector<double> cells_;
};

class WorkQueue {
 public:
  void add(std::size_t row, std::size_t column) {
    const std::lock_guard lock(mutex_);
    blocks_.emplace(row, column);
  }
  bool take(std::pair<std::size_t, std::size_t>* block) {
    const std::lock_guard lock(mutex_);
    if (blocks_.empty()) return false;
    *block = blocks_.front();
    blocks_.pop();
    return true;
  }

 private:
  std::mutex mutex_;
  std::queue<std::pair<std::size_t, std::size_t>> blocks_;
};

static void multiply_block(const Matrix& a, const Matrix& b, Matrix& c, std::size_t row,
                           std::size_t column) {
  const std::size_t side = a.side();
  const std::size_t end_row = std::min(side, row + kBlock);
  const std::size_t end_column = std::min(side, column + kBlock);
  for (std::size_t middle = 0; middle < side; middle += kBlock) {
    const std::size_t end_middle = std::min(side, middle + kBlock);
    for (std::size_t i = row; i < end_row; i++) {
      for (std::size_t k = middle; k < end_middle; k++) {
        const double factor = a.row(i)[k];
        const double* from = b.row(k);
        double* to = c.row(i);
        for (std::size_t j = column; j < end_column; j++) to[j] += factor * from[j];
      }
    }
  }
}

int main(int argc, char** argv) {
  const std::size_t side = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 512;
  Matrix a(side);
  Matrix b(side);
  Matrix c(side);
  for (std::size_t i = 0; i < side; i++) {
    for (std::size_t j = 0; j < side; j++) {
      a.row(i)[j] = static_cast<double>((i * 7 + j) % 11);
      b.row(i)[j] = static_cast<double>((i + j * 5) % 13);
    }
  }
  WorkQueue queue;
  for (std::size_t row = 0; row < side; row += kBlock) {
    for (std::size_t column = 0; column < side; column += kBlock) queue.add(row, column);
  }
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; i++) {
    threads.emplace_back([&] {
      std::pair<std::size_t, std::size_t> block;
      while (queue.take(&block)) multiply_block(a, b, c, block.first, block.second);
    });
  }
  for (std::thread& thread : threads) thread.join();
  double trace = 0;
  for (std::size_t i = 0; i < side; i++) trace += c.row(i)[i];
  std::printf("trace %.0f\n", trace);
}
