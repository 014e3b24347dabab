// A reader's lock is held by many at a time. Who reads under it is as safe as under the whole lock;
// who writes is not. Writes of a method's own are seen as made without the lock (flow.h). What is
// left are calls: a method that writes under a lock which it requires must not be called by one who
// holds it as a reader.
#pragma once

#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

struct ReaderCall {
  const CallSite* site = nullptr;
  LockId lock = {};  // as the called method requires it
};

// By the guards and requirements that the program has now.
std::vector<ReaderCall> calls_of_readers(Locks& locks, const Classes& classes, const Flow& flow);

}  // namespace tomos::infer
