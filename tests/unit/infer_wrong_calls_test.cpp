// Calls and writes that are wrong for the locks that are held: text, findings, and random programs,
// whose guarded fields a naive interpreter watches.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/guards.h"
#include "share.h"

namespace tomos::infer {
namespace {

using core::Expr;
using core::ExprId;
using Lines = std::vector<std::string>;

struct Inferred {
  core::Program program;
  Lines findings;                                              // "4:7 message"
  std::set<std::pair<std::uint32_t, std::uint32_t>> reported;  // line and column
};

Inferred inferred(const std::string& text) {
  Inferred made;
  auto program = core::parse(text, "p");
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what << '\n' << text;
    return made;
  }
  made.program = std::move(*program);
  const auto guards = infer_guards(made.program);
  if (!guards) {
    ADD_FAILURE() << guards.error().what;
    return made;
  }
  for (const Finding& finding : guards->findings) {
    const Location& where = finding.events.at(0).location;
    made.reported.emplace(where.line, where.column);
    made.findings.push_back(std::to_string(where.line) + ":" + std::to_string(where.column) + " " +
                            finding.message);
  }
  return made;
}

TEST(InferReaders, Text) {
  const std::string text =
      "class C {\n  mutex m;\n  int f;\n  int get() {\n    synchronized shared (this.m) {\n"
      "      return this.f;\n    }\n  }\n  void set() {\n    lock shared (this.m);\n"
      "    unlock(this.m);\n    if ((trylock shared (this.m))) {\n      unlock(this.m);\n    }\n  "
      "}\n}\n";
  const auto program = core::parse(text, "p");
  ASSERT_TRUE(program.has_value());
  EXPECT_EQ(core::to_text(*program), text);
}

TEST(InferReaders, ReadsAreInOrderAndWritesAreNot) {
  const Inferred made = inferred(
      "class C { mutex m; int f;\n"
      "  int get() { synchronized shared (this.m) { return this.f; } }\n"
      "  void set() { synchronized (this.m) { this.f = 1; } }\n"
      "  void add() { synchronized (this.m) { this.f += 1; } }\n"
      "  void bad() { synchronized shared (this.m) { this.f = 2; } }\n"
      "  void both() { synchronized shared (this.m) { synchronized (this.m) { this.f = 3; } } } }");
  EXPECT_EQ(made.findings, Lines({"5:47 C.f is guarded by this.m in 4 of 5 accesses; here only a "
                                  "reader's lock is held"}));
}

TEST(InferReaders, WaysThatMeet) {
  const Inferred made = inferred(
      "class C { mutex m; int f; int g;\n"
      "  void set() { synchronized (this.m) { this.f = 1; this.f += 1; this.g = 1; } }\n"
      "  void may() { if (this.g == 1) { lock shared (this.m); } else { lock(this.m); }\n"
      "    this.f = 2; unlock(this.m); } }");
  ASSERT_EQ(made.findings.size(), 1U);
  EXPECT_EQ(made.findings[0].substr(0, 4), "4:5 ");
}

TEST(InferReaders, Calls) {
  const Inferred made = inferred(
      "class C { mutex m; int f;\n"
      "  void clear() { this.reset(); }\n"
      "  void reset() { this.f = 0; this.f += 1; }\n"
      "  int look() { return this.f; }\n"
      "  void good() { synchronized (this.m) { this.clear(); this.look(); } }\n"
      "  void also() { synchronized shared (this.m) { this.look(); } }\n"
      "  void bad() { synchronized shared (this.m) { this.clear(); } } }");
  EXPECT_EQ(made.findings,
            Lines({"7:52 C.clear writes what this.m guards; here only a reader's lock is held"}));
}

TEST(InferReaders, WhatReadersMayWriteIsNotGuarded) {
  const Inferred made = inferred(
      "class C { mutex m; int f;\n"
      "  void set() { this.f = 1; this.f += 1; }\n"
      "  void writer() { synchronized (this.m) { this.set(); } }\n"
      "  void reader() { synchronized shared (this.m) { this.set(); } }\n"
      "  void another() { synchronized shared (this.m) { this.set(); } } }");
  EXPECT_EQ(made.findings, Lines());
  EXPECT_EQ(made.program.classes.at(0).fields.at(1).guard.kind, core::Guard::Kind::kUnset);
}

TEST(InferWrongCalls, WhoHoldsAMutexWaitsForItself) {
  const Inferred made = inferred(
      "class C { mutex m; recursive_mutex r; int f; int g;\n"
      "  void set() { synchronized (this.m) { this.f = 1; } }\n"
      "  void twice() { synchronized (this.r) { this.g = 1; } }\n"
      "  void by_another() { this.set(); }\n"
      "  void good() { this.set(); synchronized (this.r) { this.twice(); } }\n"
      "  void other(C c) { synchronized (this.m) { c.set(); } }\n"
      "  void bad() { synchronized (this.m) { this.f = 2; this.set(); } } }");
  EXPECT_EQ(made.findings,
            Lines({"7:57 C.set acquires this.m, which is held here: it waits for itself"}));
}

// A method under a lock that it does not always take itself, and that others take as readers.
class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {}

  std::string make() {
    const std::size_t methods = 3 + pick(4);
    std::string text = "class C { recursive_mutex m; int f; int g;\n";
    for (std::size_t i = 0; i < methods; ++i) {
      text += "  void m" + std::to_string(i) + "() {";
      for (std::size_t k = 1 + pick(3); k > 0; --k) text += " " + statement(i, 2);
      text += " }\n";
    }
    return text + "}\n";
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string field() { return pick(3) == 0 ? "this.g" : "this.f"; }

  std::string statement(std::size_t of, int depth) {
    switch (pick(depth == 0 ? 4 : 8)) {
      case 0:
        return field() + " = 1;";
      case 1:
        return field() + " += 1;";
      case 2:
        return field() + ";";
      case 3:  // of those before it: no recursion
        return of == 0 ? field() + ";" : "this.m" + std::to_string(pick(of)) + "();";
      case 4:
        return "if (" + field() + " == 0) { " + statement(of, depth - 1) + " }";
      case 5:
        return "lock" + shared() + "(this.m); " + statement(of, depth - 1) + " unlock(this.m);";
      default:
        return "synchronized" + shared() + " (this.m) { " + statement(of, depth - 1) + " }";
    }
  }
  std::string shared() { return pick(6) == 0 ? " shared " : ""; }

  std::mt19937 random_;
};

// Runs every method that requires nothing, and what it calls, with what is held in all.
class Watcher {
 public:
  explicit Watcher(const Inferred& of) : of_(of) {}

  // The accesses that break the discipline, and nobody on the way to them was told.
  Lines watch() {
    for (const core::Method& method : of_.program.classes.at(0).methods) {
      if (method.requires_held.empty()) run(method.body);
    }
    return untold_;
  }
  std::size_t told() const { return told_; }

 private:
  void run(ExprId id) {
    const Expr& of = of_.program[id];
    const bool takes = of.kind == Expr::Kind::kSync || of.kind == Expr::Kind::kLock;
    if (takes) (of.is_shared ? readers_ : writers_) += 1;
    if (takes) order_.push_back(of.is_shared);
    switch (of.kind) {
      case Expr::Kind::kSync:
        run(of.children[1]);
        leave();
        return;
      case Expr::Kind::kLock:
        return;
      case Expr::Kind::kUnlock:
        leave();
        return;
      case Expr::Kind::kField:
        return see(of, of.name, false);
      case Expr::Kind::kAssign:
      case Expr::Kind::kUpdate:
        return see(of, of_.program[of.children[0]].name, true);
      case Expr::Kind::kCall: {
        const auto& methods = of_.program.classes.at(0).methods;
        calls_.push_back(of.position);
        run(std::ranges::find(methods, of.name, &core::Method::name)->body);
        calls_.pop_back();
        return;
      }
      default:
        for (const ExprId child : of.children) run(child);
    }
  }

  void leave() {
    (order_.back() ? readers_ : writers_) -= 1;
    order_.pop_back();
  }

  void see(const Expr& access, const std::string& name, bool writes) {
    const auto& fields = of_.program.classes.at(0).fields;
    const auto field = std::ranges::find(fields, name, &core::Field::name);
    using enum core::Guard::Kind;
    const bool guarded = field->guard.kind == kGuardedBy;
    if (!guarded && !(writes && field->guard.kind == kWriteGuardedBy)) return;
    if (writers_ > 0 || (!writes && readers_ > 0)) return;
    const auto is_told = [&](const core::Position& at) {
      return of_.reported.contains({at.line, at.column});
    };
    if (is_told(access.position) || std::ranges::any_of(calls_, is_told)) {
      ++told_;
    } else {
      untold_.push_back(name + " at " + std::to_string(access.position.line) + ":" +
                        std::to_string(access.position.column));
    }
  }

  const Inferred& of_;
  int readers_ = 0;
  int writers_ = 0;
  std::vector<bool> order_;
  std::vector<core::Position> calls_;
  Lines untold_;
  std::size_t told_ = 0;
};

TEST(InferReaders, NoWriteUnderAReadersLockGoesUntold) {
  std::size_t told = 0;
  for (std::uint32_t seed = 1; seed <= 3000 / kShare; ++seed) {
    const std::string text = Maker(seed).make();
    const Inferred made = inferred(text);
    Watcher watcher(made);
    EXPECT_EQ(watcher.watch(), Lines()) << "seed " << seed << '\n' << text;
    if (HasFailure()) return;
    told += watcher.told();
  }
  EXPECT_GT(told, 40U / kShare);  // or it says nothing
}

}  // namespace
}  // namespace tomos::infer
