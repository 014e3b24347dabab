#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <threads.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

bool never;
int one, two;
std::mutex mutex;
std::condition_variable changed;
std::condition_variable_any changed_any;
pthread_mutex_t plain_mutex;
pthread_cond_t plain_changed;
mtx_t c_mutex;
cnd_t c_changed;

void pthread_waits() {
  if (never) pthread_cond_wait(&plain_changed, &plain_mutex);
}
void c_waits() {
  if (never) cnd_wait(&c_changed, &c_mutex);
}
void std_waits() {
  std::unique_lock lock(mutex);
  if (never) changed.wait(lock);
}
void std_waits_until_true() {
  std::unique_lock lock(mutex);
  if (never) changed.wait(lock, [] { return one == two; });
}
void std_waits_for() {
  std::unique_lock lock(mutex);
  if (never) changed.wait_for(lock, std::chrono::milliseconds(1));
}
void any_waits() {
  std::unique_lock lock(mutex);
  if (never) changed_any.wait(lock);
}
void waits_for_input() {
  if (never) poll(nullptr, 0, -1);
  if (never) select(0, nullptr, nullptr, nullptr, nullptr);
}
void asks_for_input() {
  poll(nullptr, 0, 0);
  timeval none = {};
  select(0, nullptr, nullptr, nullptr, &none);
}
static void in_between(int times) {
  if (times > 0) in_between(times - 1);
  if (never) pthread_waits();
}
void waits_below() { in_between(2); }
void (*volatile pointer)() = pthread_waits;
void waits_through_pointer() { pointer(); }
void signals() {
  changed.notify_all();
  one = two;
}

int main() {
  waits_for_input();
  c_waits();
  std_waits();
  std_waits_until_true();
  std_waits_for();
  any_waits();
  waits_below();
  waits_through_pointer();
  asks_for_input();
  signals();
}
