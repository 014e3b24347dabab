// Random programs of two threads against brute force: every way through every thread is run by a
// small interpreter that shares no code with the symbolic execution, and every triple of
// transactions is tried. That a loop need only be taken not at all or twice holds for which
// transactions follow each other, as the paper says; what a second time overwrites can flow on only
// if there is none, so for flows it is taken once, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "share.h"
#include "tm/anomalies.h"
#include "tm/patterns.h"
#include "tm/traces.h"

namespace tomos::tm {
namespace {

constexpr int kVariables = 4;
constexpr int kLocals = 3;

// A statement of the random programs.
struct Stmt {
  enum class Kind { kAtomic, kIf, kLoop, kCall, kReturn, kBreak, kBlock };
  struct Step {
    bool writes = false;
    int variable = 0;
    int local = 0;  // read into, or written from; a write of kLocals: a constant
  };
  Kind kind = Kind::kBlock;
  std::vector<Step> steps;     // of kAtomic
  int local = 0;               // that an `if` asks
  int callee = 0;              // of kCall
  std::vector<Stmt> children;  // then, else; body; the block's
  std::uint32_t id = 0;        // of kAtomic: the node that it became
};

struct RandomProgram {
  std::vector<Stmt> bodies;  // 0 and 1 are the threads; the others are called
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  RandomProgram make() {
    RandomProgram made;
    for (int i = 0; i < 4; ++i) {
      function_ = i;
      made.bodies.push_back(block(2, false));
    }
    return made;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  Stmt block(int depth, bool in_loop) {
    Stmt made;
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i) {
      const bool last = i + 1 == count;
      const int what = below(10);
      if (what == 0 && last && depth < 2) {
        made.children.push_back(
            {.kind = in_loop && below(2) == 0 ? Stmt::Kind::kBreak : Stmt::Kind::kReturn});
      } else if (what <= 2 && depth > 0) {
        made.children.push_back(
            {.kind = Stmt::Kind::kIf,
             .local = below(kLocals),
             .children = {block(depth - 1, in_loop), block(depth - 1, in_loop)}});
      } else if (what == 3 && depth > 0) {
        made.children.push_back({.kind = Stmt::Kind::kLoop, .children = {block(depth - 1, true)}});
      } else if (what == 4 && function_ < 2) {
        made.children.push_back({.kind = Stmt::Kind::kCall, .callee = 2 + below(2)});
      } else {
        Stmt atomic = {.kind = Stmt::Kind::kAtomic};
        const int steps = 1 + below(2);
        for (int j = 0; j < steps; ++j) {
          const bool writes = below(2) == 0;
          atomic.steps.push_back({.writes = writes,
                                  .variable = below(kVariables),
                                  .local = below(writes ? kLocals + 1 : kLocals)});
        }
        made.children.push_back(std::move(atomic));
      }
    }
    return made;
  }

  std::mt19937 random_;
  int function_ = 0;
};

// The same program for the analysis.
class Translator {
 public:
  Program translate(RandomProgram& of) {
    for (int i = 0; i < kVariables; ++i) {
      const std::string name = "x" + std::to_string(i);
      program_.globals.push_back({.name = name, .display = name});
    }
    std::vector<NodeId> forks;
    for (std::size_t i = 0; i < of.bodies.size(); ++i) {
      const std::string name = "f" + std::to_string(i);
      const NodeId body = node(of.bodies[i]);
      program_.functions.push_back({.name = name,
                                    .display = name,
                                    .signature = name + "()",
                                    .locals = {"a", "b", "c"},
                                    .body = body});
      if (i < 2) forks.push_back(program_.add({.kind = Node::Kind::kFork, .name = name}));
    }
    const NodeId body = program_.add({.kind = Node::Kind::kSequence, .children = forks});
    program_.functions.push_back(
        {.name = "main", .display = "main", .signature = "main()", .body = body});
    return std::move(program_);
  }

 private:
  NodeId add(Node::Kind kind, std::vector<NodeId> children = {}, int number = 0) {
    return program_.add({.kind = kind,
                         .number = static_cast<std::uint32_t>(number),
                         .children = std::move(children),
                         .position = {.line = ++line_, .column = 1}});
  }
  NodeId node(Stmt& of) {
    using enum Stmt::Kind;
    switch (of.kind) {
      case kAtomic: {
        std::vector<NodeId> steps;
        for (const Stmt::Step& step : of.steps) {
          const NodeId global = add(Node::Kind::kGlobal, {}, step.variable);
          const bool is_constant = step.local == kLocals;
          const NodeId local = is_constant ? NodeId{} : add(Node::Kind::kLocal, {}, step.local);
          if (step.writes) {
            const NodeId value =
                is_constant ? add(Node::Kind::kConstant) : add(Node::Kind::kLoad, {local});
            steps.push_back(add(Node::Kind::kAssign, {global, value}));
          } else {
            const NodeId value = add(Node::Kind::kLoad, {global});
            steps.push_back(add(Node::Kind::kAssign, {local, value}));
          }
        }
        const NodeId inside = add(Node::Kind::kSequence, steps);
        const NodeId made = add(Node::Kind::kAtomic, {inside});
        of.id = static_cast<std::uint32_t>(made);
        return made;
      }
      case kIf: {
        const NodeId local = add(Node::Kind::kLocal, {}, of.local);
        const NodeId condition = add(Node::Kind::kLoad, {local});
        const NodeId yes = node(of.children[0]);
        const NodeId no = node(of.children[1]);
        return add(Node::Kind::kIf, {condition, yes, no});
      }
      case kLoop: {
        const NodeId condition = add(Node::Kind::kConstant);
        return add(Node::Kind::kLoop, {condition, node(of.children[0])});
      }
      case kCall:
        return program_.add({.kind = Node::Kind::kCall, .name = "f" + std::to_string(of.callee)});
      case kReturn:
        return add(Node::Kind::kReturn);
      case kBreak:
        return add(Node::Kind::kBreak);
      case kBlock: {
        std::vector<NodeId> children;
        children.reserve(of.children.size());
        for (Stmt& child : of.children) children.push_back(node(child));
        return add(Node::Kind::kSequence, std::move(children));
      }
    }
    return kNoNode;
  }

  Program program_;
  std::uint32_t line_ = 0;
};

bool contains(const Stmt& of, Stmt::Kind kind) {
  if (of.kind == kind) return true;
  if (kind == Stmt::Kind::kBreak && of.kind == Stmt::Kind::kLoop) return false;
  return std::ranges::any_of(of.children, [&](const Stmt& one) { return contains(one, kind); });
}

// A transaction is its node and the place of the call that it is in: calls are replaced by what
// they call.
using Where = std::pair<std::uint32_t, std::uint64_t>;
struct Source {
  Where from;
  int execution = 0;
  int variable = 0;
  bool implicit = false;
  friend auto operator<=>(const Source&, const Source&) = default;
};
using Sources = std::set<Source>;
using FlowKey = std::tuple<Where, int, Where, int, int>;  // A, x, B, kind, into

struct Accesses {
  std::set<int> reads;
  std::set<int> writes;
};

struct Truth {
  std::map<Where, Accesses> transactions;
  std::map<Where, int> thread;
  std::set<std::pair<Where, Where>> adjacent;
  std::set<FlowKey> flows;
};

Sources implicit(Sources of) {
  Sources made;
  for (Source source : of) {
    source.implicit = true;
    made.insert(source);
  }
  return made;
}

// Runs all ways, one after the other, by trying both sides of every choice.
class Interpreter {
 public:
  // With `again`, a loop that runs at all runs twice.
  Interpreter(const RandomProgram& program, int thread, bool again, Truth& truth)
      : program_(program), thread_(thread), again_(again), truth_(truth) {}

  // false: there are too many ways.
  bool run() {
    int ways = 0;
    do {
      if (++ways > 500) return false;
      at_ = 0;
      executions_ = 0;
      has_last_ = false;
      controls_.clear();
      function(thread_, 0);
    } while (next());
    return true;
  }

 private:
  enum class Left { kNo, kBreak, kReturn };

  struct Scope {
    std::vector<Sources> locals = std::vector<Sources>(kLocals);
    std::vector<Sources> residual;                    // until the function ends
    std::vector<std::vector<Sources>> loop_residual;  // until the loop does
    std::size_t controls = 0;
  };

  bool choose() {
    if (at_ == choices_.size()) choices_.push_back(false);
    return choices_[at_++];
  }
  bool next() {
    choices_.resize(at_);
    while (!choices_.empty() && choices_.back()) choices_.pop_back();
    if (choices_.empty()) return false;
    choices_.back() = true;
    return true;
  }

  void function(int index, std::uint64_t call) {
    scopes_.push_back({.controls = controls_.size()});
    calls_.push_back(call);
    run(program_.bodies[static_cast<std::size_t>(index)]);
    calls_.pop_back();
    scopes_.pop_back();
  }

  Left run(const Stmt& of) {
    using enum Stmt::Kind;
    switch (of.kind) {
      case kAtomic:
        atomic(of);
        return Left::kNo;
      case kReturn:
        return Left::kReturn;
      case kBreak:
        return Left::kBreak;
      case kCall:
        function(of.callee, 1 + reinterpret_cast<std::uint64_t>(&of));
        return Left::kNo;
      case kBlock:
        for (const Stmt& child : of.children) {
          if (const Left left = run(child); left != Left::kNo) return left;
        }
        return Left::kNo;
      case kIf: {
        const Sources condition = scopes_.back().locals[static_cast<std::size_t>(of.local)];
        controls_.push_back(condition);
        const Left left = run(of.children[choose() ? 0 : 1]);
        controls_.pop_back();
        if (contains(of, kReturn)) scopes_.back().residual.push_back(condition);
        if (contains(of, kBreak) && !scopes_.back().loop_residual.empty()) {
          scopes_.back().loop_residual.back().push_back(condition);
        }
        return left;
      }
      case kLoop: {
        if (!choose()) return Left::kNo;
        scopes_.back().loop_residual.emplace_back();
        Left left = Left::kNo;
        left = run(of.children[0]);
        if (left == Left::kNo && (again_ || choose())) left = run(of.children[0]);
        scopes_.back().loop_residual.pop_back();
        return left == Left::kBreak ? Left::kNo : left;
      }
    }
    return Left::kNo;
  }

  void atomic(const Stmt& of) {
    const Where where = {of.id, calls_.back()};
    const int execution = ++executions_;
    truth_.thread[where] = thread_;
    Accesses& accesses = truth_.transactions[where];
    if (has_last_) truth_.adjacent.emplace(last_, where);
    last_ = where;
    has_last_ = true;
    const auto flow = [&](const Sources& sources, Flow::Kind kind, int into) {
      for (const Source& source : sources) {
        if (source.execution == execution) continue;
        const Flow::Kind how = source.implicit ? Flow::Kind::kControl : kind;
        truth_.flows.emplace(source.from, source.variable, where, static_cast<int>(how),
                             how == Flow::Kind::kValue ? into : -1);
      }
    };
    for (const Stmt::Step& step : of.steps) {
      for (const Sources& control : controls_) flow(control, Flow::Kind::kControl, -1);
      Sources chosen;
      for (const Scope& scope : scopes_) {
        for (const Sources& control : scope.residual) flow(control, Flow::Kind::kControl, -1);
        for (const auto& loop : scope.loop_residual) {
          for (const Sources& control : loop) flow(control, Flow::Kind::kControl, -1);
        }
      }
      for (const auto& loop : scopes_.back().loop_residual) {
        for (const Sources& control : loop) chosen.merge(implicit(control));
      }
      for (std::size_t i = scopes_.back().controls; i < controls_.size(); ++i) {
        chosen.merge(implicit(controls_[i]));
      }
      if (step.writes) {
        accesses.writes.insert(step.variable);
        if (step.local < kLocals) {
          flow(scopes_.back().locals[static_cast<std::size_t>(step.local)], Flow::Kind::kValue,
               step.variable);
        }
      } else {
        accesses.reads.insert(step.variable);
        Sources& local = scopes_.back().locals[static_cast<std::size_t>(step.local)];
        local = chosen;
        local.insert({.from = where, .execution = execution, .variable = step.variable});
      }
    }
  }

  const RandomProgram& program_;
  int thread_;
  bool again_;
  Truth& truth_;
  std::vector<bool> choices_;
  std::size_t at_ = 0;
  int executions_ = 0;
  Where last_;
  bool has_last_ = false;
  std::vector<Sources> controls_;
  std::vector<Scope> scopes_;
  std::vector<std::uint64_t> calls_;
};

// By nodes only, so that calls need no names. The pattern, A, T, B.
using Found = std::set<std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t>>;

Found base_truth(const Truth& truth) {
  Found found;
  for (const auto& [a, b] : truth.adjacent) {
    const Accesses& first = truth.transactions.at(a);
    const Accesses& second = truth.transactions.at(b);
    for (const auto& [t, cut] : truth.transactions) {
      for (int x = 0; x < kVariables; ++x) {
        for (int y = 0; y < kVariables; ++y) {
          const auto add = [&](const char* name) {
            found.emplace(name, a.first, t.first, b.first);
          };
          if (x != y && first.reads.contains(x) && cut.writes.contains(x) &&
              second.reads.contains(y)) {
            add("RwR");
          }
          if (x != y && first.writes.contains(x) && cut.reads.contains(x) &&
              second.writes.contains(y)) {
            add("WrW");
          }
          if (x == y && first.reads.contains(x) && cut.writes.contains(x) &&
              second.writes.contains(x)) {
            add("RwW");
          }
        }
      }
    }
  }
  return found;
}

bool in_conflict(const Accesses& one, const Accesses& other) {
  for (int x = 0; x < kVariables; ++x) {
    if (one.writes.contains(x) && (other.reads.contains(x) || other.writes.contains(x)))
      return true;
    if (one.reads.contains(x) && other.writes.contains(x)) return true;
  }
  return false;
}

Found full_truth(const Truth& truth) {
  Found found;
  const auto uses = [](const Accesses& of, int x) {
    return of.reads.contains(x) || of.writes.contains(x);
  };
  for (const auto& [t, cut] : truth.transactions) {
    for (const auto& [a, x, b, kind, into] : truth.flows) {
      const Accesses& first = truth.transactions.at(a);
      const Accesses& second = truth.transactions.at(b);
      if (truth.thread.at(t) == truth.thread.at(a)) continue;
      if (!cut.writes.contains(x) || !in_conflict(cut, second)) continue;
      const bool back = kind == static_cast<int>(Flow::Kind::kValue) && into == x;
      if (first.writes.contains(x) && !back) continue;
      if (second.writes.empty() && std::ranges::includes(first.reads, second.reads)) {
        bool only_control = true;
        for (const auto& [a2, x2, b2, kind2, into2] : truth.flows) {
          const bool back2 = kind2 == static_cast<int>(Flow::Kind::kValue) && into2 == x;
          if (a2 == a && x2 == x && b2 == b && (!first.writes.contains(x) || back2)) {
            only_control &= kind2 == static_cast<int>(Flow::Kind::kControl);
          }
        }
        if (only_control) continue;
      }
      const bool writes = second.writes.contains(x) || second.reads.empty();
      found.emplace(writes ? "RwW" : "RwR", a.first, t.first, b.first);
    }
    for (const auto& [a, b] : truth.adjacent) {
      if (truth.thread.at(t) == truth.thread.at(a)) continue;
      const Accesses& first = truth.transactions.at(a);
      const Accesses& second = truth.transactions.at(b);
      for (int x = 0; x < kVariables; ++x) {
        for (int y = 0; y < kVariables; ++y) {
          if (uses(second, x) || uses(first, y)) continue;
          if (first.reads.contains(x) && second.reads.contains(y) && cut.writes.contains(x) &&
              cut.writes.contains(y)) {
            found.emplace("RwR", a.first, t.first, b.first);
          }
          if (first.writes.contains(x) && second.writes.contains(y) && cut.reads.contains(x) &&
              cut.reads.contains(y)) {
            found.emplace("WrW", a.first, t.first, b.first);
          }
        }
      }
    }
  }
  return found;
}

Found found_by(const Traces& traces, const std::vector<Anomaly>& anomalies) {
  Found found;
  const auto node = [&](TransactionId id) {
    return static_cast<std::uint32_t>(traces.transactions[id].node);
  };
  for (const Anomaly& one : anomalies) {
    found.emplace(one.pattern, node(one.first), node(one.cut), node(one.second));
  }
  return found;
}

TEST(TmRandom, AgreesWithAllWaysAndAllTriples) {
  int compared = 0;
  std::size_t matches = 0;
  std::size_t anomalies = 0;
  for (unsigned seed = 1; seed <= 350 / kShare; ++seed) {
    RandomProgram random = Generator(seed).make();
    const Program program = Translator().translate(random);
    Truth paper;
    Truth truth;
    bool few = true;
    for (int thread = 0; thread < 2; ++thread) {
      few &= Interpreter(random, thread, true, paper).run();
      few &= Interpreter(random, thread, false, truth).run();
    }
    if (!few) continue;
    ++compared;
    const Traces traces = trace(program, {});
    ASSERT_TRUE(traces.complete) << "seed " << seed;
    std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
    std::set<std::pair<std::uint32_t, std::uint32_t>> adjacent;
    for (const auto& [a, b] : paper.adjacent) expected.emplace(a.first, b.first);
    for (const auto& [a, b] : traces.adjacent) {
      adjacent.emplace(static_cast<std::uint32_t>(traces.transactions[a].node),
                       static_cast<std::uint32_t>(traces.transactions[b].node));
    }
    ASSERT_EQ(adjacent, expected) << "seed " << seed;
    const Found base = found_by(traces, match_patterns(program, traces, base_patterns()));
    ASSERT_EQ(base, base_truth(paper)) << "seed " << seed;
    const Found full = found_by(traces, find_anomalies(traces));
    ASSERT_EQ(full, full_truth(truth)) << "seed " << seed;
    matches += base.size();
    anomalies += full.size();
  }
  // It would be no comparison if nothing were ever found, or if most programs were too large.
  EXPECT_GT(compared, 210 / kShare);
  EXPECT_GT(matches, 1400U / kShare);
  EXPECT_GT(anomalies, 700U / kShare);
}

}  // namespace
}  // namespace tomos::tm
