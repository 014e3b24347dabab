// Random programs of owners and their parts, against a naive interpreter that knows nothing of
// types: it runs every public method of every owner and notes which locks are held at each step.
// What is said to be guarded by the lock of an owner must have one lock that is held at all its
// accesses, and what is said to be atomic must be reducible step by step (Lipton). And what was
// declared, erased and inferred must come out as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/ghosts.h"
#include "infer/infer.h"
#include "share.h"

namespace tomos::infer {
namespace {

// What a body does. A cell is a number, a box has a cell, a vault has a number and its own lock.
struct Act {
  enum class Kind {
    kSync,   // the owner's lock, around the children
    kTouch,  // own cell, directly
    kInc,    // own cell, by its method
    kUse,    // own cell, by a function
    kBox,    // box.work()
    kGive,   // use(box.give())
    kVault,  // vault.put()
    kLocal,  // a new cell, by its method and a function
    kHelp,   // this.help()
  };
  Kind kind = Kind::kTouch;
  std::vector<Act> children;
};

constexpr std::size_t kOwners = 2;
constexpr std::size_t kPublic = 3;  // methods of an owner, and then its helper

struct Model {
  std::array<std::array<std::vector<Act>, kPublic + 1>, kOwners> bodies;
  std::size_t uses = 1;    // accesses in use()
  std::size_t works = 1;   // calls in Box.work()
  bool is_shared = false;  // the second owner gets its cell from the first
};

class RandomModel {
 public:
  RandomModel(unsigned seed, bool is_disciplined, bool with_extras)
      : random_(seed), is_disciplined_(is_disciplined), with_extras_(with_extras) {}

  Model make() {
    Model made = {.bodies = {}, .uses = 1 + pick(2), .works = 1 + pick(2)};
    made.is_shared = !is_disciplined_ && pick(3) == 0;
    for (auto& owner : made.bodies) {
      for (std::size_t i = 0; i < kPublic; ++i) owner[i] = acts(false, true);
      owner[kPublic] = acts(true, false);
      // What nobody calls holds nothing.
      const Act help = {.kind = Act::Kind::kHelp, .children = {}};
      if (is_disciplined_) owner[0].push_back({.kind = Act::Kind::kSync, .children = {help}});
    }
    return made;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  std::vector<Act> acts(bool held, bool may_help) {
    std::vector<Act> made;
    for (std::size_t i = 1 + pick(3); i > 0; --i) made.push_back(act(held, may_help));
    return made;
  }

  Act act(bool held, bool may_help) {
    // Whoever keeps to the discipline holds the lock for all but what is its own.
    const bool lock = !held && may_help && (is_disciplined_ || pick(4) != 0);
    if (lock) return {.kind = Act::Kind::kSync, .children = acts(true, may_help)};
    using enum Act::Kind;
    std::vector<Act::Kind> kinds = {kTouch, kInc, kUse, kBox, kGive};
    if (may_help) kinds.push_back(kHelp);
    if (with_extras_) kinds.insert(kinds.end(), {kVault, kVault, kLocal});
    return {.kind = kinds[pick(kinds.size())], .children = {}};
  }

  std::mt19937 random_;
  bool is_disciplined_;
  bool with_extras_;
};

// --- As text ---

// With ghost parameters, or without any.
class Text {
 public:
  Text(const Model& model, bool is_declared) : model_(model), is_declared_(is_declared) {}

  std::string make() const {
    std::string text = "class Cell" + formal("x") +
                       " { int v; void inc() { this.v += 1; } }\n"
                       "class Box" +
                       formal("x") + " { Cell" + actual("x") + " c final; Box(Cell" + actual("x") +
                       " d) { this.c = d; } void work() { ";
    for (std::size_t i = 0; i < model_.works; ++i) text += "this.c.inc(); ";
    text += "} Cell" + actual("x") + " give() { return this.c; } }\n";
    text +=
        "class Vault { mutex k; int w; void put() { synchronized (this.k) { this.w += 1; } } }\n";
    text += "void use" + formal("y") + "(Cell" + actual("y") + " c) { ";
    for (std::size_t i = 0; i < model_.uses; ++i) text += "c.v = c.v + 1; ";
    text += "}\n";
    for (std::size_t i = 0; i < kOwners; ++i) text += owner(i);
    return text + "main { let a = new Owner0(); let b = new Owner1(" +
           (model_.is_shared ? "a.c" : "") + "); }\n";
  }

 private:
  std::string formal(const std::string& name) const {
    return is_declared_ ? "<ghost " + name + ">" : "";
  }
  std::string actual(const std::string& lock) const { return is_declared_ ? "<" + lock + ">" : ""; }

  std::string owner(std::size_t index) const {
    const std::string name = "Owner" + std::to_string(index);
    const std::string lock = actual("this.m");
    const bool is_given = model_.is_shared && index == 1;
    std::string text = "class " + name + " { mutex m; Cell" + lock + " c; Box" + lock +
                       " b; Vault s; " + name + "(" + (is_given ? "Cell" + lock + " d" : "") +
                       ") { this.c = " + (is_given ? "d" : "new Cell" + lock + "()") +
                       "; this.b = new Box" + lock + "(new Cell" + lock +
                       "()); this.s = new Vault(); }\n";
    for (std::size_t i = 0; i <= kPublic; ++i) {
      text += "  void " + (i == kPublic ? "help" : "p" + std::to_string(i)) + "() { " +
              all(model_.bodies[index][i]) + "}\n";
    }
    return text + "}\n";
  }

  std::string all(const std::vector<Act>& acts) const {
    std::string text;
    for (const Act& act : acts) text += one(act) + " ";
    return text;
  }

  std::string one(const Act& act) const {
    switch (act.kind) {
      case Act::Kind::kSync:
        return "synchronized (this.m) { " + all(act.children) + "}";
      case Act::Kind::kTouch:
        return "this.c.v = 1;";
      case Act::Kind::kInc:
        return "this.c.inc();";
      case Act::Kind::kUse:
        return "use" + actual("this.m") + "(this.c);";
      case Act::Kind::kBox:
        return "this.b.work();";
      case Act::Kind::kGive:
        return "use" + actual("this.m") + "(this.b.give());";
      case Act::Kind::kVault:
        return "this.s.put();";
      case Act::Kind::kLocal:
        return "{ let k = new Cell(); k.inc(); use(k); }";
      case Act::Kind::kHelp:
        return "this.help();";
    }
    return "";
  }

  const Model& model_;
  bool is_declared_;
};

// --- As steps ---

struct Step {
  enum class Kind { kAccess, kAcquire, kRelease };
  Kind kind = Kind::kAccess;
  std::string what;            // a variable or a lock
  std::set<std::string> held;  // before it
};

struct Call {
  std::string method;
  std::size_t first = 0;
  std::size_t last = 0;  // one past
};

struct Execution {
  std::vector<Step> steps;
  std::vector<Call> calls;
};

class Runner {
 public:
  explicit Runner(const Model& model) : model_(model) {}

  Execution run(std::size_t owner, std::size_t method) {
    made_ = {};
    owner_ = owner;
    name_ = "Owner" + std::to_string(owner);
    body(method);
    return std::move(made_);
  }

 private:
  void body(std::size_t method) {
    const std::string own = method == kPublic ? "help" : "p" + std::to_string(method);
    within(name_ + "." + own, [&] {
      for (const Act& act : model_.bodies[owner_][method]) run(act);
    });
  }

  void within(const std::string& method, auto does) {
    const std::size_t index = made_.calls.size();
    made_.calls.push_back({.method = method, .first = made_.steps.size()});
    does();
    made_.calls[index].last = made_.steps.size();
  }

  void step(Step::Kind kind, const std::string& what) {
    made_.steps.push_back({.kind = kind, .what = what, .held = held_});
  }

  void locked(const std::string& lock, auto does) {
    step(Step::Kind::kAcquire, lock);
    held_.insert(lock);
    does();
    held_.erase(lock);
    step(Step::Kind::kRelease, lock);
  }

  void inc(const std::string& cell) {
    within("Cell.inc", [&] {
      step(Step::Kind::kAccess, cell);
      step(Step::Kind::kAccess, cell);
    });
  }
  void use(const std::string& cell) {
    within("use", [&] {
      for (std::size_t i = 0; i < 2 * model_.uses; ++i) step(Step::Kind::kAccess, cell);
    });
  }

  void run(const Act& act) {
    const std::string cell = (model_.is_shared ? "Owner0" : name_) + ".c.v";
    const std::string boxed = name_ + ".b.c.v";
    switch (act.kind) {
      case Act::Kind::kSync:
        locked(name_ + ".m", [&] {
          for (const Act& child : act.children) run(child);
        });
        break;
      case Act::Kind::kTouch:
        step(Step::Kind::kAccess, cell);
        break;
      case Act::Kind::kInc:
        inc(cell);
        break;
      case Act::Kind::kUse:
        use(cell);
        break;
      case Act::Kind::kBox:
        within("Box.work", [&] {
          for (std::size_t i = 0; i < model_.works; ++i) inc(boxed);
        });
        break;
      case Act::Kind::kGive:
        use(boxed);
        break;
      case Act::Kind::kVault:
        within("Vault.put", [&] {
          locked(name_ + ".s.k", [&] {
            step(Step::Kind::kAccess, name_ + ".s.w");
            step(Step::Kind::kAccess, name_ + ".s.w");
          });
        });
        break;
      case Act::Kind::kLocal: {
        const std::string mine = "local" + std::to_string(locals_++);
        inc(mine);
        use(mine);
        break;
      }
      case Act::Kind::kHelp:
        body(kPublic);
        break;
    }
  }

  const Model& model_;
  Execution made_;
  std::size_t owner_ = 0;
  std::string name_;
  std::set<std::string> held_;
  int locals_ = 0;
};

// The locks that are held at all accesses of a variable, or at all acquires of a lock.
std::map<std::string, std::set<std::string>> common_locks(const std::vector<Execution>& runs) {
  std::map<std::string, std::set<std::string>> common;
  for (const Execution& run : runs) {
    for (const Step& step : run.steps) {
      if (step.kind == Step::Kind::kRelease) continue;
      const auto [at, is_new] = common.try_emplace(step.what, step.held);
      if (is_new) continue;
      std::erase_if(at->second, [&](const std::string& lock) { return !step.held.contains(lock); });
    }
  }
  return common;
}

bool is_reducible(const Execution& run, const Call& call,
                  const std::map<std::string, std::set<std::string>>& common) {
  bool committed = false;
  for (std::size_t i = call.first; i < call.last; ++i) {
    const Step& step = run.steps[i];
    if (!common.at(step.what).empty() || step.what.starts_with("local")) continue;  // a mover
    if (step.kind != Step::Kind::kRelease && committed) return false;
    committed |= step.kind != Step::Kind::kAcquire;
  }
  return true;
}

// --- What was inferred ---

struct RandomOutcome {
  std::string text;
  std::string guard;                    // of the cells
  std::map<std::string, Basic> basics;  // of the methods, for callers that hold what is needed
  std::map<std::string, std::string> atomicities;
  std::size_t findings = 0;
};

RandomOutcome infer_model(const Model& model, bool is_declared) {
  RandomOutcome made = {.text = Text(model, is_declared).make()};
  auto program = core::parse(made.text, "random");
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what << '\n' << made.text;
    return made;
  }
  const auto guards = infer_guards_and_ghosts(*program, Nulls::kNone);
  const auto result = infer_atomicities(*program);
  if (!guards || !result) {
    ADD_FAILURE() << made.text;
    return made;
  }
  made.text = core::to_text(*program);
  const core::Guard& guard = program->classes[0].fields[0].guard;
  if (guard.kind == core::Guard::Kind::kGuardedBy)
    made.guard = program->locks.to_string(guard.lock);
  made.findings = guards->findings.size();
  for (const MethodAtomicity& method : result->methods) {
    made.basics[method.name] = method.basic;
    made.atomicities[method.name] = method.atomicity;
  }
  return made;
}

TEST(InferGhostsRandom, NothingWrongIsSaid) {
  std::size_t guarded = 0;
  std::size_t atomic = 0;
  for (unsigned seed = 0; seed < 150 / kShare; ++seed) {
    const Model model = RandomModel(seed, seed % 3 == 0, true).make();
    const RandomOutcome made = infer_model(model, false);
    if (made.findings > 0) continue;  // what is broken is told, and then left aside
    std::vector<Execution> runs;
    Runner runner(model);
    for (std::size_t owner = 0; owner < kOwners; ++owner) {
      for (std::size_t i = 0; i < kPublic; ++i) runs.push_back(runner.run(owner, i));
    }
    const auto common = common_locks(runs);
    if (made.guard == "x") {
      ++guarded;
      for (const auto& [what, locks] : common) {
        if (!what.ends_with("c.v")) continue;
        EXPECT_FALSE(locks.empty()) << "seed " << seed << ": " << what << '\n' << made.text;
      }
    }
    for (const Execution& run : runs) {
      for (const Call& call : run.calls) {
        if (made.basics.at(call.method) > Basic::kAtomic) continue;
        ++atomic;
        EXPECT_TRUE(is_reducible(run, call, common))
            << "seed " << seed << ": " << call.method << '\n'
            << made.text;
      }
    }
  }
  EXPECT_GT(guarded, 40U / kShare);
  EXPECT_GT(atomic, 500U / kShare);
}

TEST(InferGhostsRandom, WhatWasErasedIsFound) {
  for (unsigned seed = 0; seed < 60 / kShare; ++seed) {
    const Model model = RandomModel(1000 + seed, true, false).make();
    const RandomOutcome declared = infer_model(model, true);
    const RandomOutcome found = infer_model(model, false);
    EXPECT_EQ(found.guard, declared.guard) << "seed " << seed << '\n' << declared.text;
    EXPECT_EQ(found.atomicities, declared.atomicities) << "seed " << seed << '\n' << found.text;
    EXPECT_EQ(found.findings, 0U) << "seed " << seed << '\n' << found.text;
  }
}

}  // namespace
}  // namespace tomos::infer
