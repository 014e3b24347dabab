// A message is filled in, handed over under a lock, and read by its new owner without one. The
// sender must not touch it any more.
// FINDS: label=send clang:variable=Message:: at=late
#include <mutex>

#include "threads.h"

struct Message {
  int number = 0;
  int square = 0;
};

std::mutex mutex;
Message* mailbox;

void send(int number) {
  auto* message = new Message;
#ifndef BAD
  message->number = number;
  message->square = number * number;
#endif
  std::unique_lock lock(mutex);
  mailbox = message;
  lock.unlock();
#ifdef BAD
  message->number = number;           // @late
  message->square = number * number;  // @late
#endif
}

Message* try_receive() {
  std::lock_guard lock(mutex);
  return mailbox;
}

int read_message(Message* message) { return message->number + message->square; }

static void receive() {
  Message* message = nullptr;
  while (message == nullptr) message = try_receive();
  keep(read_message(message));
}

int main() {
  in_threads({[] { send(5); }, receive});
  delete mailbox;
}
