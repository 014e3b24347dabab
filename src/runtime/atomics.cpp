// Atomic operations: what both compilers make of std::atomic, _Atomic and the __atomic and __sync
// built-ins under -fsanitize=thread.
//
// Each is done for real, in at least the order asked for: the processor's locked operations are
// sequentially consistent anyway, so only a store looks at its order. What has a release's effect
// is told before, what has an acquire's after.
#include <cstdint>

#include "runtime/guards.h"
#include "runtime/interpose.h"
#include "schedule/control.h"

using namespace tomos::runtime;
namespace schedule = tomos::schedule;

namespace {

// GCC adds flags above the six orders.
constexpr int kOrderMask = 0x7fff;

__extension__ using Wide = unsigned __int128;

// libatomic would do these, but is not always there.
bool wide_compare_exchange(volatile Wide* place, Wide* expected, Wide desired) {
  auto low = static_cast<std::uint64_t>(*expected);
  auto high = static_cast<std::uint64_t>(*expected >> 64);
  bool done = false;
  asm volatile("lock cmpxchg16b %[place]"
               : [place] "+m"(*place), "+a"(low), "+d"(high), "=@ccz"(done)
               : "b"(static_cast<std::uint64_t>(desired)),
                 "c"(static_cast<std::uint64_t>(desired >> 64))
               : "memory");
  *expected = Wide{high} << 64 | low;
  return done;
}

template <class Value>
struct Atomic {
  static Value load(const volatile Value* place) {
    return __atomic_load_n(place, __ATOMIC_SEQ_CST);
  }
  static void store(volatile Value* place, Value value, int order) {
    if (order == __ATOMIC_RELAXED || order == __ATOMIC_RELEASE) {
      __atomic_store_n(place, value, __ATOMIC_RELEASE);
    } else {
      __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
    }
  }
  static bool compare_exchange(volatile Value* place, Value* expected, Value desired) {
    return __atomic_compare_exchange_n(place, expected, desired, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
  }
  template <class Operation>
  static Value update(volatile Value* place, Value operand, Operation) {
    return Operation::narrow(place, operand);
  }
};

template <>
struct Atomic<Wide> {
  // Also writes, what it found: there is no other way to read sixteen bytes at once everywhere.
  static Wide load(const volatile Wide* place) {
    Wide found = 0;
    wide_compare_exchange(const_cast<volatile Wide*>(place), &found, 0);
    return found;
  }
  static void store(volatile Wide* place, Wide value, int /*order*/) {
    Wide found = 0;
    while (!wide_compare_exchange(place, &found, value)) {
    }
  }
  static bool compare_exchange(volatile Wide* place, Wide* expected, Wide desired) {
    return wide_compare_exchange(place, expected, desired);
  }
  template <class Operation>
  static Wide update(volatile Wide* place, Wide operand, Operation) {
    Wide found = 0;
    while (!wide_compare_exchange(place, &found, Operation::result(found, operand))) {
    }
    return found;
  }
};

// The read-modify-write operations: `narrow` does it at once, `result` is what it makes of a value.
#define TOMOS_OPERATION(Name, builtin, expression)                                     \
  struct Name {                                                                        \
    template <class Value>                                                             \
    static Value narrow(volatile Value* place, Value operand) {                        \
      return builtin(place, operand, __ATOMIC_SEQ_CST);                                \
    }                                                                                  \
    static Wide result([[maybe_unused]] Wide old, Wide operand) { return expression; } \
  }
TOMOS_OPERATION(Exchange, __atomic_exchange_n, operand);
TOMOS_OPERATION(Add, __atomic_fetch_add, old + operand);
TOMOS_OPERATION(Subtract, __atomic_fetch_sub, old - operand);
TOMOS_OPERATION(And, __atomic_fetch_and, old& operand);
TOMOS_OPERATION(Or, __atomic_fetch_or, old | operand);
TOMOS_OPERATION(Xor, __atomic_fetch_xor, old ^ operand);
TOMOS_OPERATION(Nand, __atomic_fetch_nand, ~(old& operand));

// --- The same with what is told, and under control of the scheduler.

void take_turn(const volatile void* place, std::uint32_t size, AtomicKind kind, Address pc) {
  if (!schedule::controlled()) return;
  schedule::access(
      kind == AtomicKind::kRead ? schedule::Kind::kAtomicRead : schedule::Kind::kAtomicWrite, place,
      size, pc);
}

template <class Value>
Value load(const volatile Value* place, int order, Address pc) {
  order &= kOrderMask;
  if constexpr (sizeof(Value) == 1) {
    if (order == __ATOMIC_ACQUIRE) {
      const Value guard = Atomic<Value>::load(place);
      if (guard != 0 && waited_for_guard(place, pc)) return guard;
    }
  }
  take_turn(place, sizeof(Value), AtomicKind::kRead, pc);
  atomic_before(place, AtomicKind::kRead, order);
  const Value value = Atomic<Value>::load(place);
  atomic_after(place, sizeof(Value), AtomicKind::kRead, order, pc);
  return value;
}

template <class Value>
void store(volatile Value* place, Value value, int order, Address pc) {
  order &= kOrderMask;
  take_turn(place, sizeof(Value), AtomicKind::kWrite, pc);
  atomic_before(place, AtomicKind::kWrite, order);
  Atomic<Value>::store(place, value, order);
  atomic_after(place, sizeof(Value), AtomicKind::kWrite, order, pc);
}

template <class Operation, class Value>
Value update(volatile Value* place, Value operand, int order, Address pc) {
  order &= kOrderMask;
  take_turn(place, sizeof(Value), AtomicKind::kUpdate, pc);
  atomic_before(place, AtomicKind::kUpdate, order);
  const Value old = Atomic<Value>::update(place, operand, Operation{});
  atomic_after(place, sizeof(Value), AtomicKind::kUpdate, order, pc);
  return old;
}

template <class Value>
bool compare_exchange(volatile Value* place, Value* expected, Value desired, int order,
                      int failure_order, Address pc) {
  order &= kOrderMask;
  take_turn(place, sizeof(Value), AtomicKind::kUpdate, pc);
  atomic_before(place, AtomicKind::kUpdate, order);
  const bool done = Atomic<Value>::compare_exchange(place, expected, desired);
  if (done) {
    atomic_after(place, sizeof(Value), AtomicKind::kUpdate, order, pc);
  } else {
    atomic_after(place, sizeof(Value), AtomicKind::kRead, failure_order & kOrderMask, pc);
  }
  return done;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is a type.
#define TOMOS_UPDATE(bits, Value, name, Operation)                                      \
  TOMOS_EXPORT Value __tsan_atomic##bits##_##name(volatile Value* place, Value operand, \
                                                  int order) {                          \
    return update<Operation>(place, operand, order, TOMOS_CALLER());                    \
  }

// A weak compare-exchange may fail for no reason; ours never does.
#define TOMOS_ATOMICS(bits, Value)                                                               \
  TOMOS_EXPORT Value __tsan_atomic##bits##_load(const volatile Value* place, int order) {        \
    return load(place, order, TOMOS_CALLER());                                                   \
  }                                                                                              \
  TOMOS_EXPORT void __tsan_atomic##bits##_store(volatile Value* place, Value value, int order) { \
    store(place, value, order, TOMOS_CALLER());                                                  \
  }                                                                                              \
  TOMOS_UPDATE(bits, Value, exchange, Exchange)                                                  \
  TOMOS_UPDATE(bits, Value, fetch_add, Add)                                                      \
  TOMOS_UPDATE(bits, Value, fetch_sub, Subtract)                                                 \
  TOMOS_UPDATE(bits, Value, fetch_and, And)                                                      \
  TOMOS_UPDATE(bits, Value, fetch_or, Or)                                                        \
  TOMOS_UPDATE(bits, Value, fetch_xor, Xor)                                                      \
  TOMOS_UPDATE(bits, Value, fetch_nand, Nand)                                                    \
  TOMOS_EXPORT int __tsan_atomic##bits##_compare_exchange_strong(                                \
      volatile Value* place, Value* expected, Value desired, int order, int failure_order) {     \
    return compare_exchange(place, expected, desired, order, failure_order, TOMOS_CALLER());     \
  }                                                                                              \
  TOMOS_EXPORT int __tsan_atomic##bits##_compare_exchange_weak(                                  \
      volatile Value* place, Value* expected, Value desired, int order, int failure_order) {     \
    return compare_exchange(place, expected, desired, order, failure_order, TOMOS_CALLER());     \
  }                                                                                              \
  TOMOS_EXPORT Value __tsan_atomic##bits##_compare_exchange_val(                                 \
      volatile Value* place, Value expected, Value desired, int order, int failure_order) {      \
    compare_exchange(place, &expected, desired, order, failure_order, TOMOS_CALLER());           \
    return expected;                                                                             \
  }

// NOLINTEND(bugprone-macro-parentheses)

TOMOS_ATOMICS(8, std::uint8_t)
TOMOS_ATOMICS(16, std::uint16_t)
TOMOS_ATOMICS(32, std::uint32_t)
TOMOS_ATOMICS(64, std::uint64_t)
TOMOS_ATOMICS(128, Wide)

TOMOS_EXPORT void __tsan_atomic_thread_fence(int order) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  fence(order & kOrderMask);
}
TOMOS_EXPORT void __tsan_atomic_signal_fence(int /*order*/) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
