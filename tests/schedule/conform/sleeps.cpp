// Sleeps take as long as was asked by every clock; time does not go back; long ones cost nothing.
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

using namespace std::chrono;
using namespace std::chrono_literals;

static std::mutex mutex;
static steady_clock::time_point latest;

static void look() {
  std::lock_guard lock(mutex);
  const auto now = steady_clock::now();
  CHECK(now >= latest);
  latest = now;
}

template <class Sleep>
static void timed(Sleep sleep, nanoseconds asked) {
  look();
  const auto before = steady_clock::now();
  const auto wall = system_clock::now();
  sleep();
  CHECK(steady_clock::now() - before >= asked);
  CHECK(system_clock::now() - wall >= asked - 1ms);
  look();
}

int main() {
  std::vector<std::thread> threads;
  threads.emplace_back([] { timed([] { std::this_thread::sleep_for(3ms); }, 3ms); });
  threads.emplace_back(
      [] { timed([] { std::this_thread::sleep_until(steady_clock::now() + 4ms); }, 3ms); });
  threads.emplace_back([] { timed([] { usleep(2000); }, 2ms); });
  threads.emplace_back([] {
    timed(
        [] {
          timespec time{};
          clock_gettime(CLOCK_MONOTONIC, &time);
          time.tv_sec++;
          CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == 0);
        },
        900ms);
  });
  threads.emplace_back([] {
    timed(
        [] {
          const timespec time{.tv_sec = 0, .tv_nsec = 5'000'000};
          CHECK(nanosleep(&time, nullptr) == 0);
        },
        5ms);
  });
  for (auto& thread : threads) thread.join();
  const time_t before = time(nullptr);
  timeval day{};
  gettimeofday(&day, nullptr);
  CHECK(before - day.tv_sec <= 1 && day.tv_sec - before <= 1);
  CHECK(sleep(1) == 0);
  CHECK(time(nullptr) > before);
  return ok();
}
