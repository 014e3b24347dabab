// A thread in poll without limit, one in read of a socket, one in accept: shut down by main, one
// after the other, by a byte, by shutdown() and by closing the peer.
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

static int wake[2], pair[2], listener;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int ended;

static void count(void) {
  pthread_mutex_lock(&mutex);
  ended++;
  pthread_mutex_unlock(&mutex);
}

static void *in_poll(void *unused) {
  struct pollfd wanted = {.fd = wake[0], .events = POLLIN};
  CHECK(poll(&wanted, 1, -1) == 1);
  count();
  return unused;
}

static void *in_read(void *unused) {
  char byte;
  CHECK(read(pair[0], &byte, 1) == 0);
  count();
  return unused;
}

static void *in_accept(void *unused) {
  CHECK(accept(listener, NULL, NULL) == -1);
  count();
  return unused;
}

int main(void) {
  CHECK(pipe(wake) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  CHECK(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) == 0);  // a name is found
  CHECK(listen(listener, 1) == 0);
  void *(*bodies[])(void *) = {in_poll, in_read, in_accept};
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, bodies[i], NULL) == 0);
  CHECK(write(wake[1], "", 1) == 1);
  pthread_join(threads[0], NULL);
  close(pair[1]);
  pthread_join(threads[1], NULL);
  CHECK(shutdown(listener, SHUT_RDWR) == 0);
  pthread_join(threads[2], NULL);
  CHECK(ended == 3);
  return ok();
}
