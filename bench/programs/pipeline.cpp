// Strings go through three stages in threads of their own, joined by bounded queues: one makes
// lines, one counts and rewrites their words, one gathers how often each word came.
//
//   pipeline [THOUSANDS OF LINES]
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

class Queue {
 public:
  void put(std::string line) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return lines_.size() < kRoom; });
    lines_.push_back(std::move(line));
    not_empty_.notify_one();
  }

  std::optional<std::string> take() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !lines_.empty() || closed_; });
    if (lines_.empty()) return std::nullopt;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    not_full_.notify_one();
    return line;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    not_empty_.notify_all();
  }

 private:
  static constexpr std::size_t kRoom = 256;
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<std::string> lines_;
  bool closed_ = false;
};

static void make_lines(Queue& out, long lines) {
  std::uint64_t seed = 42;
  for (long i = 0; i < lines; i++) {
    std::string line;
    for (int word = 0; word < 8; word++) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      line += "word";
      line += std::to_string((seed >> 33) % 5000);
      line += ' ';
    }
    out.put(std::move(line));
  }
  out.close();
}

static void rewrite(Queue& in, Queue& out) {
  while (std::optional<std::string> line = in.take()) {
    std::string upper;
    upper.reserve(line->size());
    for (const char c : *line) {
      upper.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    }
    out.put(std::move(upper));
  }
  out.close();
}

static void gather(Queue& in, std::unordered_map<std::string, long>* counts) {
  while (const std::optional<std::string> line = in.take()) {
    std::size_t begin = 0;
    while (begin < line->size()) {
      const std::size_t end = line->find(' ', begin);
      (*counts)[line->substr(begin, end - begin)]++;
      begin = end + 1;
    }
  }
}

int main(int argc, char** argv) {
  const long lines = 1000 * (argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100);
  Queue raw;
  Queue rewritten;
  std::unordered_map<std::string, long> counts;
  std::thread maker([&] { make_lines(raw, lines); });
  std::thread rewriter([&] { rewrite(raw, rewritten); });
  std::thread gatherer([&] { gather(rewritten, &counts); });
  maker.join();
  rewriter.join();
  gatherer.join();
  std::printf("%zu different words\n", counts.size());
}
