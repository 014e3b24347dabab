// What signals and waits in a recording mean: a lock, an order, or nothing.
//
// **Plain order** (once, guards of static variables, latches, __tsan_release and __tsan_acquire): a
// wait comes after all signals before it. The events say the same. A wait that sees no signal of
// another thread for the first time is left out, and so are signals that nobody waits for: they
// would end transactions for nothing.
//
// **Semaphores** fix less than they seem to: a run in which the tokens went to others is as good as
// the one that was seen.
// - Who takes the only token, and gives it back before anybody else takes or gives one, uses the
//   semaphore as a lock. If all do so, from the first use to the last, it is one.
// - Otherwise it orders what it must order in every run of the same operations. A thread passes its
//   n-th wait only when n tokens have been there. Take away those of the start, all that other
//   threads ever give and what the waiting thread itself has given before: what is left has to come
//   from the one thread that is left. So of a producer and a consumer each wait comes after its own
//   post, and of workers who post once each when they are done the last wait comes after all of
//   them; but of two producers and a consumer nothing is said.
//
// **Condition variables** say nothing: a wait for one is for what the mutex protects, and a thread
// that finds it in time does not wait at all.
//
// All that needs to be known before the first event is made, so records are read twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "trace/recording_merge.h"
#include "trace/recording_naming.h"

namespace tomos::recording {

class Orders {
 public:
  // The operations to be told of, in the order of the recording.
  static constexpr OpSet kOps = {Op::kSignal, Op::kWait, Op::kDestroy, Op::kFree};

  // The first time.
  void learn(const Record& record);

  // The second time.
  enum class Meaning : std::uint8_t {
    kNothing,
    kAcquire,  // of the lock at the address
    kRelease,
    kSignal,  // of objects()
    kWait,
  };
  Meaning meaning(const Record& record);
  // Where their ids are kept: Lives::kNone for one that is new.
  const std::vector<std::uint32_t*>& objects() const { return objects_; }

 private:
  // How many posts of a thread are told apart. A wait for an earlier one is left out.
  static constexpr std::uint64_t kMostBehind = 1024;

  // What a thread does with a semaphore.
  struct User {
    std::uint64_t posts = 0;
    std::uint64_t waits = 0;
    std::optional<std::int64_t> ahead;  // waits without own posts before them, at most
    std::uint64_t needed = 0;           // the last of its posts that somebody must wait for
    // The second time, so far:
    std::uint64_t posted = 0;
    std::uint64_t waited = 0;
    std::vector<std::uint32_t> ids;                 // of the last posts
    std::map<std::size_t, std::uint64_t> has_seen;  // of other threads' posts
  };
  // One life of an address. Threads are numbered as in the records.
  struct Object {
    // Plain order.
    std::set<std::size_t> signallers;
    bool is_awaited = false;
    std::uint32_t id = Lives::kNone;
    std::uint64_t signals = 0;                      // the second time, so far
    std::map<std::size_t, std::uint64_t> has_seen;  // so many of them
    // A semaphore.
    std::map<std::size_t, User> users;
    std::uint64_t posts = 0;
    std::uint64_t waits = 0;
    std::uint64_t initial = 0;
    std::uint64_t most_posts = 0;  // of one thread
    bool is_lock = true;
    bool is_counted = true;  // how many tokens there were is known
    bool is_judged = false;
    std::optional<std::size_t> holder;
  };
  // The objects in the order in which they are met.
  struct Pass {
    Lives lives;
    std::uint32_t objects = 0;
  };

  std::uint32_t number(Pass& pass, std::uint64_t address);
  static void learn_semaphore(Object& object, const Record& record);
  static void judge(Object& object);
  Meaning semaphore(Object& object, const Record& record);
  void wait(Object& object, std::size_t thread);

  Pass first_;
  Pass second_;
  std::vector<Object> all_;
  std::vector<std::uint32_t*> objects_;
};

}  // namespace tomos::recording
