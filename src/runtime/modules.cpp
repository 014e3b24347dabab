// The files that make up the process: which code is instrumented, and where the globals are.
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/spin_lock.h"

namespace tomos::runtime {

SpinLock locks::modules;

namespace {

struct Module {
  Address bias;
  Address first;  // of the whole module
  Address end;
  Address code_first;
  Address code_end;
  Address data_first;  // writable
  Address data_end;
  bool instrumented;
  const char* library;  // path of one to be named if it synchronises; nullptr: no need to
};
constexpr std::size_t kMaxModules = 1024;
Module modules[kMaxModules];
std::atomic<std::size_t> module_count = 0;
std::atomic<bool> named[kMaxModules];  // in this recording

// Paths, for as long as the process lives: the dynamic linker's go with a dlclose.
char path_space[1U << 18];
std::size_t path_length = 0;

// Places that have synchronised and need no further look.
constexpr unsigned kCallerBits = 10;
std::atomic<Address> callers[1U << kCallerBits];

// Whether a module imports one of these: their names are in its string table.
template <std::size_t N>
bool imports(const dl_phdr_info& info, const ElfW(Dyn) * dynamic, const char* const (&wanted)[N]) {
  const char* strings = nullptr;
  std::size_t size = 0;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_STRSZ) size = dynamic->d_un.d_val;
  }
  if (strings == nullptr) return false;
  // Some modules (the vdso) are not relocated.
  if (reinterpret_cast<Address>(strings) < info.dlpi_addr) strings += info.dlpi_addr;
  for (const char* const name : wanted) {
    const std::size_t length = __builtin_strlen(name) + 1;
    for (std::size_t i = 1; i + length <= size; ++i) {
      if (strings[i - 1] == 0 && __builtin_memcmp(strings + i, name, length) == 0) return true;
    }
  }
  return false;
}

// Instrumented code imports entry points of ours; the second stands for the first where there are
// transactions.
constexpr const char* kEntryPoints[] = {"__tsan_func_entry", "__tomos_profile_enter"};

Module describe(const dl_phdr_info& info) {
  Module module{.bias = info.dlpi_addr,
                .first = ~Address{0},
                .code_first = ~Address{0},
                .data_first = ~Address{0}};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const Address start = info.dlpi_addr + header.p_vaddr;
    const Address end = start + header.p_memsz;
    if (header.p_type == PT_DYNAMIC) {
      module.instrumented = imports(info, reinterpret_cast<const ElfW(Dyn)*>(start), kEntryPoints);
    }
    if (header.p_type != PT_LOAD) continue;
    if (start < module.first) module.first = start;
    if (end > module.end) module.end = end;
    if ((header.p_flags & PF_X) != 0) {
      if (start < module.code_first) module.code_first = start;
      if (end > module.code_end) module.code_end = end;
    }
    if ((header.p_flags & PF_W) != 0) {
      if (start < module.data_first) module.data_first = start;
      if (end > module.data_end) module.data_end = end;
    }
  }
  return module;
}

// What these do is told by interposition, and on behalf of whoever called them.
bool is_system_library(const char* path) {
  constexpr const char* kSystem[] = {"ld-linux",    "libc.so",  "libc++.so",  "libc++abi.so",
                                     "libgcc_s.so", "libm.so",  "libpthread", "libstdc++.so",
                                     "libdl.so",    "librt.so", "linux-vdso", "libitm.so"};
  const char* name = path;
  for (const char* at = path; *at != 0; ++at) {
    if (*at == '/') name = at + 1;
  }
  for (const char* system : kSystem) {
    if (__builtin_strncmp(name, system, __builtin_strlen(system)) == 0) return true;
  }
  return false;
}

// nullptr: not known.
const char* path_of(const dl_phdr_info& info, char (&space)[4096]) {
  const char* name = info.dlpi_name;
  if (name == nullptr || *name == 0) {
    const ssize_t length = readlink("/proc/self/exe", space, sizeof(space) - 1);
    if (length <= 0) return nullptr;
    space[length] = 0;
    return space;
  }
  return *name != '/' && realpath(name, space) != nullptr ? space : name;
}

const char* keep_path(const char* path) {
  const std::size_t size = __builtin_strlen(path) + 1;
  if (size > sizeof(path_space) - path_length) return nullptr;
  char* kept = path_space + path_length;
  __builtin_memcpy(kept, path, size);
  path_length += size;
  return kept;
}

// Our own, which offers what instrumented code imports, and whose data is nobody's business.
bool is_runtime(const Module& module) {
  const auto own = reinterpret_cast<Address>(&modules);
  return own >= module.first && own < module.end;
}

struct Walk {
  Thread* thread;
  bool again;
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  auto* walk = static_cast<Walk*>(data);
  Module module = describe(*info);
  if (module.first == ~Address{0} || is_runtime(module)) return 0;
  bool known = false;
  for (std::size_t i = 0; i < module_count; ++i) {
    if (modules[i].bias == module.bias && modules[i].first == module.first &&
        modules[i].end == module.end) {
      known = true;
      if (walk->again) named[i].store(false, std::memory_order_relaxed);
    }
  }
  if (known && !walk->again) return 0;
  char space[4096];
  const char* path = path_of(*info, space);
  if (!known && module_count < kMaxModules) {
    if (!module.instrumented && path != nullptr && !is_system_library(path)) {
      module.library = keep_path(path);
    }
    modules[module_count] = module;
    ++module_count;
  }
  if (path == nullptr) return 0;
  if (!known) know_functions_of(path, module.bias);
  record_module(*walk->thread, module.bias, module.first, module.end,
                module.instrumented ? recording::kInstrumented : 0, path);
  return 0;
}

}  // namespace

void record_modules(Thread& thread, bool again) {
  const Guard guard(locks::modules);
  Walk walk{.thread = &thread, .again = again};
  dl_iterate_phdr(visit, &walk);
  for (std::atomic<Address>& caller : callers) caller.store(0, std::memory_order_relaxed);
}

namespace {

int visit_for_functions(dl_phdr_info* info, std::size_t, void*) {
  char space[4096];
  if (const char* path = path_of(*info, space); path != nullptr) {
    know_functions_of(path, info->dlpi_addr);
  }
  return 0;
}

int visit_for_libitm(dl_phdr_info* info, std::size_t, void* found) {
  constexpr const char* kWanted[] = {"_ITM_abortTransaction", "_ITM_addUserCommitAction",
                                     "_ITM_addUserUndoAction", "_ITM_inTransaction",
                                     "_ITM_getTransactionId"};
  char space[4096];
  const char* path = path_of(*info, space);
  // libitm has what the others import.
  if (is_runtime(describe(*info)) || (path != nullptr && is_system_library(path))) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) continue;
    const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
    *static_cast<bool*>(found) |= imports(*info, dynamic, kWanted);
  }
  return 0;
}

}  // namespace

void know_all_functions() { dl_iterate_phdr(visit_for_functions, nullptr); }

bool depends_on_libitm() {
  bool found = false;
  dl_iterate_phdr(visit_for_libitm, &found);
  return found;
}

void modules_changed() {
  Thread* thread = current_thread;
  const AtWork at_work(thread);
  if (at_work) record_modules(*thread, false);
}

bool from_instrumented(Address pc) {
  if (observer == nullptr) return false;
  const std::size_t count = module_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    const Module& module = modules[i];
    if (module.instrumented && pc >= module.code_first && pc < module.code_end) return true;
  }
  return false;
}

void note_synchronising(Thread& thread, Address pc) {
  std::atomic<Address>& caller = callers[(pc * 0x9e37'79b9'7f4a'7c15U) >> (64 - kCallerBits)];
  if (caller.load(std::memory_order_relaxed) == pc) return;
  caller.store(pc, std::memory_order_relaxed);
  // The newest that is there: older ones may have been unloaded.
  for (std::size_t i = module_count.load(std::memory_order_acquire); i > 0; --i) {
    const Module& module = modules[i - 1];
    if (pc < module.code_first || pc >= module.code_end) continue;
    if (module.library != nullptr && !named[i - 1].exchange(true)) {
      record_text(thread, recording::Op::kNote,
                  static_cast<std::uint8_t>(recording::Note::kSynchronises), 0, 0, module.library,
                  __builtin_strlen(module.library));
    }
    return;
  }
}

void for_each_global_word(void (*look)(Thread& thread, Address word), Thread& thread) {
  for (std::size_t i = 0; i < module_count; ++i) {
    const Module& module = modules[i];
    for (Address at = (module.data_first + 7) & ~Address{7}; at + 8 <= module.data_end; at += 8) {
      look(thread, *reinterpret_cast<const volatile Address*>(at));
    }
  }
}

}  // namespace tomos::runtime
