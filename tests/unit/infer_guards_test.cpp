// Guards out of programs without any: those of the paper, what C++ does with locks, and random
// programs, whose guards the second phase must find in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/guards.h"
#include "infer/infer.h"
#include "share.h"

namespace tomos::infer {
namespace {

using Strings = std::vector<std::string>;

struct Outcome {
  core::Program program;
  Strings broken;       // "4:7 message"
  Strings atomicities;  // "List.add this?mover:atomic"
  Strings races;        // what the type rules find broken, with these guards and requirements
};

std::string at(const Finding& finding) {
  const Location& where = finding.events.at(0).location;
  return std::to_string(where.line) + ":" + std::to_string(where.column);
}

Strings required(const Outcome& made, const std::string& name) {
  Strings found;
  const auto look = [&](const core::Method& method, const std::string& full) {
    if (full != name) return;
    for (const auto* locks : {&method.requires_held, &method.releases}) {
      for (const core::LockId lock : *locks) found.push_back(made.program.locks.to_string(lock));
    }
  };
  for (const core::Class& of : made.program.classes) {
    for (const core::Method& method : of.methods) look(method, of.name + "." + method.name);
  }
  for (const core::Method& function : made.program.functions) look(function, function.name);
  return found;
}

// Without atomicities: programs whose locks the type rules cannot name.
Outcome guards_only(const std::string& text) {
  Outcome made;
  auto program = core::parse(text, "p");
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what;
    return made;
  }
  made.program = std::move(*program);
  const auto guards = infer_guards(made.program);
  if (!guards) {
    ADD_FAILURE() << guards.error().where << ": " << guards.error().what;
    return made;
  }
  for (const Finding& finding : guards->findings) {
    made.broken.push_back(at(finding) + " " + finding.message);
  }
  return made;
}

Outcome infer_all(const std::string& text) {
  Outcome made = guards_only(text);
  const auto result = infer_atomicities(made.program);
  if (!result) {
    ADD_FAILURE() << result.error().where << ": " << result.error().what << '\n' << text;
    return made;
  }
  for (const auto& method : result->methods) {
    made.atomicities.push_back(method.name + " " + method.atomicity);
    const Strings says = required(made, method.name);
    for (const std::string& lock : method.needed) {
      if (std::ranges::find(says, lock) != says.end()) continue;
      made.races.push_back(method.name + " needs " + lock + ", and does not say so");
    }
  }
  for (const Finding& finding : result->findings) {
    if (finding.kind == Kind::kRace) made.races.push_back(finding.message);
  }
  return made;
}

std::string guard_of(const Outcome& made, const core::Field& field) {
  using enum core::Guard::Kind;
  switch (field.guard.kind) {
    case kUnset:
      return "none";
    case kFinal:
      return "final";
    case kGuardedBy:
      return made.program.locks.to_string(field.guard.lock);
    case kWriteGuardedBy:
      return "writes " + made.program.locks.to_string(field.guard.lock);
    case kNoGuard:
      return "none";
    case kAtomic:
      return "atomic";
  }
  return "";
}

// "C.f", or the name of a global.
std::string guard(const Outcome& made, const std::string& name) {
  for (const core::Field& global : made.program.globals) {
    if (global.name == name) return guard_of(made, global);
  }
  for (const core::Class& of : made.program.classes) {
    for (const core::Field& field : of.fields) {
      if (of.name + "." + field.name == name) return guard_of(made, field);
    }
  }
  return "no such field";
}

// An example without its guards.
Outcome erased_example(const std::string& name) {
  std::ifstream file(std::string(TOMOS_SOURCE_DIR) + "/examples/aj2/" + name);
  std::string text;
  for (std::string line; std::getline(file, line);) {
    const std::size_t guard = std::min(line.find(" guarded_by "), line.find(" final;"));
    if (guard != std::string::npos && line.ends_with(";")) line = line.substr(0, guard) + ";";
    text += line + '\n';
  }
  return infer_all(text);
}

TEST(InferGuards, List) {
  const Outcome made = erased_example("list.aj2");
  EXPECT_EQ(guard(made, "ListElem.num"), "x");
  EXPECT_EQ(guard(made, "List.elems"), "this");
  EXPECT_EQ(required(made, "ListElem.get"), Strings{"x"});
  EXPECT_EQ(made.atomicities,
            (Strings{"ListElem.get x?mover:error", "List.add this?mover:atomic",
                     "List.addTwo this?mover:cmpd", "List.get this?mover:atomic"}));
}

TEST(InferGuards, SetWithProtectedLock) {
  const Outcome made = erased_example("set.aj2");
  EXPECT_EQ(guard(made, "Set.list"), "final");
  EXPECT_EQ(guard(made, "List.elems"), "this");
  EXPECT_EQ(made.atomicities, (Strings{"Set.add this?mover:atomic",
                                       "List.add isNone(x)?(this?mover:atomic):(x?mover:error)",
                                       "List.contains isNone(x)?(this?mover:atomic):(x?mover:"
                                       "error)"}));
}

TEST(InferGuards, CountersUnderOneInterface) {
  const Outcome made = erased_example("counter.aj2");
  EXPECT_EQ(guard(made, "UnsyncCounter.num"), "lock2");
  EXPECT_EQ(required(made, "UnsyncCounter.inc"), Strings{"lock2"});
  EXPECT_EQ(made.atomicities,
            (Strings{"Counter.inc isAlways(lock1)?atomic:(lock1?mover:error)",
                     "UnsyncCounter.inc lock2?mover:error", "SyncCounter.inc this?mover:atomic"}));
}

// What only the constructor writes needs no guard: final says more than the paper's `this`.
TEST(InferGuards, Vector) {
  const Outcome made = erased_example("vector.aj2");
  EXPECT_EQ(guard(made, "Vector.elementData"), "final");
  EXPECT_EQ(made.atomicities.back(), "Vector.Vector isAlways(y)?cmpd:(y?mover:error)");
}

TEST(InferGuards, OneAccessBreaksTheDiscipline) {
  const Outcome made = infer_all(
      "class Account {\n"
      "  mutex m;\n"
      "  int balance;\n"
      "  Account() { this.balance = 0; }\n"
      "  int get() { synchronized (this.m) { return this.balance; } }\n"
      "  void set(int v) { lock(this.m); this.balance = v; unlock(this.m); }\n"
      "  void add(int v) { synchronized (this.m) { this.balance += v; this.log(); } }\n"
      "  void sub(int v) { synchronized (this.m) { this.balance += v; this.log(); } }\n"
      "  void log() { this.balance; this.balance; this.balance; this.balance; this.balance;"
      "    this.balance; this.balance; this.balance; this.balance; this.balance; }\n"
      "  int peek() { return this.balance; }\n"
      "}\n");
  EXPECT_EQ(guard(made, "Account.balance"), "this.m");
  EXPECT_EQ(guard(made, "Account.m"), "final");
  EXPECT_EQ(required(made, "Account.log"), Strings{"this.m"});
  EXPECT_EQ(made.broken,
            Strings{"10:28 Account.balance is guarded by this.m in 14 of 15 accesses; not here"});
  EXPECT_EQ(made.races, Strings{});
}

TEST(InferGuards, OneCallBreaksTheDiscipline) {
  const Outcome made = infer_all(
      "class C { mutex m; int x; int y;\n"
      "  void a() { synchronized (this.m) { this.set(); } }\n"
      "  void b() { synchronized (this.m) { this.set(); } }\n"
      "  void c() { this.set(); }\n"
      "  void d() { synchronized (this.m) { this.x = this.y; this.y = this.x; } }\n"
      "  void set() { this.x = 1; this.y = 1; this.x = 2; this.y = 2; } }\n");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(required(made, "C.set"), Strings{"this.m"});
  EXPECT_EQ(made.broken,
            Strings{"4:19 C.set requires this.m, which is held at 2 of 3 calls; not here"});
  EXPECT_EQ(made.races, Strings{});
}

// A method that nobody calls with the lock does not require it.
TEST(InferGuards, NoRequirementWithoutSupport) {
  const Outcome made = infer_all(
      "class C { mutex m; int x;\n"
      "  void a() { synchronized (this.m) { this.x = 1; this.x = 2; this.x = 3; this.x; } }\n"
      "  void b() { this.set(); }\n"
      "  void set() { this.x = 1; this.x = 2; this.x = 1; this.x = 2; this.x; this.x; } }\n");
  EXPECT_EQ(required(made, "C.set"), Strings{});
  EXPECT_EQ(guard(made, "C.x"), "none");
}

TEST(InferGuards, NoneWithoutDiscipline) {
  const Outcome made = infer_all(
      "class C { mutex m; int x; int y; int z; "
      "  void a() { synchronized (this.m) { this.x = 1; this.y; } this.z = 1; }"
      "  void b() { this.x = 1; this.y; } void c() { this.x; this.z; } }");
  EXPECT_EQ(guard(made, "C.x"), "none");
  EXPECT_EQ(guard(made, "C.y"), "final");
  EXPECT_EQ(guard(made, "C.z"), "none");
  EXPECT_EQ(made.broken, Strings{});
}

TEST(InferGuards, OnlyWrites) {
  const Outcome made = infer_all(
      "class C { mutex m; int x;"
      "  void a() { synchronized (this.m) { this.x = this.x + 1; this.x += 1; this.b(); } }"
      "  void b() { this.x = this.x + 1; this.x += 1; this.x += 1; this.x += 1; this.c(); }"
      "  void c() { this.x = this.x + 1; this.x += 1; this.x += 1; this.x += 1; this.d(); }"
      "  void d() { this.x = this.x + 1; this.x += 1; this.x += 1; this.x += 1; }"
      "  int p() { return this.x; } int q() { return this.x; } int r() { return this.x; } }");
  EXPECT_EQ(guard(made, "C.x"), "writes this.m");
  EXPECT_EQ(made.broken, Strings{});
}

TEST(InferGuards, LocksOfOthers) {
  const Outcome made = infer_all(
      "class Outer { mutex mu; int own; void f() { synchronized (this.mu) { this.own = 1; } } }"
      "class Inner { Outer outer; int x; int y;"
      "  Inner(Outer o) { this.outer = o; }"
      "  void a() { synchronized (this.outer.mu) { this.x += 1; this.y += 1; this.help(); } }"
      "  void b() { lock(this.outer.mu); this.x += 1; this.y += 1; unlock(this.outer.mu); }"
      "  void help() { this.x = 2; } }"
      "class Base { mutex bm; void run() { synchronized (this.bm) { this.hook(); } } void hook(); }"
      "class Derived extends Base { int d; void hook() { this.d += 1; }"
      "  int get() { synchronized (this.bm) { return this.d; } } }");
  EXPECT_EQ(guard(made, "Outer.own"), "this.mu");
  EXPECT_EQ(guard(made, "Inner.outer"), "final");
  EXPECT_EQ(guard(made, "Inner.x"), "this.outer.mu");
  EXPECT_EQ(guard(made, "Inner.y"), "this.outer.mu");
  EXPECT_EQ(required(made, "Inner.help"), Strings{"this.outer.mu"});
  EXPECT_EQ(guard(made, "Derived.d"), "this.bm");
  EXPECT_EQ(required(made, "Derived.hook"), Strings{"this.bm"});
  EXPECT_EQ(required(made, "Base.hook"), Strings{"this.bm"});
  EXPECT_EQ(made.broken, Strings{});
  EXPECT_EQ(made.races, Strings{});
}

// Which owner a part has cannot be followed; that the lock of one is held is enough. What knows
// nothing of the lock is not guarded by it.
TEST(InferGuards, LocksOfAnyObject) {
  const Outcome made = guards_only(
      "class Store { mutex m; `Store::Entry` first; Plain plain;"
      "  void a() { synchronized (this.m) { this.first.hit(); this.plain.n += 1; } }"
      "  void b() { synchronized (this.m) { this.first.hit(); this.plain.n += 1; } }"
      "  void set(`Store::Entry` e, Plain p)"
      "    { synchronized (this.m) { this.first = e; this.plain = p; } } }"
      "class `Store::Entry` { int hits; int age; Store back;"
      "  void hit() { this.hits += 1; this.hits += 1; this.age = this.age + 1; this.age += 1;"
      "    this.hits += 1; this.hits += 1; this.age += 1; this.age += 1; }"
      "  void move(Store to) { this.back = to; }"
      "  int get() { synchronized (this.back.m) { return this.hits + this.age; } } }"
      "class Plain { int n; }");
  EXPECT_EQ(guard(made, "Store::Entry.hits"), "`&Store::m`");
  EXPECT_EQ(guard(made, "Store::Entry.age"), "`&Store::m`");
  EXPECT_EQ(required(made, "Store::Entry.hit"), Strings{"`&Store::m`"});
  EXPECT_EQ(guard(made, "Plain.n"), "none");
  EXPECT_EQ(made.broken, Strings{});
}

// An object that nobody can follow, locked and used: its own lock guards it.
TEST(InferGuards, ObjectsThatNobodyFollows) {
  const Outcome made = guards_only(
      "class Shard { mutex m; int n; int loose; } class Table { Shard last;"
      "  void add(Shard s) { this.last = s; }"
      "  void a() { synchronized (this.last.m) { this.last.n += 1; this.last.loose += 1; } }"
      "  int b() { synchronized (this.last.m) { return this.last.n; } }"
      "  int c() { return this.last.loose; } }");
  EXPECT_EQ(guard(made, "Shard.n"), "this.m");
  EXPECT_EQ(guard(made, "Shard.loose"), "none");
  EXPECT_EQ(made.broken, Strings{});
}

// An object that is made, used and forgotten needs no lock, whatever is held meanwhile.
TEST(InferGuards, ConfinedObjects) {
  const std::string used =
      "mutex g; int done;"
      "class Maker { int n;"
      "  void make() { synchronized (g) { this.n += 1; this.n += 1; this.n += 1; done += 1; } }"
      "  int get() { synchronized (g) { this.n += 1; this.n += 1; return this.n + done; } } }";
  const Outcome confined =
      infer_all(used + "int f() { let m = new Maker(); m.make(); return m.get(); }");
  EXPECT_EQ(guard(confined, "Maker.n"), "none");
  EXPECT_EQ(guard(confined, "done"), "g");
  const Outcome shared = infer_all(used + "int f(Maker m) { m.make(); return m.get(); }");
  EXPECT_EQ(guard(shared, "Maker.n"), "g");
}

// So does one that is passed around, as long as nobody keeps it.
TEST(InferGuards, ReachedObjects) {
  const auto guard_in = [&](const std::string& more, const std::string& base = "") {
    const std::string used =
        "mutex g; int done;"
        "class Work " +
        base +
        " { int n;"
        "  void go() { synchronized (g) { this.n += 1; this.n += 1; this.n += 1; done += 1; } }"
        "  int get() { synchronized (g) { this.n += 1; this.n += 1; return this.n + done; } } }"
        "int f() { let w = new Work(); return use(w); }"
        "int use(Work w) { w.go(); return w.get(); }";
    return guard(infer_all(used + more), "Work.n");
  };
  EXPECT_EQ(guard_in(""), "none");
  EXPECT_EQ(guard_in("Work last;"), "g");
  EXPECT_EQ(guard_in("class Queue { Work first; }"), "g");  // that others make
  const std::string queue =
      "class Queue { Work first; } int h() { let q = new Queue(); return 0; }";
  EXPECT_EQ(guard_in(queue), "none");  // nobody keeps that either
  EXPECT_EQ(guard_in(queue + "Queue all;"), "g");
  EXPECT_EQ(guard_in(queue + "class Long extends Queue { } Long all;"), "g");
  EXPECT_EQ(guard_in("class Home { static Work last; }"), "g");
  EXPECT_EQ(guard_in("int h() { let w = new Work(); fork use(w); return 0; }"), "g");
  // By what its base is known as.
  EXPECT_EQ(guard_in("class Task { } Task next;", "extends Task"), "g");
  EXPECT_EQ(guard_in("class Task { }", "extends Task"), "none");
}

// What all callers hold, if only they can be callers, is counted on.
TEST(InferGuards, Conventions) {
  core::Program program = *core::parse(
      "class C { mutex m; int x;"
      "  void a() { synchronized (this.m) { this.x += 1; this.help(); this.tell(); } }"
      "  int b() { synchronized (this.m) { this.help(); return this.x; } }"
      "  void c() { this.tell(); }"
      "  void help() { this.inner(); } void inner() { } void tell() { } }",
      "p");
  for (core::Method& method : program.classes[0].methods) {
    method.is_private = method.name != "a" && method.name != "b" && method.name != "c";
  }
  ASSERT_TRUE(infer_guards(program));
  const Outcome made = {
      .program = std::move(program), .broken = {}, .atomicities = {}, .races = {}};
  EXPECT_EQ(required(made, "C.help"), Strings{"this.m"});
  EXPECT_EQ(required(made, "C.inner"), Strings{"this.m"});
  EXPECT_EQ(required(made, "C.tell"), Strings{});
  EXPECT_EQ(required(made, "C.a"), Strings{});
}

// A global lock guards globals. That it happens to be held at fields of objects says little.
TEST(InferGuards, GlobalLocks) {
  const Outcome made = infer_all(
      "mutex g; int count; class C { int x; int y; mutex m;"
      "  void a() { synchronized (g) { this.x = 1; synchronized (this.m) { this.y = 1; } } }"
      "  void b() { synchronized (g) { synchronized (this.m) { this.y = 1; } } } }"
      "void inc() { synchronized (g) { count += 1; } }"
      "int get() { synchronized (g) { return count; } }");
  EXPECT_EQ(guard(made, "count"), "g");
  EXPECT_EQ(guard(made, "C.x"), "none");
  EXPECT_EQ(guard(made, "C.y"), "this.m");
}

// A class inside another knows the global locks that the other's methods acquire.
TEST(InferGuards, GlobalLocksOfOuterClasses) {
  const Outcome made = infer_all(
      "mutex g; class Thread::Part { int count; int other; }"
      "class Thread { Thread::Part part final;"
      "  void up() { synchronized (g) { this.part.count += 1; this.part.other = 1; } }"
      "  void down() { synchronized (g) { this.part.count += 1; this.part.other = 2; } }"
      "  int get() { synchronized (g) { return this.part.count + this.part.other; } } }");
  EXPECT_EQ(guard(made, "Thread::Part.count"), "g");
  EXPECT_EQ(guard(made, "Thread::Part.other"), "g");
}

// What is called with the lock held does not acquire it by some way through others, which it would
// take only to fail.
TEST(InferGuards, WaysThatNobodyTakes) {
  const std::string text =
      "class C { mutex m; int x; int y;"
      "  void log() { synchronized (this.m) { this.y = 1; } }"
      "  void fail() { this.log(); }"
      "  void locked() { this.x += 1; if (this.x == 0) { this.fail(); } }"
      "  void a() { synchronized (this.m) { this.locked(); this.x = 2; } }"
      "  void b() { synchronized (this.m) { this.locked(); } } }";
  const Outcome made = infer_all(text);
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(required(made, "C.locked"), Strings{"this.m"});
  // Who acquires it himself does.
  EXPECT_EQ(required(made, "C.log"), Strings{});
}

TEST(InferGuards, TriesReleasesAndWaits) {
  const Outcome made = infer_all(
      "class C { mutex m; int x;"
      "  void a() { if (trylock(this.m)) { this.x = 1; unlock(this.m); } }"
      "  void b() { if (!trylock(this.m)) { return; } this.x = 1; unlock(this.m); }"
      "  void c() { lock(this.m); while (this.x == 0) { wait(this.m); } this.x = 0;"
      "    this.out(); unlock(this.m); }"
      "  void out() { unlock(this.m); lock(this.m); this.x = 3; } }");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(required(made, "C.out"), Strings{"this.m"});
  EXPECT_EQ(made.broken, Strings{});
  EXPECT_EQ(made.races, Strings{});
}

// Released by the method that the lock was handed to, or on one of two ways.
TEST(InferGuards, NotHeldAnyMore) {
  std::string reads;
  for (int i = 0; i < 40; ++i) reads += "this.x; ";
  const Outcome made =
      infer_all("class C { mutex m; int x; int y;\n  void log() { " + reads +
                "}\n"
                "  void a() { lock(this.m); this.log(); this.out(); unlock(this.m); }\n"
                "  void out() { unlock(this.m);\n"
                "    this.x = 1;\n"
                "    lock(this.m); this.x = 2; }\n"
                "  void b() { lock(this.m); this.x = 3;\n"
                "    if (this.y == 0) { unlock(this.m); }\n"
                "    this.x = 4; } }\n");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  const std::string message = " C.x is guarded by this.m in 42 of 44 accesses; not here";
  EXPECT_EQ(made.broken, (Strings{"5:5" + message, "9:5" + message}));
}

// Methods that lock for others.
TEST(InferGuards, LocksLeftToTheCaller) {
  const Outcome made = infer_all(
      "class C { mutex m; int x; void enter() { lock(this.m); } void leave() { unlock(this.m); }"
      "  void a() { this.enter(); this.x = 1; this.leave(); }"
      "  void b() { this.enter(); this.x = 2; this.leave(); } }");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(made.broken, Strings{});
  EXPECT_EQ(made.races, Strings{});
}

// Until others can see it, an object needs no lock.
TEST(InferGuards, NewObjects) {
  const Outcome made = infer_all(
      "class Node { mutex m; int v; int id;"
      "  void set() { synchronized (this.m) { this.v = 1; } }"
      "  int get() { synchronized (this.m) { return this.v + this.id; } } }"
      "class Pool { mutex m; Node first;"
      "  void add() { let n = new Node(); n.v = 1; n.id = 7;"
      "    synchronized (this.m) { this.first = n; } } }");
  EXPECT_EQ(guard(made, "Node.v"), "this.m");
  EXPECT_EQ(guard(made, "Node.id"), "final");
  EXPECT_EQ(guard(made, "Pool.first"), "this.m");
  EXPECT_EQ(made.broken, Strings{});
}

// A thread begins with no lock, whoever starts it.
TEST(InferGuards, Threads) {
  const Outcome made = infer_all(
      "class C { mutex m; int x;"
      "  void start() { synchronized (this.m) { fork this.work(); this.x = 1; this.x = 2; } }"
      "  void stop() { synchronized (this.m) { this.x = 3; this.log(); } }"
      "  void log() { this.x; this.x; this.x; this.x; this.x; this.x; this.x; this.x; this.x;"
      "    this.x; this.x; this.x; this.x; this.x; this.x; this.x; this.x; this.x; this.x; }"
      "  void work() { this.x = 4; } }");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(required(made, "C.work"), Strings{});
  EXPECT_EQ(made.broken.size(), 1U);
}

// What was declared stays, and tells what callers must hold.
TEST(InferGuards, DeclaredGuards) {
  const Outcome made = infer_all(
      "class C { mutex m final; mutex n final; int x guarded_by this.m;"
      "  void a() { synchronized (this.n) { this.x = 1; } }"
      "  void b() { synchronized (this.n) { this.x = 2; } } }");
  EXPECT_EQ(guard(made, "C.x"), "this.m");
  EXPECT_EQ(required(made, "C.a"), Strings{"this.m"});
}

// --- Random programs ---

class RandomProgram {
 public:
  explicit RandomProgram(std::uint32_t seed) : random_(seed) {}

  // Methods as lists of statements, so that they can be taken out.
  std::vector<Strings> make() {
    std::vector<Strings> methods(2 + pick(3));
    for (Strings& body : methods) {
      for (std::size_t i = 2 + pick(7); i > 0; --i) body.push_back(statement(methods.size(), 3));
    }
    return methods;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string field() { return "this.f" + std::to_string(pick(3)); }
  std::string lock() { return pick(9) == 0 ? "g" : pick(9) == 0 ? "this.n" : "this.m"; }

  std::string statement(std::size_t methods, int depth) {
    const auto inner = [&] {
      std::string text = "{ ";
      for (std::size_t i = 1 + pick(2); i > 0; --i) text += statement(methods, depth - 1) + " ";
      return text + "}";
    };
    switch (depth == 0 ? pick(4) : pick(14)) {
      case 0:
        return field() + " = 1;";
      case 1:
        return field() + " += 1;";
      case 2:
        return field() + ";";
      case 3:
        return "this.m" + std::to_string(pick(methods)) + "();";
      case 4:
        return "if (" + field() + " == 0) " + inner() + " else " + inner();
      case 5:
        return "while (" + field() + " == 0) " + inner();
      case 6: {
        const std::string taken = lock();
        return "lock(" + taken + "); " + field() + " = 2; " + field() + "; unlock(" + taken + ");";
      }
      default:
        return "synchronized (" + lock() + ") " + inner();
    }
  }

  std::mt19937 random_;
};

std::string program_of(const std::vector<Strings>& methods) {
  std::string text =
      "recursive_mutex g;\nclass C {\n  recursive_mutex m;\n  recursive_mutex n;\n"
      "  int f0;\n  int f1;\n  int f2;\n";
  for (std::size_t i = 0; i < methods.size(); ++i) {
    text += "  void m" + std::to_string(i) + "() {";
    for (const std::string& one : methods[i]) text += " " + one;
    text += " }\n";
  }
  return text + "}\n";
}

// With what breaks the discipline told and excused, the type rules find nothing else that does.
bool is_accepted(const std::vector<Strings>& methods) {
  return infer_all(program_of(methods)).races.empty();
}

TEST(InferGuards, TypeRulesAcceptWhatIsLeft) {
  std::size_t guarded = 0;
  std::size_t broken = 0;
  for (std::uint32_t seed = 1; seed <= 300 / kShare; ++seed) {
    std::vector<Strings> methods = RandomProgram(seed).make();
    const Outcome whole = infer_all(program_of(methods));
    for (const char* name : {"C.f0", "C.f1", "C.f2"}) {
      if (guard(whole, name).starts_with("this.")) ++guarded;
    }
    broken += whole.broken.size();
    if (whole.races.empty()) continue;
    for (bool smaller = true; smaller;) {
      smaller = false;
      for (std::size_t i = 0; i < methods.size() && !smaller; ++i) {
        for (std::size_t j = 0; j < methods[i].size() && !smaller; ++j) {
          std::vector<Strings> next = methods;
          next[i].erase(next[i].begin() + static_cast<std::ptrdiff_t>(j));
          if (is_accepted(next)) continue;
          methods = std::move(next);
          smaller = true;
        }
      }
    }
    const Outcome made = infer_all(program_of(methods));
    FAIL() << "seed " << seed << ": " << made.races[0] << '\n' << core::to_text(made.program);
  }
  // Or it says nothing.
  EXPECT_GT(guarded, 100U / kShare);
  EXPECT_GT(broken, 4U / kShare);
}

}  // namespace
}  // namespace tomos::infer
