/* Two tables of one directory: who renames a file takes it out of the one and puts it into the
   other, in two steps. Who counts all files in one step may miss it. */
#include <pthread.h>

#define TM_BEGIN() tm_begin()
#define TM_END() tm_end()
void tm_begin(void);
void tm_end(void);

static int visible[64], hidden[64];
static int visible_count, hidden_count;

static void hide(int file) {
  TM_BEGIN();
  visible[file] = 0;
  visible_count--;
  TM_END();
  TM_BEGIN();
  hidden[file] = 1;
  hidden_count++;
  TM_END();
}

static int all_files(void) {
  int count;
  TM_BEGIN();
  count = visible_count + hidden_count;
  TM_END();
  return count;
}

static void *rename_files(void *unused) {
  for (int i = 0; i < 64; i++) hide(i);
  return unused;
}

static void *count_files(void *result) {
  *(int *)result = all_files();
  return result;
}

int main(void) {
  pthread_t renames, counts;
  int result = 0;
  pthread_create(&renames, 0, rename_files, 0);
  pthread_create(&counts, 0, count_files, &result);
  pthread_join(renames, 0);
  pthread_join(counts, 0);
  return result;
}
