// poll, ppoll and select that wait for another thread; time-outs when nothing comes.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

static int event, pair[2];

static void *writer(void *unused) {
  const uint64_t one = 1;
  CHECK(write(event, &one, sizeof one) == sizeof one);
  char byte;
  CHECK(recv(pair[1], &byte, 1, 0) == 1 && byte == 'a');
  CHECK(send(pair[1], "b", 1, 0) == 1);
  return unused;
}

int main(void) {
  event = eventfd(0, 0);
  CHECK(event >= 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  struct pollfd idle = {.fd = pair[0], .events = POLLIN};
  CHECK(poll(&idle, 1, 5) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, writer, NULL) == 0);
  struct pollfd wanted = {.fd = event, .events = POLLIN};
  CHECK(poll(&wanted, 1, -1) == 1 && wanted.revents == POLLIN);
  uint64_t value = 0;
  CHECK(read(event, &value, sizeof value) == sizeof value && value == 1);
  CHECK(send(pair[0], "a", 1, 0) == 1);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pair[0], &set);
  CHECK(select(pair[0] + 1, &set, NULL, NULL, NULL) == 1);
  char byte;
  CHECK(recv(pair[0], &byte, 1, 0) == 1 && byte == 'b');
  pthread_join(thread, NULL);
  const struct timespec brief = {.tv_nsec = 1000000};
  CHECK(ppoll(&wanted, 1, &brief, NULL) == 0);
  return ok();
}
