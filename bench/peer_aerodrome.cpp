// A benchmark peer, not part of the tool: something to divide our rates by.
//
// It is the published linear-time algorithm for atomicity (Mathur and Viswanathan, "Atomicity
// Checking in Linear Time using Vector Clocks", ASPLOS 2020, the basic Algorithm 1), written down
// as plainly as it is stated, and it reads text the plain way. Each thread, each lock, each
// variable's last write and each thread's last read of each variable has a vector clock. An event
// joins the clocks of the events it depends on into its thread's clock, and finds a violation if
// one of them has already seen the beginning of the thread's open transaction. The end of a
// transaction passes its clock to everything that has seen its beginning, which means looking at
// every clock there is. Release to acquire, fork and join order events too (our `--edges sync`). It
// stops at the first violation.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

constexpr std::uint32_t kNobody = 0xffff'ffff;

class Clock {
 public:
  std::uint32_t at(std::size_t i) const { return i < times_.size() ? times_[i] : 0; }
  void set(std::size_t i, std::uint32_t time) {
    if (times_.size() <= i) times_.resize(i + 1, 0);
    times_[i] = time;
  }
  void join(const Clock& other) {
    if (times_.size() < other.times_.size()) times_.resize(other.times_.size(), 0);
    for (std::size_t i = 0; i < other.times_.size(); ++i) {
      times_[i] = std::max(times_[i], other.times_[i]);
    }
  }
  bool within(const Clock& other) const {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      if (times_[i] > other.at(i)) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint32_t> times_;
};

struct Thread {
  Clock now;
  Clock begin;  // of the open transaction, or of the last one
  std::uint32_t depth = 0;
};

struct Lock {
  Clock release;
  std::uint32_t last_releaser = kNobody;
};

struct Variable {
  Clock write;
  std::uint32_t last_writer = kNobody;
  std::vector<Clock> reads;  // by thread
};

class Aerodrome {
 public:
  // Each gives false if the event completes a violation.

  bool begin(std::uint32_t t) {
    Thread& thread = this->thread(t);
    if (thread.depth++ > 0) return true;
    thread.now.set(t, thread.now.at(t) + 1);
    thread.begin = thread.now;
    return true;
  }

  bool end(std::uint32_t t) {
    Thread& thread = this->thread(t);
    if (--thread.depth > 0) return true;
    const Clock now = thread.now;
    const Clock begin = thread.begin;
    for (std::uint32_t u = 0; u < threads_.size(); ++u) {
      if (u != t && begin.within(threads_[u].now) && !check_and_get(u, now)) return false;
    }
    for (Lock& lock : locks_) {
      if (begin.within(lock.release)) lock.release.join(now);
    }
    for (Variable& variable : variables_) {
      if (begin.within(variable.write)) variable.write.join(now);
      for (Clock& read : variable.reads) {
        if (begin.within(read)) read.join(now);
      }
    }
    return true;
  }

  bool read(std::uint32_t t, std::uint32_t x) {
    Variable& variable = at(variables_, x);
    if (variable.last_writer != t && !check_and_get(t, variable.write)) return false;
    at(variable.reads, t) = thread(t).now;
    return true;
  }

  bool write(std::uint32_t t, std::uint32_t x) {
    Variable& variable = at(variables_, x);
    if (variable.last_writer != t && !check_and_get(t, variable.write)) return false;
    for (std::uint32_t u = 0; u < variable.reads.size(); ++u) {
      if (u != t && !check_and_get(t, variable.reads[u])) return false;
    }
    variable.write = thread(t).now;
    variable.last_writer = t;
    return true;
  }

  bool acquire(std::uint32_t t, std::uint32_t l) {
    const Lock& lock = at(locks_, l);
    return lock.last_releaser == t || check_and_get(t, lock.release);
  }

  bool release(std::uint32_t t, std::uint32_t l) {
    Lock& lock = at(locks_, l);
    lock.release = thread(t).now;
    lock.last_releaser = t;
    return true;
  }

  bool fork(std::uint32_t t, std::uint32_t u) {
    const Clock now = thread(t).now;
    thread(u).now.join(now);
    return true;
  }

  bool join(std::uint32_t t, std::uint32_t u) {
    const Clock now = thread(u).now;
    return check_and_get(t, now);
  }

 private:
  template <class T>
  static T& at(std::vector<T>& list, std::uint32_t i) {
    if (list.size() <= i) list.resize(i + 1);
    return list[i];
  }

  Thread& thread(std::uint32_t t) {
    for (auto u = static_cast<std::uint32_t>(threads_.size()); u <= t; ++u) {
      threads_.emplace_back().now.set(u, 1);
    }
    return threads_[t];
  }

  bool check_and_get(std::uint32_t t, const Clock& clock) {
    Thread& thread = this->thread(t);
    if (thread.depth > 0 && thread.begin.within(clock)) return false;
    thread.now.join(clock);
    return true;
  }

  std::vector<Thread> threads_;
  std::vector<Lock> locks_;
  std::vector<Variable> variables_;
};

using Ids = std::unordered_map<std::string, std::uint32_t>;

std::uint32_t id_of(Ids& ids, const std::string& name) {
  return ids.emplace(name, static_cast<std::uint32_t>(ids.size())).first->second;
}

// A line in parts. The objects of a begin and of an end are empty.
struct Line {
  std::string thread;
  std::string operation;
  std::string object;
  std::string location;
};

bool split(const std::string& text, Line& line) {
  const std::size_t first = text.find('|');
  if (first == std::string::npos) return false;
  const std::size_t second = text.find('|', first + 1);
  if (second == std::string::npos) return false;
  line.thread = text.substr(0, first);
  line.operation = text.substr(first + 1, second - first - 1);
  line.object.clear();
  line.location = text.substr(second + 1);
  const std::size_t open = line.operation.find('(');
  if (open == std::string::npos) return true;
  line.object = line.operation.substr(open + 1, line.operation.size() - open - 2);
  line.operation.resize(open);
  return true;
}

enum class Outcome : std::uint8_t { kGood, kViolation, kUnknownOperation };

struct Names {
  Ids threads;
  Ids locks;
  Ids variables;
  Ids locations;
};

Outcome handle(const Line& line, Names& names, Aerodrome* algorithm) {
  const std::string& op = line.operation;
  const bool variable = op == "r" || op == "w";
  const bool lock = op == "acq" || op == "rel";
  const bool thread = op == "fork" || op == "join";
  if (!variable && !lock && !thread && op != "begin" && op != "end") {
    return Outcome::kUnknownOperation;
  }
  const std::uint32_t t = id_of(names.threads, line.thread);
  id_of(names.locations, line.location);
  std::uint32_t object = 0;
  if (variable) object = id_of(names.variables, line.object);
  if (lock) object = id_of(names.locks, line.object);
  if (thread) object = id_of(names.threads, line.object);
  if (algorithm == nullptr) return Outcome::kGood;

  bool good = true;
  if (op == "r") good = algorithm->read(t, object);
  if (op == "w") good = algorithm->write(t, object);
  if (op == "acq") good = algorithm->acquire(t, object);
  if (op == "rel") good = algorithm->release(t, object);
  if (op == "fork") good = algorithm->fork(t, object);
  if (op == "join") good = algorithm->join(t, object);
  if (op == "begin") good = algorithm->begin(t);
  if (op == "end") good = algorithm->end(t);
  return good ? Outcome::kGood : Outcome::kViolation;
}

// In bytes. Not from getrusage(): its figure starts at the size of the process that started this
// one.
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

int check(std::istream& in, std::uint64_t limit, double seconds, bool read_only) {
  using Seconds = std::chrono::duration<double>;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return Seconds(std::chrono::steady_clock::now() - start).count(); };
  Aerodrome algorithm;
  Names names;
  std::string text;
  Line line;
  std::uint64_t events = 0;
  bool violation = false;
  while (!violation && events < limit && std::getline(in, text)) {
    const Outcome outcome = split(text, line)
                                ? handle(line, names, read_only ? nullptr : &algorithm)
                                : Outcome::kUnknownOperation;
    if (outcome == Outcome::kUnknownOperation) {
      fmt::print(stderr, "peer_aerodrome: event {}: cannot read '{}'\n", events, text);
      return 2;
    }
    violation = outcome == Outcome::kViolation;
    ++events;
    if (events % 16 == 0 && elapsed() > seconds) break;
  }
  fmt::print(R"({{"events": {}, "seconds": {:.6f}, "peak_rss": {}, "verdict": "{}"}})"
             "\n",
             events, elapsed(), peak_memory(), violation ? "violation" : "ok");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path = "-";
  std::uint64_t limit = UINT64_MAX;
  double seconds = 1e9;
  bool read_only = false;
  CLI::App app("The peer of the benchmarks: the plain published algorithm on STD text.");
  app.add_option("trace", path, "The trace, - for standard input")->capture_default_str();
  app.add_option("--limit", limit, "Stop after this many events");
  app.add_option("--seconds", seconds, "Stop after this time");
  app.add_flag("--read-only", read_only, "Only read: the peer of our text reader");
  CLI11_PARSE(app, argc, argv);
  if (path == "-") {
    std::ios::sync_with_stdio(false);
    return check(std::cin, limit, seconds, read_only);
  }
  std::ifstream file(path);
  if (!file) {
    fmt::print(stderr, "peer_aerodrome: cannot open {}\n", path);
    return 2;
  }
  return check(file, limit, seconds, read_only);
}
