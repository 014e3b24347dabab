// Benchmark traces for prediction, made event by event like those of workload.h.
//
//   loops    a main thread and three workers run the methods of predict_program.h, each always in
//            the same way: few transactions, again and again
//   mixes    the same, but each time some of a method's pieces are left out at random: hardly two
//            transactions are the same, although their blocks are
//   periods  four workers go from barrier to barrier, a million periods in ten million events, over
//            a grid of which each writes its own part and reads what its neighbours wrote before
//
// In the first two, 68% of the events are accesses to objects that a worker makes, uses and frees.
// However long a trace is, it is the same code on the same shared variables.
#pragma once

#include <cstdint>
#include <vector>

#include "event/event.h"
#include "event/names.h"
#include "predict_program.h"
#include "workload.h"

namespace tomos::bench {

enum class Variant : std::uint8_t { kLoops, kMixes, kPeriods };

class PredictWorkload {
 public:
  static constexpr std::uint64_t kLeast = 10'000;  // events of a trace

  PredictWorkload(Variant variant, std::uint64_t events, std::uint64_t seed);

  // The next events, about `count` of them; none at the end. The whole trace has exactly as many as
  // it should.
  void next(std::vector<Event>& events, std::size_t count);
  const Names& names() const { return names_; }

 private:
  struct Worker {
    std::vector<Event> todo;
    std::size_t next = 0;
    std::uint32_t runs = 0;   // rounds so far; or the method to be run once next
    bool is_waiting = false;  // at the barrier
    bool is_done = false;
  };

  void begin();
  void step();
  void end();
  void plan(ThreadId thread);
  void run_method(ThreadId thread, const Method& method);
  void run_round(ThreadId thread);
  void meet();
  void access_own(ThreadId thread, VariableId object, std::uint32_t method);
  void add(ThreadId thread, Op op, std::uint32_t object, std::uint32_t method, std::uint32_t line);
  void emit(ThreadId thread);
  void emit_all(ThreadId thread);
  bool has_room() const;
  ThreadId workers() const { return static_cast<ThreadId>(workers_.size() - 1); }

  Variant variant_;
  std::uint64_t events_;
  Random random_;
  PredictProgram program_;
  Names names_;
  std::vector<Worker> workers_;   // [0] is the main thread
  std::vector<ThreadId> holder_;  // of each lock; 0: nobody
  std::vector<Event>* out_ = nullptr;
  std::uint64_t emitted_ = 0;
  std::uint64_t planned_ = 0;  // to be emitted by workers
  bool is_over_ = false;
};

}  // namespace tomos::bench
