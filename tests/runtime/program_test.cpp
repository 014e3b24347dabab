// A small program as the runtime sees one: the test calls the hooks and entry points that
// interposition and instrumented code would call. What comes out must be a recording without flaw.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/abi.h"
#include "runtime/hooks.h"
#include "runtime/interpose.h"
#include "trace/recording.h"

// The entry points of instrumented code, under the names that CMakeLists.txt gives them.
extern "C" {
void tested_read8(void* address);
void tested_write8(void* address);
void tested_func_entry(void* site);
void tested_func_exit();

// To see whether it holds pointers the runtime looks at the program's memory, unasked and
// unordered.
// NOLINTNEXTLINE(bugprone-reserved-identifier): ThreadSanitizer's name
const char* __tsan_default_suppressions() {
  return "race_top:is_no_pointer\nrace_top:cascade\nrace_top:look_at_stored_pointer_now\n";
}
}

namespace tomos::runtime {

// Of the interposition layer, which is not here.
void* map_memory(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

namespace {

constexpr std::uint32_t kThreads = 4;
constexpr std::uint32_t kTurns = 3000;
constexpr std::size_t kSlots = 8;

Address here() { return reinterpret_cast<Address>(__builtin_return_address(0)); }

FunctionDescriptor transfer = {
    .name = "transfer", .file = "bank.cpp", .line = 7, .flags = kCandidate};
FunctionDescriptor wait_a_while = {
    .name = "wait_a_while", .file = "bank.cpp", .line = 20, .flags = kCandidate};

// A program's data, each with its lock.
struct Slot {
  std::mutex mutex;
  std::uint64_t value = 0;
  std::uint64_t* object = nullptr;  // from the heap, and so it escapes
};
std::array<Slot, kSlots> slots;
std::atomic<std::uint64_t> count;

void locked(Slot& slot, std::uint32_t turn) {
  slot.mutex.lock();
  acquired(&slot.mutex, LockMode::kWrite, here());
  tested_read8(&slot.value);
  tested_write8(&slot.value);
  ++slot.value;
  if (turn % 16 == 0) {
    if (slot.object != nullptr) {
      freeing(slot.object, 64, here());
      delete[] slot.object;
    }
    slot.object = new std::uint64_t[8]();
    allocated(slot.object, 64, here());
    tested_write8(static_cast<void*>(&slot.object));
  }
  if (slot.object != nullptr) {
    tested_write8(slot.object);
    ++*slot.object;
  }
  releasing(&slot.mutex, LockMode::kWrite, here());
  slot.mutex.unlock();
}

void body(std::uint32_t thread) {
  tested_func_entry(__builtin_return_address(0));
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    __tomos_enter(&transfer);
    locked(slots[(turn + thread) % kSlots], turn);
    locked(slots[(turn * 3 + thread) % kSlots], turn);
    __tomos_exit(&transfer);
    atomic_before(&count, AtomicKind::kUpdate, 5);
    ++count;
    atomic_after(&count, 8, AtomicKind::kUpdate, 5, here());
    __tomos_begin_atomic("both", "bank.cpp", 30);
    locked(slots[turn % kSlots], turn);
    __tomos_end_atomic();
    if (turn % 64 == 0) {
      signal(&count, here());
      wait_over(&count, here());
    }
    if (turn == kTurns / 2) {
      __tomos_enter(&wait_a_while);
      waiting(here());
      __tomos_exit(&wait_a_while);
    }
    // A critical section outside functions, which waits now and then.
    slots[0].mutex.lock();
    acquired(&slots[0].mutex, LockMode::kWrite, here());
    if (turn % 500 == 499) waiting(here());
    releasing(&slots[0].mutex, LockMode::kWrite, here());
    slots[0].mutex.unlock();
  }
  tested_func_exit();
}

TEST(Program, LeavesARecordingWithoutFlaw) {
  // Threads follow upon threads, so that what ended ones leave behind is used again.
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    std::vector<ThreadNumber> numbers;
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      const ThreadNumber number = thread_create(nullptr, nullptr, here());
      numbers.push_back(number);
      threads.emplace_back([number, i] {
        thread_start(number, nullptr);
        body(i);
        thread_end();
      });
    }
    for (std::uint32_t i = 0; i < kThreads; ++i) {
      threads[i].join();
      thread_joined(numbers[i], here());
    }
  }
  EXPECT_EQ(count, 3U * kThreads * kTurns);

  const char* path = std::getenv("TOMOS_RECORDING");  // NOLINT(concurrency-mt-unsafe): alone again
  const auto recording = open_recording(path);
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_FALSE((*recording)->damage());
  EXPECT_EQ((*recording)->threads().size(), 1 + 3 * kThreads);
  struct NoNames : RecordingNames {
    std::string location(std::uint64_t) override { return ""; }
    bool is_users(std::uint64_t) override { return true; }
    std::string variable(std::uint64_t, std::uint64_t, std::uint64_t,
                         const recording::Object*) override {
      return "";
    }
    std::string lock(std::uint64_t, std::uint64_t, const recording::Object*) override { return ""; }
  } names;
  const auto events = (*recording)->events(names);
  std::uint64_t total = 0;
  for (Batch batch;;) {
    const auto got = events->next(batch);
    ASSERT_TRUE(got) << got.error().what;
    if (batch.events.empty()) break;
    total += batch.events.size();
  }
  EXPECT_GT(total, 1000U);
  EXPECT_EQ(events->repaired(), 0U);
}

}  // namespace
}  // namespace tomos::runtime

// The runtime looks at its environment before main(): so the environment is made, and then the
// process once more.
int main(int argc, char** argv) {
  if (std::getenv("TOMOS_RECORDING") == nullptr) {  // NOLINT(concurrency-mt-unsafe)
    std::string folder = std::filesystem::temp_directory_path() / "tomos-runtime.XXXXXX";
    if (mkdtemp(folder.data()) == nullptr) return 1;
    const std::string path = folder + "/recording";
    setenv("TOMOS_RECORDING", path.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    execv("/proc/self/exe", argv);
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const char* path = std::getenv("TOMOS_RECORDING");  // NOLINT(concurrency-mt-unsafe)
  std::error_code error;
  std::filesystem::remove_all(std::filesystem::path(path).parent_path(), error);
  return status;
}
