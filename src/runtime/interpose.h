// What the files that stand in for functions of libc, pthreads and libstdc++ share.
//
// TOMOS_INTERPOSE(result, name, parameters...) { body } defines the function that the program gets
// instead of `name`; in its body REAL(name) is the one that it would have got, and TOMOS_CALLER()
// the place that called. All real functions are looked up at once, when the first of them is
// wanted: looking up later could be in a signal handler, or while the program holds the dynamic
// linker's lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/hooks.h"

namespace tomos::runtime {

// One a function, all in one section, so that resolve_real_functions() finds them.
struct RealFunction {
  const char* name;
  const char* version;  // nullptr: the default one
  void* address;
};

// Defined in interpose_real.cpp.
void resolve_real_functions();
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is constinit
extern bool real_functions_resolved;
// Those of libitm, when the first transaction begins: there are many, and few programs need them.
void resolve_libitm();
// In a library that came later and is not in the global scope: libstdc++ below a plug-in.
void* find_in_libstdcxx(const char* name);

inline void* address_of_real(const RealFunction& function) {
  if (!real_functions_resolved) [[unlikely]] {
    resolve_real_functions();
  }
  return function.address;
}

// Memory without malloc; nullptr if there is none. Never given back.
void* map_memory(std::size_t size);

// Once, when the real functions are known.
void watch_thread_ends();  // interpose_threads.cpp
// Of this one, which was not seen to start.
void watch_end_of_thread();
void watch_process();  // interpose_process.cpp

// Whether the code at this return address was compiled by our wrappers. Others' accesses are not
// told: what a library does inside is its own business.
bool from_instrumented(Address pc);

// Whether some module can tell whether libitm runs its transactions.
bool depends_on_libitm();

// Accesses that a function makes on behalf of its caller, if the caller's count.
class Teller {
 public:
  explicit Teller(Address pc)
      : pc_(pc), tells_(real_functions_resolved && !inside() && from_instrumented(pc)) {}
  explicit operator bool() const { return tells_; }
  void reads(const void* start, std::size_t size) const {
    if (tells_ && size != 0) read_range(start, size, pc_);
  }
  void writes(const void* start, std::size_t size) const {
    if (tells_ && size != 0) write_range(start, size, pc_);
  }

 private:
  Address pc_;
  bool tells_;
};

// The place that makes a std::thread, while it is being made (interpose_libstdcxx.cpp).
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit says that it is not
extern thread_local constinit Address maker_of_thread;

// The malloc family on behalf of `pc` (interpose_memory.cpp).
void* allocate(std::size_t size, Address pc);
void deallocate(void* object, Address pc);

// A fork must not find the tables half changed.
void lock_thread_table();
void unlock_thread_table();
void lock_barrier_table();
void unlock_barrier_table();

}  // namespace tomos::runtime

#define TOMOS_EXPORT extern "C" __attribute__((visibility("default")))

#define TOMOS_REAL_VERSION(result, name, version, ...)                      \
  using name##_function = result(__VA_ARGS__);                              \
  [[gnu::section("tomos_real"),                                             \
    gnu::used]] static constinit tomos::runtime::RealFunction real_##name { \
    #name, version, nullptr                                                 \
  }

#define TOMOS_REAL(result, name, ...) TOMOS_REAL_VERSION(result, name, nullptr, __VA_ARGS__)

#define TOMOS_INTERPOSE_VERSION(result, name, version, ...) \
  TOMOS_REAL_VERSION(result, name, version, __VA_ARGS__);   \
  TOMOS_EXPORT result name(__VA_ARGS__)

#define TOMOS_INTERPOSE(result, name, ...) \
  TOMOS_INTERPOSE_VERSION(result, name, nullptr, __VA_ARGS__)

#define REAL(name) \
  (reinterpret_cast<name##_function*>(tomos::runtime::address_of_real(real_##name)))

// Must stand in the interposed function itself.
#define TOMOS_CALLER() (reinterpret_cast<tomos::runtime::Address>(__builtin_return_address(0)))
