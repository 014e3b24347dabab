#include "trace/recording_order.h"

#include <algorithm>

namespace tomos::recording {

namespace {

bool is_semaphore(const Record& record) { return record.small >= kSemaphore; }

bool ends_lives(const Record& record) {
  return record.op == Op::kDestroy || record.op == Op::kFree;
}

void end_lives(Lives& lives, const Record& record) {
  lives.end(record.value, record.op == Op::kFree ? record.extra[0].a : 1, [](std::uint32_t) {});
}

// Of a post: the record tells how many more than one.
std::uint64_t tokens(const Record& record) { return std::uint64_t{record.small} - kSemaphore + 1; }

}  // namespace

std::uint32_t Orders::number(Pass& pass, std::uint64_t address) {
  std::uint32_t& number = pass.lives.at(address);
  if (number == Lives::kNone) number = pass.objects++;
  return number;
}

void Orders::learn(const Record& record) {
  if (ends_lives(record)) return end_lives(first_.lives, record);
  if (record.small == kCondition) return;
  const std::uint32_t index = number(first_, record.value);
  if (index == all_.size()) all_.emplace_back();
  Object& object = all_[index];
  if (is_semaphore(record)) {
    learn_semaphore(object, record);
  } else if (record.op == Op::kSignal) {
    object.signallers.insert(record.thread);
  } else {
    const std::size_t own = object.signallers.count(record.thread);
    object.is_awaited = object.is_awaited || object.signallers.size() > own;
  }
}

void Orders::learn_semaphore(Object& object, const Record& record) {
  User& user = object.users[record.thread];
  if (record.op == Op::kSignal) {
    user.posts += tokens(record);
    object.posts += tokens(record);
    if (object.holder != record.thread || tokens(record) != 1) object.is_lock = false;
    object.holder.reset();
    return;
  }
  ++object.waits;
  const auto ahead = static_cast<std::int64_t>(++user.waits - user.posts);
  user.ahead = std::max(user.ahead.value_or(ahead), ahead);
  const std::uint64_t left = record.small - std::uint64_t{kSemaphore};
  if (record.small == kManyLeft) object.is_counted = false;
  if (object.holder || left > 0) object.is_lock = false;
  object.holder = record.thread;
  // Posts are told before they are made and waits when they are over, so this is at most what there
  // was at the start. It is just that if at one wait at least nobody else was at work.
  const std::uint64_t seen = object.waits + left;
  object.initial = std::max(object.initial, seen - std::min(seen, object.posts));
}

// How many posts of each thread somebody must wait for.
void Orders::judge(Object& object) {
  object.is_judged = true;
  if (!object.is_counted) return;
  // The wait that needs most, and that which does so in another thread.
  std::size_t neediest = 0;
  std::uint64_t most = 0;
  std::uint64_t second = 0;
  for (const auto& [thread, user] : object.users) {
    object.most_posts = std::max(object.most_posts, user.posts);
    if (!user.ahead) continue;
    const std::uint64_t needs = user.posts + *user.ahead;  // see wait()
    second = std::max(second, std::min(needs, most));
    if (needs > most) neediest = thread;
    most = std::max(needs, most);
  }
  for (auto& [thread, user] : object.users) {
    const std::uint64_t needs = thread == neediest ? second : most;
    const std::uint64_t others = object.initial + object.posts - user.posts;
    user.needed = std::min(needs - std::min(needs, others), user.posts);
  }
}

Orders::Meaning Orders::meaning(const Record& record) {
  objects_.clear();
  if (ends_lives(record)) {
    end_lives(second_.lives, record);
    return Meaning::kNothing;
  }
  if (record.small == kCondition) return Meaning::kNothing;
  const std::uint32_t index = number(second_, record.value);
  if (index >= all_.size()) return Meaning::kNothing;
  Object& object = all_[index];
  if (is_semaphore(record)) return semaphore(object, record);
  if (!object.is_awaited) return Meaning::kNothing;
  objects_.push_back(&object.id);
  std::uint64_t& has_seen = object.has_seen[record.thread];
  if (record.op == Op::kSignal) {
    // What is its own it knows; of others only what it had seen of them.
    if (has_seen == object.signals) ++has_seen;
    ++object.signals;
    return Meaning::kSignal;
  }
  if (has_seen == object.signals) return Meaning::kNothing;
  has_seen = object.signals;
  return Meaning::kWait;
}

Orders::Meaning Orders::semaphore(Object& object, const Record& record) {
  const bool posts = record.op == Op::kSignal;
  if (object.is_lock) return posts ? Meaning::kRelease : Meaning::kAcquire;
  if (!object.is_judged) judge(object);
  if (!posts) {
    wait(object, record.thread);
    return objects_.empty() ? Meaning::kNothing : Meaning::kWait;
  }
  User& user = object.users[record.thread];
  std::uint64_t post = user.posted;
  user.posted += tokens(record);
  const std::uint64_t end = std::min(user.posted, user.needed);
  const std::uint64_t ids = std::min(end, kMostBehind);
  if (user.ids.size() < ids) user.ids.resize(ids, Lives::kNone);
  for (; post < end; ++post) objects_.push_back(&user.ids[post % kMostBehind]);
  return objects_.empty() ? Meaning::kNothing : Meaning::kSignal;
}

void Orders::wait(Object& object, std::size_t thread) {
  User& waiter = object.users[thread];
  ++waiter.waited;
  const std::uint64_t without = object.initial + waiter.posted + (object.posts - waiter.posts);
  if (waiter.waited + object.most_posts <= without) return;
  for (auto& [other, user] : object.users) {
    if (other == thread || waiter.waited + user.posts <= without) continue;
    const std::uint64_t post = waiter.waited + user.posts - without;
    std::uint64_t& has_seen = waiter.has_seen[other];
    const bool is_there = post <= std::min(user.posted, user.needed);
    if (post <= has_seen || !is_there || user.posted - post >= kMostBehind) continue;
    has_seen = post;
    objects_.push_back(&user.ids[(post - 1) % kMostBehind]);
  }
}

}  // namespace tomos::recording
