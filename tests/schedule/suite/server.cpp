// A small server: its limit on requests at once is tested and counted in two critical sections.
#include <sys/socket.h>
#include <unistd.h>

#include <mutex>

#include "threads.h"

class Server {
 public:
  bool admit() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (open_ >= kLimit) return false;
    open_++;
    return true;
#else
    if (connections() >= kLimit) return false;
    std::lock_guard lock(mutex_);
    open_++;
    assert(open_ <= kLimit);
    return true;
#endif
  }
  void close_one() {
    std::lock_guard lock(mutex_);
    open_--;
  }
  int connections() {
    std::lock_guard lock(mutex_);
    return open_;
  }

  void serve(int connection) {
    char byte = 0;
    while (read(connection, &byte, 1) == 1) {
      if (!admit()) {
        byte = 'n';
      } else {
        byte = 'y';
        close_one();
      }
      if (write(connection, &byte, 1) != 1) break;
    }
  }

 private:
  static constexpr int kLimit = 1;
  std::mutex mutex_;
  int open_ = 0;
};

static void ask(int connection) {
  char byte = '?';
  for (int i = 0; i < 3; i++) {
    if (write(connection, "?", 1) != 1 || read(connection, &byte, 1) != 1) break;
    assert(byte == 'y' || byte == 'n');
  }
  close(connection);
}

int main() {
  Server server;
  int one[2], two[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, one) != 0) return 2;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, two) != 0) return 2;
  return run({[&] { server.serve(one[0]); }, [&] { server.serve(two[0]); }, [&] { ask(one[1]); },
              [&] { ask(two[1]); }},
             [&] { assert(server.connections() == 0); });
}
