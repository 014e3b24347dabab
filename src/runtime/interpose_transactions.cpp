// Transactions of GCC's -fgnu-tm: critical sections of one lock.
//
// GCC compiles a transaction twice: with a call of libitm for each access, and plainly, to run when
// no other transaction does. That is what happens here: to begin one takes the lock, and the plain
// code is chosen. It is instrumented like any other, with the functions that it calls, and nothing
// is ever undone: libitm has no part in it.
//
// It has where a transaction can be cancelled, since that must be undone, and in a program that can
// tell the difference: one that cancels some, or asks libitm about them. The lock is taken all the
// same, and the accesses are told here, from the calls of libitm.
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/interpose.h"
#include "schedule/operations.h"
#include "trace/recording_format.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

TOMOS_REAL(int, pthread_mutex_lock, pthread_mutex_t*);
TOMOS_REAL(int, pthread_mutex_unlock, pthread_mutex_t*);
TOMOS_REAL(std::uint32_t, _ITM_beginTransaction, std::uint32_t, ...);

namespace {

constinit pthread_mutex_t all_transactions = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

// As what it is recorded: reports call it by name.
const void* recorded_lock() {
  return reinterpret_cast<const void*>(tomos::recording::kAllTransactions);
}

// Properties of a transaction, section 5.2 of Intel's transactional memory ABI.
constexpr std::uint32_t kPlainCode = 0x2;
constexpr std::uint32_t kNeverCancelled = 0x8;
// What a begin returns.
constexpr std::uint64_t kRunPlainCode = 0x2;
// A reason to abort: also the transactions around it.
constexpr std::uint32_t kOuterToo = 0x10;

// Those that the thread is in; the lowest bit is for the innermost: whether libitm runs it.
thread_local constinit std::uint32_t transaction_depth = 0;
thread_local constinit std::uint64_t run_by_libitm = 0;

enum class Needed : std::uint8_t { kUnknown, kNo, kYes };
constinit std::atomic<Needed> libitm_needed = Needed::kUnknown;

bool needs_libitm() {
  Needed known = libitm_needed.load(std::memory_order_relaxed);
  if (known == Needed::kUnknown) {
    known = depends_on_libitm() ? Needed::kYes : Needed::kNo;
    libitm_needed.store(known, std::memory_order_relaxed);
  }
  return known == Needed::kYes;
}

struct Begin {
  std::uint64_t result;
  void* real;  // to be called instead, if it is not nullptr
};

}  // namespace

// In a register each.
extern "C" [[gnu::used]] __attribute__((visibility("hidden"))) Begin
tomos_transaction_begins(std::uint32_t properties, Address pc) {
  if (schedule::controlled()) {
    schedule::lock_mutex(&all_transactions, schedule::kNever, pc);
  } else {
    REAL(pthread_mutex_lock)(&all_transactions);
  }
  if (!inside()) acquired(recorded_lock(), LockMode::kWrite, pc);
  constexpr std::uint32_t kBoth = kPlainCode | kNeverCancelled;
  const bool by_libitm = (properties & kBoth) != kBoth || needs_libitm();
  ++transaction_depth;
  run_by_libitm = run_by_libitm << 1 | (by_libitm ? 1 : 0);
  if (!by_libitm) return {.result = kRunPlainCode, .real = nullptr};
  if (real__ITM_beginTransaction.address == nullptr) resolve_libitm();
  return {.result = 0, .real = real__ITM_beginTransaction.address};
}

// libitm's returns once more, to the same place, when the transaction is cancelled: so there must
// be no frame of ours in between. The scheduler unwinds the stack through here.
TOMOS_EXPORT [[gnu::naked]] std::uint32_t _ITM_beginTransaction(std::uint32_t, ...) {
  asm volatile(
      "movq (%rsp), %rsi\n"
      "pushq %rdi\n"
      ".cfi_adjust_cfa_offset 8\n"
      "call tomos_transaction_begins\n"
      "popq %rdi\n"
      ".cfi_adjust_cfa_offset -8\n"
      "testq %rdx, %rdx\n"
      "jz 1f\n"
      "jmpq *%rdx\n"
      "1: ret\n");
}

namespace {

// Whether libitm has run it.
bool leave_transaction() {
  const bool by_libitm = (run_by_libitm & 1) != 0;
  run_by_libitm >>= 1;
  --transaction_depth;
  return by_libitm;
}

template <class Commit>
void commit(Address pc, Commit by_libitm) {
  if (!inside()) releasing(recorded_lock(), LockMode::kWrite, pc);
  if (leave_transaction()) by_libitm();
  if (schedule::controlled()) {
    schedule::unlock_mutex(&all_transactions, pc);
  } else {
    REAL(pthread_mutex_unlock)(&all_transactions);
  }
}

}  // namespace

TOMOS_INTERPOSE(void, _ITM_commitTransaction) {
  commit(TOMOS_CALLER(), [] { REAL(_ITM_commitTransaction)(); });
}
TOMOS_INTERPOSE(void, _ITM_commitTransactionEH, void* exception) {
  commit(TOMOS_CALLER(), [&] { REAL(_ITM_commitTransactionEH)(exception); });
}
// The lock is given back first, since libitm does not come back. Others that take it now wait for
// libitm, and under the scheduler nobody runs before this thread has done the rest.
TOMOS_INTERPOSE(void, _ITM_abortTransaction, std::uint32_t reason) {
  const std::uint32_t left = (reason & kOuterToo) != 0 ? 0 : transaction_depth - 1;
  while (transaction_depth > left) {
    if (!inside()) releasing(recorded_lock(), LockMode::kWrite, TOMOS_CALLER());
    leave_transaction();
    REAL(pthread_mutex_unlock)(&all_transactions);
    if (schedule::controlled()) schedule::lock_given_back_to_wait(&all_transactions);
  }
  REAL(_ITM_abortTransaction)(reason);
}

// --- Accesses. After others in the same transaction (RaR and so on) they are accesses all the
// same.

namespace {

void tell_transactional(schedule::Kind kind, const void* address, std::size_t size, Address pc) {
  if (schedule::accesses_wanted) {
    schedule::access(kind, address, static_cast<std::uint32_t>(size), pc);
  }
  const Teller teller(pc);
  if (kind == schedule::Kind::kRead) {
    teller.reads(address, size);
  } else {
    teller.writes(address, size);
  }
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): types and parts of names
#define TOMOS_ITM_READ(name, type)                                                    \
  TOMOS_INTERPOSE(type, _ITM_##name, const type* address) {                           \
    tell_transactional(schedule::Kind::kRead, address, sizeof(type), TOMOS_CALLER()); \
    return REAL(_ITM_##name)(address);                                                \
  }
#define TOMOS_ITM_WRITE(name, type)                                                    \
  TOMOS_INTERPOSE(void, _ITM_##name, type* address, type value) {                      \
    tell_transactional(schedule::Kind::kWrite, address, sizeof(type), TOMOS_CALLER()); \
    REAL(_ITM_##name)(address, value);                                                 \
  }
// RaR: a read of what the transaction has read before; RfW: of what it will write; and so on.
#define TOMOS_ITM_ACCESSES(code, type) \
  TOMOS_ITM_READ(R##code, type)        \
  TOMOS_ITM_READ(RaR##code, type)      \
  TOMOS_ITM_READ(RaW##code, type)      \
  TOMOS_ITM_READ(RfW##code, type)      \
  TOMOS_ITM_WRITE(W##code, type)       \
  TOMOS_ITM_WRITE(WaR##code, type)     \
  TOMOS_ITM_WRITE(WaW##code, type)

using Vector64 = int __attribute__((vector_size(8)));
using Vector128 = float __attribute__((vector_size(16)));
TOMOS_ITM_ACCESSES(U1, std::uint8_t)
TOMOS_ITM_ACCESSES(U2, std::uint16_t)
TOMOS_ITM_ACCESSES(U4, std::uint32_t)
TOMOS_ITM_ACCESSES(U8, std::uint64_t)
TOMOS_ITM_ACCESSES(F, float)
TOMOS_ITM_ACCESSES(D, double)
TOMOS_ITM_ACCESSES(E, long double)
TOMOS_ITM_ACCESSES(M64, Vector64)
TOMOS_ITM_ACCESSES(M128, Vector128)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
TOMOS_ITM_ACCESSES(CF, _Complex float)
TOMOS_ITM_ACCESSES(CD, _Complex double)
TOMOS_ITM_ACCESSES(CE, _Complex long double)
#pragma clang diagnostic pop

#define TOMOS_ITM_COPY(name)                                                         \
  TOMOS_INTERPOSE(void, _ITM_##name, void* to, const void* from, std::size_t size) { \
    tell_transactional(schedule::Kind::kRead, from, size, TOMOS_CALLER());           \
    tell_transactional(schedule::Kind::kWrite, to, size, TOMOS_CALLER());            \
    REAL(_ITM_##name)(to, from, size);                                               \
  }
// Source and target: n is memory of this thread only.
#define TOMOS_ITM_COPIES(function)   \
  TOMOS_ITM_COPY(function##RnWt)     \
  TOMOS_ITM_COPY(function##RnWtaR)   \
  TOMOS_ITM_COPY(function##RnWtaW)   \
  TOMOS_ITM_COPY(function##RtWn)     \
  TOMOS_ITM_COPY(function##RtWt)     \
  TOMOS_ITM_COPY(function##RtWtaR)   \
  TOMOS_ITM_COPY(function##RtWtaW)   \
  TOMOS_ITM_COPY(function##RtaRWn)   \
  TOMOS_ITM_COPY(function##RtaRWt)   \
  TOMOS_ITM_COPY(function##RtaRWtaR) \
  TOMOS_ITM_COPY(function##RtaRWtaW) \
  TOMOS_ITM_COPY(function##RtaWWn)   \
  TOMOS_ITM_COPY(function##RtaWWt)   \
  TOMOS_ITM_COPY(function##RtaWWtaR) \
  TOMOS_ITM_COPY(function##RtaWWtaW)
TOMOS_ITM_COPIES(memcpy)
TOMOS_ITM_COPIES(memmove)

#define TOMOS_ITM_FILL(name)                                                  \
  TOMOS_INTERPOSE(void, _ITM_##name, void* to, int value, std::size_t size) { \
    tell_transactional(schedule::Kind::kWrite, to, size, TOMOS_CALLER());     \
    REAL(_ITM_##name)(to, value, size);                                       \
  }
TOMOS_ITM_FILL(memsetW)
TOMOS_ITM_FILL(memsetWaR)
TOMOS_ITM_FILL(memsetWaW)
// NOLINTEND(bugprone-macro-parentheses)
