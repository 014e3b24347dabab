// libstdc++'s mutex and lock_guard with Clang's thread-safety attributes, which it lacks.
//
// The folder `annotated` is put before the system's own headers (-isystem) for clang
// -Wthread-safety. Each header in it includes the one that it hides with the classes renamed, and
// derives classes of the old names from them: of the same size, and under the same names in object
// files.
#ifndef TOMOS_ANNOTATED_STD_MUTEX_H
#define TOMOS_ANNOTATED_STD_MUTEX_H

#pragma GCC system_header

#include <bits/functexcept.h>
#include <bits/gthr.h>

#include <system_error>

#define mutex unannotated_mutex_
#define lock_guard unannotated_lock_guard_
#include_next <bits/std_mutex.h>
#undef mutex
#undef lock_guard

#define TOMOS_ATTR_(...) __attribute__((__VA_ARGS__))
// From clang 21 on a lock can say that its holder may acquire it again.
#if __has_attribute(reentrant_capability)
#define TOMOS_REENTRANT_ TOMOS_ATTR_(capability("mutex"), reentrant_capability)
#else
#define TOMOS_REENTRANT_ TOMOS_ATTR_(capability("mutex"))
#endif

namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION

#ifdef _GLIBCXX_HAS_GTHREADS
class TOMOS_ATTR_(capability("mutex")) mutex : public unannotated_mutex_ {
 public:
  constexpr mutex() noexcept = default;
  void lock() TOMOS_ATTR_(acquire_capability()) { unannotated_mutex_::lock(); }
  bool try_lock() noexcept TOMOS_ATTR_(try_acquire_capability(true)) {
    return unannotated_mutex_::try_lock();
  }
  void unlock() TOMOS_ATTR_(release_capability()) { unannotated_mutex_::unlock(); }
};
#endif

template <class Mutex>
class TOMOS_ATTR_(scoped_lockable) lock_guard {
 public:
  using mutex_type = Mutex;
  explicit lock_guard(Mutex& of) TOMOS_ATTR_(acquire_capability(of)) : own_(of) { of.lock(); }
  lock_guard(Mutex& of, adopt_lock_t) noexcept TOMOS_ATTR_(requires_capability(of)) : own_(of) {}
  ~lock_guard() TOMOS_ATTR_(release_capability()) { own_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

 private:
  Mutex& own_;
};

_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std

#endif
