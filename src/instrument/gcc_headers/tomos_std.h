// What the headers beside this one share. They stand before libstdc++'s when g++ compiles, which no
// pass of ours helps (for clang see ../std_synchronisation.cpp, for the meaning runtime/abi.h).
//
// Each lets libstdc++'s own header define its class under another name, and derives from it the
// class that programs use: an object is laid out as before. Its operations tell the runtime what
// they mean and keep it from looking at what happens inside. They are always inlined, so that the
// place which the runtime sees is the user's.
#pragma GCC system_header
#pragma once

#define TOMOS_INLINE                                     \
  [[__gnu__::__always_inline__, __gnu__::__artificial__, \
    __gnu__::__no_instrument_function__]] inline

extern "C" {
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
void __tomos_std_barrier_arrive(const void*, long);
void __tomos_std_barrier_arrived(const void*, bool);
void __tomos_std_barrier_leave(const void*);
void __tomos_std_signal(const void*);
void __tomos_std_ask(const void*);
void __tomos_std_wait_over(const void*, bool);
void __tomos_semaphore_release(const void*, long);
void __tomos_semaphore_acquired(const void*, bool, int);
}

namespace __tomos {

struct _Inside {
  TOMOS_INLINE _Inside() { __tsan_ignore_thread_begin(); }
  TOMOS_INLINE ~_Inside() { __tsan_ignore_thread_end(); }
  _Inside(const _Inside&) = delete;
  _Inside& operator=(const _Inside&) = delete;
};

// What stands first in an object of libstdc++'s.
template <typename _T>
TOMOS_INLINE _T __first_member(const void* __object) {
  const _Inside __inside;
  return *static_cast<const volatile _T*>(__object);
}

}  // namespace __tomos
