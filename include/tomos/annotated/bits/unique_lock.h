// libstdc++'s unique_lock with Clang's thread-safety attributes; std_mutex.h says how. One that
// only tried to lock (try_to_lock, a time) counts as not locked: what it protects is not seen.
#ifndef TOMOS_ANNOTATED_UNIQUE_LOCK_H
#define TOMOS_ANNOTATED_UNIQUE_LOCK_H

#pragma GCC system_header

#include <bits/chrono.h>
#include <bits/move.h>
#include <bits/std_mutex.h>

#define unique_lock unannotated_unique_lock_
#include_next <bits/unique_lock.h>
#undef unique_lock

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

#ifdef _GLIBCXX_HAS_GTHREADS
// What a lock that was made without a mutex is said to manage; it never exists.
extern mutex unannotated_nothing_;
#endif

template <class Mutex>
class TOMOS_ATTR_(scoped_lockable) unique_lock : public unannotated_unique_lock_<Mutex> {
  using Base = unannotated_unique_lock_<Mutex>;

 public:
  unique_lock() noexcept TOMOS_ATTR_(locks_excluded(unannotated_nothing_)) {}
  explicit unique_lock(Mutex& of) TOMOS_ATTR_(acquire_capability(of)) : Base(of) {}
  unique_lock(Mutex& of, defer_lock_t tag) noexcept TOMOS_ATTR_(locks_excluded(of))
      : Base(of, tag) {}
  unique_lock(Mutex& of, try_to_lock_t tag) TOMOS_ATTR_(locks_excluded(of)) : Base(of, tag) {}
  unique_lock(Mutex& of, adopt_lock_t tag) noexcept TOMOS_ATTR_(requires_capability(of))
      : Base(of, tag) {}
  template <class Clock, class Duration>
  unique_lock(Mutex& of, const chrono::time_point<Clock, Duration>& until)
      TOMOS_ATTR_(locks_excluded(of))
      : Base(of, until) {}
  template <class Number, class Period>
  unique_lock(Mutex& of, const chrono::duration<Number, Period>& during)
      TOMOS_ATTR_(locks_excluded(of))
      : Base(of, during) {}
  ~unique_lock() TOMOS_ATTR_(release_capability()) = default;
  unique_lock(unique_lock&&) noexcept = default;
  unique_lock& operator=(unique_lock&&) noexcept = default;

  void lock() TOMOS_ATTR_(acquire_capability()) { Base::lock(); }
  bool try_lock() TOMOS_ATTR_(try_acquire_capability(true)) { return Base::try_lock(); }
  template <class Clock, class Duration>
  bool try_lock_until(const chrono::time_point<Clock, Duration>& until)
      TOMOS_ATTR_(try_acquire_capability(true)) {
    return Base::try_lock_until(until);
  }
  template <class Number, class Period>
  bool try_lock_for(const chrono::duration<Number, Period>& during)
      TOMOS_ATTR_(try_acquire_capability(true)) {
    return Base::try_lock_for(during);
  }
  void unlock() TOMOS_ATTR_(release_capability()) { Base::unlock(); }
};

_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std

#endif
