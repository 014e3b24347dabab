// Threads, as the interposition layer tells them.
#include <gtest/gtest.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "log.h"

namespace tomos::test {
namespace {

void* nothing(void* argument) { return argument; }

// "create0 start0 ...": threads numbered from the first one. Only of `what`, if it is given.
std::string numbered(std::size_t start, const std::string& what = "") {
  const Told* entries = nullptr;
  const std::size_t count = told_entries(&entries);
  std::string text;
  std::size_t first = 0;
  for (std::size_t i = start; i < count; ++i) {
    if (entries[i].object != nullptr || entries[i].number == 0) continue;
    if (first == 0) first = entries[i].number;
    if (!what.empty() && what != entries[i].what) continue;
    if (!text.empty()) text += ' ';
    text += entries[i].what + std::to_string(entries[i].number - first);
  }
  return text;
}

void wait_for(const std::string& text, std::size_t start) {
  while (numbered(start).find(text) == std::string::npos) sched_yield();
}

TEST(InterposeThreads, CreateToJoin) {
  const std::size_t start = told_so_far();
  pthread_t thread = {};
  int value = 0;
  void* result = nullptr;
  ASSERT_EQ(pthread_create(&thread, nullptr, nothing, &value), 0);
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, &value);
  EXPECT_EQ(numbered(start), "create0 start0 end0 joined0");
}

// A pthread_t is used again; the thread is another one.
TEST(InterposeThreads, HandlesUsedAgain) {
  for (int i = 0; i < 100; ++i) {
    const std::size_t start = told_so_far();
    std::vector<std::thread> threads;
    threads.reserve(3);
    for (int j = 0; j < 3; ++j) threads.emplace_back([] {});
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(numbered(start, "joined"), "joined0 joined1 joined2");
  }
}

TEST(InterposeThreads, Detached) {
  const std::size_t start = told_so_far();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(&thread, &attributes, nothing, nullptr), 0);
  pthread_attr_destroy(&attributes);
  wait_for("end0", start);
  std::thread([] {}).detach();
  wait_for("end1", start);
  EXPECT_EQ(numbered(start), "create0 start0 end0 create1 start1 end1");
}

TEST(InterposeThreads, NotCreated) {
  const std::size_t start = told_so_far();
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, std::size_t{1} << 46), 0);
  pthread_t thread = {};
  EXPECT_NE(pthread_create(&thread, &attributes, nothing, nullptr), 0);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(numbered(start), "create0 not_created0");
}

// The end comes after what the program does when the thread ends.
pthread_mutex_t mark = PTHREAD_MUTEX_INITIALIZER;
void leave_mark() {
  pthread_mutex_lock(&mark);
  pthread_mutex_unlock(&mark);
}
struct Mark {
  ~Mark() { leave_mark(); }
};
thread_local Mark last_words;
pthread_key_t key;

std::size_t place_of(const char* what, const void* object, std::size_t start) {
  const Told* entries = nullptr;
  const std::size_t count = told_entries(&entries);
  std::size_t place = 0;
  for (std::size_t i = start; i < count; ++i) {
    if (entries[i].object == object && std::string(entries[i].what) == what) place = i;
  }
  return place;
}

TEST(InterposeThreads, EndsAfterDestructors) {
  static int rounds = 0;
  rounds = 0;
  ASSERT_EQ(pthread_key_create(&key,
                               [](void* value) {
                                 leave_mark();
                                 if (++rounds < 3) pthread_setspecific(key, value);
                               }),
            0);
  const std::size_t start = told_so_far();
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  static_cast<void>(&last_words);
                  pthread_setspecific(key, &key);
                  pthread_exit(nullptr);
                },
                nullptr),
            0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(rounds, 3);
  EXPECT_GT(place_of("end", nullptr, start), place_of("releasing", &mark, start));
  pthread_key_delete(key);
}

TEST(InterposeThreads, Cancelled) {
  const std::size_t start = told_so_far();
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  pause();
                  return nullptr;
                },
                nullptr),
            0);
  pthread_cancel(thread);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(numbered(start), "create0 start0 end0 joined0");
}

TEST(InterposeThreads, C11) {
  const std::size_t start = told_so_far();
  thrd_t thread = {};
  int result = 0;
  ASSERT_EQ(thrd_create(&thread, [](void*) { return 42; }, nullptr), thrd_success);
  ASSERT_EQ(thrd_join(thread, &result), thrd_success);
  EXPECT_EQ(result, 42);
  EXPECT_EQ(numbered(start), "create0 start0 end0 joined0");
}

TEST(InterposeThreads, Many) {
  const std::size_t start = told_so_far();
  std::vector<std::thread> threads;
  threads.reserve(500);
  for (int i = 0; i < 500; ++i) threads.emplace_back([] {});
  for (std::thread& thread : threads) thread.join();
  const std::string joined = numbered(start, "joined");
  EXPECT_EQ(std::count(joined.begin(), joined.end(), ' '), 499);
}

}  // namespace
}  // namespace tomos::test
