// A recording: what the runtime in the program under test writes, and recording.h reads.
//
// One file a process: a header page, then chunks of one size. A chunk is a row of 16-byte slots; a
// slot of zeros ends it. The first slot is kThread, whose chunk it is; another kThread further on
// hands the rest of the chunk to another thread. A thread's chunks follow one another in the order
// of the file, but for the one it is writing: that one is open (its first slot says so), mapped,
// and written in place, so that nothing is lost when the process is killed. When it is full it is
// copied to a chunk of its own further on, and begun again. A process killed in between leaves it
// twice.
//
// Addresses, not names: naming is the reader's work. The order between threads is by stamp (see
// runtime/clock.h): exact where synchronisation orders, as good as the processor's clock elsewhere.
//
// This header is also compiled into the runtime: no dependencies, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tomos::recording {

inline constexpr std::uint64_t kMagic = 0x0a4345524f4d4f54;  // "TOMOREC\n"
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kHeaderSize = 4096;
inline constexpr std::size_t kChunkSize = 65536;
inline constexpr std::size_t kSlotsPerChunk = kChunkSize / 16;
// The lock that stands for transactions has the address of no other.
inline constexpr std::uint64_t kAllTransactions = 16;

enum class Ending : std::uint32_t {
  kRunning = 0,  // also: killed
  kExited = 1,   // through exit() or a return from main
  kExec = 2,     // replaced by another program
};

enum Filtered : std::uint64_t {
  kAll = 0,
  kNoRepeats = 1,     // no repeated and thread-local accesses
  kDistinctOnly = 2,  // nor transactions that the thread has on record already
};

struct Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t pid;
  std::uint64_t next_chunk;  // offset in the file of the next chunk to hand out
  std::uint64_t lost;        // 1: the disk was full at some point; nothing was recorded after it
  Ending ending;
  std::uint32_t parent_pid;  // of a forked child: the process it was forked from; 0 otherwise
  std::uint64_t start;       // stamp of the first moment
  std::uint64_t filtered;    // what is not here: see Filtered
};
static_assert(sizeof(Header) == 56 && sizeof(Header) <= kHeaderSize);

// The operations. "a" and "b" are the two words of the slot. Unless said otherwise b is
// {delta:16, pc:48}: the stamp is the thread's last stamp + delta, pc the place in the program (a
// return address: the call stands before it; 0: unknown).
enum class Op : std::uint8_t {
  kNone = 0,  // end of the chunk
  kThread,  // a: thread number (0 is the main thread), small: 1 in the first slot of an open chunk.
            // b: the whole stamp
  kTime,    // b: the whole stamp
  kRead,    // a: address, small: size in bytes
  kWrite,   // the same
  kReadRange,   // a: address; then an extra slot {length in bytes, 0}
  kWriteRange,  // the same
  kReadRun,     // a: first address, small: size; then {count, stride in bytes as int64}
  kWriteRun,    // the same
  kTouched,  // a: first address, small: size of an element; then {pc of reads, pc of writes}, then
             // four bitmaps of kTouchedElements bits: elements that were read, read once more,
             // written, written once more. Each counts as made here, whatever else the thread
             // did meanwhile
  kAtomicRead,    // a: address, small: size
  kAtomicWrite,   // the same
  kAtomicUpdate,  // the same: a read and a write that nothing can cut
  kAcquire,       // a: address of the lock, small: 1 if it was tried for and not waited for
  kRelease,
  kReadAcquire,
  kReadRelease,
  kDestroy,  // a: address of a lock that is no more: the same address is another lock from here
  kFork,     // a: number of the new thread
  kJoin,     // a: number of the thread that has ended
  kBarrier,  // a: address of the barrier; then {number of threads that meet, 0}
  kBegin,    // a: label number. A transaction begins
  kEnd,      // it ends
  kFree,     // a: address; then {length, 0}: the memory is no more, the same address is another
             // variable from here
  kExit,     // the thread has ended
  kSignal,   // a: address of an object that orders: what was before is before ...
  kWait,     // ... what comes after a wait for the same object. small, of both: see Order
  kStack,    // a: stack id, small: frames that follow, two a slot, innermost first; 0: known
             // already. The stack of the thread for the events after it: return addresses
  kObject,   // a: address of a heap object that has escaped; then {length, pc of the allocation};
             // then {pc of the call of the function that allocated it, or 0; number of the thread}
  kLabel,    // a: label number, small: Label flags; then {line, bytes of text}, then the text,
             // zero-padded: name, a zero byte, file
  kModule,   // a: where it is loaded (what to subtract from an address to get one of the file);
             // then {first address, end}, then {flags, bytes of text}, then the path
  kThreadName,  // a: thread number; then {0, bytes of text}, then the text
  kNote,        // small: Note; then {address or 0, bytes of text}, then the text
};
inline constexpr std::size_t kOpCount = 33;
inline constexpr std::size_t kTouchedElements = 512;
inline constexpr std::size_t kTouchedSlots = 1 + 4 * kTouchedElements / 128;  // behind the first

enum class Note : std::uint8_t {
  kSynchronises,  // an uninstrumented library that locks or makes threads. Text: its path
  kWaits,         // what has this label waits on a condition and is no transaction, nor was it
                  // before. Address: the label's number. Text: its name; none if it is no
                  // transaction because it leaves with a lock
  kTest,          // a GoogleTest test begins (text: its full name), or ends (no text)
  kCutOff,        // of large heap objects only the start was looked at. Address: how many bytes
};

// What a kSignal or kWait is about.
enum Order : std::uint8_t {
  kPlainOrder = 0,  // every wait comes after all signals before it
  kCondition = 1,   // a condition variable
  kSemaphore = 2,   // or more. kSignal: it gives so many tokens more than one. kWait: it took one,
                    // and so many more were left
  kManyLeft = 255,  // a semaphore; kWait: that many or more
};

// Heap objects above this size are taken for arrays, whose elements are all alike.
inline constexpr std::size_t kArraySize = 16384;

enum LabelFlags : std::uint8_t { kFunctionLabel = 0, kCriticalSection = 1, kScopeLabel = 2 };
enum ModuleFlags : std::uint64_t { kInstrumented = 1 };

struct Slot {
  std::uint64_t a;
  std::uint64_t b;
};
static_assert(sizeof(Slot) == 16);

// a: op:8 small:8 value:48
constexpr std::uint64_t pack_a(Op op, std::uint8_t small, std::uint64_t value) {
  return static_cast<std::uint64_t>(op) << 56 | static_cast<std::uint64_t>(small) << 48 |
         (value & 0xffff'ffff'ffff);
}
constexpr Op op_of(std::uint64_t a) { return static_cast<Op>(a >> 56); }
constexpr std::uint8_t small_of(std::uint64_t a) { return static_cast<std::uint8_t>(a >> 48); }
constexpr std::uint64_t value_of(std::uint64_t a) { return a & 0xffff'ffff'ffff; }
constexpr std::uint64_t pack_b(std::uint16_t delta, std::uint64_t pc) {
  return static_cast<std::uint64_t>(delta) << 48 | (pc & 0xffff'ffff'ffff);
}
constexpr std::uint16_t delta_of(std::uint64_t b) { return static_cast<std::uint16_t>(b >> 48); }
constexpr std::uint64_t pc_of(std::uint64_t b) { return b & 0xffff'ffff'ffff; }

}  // namespace tomos::recording
