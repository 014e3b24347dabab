// A shape is drawn first (how many threads, which style of locking, whether there is a main thread,
// a barrier, a variable that escapes), then the text of every thread, then an order in which they
// run. The shapes are families: each looks at something else, and some of what the others look at
// is mixed in.
#include "programs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "event/names.h"
#include "model.h"
#include "oracle/random.h"
#include "oracle/validity.h"

namespace tomos::predict {

namespace {

using oracle::Random;
using Program = std::vector<std::vector<Event>>;  // what each thread does

// Brute force looks at every state of all threads, with all that may have been read in it.
struct Limits {
  std::size_t steps;
  std::size_t states;
};
constexpr Limits kSmall{.steps = 24, .states = 4000};
constexpr Limits kLarge{.steps = 32, .states = 20000};

enum class Locking : std::uint8_t {
  kNone,
  kNested,   // blocks in blocks, as `synchronized` makes them
  kHanded,   // acquired and released in any order: hand over hand
  kGuarded,  // every variable has a lock, taken for each access or for the whole transaction
};

struct Shape {
  std::uint32_t workers = 2;
  std::uint32_t least = 1;  // transactions of a worker
  std::uint32_t most = 1;
  std::uint32_t fewest = 1;    // accesses of a transaction
  std::uint32_t accesses = 4;  // at most
  std::uint32_t variables = 2;
  std::uint32_t locks = 0;
  std::uint32_t writes = 50;  // percent of the accesses
  Locking locking = Locking::kNone;
  std::uint32_t locked = 40;     // percent: a lock is acquired before the next access
  bool ordered = true;           // no lock is acquired under a later one, so there is no deadlock
  std::uint32_t read_locks = 0;  // percent of the acquires
  std::uint32_t again = 0;       // percent: a held lock is acquired again
  std::uint32_t outside = 0;     // percent: an access before and after each transaction
  std::uint32_t across = 0;      // percent: a lock is held across the border of a transaction
  bool main = false;             // a thread that forks and joins the others
  bool barrier = false;
  std::uint32_t signals = 0;  // signals and waits of a worker, at most
  bool made = false;          // variable 0 is made by new
  bool large = false;
  bool ring = false;  // each worker shares one variable with the next, one with the one before
};

Event event(ThreadId thread, Op op, std::uint32_t object = 0, std::uint16_t count = 0) {
  return {.thread = thread, .object = object, .location = 0, .op = op, .spare = 0, .count = count};
}

Shape draw_shape(Random& random) {
  Shape shape;
  const std::uint32_t family = random.below(100);
  shape.variables = random.between(1, 3);
  constexpr std::array<std::uint32_t, 4> kWrites{30, 50, 50, 70};
  shape.writes = kWrites[random.below(kWrites.size())];
  if (family < 24) {  // two transactions
    shape.accesses = random.between(2, 5);
  } else if (family < 32) {
    shape.ring = true;
    shape.workers = shape.variables = 3;
    shape.fewest = 2;
    shape.accesses = random.between(2, 3);
  } else if (family < 44) {  // three threads
    shape.workers = 3;
    shape.accesses = random.between(2, 3);
    if (random.percent(50)) shape.variables = 3;
    if (random.percent(50)) shape.fewest = 2;
  } else if (family < 55) {  // several in a thread
    shape.most = 2;
    shape.accesses = random.between(2, 3);
  } else if (family < 65) {  // one variable
    shape.variables = 1;
    shape.workers = random.between(2, 4);
    shape.most = shape.workers == 2 ? 2 : 1;
    shape.accesses = shape.workers == 4 ? 2 : 3;
  } else if (family < 76) {
    shape.main = true;
    shape.accesses = random.between(1, 3);
  } else if (family < 82) {
    shape.barrier = true;
    shape.least = shape.most = 2;
    shape.workers = random.percent(75) ? 2 : 3;
    shape.accesses = shape.workers == 2 ? 3 : 2;
  } else if (family < 88) {
    shape.outside = 50;
    shape.most = 2;
  } else if (family < 94) {
    shape.made = true;
    shape.main = random.percent(50);
    shape.most = 2;
  } else {
    shape.across = 50;
    shape.most = 2;
  }
  shape.large = random.percent(5);
  if (shape.large) shape.accesses += 2;
  const bool many_locks = random.percent(18);
  if (many_locks) shape.accesses = 2;
  if (many_locks && shape.most == 1 && random.percent(30)) shape.workers = 3;
  if (random.percent(5)) shape.main = true;
  if (random.percent(4)) shape.barrier = true;
  if (random.percent(12)) shape.signals = random.between(1, 3);
  if (random.percent(4)) shape.made = true;
  if (random.percent(8)) shape.outside = 30;
  if (random.percent(5)) shape.across = 40;
  if (random.percent(75) || shape.across > 0 || many_locks) {
    shape.locks = random.between(many_locks ? 2 : 1, 3);
    shape.locked = many_locks ? 70 : 40;
    constexpr std::array kLockings{Locking::kNested, Locking::kHanded, Locking::kGuarded};
    shape.locking = kLockings[random.below(many_locks ? 2 : kLockings.size())];
    shape.ordered = random.percent(many_locks ? 30 : 75);
    shape.read_locks = random.percent(20) ? 50 : 0;
    shape.again = random.percent(20) ? 30 : 0;
  }
  return shape;
}

class Author {
 public:
  Author(Random& random, const Shape& shape) : random_(random), shape_(shape) {}

  Program run() {
    const ThreadId first = shape_.main ? 1 : 0;
    program_.resize(first + shape_.workers);
    held_.resize(program_.size());
    const bool all_meet = shape_.workers < 3 || random_.percent(70);
    const std::uint32_t meet = all_meet ? shape_.workers : 2;
    const std::uint32_t meetings = shape_.barrier ? (random_.percent(15) ? 2 : 1) : 0;
    for (std::uint32_t w = 0; w < shape_.workers; ++w) {
      self_ = first + w;
      worker(w < meet ? meetings : 0, static_cast<std::uint16_t>(meet));
    }
    if (shape_.main) main_thread();
    if (shape_.made) make_variable();
    if (random_.percent(3)) {
      put(random_thread(), 0, event(0, Op::kFree, random_.below(shape_.variables)));
    }
    return std::move(program_);
  }

 private:
  struct Held {
    LockId lock = 0;
    bool read = false;
  };

  void add(Op op, std::uint32_t object = 0, std::uint16_t count = 0) {
    program_[self_].push_back(event(self_, op, object, count));
  }

  ThreadId random_thread() { return random_.below(static_cast<std::uint32_t>(program_.size())); }

  // Somewhere in a thread, not before `least`. Returns the place.
  std::size_t put(ThreadId thread, std::size_t least, Event what) {
    std::vector<Event>& events = program_[thread];
    const std::size_t room = events.size() - least;
    const std::size_t place = least + random_.below(static_cast<std::uint32_t>(room) + 1);
    what.thread = thread;
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(place), what);
    return place;
  }

  VariableId variable() {
    return shape_.ring ? (self_ + random_.below(2)) % shape_.variables
                       : random_.below(shape_.variables);
  }

  void access(VariableId what) {
    add(random_.percent(shape_.writes) ? Op::kWrite : Op::kRead, what);
  }

  void access() { access(variable()); }

  // False if no lock may be acquired now.
  bool acquire(LockId lock) {
    std::vector<Held>& held = held_[self_];
    const auto mine = std::ranges::find(held, lock, &Held::lock);
    bool read = random_.percent(shape_.read_locks);
    if (mine != held.end()) {
      if (!random_.percent(shape_.again)) return false;
      read = mine->read;
    } else if (shape_.ordered &&
               std::ranges::any_of(held, [&](const Held& h) { return h.lock > lock; })) {
      return false;
    }
    held.push_back({.lock = lock, .read = read});
    add(read ? Op::kReadAcquire : Op::kAcquire, lock);
    return true;
  }

  bool acquire() { return shape_.locks > 0 && acquire(random_.below(shape_.locks)); }

  void release(std::size_t which) {
    std::vector<Held>& held = held_[self_];
    const Held last = held[which];
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
    add(last.read ? Op::kReadRelease : Op::kRelease, last.lock);
  }

  void release_to(std::size_t count, bool in_any_order) {
    std::vector<Held>& held = held_[self_];
    while (held.size() > count) {
      const auto more = static_cast<std::uint32_t>(held.size() - count);
      release(in_any_order ? count + random_.below(more) : held.size() - 1);
    }
  }

  void nested(std::uint32_t accesses) {
    std::uint32_t left = accesses;
    const std::size_t before = held_[self_].size();
    while (left > 0 || random_.percent(shape_.locked / 3)) {
      if (random_.percent(shape_.locked) && acquire()) {
        const std::uint32_t inner = random_.below(left + 1);
        nested(inner);
        left -= inner;
        release_to(before, false);
      } else if (left > 0) {
        access();
        --left;
      }
    }
  }

  void handed(std::uint32_t accesses) {
    const std::size_t before = held_[self_].size();
    for (std::uint32_t left = accesses; left > 0;) {
      const auto mine = static_cast<std::uint32_t>(held_[self_].size() - before);
      if (random_.percent(shape_.locked)) {
        acquire();
      } else if (mine > 0 && random_.percent(30)) {
        release(before + random_.below(mine));
      } else {
        access();
        --left;
      }
    }
    release_to(before, true);
  }

  void guarded(std::uint32_t accesses) {
    const std::size_t before = held_[self_].size();
    const bool whole = random_.percent(50);
    for (LockId lock = 0; whole && lock < shape_.locks; ++lock) acquire(lock);
    for (std::uint32_t left = accesses; left > 0; --left) {
      const VariableId what = variable();
      const std::size_t outer = held_[self_].size();
      if (!random_.percent(10)) acquire(what % shape_.locks);
      access(what);
      release_to(outer, false);
    }
    release_to(before, false);
  }

  void body() {
    const std::uint32_t accesses =
        random_.percent(4) ? 0 : random_.between(shape_.fewest, shape_.accesses);
    switch (shape_.locking) {
      case Locking::kNone:
        for (std::uint32_t i = 0; i < accesses; ++i) access();
        break;
      case Locking::kNested:
        nested(accesses);
        break;
      case Locking::kHanded:
        handed(accesses);
        break;
      case Locking::kGuarded:
        guarded(accesses);
        break;
    }
  }

  void across() {
    if (random_.percent(shape_.across)) acquire();
    if (random_.percent(shape_.across) && !held_[self_].empty()) {
      release(random_.below(static_cast<std::uint32_t>(held_[self_].size())));
    }
  }

  void outside() {
    if (!random_.percent(shape_.outside)) return;
    const std::size_t before = held_[self_].size();
    if (random_.percent(50)) acquire();
    access();
    release_to(before, false);
  }

  void transaction() {
    outside();
    across();
    add(Op::kBegin);
    across();
    const bool inner = random_.percent(4);
    if (inner) add(Op::kBegin);
    body();
    if (inner) add(Op::kEnd);
    across();
    add(Op::kEnd);
    across();
    outside();
  }

  void worker(std::uint32_t meetings, std::uint16_t meet) {
    const std::uint32_t transactions = random_.between(shape_.least, shape_.most);
    for (std::uint32_t t = 0; t < transactions; ++t) transaction();
    while (!held_[self_].empty()) release(held_[self_].size() - 1);
    // A barrier stands anywhere, even inside a transaction or under a lock.
    std::size_t last = 0;
    for (std::uint32_t m = 0; m < meetings; ++m) {
      last = meet_at(last, event(self_, Op::kBarrier, 0, meet)) + 1;
    }
    for (std::uint32_t s = shape_.signals > 0 ? random_.below(shape_.signals + 1) : 0; s > 0; --s) {
      const Op op = random_.percent(50) ? Op::kSignal : Op::kWait;
      meet_at(0, event(self_, op, random_.below(2)));
    }
    if (random_.percent(3)) add(Op::kExit);
  }

  std::size_t meet_at(std::size_t least, const Event& barrier) {
    if (random_.percent(30)) return put(self_, least, barrier);
    std::vector<std::size_t> borders;
    unsigned depth = 0;
    for (std::size_t i = 0; i < program_[self_].size(); ++i) {
      const Op op = program_[self_][i].op;
      if (op == Op::kBegin && depth++ == 0 && i >= least) borders.push_back(i);
      if (op == Op::kEnd && --depth == 0 && i >= least) borders.push_back(i + 1);
    }
    if (borders.empty()) return put(self_, least, barrier);
    const std::size_t place = borders[random_.below(static_cast<std::uint32_t>(borders.size()))];
    program_[self_].insert(program_[self_].begin() + static_cast<std::ptrdiff_t>(place), barrier);
    return place;
  }

  void main_thread() {
    self_ = 0;
    const auto threads = static_cast<ThreadId>(program_.size());
    const bool one_block = random_.percent(15);  // cut up by what it forks and joins
    if (one_block) add(Op::kBegin);
    const auto some = [&](std::uint32_t chance) {
      if (!random_.percent(chance)) return;
      if (one_block) {
        body();
      } else {
        transaction();
      }
    };
    some(40);
    for (ThreadId t = 1; t < threads; ++t) {
      if (t > 1 && random_.percent(10)) {
        put(t - 1, 0, event(t - 1, Op::kFork, t));
      } else {
        add(Op::kFork, t);
      }
      some(20);
    }
    for (ThreadId t = 1; t < threads; ++t) {
      if (random_.percent(80)) add(Op::kJoin, t);
      some(25);
    }
    if (one_block) add(Op::kEnd);
    while (!held_[self_].empty()) release(held_[self_].size() - 1);
  }

  // By one of the threads, before it does anything with it.
  void make_variable() {
    const ThreadId maker = shape_.main && random_.percent(70) ? 0 : random_thread();
    const auto uses = [](const Event& e) { return is_access(e.op) && e.object == 0; };
    const auto use = std::ranges::find_if(program_[maker], uses);
    const auto before = static_cast<std::uint32_t>(use - program_[maker].begin());
    const std::size_t place = random_.below(before + 1);
    program_[maker].insert(program_[maker].begin() + static_cast<std::ptrdiff_t>(place),
                           event(maker, Op::kNew));
    const std::size_t shared = put(maker, place + 1, event(maker, Op::kEscape));
    if (!random_.percent(35)) return;
    const std::size_t freed = put(maker, shared + 1, event(maker, Op::kFree));
    if (random_.percent(30)) {
      const std::size_t again = put(maker, freed + 1, event(maker, Op::kNew));
      put(maker, again + 1, event(maker, Op::kEscape));
    }
  }

  Random& random_;
  const Shape& shape_;
  Program program_;
  std::vector<std::vector<Held>> held_;
  ThreadId self_ = 0;  // who is being written
};

// A run of the program in random order; nothing if it gets stuck, or a variable would be used
// before it is there.
class Runner {
 public:
  Runner(const Program& program, Random& random)
      : program_(program), random_(random), next_(program.size()), waits_(program.size()) {
    for (const std::vector<Event>& events : program) {
      for (const Event& e : events) {
        if (e.op == Op::kFork) waits_[e.object] = true;
        if (e.op == Op::kNew) makers_[e.object] = e.thread;
      }
    }
  }

  std::optional<Trace> run() {
    constexpr std::array<std::uint32_t, 4> kStay{0, 40, 80, 95};
    const std::uint32_t stay = kStay[random_.below(kStay.size())];
    const auto threads = static_cast<std::uint32_t>(program_.size());
    ThreadId thread = random_.below(threads);
    Trace trace;
    for (;;) {
      if (!random_.percent(stay)) thread = random_.below(threads);
      std::uint32_t tried = 0;
      while (tried < threads && !step(thread)) {
        thread = (thread + 1) % threads;
        ++tried;
      }
      if (tried == threads) break;
      trace.push_back(program_[thread][next_[thread]++]);
    }
    for (ThreadId t = 0; t < threads; ++t) {
      if (next_[t] < program_[t].size()) return std::nullopt;
    }
    oracle::number_events(trace);
    return trace;
  }

 private:
  bool step(ThreadId thread) {
    if (waits_[thread] || next_[thread] == program_[thread].size()) return false;
    const Event& e = program_[thread][next_[thread]];
    if (e.op == Op::kJoin && next_[e.object] < program_[e.object].size()) return false;
    const bool uses = is_access(e.op) || e.op == Op::kFree;
    const std::optional<ThreadId> maker = uses ? makers_[e.object] : std::nullopt;
    if (maker && *maker != thread && !shared_[e.object]) return false;
    if (!validity_.take(e)) return false;
    if (e.op == Op::kFork) waits_[e.object] = false;
    if (e.op == Op::kNew) shared_[e.object] = false;
    if (e.op == Op::kEscape) shared_[e.object] = true;
    return true;
  }

  const Program& program_;
  Random& random_;
  oracle::Validity validity_;
  std::vector<std::size_t> next_;
  std::vector<bool> waits_;  // to be forked
  std::array<std::optional<ThreadId>, 8> makers_;
  std::array<bool, 8> shared_{};
};

bool fits(const Trace& trace, const Limits& limits) {
  std::size_t steps = 0;
  std::size_t states = 1;
  for (const std::vector<Step>& thread : model_of(trace).threads) {
    steps += thread.size();
    states *= thread.size() + 1;
  }
  return steps <= limits.steps && states <= limits.states;
}

}  // namespace

bool used_when_shared(const Trace& trace) {
  std::map<VariableId, ThreadId> makers;  // of what is local now
  return std::ranges::all_of(trace, [&](const Event& e) {
    if (object_kind(e.op) != NameKind::kVariable) return true;
    if (e.op == Op::kNew) makers[e.object] = e.thread;
    const auto maker = makers.find(e.object);
    if (maker == makers.end()) return true;
    const bool own = maker->second == e.thread;
    if (e.op == Op::kEscape || e.op == Op::kFree) makers.erase(maker);
    return own;
  });
}

Trace random_trace(std::uint64_t seed, std::uint64_t index) {
  Random random(seed, index);
  for (;;) {
    const Shape shape = draw_shape(random);
    const Program program = Author(random, shape).run();
    for (int tries = 0; tries < 5; ++tries) {
      std::optional<Trace> trace = Runner(program, random).run();
      if (trace && fits(*trace, shape.large ? kLarge : kSmall)) return *std::move(trace);
    }
  }
}

std::optional<Trace> observed_otherwise(const Trace& trace, std::uint64_t seed) {
  Random random(seed, trace.size());
  Program program;
  for (const Event& e : trace) {
    const bool names_thread = e.op == Op::kFork || e.op == Op::kJoin;
    const ThreadId highest = names_thread ? std::max(e.thread, e.object) : e.thread;
    if (highest >= program.size()) program.resize(highest + 1);
    program[e.thread].push_back(e);
  }
  const Model model = model_of(trace);
  for (int tries = 0; tries < 5; ++tries) {
    std::optional<Trace> other = Runner(program, random).run();
    if (other && *other != trace && same_model(model_of(*other), model)) return other;
  }
  return std::nullopt;
}

}  // namespace tomos::predict
