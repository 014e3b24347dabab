// A server of two threads, each with an event loop of its own: requests come through pipes.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>

#include "log.h"
#include "store.h"

static store* first = store_make();
static store* second = store_make();
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static long total = 0;

void count(int key) {
  pthread_mutex_lock(&total_lock);
  total += key;
  pthread_mutex_unlock(&total_lock);
}

void handle(Log& log, int number, int key) {
  store_add(first, key, 1);
  log.add_once(key);
  if (number == 0) store_move(first, second, key);
  if (number == 1) store_move(second, first, key);
  count(key);
}

// Waits for requests, so it is no transaction, though what it calls is.
void serve(Log& log, int number, int requests, int answers) {
  for (pollfd file = {requests, POLLIN, 0}; poll(&file, 1, -1) > 0;) {
    char key = 0;
    if (read(requests, &key, 1) <= 0) return;
    if (key != 'q') handle(log, number, key);
    if (write(answers, &key, 1) != 1 || key == 'q') return;
  }
}

int main() {
  const auto log = std::make_unique<Log>();
  int pipes[2][2] = {};
  for (auto& ends : pipes) {
    if (pipe(ends) != 0) return 1;
  }
  int answers[2] = {};
  if (pipe(answers) != 0) return 1;
  std::thread one([&] { serve(*log, 0, pipes[0][0], answers[1]); });
  std::thread two([&] { serve(*log, 1, pipes[1][0], answers[1]); });
  // One after the other: they take the locks of the stores in opposite orders, and would wait for
  // ever if they met there.
  for (const auto& ends : pipes) {
    if (write(ends[1], "abcabcq", 7) != 7) return 1;
    for (char key = 0; key != 'q';) {
      if (read(answers[0], &key, 1) != 1) return 1;
    }
  }
  one.join();
  two.join();
  std::printf("%ld handled\n", total);
}
