// The hooks of runtime/hooks.h, for tests: each writes down that it was called.
#include <link.h>

#include <atomic>

#include "log.h"
#include "runtime/interpose.h"

namespace {

using tomos::test::Told;

constexpr std::size_t kEntries = 1 << 20;
constinit Told entries[kEntries] = {};
constinit std::atomic<std::size_t> count = 0;

void note(const char* what, const void* object, std::size_t number = 0) {
  const std::size_t place = count.fetch_add(1);
  if (place < kEntries) entries[place] = {what, object, number};
}

constinit thread_local tomos::runtime::ThreadNumber number_of_this = 0;
constinit std::atomic<tomos::runtime::ThreadNumber> next_number = 1;
constinit thread_local int ignoring = 0;

// The test's own code: the first module is the program.
struct Code {
  tomos::runtime::Address first;
  tomos::runtime::Address end;
};
int find_code(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const tomos::runtime::Address first = info->dlpi_addr + header.p_vaddr;
    *static_cast<Code*>(data) = {first, first + header.p_memsz};
  }
  return 1;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) std::size_t tomos::test::told_entries(
    const Told** all) {
  *all = entries;
  return count;
}

namespace tomos::runtime {

void acquired(const void* lock, LockMode mode, Address, Taking) {
  note(mode == LockMode::kRead ? "racquired" : "acquired", lock);
}
void releasing(const void* lock, LockMode mode, Address) {
  note(mode == LockMode::kRead ? "rreleasing" : "releasing", lock);
}
void destroyed(const void* lock, Address) { note("destroyed", lock); }
void waiting(Address, const void*) { note("waiting", nullptr); }
void signal(const void* object, Address, OrderKind) { note("signal", object); }
void wait_over(const void* object, Address, OrderKind) { note("wait_over", object); }
void semaphore_posting(const void* semaphore, std::uint64_t tokens, Address) {
  note("posting", semaphore, tokens);
}
void semaphore_passed(const void* semaphore, std::uint64_t left, Address) {
  note("passed", semaphore, left);
}
void barrier_arrive(const void* barrier, std::uint32_t threads, Address) {
  note("arrive", barrier, threads);
}
void barrier_leave(const void* barrier, Address) { note("leave", barrier); }

ThreadNumber thread_create(const void*, const void*, Address) {
  const ThreadNumber number = next_number++;
  note("create", nullptr, number);
  return number;
}
void thread_not_created(ThreadNumber thread) { note("not_created", nullptr, thread); }
void thread_start(ThreadNumber thread, const void*) {
  number_of_this = thread;
  note("start", nullptr, thread);
}
void thread_end() { note("end", nullptr, number_of_this); }
void thread_joined(ThreadNumber thread, Address) { note("joined", nullptr, thread); }
void thread_named(ThreadNumber thread, const char*) { note("named", nullptr, thread); }
ThreadNumber this_thread() { return number_of_this; }

void allocated(const void* start, std::size_t, Address) { note("allocated", start); }
void freeing(const void* start, std::size_t, Address) { note("freeing", start); }
void unmapping(const void* start, std::size_t size, Address) { note("unmapping", start, size); }
void read_range(const void* start, std::size_t size, Address) {
  if (ignoring == 0) note("read", start, size);
}
void write_range(const void* start, std::size_t size, Address) {
  if (ignoring == 0) note("write", start, size);
}
void stored_pointer(const void* where, const void*) { note("stored", where); }

void atomic_before(const volatile void*, AtomicKind, int) {}
void atomic_after(const volatile void* address, std::size_t, AtomicKind kind, int, Address) {
  if (ignoring != 0) return;
  const char* const what = kind == AtomicKind::kRead    ? "atomic_read"
                           : kind == AtomicKind::kWrite ? "atomic_write"
                                                        : "atomic_update";
  note(what, const_cast<const void*>(address));
}
void fence(int) { note("fence", nullptr); }

void modules_changed() { note("modules", nullptr); }
void before_fork() { note("before_fork", nullptr); }
void after_fork_in_parent() { note("in_parent", nullptr); }
void after_fork_in_child() { note("in_child", nullptr); }
void before_exec() { note("before_exec", nullptr); }
void exec_failed() { note("exec_failed", nullptr); }
void process_exit() { note("process_exit", nullptr); }

bool inside() { return false; }
Ignore::Ignore() { ++ignoring; }
Ignore::~Ignore() { --ignoring; }

bool from_instrumented(Address pc) {
  Code code = {};
  dl_iterate_phdr(find_code, &code);
  return pc >= code.first && pc < code.end;
}

bool depends_on_libitm() { return false; }

}  // namespace tomos::runtime
