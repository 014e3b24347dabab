// A set of words: whether it is there already is asked in one transaction, and it is put there in
// another. Two threads can both find the same word missing.
#include <pthread.h>
#include <stdlib.h>

#define TM_BEGIN() begin_transaction()
#define TM_END() end_transaction()
void begin_transaction(void);
void end_transaction(void);

struct word {
  int text;
  struct word* next;
};
static struct word* buckets[64];
static int words;

static struct word* find(int text) {
  struct word* w = buckets[text % 64];
  while (w && w->text != text) w = w->next;
  return w;
}

static void* reader(void* arg) {
  for (int i = 0; i < 1000; ++i) {
    int text = rand() % 100;
    TM_BEGIN();
    struct word* known = find(text);
    TM_END();
    if (known) continue;
    struct word* made = malloc(sizeof *made);
    made->text = text;
    TM_BEGIN();
    made->next = buckets[text % 64];
    buckets[text % 64] = made;
    words++;
    TM_END();
  }
  return arg;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, reader, NULL);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  return words;
}
