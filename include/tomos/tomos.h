// Says in the source what is meant to be atomic. For C11 and later, C++11 and later; header only.
//
//   void transfer(struct account *from, struct account *to, long amount) {
//     TOMOS_ATOMIC("transfer");       // from here to the end of this block
//     ...
//   }
//
//   TOMOS_NOT_ATOMIC;                 // from here to the end of this block nothing is
//
//   TOMOS_ATOMIC_FUNCTION void deposit(long amount);      // every call is atomic (clang only)
//   TOMOS_NOT_ATOMIC_FUNCTION void event_loop(void);      // no call is (clang only)
//
// Both statements last until their enclosing block is left, however it is left: by its end, return,
// break, goto or an exception. In a program that is not compiled with tomos-cc, tomos-c++ or
// tomos_instrument() all four are nothing, so they may stay in the code that ships.
#ifndef TOMOS_TOMOS_H
#define TOMOS_TOMOS_H

#ifdef __TOMOS__

#ifdef __cplusplus
extern "C" {
#endif

// Weak: an object file of ours that is linked without the runtime calls nothing.
__attribute__((weak)) void __tomos_begin_atomic(const char *name, const char *file, unsigned line);
__attribute__((weak)) void __tomos_end_atomic(void);
__attribute__((weak)) void __tomos_begin_not_atomic(void);
__attribute__((weak)) void __tomos_end_not_atomic(void);

#ifdef __cplusplus
}
#endif

// The scopes are variables with a cleanup, the one way to follow a block that C has; it runs during
// unwinding in C++ as a destructor would. g++ must not take these helpers for functions of the
// user.
#define TOMOS_QUIET_ static inline __attribute__((always_inline, unused, no_instrument_function))

TOMOS_QUIET_ int tomos_begin_atomic_(const char *name, const char *file, unsigned line) {
  if (__tomos_begin_atomic) __tomos_begin_atomic(name, file, line);
  return 0;
}
TOMOS_QUIET_ void tomos_end_atomic_(int *scope) {
  (void)scope;
  if (__tomos_end_atomic) __tomos_end_atomic();
}
TOMOS_QUIET_ int tomos_begin_not_atomic_(void) {
  if (__tomos_begin_not_atomic) __tomos_begin_not_atomic();
  return 0;
}
TOMOS_QUIET_ void tomos_end_not_atomic_(int *scope) {
  (void)scope;
  if (__tomos_end_not_atomic) __tomos_end_not_atomic();
}

#define TOMOS_JOIN2_(a, b) a##b
#define TOMOS_JOIN_(a, b) TOMOS_JOIN2_(a, b)
#define TOMOS_SCOPE_(end) \
  __attribute__((cleanup(end), unused)) int TOMOS_JOIN_(tomos_scope_, __COUNTER__)

#define TOMOS_ATOMIC(name) \
  TOMOS_SCOPE_(tomos_end_atomic_) = tomos_begin_atomic_(name, __FILE__, __LINE__)
#define TOMOS_NOT_ATOMIC TOMOS_SCOPE_(tomos_end_not_atomic_) = tomos_begin_not_atomic_()

#else

#define TOMOS_ATOMIC(name) ((void)(name))
#define TOMOS_NOT_ATOMIC ((void)0)

#endif

// Read by the pass plugin, so only under clang.
#if defined(__TOMOS__) && defined(__clang__)
#define TOMOS_ATOMIC_FUNCTION __attribute__((annotate("tomos::atomic")))
#define TOMOS_NOT_ATOMIC_FUNCTION __attribute__((annotate("tomos::not_atomic")))
#else
#define TOMOS_ATOMIC_FUNCTION
#define TOMOS_NOT_ATOMIC_FUNCTION
#endif

#endif
