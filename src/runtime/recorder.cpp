// Writes the recording (trace/recording_format.h): each thread its own chunks, in place.
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "runtime/shadow.h"
#include "runtime/spin_lock.h"

namespace tomos::runtime {

using recording::Op;
using recording::Slot;

Lives lives;
Fingerprints fingerprints;
std::atomic<Stamp> order_table[1U << kOrderBits];

SpinLock locks::rests;
SpinLock locks::file;

namespace {

recording::Header* header = nullptr;
char file_path[4096];
int trace_file = -1;
dev_t file_device;
ino_t file_inode;

// What ended threads left of their chunks, for the first chunk of new ones.
struct Rest {
  Slot* chunk;
  Slot* next;
};
constexpr std::size_t kRests = 64;
Rest rests[kRests];
std::size_t rest_count = 0;

// A descriptor of the file. Programs close descriptors they did not open, and may get the same
// number again for a file of their own: so it is looked at before each use.
int checked_file() {
  struct stat status;
  if (trace_file >= 0 && fstat(trace_file, &status) == 0 && status.st_dev == file_device &&
      status.st_ino == file_inode) {
    return trace_file;
  }
  const int fresh = open(file_path, O_RDWR | O_CLOEXEC);
  if (fresh < 0) return -1;
  trace_file = fcntl(fresh, F_DUPFD_CLOEXEC, 512);
  if (trace_file < 0) {
    trace_file = fresh;
  } else {
    close(fresh);
  }
  return trace_file;
}

// Beyond a limit on the size of files (ulimit -f) a write would not only fail, but send a signal
// that ends the program.
bool may_grow_to(std::uint64_t size) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || size <= limit.rlim_cur;
}

void lose() { __atomic_store_n(&header->lost, 1, __ATOMIC_RELAXED); }

// The chunk that a thread writes in.
Slot* map_chunk() {
  const Guard guard(locks::file);
  const int descriptor = checked_file();
  if (descriptor < 0) return nullptr;
  const std::uint64_t offset = header->next_chunk;
  if (!may_grow_to(offset + recording::kChunkSize)) return nullptr;
  // Without this a full disk would be a SIGBUS in the middle of the program.
  if (posix_fallocate(descriptor, static_cast<off_t>(offset), recording::kChunkSize) != 0) {
    return nullptr;
  }
  void* memory = mmap(nullptr, recording::kChunkSize, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_POPULATE, descriptor, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return nullptr;
  header->next_chunk = offset + recording::kChunkSize;
  return static_cast<Slot*>(memory);
}

// Copies a full chunk to the end of the file. False: there is no room.
bool copy_chunk(const Slot* chunk) {
  Slot first = chunk[0];
  first.a = recording::pack_a(Op::kThread, 0, recording::value_of(first.a));
  iovec parts[] = {
      {.iov_base = &first, .iov_len = sizeof(Slot)},
      {.iov_base = const_cast<Slot*>(chunk + 1), .iov_len = recording::kChunkSize - sizeof(Slot)}};
  const Guard guard(locks::file);
  const int descriptor = checked_file();
  if (descriptor < 0 || !may_grow_to(header->next_chunk + recording::kChunkSize) ||
      pwritev(descriptor, parts, 2, static_cast<off_t>(header->next_chunk)) !=
          static_cast<ssize_t>(recording::kChunkSize)) {
    return false;
  }
  header->next_chunk += recording::kChunkSize;
  return true;
}

void sign(Thread& thread) {
  const std::uint8_t open = thread.next == thread.chunk ? 1 : 0;
  *thread.next++ = {.a = recording::pack_a(Op::kThread, open, thread.number), .b = thread.stamp};
  thread.stamp_written = thread.stamp;
  thread.last_stack = 0;
}

// Room for `slots` in one piece. False: nothing can be recorded any more.
bool make_room(Thread& thread, std::size_t slots) {
  if (header == nullptr || __atomic_load_n(&header->lost, __ATOMIC_RELAXED) != 0) return false;
  const int kept_errno = errno;
  thread.run.slot = nullptr;
  thread.mark.slot = nullptr;
  thread.filter.forget_records();
  if (thread.chunk != nullptr) {
    if (!copy_chunk(thread.chunk)) {
      lose();
      thread.end = thread.next;
      errno = kept_errno;
      return false;
    }
    __builtin_memset(thread.chunk, 0, recording::kChunkSize);
    thread.next = thread.chunk;
  } else {
    const Guard guard(locks::rests);
    if (rest_count > 0) {
      const Rest& rest = rests[--rest_count];
      thread.chunk = rest.chunk;
      thread.next = rest.next;
    }
  }
  if (thread.chunk == nullptr) {
    thread.chunk = map_chunk();
    thread.next = thread.chunk;
  }
  errno = kept_errno;
  if (thread.chunk == nullptr) {
    lose();
    return false;
  }
  thread.end = thread.chunk + recording::kSlotsPerChunk;
  sign(thread);
  if (static_cast<std::size_t>(thread.end - thread.next) < slots) return make_room(thread, slots);
  return true;
}

bool room_for(Thread& thread, std::size_t slots) {
  return static_cast<std::size_t>(thread.end - thread.next) >= slots || make_room(thread, slots);
}

// Whether the reader has been told of this stack, as far as is remembered; from now on it is. Of
// four places for each, so that two stacks in turn do not make each other forgotten.
bool is_known_stack(Thread& thread, std::uint32_t id) {
  constexpr std::size_t kWays = 4;
  std::uint32_t* const set = &thread.known_stacks[(id >> 1) * kWays % kKnownStacks];
  for (std::size_t way = 0; way < kWays; ++way) {
    if (set[way] == id) return true;
  }
  for (std::size_t way = kWays - 1; way > 0; --way) set[way] = set[way - 1];
  set[0] = id;
  return false;
}

// Tells the reader where the thread is, if it does not know.
void record_stack(Thread& thread) {
  if (thread.call_count == 0 || thread.call_count >= kMaxCalls) return;
  const auto id = static_cast<std::uint32_t>(thread.calls[thread.call_count - 1].hash >> 32) | 1;
  if (id == thread.last_stack) return;
  constexpr std::uint32_t kMostFrames = 64;
  if (!room_for(thread, 1 + kMostFrames / 2)) return;
  const std::uint32_t depth = thread.call_count < kMostFrames ? thread.call_count : kMostFrames;
  const std::uint32_t frames = is_known_stack(thread, id) ? 0 : depth;
  thread.last_stack = id;
  if (frames != 0) thread.mark.slot = nullptr;  // others will refer to it
  *thread.next++ = {
      .a = recording::pack_a(Op::kStack, static_cast<std::uint8_t>(frames), id),
      .b = 0,
  };
  for (std::uint32_t i = 0; i < frames; i += 2) {
    const Call* call = &thread.calls[thread.call_count - 1 - i];
    *thread.next++ = {.a = call[0].site, .b = i + 1 < frames ? call[-1].site : 0};
  }
}

// What later records rely on is not taken back.
constexpr bool can_be_taken_back(Op op) {
  switch (op) {
    case Op::kRead:
    case Op::kWrite:
    case Op::kReadRange:
    case Op::kWriteRange:
    case Op::kReadRun:
    case Op::kWriteRun:
    case Op::kTouched:
    case Op::kAtomicRead:
    case Op::kAtomicWrite:
    case Op::kAtomicUpdate:
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kReadAcquire:
    case Op::kReadRelease:
    case Op::kBegin:
      return true;
    default:
      return false;
  }
}

void write(Thread& thread, Op op, std::uint8_t small, std::uint64_t value, Address pc) {
  if (!can_be_taken_back(op)) thread.mark.slot = nullptr;
  std::uint64_t delta = thread.stamp - thread.stamp_written;
  if (delta > 0xffff) {
    *thread.next++ = {.a = recording::pack_a(Op::kTime, 0, 0), .b = thread.stamp};
    delta = 0;
  }
  thread.stamp_written = thread.stamp;
  Slot* slot = thread.next++;
  slot->b = recording::pack_b(static_cast<std::uint16_t>(delta), pc);
  // A killed process leaves no slot that has an operation but not the rest.
  __atomic_store_n(&slot->a, recording::pack_a(op, small, value), __ATOMIC_RELEASE);
}

void advance(Thread& thread) {
  const Stamp now = ticks();
  if (thread.stamp < now) thread.stamp = now;
}

}  // namespace

bool is_recording() { return header != nullptr; }

bool open_recording(const char* path, std::uint32_t parent_pid) {
  header = nullptr;
  std::size_t length = 0;
  while (path[length] != 0 && length + 16 < sizeof(file_path)) {
    file_path[length] = path[length];
    ++length;
  }
  file_path[length] = 0;
  int fresh = parent_pid == 0 ? open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
  if (fresh < 0) {
    // The name is taken: a child, or another program of the same run.
    char digits[12];
    int count = 0;
    for (auto rest = static_cast<unsigned>(getpid()); rest != 0; rest /= 10) {
      digits[count++] = static_cast<char>('0' + rest % 10);
    }
    file_path[length++] = '.';
    while (count > 0) file_path[length++] = digits[--count];
    file_path[length] = 0;
    // After an exec the process has the number of the recording before it: number them.
    for (char turn = 'a'; fresh < 0 && turn <= 'z'; ++turn) {
      fresh = open(file_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (fresh >= 0 || errno != EEXIST) break;
      file_path[length] = turn;
      file_path[length + 1] = 0;
    }
    if (fresh < 0) return false;
  }
  trace_file = fcntl(fresh, F_DUPFD_CLOEXEC, 512);
  if (trace_file < 0) {
    trace_file = fresh;
  } else {
    close(fresh);
  }
  struct stat status;
  if (fstat(trace_file, &status) != 0) return false;
  file_device = status.st_dev;
  file_inode = status.st_ino;
  if (!may_grow_to(recording::kHeaderSize) ||
      posix_fallocate(trace_file, 0, recording::kHeaderSize) != 0) {
    return false;
  }
  void* memory =
      mmap(nullptr, recording::kHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, trace_file, 0);
  if (memory == MAP_FAILED) return false;
  header = static_cast<recording::Header*>(memory);
  header->version = recording::kVersion;
  header->pid = static_cast<std::uint32_t>(getpid());
  header->parent_pid = parent_pid;
  header->next_chunk = recording::kHeaderSize;
  header->start = ticks();
  header->filtered = static_cast<std::uint64_t>(config.filter);
  header->magic = recording::kMagic;
  return true;
}

void set_ending(recording::Ending ending) {
  if (header != nullptr) header->ending = ending;
}

void record(Thread& thread, Op op, std::uint8_t small, std::uint64_t value, Address pc) {
  advance(thread);
  record_at_once(thread, op, small, value, pc);
}

void record_at_once(Thread& thread, Op op, std::uint8_t small, std::uint64_t value, Address pc) {
  settle(thread);
  write_begin(thread);
  record_stack(thread);
  if (room_for(thread, 2)) write(thread, op, small, value, pc);
}

void record(Thread& thread, Op op, std::uint8_t small, std::uint64_t value, Address pc,
            std::uint64_t first, std::uint64_t second) {
  advance(thread);
  settle(thread);
  write_begin(thread);
  record_stack(thread);
  if (!room_for(thread, 3)) return;
  write(thread, op, small, value, pc);
  *thread.next++ = {.a = first, .b = second};
}

std::uint64_t* record_touched(Thread& thread, std::uint8_t size, Address first, Address pc) {
  advance(thread);
  settle(thread);
  write_begin(thread);
  record_stack(thread);
  if (!room_for(thread, 2 + recording::kTouchedSlots)) return nullptr;
  write(thread, Op::kTouched, size, first, pc);
  auto* words = &thread.next->a;
  thread.next += recording::kTouchedSlots;
  return words;
}

namespace {

// Behind the first slot of a record that can be taken back.
constexpr std::size_t extra_slots(Op op) {
  switch (op) {
    case Op::kReadRange:
    case Op::kWriteRange:
    case Op::kReadRun:
    case Op::kWriteRun:
      return 1;
    case Op::kTouched:
      return recording::kTouchedSlots;
    default:
      return 0;
  }
}

}  // namespace

void set_mark(Thread& thread) {
  settle(thread);
  thread.mark.slot = config.filter == Filter::kDistinct ? thread.next : nullptr;
  thread.mark.stamp_written = thread.stamp_written;
  thread.mark.last_stack = thread.last_stack;
  thread.mark.ends = lives.ends();
}

// What is freed in the middle of a transaction is two variables to it: 0, as it is like no other.
std::uint64_t fingerprint(const Thread& thread) {
  const bool any_ended = lives.ends() != thread.mark.ends;
  std::uint64_t hash = thread.mark.held;
  for (const Slot* slot = thread.mark.slot; slot < thread.next;) {
    const Op op = recording::op_of(slot->a);
    if (op != Op::kStack && op != Op::kTime) {
      if (any_ended && lives.ended_since(thread.mark.ends, recording::value_of(slot->a))) return 0;
      hash = stirred(
          hash, slot->a,
          recording::pc_of(slot->b) ^ std::uint64_t{lives.of(recording::value_of(slot->a))} << 40);
    }
    const Slot* const next = slot + 1 + extra_slots(op);
    for (++slot; slot < next; ++slot) hash = stirred(hash, slot->a, slot->b);
  }
  hash = mixed(hash, 0);
  return hash != 0 ? hash : 1;
}

void take_back(Thread& thread, const Mark& mark) {
  __builtin_memset(mark.slot, 0, static_cast<std::size_t>(thread.next - mark.slot) * sizeof(Slot));
  thread.next = mark.slot;
  thread.stamp_written = mark.stamp_written;
  thread.last_stack = mark.last_stack;
  thread.run.slot = nullptr;
}

// It is still the last thing on record.
void settle(Thread& thread) {
  Ended& ended = thread.ended;
  if (ended.fingerprint == 0) return;
  if (thread.distinct.add(ended.fingerprint, thread.number, fingerprints)) {
    const Stamp now = thread.stamp;
    thread.stamp = ended.stamp;
    write(thread, Op::kEnd, 0, 0, ended.end_pc);
    thread.stamp = now;
  } else {
    learn_familiar(thread, ended);
    take_back(thread, ended.mark);
  }
  ended.fingerprint = 0;
}

// Large tables are looked up at random: on pages of usual size half of the time would go into
// finding the page.
std::uint64_t* Pages::take(std::size_t words) {
  const std::size_t size = words * sizeof(std::uint64_t);
  const std::size_t room = size < kHugePage ? size : size + kHugePage;
  void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (room == size) return static_cast<std::uint64_t*>(memory);
  const auto start = reinterpret_cast<Address>(memory);
  const Address table = (start + kHugePage - 1) & ~(kHugePage - 1);
  if (table != start) munmap(memory, table - start);
  munmap(reinterpret_cast<void*>(table + size), start + room - (table + size));
  madvise(reinterpret_cast<void*>(table), size, MADV_HUGEPAGE);
  return reinterpret_cast<std::uint64_t*>(table);
}

void Pages::give_back(std::uint64_t* memory, std::size_t words) {
  munmap(memory, words * sizeof(std::uint64_t));
}

void Pages::clear(std::uint64_t* memory, std::size_t words) {
  const int kept_errno = errno;
  madvise(memory, words * sizeof(std::uint64_t), MADV_DONTNEED);
  errno = kept_errno;
}

namespace {

void write_text(Thread& thread, const char* text, std::size_t length) {
  for (std::size_t at = 0; at < length; at += sizeof(Slot)) {
    const std::size_t rest = length - at;
    __builtin_memcpy(thread.next++, text + at, rest < sizeof(Slot) ? rest : sizeof(Slot));
  }
}

}  // namespace

void record_text(Thread& thread, Op op, std::uint8_t small, std::uint64_t value,
                 std::uint64_t first, const char* text, std::size_t length) {
  advance(thread);
  settle(thread);
  if (length > 4000) length = 4000;
  if (!room_for(thread, 3 + (length + 15) / 16)) return;
  write(thread, op, small, value, 0);
  *thread.next++ = {.a = first, .b = length};
  write_text(thread, text, length);
}

void record_module(Thread& thread, Address bias, Address first, Address end, std::uint64_t flags,
                   const char* path) {
  advance(thread);
  settle(thread);
  const std::size_t length = __builtin_strlen(path);
  if (length > 4000 || !room_for(thread, 4 + (length + 15) / 16)) return;
  write(thread, Op::kModule, 0, bias, 0);
  *thread.next++ = {.a = first, .b = end};
  *thread.next++ = {.a = flags, .b = length};
  write_text(thread, path, length);
}

void record_object(Thread& thread, const Object& object) {
  advance(thread);
  settle(thread);
  if (!room_for(thread, 4)) return;
  write(thread, Op::kObject, 0, object.start, 0);
  *thread.next++ = {.a = object.size, .b = object.pc};
  *thread.next++ = {.a = object.caller, .b = thread.number};
}

void hand_back_chunk(Thread& thread) {
  settle(thread);
  if (thread.chunk == nullptr) return;
  if (thread.end - thread.next > 16) {
    const Guard guard(locks::rests);
    if (rest_count < kRests) {
      rests[rest_count++] = {.chunk = thread.chunk, .next = thread.next};
      thread.chunk = nullptr;
    }
  }
  if (thread.chunk != nullptr) munmap(thread.chunk, recording::kChunkSize);
  thread.chunk = thread.next = thread.end = nullptr;
  thread.run.slot = nullptr;
  thread.mark.slot = nullptr;
}

void forget_recording(Thread& thread) {
  header = nullptr;
  trace_file = -1;
  rest_count = 0;
  thread.chunk = thread.next = thread.end = nullptr;
  thread.run.slot = nullptr;
  thread.mark.slot = nullptr;
  thread.ended.fingerprint = 0;
  thread.last_stack = 0;
  __builtin_memset(thread.known_stacks, 0, sizeof(thread.known_stacks));
}

}  // namespace tomos::runtime
