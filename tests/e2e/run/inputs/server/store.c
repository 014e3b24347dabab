#include "store.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
  long value;
} entry;

struct store {
  int size;
  entry* entries;
  pthread_mutex_t lock;
};

struct store* store_make(void) {
  struct store* made = malloc(sizeof *made);
  made->size = 16;
  made->entries = calloc(16, sizeof(entry));
  pthread_mutex_init(&made->lock, NULL);
  return made;
}

static entry* find(struct store* store, int key) { return &store->entries[key % store->size]; }

long store_get(struct store* store, int key) {
  pthread_mutex_lock(&store->lock);
  const long value = find(store, key)->value;
  pthread_mutex_unlock(&store->lock);
  return value;
}

void store_set(struct store* store, int key, long value) {
  pthread_mutex_lock(&store->lock);
  find(store, key)->value = value;
  pthread_mutex_unlock(&store->lock);
}

void store_add(struct store* store, int key, long value) {
  store_set(store, key, store_get(store, key) + value);
}

void store_move(struct store* from, struct store* to, int key) {
  pthread_mutex_lock(&from->lock);
  pthread_mutex_lock(&to->lock);
  find(to, key)->value += find(from, key)->value;
  find(from, key)->value = 0;
  pthread_mutex_unlock(&to->lock);
  pthread_mutex_unlock(&from->lock);
}
