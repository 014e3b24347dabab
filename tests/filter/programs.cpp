// A shape is drawn first, then a few functions that all threads may call, then the text of every
// thread, with its loops unrolled: what stands in a loop has the same place every time round. The
// threads then run in random order until all are done or stuck, or the trace is long enough.
#include "programs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "oracle/random.h"
#include "oracle/validity.h"
#include "simulate.h"

namespace tomos::filter {

namespace {

using oracle::Random;
using Text = std::vector<Event>;

struct Shape {
  std::uint32_t threads = 2;
  std::uint32_t cells = 2;
  bool fields = false;  // both variables of a cell are used
  std::uint32_t locks = 0;
  std::uint32_t events = 60;      // the longest run
  std::uint32_t writes = 50;      // percent of the accesses
  std::uint32_t loops = 30;       // percent of the statements, and so on
  std::uint32_t sections = 0;     // critical
  std::uint32_t blocks = 25;      // transactions
  std::uint32_t atomics = 0;      // percent of the accesses
  std::uint32_t frees = 0;        // percent of the statements
  std::uint32_t read_locks = 0;   // percent of the acquires
  std::uint32_t sweeps = 0;       // percent of the accesses
  std::uint32_t skipped = 0;      // percent: an access is not made this time round
  std::uint32_t guarded = 0;      // percent: an access takes its variable's lock
  std::uint32_t own_blocks = 50;  // percent: a critical section is a transaction
  bool main = false;              // the first thread forks and joins the others
  bool barrier = false;
  std::uint32_t signals = 0;  // percent
};

Shape draw_shape(Random& random) {
  constexpr std::array<std::uint32_t, 4> kPercents{10, 30, 50, 80};
  const auto percent = [&] { return kPercents[random.below(kPercents.size())]; };
  Shape shape;
  shape.threads = random.percent(60) ? 2 : random.between(3, 4);
  shape.cells = random.between(1, 3);
  shape.fields = random.percent(25);
  shape.events = random.percent(95) ? random.between(8, 34) : random.between(34, 80);
  shape.writes = percent();
  shape.loops = random.between(15, 45);
  shape.blocks = random.between(5, 40);
  if (random.percent(65)) {
    shape.locks = random.between(1, 3);
    shape.sections = random.between(5, 30);
    shape.read_locks = random.percent(30) ? 40 : 0;
    shape.guarded = random.percent(40) ? percent() : 0;
    shape.own_blocks = percent();
  }
  shape.atomics = random.percent(25) ? percent() : 0;
  shape.frees = random.percent(15) ? 5 : 0;
  if (random.percent(30)) {
    shape.sweeps = percent();
    shape.cells = random.between(2, 6);
  }
  shape.skipped = random.percent(30) ? 20 : 0;
  shape.main = random.percent(30);
  shape.barrier = random.percent(12);
  shape.signals = random.percent(12) ? 30 : 0;
  return shape;
}

class Author {
 public:
  Author(Random& random, const Shape& shape) : random_(random), shape_(shape) {}

  std::vector<Text> run() {
    for (std::uint32_t i = random_.below(3); i > 0; --i) {
      Text function;
      transaction(function, 0);
      functions_.push_back(std::move(function));
    }
    std::vector<Text> program(shape_.threads);
    for (Text& text : program) {
      const std::uint32_t parts = shape_.barrier ? 2 : 1;
      for (std::uint32_t part = 0; part < parts; ++part) {
        if (part > 0) add(text, Op::kBarrier, 0, static_cast<std::uint16_t>(shape_.threads));
        for (std::uint32_t i = random_.between(1, 3); i > 0; --i) statement(text, 0);
      }
    }
    if (shape_.main) {
      Text& text = program[0];
      const bool one_block = random_.percent(15);
      for (ThreadId t = 1; t < shape_.threads; ++t) {
        text.insert(text.begin(), event(Op::kFork, t, next_place()));
        if (random_.percent(80)) add(text, Op::kJoin, t, next_place());
      }
      if (one_block) {
        text.insert(text.begin(), event(Op::kBegin, 0, next_label()));
        add(text, Op::kEnd, 0, next_place());
      }
      if (random_.percent(30)) block(text, 1);
    }
    for (ThreadId t = 0; t < shape_.threads; ++t) {
      for (Event& e : program[t]) e.thread = t;
    }
    return program;
  }

 private:
  struct Held {
    LockId lock = 0;
    bool read = false;
  };

  static Event event(Op op, std::uint32_t object, std::uint16_t count, Form form = Form::kPlain) {
    return {.thread = 0,
            .object = object,
            .location = 0,
            .op = op,
            .spare = static_cast<std::uint8_t>(form),
            .count = count};
  }
  static void add(Text& text, Op op, std::uint32_t object, std::uint16_t count) {
    text.push_back(event(op, object, count));
  }

  // Places and labels stand in one row: a begin has its label as place.
  std::uint16_t next_place() { return ++place_; }
  std::uint16_t next_label() { return ++label_; }

  VariableId variable() {
    const std::uint32_t cell = random_.below(shape_.cells);
    return 2 * cell + (shape_.fields ? random_.below(2) : 0);
  }

  // One place goes over some cells, in either direction.
  void sweep(Text& text) {
    const auto place = static_cast<std::uint16_t>(kSweepingPlaces + next_place());
    const Op op = random_.percent(shape_.writes) ? Op::kWrite : Op::kRead;
    const bool wide = shape_.fields && random_.percent(30);
    const std::uint32_t field = shape_.fields && !wide ? random_.below(2) : 0;
    const std::uint32_t first = random_.below(shape_.cells);
    const std::uint32_t count = random_.between(1, shape_.cells);
    const bool down = random_.percent(20);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t cell = (first + (down ? count - i : i)) % shape_.cells;
      text.push_back(event(op, 2 * cell + field, place, wide ? Form::kWide : Form::kPlain));
    }
  }

  void access(Text& text) {
    if (random_.percent(shape_.sweeps)) return sweep(text);
    const VariableId what = variable();
    const bool guarded = shape_.locks > 0 && random_.percent(shape_.guarded);
    const std::size_t before = held_.size();
    if (guarded) acquire(text, what % shape_.locks);
    Op op = random_.percent(shape_.writes) ? Op::kWrite : Op::kRead;
    Form form = Form::kPlain;
    if (random_.percent(shape_.atomics)) {
      form = Form::kAtomic;
      if (op == Op::kWrite && random_.percent(50)) form = Form::kUpdate;
    } else if (shape_.fields && random_.percent(20)) {
      form = Form::kWide;
    }
    text.push_back(event(op, what, next_place(), form));
    // x += 1
    if (op == Op::kRead && form == Form::kPlain && random_.percent(20)) {
      text.push_back(event(Op::kWrite, what, next_place()));
    }
    release_to(text, before);
  }

  void acquire(Text& text, LockId lock) {
    const auto mine = std::ranges::find(held_, lock, &Held::lock);
    const bool read = mine == held_.end() ? random_.percent(shape_.read_locks) : mine->read;
    held_.push_back({.lock = lock, .read = read});
    add(text, read ? Op::kReadAcquire : Op::kAcquire, lock, next_place());
  }

  void release_to(Text& text, std::size_t count) {
    while (held_.size() > count) {
      const Held last = held_.back();
      held_.pop_back();
      add(text, last.read ? Op::kReadRelease : Op::kRelease, last.lock, next_place());
    }
  }

  void block(Text& text, unsigned depth) {
    for (std::uint32_t i = random_.between(1, 3); i > 0; --i) statement(text, depth);
  }

  void loop(Text& text, unsigned depth) {
    Text body;
    block(body, depth + 1);
    for (std::uint32_t times = random_.between(2, 5); times > 0; --times) {
      for (const Event& e : body) {
        if (!is_access(e.op) || !random_.percent(shape_.skipped)) text.push_back(e);
      }
    }
  }

  void section(Text& text, unsigned depth) {
    const std::size_t before = held_.size();
    const bool own = before == 0 && !inside_ && random_.percent(shape_.own_blocks);
    if (own) begin(text);
    acquire(text, random_.below(shape_.locks));
    block(text, depth + 1);
    release_to(text, before);
    if (own) end(text);
  }

  void begin(Text& text) {
    inside_ = true;
    add(text, Op::kBegin, 0, next_label());
  }
  void end(Text& text) {
    inside_ = false;
    add(text, Op::kEnd, 0, next_place());
  }

  void transaction(Text& text, unsigned depth) {
    const bool outer = !inside_;
    if (outer || random_.percent(20)) {
      begin(text);
      block(text, depth + 1);
      end(text);
      inside_ = !outer;
    } else {
      block(text, depth + 1);
    }
  }

  void statement(Text& text, unsigned depth) {
    constexpr unsigned kDeepest = 3;
    const std::uint32_t kind = random_.below(100);
    if (random_.percent(shape_.frees)) {
      text.push_back(
          event(Op::kFree, variable(), next_place(), shape_.fields ? Form::kWide : Form::kPlain));
    } else if (random_.percent(shape_.signals)) {
      add(text, random_.percent(50) ? Op::kSignal : Op::kWait, 1 + random_.below(2), next_place());
    } else if (depth < kDeepest && kind < shape_.loops) {
      loop(text, depth);
    } else if (depth < kDeepest && kind < shape_.loops + shape_.sections) {
      section(text, depth);
    } else if (depth < kDeepest && kind < shape_.loops + shape_.sections + shape_.blocks) {
      if (!inside_ && !functions_.empty() && random_.percent(60)) {
        const Text& called =
            functions_[random_.below(static_cast<std::uint32_t>(functions_.size()))];
        text.insert(text.end(), called.begin(), called.end());
      } else {
        transaction(text, depth);
      }
    } else {
      access(text);
    }
  }

  Random& random_;
  const Shape& shape_;
  std::vector<Text> functions_;
  std::vector<Held> held_;
  bool inside_ = false;  // a transaction
  std::uint16_t place_ = 300;
  std::uint16_t label_ = 0;
};

Raw run(Random& random, const std::vector<Text>& program, std::uint32_t longest) {
  constexpr std::array<std::uint32_t, 5> kStay{0, 40, 70, 90, 97};
  const std::uint32_t stay = kStay[random.below(kStay.size())];
  const auto threads = static_cast<std::uint32_t>(program.size());
  std::vector<std::size_t> next(threads);
  std::vector<bool> waits(threads);  // to be forked
  for (const Text& text : program) {
    for (const Event& e : text) {
      if (e.op == Op::kFork) waits[e.object] = true;
    }
  }
  oracle::Validity validity;
  const auto step = [&](ThreadId thread) {
    if (waits[thread] || next[thread] == program[thread].size()) return false;
    const Event& e = program[thread][next[thread]];
    if (e.op == Op::kJoin && next[e.object] < program[e.object].size()) return false;
    if (!validity.take(e)) return false;
    if (e.op == Op::kFork) waits[e.object] = false;
    return true;
  };
  Raw raw;
  ThreadId thread = random.below(threads);
  while (raw.size() < longest) {
    if (!random.percent(stay)) thread = random.below(threads);
    std::uint32_t tried = 0;
    while (tried < threads && !step(thread)) {
      thread = (thread + 1) % threads;
      ++tried;
    }
    if (tried == threads) break;
    raw.push_back(program[thread][next[thread]++]);
  }
  return raw;
}

}  // namespace

Raw random_raw(std::uint64_t seed, std::uint64_t index) {
  Random random(seed, index);
  const Shape shape = draw_shape(random);
  const std::vector<Text> program = Author(random, shape).run();
  return run(random, program, shape.events);
}

}  // namespace tomos::filter
