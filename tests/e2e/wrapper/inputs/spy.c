/* Preloaded over the runtime: says what instrumented code tells it. */
#include <stdbool.h>
#include <stdio.h>

struct descriptor {
  const char* name;
  const char* file;
  unsigned line, flags, label, state;
};
static __thread int depth;

static const char* base(const char* path) {
  const char* last = path;
  for (; *path; path++)
    if (*path == '/') last = path + 1;
  return last;
}
void __tomos_enter(struct descriptor* f) {
  printf("%*senter %s %s:%u flags %u\n", 2 * depth++, "", f->name, base(f->file), f->line,
         f->flags);
}
void __tomos_exit(struct descriptor* f) { printf("%*sexit %s\n", 2 * --depth, "", f->name); }
void __tomos_begin_atomic(const char* name, const char* file, unsigned line) {
  printf("begin %s %s:%u\n", name, base(file), line);
}
void __tomos_end_atomic(void) { puts("end"); }
void __tomos_begin_not_atomic(void) { puts("begin not atomic"); }
void __tomos_end_not_atomic(void) { puts("end not atomic"); }
void __tomos_std_barrier_arrive(const void* o, long expected) {
  printf("arrive %d %ld\n", o != 0, expected);
}
void __tomos_std_barrier_arrived(const void* o, bool last) {
  printf("arrived %d %d\n", o != 0, last);
}
void __tomos_std_barrier_leave(const void* o) { printf("leave %d\n", o != 0); }
void __tomos_std_signal(const void* o) { printf("signal %d\n", o != 0); }
void __tomos_std_ask(const void* o) { printf("ask %d\n", o != 0); }
void __tomos_std_wait_over(const void* o, bool success) {
  printf("wait over %d %d\n", o != 0, success);
}
void __tomos_semaphore_release(const void* o, long tokens) {
  printf("release %d %ld\n", o != 0, tokens);
}
void __tomos_semaphore_acquired(const void* o, bool success, int left) {
  printf("acquired %d %d %d\n", o != 0, success, left);
}
