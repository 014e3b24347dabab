// Calls that are wrong because of a lock that the caller holds.
//
// A reader's lock is held by many at a time. Who reads under it is as safe as under the whole lock;
// who writes is not. Writes of a method's own are seen as made without the lock (flow.h). What is
// left are calls: a method that writes under a lock which it requires must not be called by one who
// holds it as a reader.
//
// And a method that acquires a mutex must not be called by one who holds it: it would wait for
// itself. Only those that do so with their own hands count: a way through others is often one that
// is never gone. But if several do with a lock of the project's own making, the program would never
// have run: its holder may acquire it again, as one that only checks what is promised.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "infer/classes.h"
#include "infer/flow.h"

namespace tomos::infer {

struct WrongCall {
  const CallSite* site = nullptr;
  LockId lock = {};  // as the called method knows it
};

// By the guards and requirements that the program has now.
std::vector<WrongCall> calls_of_readers(Locks& locks, const Classes& classes, const Flow& flow);

std::vector<WrongCall> calls_that_lock_again(Locks& locks, const Flow& flow);

// Takes the calls for which that is no mistake. The locks, as their classes know them, and how many
// calls there were.
using OwnLock = std::pair<const core::Class*, LockId>;
std::map<OwnLock, std::size_t> take_entered_again(std::vector<WrongCall>& calls, const Locks& locks,
                                                  const Classes& classes);

}  // namespace tomos::infer
