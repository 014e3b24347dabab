// A server with a thread in epoll_wait, one in accept and two workers comes up, answers its clients
// and is shut down.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "check.h"

static std::mutex mutex;
static std::condition_variable changed;
static std::deque<int> requests;
static bool stopping;
static int served;

static void work() {
  for (;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [] { return stopping || !requests.empty(); });
    if (requests.empty()) return;
    const int connection = requests.front();
    requests.pop_front();
    served++;
    lock.unlock();
    char byte = 0;
    CHECK(read(connection, &byte, 1) == 1);
    byte++;
    CHECK(write(connection, &byte, 1) == 1);
    close(connection);
  }
}

static void loop(int epoll, int stop) {
  for (;;) {
    epoll_event event{};
    const int count = epoll_wait(epoll, &event, 1, -1);
    if (count < 0) continue;  // interrupted
    if (event.data.fd == stop) return;
    epoll_ctl(epoll, EPOLL_CTL_DEL, event.data.fd, nullptr);
    std::lock_guard lock(mutex);
    requests.push_back(event.data.fd);
    changed.notify_one();
  }
}

static void watch(int epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

int main() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  CHECK(listen(listener, 8) == 0);
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const int epoll = epoll_create1(0);
  int stop[2];
  CHECK(pipe(stop) == 0);
  watch(epoll, stop[0]);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < 4; i++) {
      const int connection = accept(listener, nullptr, nullptr);
      CHECK(connection >= 0);
      watch(epoll, connection);
    }
  });
  threads.emplace_back(loop, epoll, stop[0]);
  for (int i = 0; i < 2; i++) threads.emplace_back(work);
  std::vector<std::thread> clients;
  for (int c = 0; c < 2; c++) {
    clients.emplace_back([&] {
      for (char i = 'a'; i < 'c'; i++) {
        const int connection = socket(AF_INET, SOCK_STREAM, 0);
        CHECK(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        CHECK(write(connection, &i, 1) == 1);
        char answer = 0;
        CHECK(read(connection, &answer, 1) == 1 && answer == i + 1);
        close(connection);
      }
    });
  }
  for (auto& client : clients) client.join();
  CHECK(write(stop[1], "", 1) == 1);
  {
    std::lock_guard lock(mutex);
    stopping = true;
    changed.notify_all();
  }
  for (auto& thread : threads) thread.join();
  CHECK(served == 4);
  return ok();
}
