// std::async, std::promise, std::packaged_task, std::shared_future, also with exceptions.
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "check.h"

int main() {
  auto a = std::async(std::launch::async, [] { return 20; });
  auto b = std::async(std::launch::async, [] { return 22; });
  auto lazy = std::async(std::launch::deferred, [] { return 1; });
  CHECK(lazy.wait_for(std::chrono::seconds(0)) == std::future_status::deferred);
  CHECK(a.get() + b.get() == 42 && lazy.get() == 1);

  auto failed = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
  std::string said;
  try {
    failed.get();
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  CHECK(said == "no");

  std::promise<int> promise;
  const auto shared = promise.get_future().share();
  std::packaged_task<int(int)> task([shared](int n) { return n + shared.get(); });
  auto result = task.get_future();
  std::thread worker(std::move(task), 5);
  std::thread setter([&] { promise.set_value(10); });
  CHECK(shared.wait_for(std::chrono::hours(1)) == std::future_status::ready);
  CHECK(result.get() == 15 && shared.get() == 10);
  worker.join();
  setter.join();
  std::promise<void> never;
  CHECK(never.get_future().wait_for(std::chrono::milliseconds(2)) == std::future_status::timeout);
  return ok();
}
