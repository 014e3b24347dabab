#pragma once
#include "annotations.h"
class MY_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void Lock() MY_ATTRIBUTE(acquire_capability());
  void Unlock() MY_ATTRIBUTE(release_capability());
};
class MY_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex* mutex) MY_ATTRIBUTE(acquire_capability(mutex));
  ~MutexLock() MY_ATTRIBUTE(release_capability());
};
