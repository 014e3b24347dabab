/* A bounded buffer: whether there is room is asked in one transaction, and the item is put there in
   the next. Two producers can both be told that there is room for one. */
#include <pthread.h>

#define SLOTS 8

struct buffer {
  int slots[SLOTS];
  unsigned in, out, used;
};

static struct buffer shared;

static int has_room(struct buffer* b) {
  int room;
  __transaction_atomic { room = b->used < SLOTS; }
  return room;
}

static void put(struct buffer* b, int item) {
  __transaction_atomic {
    b->slots[b->in] = item;
    b->in = (b->in + 1) % SLOTS;
    b->used++;
  }
}

static int get(struct buffer* b, int* item) {
  int got = 0;
  __transaction_atomic {
    if (b->used > 0) {
      *item = b->slots[b->out];
      b->out = (b->out + 1) % SLOTS;
      b->used--;
      got = 1;
    }
  }
  return got;
}

static void* produce(void* arg) {
  struct buffer* b = arg;
  for (int i = 0; i < 1000; i++) {
    while (!has_room(b)) {
    }
    put(b, i);
  }
  return 0;
}

static void* consume(void* arg) {
  struct buffer* b = arg;
  int sum = 0, item;
  for (int i = 0; i < 2000;) {
    if (get(b, &item)) {
      sum += item;
      i++;
    }
  }
  return 0;
}

int main(void) {
  pthread_t t[3];
  pthread_create(&t[0], 0, produce, &shared);
  pthread_create(&t[1], 0, produce, &shared);
  pthread_create(&t[2], 0, consume, &shared);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  return 0;
}
