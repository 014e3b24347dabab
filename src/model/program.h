// A Boolean program, compiled: what a thread can do next stands at its place in the code, and a
// state is a row of small numbers.
//
// The values of a state ("fields") are, in this order: the shared variables, an element of an array
// each; the owners of the locks (0: free, else thread + 1); for each thread its place in the code
// and its local variables; the monitor's (graph.h). A variable's value is kept as its distance from
// the least it can be.
//
// One statement is one step. Where an atomic block begins and ends is no step, but known of every
// place in the code and every edge.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "model/ast.h"

namespace tomos::model {

inline constexpr std::size_t kMostThreads = 16;
inline constexpr std::size_t kMostLocals = 64;    // of a thread
inline constexpr std::size_t kMostObjects = 256;  // variables, locks, conditions and threads

inline constexpr std::size_t kMostTracked = 64;  // variables in the monitor

using Value = std::uint16_t;
using Objects = std::bitset<kMostObjects>;

// Variables or locks that a piece of code may mean: one, or an element of an array.
struct Cell {
  bool local = false;
  std::uint16_t first = 0;  // field; of a local one: its number among the thread's
  std::uint16_t count = 1;
  std::int32_t index = -1;  // node; -1: there is only one
  Type type;
};

struct Node {
  enum class Op : std::uint8_t {
    kConstant,  // a
    kRead,      // cell a
    kNext,      // cell a after the step: only in a relation
    kAny,       // from a to b
    kNot,       // of node a; the others of nodes a, b, c
    kAnd,
    kOr,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kPlus,
    kMinus,
    kChoice,
  };
  Op op = Op::kConstant;
  std::int32_t a = 0;
  std::int32_t b = 0;
  std::int32_t c = 0;
};
using NodeOp = Node::Op;

struct Assignment {
  std::int32_t cell = 0;
  std::int32_t node = 0;
};

struct Edge {
  enum class Kind : std::uint8_t {
    kEntry,   // nobody takes it: from "not started" to where the thread begins
    kAssign,  // possible if the guard holds
    kAssert,
    kAcquire,
    kHeld,  // possible if the lock is not free
    kRelease,
    kStart,
    kJoin,
    kWait,      // releases the lock and goes to a place that is left only when notified
    kNotified,  // nobody takes it: where a notified thread goes on
    kNotify,
    kNotifyAll,
    kRelation,  // the assignments, if the guard holds of the values before and after
  };
  Kind kind = Kind::kAssign;
  bool free = false;     // the guard is `*`, and another edge is there for the other outcome
  bool ends = false;     // the transaction is over with this step
  bool last = false;     // no access of the transaction comes after this step
  bool narrows = false;  // less may come after it than before
  std::uint16_t target = 0;
  std::int32_t guard = -1;
  std::vector<Assignment> assignments;
  std::int32_t object = -1;            // a lock: cell; a condition: its number
  std::vector<std::uint16_t> threads;  // to start or to join
  std::int32_t touched = -1;           // of a relation: the cell of its access
  bool writes = false;                 // what the relation does to it
  std::uint64_t dies =
      0;  // local variables that may have a value here and that nobody asks for afterwards
  Place place;
};

// What static analysis knows of a place (facts.h).
struct Facts {
  Objects reads;  // that the next step may do
  Objects writes;
  Objects future_reads;  // that may come from here on
  Objects future_writes;
  Objects locks;  // held here for sure
  // By object: locks held at every access to it that may come, and at every write. Empty: unknown.
  std::vector<Objects> access_guards;
  std::vector<Objects> write_guards;
  std::uint64_t live = 0;       // local variables whose value may still be asked for
  bool may_reduce = false;      // the step leads forward, and is of a kind that can be independent
  bool touches_no_more = true;  // no access of the transaction is left
  bool one_way = false;  // there is at most one step to take, and it changes nothing if it fails
  bool forks = false;    // there are two steps to take, whatever holds
};

struct Location {
  std::vector<Edge> edges;
  std::uint32_t block = 0;  // the atomic block; 0: none
  bool assumes = false;     // waits until a condition holds
  std::int32_t waits = -1;  // for this condition
  Place place;
  Facts facts;
};

inline constexpr std::uint16_t kNotStarted = 0;  // places in every code
inline constexpr std::uint16_t kEnded = 1;

// The code of a thread, or of several that do the same.
struct Code {
  std::vector<Location> locations;
  std::vector<Type> locals;
  std::vector<Value> initial;  // of the locals
};

struct Variable {
  std::string name;
  Type type;
  Value initial = 0;
  bool any_initial = false;
  bool hidden = false;        // no event tells of it
  std::int32_t tracked = -1;  // its number in the monitor; -1: nothing can conflict
};

struct ThreadInfo {
  std::string name;
  std::uint16_t code = 0;
  std::uint16_t field = 0;  // its place; its local variables follow
  std::uint16_t group = 0;  // threads of one group can change places
  bool started = true;      // from the beginning
};

struct AtomicBlock {
  std::string label;
  Place place;
};

// What was made from other source: where a line comes from, and what things are called there.
struct Origin {
  std::string file;
  Place place;  // line 0: from nowhere
};

struct Program {
  std::string file;
  std::vector<Origin> origins;      // by line; none: the program is its own source
  std::vector<Variable> variables;  // by field
  std::vector<std::string> locks;
  std::vector<std::string> conditions;
  std::vector<Code> codes;
  std::vector<ThreadInfo> threads;
  std::vector<AtomicBlock> blocks;  // [0]: none
  std::vector<Cell> cells;
  std::vector<Node> nodes;
  std::int32_t initial = -1;  // node: what must hold of the first state

  std::size_t first_lock = 0;          // field
  std::size_t fields = 0;              // without the monitor
  std::vector<std::uint16_t> tracked;  // variables that the monitor knows

  // Numbers of objects, for Facts.
  std::size_t lock_object(std::size_t lock) const { return variables.size() + lock; }
  std::size_t condition_object(std::size_t condition) const {
    return lock_object(locks.size()) + condition;
  }
  std::size_t thread_object(std::size_t thread) const {
    return condition_object(conditions.size()) + thread;
  }
  std::size_t objects() const { return thread_object(threads.size()); }

  Origin origin(Place place) const {
    const bool elsewhere = place.line < origins.size() && origins[place.line].place.line != 0;
    return elsewhere ? origins[place.line] : Origin{.file = file, .place = place};
  }
};

}  // namespace tomos::model
