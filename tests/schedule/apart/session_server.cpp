// A server that answers over sockets, a thread for each client: a session is looked up, and used
// after it may have been closed.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <mutex>

#include "../suite/threads.h"

class Sessions {
 public:
  char handle(char request) {
    if (request == 'c') {
      std::lock_guard lock(mutex_);
      open_ = false;
      return 'k';
    }
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (!open_) return 'n';
    uses_++;
    return 'y';
#else
    {
      std::lock_guard lock(mutex_);
      if (!open_) return 'n';
    }
    std::lock_guard lock(mutex_);
    assert(open_);
    uses_++;
    return 'y';
#endif
  }

 private:
  std::mutex mutex_;
  bool open_ = true;
  int uses_ = 0;
};

static Sessions sessions;

static void serve(int connection) {
  char request = 0;
  while (read(connection, &request, 1) == 1) {
    const char answer = sessions.handle(request);
    if (write(connection, &answer, 1) != 1) break;
  }
}

static void ask(int connection, const char* requests) {
  char answer = 0;
  for (; *requests != 0; requests++) {
    if (write(connection, requests, 1) != 1 || read(connection, &answer, 1) != 1) break;
    assert(answer == 'y' || answer == 'n' || answer == 'k');
  }
  close(connection);
}

int main() {
  std::array<std::array<int, 2>, 3> ends = {};
  for (auto& pair : ends) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) return 2;
  }
  return run({[&] { serve(ends[0][0]); }, [&] { serve(ends[1][0]); }, [&] { serve(ends[2][0]); },
              [&] { ask(ends[0][1], "uuu"); }, [&] { ask(ends[1][1], "uu"); },
              [&] { ask(ends[2][1], "c"); }});
}
