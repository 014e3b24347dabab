#include "naive.h"

#include <array>
#include <utility>

namespace tomos::oracle {

namespace {

struct Access {
  std::uint32_t thread;
  std::uint32_t transaction;
  std::uint32_t variable;
  bool writes;
};

// Where a thread stands: what is left of each of the blocks around it, the innermost last.
struct Frame {
  const std::vector<Line>* lines;
  std::size_t at;
  const Line* loop;  // to be asked again at the end
  bool atomic;
};

struct Worker {
  const Task* task = nullptr;
  bool started = true;
  bool waiting = false;     // to be notified
  bool reacquires = false;  // after that
  std::vector<Frame> frames;
  std::array<bool, SmallProgram::kLocals> locals{};
  std::uint32_t transaction = 0;  // 0: none is open

  bool ended() const { return started && frames.empty(); }
  bool in_atomic() const {
    for (const Frame& frame : frames) {
      if (frame.atomic) return true;
    }
    return false;
  }
};

struct World {
  std::array<bool, SmallProgram::kShared> shared{};
  std::array<int, SmallProgram::kLocks> owner{};  // thread + 1
  std::vector<Worker> workers;
  std::vector<Access> accesses;
  std::uint32_t transactions = 0;
  std::uint32_t looks = 0;  // at shared variables
};

class Naive {
 public:
  Naive(const SmallProgram& program, std::uint32_t most_steps)
      : program_(program), most_steps_(most_steps) {
    for (std::size_t i = 0; i < program.tasks.size(); ++i) {
      first_.push_back(static_cast<std::uint32_t>(tasks_.size()));
      for (std::uint32_t j = 0; j < program.tasks[i].count; ++j) {
        tasks_.push_back(static_cast<std::uint32_t>(i));
      }
    }
  }

  std::optional<NaiveTruth> run() {
    World world;
    world.shared[2] = true;
    for (const std::uint32_t task : tasks_) {
      Worker worker;
      worker.task = &program_.tasks[task];
      worker.frames.push_back({&worker.task->lines, 0, nullptr, false});
      world.workers.push_back(std::move(worker));
    }
    for (const Task& task : program_.tasks) mark_started(task.lines, world);
    for (std::uint32_t i = 0; i < world.workers.size(); ++i) settle(world, i);
    go_on(world, 0);
    if (visited_ > kMost) return std::nullopt;
    return truth_;
  }

 private:
  static constexpr std::uint64_t kMost = 2500;  // steps in all

  void mark_started(const std::vector<Line>& lines, World& world) const {
    for (const Line& line : lines) {
      if (line.kind == Line::Kind::kStart) {
        for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
          if (tasks_[i] == line.object) world.workers[i].started = false;
        }
      }
      mark_started(line.body, world);
      mark_started(line.otherwise, world);
    }
  }

  void found(Wrong wrong, std::uint32_t steps) {
    if (!truth_.wrong.empty() && steps > truth_.shortest) return;
    if (steps < truth_.shortest) truth_.wrong.clear();
    truth_.shortest = steps;
    truth_.wrong.insert(wrong);
  }

  // ---- choices ----

  bool choose() { return pick(2) != 0; }
  std::uint32_t pick(std::uint32_t count) {
    if (next_ == script_.size()) script_.emplace_back(0, count);
    return script_[next_++].first;
  }

  bool value(World& world, std::uint32_t thread, const Term& term) {
    switch (term.kind) {
      case Term::Kind::kFalse:
        return false;
      case Term::Kind::kTrue:
        return true;
      case Term::Kind::kAny:
        return choose();
      case Term::Kind::kShared:
        touch(world, thread, term.variable, false);
        return world.shared[term.variable];
      case Term::Kind::kLocal:
        return world.workers[thread].locals[term.variable];
      case Term::Kind::kNot:
        return !value(world, thread, term.terms[0]);
      case Term::Kind::kAnd:
        return value(world, thread, term.terms[0]) && value(world, thread, term.terms[1]);
      case Term::Kind::kOr:
        return value(world, thread, term.terms[0]) || value(world, thread, term.terms[1]);
      case Term::Kind::kEqual: {
        const bool a = value(world, thread, term.terms[0]);
        return value(world, thread, term.terms[1]) == a;
      }
    }
    return false;
  }

  // ---- transactions ----

  static void touch(World& world, std::uint32_t thread, std::uint32_t variable, bool writes) {
    ++world.looks;
    if (variable == SmallProgram::kSilent) return;
    Worker& worker = world.workers[thread];
    std::uint32_t transaction = worker.transaction;
    if (transaction == 0) transaction = ++world.transactions;
    if (worker.in_atomic()) worker.transaction = transaction;
    world.accesses.push_back({thread, transaction, variable, writes});
  }

  static bool is_cyclic(const World& world) {
    const std::size_t count = world.transactions + 1;
    std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
    for (std::size_t j = 0; j < world.accesses.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) {
        const Access& a = world.accesses[i];
        const Access& b = world.accesses[j];
        if (a.transaction == b.transaction) continue;
        if (a.thread == b.thread || (a.variable == b.variable && (a.writes || b.writes))) {
          before[a.transaction][b.transaction] = true;
        }
      }
    }
    for (std::size_t k = 1; k < count; ++k) {
      for (std::size_t i = 1; i < count; ++i) {
        if (!before[i][k]) continue;
        for (std::size_t j = 1; j < count; ++j) {
          if (before[k][j]) before[i][j] = true;
        }
      }
    }
    for (std::size_t i = 1; i < count; ++i) {
      if (before[i][i]) return true;
    }
    return false;
  }

  // ---- steps ----

  // Leaves blocks that are done, so that the thread stands before a step or has ended.
  static void settle(World& world, std::uint32_t thread) {
    Worker& worker = world.workers[thread];
    while (!worker.frames.empty()) {
      Frame& frame = worker.frames.back();
      if (frame.at < frame.lines->size()) {
        const Line& line = (*frame.lines)[frame.at];
        if (line.kind != Line::Kind::kAtomic) return;
        ++frame.at;
        const bool outermost = !worker.in_atomic();
        if (outermost) worker.transaction = 0;
        worker.frames.push_back({&line.body, 0, nullptr, outermost});
        continue;
      }
      if (frame.loop != nullptr) return;
      if (frame.atomic) worker.transaction = 0;
      worker.frames.pop_back();
    }
  }

  enum class Did : std::uint8_t { kBlocked, kStepped, kWrong };

  Did step(World& world, std::uint32_t thread, Wrong& wrong) {
    Worker& worker = world.workers[thread];
    if (!worker.started || worker.frames.empty() || worker.waiting) return Did::kBlocked;
    Frame& frame = worker.frames.back();
    if (frame.at == frame.lines->size()) {  // of a loop: is there another round?
      const Line& loop = *frame.loop;
      if (value(world, thread, loop.term)) {
        worker.frames.back().at = 0;
      } else {
        worker.frames.pop_back();
      }
      return Did::kStepped;
    }
    const Line& line = (*frame.lines)[frame.at];
    if (worker.reacquires) {
      if (world.owner[line.object] != 0) return Did::kBlocked;
      world.owner[line.object] = static_cast<int>(thread) + 1;
      worker.reacquires = false;
      ++frame.at;
      return Did::kStepped;
    }
    return execute(world, thread, line, wrong);
  }

  static void cut(Worker& worker) { worker.transaction = 0; }

  Did execute(World& world, std::uint32_t thread, const Line& line, Wrong& wrong) {
    using Kind = Line::Kind;
    Worker& worker = world.workers[thread];
    const auto next = [&] { ++worker.frames.back().at; };
    switch (line.kind) {
      case Kind::kSkip:
        break;
      case Kind::kAssign: {
        if (line.guarded && !value(world, thread, line.term)) return Did::kBlocked;
        const bool result = value(world, thread, line.value);
        if (line.local) {
          worker.locals[line.object] = result;
        } else {
          touch(world, thread, line.object, true);
          world.shared[line.object] = result;
        }
        break;
      }
      case Kind::kSwap:
        touch(world, thread, 1, false);
        touch(world, thread, 0, false);
        touch(world, thread, 0, true);
        touch(world, thread, 1, true);
        std::swap(world.shared[0], world.shared[1]);
        break;
      case Kind::kAssume:
        if (!value(world, thread, line.term)) return Did::kBlocked;
        break;
      case Kind::kAssert:
        if (!value(world, thread, line.term)) {
          wrong = Wrong::kAssertion;
          return Did::kWrong;
        }
        break;
      case Kind::kIf: {
        const bool holds = value(world, thread, line.term);
        next();
        worker.frames.push_back({holds ? &line.body : &line.otherwise, 0, nullptr, false});
        return Did::kStepped;
      }
      case Kind::kWhile: {
        const bool holds = value(world, thread, line.term);
        next();
        if (holds) worker.frames.push_back({&line.body, 0, &line, false});
        return Did::kStepped;
      }
      case Kind::kAtomic:
        break;
      case Kind::kAcquire:
        if (world.owner[line.object] != 0) return Did::kBlocked;
        world.owner[line.object] = static_cast<int>(thread) + 1;
        break;
      case Kind::kTry:
        if (world.owner[line.object] != 0) {
          next();
          worker.frames.push_back({&line.otherwise, 0, nullptr, false});
          return Did::kStepped;
        }
        world.owner[line.object] = static_cast<int>(thread) + 1;
        break;
      case Kind::kRelease:
      case Kind::kWait:
        if (world.owner[line.object] != static_cast<int>(thread) + 1) {
          wrong = Wrong::kNotHeld;
          return Did::kWrong;
        }
        world.owner[line.object] = 0;
        if (line.kind == Kind::kRelease) break;
        cut(worker);
        worker.waiting = true;
        worker.reacquires = true;
        return Did::kStepped;
      case Kind::kStart:
        for (std::uint32_t i = 0; i < program_.tasks[line.object].count; ++i) {
          Worker& other = world.workers[first_[line.object] + i];
          if (other.started) {
            wrong = Wrong::kStarted;
            return Did::kWrong;
          }
          other.started = true;
        }
        cut(worker);
        break;
      case Kind::kJoin:
        for (std::uint32_t i = 0; i < program_.tasks[line.object].count; ++i) {
          if (!world.workers[first_[line.object] + i].ended()) return Did::kBlocked;
        }
        cut(worker);
        break;
      case Kind::kNotify:
      case Kind::kNotifyAll: {
        std::vector<Worker*> waiting;
        for (Worker& other : world.workers) {
          if (other.waiting) waiting.push_back(&other);
        }
        if (line.kind == Kind::kNotifyAll) {
          for (Worker* other : waiting) other->waiting = false;
        } else if (!waiting.empty()) {
          waiting[pick(static_cast<std::uint32_t>(waiting.size()))]->waiting = false;
        }
        break;
      }
    }
    next();
    return Did::kStepped;
  }

  // ---- runs ----

  void go_on(const World& world, std::uint32_t steps) {
    // What is as long as the shortest known can still be a deadlock.
    if (!truth_.wrong.empty() && steps > truth_.shortest) return;
    if (++visited_ > kMost) return;
    bool moved = false;
    for (std::uint32_t thread = 0; thread < world.workers.size(); ++thread) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> script;
      do {
        World after = world;
        script_ = script;
        next_ = 0;
        Wrong wrong = Wrong::kCycle;
        const Did did = step(after, thread, wrong);
        script = script_;
        if (did == Did::kBlocked) continue;
        moved = true;
        if (steps == most_steps_) {
          truth_.complete = false;
          continue;
        }
        if (after.accesses.size() > world.accesses.size() && did == Did::kStepped &&
            is_cyclic(after)) {
          found(Wrong::kCycle, steps + 1);
        } else if (did == Did::kWrong) {
          found(wrong, steps + 1);
        } else {
          settle(after, thread);
          go_on(after, steps + 1);
        }
        if (visited_ > kMost) return;
      } while (advance(script));
    }
    if (moved) return;
    bool waits = false;
    for (std::uint32_t thread = 0; thread < world.workers.size(); ++thread) {
      const Worker& worker = world.workers[thread];
      if (!worker.started || worker.frames.empty()) continue;
      if (!worker.waiting && is_ruled_out(world, thread)) return;
      waits = true;
    }
    if (waits) found(Wrong::kDeadlock, steps);
  }

  // It stands at an assumption that fails without a look at what others could change.
  bool is_ruled_out(const World& world, std::uint32_t thread) {
    const Frame& frame = world.workers[thread].frames.back();
    if (frame.at == frame.lines->size()) return false;
    const Line& line = (*frame.lines)[frame.at];
    if (line.kind != Line::Kind::kAssume && !line.guarded) return false;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> script;
    do {
      World after = world;
      script_ = script;
      next_ = 0;
      value(after, thread, line.term);
      script = script_;
      if (after.looks > world.looks) return false;
    } while (advance(script));
    return true;
  }

  static bool advance(std::vector<std::pair<std::uint32_t, std::uint32_t>>& script) {
    while (!script.empty()) {
      if (++script.back().first < script.back().second) return true;
      script.pop_back();
    }
    return false;
  }

  const SmallProgram& program_;
  std::uint32_t most_steps_;
  std::vector<std::uint32_t> tasks_;  // by thread
  std::vector<std::uint32_t> first_;  // thread, by task
  std::vector<std::pair<std::uint32_t, std::uint32_t>> script_;
  std::size_t next_ = 0;
  std::uint64_t visited_ = 0;
  NaiveTruth truth_;
};

}  // namespace

std::optional<NaiveTruth> go_through(const SmallProgram& program, std::uint32_t most_steps) {
  return Naive(program, most_steps).run();
}

}  // namespace tomos::oracle
