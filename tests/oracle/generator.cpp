// The generator draws a shape first (how many threads, how likely each operation is, how long a
// thread keeps running, whether locks guard the variables) and then events from that shape, keeping
// those that a valid trace may go on with. Because the weights themselves are random, serial runs,
// long overlapping transactions, mostly single accesses, well-locked programs, and threads that
// come and go all occur, and all mixtures of them.
#include "generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "random.h"
#include "validity.h"

namespace tomos::oracle {

namespace {

constexpr unsigned kMaxThreads = 160;
constexpr unsigned kMaxEvents = 600;
constexpr unsigned kMaxObjects = 8;

enum class Discipline : std::uint8_t {
  kNone,
  kGuarded,   // every access holds the variable's lock
  kTwoPhase,  // and no transaction acquires after it has released
};

struct Shape {
  unsigned events = 0;
  unsigned threads = 0;
  unsigned from_start = 0;  // threads that nobody forks
  unsigned variables = 0;
  unsigned locks = 0;
  unsigned stay = 0;       // percent: the same thread goes on
  unsigned favourite = 0;  // percent: an access is to the first variable
  unsigned enter = 0;      // percent: a thread outside a transaction begins one
  unsigned depth = 1;      // of nested transactions
  bool lingers = false;    // the first transaction of the first thread stays open
  bool close = false;      // end what is open at the end of the trace
  Discipline discipline = Discipline::kNone;
  std::array<std::uint32_t, kOpCount> weight{};

  std::uint32_t& operator[](Op op) { return weight[static_cast<std::size_t>(op)]; }
};

std::uint32_t scale(Random& random) {
  constexpr std::array<std::uint32_t, 4> kScales{1, 2, 5, 12};
  return kScales[random.below(kScales.size())];
}

void draw_weights(Random& random, Shape& shape) {
  shape[Op::kBegin] = 6 * scale(random);
  shape[Op::kEnd] = 3 * scale(random);
  const std::uint32_t accesses = shape.locks > 0 && random.percent(35) ? 2 : 12;
  shape[Op::kRead] = accesses * scale(random);
  shape[Op::kWrite] = accesses * scale(random);
  if (shape.locks > 0) {
    shape[Op::kAcquire] = 6 * scale(random);
    shape[Op::kRelease] = 12 * scale(random);
    if (random.percent(40)) {
      shape[Op::kReadAcquire] = 4 * scale(random);
      shape[Op::kReadRelease] = 8 * scale(random);
    }
  }
  if (shape.from_start < shape.threads) shape[Op::kFork] = 8 * scale(random);
  if (random.percent(40)) shape[Op::kJoin] = 8 * scale(random);
  if (random.percent(20)) shape[Op::kExit] = 4 * scale(random);
  if (random.percent(15)) shape[Op::kBarrier] = scale(random);
  if (random.percent(15)) shape[Op::kSignal] = shape[Op::kWait] = scale(random);
  if (random.percent(20)) shape[Op::kFree] = scale(random);
  if (random.percent(10)) shape[Op::kNew] = shape[Op::kEscape] = scale(random);
}

Shape draw_shape(Random& random) {
  Shape shape;
  const bool wide = random.below(500) == 0;
  const bool big = !wide && random.percent(2);
  if (wide) {
    shape.threads = random.between(70, 130);
    shape.events = random.between(200, 500);
  } else if (big) {
    shape.threads = random.between(2, 12);
    shape.events = random.between(40, 300);
  } else {
    shape.threads = random.between(2, 5);
    shape.events = random.between(8, 40);
  }
  shape.from_start = shape.threads;
  if (random.percent(50)) {
    shape.from_start = random.between(1, shape.threads);
    if (random.percent(50)) shape.threads += 3;  // threads that replace ended ones
  }
  shape.variables = random.between(1, big || wide ? kMaxObjects : 4);
  shape.locks = random.percent(40) ? 0 : random.between(1, 3);
  constexpr std::array<unsigned, 6> kStay{0, 0, 30, 50, 80, 95};
  shape.stay = kStay[random.below(kStay.size())];
  shape.favourite = random.percent(25) ? 70 : 0;
  constexpr std::array<unsigned, 5> kEnter{4, 25, 50, 75, 95};
  shape.enter = kEnter[random.below(kEnter.size())];
  shape.depth = random.percent(30) ? 3 : 1;
  shape.lingers = random.percent(25);
  shape.close = random.percent(50);
  draw_weights(random, shape);
  if (shape.locks > 0 && random.percent(30)) {
    shape.discipline = random.percent(50) ? Discipline::kGuarded : Discipline::kTwoPhase;
  }
  if (random.percent(15)) shape[Op::kEnd] = 1;                   // long transactions
  if (shape.from_start < shape.threads && random.percent(40)) {  // threads come and go
    shape.enter = std::min(shape.enter, 50U);
    shape.from_start = std::min(shape.from_start, 2U);
    shape.events += 10;
    shape.variables = std::max(shape.variables, 3U);
    shape[Op::kEnd] = 20;
    shape[Op::kJoin] = 40;
  }
  // Someone must be there to go on beside it.
  if (shape.lingers) shape.from_start = std::max(shape.from_start, 2U);
  if (wide) {
    shape.stay = std::min(shape.stay, 30U);
    shape.enter = std::max(shape.enter, 50U);
    shape[Op::kEnd] = random.between(1, 4);
  }
  return shape;
}

Event plain_event(ThreadId thread, Op op) {
  return {.thread = thread, .object = 0, .location = 0, .op = op, .spare = 0, .count = 0};
}

bool ends(Op op) {
  return op == Op::kEnd || op == Op::kFork || op == Op::kJoin || op == Op::kBarrier ||
         op == Op::kSignal || op == Op::kWait;
}

bool is_release(Op op) { return op == Op::kRelease || op == Op::kReadRelease; }

class Generator {
 public:
  Generator(Random random, const Shape& shape) : random_(random), shape_(shape) {
    for (ThreadId thread = 0; thread < shape.from_start; ++thread) live_.push_back(thread);
    forked_ = shape.from_start;
    depth_.resize(shape.threads);
    released_.resize(shape.threads);
  }

  Trace run() {
    ThreadId thread = live_[random_.below(size(live_))];
    for (unsigned failures = 0; trace_.size() < shape_.events && failures < 60;) {
      if (live_.empty()) break;
      if (!random_.percent(shape_.stay) || std::ranges::find(live_, thread) == live_.end()) {
        thread = live_[random_.below(size(live_))];
      }
      if (step(thread)) {
        failures = 0;
      } else {
        ++failures;
        thread = live_[random_.below(size(live_))];
      }
    }
    if (shape_.close) {
      for (const ThreadId open : live_) {
        while (emit(
            {.thread = open, .object = 0, .location = 0, .op = Op::kEnd, .spare = 0, .count = 0})) {
        }
      }
    }
    number_events(trace_);
    return std::move(trace_);
  }

 private:
  template <class T>
  static std::uint32_t size(const std::vector<T>& v) {
    return static_cast<std::uint32_t>(v.size());
  }

  Op draw_op() {
    std::uint32_t sum = 0;
    for (const std::uint32_t weight : shape_.weight) sum += weight;
    std::uint32_t pick = random_.below(sum);
    std::size_t op = 0;
    while (pick >= shape_.weight[op]) pick -= shape_.weight[op++];
    return static_cast<Op>(op);
  }

  bool step(ThreadId thread) {
    const bool enters = depth_[thread] == 0 && random_.percent(shape_.enter);
    Event event = plain_event(thread, enters ? Op::kBegin : draw_op());
    if (event.op == Op::kBegin && depth_[thread] >= shape_.depth) return false;
    if (shape_.lingers && thread == 0 && depth_[0] == 1 && ends(event.op)) return false;
    draw_object(event);
    if (shape_.discipline != Discipline::kNone && !keep_discipline(event)) return false;
    return emit(event);
  }

  void draw_object(Event& event) {
    switch (object_kind(event.op)) {
      case NameKind::kVariable:
        event.object = random_.percent(shape_.favourite) ? 0 : random_.below(shape_.variables);
        break;
      case NameKind::kLock:
        event.object = random_.below(shape_.locks);
        // A release is of a lock that is held, if there is one.
        for (unsigned i = 0; i < shape_.locks && is_release(event.op); ++i) {
          if (validity_.holds(event.thread, event.object) != Validity::Hold::kNone) break;
          event.object = (event.object + 1) % shape_.locks;
        }
        break;
      case NameKind::kThread:
        event.object = event.op == Op::kFork ? forked_ : random_.below(forked_);
        break;
      case NameKind::kBarrier:
        event.object = random_.below(2);
        if (event.op == Op::kBarrier) event.count = static_cast<std::uint16_t>(event.object + 1);
        break;
      case NameKind::kLabel:
      case NameKind::kLocation:
        break;
    }
  }

  // Turns an access without its lock into the acquire of it, and says no to an acquire after a
  // release.
  bool keep_discipline(Event& event) {
    if (event.op == Op::kRead || event.op == Op::kWrite) {
      const LockId guard = event.object % shape_.locks;
      const Validity::Hold hold = validity_.holds(event.thread, guard);
      if (hold == Validity::Hold::kWrite) return true;
      if (hold == Validity::Hold::kRead && event.op == Op::kRead) return true;
      const bool shared = event.op == Op::kRead && shape_[Op::kReadAcquire] > 0;
      event.op = shared ? Op::kReadAcquire : Op::kAcquire;
      event.object = guard;
    }
    const bool acquires = event.op == Op::kAcquire || event.op == Op::kReadAcquire;
    return shape_.discipline == Discipline::kGuarded || !acquires || depth_[event.thread] == 0 ||
           !released_[event.thread];
  }

  bool emit(const Event& event) {
    if (event.op == Op::kFork && event.object >= shape_.threads) return false;
    if (!validity_.take(event)) return false;
    trace_.push_back(event);
    switch (event.op) {
      case Op::kBegin:
        if (depth_[event.thread]++ == 0) released_[event.thread] = false;
        break;
      case Op::kEnd:
        --depth_[event.thread];
        break;
      case Op::kRelease:
      case Op::kReadRelease:
        released_[event.thread] = true;
        break;
      case Op::kFork:
        live_.push_back(event.object);
        ++forked_;
        break;
      case Op::kJoin:
        std::erase(live_, event.object);
        break;
      case Op::kExit:
        std::erase(live_, event.thread);
        break;
      case Op::kRead:
      case Op::kWrite:
      case Op::kAcquire:
      case Op::kReadAcquire:
      case Op::kBarrier:
      case Op::kSignal:
      case Op::kWait:
      case Op::kNew:
      case Op::kEscape:
      case Op::kFree:
        break;
    }
    return true;
  }

  Random random_;
  Shape shape_;
  Validity validity_;
  Trace trace_;
  std::vector<ThreadId> live_;
  ThreadId forked_ = 0;  // the next thread to fork
  std::vector<unsigned> depth_;
  std::vector<bool> released_;  // something, since the transaction began
};

Names make_names() {
  Names names;
  for (unsigned i = 0; i < kMaxThreads; ++i) names.add(NameKind::kThread, fmt::format("T{}", i));
  for (unsigned i = 0; i < kMaxObjects; ++i) {
    names.add(NameKind::kVariable, fmt::format("V{}", i));
    names.add(NameKind::kLock, fmt::format("L{}", i));
    names.add(NameKind::kBarrier, fmt::format("B{}", i));
  }
  for (unsigned i = 1; i <= kMaxEvents; ++i) names.add(NameKind::kLabel, fmt::format("a{}", i));
  return names;
}

std::string std_operation(const Event& event) {
  constexpr std::array<const char*, kOpCount> kWords{
      "begin", "end",     "r",   "w",      "acq",  "rel",  "racq",   "rrel", "fork",
      "join",  "barrier", "new", "escape", "free", "exit", "signal", "wait"};
  const char* word = kWords[static_cast<std::size_t>(event.op)];
  if (object_kind(event.op) == NameKind::kLocation) return word;
  const std::string object = names().name(object_kind(event.op), event.object);
  if (event.op == Op::kBarrier) return fmt::format("{}({},{})", word, object, event.count);
  return fmt::format("{}({})", word, object);
}

}  // namespace

Trace random_trace(std::uint64_t seed, std::uint64_t index) {
  Random random(seed, index);
  const Shape shape = draw_shape(random);
  return Generator(random, shape).run();
}

void number_events(Trace& trace) {
  LabelId label = 0;
  LocationId location = 0;
  for (Event& event : trace) {
    event.location = kNumericLocation | ++location;
    if (event.op == Op::kBegin) event.object = ++label;
  }
}

const Names& names() {
  static const Names kNames = make_names();
  return kNames;
}

std::string to_std(const Trace& trace) {
  std::string text;
  for (const Event& event : trace) {
    text += fmt::format("{}|{}|{}\n", names().name(NameKind::kThread, event.thread),
                        std_operation(event), names().name(NameKind::kLocation, event.location));
  }
  return text;
}

}  // namespace tomos::oracle
