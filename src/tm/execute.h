// The symbolic execution behind traces.h: abstract values, the state along a way, and the walk.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "tm/traces.h"
#include "tm/values.h"

namespace tomos::tm {

struct Place {
  Few<LocationId> at;
  Origins origins;         // what said where
  std::uint32_t made = 0;  // of a new object (Value::made)
};

class Executor {
 public:
  Executor(const Program& program, const TraceOptions& options);
  Traces run();

 private:
  // What can have been the last transaction: of which code, and in which chain of calls.
  struct Last {
    NodeId node = kNoNode;
    TransactionId transaction = 0;

    friend auto operator<=>(const Last&, const Last&) = default;
  };
  struct State {
    bool reachable = true;
    Store local;
    Few<Last> last;
    Few<ThreadId> alive;
    Few<Hold> held;
    std::vector<LocationId> again;  // locks that were taken while they were held, as often
    Few<std::uint32_t> own;         // makings of objects that nobody else has been told of
    std::uint32_t section = 0;      // the execution of the critical section that it is in

    void join(const State& other);
  };
  struct Control {
    Origins origins;
    Origins validates;  // what is there now, since we are here
    // The execution that is known to depend on it, when this was validated; except on these, which
    // it had just read again.
    std::uint32_t told = 0;
    Origins told_with;
    Few<LocationId> untold;
    // What it asks in one execution: which, and its place in Traces::conditions.
    std::uint32_t asked_in = 0;
    std::optional<std::uint32_t> condition;

    void add(const Control& other) {
      if (other.origins.empty() && other.validates.empty()) return;
      origins.insert(other.origins);
      validates.insert(other.validates);
      told = 0;
      asked_in = 0;
    }
  };
  // What said that a function or a loop goes on: one condition, since all of them did. Apart are
  // those of ways that are not at their end yet.
  class Residual {
   public:
    void open() { ways_.emplace_back(); }
    Control close() {
      Control asked = std::move(ways_.back());
      ways_.pop_back();
      return asked;
    }
    void add(const Control& control) { ways_.back().add(control); }
    auto begin() { return ways_.begin(); }
    auto end() { return ways_.end(); }
    auto begin() const { return ways_.begin(); }
    auto end() const { return ways_.end(); }

   private:
    std::vector<Control> ways_ = std::vector<Control>(1);
  };
  struct Loop {
    State breaks{.reachable = false};
    State continues{.reachable = false};
    Residual residual;
    Few<Hold> held;  // before it
    std::size_t guards = 0;
    unsigned left = 0;  // how often, before its end
  };
  struct Call {  // a function that is being followed
    std::uint32_t frame = 0;
    std::uint32_t function = 0;
    State returns{.reachable = false};
    std::optional<Value> result;
    std::vector<Loop> loops;
    Residual residual;  // what said that it goes on at all
    std::size_t guards = 0;
    std::size_t controls = 0;
    unsigned left = 0;  // how often, before its end
  };

  // Rounds (traces.cpp).
  bool round();
  void explore(ThreadId thread);
  bool find_escaped();
  void find_entries();
  void find_apart();
  void find_parallel();
  ThreadId thread_for(NodeId node, std::uint32_t function);
  void finish(Traces& traces);

  // Values.
  Value eval(NodeId id);
  void keep_latest(Few<Last>& of);
  void keep_latest_reads(Origins& origins);
  std::uint32_t maker(std::uint32_t frame, std::size_t most);
  Value join_of(const Node& node, std::size_t from = 0);
  Place place(NodeId id);
  Value load(const Place& from, const Node& node);
  void store(const Place& to, const Value& value, const Node& node);
  void copy(const Place& to, const Place& from, const std::string& type, const Node& node,
            unsigned depth = 0);
  Value container(const Node& node);
  Value compare(const Node& node);
  Value stored_at(LocationId at);
  void keep(LocationId at, const Value& value, bool strong);
  Origins kept_in(const Value& value, LocationId at);
  Origins chosen_here() const;
  void note_meeting(const Origins& origins);

  // Calls.
  Value call(std::uint32_t function, std::vector<Value> arguments, const Node& node, NodeId id);
  Value follow(std::uint32_t function, const std::vector<Value>& arguments, NodeId id);
  Value described(const DescribedMethod& method, const std::vector<Value>& arguments,
                  const Node& node);
  std::vector<std::pair<std::uint32_t, std::optional<LocationId>>> callable(const Value& value);
  Value fork(const Node& node, NodeId id);

  // Statements.
  Value branch(const Node& node);
  Value decided(const Node& node, bool holds);
  const std::vector<std::uint32_t>& assigned_in(NodeId loop);
  void forget_numbers(NodeId loop);
  bool is_idle(NodeId id) const;
  void loop(const Node& node, NodeId id, bool test_first);
  void iteration(const Node& node, NodeId id, bool test_first);
  State left(std::size_t guards);
  Value atomic(const Node& node, NodeId id);
  void lock(const Node& node, NodeId id, const Few<LocationId>& at, std::uint32_t frame);
  void take_tried(const Value& condition, bool holds);
  Value guard(const Node& node, NodeId id);
  std::uint32_t number_of_hold(NodeId id, std::uint32_t frame);
  static void unlock(State& state, const Few<LocationId>& at);

  // Transactions and accesses.
  std::uint32_t current() const { return transaction_ != 0 ? transaction_ : state_.section; }
  std::uint32_t begin(NodeId id, const Node& node, std::uint32_t frame);
  void access(LocationId at, bool writes, const Node& node, const Origins& where);
  bool was_taken(const Origins& where) const;
  std::optional<std::uint32_t> condition_of(Control& control);
  Origins validated();
  void flow(const Origins& origins, Flow::Kind kind, LocationId into, const Origins& validated);
  void control_flows(std::optional<LocationId> read, const Origins& validated);
  template <class Do>
  void for_each_control(const Do& act);
  bool is_shared(LocationId at) const;
  bool is_own(const Place& at) const {
    return options_.escape && at.made != 0 && state_.own.contains(at.made);
  }
  std::uint32_t frame_for(std::uint32_t function, NodeId call);

  const Program& program_;
  const TraceOptions& options_;
  Traces traces_;
  std::map<std::string, std::uint32_t> functions_;
  std::map<std::string, std::vector<std::uint32_t>> overriders_;
  std::map<std::string, const DescribedMethod*> methods_;
  std::map<std::uint32_t, std::uint32_t> apart_;  // nodes that name an element, by its number
  std::unordered_set<const Node*> counting_;      // updates whose value nobody uses

  // Over all rounds; they only grow.
  std::map<LocationId, Few<LocationId>> heap_;
  std::set<LocationId> escaped_;
  std::set<LocationId> addressed_;                            // variables that pointers lead to
  std::map<NodeId, std::vector<std::uint32_t>> assigned_in_;  // variables, by loop
  std::map<std::pair<NodeId, std::uint32_t>, ThreadId> thread_ids_;
  std::vector<std::vector<Value>> arguments_;  // of threads
  std::vector<std::uint32_t> entry_;           // their functions
  std::vector<Few<ThreadId>> alive_at_exit_;
  std::set<ThreadId> named_entries_;  // many threads may run these
  std::map<std::tuple<ThreadId, std::uint32_t, std::uint32_t, NodeId>, std::uint32_t> frames_;
  std::map<std::vector<NodeId>, std::uint32_t> makers_;
  std::map<std::pair<NodeId, std::uint32_t>, std::uint32_t> holds_;
  std::map<std::pair<std::uint32_t, NodeId>, TransactionId> transaction_ids_;
  bool grown_ = false;
  bool recording_ = false;  // the last round: who reads, writes and depends on what

  // Of one round.
  struct Forked {
    Few<ThreadId> beside;
    ThreadId made = 0;
  };
  std::vector<Forked> forks_;
  std::vector<TransactionId> executions_;  // number 0: none
  std::unordered_set<Flow, Flow::Hash> flows_;
  std::map<Few<LocationId>, std::uint32_t> conditions_;  // their places in Traces::conditions
  std::uint32_t made_ = 0;                               // objects so far
  std::map<std::tuple<LocationId, bool, bool, Position, ThreadId>, Access> accesses_;

  // Of one thread.
  ThreadId thread_ = 0;
  State state_;
  std::vector<Call> calls_;
  std::vector<Control> controls_;
  struct Guard {
    Few<LocationId> locks;
    NodeId at_end = kNoNode;  // of kScope
  };
  std::vector<Guard> guards_;
  std::uint32_t transaction_ = 0;
  // Functions that nobody comes back from, with what they are called in (see follow).
  std::set<std::vector<std::uint32_t>> dead_ends_;
  std::uint64_t steps_ = 0;
};

}  // namespace tomos::tm
