// Which lock a parameter is: by hand, and for random programs as somebody would find out who
// follows every chain of calls.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/lock_parameters.h"
#include "share.h"

namespace tomos::infer {
namespace {

std::string settled(const std::string& text) {
  auto program = core::parse(text, "p");
  if (!program) return program.error().where + ": " + program.error().what;
  settle_lock_parameters(*program);
  return core::to_text(*program);
}

bool names(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(InferLockParameters, AreTheLockThatAllPass) {
  const std::string made = settled(R"(
    class Queue {
      mutex m final;
      void put() { lock(this.m); this.step(this.m); }
      void get() { lock(this.m); this.step(this.m); }
      void step(mutex held) { unlock(held); this.rest(held); }
      void rest(mutex held) { lock(held); unlock(held); }
    }
  )");
  EXPECT_TRUE(names(made, "unlock(this.m);\n    this.rest(this.m);")) << made;
  EXPECT_TRUE(names(made, "lock(this.m);\n    unlock(this.m);")) << made;
}

TEST(InferLockParameters, AreSeenFromWhatElseIsPassed) {
  const std::string made = settled(R"(
    class Queue { mutex m final; }
    class User {
      Queue own final;
      void use(Queue other) { step(this.own, this.own.m); step(other, other.m); }
    }
    void step(Queue of, mutex held) { unlock(held); }
  )");
  EXPECT_TRUE(names(made, "unlock(of.m)")) << made;
}

TEST(InferLockParameters, StayWhereCallersDiffer) {
  const std::string made = settled(R"(
    class Queue {
      mutex m final;
      mutex other final;
      void put() { this.step(this.m); }
      void get() { this.step(this.other); }
      void step(mutex held) { unlock(held); this.rest(held); }
      void rest(mutex held) { lock(held); }
    }
  )");
  EXPECT_TRUE(names(made, "unlock(held)") && names(made, "lock(held)")) << made;
}

TEST(InferLockParameters, StayWhereNobodyCallsOrTheLockMayChange) {
  const std::string made = settled(R"(
    class Queue { mutex m final; }
    class User {
      Queue now;
      void turn(Queue next) { this.now = next; }
      void use() { this.step(this.now.m); }
      void step(mutex held) { unlock(held); }
      void uncalled(mutex alone) { unlock(alone); }
    }
    User user final;
    main { user.turn(new Queue()); user.turn(new Queue()); user.use(); }
  )");
  EXPECT_TRUE(names(made, "unlock(held)") && names(made, "unlock(alone)")) << made;
}

TEST(InferLockParameters, OfOverridesAreThoseOfWhatTheyOverride) {
  const std::string made = settled(R"(
    class Base {
      mutex m final;
      void run() { lock(this.m); this.work(this.m); }
      void work(mutex held) { }
    }
    class Derived extends Base {
      mutex own final;
      void work(mutex mine) { unlock(mine); }
    }
  )");
  EXPECT_TRUE(names(made, "unlock(this.m)")) << made;
}

// --- Random programs ---

constexpr std::array<const char*, 3> kPassed = {"this.a", "this.b", "g"};

struct Passing {
  std::size_t callee = 0;
  std::optional<std::size_t> lock;  // none: what the caller was given
};
using Passings = std::vector<std::vector<Passing>>;  // of each method

std::string text_of_passings(const Passings& calls) {
  std::string text = "mutex g final;\nclass C {\n  mutex a final;\n  mutex b final;\n";
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string own = "p" + std::to_string(i);
    text += fmt::format("  void m{}(mutex {}) {{\n    lock({});\n", i, own, own);
    for (const Passing& call : calls[i]) {
      text +=
          fmt::format("    this.m{}({});\n", call.callee, call.lock ? kPassed[*call.lock] : own);
    }
    text += "  }\n";
  }
  return text + "}\n";
}

// The locks that each method is given by some chain of calls, step by step.
std::vector<std::set<std::size_t>> passed_in(const Passings& calls) {
  std::vector<std::set<std::size_t>> given(calls.size());
  std::vector<std::pair<std::size_t, std::size_t>> open;
  const auto give = [&](std::size_t method, std::size_t lock) {
    if (given[method].insert(lock).second) open.emplace_back(method, lock);
  };
  for (const auto& of_method : calls) {
    for (const Passing& call : of_method) {
      if (call.lock) give(call.callee, *call.lock);
    }
  }
  while (!open.empty()) {
    const auto [method, lock] = open.back();
    open.pop_back();
    for (const Passing& call : calls[method]) {
      if (!call.lock) give(call.callee, lock);
    }
  }
  return given;
}

// What the first lock expression in each body is now.
std::vector<std::string> locks_named_in(const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(" lock("); at != std::string::npos;
       at = text.find(" lock(", at)) {
    at += 6;
    found.push_back(text.substr(at, text.find(')', at) - at));
  }
  return found;
}

std::string wrong_passing(const Passings& calls) {
  const std::string made = settled(text_of_passings(calls));
  const std::vector<std::string> found = locks_named_in(made);
  const auto given = passed_in(calls);
  if (found.size() != calls.size()) return "no program: " + made;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string expected =
        given[i].size() == 1 ? kPassed[*given[i].begin()] : "p" + std::to_string(i);
    if (found[i] != expected) return "m" + std::to_string(i) + " is given " + expected;
  }
  return {};
}

TEST(InferLockParametersRandom, AreWhatEveryChainOfCallsPasses) {
  int settled_ones = 0;
  for (unsigned seed = 1; seed <= 4000 / kShare; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    Passings calls(2 + below(5));
    for (auto& of_method : calls) {
      for (std::size_t n = below(3); n > 0; --n) {
        Passing call = {.callee = below(calls.size()), .lock = {}};
        if (below(3) == 0) call.lock = below(4) == 0 ? below(kPassed.size()) : 0;
        of_method.push_back(call);
      }
    }
    for (const auto& locks : passed_in(calls)) settled_ones += locks.size() == 1 ? 1 : 0;
    if (wrong_passing(calls).empty()) continue;
    for (auto& of_method : calls) {  // shrink
      for (std::size_t i = of_method.size(); i-- > 0;) {
        const Passing call = of_method[i];
        const auto at = of_method.begin() + static_cast<std::ptrdiff_t>(i);
        of_method.erase(at);
        if (wrong_passing(calls).empty()) of_method.insert(at, call);
      }
    }
    FAIL() << "seed " << seed << ": " << wrong_passing(calls) << "\n" << text_of_passings(calls);
  }
  EXPECT_GT(settled_ones, 2000 / kShare);
}

}  // namespace
}  // namespace tomos::infer
