/* A search tree whose nodes are found in one transaction and linked in another: two threads that
   insert below the same leaf lose one of the two. */
#include <pthread.h>
#include <stdlib.h>

struct node {
  int key;
  struct node *left, *right;
};

static struct node *root;

static struct node **find_slot(int key) {
  struct node **slot;
  __transaction_atomic {
    slot = &root;
    while (*slot && (*slot)->key != key)
      slot = key < (*slot)->key ? &(*slot)->left : &(*slot)->right;
  }
  return slot;
}

static int is_free(struct node **slot) {
  int none;
  __transaction_atomic { none = *slot == NULL; }
  return none;
}

static void link_node(struct node **slot, struct node *n) {
  __transaction_atomic { *slot = n; }
}

static void *insert_many(void *seed) {
  unsigned int state = *(unsigned int *)seed;
  for (int i = 0; i < 100; i++) {
    struct node *n = calloc(1, sizeof *n);
    n->key = rand_r(&state);
    struct node **slot = find_slot(n->key);
    if (is_free(slot))
      link_node(slot, n);
    else
      free(n);
  }
  return NULL;
}

int main(void) {
  static unsigned int seeds[2] = {1, 2};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, insert_many, &seeds[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return 0;
}
