// A load for memcached or Redis: connections over a Unix socket, each in a thread, that store and
// fetch in batches, and see that what they fetch is what was stored; then tells the server to shut
// down (memcached must have been started with -A), or lets it stay.
//
//   server_load memcached|redis SOCKET [THOUSANDS OF REQUESTS [stay]]
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

constexpr int kBatch = 50;
static const std::string kValue(200, 'x');

struct Protocol {
  int connections;
  std::string before_value;                  // in a request to store, between the key and the value
  std::vector<std::string_view> last_lines;  // of an answer
  std::string_view header;                   // how a line before the value begins
  std::string_view shutdown;
};
static const Protocol kMemcached = {.connections = 4,
                                    .before_value = " 0 0 200\r\n",
                                    .last_lines = {"STORED", "END"},
                                    .header = "VALUE key",
                                    .shutdown = "shutdown\r\n"};
// Redis gives a batch to its I/O threads only when twice as many connections as it has threads
// wait.
static const Protocol kRedis = {.connections = 16,
                                .before_value = " ",
                                .last_lines = {"+OK", "$-1", kValue},
                                .header = "$200",
                                .shutdown = "shutdown nosave\r\n"};

static int connect_to(const char* path) {
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
  if (socket_fd < 0 ||
      connect(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror(path);
    std::_Exit(1);
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

// Reads until `wanted` answers have come. Nothing but values may stand before their last lines.
static bool read_answers(const Protocol& protocol, int socket_fd, int wanted) {
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
      if (std::ranges::find(protocol.last_lines, line) != protocol.last_lines.end()) {
        wanted--;
      } else if (!line.starts_with(protocol.header) && line != kValue) {
        std::fprintf(stderr, "server_load: the server answered '%s'\n", std::string(line).c_str());
        return false;
      }
    }
    rest.erase(0, begin);
  }
  return true;
}

static bool load(const Protocol& protocol, const char* path, std::uint64_t seed, long requests) {
  const int socket_fd = connect_to(path);
  bool good = true;
  for (long done = 0; good && done < requests; done += kBatch) {
    std::string batch;
    for (int i = 0; i < kBatch; i++) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      const std::string key = "key" + std::to_string((seed >> 33) % 20'000);
      if ((seed >> 60) % 4 == 0) {
        batch.append("set ")
            .append(key)
            .append(protocol.before_value)
            .append(kValue)
            .append("\r\n");
      } else {
        batch.append("get ").append(key).append("\r\n");
      }
    }
    good = send_all(socket_fd, batch) && read_answers(protocol, socket_fd, kBatch);
  }
  close(socket_fd);
  return good;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: server_load memcached|redis SOCKET [THOUSANDS OF REQUESTS [stay]]\n",
               stderr);
    return 2;
  }
  const Protocol& protocol = std::string_view(argv[1]) == "redis" ? kRedis : kMemcached;
  const char* path = argv[2];
  const long requests =
      1000 * (argc > 3 ? std::strtol(argv[3], nullptr, 10) : 100) / protocol.connections;
  std::atomic<bool> good = true;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(protocol.connections));
  for (int i = 0; i < protocol.connections; i++) {
    threads.emplace_back([&, i] {
      if (!load(protocol, path, static_cast<std::uint64_t>(i) + 1, requests)) good = false;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (argc < 5) {
    const int socket_fd = connect_to(path);
    send_all(socket_fd, protocol.shutdown);
    char last = 0;
    while (read(socket_fd, &last, 1) > 0) {
    }
    close(socket_fd);
  }
  if (!good) std::fputs("server_load: a connection has ended early\n", stderr);
  return good ? 0 : 1;
}
