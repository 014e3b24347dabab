#include "model/machine.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

namespace tomos::model {

namespace {

// Nobody waits for what is one of these, unless it is for a value: then there is a conflict.
bool may_wake(const Edge& edge) {
  constexpr auto kQuiet =
      [](auto... kinds) { return ((1U << static_cast<unsigned>(kinds)) | ...); }(
          Edge::Kind::kAssign, Edge::Kind::kAssert, Edge::Kind::kAcquire, Edge::Kind::kHeld,
          Edge::Kind::kJoin);
  return ((kQuiet >> static_cast<unsigned>(edge.kind)) & 1U) == 0 || edge.target == kEnded;
}

std::size_t index(std::int32_t value) { return static_cast<std::size_t>(value); }

}  // namespace

Machine::Machine(const Program& program, const MachineOptions& options)
    : program_(program),
      options_(options),
      tracked_(options.serializability ? program.tracked.size() : 0),
      packing_(program, tracked_),
      symmetry_(program, tracked_),
      independence_(program),
      plain_steps_(program),
      state_(packing_.size()),
      next_(state_.size()),
      made_(state_.size()),
      passed_(state_.size()),
      packed_(packing_.words()) {
  for (const Code& code : program.codes) {
    std::vector<Graph::Future>& futures = futures_.emplace_back();
    std::vector<Ways>& ways = ways_.emplace_back();
    for (const Location& location : code.locations) {
      ways.push_back(location.facts.forks     ? Ways::kForks
                     : location.facts.one_way ? Ways::kOne
                                              : Ways::kSome);
      Graph::Future future;
      for (std::size_t x = 0; x < tracked_; ++x) {
        const std::size_t variable = program.tracked[x];
        future.reads |= std::uint64_t{location.facts.future_reads.test(variable)} << x;
        future.writes |= std::uint64_t{location.facts.future_writes.test(variable)} << x;
      }
      futures.push_back(future);
    }
  }
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const ThreadInfo& info = program.threads[t];
    rows_[t] = {.field = info.field,
                .code = program.codes[info.code].locations.data(),
                .futures = futures_[info.code].data(),
                .ways = ways_[info.code].data()};
  }
  for (const Variable& variable : program.variables) {
    tracked_as_.push_back(
        static_cast<std::int16_t>(options.serializability ? variable.tracked : -1));
    is_hidden_.push_back(variable.hidden ? 1 : 0);
  }
}

// ---- evaluation ----

void Machine::note(Op op, std::size_t object) {
  if (records_) events_.push_back({.op = op, .object = static_cast<std::uint16_t>(object)});
}

void Machine::note_access(Op op, std::size_t variable) {
  if (tracked_as_[variable] < 0 && (!records_ || is_hidden_[variable] != 0)) return;
  events_.push_back({.op = op, .object = static_cast<std::uint16_t>(variable)});
}

// Where the cell's value stands; -1 if there is no such element.
std::int32_t Machine::field(const Cell& cell) {
  std::int32_t at = cell.first;
  if (cell.index >= 0) {
    const std::int32_t element = value(cell.index);
    if (element < 0 || element >= cell.count) {
      failure_ = Failure::kIndex;
      return -1;
    }
    at += element;
  }
  return cell.local ? static_cast<std::int32_t>(rows_[thread_].field) + 1 + at : at;
}

std::int32_t Machine::choose(std::int32_t count) {
  if (choice_ == choices_.size()) choices_.emplace_back(0, count);
  return choices_[choice_++].first;
}

// Goes on to the next combination of choices; false after the last one.
bool Machine::next_choice() {
  while (!choices_.empty()) {
    auto& [taken, count] = choices_.back();
    if (++taken < count) return true;
    choices_.pop_back();
  }
  return false;
}

std::int32_t Machine::value(std::int32_t at) {
  const Node& node = program_.nodes[index(at)];
  switch (node.op) {
    case NodeOp::kConstant:
      return node.a;
    case NodeOp::kRead: {
      const Cell& cell = program_.cells[index(node.a)];
      const std::int32_t where = field(cell);
      if (where < 0) return 0;
      if (!cell.local) {
        looks_ = true;
        note_access(Op::kRead, index(where));
      }
      return cell.type.low + (*from_)[index(where)];
    }
    case NodeOp::kNext: {
      const Cell& cell = program_.cells[index(node.a)];
      const std::int32_t where = field(cell);
      return where < 0 ? 0 : cell.type.low + (*to_)[index(where)];
    }
    case NodeOp::kAny:
      return node.a + choose(node.b - node.a + 1);
    case NodeOp::kNot:
      return value(node.a) == 0 ? 1 : 0;
    case NodeOp::kAnd:
      return value(node.a) != 0 && value(node.b) != 0 ? 1 : 0;
    case NodeOp::kOr:
      return value(node.a) != 0 || value(node.b) != 0 ? 1 : 0;
    case NodeOp::kChoice:
      return value(value(node.a) != 0 ? node.b : node.c);
    case NodeOp::kEqual:
    case NodeOp::kUnequal:
    case NodeOp::kLess:
    case NodeOp::kLessEqual:
    case NodeOp::kPlus:
    case NodeOp::kMinus:
      break;
  }
  const std::int64_t a = value(node.a);
  const std::int64_t b = value(node.b);
  switch (node.op) {
    case NodeOp::kEqual:
      return a == b ? 1 : 0;
    case NodeOp::kUnequal:
      return a != b ? 1 : 0;
    case NodeOp::kLess:
      return a < b ? 1 : 0;
    case NodeOp::kLessEqual:
      return a <= b ? 1 : 0;
    case NodeOp::kPlus:
      return static_cast<std::int32_t>(a + b);
    case NodeOp::kMinus:
      return static_cast<std::int32_t>(a - b);
    case NodeOp::kConstant:
    case NodeOp::kRead:
    case NodeOp::kNext:
    case NodeOp::kAny:
    case NodeOp::kNot:
    case NodeOp::kAnd:
    case NodeOp::kOr:
    case NodeOp::kChoice:
      break;
  }
  return 0;
}

// ---- one step ----

Machine::Outcome Machine::assign(const Edge& edge) {
  if (edge.guard >= 0 && !edge.free) {
    const bool holds = value(edge.guard) != 0;
    if (failure_ != Failure::kNone) return Outcome::kFailed;
    if (!holds) return Outcome::kBlocked;
  }
  begin_change();
  // All is read before anything is written.
  writes_.clear();
  for (const Assignment& one : edge.assignments) {
    const Cell& cell = program_.cells[index(one.cell)];
    const std::int32_t result = value(one.node);
    const std::int32_t where = field(cell);
    if (failure_ == Failure::kNone && (result < cell.type.low || result > cell.type.high)) {
      failure_ = Failure::kRange;
    }
    if (failure_ != Failure::kNone) return Outcome::kFailed;
    writes_.emplace_back(where, result - cell.type.low);
  }
  for (const auto& [where, result] : writes_) {
    (*to_)[index(where)] = static_cast<Value>(result);
    // Behind the shared variables are those of threads.
    if (index(where) < tracked_as_.size()) note_access(Op::kWrite, index(where));
  }
  return Outcome::kDone;
}

// The values afterwards are chosen, then the relation is asked.
Machine::Outcome Machine::relate(const Edge& edge) {
  begin_change();
  for (const Assignment& one : edge.assignments) {
    const Cell& cell = program_.cells[index(one.cell)];
    (*to_)[cell.first] = static_cast<Value>(value(one.node) - cell.type.low);
  }
  const bool holds = value(edge.guard) != 0;
  if (failure_ != Failure::kNone) return Outcome::kFailed;
  if (!holds) return Outcome::kBlocked;
  if (edge.touched < 0) return Outcome::kDone;
  const std::int32_t where = field(program_.cells[index(edge.touched)]);
  if (where < 0) return Outcome::kFailed;
  note_access(edge.writes ? Op::kWrite : Op::kRead, index(where));
  return Outcome::kDone;
}

Machine::Outcome Machine::lock(const Edge& edge) {
  const std::int32_t where = field(program_.cells[index(edge.object)]);
  if (where < 0) return Outcome::kFailed;
  const Value owner = (*from_)[index(where)];
  const std::size_t number = index(where) - program_.first_lock;
  if (edge.kind == Edge::Kind::kAcquire) {
    if (owner != 0) return Outcome::kBlocked;
    begin_change();
    (*to_)[index(where)] = static_cast<Value>(thread_ + 1);
    note(Op::kAcquire, number);
    return Outcome::kDone;
  }
  if (edge.kind == Edge::Kind::kHeld) {
    if (owner == 0) return Outcome::kBlocked;
    begin_change();
    return Outcome::kDone;
  }
  if (owner != thread_ + 1) {
    failure_ = Failure::kNotHeld;
    return Outcome::kFailed;
  }
  begin_change();
  (*to_)[index(where)] = 0;
  note(Op::kRelease, number);
  return Outcome::kDone;
}

Machine::Outcome Machine::start(const Edge& edge) {
  begin_change();
  for (const std::uint16_t thread : edge.threads) {
    const ThreadInfo& info = program_.threads[thread];
    if ((*to_)[info.field] != kNotStarted) {
      failure_ = Failure::kStarted;
      return Outcome::kFailed;
    }
    (*to_)[info.field] = program_.codes[info.code].locations[kNotStarted].edges[0].target;
    note(Op::kFork, thread);
  }
  return Outcome::kDone;
}

void Machine::notify(const Edge& edge) {
  begin_change();
  std::array<std::size_t, kMostThreads> waiting{};
  std::int32_t count = 0;
  for (std::size_t t = 0; t < program_.threads.size(); ++t) {
    if (location(*from_, t).waits == edge.object) waiting[index(count++)] = t;
  }
  if (count == 0) return;
  const bool all = edge.kind == Edge::Kind::kNotifyAll;
  const std::int32_t chosen = all ? 0 : choose(count);
  for (std::int32_t i = 0; i < count; ++i) {
    if (!all && i != chosen) continue;
    const std::size_t t = waiting[index(i)];
    (*to_)[program_.threads[t].field] = location(*from_, t).edges[0].target;
  }
}

Machine::Outcome Machine::act(const Edge& edge) {
  switch (edge.kind) {
    case Edge::Kind::kAssign:
      return assign(edge);
    case Edge::Kind::kAssert: {
      const bool holds = value(edge.guard) != 0;
      if (failure_ == Failure::kNone && !holds && options_.assertions) {
        failure_ = Failure::kAssertion;
      }
      begin_change();
      return failure_ == Failure::kNone ? Outcome::kDone : Outcome::kFailed;
    }
    case Edge::Kind::kAcquire:
    case Edge::Kind::kHeld:
    case Edge::Kind::kRelease:
    case Edge::Kind::kWait:
      return lock(edge);
    case Edge::Kind::kStart:
      return start(edge);
    case Edge::Kind::kJoin:
      for (const std::uint16_t thread : edge.threads) {
        if ((*from_)[program_.threads[thread].field] != kEnded) return Outcome::kBlocked;
        note(Op::kJoin, thread);
      }
      begin_change();
      return Outcome::kDone;
    case Edge::Kind::kNotify:
    case Edge::Kind::kNotifyAll:
      notify(edge);
      return Outcome::kDone;
    case Edge::Kind::kRelation:
      return relate(edge);
    case Edge::Kind::kEntry:
    case Edge::Kind::kNotified:
      break;
  }
  return Outcome::kBlocked;
}

Machine::Outcome Machine::attempt(std::size_t thread, const Location& here, const Edge& edge) {
  thread_ = thread;
  events_.clear();
  failure_ = Failure::kNone;
  choice_ = 0;
  const bool inside = here.block != 0;
  const Outcome outcome = act(edge);
  if (outcome != Outcome::kDone) return outcome;
  if (tracked_ > 0) {
    Graph monitor = graph(*to_);
    for (const Step::Event& event : events_) {
      if (event.op != Op::kRead && event.op != Op::kWrite) continue;
      const std::int32_t tracked = tracked_as_[event.object];
      if (tracked < 0) continue;
      graph_changed_ = true;
      if (monitor.access(thread, inside, index(tracked), event.op == Op::kWrite)) {
        failure_ = Failure::kCycle;
        return Outcome::kFailed;
      }
    }
    // A transaction without further accesses can as well be over.
    if ((edge.ends || edge.last) && monitor.entered(thread)) {
      monitor.end(thread);
      graph_changed_ = true;
    }
    graph_changed_ = graph_changed_ || edge.narrows;
  }
  Value* const own = &(*to_)[rows_[thread].field];
  *own = edge.target;
  for (std::uint64_t dead = edge.dies; dead != 0; dead &= dead - 1) {
    own[1 + std::countr_zero(dead)] = 0;
  }
  wakes_ = wakes_ || may_wake(edge);
  return Outcome::kDone;
}

// All that the thread can do in `from_`: the visitor finds it in `to_`, or in `failure_`, and says
// whether to go on.
template <class Visit>
void Machine::each_step(std::size_t thread, Visit visit) {
  const std::uint16_t place = (*from_)[rows_[thread].field];
  const Location& here = location(*from_, thread);
  const bool goes_one_way = one_way(*from_, thread);  // before `from_` is changed
  for (std::size_t i = 0; i < here.edges.size(); ++i) {
    choices_.clear();
    do {
      const Outcome outcome = attempt(thread, here, here.edges[i]);
      if (outcome == Outcome::kBlocked) continue;
      if (records_) {
        steps_.push_back({.thread = static_cast<std::uint8_t>(thread),
                          .location = place,
                          .edge = static_cast<std::uint16_t>(i),
                          .events = events_});
      }
      const bool goes_on = visit(outcome);
      if (!goes_on || goes_one_way) return;
    } while (next_choice());
  }
}

// ---- reduction ----

bool Machine::take_plain_steps(std::vector<Value>& values, std::size_t thread) {
  const PlainSteps::Taken taken = plain_steps_.take(values, thread);
  if (taken.steps == 0) return false;
  steps_taken_ += taken.steps;
  if (tracked_ == 0) return true;
  graph_changed_ = graph_changed_ || taken.narrows;
  if (Graph monitor = graph(values); taken.ends && monitor.entered(thread)) {
    monitor.end(thread);
    graph_changed_ = true;
  }
  return true;
}

Failure Machine::pass_through(std::vector<Value>& values) {
  const std::size_t threads = program_.threads.size();
  std::uint32_t chooses = 0;  // threads that have several ways to go on
  const std::size_t moved = thread_;
  // The one that has just moved is the first to be asked. Of the others it is known that none can
  // go on alone, or this state would have been passed through before; that stays so as long as the
  // first one has the same before it and wakes nobody.
  for (std::size_t t = moved, asked = 0; asked < threads; t = t + 1 < threads ? t + 1 : 0) {
    if (t != moved && !wakes_ && independence_.future(values, moved) == future_) break;
    if (!records_ && take_plain_steps(values, t)) {
      asked = 0;
      wakes_ = wakes_ || t != moved;
    }
    ++asked;
    if (forks(values, t)) continue;
    if (((chooses >> t) & 1U) != 0 || !independence_.of(values, t)) continue;
    const bool in_place = one_way(values, t);
    from_ = &values;
    to_ = in_place ? &values : &made_;
    const std::size_t recorded = steps_.size();
    std::size_t found = 0;
    Failure failure = Failure::kNone;
    each_step(t, [&](Outcome outcome) {
      if (++found > 1) return false;
      if (outcome == Outcome::kFailed) {
        failure = failure_;
        return false;
      }
      if (!in_place) passed_.swap(made_);
      return true;
    });
    to_ = &made_;
    if (failure != Failure::kNone) return failure;
    if (found == 1) {
      ++steps_taken_;
      if (!in_place) values.swap(passed_);
      asked = 0;
      wakes_ = wakes_ || t != moved;
      t = t == 0 ? threads - 1 : t - 1;  // the same again
    } else {
      steps_.resize(recorded);
      if (found > 1) chooses |= 1U << t;
    }
  }
  return Failure::kNone;
}

// ---- whole states ----

void Machine::hand_over(std::vector<Value>& values, const Sink& sink) {
  if (options_.partial_order) {
    if (const Failure failure = pass_through(values); failure != Failure::kNone) {
      return report(failure, sink);
    }
  }
  const std::size_t threads = program_.threads.size();
  if (tracked_ > 0 && graph_changed_) {
    std::array<Graph::Future, kMostThreads> futures{};
    for (std::size_t t = 0; t < threads; ++t) {
      futures[t] = rows_[t].futures[values[rows_[t].field]];
    }
    graph(values).normalise(std::span(futures).first(threads));
  }
  const std::span<std::uint8_t> order = std::span(order_).first(threads);
  if (options_.symmetry) {
    symmetry_.sort(values, order);
  } else {
    std::iota(order.begin(), order.end(), std::uint8_t{0});
  }
  packing_.pack(values, packed_);
  sink({.state = packed_, .failure = Failure::kNone, .steps = steps_, .from = order});
}

void Machine::report(Failure failure, const Sink& sink) {
  sink({.state = {}, .failure = failure, .steps = steps_, .from = {}});
}

bool Machine::initial(const Sink& sink) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 24U;
  std::uint64_t combinations = 1;
  for (const Variable& variable : program_.variables) {
    if (!variable.any_initial) continue;
    combinations *= variable.type.values();
    if (combinations > kMost) return false;
  }
  for (std::uint64_t number = 0; number < combinations; ++number) {
    std::ranges::fill(state_, Value{0});
    std::uint64_t left = number;
    for (std::size_t i = 0; i < program_.variables.size(); ++i) {
      const Variable& variable = program_.variables[i];
      state_[i] = variable.initial;
      if (!variable.any_initial) continue;
      const std::uint64_t values = variable.type.values();
      state_[i] = static_cast<Value>(left % values);
      left /= values;
    }
    for (const ThreadInfo& thread : program_.threads) {
      const Code& code = program_.codes[thread.code];
      state_[thread.field] =
          thread.started ? code.locations[kNotStarted].edges[0].target : kNotStarted;
      const std::uint64_t live = code.locations[state_[thread.field]].facts.live;
      for (std::size_t i = 0; i < code.initial.size(); ++i) {
        if (((live >> i) & 1U) != 0) state_[thread.field + 1U + i] = code.initial[i];
      }
    }
    if (program_.initial >= 0) {
      from_ = &state_;
      thread_ = 0;
      choices_.clear();
      choice_ = 0;
      if (value(program_.initial) == 0) continue;
    }
    steps_.clear();
    thread_ = 0;
    wakes_ = graph_changed_ = true;
    hand_over(state_, sink);
  }
  return true;
}

void Machine::expand(std::span<const std::uint64_t> state, const Sink& sink) {
  packing_.unpack(state, state_);
  // What stands alone in `pass_through` is not found here; what has several ways to go on is.
  std::size_t only = program_.threads.size();
  if (options_.partial_order) {
    for (std::size_t t = 0; t < program_.threads.size(); ++t) {
      if (!independence_.of(state_, t)) continue;
      from_ = &state_;
      bool can_move = forks(state_, t);
      steps_.clear();
      if (!can_move) {
        each_step(t, [&](Outcome) {
          can_move = true;
          return false;
        });
      }
      if (!can_move) continue;
      only = t;
      break;
    }
  }
  bool moved = false;
  std::vector<std::pair<std::int32_t, std::int32_t>> choices;
  for (std::size_t t = 0; t < program_.threads.size(); ++t) {
    if (only < program_.threads.size() && t != only) continue;
    from_ = &state_;
    steps_.clear();
    const std::uint32_t future = independence_.future(state_, t);
    wakes_ = graph_changed_ = false;
    each_step(t, [&](Outcome outcome) {
      moved = true;
      ++steps_taken_;
      if (outcome == Outcome::kFailed) {
        report(failure_, sink);
      } else {
        next_.swap(made_);
        choices.swap(choices_);
        future_ = future;
        hand_over(next_, sink);
        choices.swap(choices_);
        from_ = &state_;
        wakes_ = graph_changed_ = false;
      }
      steps_.clear();
      return true;
    });
  }
  if (!moved && options_.deadlock && is_deadlock(state_)) {
    steps_.clear();
    report(Failure::kDeadlock, sink);
  }
}

// An assumption that does not even ask what others do can never come true: then the run is one that
// was ruled out.
bool Machine::is_ruled_out(const std::vector<Value>& values, std::size_t thread) {
  const Location& here = location(values, thread);
  if (!here.assumes) return false;
  from_ = &values;
  for (const Edge& edge : here.edges) {
    choices_.clear();
    do {
      looks_ = false;
      attempt(thread, here, edge);
      if (looks_ && edge.kind != Edge::Kind::kRelation) return false;
    } while (next_choice());
  }
  return true;
}

bool Machine::is_deadlock(const std::vector<Value>& values) {
  bool waits = false;
  for (std::size_t t = 0; t < program_.threads.size(); ++t) {
    const std::uint16_t place = values[program_.threads[t].field];
    if (place == kEnded || place == kNotStarted) continue;
    if (is_ruled_out(values, t)) return false;
    waits = true;
  }
  return waits;
}

}  // namespace tomos::model
