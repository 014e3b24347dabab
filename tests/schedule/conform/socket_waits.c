// What of a blocking socket does not block: a call that asks not to, one whose time is over. And
// the other calls that wait for what another thread sends. REPEATABLE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

static int ends[2];

static void *answer(void *unused) {
  char byte = 0;
  for (int i = 0; i < 5; i++) {
    CHECK(read(ends[1], &byte, 1) == 1);
    CHECK(write(ends[1], "line\n", 5) == 5);
  }
  return unused;
}

static void ask(void) { CHECK(send(ends[0], "?", 1, 0) == 1); }

int main(void) {
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, answer, NULL) == 0);
  char text[16] = "";
  CHECK(recv(ends[0], text, sizeof(text), MSG_DONTWAIT) == -1 && errno == EAGAIN);
  const struct timeval time = {.tv_usec = 5000};
  CHECK(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0);
  CHECK(recv(ends[0], text, sizeof(text), 0) == -1 && errno == EAGAIN);
  ask();
  CHECK(recv(ends[0], text, 5, MSG_WAITALL) == 5);
  struct iovec part = {.iov_base = text, .iov_len = sizeof(text)};
  ask();
  CHECK(readv(ends[0], &part, 1) == 5);
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ask();
  CHECK(recvmsg(ends[0], &message, 0) == 5);
  FILE *stream = fdopen(ends[0], "r");
  ask();
  CHECK(fgets(text, sizeof(text), stream) == text && strcmp(text, "line\n") == 0);
  char *line = NULL;
  size_t room = 0;
  ask();
  CHECK(getline(&line, &room, stream) == 5);
  free(line);
  pthread_join(thread, NULL);
  fclose(stream);
  return ok();
}
