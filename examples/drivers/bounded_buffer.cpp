// tomos model --from-cpp examples/drivers/bounded_buffer.cpp                 all comes out
// tomos model --from-cpp examples/drivers/bounded_buffer.cpp -- -DBROKEN     two take the same
//
// A buffer of one place with a lock and two conditions, with pthreads. Broken: who was woken up
// does not look again.
#include <pthread.h>

#include <cassert>

#ifdef BROKEN
#define UNTIL if
#else
#define UNTIL while
#endif

class Buffer {
 public:
  void put() {
    pthread_mutex_lock(&mutex_);
    UNTIL(full_) { pthread_cond_wait(&emptied_, &mutex_); }
    assert(!full_);
    full_ = true;
    pthread_cond_broadcast(&filled_);
    pthread_mutex_unlock(&mutex_);
  }

  void get() {
    pthread_mutex_lock(&mutex_);
    UNTIL(!full_) { pthread_cond_wait(&filled_, &mutex_); }
    assert(full_);
    full_ = false;
    pthread_cond_broadcast(&emptied_);
    pthread_mutex_unlock(&mutex_);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t filled_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t emptied_ = PTHREAD_COND_INITIALIZER;
  bool full_ = false;
};

static void* produce(void* buffer) {
  static_cast<Buffer*>(buffer)->put();
  return nullptr;
}

static void* consume(void* buffer) {
  static_cast<Buffer*>(buffer)->get();
  return nullptr;
}

int main() {
  Buffer buffer;
  pthread_t producers[2];
  pthread_t consumers[2];
  for (int i = 0; i < 2; ++i) {
    pthread_create(&producers[i], nullptr, produce, &buffer);
    pthread_create(&consumers[i], nullptr, consume, &buffer);
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(producers[i], nullptr);
    pthread_join(consumers[i], nullptr);
  }
}
