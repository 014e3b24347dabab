// A load for memcached: connections over a Unix socket, each in a thread, that store and fetch in
// batches, and see that what they fetch is what was stored; then tells the server to shut down (it
// must have been started with -A), or lets it stay.
//
//   memcached_load SOCKET [THOUSANDS OF REQUESTS [stay]]
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

constexpr int kConnections = 4;
constexpr int kBatch = 50;
static const std::string kValue(200, 'x');

static int connect_to(const char* path) {
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  if (socket_fd < 0 ||
      connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror(path);
    std::exit(1);
  }
  return socket_fd;
}

static bool send_all(int socket_fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = write(socket_fd, text.data(), text.size());
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Reads until `wanted` answers have come: a STORED or an END ends each. Nothing but values may
// stand between.
static bool read_answers(int socket_fd, int wanted) {
  std::string rest;
  std::vector<char> buffer(1 << 16);
  while (wanted > 0) {
    const ssize_t got = read(socket_fd, buffer.data(), buffer.size());
    if (got <= 0) return false;
    rest.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find("\r\n", begin)) != std::string::npos;
         begin = end + 2) {
      const std::string_view line = std::string_view(rest).substr(begin, end - begin);
      if (line == "STORED" || line == "END") {
        wanted--;
      } else if (!line.starts_with("VALUE key") && line != kValue) {
        std::fprintf(stderr, "memcached_load: the server answered '%s'\n",
                     std::string(line).c_str());
        return false;
      }
    }
    rest.erase(0, begin);
  }
  return true;
}

static bool load(const char* path, std::uint64_t seed, long requests) {
  const int socket_fd = connect_to(path);
  bool good = true;
  for (long done = 0; good && done < requests; done += kBatch) {
    std::string batch;
    for (int i = 0; i < kBatch; i++) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const std::string key = "key" + std::to_string((seed >> 33) % 20'000);
      if ((seed >> 60) % 4 == 0) {
        batch += "set " + key + " 0 0 " + std::to_string(kValue.size()) + "\r\n" + kValue + "\r\n";
      } else {
        batch += "get " + key + "\r\n";
      }
    }
    good = send_all(socket_fd, batch) && read_answers(socket_fd, kBatch);
  }
  close(socket_fd);
  return good;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: memcached_load SOCKET [THOUSANDS OF REQUESTS [stay]]\n", stderr);
    return 2;
  }
  const long requests = 1000 * (argc > 2 ? std::strtol(argv[2], nullptr, 10) : 100) / kConnections;
  std::atomic<bool> good = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < kConnections; i++) {
    threads.emplace_back([&, i] {
      if (!load(argv[1], static_cast<std::uint64_t>(i) + 1, requests)) good = false;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (argc < 4) {
    const int socket_fd = connect_to(argv[1]);
    send_all(socket_fd, "shutdown\r\n");
    char last = 0;
    while (read(socket_fd, &last, 1) > 0) {
    }
    close(socket_fd);
  }
  if (!good) std::fputs("memcached_load: a connection has ended early\n", stderr);
  return good ? 0 : 1;
}
