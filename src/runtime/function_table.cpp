// What is known of functions that no pass plugin has marked (g++ -finstrument-functions): the table
// that `tomos run` made from their debugging information, one function a line:
//   module <tab> address in the file, hex <tab> flags, hex <tab> line <tab> name <tab> file
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "runtime/spin_lock.h"
#include "schedule/control.h"

namespace tomos::runtime {

namespace {

char* text = nullptr;  // the table, with zero bytes for tabs and line ends
std::size_t text_size = 0;

// By address in the process; open addressing, as large as the table asks for.
struct Entry {
  std::atomic<Address> address;
  FunctionDescriptor function;
};
Entry* entries = nullptr;
std::size_t capacity = 0;

std::size_t slot_of(Address address) {
  return (address * 0x9e37'79b9'7f4a'7c15U >> 20) & (capacity - 1);
}

// The next field of a line; nullptr at the end of the text.
char* field(char*& at) {
  if (at >= text + text_size) return nullptr;
  char* start = at;
  while (*at != 0) ++at;
  ++at;
  return start;
}

void insert(Address address, const FunctionDescriptor& function) {
  for (std::size_t i = slot_of(address);; i = (i + 1) & (capacity - 1)) {
    if (entries[i].address == address) return;
    if (entries[i].address != 0) continue;
    entries[i].function = function;
    entries[i].address.store(address, std::memory_order_release);
    return;
  }
}

// Whatever the table does not list: no transaction, but it may be what a thread starts with.
FunctionDescriptor other = {
    .name = "", .file = "", .line = 0, .flags = kUserCode, .label = 0, .state = 0};

FunctionDescriptor& find(Address address) {
  if (entries == nullptr) return other;
  for (std::size_t i = slot_of(address);; i = (i + 1) & (capacity - 1)) {
    const Address found = entries[i].address.load(std::memory_order_acquire);
    if (found == address) return entries[i].function;
    if (found == 0) return other;
  }
}

}  // namespace

void read_function_table(const char* path) {
  if (path == nullptr) return;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat status;
  std::size_t lines = 0;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    text_size = static_cast<std::size_t>(status.st_size);
    // One byte more, so that the last line ends.
    void* memory = mmap(nullptr, text_size + 1, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      text = static_cast<char*>(memory);
      std::size_t got = 0;
      while (got < text_size) {
        const ssize_t count = read(file, text + got, text_size - got);
        if (count <= 0) break;
        got += static_cast<std::size_t>(count);
      }
      text_size = got;
      for (std::size_t i = 0; i < text_size; ++i) {
        if (text[i] == '\n') ++lines;
        if (text[i] == '\n' || text[i] == '\t') text[i] = 0;
      }
    }
  }
  close(file);
  if (lines == 0) return;
  capacity = 64;
  while (capacity < 4 * lines) capacity *= 2;
  void* memory = mmap(nullptr, capacity * sizeof(Entry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) entries = static_cast<Entry*>(memory);
}

void know_functions_of(const char* module, Address bias) {
  if (entries == nullptr) return;
  char* at = text;
  while (const char* of = field(at)) {
    const char* address = field(at);
    const char* flags = field(at);
    const char* line = field(at);
    const char* name = field(at);
    const char* file = field(at);
    if (file == nullptr) return;
    if (__builtin_strcmp(of, module) != 0) continue;
    insert(bias + strtoul(address, nullptr, 16),
           {.name = name,
            .file = file,
            .line = static_cast<std::uint32_t>(strtoul(line, nullptr, 10)),
            .flags = static_cast<std::uint32_t>(strtoul(flags, nullptr, 16)),
            .label = 0,
            .state = 0});
  }
}

}  // namespace tomos::runtime

using namespace tomos::runtime;

// NOLINTBEGIN(readability-redundant-declaration): only where calls.cpp is looked at with this file
extern "C" void __tsan_func_entry(void* site);
extern "C" void __tsan_func_exit();
// NOLINTEND(readability-redundant-declaration)

#define CALLER reinterpret_cast<Address>(__builtin_return_address(0))
#define FRAME reinterpret_cast<Address>(__builtin_frame_address(0))

namespace {

void tell_entered(void* function, Address pc, Address stack_pointer) {
  const bool scheduled = tomos::schedule::self != nullptr;
  if (current_thread == nullptr && !scheduled) return;
  FunctionDescriptor& descriptor = find(reinterpret_cast<Address>(function));
  if (scheduled) enter_block(descriptor, pc);
  if (current_thread != nullptr) enter_function(descriptor, pc, stack_pointer);
}

void tell_left(void* function, Address pc) {
  const bool scheduled = tomos::schedule::self != nullptr;
  if (current_thread == nullptr && !scheduled) return;
  FunctionDescriptor& descriptor = find(reinterpret_cast<Address>(function));
  if (scheduled) leave_block(descriptor);
  if (current_thread != nullptr) leave_function(descriptor, pc);
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

void __cyg_profile_func_enter(void* function, void*) { tell_entered(function, CALLER, FRAME); }

void __cyg_profile_func_exit(void* function, void*) { tell_left(function, CALLER); }

// Files with transactions (gcc_headers/tomos_tm.h): also what __tsan_func_entry and _exit tell.
void __tomos_profile_enter(void* function, void* site) {
  __tsan_func_entry(site);
  tell_entered(function, CALLER, FRAME);
}

void __tomos_profile_exit(void* function, void*) {
  tell_left(function, CALLER);
  __tsan_func_exit();
}

#pragma GCC visibility pop
}
