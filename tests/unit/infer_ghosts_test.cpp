// Ghost parameters for programs that declare none: those of the paper, owners with different locks,
// and what must not get any.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "infer/ghosts.h"
#include "infer/infer.h"

namespace tomos::infer {
namespace {

using Lines = std::vector<std::string>;

struct GhostOutcome {
  std::string text;  // of the program, with guards and ghost parameters
  Lines atomicities;
  Lines findings;
};

GhostOutcome infer_ghosts(const std::string& text, Nulls nulls = Nulls::kNone) {
  GhostOutcome made;
  auto program = core::parse(text, "p");
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what << '\n' << text;
    return made;
  }
  const auto guards = infer_guards_and_ghosts(*program, nulls);
  if (!guards) {
    ADD_FAILURE() << guards.error().where << ": " << guards.error().what << '\n' << text;
    return made;
  }
  made.text = core::to_text(*program);
  const auto result = infer_atomicities(*program);
  if (!result) {
    ADD_FAILURE() << result.error().where << ": " << result.error().what << '\n' << made.text;
    return made;
  }
  for (const auto& method : result->methods) {
    made.atomicities.push_back(method.name + " " + method.atomicity);
  }
  for (const auto* all : {&guards->findings, &result->findings}) {
    for (const Finding& finding : *all) made.findings.push_back(finding.message);
  }
  return made;
}

// An example of the paper without its ghost parameters, guards and declared atomicities.
std::string erased(const std::string& name) {
  std::ifstream file(std::string(TOMOS_SOURCE_DIR) + "/examples/aj2/" + name);
  std::stringstream text;
  text << file.rdbuf();
  std::string program = text.str();
  for (const char* part : {"//[^\n]*", "\n *isAlways[^\n]*", "<[^>]*>", " guarded_by \\w+",
                           " final", " extends Object"}) {
    program = std::regex_replace(program, std::regex(part), "");
  }
  return program;
}

bool shows(const GhostOutcome& made, const std::string& text) {
  return made.text.find(text) != std::string::npos;
}

// Fig. 4: the lock of the list is protected by that of the set.
TEST(InferGhosts, SetWithProtectedLock) {
  const GhostOutcome made = infer_ghosts(erased("set.aj2"));
  EXPECT_EQ(
      made.atomicities,
      (Lines{"Set.add this?mover:atomic", "List.add isNone(x)?(this?mover:atomic):(x?mover:error)",
             "List.contains isNone(x)?(this?mover:atomic):(x?mover:error)"}));
  EXPECT_TRUE(shows(made, "List<this> list final;")) << made.text;
  EXPECT_EQ(made.findings, Lines{});
}

// A list of its own needs no protection, and is none's.
TEST(InferGhosts, ProtectedHereAndNotThere) {
  const GhostOutcome made =
      infer_ghosts(erased("set.aj2") +
                   "class Other { List mine; Other() { this.mine = new List(); }"
                   "  void put(int v) { this.mine.add(v); } }");
  EXPECT_EQ(made.atomicities[0], "Set.add this?mover:atomic");
  EXPECT_EQ(made.atomicities.back().substr(0, 10), "Other.put ");
  EXPECT_TRUE(shows(made, "List<this> list final;")) << made.text;
  EXPECT_TRUE(shows(made, "List<none> mine final;")) << made.text;
  EXPECT_EQ(made.findings, Lines{});
}

// Fig. 10: one that takes its own lock stands under the same interface as one whose callers do.
TEST(InferGhosts, CountersUnderOneInterface) {
  const GhostOutcome made = infer_ghosts(erased("counter.aj2"));
  EXPECT_EQ(made.atomicities,
            (Lines{"Counter.inc isAlways(x)?(this?mover:atomic):(x?mover:error)",
                   "UnsyncCounter.inc x?mover:error", "SyncCounter.inc this?mover:atomic"}));
  EXPECT_TRUE(shows(made, "class SyncCounter extends Counter<always> {")) << made.text;
  EXPECT_TRUE(shows(made, "Counter<this> c guarded_by this;")) << made.text;
  EXPECT_EQ(made.findings, Lines{});
}

// Not if it inherits something that changes, or is given an object that only another lock would
// guard.
TEST(InferGhosts, AlwaysGuardsNothing) {
  const std::string part = "class Part { int n; void inc() { this.n += 1; } }";
  const std::string own =
      "class Own extends Base { mutex m; int k;"
      "  void f() { synchronized (this.m) { this.k += 1; } } }"
      "class Plain extends Base { int j; void f() { this.j += 1; } }"
      "class User { mutex m; Base b; User() { this.b = new Plain(); }"
      "  void up() { synchronized (this.m) { this.b.f(); } } }";
  const GhostOutcome made = infer_ghosts("class Base { void f(); }" + own);
  EXPECT_TRUE(shows(made, "class Own extends Base<always> {")) << made.text;
  const std::string changes = "class Base { int i; void f() { this.i += 1; } }";
  EXPECT_FALSE(shows(infer_ghosts(changes + own), "Base<always>"));
  // A part is under the same lock, or has none.
  const GhostOutcome whole =
      infer_ghosts(part + "class Base { Part p; void f(); void g() { this.p.inc(); } }" + own);
  EXPECT_FALSE(shows(whole, "Base<always>") && shows(whole, "class Part<ghost x>")) << whole.text;
  const GhostOutcome given = infer_ghosts(
      part + "class Base { void f(); void g(Part p) { p.inc(); this.h(p); } void h(Part p) { } }" +
      own + "void give(Own o) { o.g(new Part()); }");
  EXPECT_FALSE(shows(given, "Part<always>")) << given.text;
}

// Fig. 3: nothing is written to an element that others can see, so it needs no lock.
TEST(InferGhosts, ListNeedsNone) {
  const GhostOutcome made = infer_ghosts(erased("list.aj2"));
  EXPECT_EQ(made.atomicities, (Lines{"ListElem.get const", "List.add this?mover:atomic",
                                     "List.addTwo this?mover:cmpd", "List.get this?mover:atomic"}));
  EXPECT_EQ(made.findings.size(), 1U);
}

// If there is, the element's lock is that of the list that it is in, and of its neighbours.
TEST(InferGhosts, ListThatChanges) {
  const GhostOutcome made = infer_ghosts(
      "class Elem { int num; Elem next; int get() { return this.num; }"
      "  Elem last() { if (this.next == null) { return this; } else { return this.next.last(); } }"
      "  void link(Elem e) { this.next = e; } }"
      "class List { Elem elems;"
      "  void add(int v) { synchronized (this) { this.elems = new Elem(v, this.elems); } }"
      "  void append(int v) { synchronized (this) { this.elems.last().link(new Elem(v, null)); } }"
      "  int get() { synchronized (this) { this.elems.num = 1; return this.elems.get(); } } }");
  EXPECT_EQ(made.atomicities,
            (Lines{"Elem.get x?mover:error", "Elem.last x?mover:error", "Elem.link x?mover:error",
                   "List.add this?mover:atomic", "List.append this?mover:atomic",
                   "List.get this?mover:atomic"}));
  EXPECT_TRUE(shows(made, "int num guarded_by x;")) << made.text;
  EXPECT_TRUE(shows(made, "Elem<x> next guarded_by x;")) << made.text;
  EXPECT_TRUE(shows(made, "Elem<x> last() requires x {")) << made.text;
  EXPECT_TRUE(shows(made, "void link(Elem<x> e) requires x {")) << made.text;
  EXPECT_TRUE(shows(made, "Elem<this> elems guarded_by this;")) << made.text;
  EXPECT_EQ(made.findings, Lines{});
}

const std::string kCounter =
    "class Counter { int n; void inc() { this.n += 1; } int get() { return this.n; } } ";

// Two owners with different locks, a helper, a function for any of them, and one of main's own.
TEST(InferGhosts, TwoOwners) {
  const GhostOutcome made = infer_ghosts(
      kCounter +
      "class A { mutex m; Counter c; void up() { synchronized (this.m) { this.c.inc(); } }"
      "  int get() { synchronized (this.m) { return this.c.get(); } } }"
      "class B { mutex l; Counter d; B() { this.d = new Counter(); }"
      "  void up() { synchronized (this.l) { this.help(); } }"
      "  void help() { bump(this.d); this.d.inc(); } }"
      "void bump(Counter c) { c.inc(); c.inc(); }"
      "Counter make() { let c = new Counter(); c.inc(); return c; }"
      "main { let b = new B(); b.up(); let c = make(); bump(c); }");
  EXPECT_EQ(
      made.atomicities,
      (Lines{"Counter.inc x?mover:error", "Counter.get x?mover:error", "A.up this.m?mover:atomic",
             "A.get this.m?mover:atomic", "B.B mover", "B.up this.l?mover:atomic",
             "B.help this.l?mover:error", "bump y?mover:error", "make mover"}));
  EXPECT_TRUE(shows(made, "Counter<this.m> c guarded_by this.m;")) << made.text;
  EXPECT_TRUE(shows(made, "Counter<this.l> d guarded_by this.l;")) << made.text;
  EXPECT_TRUE(shows(made, "void bump<ghost y>(Counter<y> c) requires y {")) << made.text;
  EXPECT_TRUE(shows(made, "bump<this.l>(this.d);")) << made.text;
  EXPECT_TRUE(shows(made, "Counter<y> make<ghost y>() {")) << made.text;
  EXPECT_TRUE(shows(made, "make<tll>();")) << made.text;
  EXPECT_EQ(made.findings, Lines{});
}

// Classes between the owner and its parts, bases, global locks, and objects that stay in a method.
TEST(InferGhosts, PassedOn) {
  const GhostOutcome made = infer_ghosts(
      kCounter +
      "class Twice extends Counter { void inc() { this.n += 2; } }"
      "class Box { Counter c; Box(Counter d) { this.c = d; } void up() { this.c.inc(); } }"
      "class A { mutex m; Box b; A() { this.b = new Box(new Twice()); }"
      "  void up() { synchronized (this.m) { this.b.up(); this.b.up(); } } }"
      "mutex g; Counter all; void count() { synchronized (g) { all.inc(); all.inc(); } }"
      "int own() { let c = new Counter(); c.inc(); return c.get(); }");
  EXPECT_TRUE(shows(made, "class Twice<ghost x> extends Counter<x> {")) << made.text;
  EXPECT_TRUE(shows(made, "Box(Counter<x> d) {")) << made.text;
  EXPECT_TRUE(shows(made, "new Box<this.m>(new Twice<this.m>());")) << made.text;
  EXPECT_TRUE(shows(made, "Counter<g> all")) << made.text;
  for (const char* one : {"A.up this.m?mover:atomic", "count g?mover:atomic", "own mover"}) {
    EXPECT_EQ(std::ranges::count(made.atomicities, one), 1) << one << '\n' << made.text;
  }
  EXPECT_EQ(made.findings, Lines{});
}

// Of two owners, or of none: then there is no such lock, and nothing is said.
TEST(InferGhosts, GivenUp) {
  const std::string owners =
      kCounter +
      "class A { mutex m; Counter c; A() { this.c = new Counter(); } Counter leak() { return "
      "this.c; } void up() { synchronized (this.m) { this.c.inc(); } } }"
      "class B { mutex m; Counter c; B(Counter d) { this.c = d; }"
      "  void up() { synchronized (this.m) { this.c.inc(); } } }";
  for (const char* use :
       {"main { let a = new A(); let b = new B(a.leak()); b.up(); }",            // two owners
        "main { let c = new Counter(); let b = new B(c); let d = new B(c); }",   // at once
        "main { let c = new Counter(); while (true) { let b = new B(c); } }",    // by and by
        "void f(Counter c) { let b = new B(c); } void g(A a) { f(a.leak()); }",  //
        "void f(A a, A b) { a.c = b.c; }",                                       //
        "void f(A a) { let c = a.leak(); c.inc(); c.inc(); }",                   // no lock
        "void run(Counter c) { c.inc(); } void f(A a) { fork run(a.leak()); }",  //
        "Object any; void f(A a) { any = a.leak(); }"}) {                        // lost
    const GhostOutcome made = infer_ghosts(owners + use);
    EXPECT_FALSE(shows(made, "ghost")) << made.text;
    EXPECT_EQ(made.findings, Lines{}) << made.text;
  }
  // Overridden by something else.
  const std::string uneven =
      "class P { void f(Counter c) { } } class Q extends P { void f(int n) { } }"
      "void f(A a, P p) { p.f(a.leak()); }";
  EXPECT_FALSE(shows(infer_ghosts(owners + uneven), "ghost"));
  EXPECT_TRUE(shows(infer_ghosts(owners + "main { let b = new B(new Counter()); b.up(); }"),
                    "class Counter<ghost x>"));
  EXPECT_TRUE(shows(infer_ghosts(owners + "main { let c = new Counter(); let b = new B(c); }"),
                    "class Counter<ghost x>"));
}

// From a front end, null is something that it does not know.
TEST(InferGhosts, UnknownObjects) {
  const std::string owner = kCounter +
                            "class A { mutex m; Counter c;"
                            "  void up() { synchronized (this.m) { this.c.inc(); } }";
  const std::string set = " void set() { this.c = null; } }";
  EXPECT_TRUE(shows(infer_ghosts(owner + set, Nulls::kNone), "class Counter<ghost x>"));
  EXPECT_FALSE(shows(infer_ghosts(owner + set, Nulls::kUnknown), "ghost"));
  EXPECT_TRUE(shows(infer_ghosts(owner + "}", Nulls::kUnknown), "class Counter<ghost owner_lock>"));
}

// What the author declares is kept, and names that are taken are not taken again.
TEST(InferGhosts, Declared) {
  const std::string owner =
      "class A { mutex m; Counter<this.m> c; void x() { synchronized (this.m) { this.c.inc(); } } "
      "}";
  const std::string used =
      "class Plain { int n; } class D { mutex m; Plain p;"
      "  void f() { synchronized (this.m) { this.p.n += 1; } } }";
  const GhostOutcome made =
      infer_ghosts("class Counter<ghost z> { int n; void inc() { this.n += 1; } } " + owner + used);
  EXPECT_TRUE(shows(made, "int n guarded_by z;")) << made.text;
  EXPECT_TRUE(shows(made, "class Plain {")) << made.text;
  EXPECT_TRUE(shows(infer_ghosts(used + "void f(int x) { }"), "class Plain<ghost x1>"));
}

}  // namespace
}  // namespace tomos::infer
