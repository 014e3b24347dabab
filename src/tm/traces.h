// What the threads of a program do in transactions, by symbolic execution.
//
// Lourenço, Sousa, Teixeira and Dias, "Detecting concurrency anomalies in transactional memory
// programs", section 3.3: from every thread's entry point all ways through the program are
// followed, calls are replaced by what they call, and each loop is taken not at all or twice. The
// paper keeps a tree of transactions with a node for every disjunction. What is asked of the tree
// is which transactions can follow each other, and that we keep instead: at every point the set
// of transactions that can be the last. It has the tree's answers without its size.
//
// Beyond the paper: along the way pointers are followed to the objects that they lead to (points-to
// with a copy of each object for every chain of calls), values carry the reads that they depend on,
// and it is known which threads may run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tm/locations.h"
#include "tm/methods.h"
#include "tm/program.h"

namespace tomos::tm {

using TransactionId = std::uint32_t;
using ThreadId = std::uint32_t;  // an entry point, and where it is made a thread

// A lock, and where it was taken.
struct Hold {
  LocationId lock = {};
  std::uint32_t number = 0;  // one for each place of the source and the last calls that lead there
  bool sure = true;          // no: this lock or another of the same number
  bool shared = false;       // as a reader: keeps out only who has it for itself

  friend auto operator<=>(const Hold&, const Hold&) = default;
};

// One piece of code in one chain of calls of one thread.
struct Transaction {
  NodeId node = kNoNode;
  Position position;
  Position end;
  std::string function;     // that it is in, for people
  std::uint32_t frame = 0;  // where it begins
  std::uint32_t home =
      0;  // the activation of `function`: a caller, if that is what the locking is for
  ThreadId thread = 0;
  std::map<LocationId, Position> reads;
  std::map<LocationId, Position> writes;
  Few<LocationId> seen;  // that it reads not only to count on
  // An element that was read, and what said which: if that is moved on here, too, the element was
  // taken and is nobody else's.
  std::map<LocationId, Few<LocationId>> chosen_by;
  // Of critical sections: the locks that were held where it was read, or written.
  std::map<std::pair<LocationId, bool>, Few<Hold>> holds;
  std::map<LocationId, Few<LocationId>> asked;  // by what it writes: what it reads to decide that
  bool waits = false;   // it begins with a wait for a condition, in a loop that asks for it
  Few<ThreadId> alive;  // threads that may run beside it, as far as its own thread made them
};

// What `from` read at `location` matters to `to`.
struct Flow {
  enum class Kind : std::uint8_t {
    kValue,    // it becomes a part of what is written to `into`
    kAddress,  // it says where
    kControl,  // it says whether
  };
  TransactionId from = 0;
  LocationId location = {};
  TransactionId to = 0;
  Kind kind = Kind::kControl;
  LocationId into = {};
  // What else `from` read, and `to` knows to be the same still: a version.
  Few<LocationId> validated;

  friend auto operator<=>(const Flow&, const Flow&) = default;
  struct Hash {
    std::size_t operator()(const Flow& of) const;
  };
};

// A transaction uses what it read at two locations together.
struct Together {
  TransactionId transaction = 0;
  LocationId one = {};  // the smaller
  LocationId other = {};

  struct Hash {
    std::size_t operator()(const Together& of) const;
  };
  static Together of(TransactionId transaction, LocationId one, LocationId other) {
    return {.transaction = transaction, .one = std::min(one, other), .other = std::max(one, other)};
  }
  friend bool operator==(const Together&, const Together&) = default;
};

struct Access {
  LocationId location = {};
  bool writes = false;
  bool in_transaction = false;
  Position position;
  ThreadId thread = 0;
  std::string function;
  Few<LocationId> locks;  // surely held
  Few<LocationId> sole;   // of these, not as one of several readers
  bool taken = false;     // of an object that a transaction took out for this thread
  Few<ThreadId> alive;
};

// A function as it is called at one place by one caller.
struct Frame {
  std::uint32_t parent = 0;  // itself: a thread's entry point
  std::uint32_t function = 0;
  Position call;
  NodeId call_node = kNoNode;
  ThreadId thread = 0;
};

struct Thread {
  std::string function;  // for people
  Position position;     // where it is made; none: main, or an entry point that was named
  Few<ThreadId> makes;
};

// What was cut short, and where: there may be more to find.
struct Bounded {
  std::set<NodeId> last;       // transactions that too many can come before; they are of this code
  std::set<LocationId> reads;  // variables that values rest on too many reads of
  bool deep = false;           // chains of calls
  bool steps = false;          // of all rounds
};

struct Traces {
  std::vector<Transaction> transactions;
  std::set<std::pair<TransactionId, TransactionId>> adjacent;
  std::vector<Flow> flows;  // in order, each once
  // Pairs of which something that was read in one and something that was read in the other are
  // used together.
  std::set<std::pair<TransactionId, TransactionId>> meet;
  std::unordered_set<Together, Together::Hash> together;
  // Of what a transaction read: conditions that led there, by what they asked in it. That, too, is
  // used together, but as pairs it would be too much of a section that is large.
  std::map<std::pair<TransactionId, LocationId>, Few<std::uint32_t>> led_by;
  std::vector<Few<LocationId>> conditions;
  std::vector<Access> accesses;  // of locations that several threads know
  std::vector<Thread> threads;
  std::vector<Frame> frames;
  std::set<std::pair<ThreadId, ThreadId>> parallel;  // neither made the other; both orders
  Locations locations;
  bool sections = false;  // transactions are critical sections: each keeps out some others only
  std::set<std::string> unknown;    // signatures of functions without source that nobody described
  std::set<std::string> recursive;  // functions that were not followed into themselves
  std::set<std::string> used;       // names of descriptions that were
  bool complete = true;             // no: the program is too large to follow every call
  Bounded bounded;

  // Whether the threads of the two transactions can run at once, so that `other` can come between
  // what its thread did before and `one`.
  bool may_cut(TransactionId one, TransactionId other) const;
  bool may_race(const Access& one, const Access& other) const;
  bool uses_together(TransactionId transaction, LocationId one, LocationId other) const;
  // "Coord::x", or a global's name.
  std::string name_of(const Program& program, LocationId location) const;
};

// Bounds, of which `--effort` allows more.
inline constexpr std::uint64_t kMostSteps = 20'000'000;
inline constexpr std::size_t kMostLast = 16;   // of one code that can be the last transaction
inline constexpr std::size_t kMostReads = 16;  // of one variable that a value rests on
inline constexpr std::size_t kMostCalls = 80;  // into each other

struct TraceOptions {
  bool sections = false;             // critical sections are transactions
  bool escape = true;                // no: fields of objects that one thread alone knows count, too
  std::vector<std::string> entries;  // functions that threads run, beside those that are seen
  Methods methods;                   // what functions without source do
  std::uint64_t effort = 1;          // how much of kMost... is done
};

Traces trace(const Program& program, const TraceOptions& options);

}  // namespace tomos::tm
