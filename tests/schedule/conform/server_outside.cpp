// A server with a client outside, a process that is not scheduled and takes its time. A housekeeper
// that sleeps drops connections idle for an hour, so nobody may be dropped; SIGTERM ends the
// server.
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "check.h"

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

static std::mutex mutex;
static std::condition_variable stop;
static std::map<int, Clock::time_point> last_use;
static bool stopping;
static int to_loop[2];

static void client(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int connection = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  for (char letter = 'a'; letter < 'd'; letter++) {
    usleep(20'000);
    char answer = 0;
    CHECK(write(connection, &letter, 1) == 1);
    CHECK(read(connection, &answer, 1) == 1 && answer == letter - 'a' + 'A');
  }
  kill(getppid(), SIGTERM);
}

static void serve(int listener) {
  const int epoll = epoll_create1(0);
  for (const int descriptor : {listener, to_loop[0]}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0);
  }
  for (;;) {
    epoll_event event{};
    if (epoll_wait(epoll, &event, 1, 600'000) <= 0) continue;
    int connection = event.data.fd;
    if (connection == to_loop[0]) return;
    if (connection == listener) {
      connection = accept(listener, nullptr, nullptr);
      event.data.fd = connection;
      CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, connection, &event) == 0);
    }
    std::lock_guard lock(mutex);
    last_use[connection] = Clock::now();
    char letter = 0;
    if (recv(connection, &letter, 1, MSG_DONTWAIT) != 1) continue;
    letter = static_cast<char>(letter - 'a' + 'A');
    CHECK(write(connection, &letter, 1) == 1);
  }
}

static void keep_house() {
  std::unique_lock lock(mutex);
  while (!stop.wait_for(lock, 1s, [] { return stopping; })) {
    for (const auto& [connection, used] : last_use) CHECK(Clock::now() - used < 1h);
  }
}

int main(int count, char** arguments) {
  if (count > 1) {
    client(std::stoi(arguments[1]));
    return 0;
  }
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CHECK(bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
        listen(listener, 8) == 0);
  CHECK(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  CHECK(pipe(to_loop) == 0);
  std::signal(SIGTERM, [](int) { CHECK(write(to_loop[1], "", 1) == 1); });
  const auto port = std::to_string(ntohs(address.sin_port));
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("TOMOS_SCHEDULE");
    unsetenv("LD_PRELOAD");
    execl("/proc/self/exe", arguments[0], port.c_str(), nullptr);
    _exit(127);
  }
  std::thread loop(serve, listener);
  std::thread housekeeper(keep_house);
  loop.join();
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  stop.notify_all();
  housekeeper.join();
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return ok();
}
