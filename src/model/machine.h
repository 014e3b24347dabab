// What a program can do next: from a packed state all its successors, each with the step that leads
// there.
//
// A state is the program's and the monitor's together, in a canonical form: local variables that
// nobody will ask for are zero, the monitor is normalised (graph.h), and threads that do the same
// stand in an order of their own (symmetry.h).
//
// Partial-order reduction. Whether a run is serializable depends on the order of its conflicting
// accesses alone, so of all runs that differ only in the order of independent steps one is enough.
// If all that a thread can do next is independent of all that the others may do before it moves,
// only its steps are looked at (a persistent set, Godefroid 1996). That is known of
//   - steps that touch no shared object, or none that another thread may still touch in conflict;
//   - accesses to what the others touch only under a lock, while this thread holds that lock (the
//     movers of Lipton 1975);
//   - releases: nobody can do anything about a lock before it is free.
// Deadlocks and failing assertions stay as well. No step may be put off for ever: only steps that
// lead forward in the code are taken alone, so every cycle of states has one in which all threads
// may move. States in which there is just one step to take are passed through and not kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "event/event.h"
#include "model/graph.h"
#include "model/independence.h"
#include "model/packing.h"
#include "model/plain_steps.h"
#include "model/program.h"
#include "model/symmetry.h"

namespace tomos::model {

enum class Failure : std::uint8_t {
  kNone,
  kCycle,      // the run is not serializable
  kAssertion,  // an assertion fails
  kRange,      // a value leaves the range of its variable
  kIndex,      // an array has no such element
  kNotHeld,    // a lock is released, or waited with, by a thread that does not hold it
  kStarted,    // a thread is started a second time
  kDeadlock,   // nobody can go on
};

struct MachineOptions {
  bool serializability = true;
  bool assertions = true;  // what is simply wrong is found in any case
  bool deadlock = true;
  bool symmetry = true;
  bool partial_order = true;
};

// A step as it was taken. Threads are called by their place in the state it started from.
struct Step {
  struct Event {
    Op op = Op::kRead;
    std::uint16_t object = 0;
  };
  std::uint8_t thread = 0;
  std::uint16_t location = 0;
  std::uint16_t edge = 0;
  std::vector<Event> events;
};

class Machine {
 public:
  Machine(const Program& program, const MachineOptions& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Words of a packed state.
  std::size_t words() const { return packing_.words(); }

  struct Successor {
    std::span<const std::uint64_t> state;  // packed; of a failure: none
    Failure failure = Failure::kNone;
    std::span<const Step> steps;         // if recorded
    std::span<const std::uint8_t> from;  // thread i of the state was from[i] before
  };
  using Sink = std::function<void(const Successor&)>;

  // Calls the sink with each first state. False: there are too many to go through.
  bool initial(const Sink& sink);
  void expand(std::span<const std::uint64_t> state, const Sink& sink);

  std::vector<Value> unpacked(std::span<const std::uint64_t> state) const {
    std::vector<Value> values(state_.size());
    packing_.unpack(state, values);
    return values;
  }

  void record_steps(bool record) { records_ = record; }
  std::uint64_t steps_taken() const { return steps_taken_; }

 private:
  enum class Outcome : std::uint8_t { kBlocked, kDone, kFailed };

  Graph graph(std::vector<Value>& values) const {
    return {program_.threads.size(), tracked_, values.data() + program_.fields};
  }
  const Location& location(const std::vector<Value>& values, std::size_t thread) const {
    return rows_[thread].code[values[rows_[thread].field]];
  }
  bool forks(const std::vector<Value>& values, std::size_t thread) const {
    return rows_[thread].ways[values[rows_[thread].field]] == Ways::kForks;
  }
  bool one_way(const std::vector<Value>& values, std::size_t thread) const {
    return rows_[thread].ways[values[rows_[thread].field]] == Ways::kOne;
  }

  // Evaluation, in `from_`.
  std::int32_t value(std::int32_t node);
  std::int32_t field(const Cell& cell);
  std::int32_t choose(std::int32_t count);
  bool next_choice();

  // One step of a thread, from `from_` to `to_`, which is made a copy as soon as the step is
  // possible; or both are the same, and it is changed as soon as the step cannot fail any more.
  Outcome attempt(std::size_t thread, const Location& here, const Edge& edge);
  Outcome act(const Edge& edge);
  Outcome assign(const Edge& edge);
  Outcome relate(const Edge& edge);
  Outcome lock(const Edge& edge);
  Outcome start(const Edge& edge);
  void notify(const Edge& edge);
  void note(Op op, std::size_t object);
  void note_access(Op op, std::size_t variable);
  void begin_change() {
    if (to_ != from_) std::ranges::copy(*from_, to_->begin());
  }
  template <class Visit>
  void each_step(std::size_t thread, Visit visit);

  // Goes on from `values`, where `thread_` has come, as long as there is just one step to take.
  Failure pass_through(std::vector<Value>& values);
  bool take_plain_steps(std::vector<Value>& values, std::size_t thread);
  void hand_over(std::vector<Value>& values, const Sink& sink);
  void report(Failure failure, const Sink& sink);
  bool is_ruled_out(const std::vector<Value>& values, std::size_t thread);
  bool is_deadlock(const std::vector<Value>& values);

  const Program& program_;
  MachineOptions options_;
  std::size_t tracked_;
  Packing packing_;
  Symmetry symmetry_;
  Independence independence_;
  PlainSteps plain_steps_;
  // What is asked at every step stands together, away from what is asked once.
  enum class Ways : std::uint8_t { kSome, kOne, kForks };  // Facts: one_way, forks
  struct Row {                                             // of a thread
    std::size_t field = 0;
    const Location* code = nullptr;
    const Graph::Future* futures = nullptr;
    const Ways* ways = nullptr;
  };
  std::array<Row, kMostThreads> rows_;
  std::vector<std::vector<Graph::Future>> futures_;  // by code and place
  std::vector<std::vector<Ways>> ways_;
  std::vector<std::int16_t> tracked_as_;  // by variable: its number in the monitor, or -1
  std::vector<std::uint8_t> is_hidden_;   // by variable

  std::vector<Value> state_;  // the one that is expanded
  std::vector<Value> next_;
  std::vector<Value> made_;
  std::vector<Value> passed_;
  const std::vector<Value>* from_ = nullptr;
  std::vector<Value>* to_ = &made_;
  std::size_t thread_ = 0;     // that moves
  bool wakes_ = true;          // what it did may let others go on that waited or were not there
  bool graph_changed_ = true;  // or what may still come did: the monitor is to be normalised
  std::uint32_t future_ = 0;   // what it could do before (independence.h)
  bool looks_ = false;         // a shared variable was asked for its value
  Failure failure_ = Failure::kNone;
  std::vector<Step::Event> events_;  // accesses that the monitor knows; if recorded, all
  std::vector<std::pair<std::int32_t, std::int32_t>> writes_;   // of an assignment: field, value
  std::vector<std::pair<std::int32_t, std::int32_t>> choices_;  // taken, of how many
  std::size_t choice_ = 0;
  std::vector<std::uint64_t> packed_;
  std::array<std::uint8_t, kMostThreads> order_{};
  bool records_ = false;
  std::uint64_t steps_taken_ = 0;
  std::vector<Step> steps_;
};

}  // namespace tomos::model
