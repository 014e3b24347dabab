// What the campaign is told of places: call chains, modules, and the end of a trial that went
// wrong.
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>

#include "runtime/interpose.h"
#include "schedule/task.h"

TOMOS_REAL(int, sigaction, int, const struct sigaction*, struct sigaction*);

namespace tomos::schedule {

namespace {

Place chain_from(Address pc) {
  Place place = {};
  void* frames[kFrames + 16];
  const int count = backtrace(frames, kFrames + 16);
  // Ours come first.
  int first = 0;
  while (first < count && reinterpret_cast<Address>(frames[first]) != pc) ++first;
  if (first == count) {
    place.frames[0] = pc;
    return place;
  }
  for (std::size_t i = 0; i < kFrames && first + static_cast<int>(i) < count; ++i) {
    place.frames[i] = reinterpret_cast<Address>(frames[static_cast<std::size_t>(first) + i]);
  }
  return place;
}

int add_module(dl_phdr_info* info, std::size_t, void* /*unused*/) {
  Trial& trial = world.area->trial;
  if (trial.module_count == kMaxModules) return 1;
  Module module = {};
  module.bias = info->dlpi_addr;
  module.first = ~std::uint64_t{0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uint64_t start = info->dlpi_addr + header.p_vaddr;
    if (start < module.first) module.first = start;
    if (start + header.p_memsz > module.end) module.end = start + header.p_memsz;
  }
  if (module.end == 0) return 0;
  const char* name = info->dlpi_name;
  if (name == nullptr || *name == 0) {
    if (trial.module_count != 0) return 0;  // the vdso
    name = nullptr;
    raw_call(SYS_readlink, reinterpret_cast<long>("/proc/self/exe"),
             reinterpret_cast<long>(module.path), sizeof(module.path) - 1);
  }
  for (std::size_t at = 0; name != nullptr && name[at] != 0 && at + 1 < sizeof(module.path); ++at) {
    module.path[at] = name[at];
  }
  trial.modules[trial.module_count++] = module;
  return 0;
}

}  // namespace

Place place_at(Address pc) {
  if (world.replaying && self != nullptr) {
    ++self->at_work;
    const Place place = chain_from(pc);
    --self->at_work;
    return place;
  }
  Place place = {};
  place.frames[0] = pc;
  return place;
}

void record_modules() {
  world.area->trial.module_count = 0;
  dl_iterate_phdr(add_module, nullptr);
}

// --- Nobody can go on.

void deadlock() {
  Trial& trial = world.area->trial;
  trial.flags |= kDeadlock;
  for (std::size_t i = 0; i < world.task_count && trial.waiting_count < kMaxWaiting; ++i) {
    const Task& task = *world.tasks[i];
    Waiting waiting = {};
    waiting.thread = task.number;
    waiting.kind = task.next.kind;
    waiting.holder = ~0U;
    const bool for_mutex = task.next.kind == Kind::kWait && task.notified;
    const volatile void* const object = for_mutex ? task.next.mutex : task.next.object;
    waiting.object = reinterpret_cast<std::uint64_t>(object);
    waiting.place.frames[0] = task.next.pc;
    if (task.next.kind == Kind::kJoin && task.joins != nullptr) {
      waiting.holder = task.joins->number;
    } else if (object != nullptr) {
      const Object& known = object_at(object);
      if (known.holder != nullptr) {
        waiting.holder = known.holder->number;
        waiting.taken = known.taken;
      }
    }
    trial.waiting[trial.waiting_count++] = waiting;
  }
  record_modules();
  raw_call(SYS_exit_group, 66);
  __builtin_unreachable();
}

// --- Signals that kill.

namespace {

constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void on_fatal(int number, siginfo_t* info, void* /*context*/) {
  Trial& trial = world.area->trial;
  if (self != nullptr) ++self->at_work;
  trial.signal = number;
  trial.signal_thread = self == nullptr ? 0 : self->number;
  trial.signal_address = reinterpret_cast<std::uint64_t>(info->si_addr);
  void* frames[kFrames + 4];
  const int count = backtrace(frames, kFrames + 4);
  // The first two are this handler and the kernel's way back from it.
  for (int i = 2; i < count && i - 2 < static_cast<int>(kFrames); ++i) {
    trial.signal_place.frames[i - 2] = reinterpret_cast<std::uint64_t>(frames[i]);
  }
  record_modules();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  REAL(sigaction)(number, &action, nullptr);
  if (self != nullptr) --self->at_work;
  // It comes again at once: from the instruction, or from abort().
  if (info->si_code <= 0 && number != SIGABRT) raise(number);
}

}  // namespace

void watch_fatal_signals() {
  for (const int number : kFatal) {
    struct sigaction action = {};
    REAL(sigaction)(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action = {};
    action.sa_sigaction = on_fatal;
    action.sa_flags = SA_SIGINFO;
    REAL(sigaction)(number, &action, nullptr);
  }
}

}  // namespace tomos::schedule
