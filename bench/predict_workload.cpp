#include "predict_workload.h"

#include <fmt/format.h>

#include <algorithm>

namespace tomos::bench {
namespace {

constexpr ThreadId kMain = 0;
constexpr std::uint32_t kOwn = 16;         // objects of a thread
constexpr std::uint32_t kOnceByMain = 30;  // methods, before it starts the others
constexpr double kInMixes = 0.6;           // share of the pieces of a repeated method
constexpr double kUnescaped = 0.68;        // share of the events
constexpr std::uint32_t kGrid = 8;         // cells of each colour that a worker writes
constexpr std::uint32_t kResidual = 16;    // every so many rounds it is added up

// Lines of every method, after those of predict_program.h.
constexpr std::uint32_t kFirstLine = 50;
constexpr std::uint32_t kFirstOwnLine = 70;

// Numbers of methods that are not in predict_program.h.
constexpr std::uint32_t kRelax = 900;
constexpr std::uint32_t kSetUp = 901;

VariableId own_object(ThreadId thread, std::uint32_t i) {
  return PredictProgram::kShared + thread * kOwn + i;
}

VariableId cell(std::uint32_t worker, std::uint32_t colour, std::uint32_t i) {
  return (worker * 2 + colour) * kGrid + i;
}

}  // namespace

PredictWorkload::PredictWorkload(Variant variant, std::uint64_t events, std::uint64_t seed)
    : variant_(variant),
      events_(std::max(events, kLeast)),
      random_(seed),
      workers_(variant == Variant::kPeriods ? 5 : 4),
      holder_(PredictProgram::kLocks, kMain) {
  const auto name = [&](NameKind kind, const char* prefix, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) names_.add(kind, fmt::format("{}{}", prefix, i));
  };
  name(NameKind::kThread, "T", workers_.size());
  name(NameKind::kVariable, "v", PredictProgram::kShared);
  name(NameKind::kVariable, "o", workers_.size() * kOwn);
  name(NameKind::kLock, "L", PredictProgram::kLocks);
  name(NameKind::kLabel, "method", program_.methods.size());
  name(NameKind::kBarrier, "b", 1);
}

void PredictWorkload::next(std::vector<Event>& events, std::size_t count) {
  events.clear();
  out_ = &events;
  if (emitted_ == 0) begin();
  while (!is_over_ && events.size() < count) step();
}

// The main thread makes what is shared, and starts the others.
void PredictWorkload::begin() {
  for (VariableId variable = 0; variable < PredictProgram::kShared; ++variable) {
    add(kMain, Op::kNew, variable, kSetUp, 1);
    add(kMain, Op::kWrite, variable, kSetUp, 2);
    add(kMain, Op::kEscape, variable, kSetUp, 3);
  }
  std::uint32_t first = PredictProgram::kRepeated;
  for (; variant_ != Variant::kPeriods && first < PredictProgram::kRepeated + kOnceByMain;
       ++first) {
    run_method(kMain, program_.methods[first]);
  }
  add(kMain, Op::kNew, own_object(kMain, 0), kSetUp, 4);
  for (ThreadId thread = 1; thread < workers_.size(); ++thread) {
    add(kMain, Op::kFork, thread, kSetUp, 5);
    workers_[thread].runs = variant_ == Variant::kPeriods ? 0 : first + thread - 1;
    add(thread, Op::kNew, own_object(thread, 0), kSetUp, 6);
  }
  emit_all(kMain);
}

// It waits for them, and spends the rest of the events on an object of its own.
void PredictWorkload::end() {
  is_over_ = true;
  while (emitted_ + planned_ + workers() < events_) {
    access_own(kMain, own_object(kMain, 0), kSetUp);
  }
  for (ThreadId thread = 1; thread < workers_.size(); ++thread) {
    add(kMain, Op::kJoin, thread, kSetUp, 7);
  }
  emit_all(kMain);
}

void PredictWorkload::step() {
  if (std::all_of(workers_.begin() + 1, workers_.end(),
                  [](const Worker& one) { return one.is_done; })) {
    return end();
  }
  const ThreadId thread = 1 + random_.below(workers());
  Worker& worker = workers_[thread];
  if (worker.is_done || worker.is_waiting) return;
  if (worker.next == worker.todo.size()) {
    plan(thread);
    if (worker.is_done) return;
  }
  const Event& event = worker.todo[worker.next];
  if (event.op == Op::kAcquire && holder_[event.object] != kMain) return;
  emit(thread);
}

// Whether there are enough events left for all workers to do one more thing.
bool PredictWorkload::has_room() const {
  constexpr std::uint64_t kMost = 400;  // events of a method
  return emitted_ + planned_ + workers() * kMost < events_;
}

void PredictWorkload::plan(ThreadId thread) {
  Worker& worker = workers_[thread];
  if (variant_ == Variant::kPeriods) return run_round(thread);
  worker.is_done = !has_room();
  if (worker.is_done) return;
  // First what is run only once, each worker its share.
  std::uint32_t method = worker.runs;
  if (method < program_.methods.size()) {
    worker.runs += workers();
  } else {
    method = random_.below(PredictProgram::kRepeated);
  }
  run_method(thread, program_.methods[method]);
}

void PredictWorkload::run_method(ThreadId thread, const Method& method) {
  const VariableId object = own_object(thread, 1 + method.label % (kOwn - 1));
  constexpr double kOwnForOthers = kUnescaped / (1 - kUnescaped);
  double due = 3 * kOwnForOthers;  // for begin, free and end
  const auto run = [&](Op op, std::uint32_t of, std::uint32_t line) {
    add(thread, op, of, method.label, line);
    for (due += kOwnForOthers; due >= 1; --due) access_own(thread, object, method.label);
  };
  const bool is_mixed = variant_ == Variant::kMixes && method.label <= PredictProgram::kRepeated;
  const auto run_pieces = [&](const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      if (is_mixed && !random_.chance(kInMixes)) continue;
      for (const Line& line : piece) run(line.op, line.object, line.number);
    }
  };
  add(thread, Op::kBegin, method.label, method.label, kFirstLine);
  run(Op::kNew, object, kFirstLine + 1);
  run_pieces(method.before);
  run(Op::kAcquire, method.lock, kFirstLine + 2);
  run_pieces(method.inside);
  run(Op::kRelease, method.lock, kFirstLine + 3);
  add(thread, Op::kFree, object, method.label, kFirstLine + 4);
  add(thread, Op::kEnd, 0, method.label, kFirstLine + 5);
}

// Writes a cell of one colour, after what the neighbours wrote in the other colour, and meets them.
void PredictWorkload::run_round(ThreadId thread) {
  const std::uint32_t round = workers_[thread].runs++;
  const std::uint32_t colour = round % 2;
  const std::uint32_t i = round / 2 % kGrid;
  const std::uint32_t self = thread - 1;
  const std::uint32_t left = (self + workers() - 1) % workers();
  const std::uint32_t right = (self + 1) % workers();
  add(thread, Op::kBegin, 1, kRelax, 0);
  for (int times = 0; times < 2; ++times) access_own(thread, own_object(thread, 0), kRelax);
  add(thread, Op::kRead, cell(left, 1 - colour, i), kRelax, 1 + colour);
  add(thread, Op::kRead, cell(right, 1 - colour, i), kRelax, 3 + colour);
  for (int times = 0; times < 2; ++times) access_own(thread, own_object(thread, 0), kRelax);
  add(thread, Op::kWrite, cell(self, colour, i), kRelax, 5 + colour);
  if (round % kResidual == 0) {
    const VariableId residual = cell(workers(), 0, 0);
    add(thread, Op::kAcquire, 0, kRelax, 7);
    add(thread, Op::kAcquire, 1, kRelax, 8);
    add(thread, Op::kRead, residual, kRelax, 9);
    add(thread, Op::kWrite, residual, kRelax, 10);
    add(thread, Op::kRelease, 1, kRelax, 11);
    add(thread, Op::kRelease, 0, kRelax, 12);
  }
  add(thread, Op::kEnd, 0, kRelax, 13);
  add(thread, Op::kBarrier, 0, kRelax, 14);
  workers_[thread].todo.back().count = static_cast<std::uint16_t>(workers());
}

// All are at the barrier: on to the next round, if there is one.
void PredictWorkload::meet() {
  const bool done = !has_room();
  for (ThreadId thread = 1; thread < workers_.size(); ++thread) {
    workers_[thread].is_waiting = false;
    workers_[thread].is_done = done;
  }
}

void PredictWorkload::access_own(ThreadId thread, VariableId object, std::uint32_t method) {
  const std::uint32_t line = random_.below(PredictProgram::kLines - kFirstOwnLine);
  add(thread, random_.chance(0.3) ? Op::kWrite : Op::kRead, object, method, kFirstOwnLine + line);
}

void PredictWorkload::add(ThreadId thread, Op op, std::uint32_t object, std::uint32_t method,
                          std::uint32_t line) {
  Worker& worker = workers_[thread];
  if (worker.next == worker.todo.size()) {
    worker.todo.clear();
    worker.next = 0;
  }
  ++planned_;
  worker.todo.push_back(
      {.thread = thread,
       .object = object,
       .location = kNumericLocation | (1 + method * PredictProgram::kLines + line),
       .op = op,
       .spare = 0,
       .count = 0});
}

void PredictWorkload::emit(ThreadId thread) {
  Worker& worker = workers_[thread];
  const Event& event = worker.todo[worker.next++];
  if (event.op == Op::kAcquire) holder_[event.object] = thread;
  if (event.op == Op::kRelease) holder_[event.object] = kMain;
  worker.is_waiting = event.op == Op::kBarrier;
  --planned_;
  ++emitted_;
  out_->push_back(event);
  const auto is_waiting = [](const Worker& one) { return one.is_waiting; };
  if (worker.is_waiting && std::all_of(workers_.begin() + 1, workers_.end(), is_waiting)) meet();
}

void PredictWorkload::emit_all(ThreadId thread) {
  while (workers_[thread].next < workers_[thread].todo.size()) emit(thread);
}

}  // namespace tomos::bench
