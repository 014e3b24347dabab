// Raw traces: what threads do, as the runtime is told of it.
//
// They are kept as events, so that what makes traces smaller works on them too, with more in each
// than an event of a trace has: `count` is its place in the program (its pc; for a begin also its
// label), and `spare` is the form of an access. `location` and the label of a begin mean nothing.
// deliver() makes the trace of it that the analyses read.
#pragma once

#include <cstdint>
#include <string>

#include "event/error.h"
#include "event/event.h"
#include "event/names.h"
#include "oracle/generator.h"

namespace tomos::filter {

using oracle::Trace;
using Raw = Trace;

enum class Form : std::uint8_t {
  kPlain,
  kWide,    // one access to both variables of a cell
  kAtomic,  // an atomic load or store
  kUpdate,  // an atomic read-modify-write; its op is kWrite
};

// Two variables, each half of it, lie in a cell. Most programs use only the first.
constexpr std::uint32_t cell_of(VariableId variable) { return variable / 2; }
constexpr VariableId beside(VariableId variable) { return variable ^ 1U; }

inline constexpr std::uint32_t kMaxVariables = 32;
inline constexpr std::uint32_t kMaxLocks = 16;

// The locks that stand for a variable's atomic operations: one for each of its lives between frees.
inline constexpr std::uint32_t kMaxLives = 150;
constexpr LockId atomic_lock(VariableId variable, std::uint32_t life) {
  return kMaxLocks + kMaxLives * variable + (life < kMaxLives ? life : kMaxLives - 1);
}
constexpr VariableId variable_of(LockId atomic) { return (atomic - kMaxLocks) / kMaxLives; }

inline Form form_of(const Event& raw) { return static_cast<Form>(raw.spare); }

// The trace. An atomic operation is an access under a lock that belongs to the variable, taken for
// reading or for writing.
Trace deliver(const Raw& raw);

// Names of everything in delivered random traces: T0, V0.a and V0.b for the variables of a cell.
const Names& names();

// The raw trace of which a file is the delivery: what deliver() makes of wide and atomic accesses
// is recognized by the names. The names become those of random traces.
Result<Raw> read_raw(const std::string& path);

std::string to_std(const Trace& delivered);

}  // namespace tomos::filter
