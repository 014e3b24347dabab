// A naive interpreter that runs all interleavings of a little program (tm_little.h), and a judge
// that reads the definitions of docs/tm.md off the runs. They share no code with the symbolic
// execution and its rules, and have other means: which locks were held when, since which taking of
// them, and what came before what.
//
// Every write stores a new value, so that comparing tells whether somebody wrote; other conditions
// go both ways, as they do for the analysis.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tm_little.h"

namespace tomos::tm {

// For the interpreter: a list of steps. Loops are there as often as they run at most.
struct LittleOp {
  enum class Kind {
    kLock,
    kUnlock,
    kRead,
    kWrite,
    kCount,
    kAsk,      // `target` is where it goes if not
    kCompare,  // the same
    kMaybe,    // the same
    kWaited,   // or not: who may have waited is in the section that would begin then
    kDone,     // with what was asked
    kFork,
    kJoin,
  };
  Kind kind = Kind::kRead;
  int what = 0;
  int local = 0;
  bool negated = false;
  bool shared = false;
  bool waits = false;  // kLock: after a wait in a loop
  std::size_t target = 0;
  std::uint32_t id = 0;
};

inline void flatten(const LittleBody& body, std::vector<LittleOp>& into) {
  using enum LittleStmt::Kind;
  for (const LittleStmt& one : body) {
    const auto asked = [&](LittleOp op) {
      const std::size_t at = into.size();
      into.push_back(op);
      flatten(one.children, into);
      into.push_back({.kind = LittleOp::Kind::kDone});
      into[at].target = into.size();
    };
    const auto wait = [&](int lock, bool in_loop) {
      into.push_back({.kind = LittleOp::Kind::kUnlock, .what = lock});
      into.push_back({.kind = LittleOp::Kind::kLock, .what = lock, .waits = in_loop, .id = one.id});
    };
    switch (one.kind) {
      case kLock:
        into.push_back(
            {.kind = LittleOp::Kind::kLock, .what = one.what, .shared = one.shared, .id = one.id});
        break;
      case kUnlock:
        into.push_back({.kind = LittleOp::Kind::kUnlock, .what = one.what});
        break;
      case kWait:
        wait(one.what, false);
        break;
      case kRead:
        into.push_back({.kind = LittleOp::Kind::kRead, .what = one.what, .local = one.local});
        break;
      case kWrite:
        into.push_back({.kind = LittleOp::Kind::kWrite, .what = one.what, .local = one.local});
        break;
      case kCount:
        into.push_back({.kind = LittleOp::Kind::kCount, .what = one.what});
        break;
      case kIf:
        asked({.kind = LittleOp::Kind::kAsk, .local = one.local});
        break;
      case kIfEqual:
        asked({.kind = LittleOp::Kind::kCompare,
               .what = one.what,
               .local = one.local,
               .negated = one.negated});
        break;
      case kLoop:
      case kAwait: {
        std::vector<std::size_t> leave;
        for (int round = 0; round < 2; ++round) {
          // What a wait is for is read into nothing: it says no more afterwards.
          if (one.kind == kAwait) {
            into.push_back({.kind = LittleOp::Kind::kRead, .what = one.what, .local = -1});
          }
          leave.push_back(into.size());
          into.push_back({.kind = LittleOp::Kind::kMaybe});
          if (one.kind == kAwait) wait(one.lock, true);
          flatten(one.children, into);
        }
        if (one.kind == kAwait) {
          into.push_back({.kind = LittleOp::Kind::kRead, .what = one.what, .local = -1});
        }
        for (const std::size_t at : leave) into[at].target = into.size();
        if (one.kind == kAwait) into.push_back({.kind = LittleOp::Kind::kWaited, .id = one.id});
        break;
      }
      case kGuard:
        into.push_back({.kind = LittleOp::Kind::kLock, .what = one.what, .id = one.id});
        flatten(one.children, into);
        into.push_back({.kind = LittleOp::Kind::kUnlock, .what = one.what});
        break;
      case kFork:
        into.push_back({.kind = LittleOp::Kind::kFork, .what = one.what});
        break;
      case kJoin:
        into.push_back({.kind = LittleOp::Kind::kJoin, .what = one.what});
        break;
    }
  }
}

inline constexpr std::uint32_t kNoSection = 0;  // node 0 begins none: it is a place

struct LittleEvent {
  int thread = 0;
  std::uint32_t section = kNoSection;
  int instance = 0;  // of its thread
  bool writes = false;
  int variable = 0;
  bool seen = true;                         // no: it was only counted on
  std::array<int, kLittleLocks> hold = {};  // by lock: which taking of it; 0: none
  std::array<bool, kLittleLocks> shared = {};
  // Reads, as bits: those that became what is written, that chose it, and that led here.
  std::uint64_t values = 0;
  std::uint64_t choices = 0;
  std::uint64_t controls = 0;
};

inline bool keep_each_other_out(const LittleEvent& one, const LittleEvent& other, int lock) {
  const auto at = static_cast<std::size_t>(lock);
  return one.hold[at] != 0 && other.hold[at] != 0 && !(one.shared[at] && other.shared[at]);
}

inline bool keep_each_other_out(const LittleEvent& one, const LittleEvent& other) {
  for (int lock = 0; lock < kLittleLocks; ++lock) {
    if (keep_each_other_out(one, other, lock)) return true;
  }
  return false;
}

// What the runs of a program show.
struct LittleTruth {
  struct Uses {
    std::set<int> reads;
    std::set<int> writes;
    bool uses(int x) const { return reads.contains(x) || writes.contains(x); }
  };
  using Section = std::uint32_t;
  using Cut = std::tuple<Section, Section, Section>;  // A, T, B
  struct Stale {
    Cut cut;
    int x = 0;
    int into = -1;  // what B writes it to; -1: it only decides
    bool strong = false;
    auto operator<=>(const Stale&) const = default;
  };
  struct Halves {
    Cut cut;
    bool written = false;
    int x = 0;
    int y = 0;
    auto operator<=>(const Halves&) const = default;
  };
  std::map<Section, Uses> uses;
  std::set<Section> waits;
  std::set<std::pair<Section, Section>> before;  // in some run
  std::set<std::tuple<Section, int, Section, int>> flows;
  std::set<Stale> stale;
  std::set<Halves> halves;
  std::set<int> races;
  // Of uses of one kind in a section, the locks that were held. The analysis knows those of all.
  std::map<std::tuple<Section, int, bool>, std::array<int, kLittleLocks>> locks;
  bool mixed = false;  // they were not always the same
  int runs = 0;
};

// Reads the definitions off one run.
inline void judge_run(const std::vector<LittleEvent>& run, LittleTruth& truth) {
  const auto in_section = [](const LittleEvent& one) { return one.section != kNoSection; };
  const auto same = [](const LittleEvent& one, const LittleEvent& other) {
    return one.thread == other.thread && one.instance == other.instance;
  };
  const std::size_t count = run.size();
  struct Flowing {  // a read, and a section that it matters to
    std::size_t from = 0;
    int thread = 0;
    int instance = 0;
    std::uint32_t section = kNoSection;
    int into = -1;
    auto operator<=>(const Flowing&) const = default;
  };
  std::set<Flowing> flows;
  for (std::size_t i = 0; i < count; ++i) {
    const LittleEvent& one = run[i];
    for (std::size_t j = 0; j < i; ++j) {
      const LittleEvent& early = run[j];
      if (early.thread != one.thread && in_section(one) && in_section(early)) {
        truth.before.emplace(early.section, one.section);
      }
      if (!in_section(one) || !in_section(early) || same(one, early)) continue;
      const std::uint64_t bit = std::uint64_t{1} << j;
      const bool reads_again = !one.writes && one.variable == early.variable;
      if ((one.values & bit) != 0) {
        flows.insert({j, one.thread, one.instance, one.section, one.variable});
      }
      if (((one.controls & bit) != 0 && !reads_again) || (one.choices & bit) != 0) {
        flows.insert({j, one.thread, one.instance, one.section, -1});
      }
    }
    if (!in_section(one)) continue;
    LittleTruth::Uses& uses = truth.uses[one.section];
    (one.writes ? uses.writes : uses.reads).insert(one.variable);
    std::array<int, kLittleLocks> locks = {};
    for (std::size_t lock = 0; lock < locks.size(); ++lock) locks[lock] = one.hold[lock] != 0;
    const auto [known, is_new] =
        truth.locks.emplace(std::tuple(one.section, one.variable, one.writes), locks);
    truth.mixed |= known->second != locks;
  }
  for (const Flowing& flow : flows) {
    truth.flows.emplace(run[flow.from].section, run[flow.from].variable, flow.section, flow.into);
  }
  for (std::size_t t1 = 0; t1 < count; ++t1) {
    for (std::size_t t2 = 0; t2 < count; ++t2) {
      const LittleEvent& one = run[t1];
      const LittleEvent& other = run[t2];
      if (!in_section(one) || !same(one, other) || one.section != other.section) continue;
      for (int lock = 0; lock < kLittleLocks; ++lock) {
        const auto at = static_cast<std::size_t>(lock);
        if (one.hold[at] == 0 || one.hold[at] != other.hold[at]) continue;
        // Held from the one use to the other.
        for (const Flowing& flow : flows) {
          const LittleEvent& a = run[flow.from];
          if (!one.writes || one.variable != a.variable || one.thread == a.thread ||
              t1 < flow.from || !keep_each_other_out(a, one)) {
            continue;
          }
          for (std::size_t i = t2 + 1; i < count; ++i) {
            const LittleEvent& b = run[i];
            if (b.thread != flow.thread || b.instance != flow.instance ||
                b.section != flow.section || b.variable != other.variable ||
                !(b.writes || other.writes) || !keep_each_other_out(other, b)) {
              continue;
            }
            if (!keep_each_other_out(a, one, lock) && !keep_each_other_out(other, b, lock)) {
              continue;
            }
            truth.stale.insert({.cut = {a.section, one.section, b.section},
                                .x = a.variable,
                                .into = flow.into,
                                .strong = flow.into != -1 && keep_each_other_out(a, b) &&
                                          (b.variable != a.variable || b.writes)});
          }
        }
        for (std::size_t i = 0; i < t1; ++i) {
          const LittleEvent& a = run[i];
          const bool written = a.writes;
          if (!in_section(a) || a.thread == one.thread || a.variable != one.variable ||
              one.variable == other.variable || one.writes == written || other.writes == written ||
              !keep_each_other_out(a, one, lock)) {
            continue;
          }
          if (written ? !one.seen || !other.seen : !a.seen) continue;
          for (std::size_t j = std::max(i, t2) + 1; j < count; ++j) {
            const LittleEvent& b = run[j];
            if (!in_section(b) || b.thread != a.thread || b.instance != a.instance + 1 ||
                b.variable != other.variable || b.writes != written || !b.seen ||
                !keep_each_other_out(b, other, lock)) {
              continue;
            }
            truth.halves.insert({.cut = {a.section, one.section, b.section},
                                 .written = written,
                                 .x = a.variable,
                                 .y = b.variable});
          }
        }
      }
    }
  }
  ++truth.runs;
}

// All interleavings. A thread gives back locks and makes threads at once, since that hinders
// nobody, and takes locks just before the access that follows: no order of accesses is lost.
class LittleInterpreter {
 public:
  LittleInterpreter(const LittleProgram& of, LittleTruth& truth) : truth_(truth) {
    for (const LittleBody& body : of.threads) {
      code_.emplace_back();
      flatten(body, code_.back());
    }
  }

  // false: there are too many runs.
  bool run() {
    State start;
    start.threads[0].started = true;
    for (std::size_t i = 0; i < start.memory.size(); ++i)
      start.memory[i] = -100 - static_cast<int>(i);
    explore(start);
    return truth_.runs <= kMostRuns;
  }

 private:
  static inline constexpr int kMostRuns = 1500;

  struct Local {
    int value = 0;
    int of = -1;  // the variable that it was read from
    int instance = 0;
    std::uint64_t values = 0;
    std::uint64_t choices = 0;
  };
  struct ThreadState {
    bool started = false;
    std::size_t at = 0;
    bool undecided = false;  // a comparison whose outcome nobody knows
    std::array<Local, kLittleLocals> locals;
    std::array<std::uint64_t, 12> controls = {};
    std::size_t depth = 0;
    std::array<int, kLittleLocks> hold = {};
    std::array<int, kLittleLocks> again = {};  // times it was taken while held
    std::array<bool, kLittleLocks> shared = {};
    std::uint32_t section = kNoSection;
    int instance = 0;
  };
  struct State {
    std::array<ThreadState, kLittleThreads> threads;
    std::array<int, kLittleVariables> memory = {};
    int takings = 0;
    int steps = 0;
  };

  bool is_done(const State& state, std::size_t thread) const {
    return state.threads[thread].at == code_[thread].size();
  }

  std::uint64_t controls_of(const ThreadState& of) const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < of.depth; ++i) all |= of.controls[i];
    return all;
  }

  LittleEvent& event(const State& state, std::size_t thread, bool writes, int variable) {
    const ThreadState& by = state.threads[thread];
    run_.push_back({.thread = static_cast<int>(thread),
                    .section = by.section,
                    .instance = by.instance,
                    .writes = writes,
                    .variable = variable,
                    .hold = by.hold,
                    .shared = by.shared,
                    .controls = controls_of(by)});
    return run_.back();
  }

  // Only reads in sections lead to anything.
  std::uint64_t bit_of_last() const {
    return run_.back().section == kNoSection ? 0 : std::uint64_t{1} << (run_.size() - 1);
  }

  // What no other thread has to wait for or can notice. false: there is a choice.
  bool go_on(State& state, std::size_t thread) {
    ThreadState& by = state.threads[thread];
    while (by.started && !is_done(state, thread)) {
      const LittleOp& op = code_[thread][by.at];
      const auto what = static_cast<std::size_t>(op.what);
      if (by.undecided) return false;
      if (op.kind == LittleOp::Kind::kUnlock) {
        if (by.again[what] > 0) {
          --by.again[what];
        } else {
          by.hold[what] = 0;
        }
        if (std::ranges::all_of(by.hold, [](int one) { return one == 0; })) by.section = kNoSection;
      } else if (op.kind == LittleOp::Kind::kFork) {
        state.threads[what].started = true;
      } else if (op.kind == LittleOp::Kind::kDone) {
        --by.depth;
      } else if (op.kind == LittleOp::Kind::kWaited) {
        const auto held = std::ranges::count_if(by.hold, [](int one) { return one != 0; });
        if (held == 1) by.section = op.id;
      } else {
        return op.kind != LittleOp::Kind::kAsk && op.kind != LittleOp::Kind::kMaybe;
      }
      ++by.at;
    }
    return true;
  }

  bool is_free(const State& state, std::size_t thread, const LittleOp& op) const {
    for (std::size_t i = 0; i < code_.size(); ++i) {
      const ThreadState& other = state.threads[i];
      const auto what = static_cast<std::size_t>(op.what);
      if (i != thread && other.hold[what] != 0 && !(op.shared && other.shared[what])) return false;
    }
    return true;
  }

  // Up to the next access. false: it has to wait.
  bool move(State& state, std::size_t thread) {
    ThreadState& by = state.threads[thread];
    if (!by.started || is_done(state, thread)) return false;
    while (go_on(state, thread) && !is_done(state, thread)) {
      const LittleOp& op = code_[thread][by.at];
      const auto what = static_cast<std::size_t>(op.what);
      if (op.kind == LittleOp::Kind::kLock) {
        if (!is_free(state, thread, op)) return false;
        if (by.hold[what] != 0) {
          ++by.again[what];
        } else {
          if (by.section == kNoSection) {
            by.section = op.id;
            ++by.instance;
            if (op.waits) truth_.waits.insert(op.id);
          }
          by.hold[what] = ++state.takings;
          by.shared[what] = op.shared;
        }
      } else if (op.kind == LittleOp::Kind::kJoin) {
        if (!is_done(state, what)) return false;
      } else {
        access(state, thread, op);
        return true;
      }
      ++by.at;
      // What others can notice is done before they move.
      const bool more = !is_done(state, thread);
      const LittleOp::Kind next = more ? code_[thread][by.at].kind : LittleOp::Kind::kFork;
      if (next == LittleOp::Kind::kUnlock || next == LittleOp::Kind::kFork) return true;
    }
    return true;
  }

  void access(State& state, std::size_t thread, const LittleOp& op) {
    ThreadState& by = state.threads[thread];
    const auto variable = static_cast<std::size_t>(op.what);
    ++state.steps;
    ++by.at;
    if (op.kind == LittleOp::Kind::kWrite) {
      LittleEvent& made = event(state, thread, true, op.what);
      if (op.local < kLittleLocals) {
        made.values = by.locals[static_cast<std::size_t>(op.local)].values;
        made.choices = by.locals[static_cast<std::size_t>(op.local)].choices;
      }
      state.memory[variable] = state.steps;
      return;
    }
    const bool counts = op.kind == LittleOp::Kind::kCount;
    event(state, thread, false, op.what).seen = !counts;
    const std::uint64_t read = bit_of_last();
    if (counts) {
      event(state, thread, true, op.what);
      state.memory[variable] = state.steps;
      return;
    }
    if (op.local < 0) return;
    Local& local = by.locals[static_cast<std::size_t>(op.local)];
    if (op.kind == LittleOp::Kind::kRead) {
      local = {.value = state.memory[variable],
               .of = op.what,
               .instance = by.instance,
               .values = read,
               .choices = controls_of(by) & ~read};
      return;
    }
    --by.at;
    by.undecided = true;
    if (local.of != op.what || local.instance == by.instance) return;
    if ((state.memory[variable] == local.value) == op.negated) {
      by.undecided = false;
      by.at = op.target;
    } else {
      enter(by, thread, op);
    }
  }

  // The block that a condition stands before.
  void enter(ThreadState& by, std::size_t thread, const LittleOp& op) {
    by.undecided = false;
    ++by.at;
    if (op.kind == LittleOp::Kind::kMaybe) return;
    const Local& local = by.locals[static_cast<std::size_t>(op.local)];
    std::uint64_t asked = local.values | local.choices;
    // What was read of it before does not matter: it is asked what is there now.
    for (std::size_t i = 0; op.kind == LittleOp::Kind::kCompare && i < run_.size(); ++i) {
      const bool again =
          run_[i].variable == op.what &&
          !(run_[i].thread == static_cast<int>(thread) && run_[i].instance == by.instance);
      if (again && by.section != kNoSection) asked &= ~(std::uint64_t{1} << i);
    }
    if (op.kind == LittleOp::Kind::kCompare) asked |= bit_of_last();
    by.controls[by.depth++] = asked;
  }

  void explore(State state) {
    if (truth_.runs > kMostRuns) return;
    for (std::size_t thread = 0; thread < code_.size(); ++thread) {
      if (go_on(state, thread)) continue;
      State other = state;
      ThreadState& skips = other.threads[thread];
      const LittleOp& op = code_[thread][skips.at];
      skips.at = op.target;
      skips.undecided = false;
      enter(state.threads[thread], thread, op);
      explore(other);
      explore(state);
      return;
    }
    bool moved = false;
    const std::size_t length = run_.size();
    std::vector<LittleEvent> next_events;  // either of which can be the next
    for (std::size_t thread = 0; thread < code_.size(); ++thread) {
      State next = state;
      if (!move(next, thread)) continue;
      moved = true;
      next_events.insert(next_events.end(), run_.begin() + static_cast<std::ptrdiff_t>(length),
                         run_.end());
      explore(next);
      run_.resize(length);
    }
    if (!moved) judge_run(run_, truth_);
    for (const LittleEvent& one : next_events) {
      for (const LittleEvent& other : next_events) {
        if (one.thread != other.thread && one.variable == other.variable && one.writes &&
            !keep_each_other_out(one, other)) {
          truth_.races.insert(one.variable);
        }
      }
    }
  }

  LittleTruth& truth_;
  std::vector<std::vector<LittleOp>> code_;
  std::vector<LittleEvent> run_;
};

}  // namespace tomos::tm
