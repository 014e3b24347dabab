#include <stdlib.h>
typedef struct {
  int number;
} job;
struct part {
  char* text;
};
struct queue {
  job* jobs;
  struct part part;
};
struct queue* everything;
void* allocate(size_t size);
void use(void* pointer);
void make(struct queue* queue) {
  queue->jobs = malloc(3 * sizeof(job));
  everything = calloc(1, sizeof(struct queue));
  queue->part.text = malloc(80);
  job* one = allocate(sizeof(job));
  use(one);
  void* nothing = allocate(1);
  use(nothing);
  int* number = allocate(sizeof(int));
  use(number);
}
