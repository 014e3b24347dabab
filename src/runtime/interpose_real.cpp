// The real functions behind the interposed ones.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "schedule/control.h"
#include "schedule/raw.h"

// The bounds of the section, made by the linker.
extern "C" {
extern tomos::runtime::RealFunction __start_tomos_real[] __attribute__((visibility("hidden")));
extern tomos::runtime::RealFunction __stop_tomos_real[] __attribute__((visibility("hidden")));
}

namespace tomos::runtime {

constinit bool real_functions_resolved = false;

namespace {

// Only the program's first thread can come here: another is made by pthread_create, which is ours.
constinit bool resolving = false;

bool is_of_libitm(const RealFunction& function) {
  constexpr char kPrefix[] = "_ITM_";
  for (std::size_t i = 0; kPrefix[i] != 0; ++i) {
    if (function.name[i] != kPrefix[i]) return false;
  }
  return true;
}

}  // namespace

void resolve_real_functions() {
  if (resolving) return;
  resolving = true;
  for (RealFunction* function = __start_tomos_real; function != __stop_tomos_real; ++function) {
    if (is_of_libitm(*function)) continue;
    if (function->version != nullptr) {
      function->address = dlvsym(RTLD_NEXT, function->name, function->version);
    }
    if (function->address == nullptr) function->address = dlsym(RTLD_NEXT, function->name);
  }
  // A C program has no libstdc++. That the lookup failed is not for the program to find.
  dlerror();  // NOLINT(concurrency-mt-unsafe): glibc's is
  watch_process();
  watch_thread_ends();
  real_functions_resolved = true;
}

namespace {

// Before the program's own constructors where possible, so that no signal handler comes first.
[[gnu::constructor(101)]] void resolve_at_start() {
  if (!real_functions_resolved) resolve_real_functions();
  schedule::set_up();
}

}  // namespace

void resolve_libitm() {
  // Never closed, as whoever calls us has it open.
  void* const library = dlopen("libitm.so.1", RTLD_LAZY | RTLD_NOLOAD);
  for (RealFunction* function = __start_tomos_real; function != __stop_tomos_real; ++function) {
    if (is_of_libitm(*function)) function->address = dlsym(library, function->name);
  }
}

void* find_in_libstdcxx(const char* name) {
  void* const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  // Never closed, so that what is found stays. libstdc++ has unique symbols and stays anyway.
  return dlsym(library, name);
}

void* map_memory(std::size_t size) {
  // The system call itself: mmap is interposed.
  const long start = schedule::raw_call(SYS_mmap, 0, static_cast<long>(size),
                                        PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start < 0 && start > -4096 ? nullptr : reinterpret_cast<void*>(start);
}

}  // namespace tomos::runtime
