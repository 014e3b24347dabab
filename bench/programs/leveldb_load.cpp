// A load for LevelDB, which is linked into it: threads store random keys in a database in the
// current folder, and then look up others. What they find must be what was stored.
//
//   leveldb_load [THOUSANDS OF STORES, AND OF LOOKUPS]
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "leveldb/db.h"

constexpr std::uint64_t kThreads = 4;

static std::uint64_t next_of(std::uint64_t* seed) {
  *seed = *seed * 6364136223846793005U + 1442695040888963407U;
  return *seed >> 33;
}

static std::string key_of(std::uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(16 - digits.size(), '0') + digits;
}

static std::string value_of(std::uint64_t number) {
  std::uint64_t seed = number;
  std::string value;
  while (value.size() < 100) value += std::to_string(next_of(&seed));
  return value;
}

static void must(const leveldb::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "leveldb_load: %s\n", status.ToString().c_str());
  std::_Exit(1);
}

// Stores only keys that are the thread's number modulo kThreads, so that the result does not depend
// on who comes first.
static void fill(leveldb::DB& database, std::uint64_t thread, std::uint64_t keys) {
  std::uint64_t seed = thread;
  for (std::uint64_t i = 0; i < keys / kThreads; i++) {
    const std::uint64_t number = next_of(&seed) % (keys / kThreads) * kThreads + thread;
    must(database.Put({}, key_of(number), value_of(number)));
  }
}

static std::uint64_t look_up(leveldb::DB& database, std::uint64_t thread, std::uint64_t keys) {
  std::uint64_t seed = thread + kThreads;
  std::uint64_t found = 0;
  std::string value;
  for (std::uint64_t i = 0; i < keys / kThreads; i++) {
    const std::uint64_t number = next_of(&seed) % keys;
    const leveldb::Status status = database.Get({}, key_of(number), &value);
    if (status.IsNotFound()) continue;
    must(status);
    if (value != value_of(number)) {
      std::fprintf(stderr, "leveldb_load: another value than was stored\n");
      std::_Exit(1);
    }
    found++;
  }
  return found;
}

static void in_threads(const std::function<void(std::uint64_t)>& work) {
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (std::uint64_t i = 0; i < kThreads; i++) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

int main(int argc, char** argv) {
  const std::uint64_t keys = 1000 * (argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50);
  leveldb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  leveldb::DB* opened = nullptr;
  must(leveldb::DB::Open(options, "database", &opened));
  const std::unique_ptr<leveldb::DB> database(opened);
  in_threads([&](std::uint64_t thread) { fill(*database, thread, keys); });
  std::atomic<std::uint64_t> found = 0;
  in_threads([&](std::uint64_t thread) { found += look_up(*database, thread, keys); });
  std::printf("%llu of %llu found\n", static_cast<unsigned long long>(found.load()),
              static_cast<unsigned long long>(keys));
}
