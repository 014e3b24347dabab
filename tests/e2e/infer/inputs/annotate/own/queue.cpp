#include "queue.h"
void Queue::push() {
  MutexLock hold(&mu_);
  grow();
}
void Queue::pop() {
  MutexLock hold(&mu_);
  --size_;
}
int Queue::size() {
  mu_.Lock();
  const int result = size_;
  mu_.Unlock();
  return result;
}
void Queue::grow() { ++size_; }
