// What C++ adds to AJ2: locks that are members, locking by hand, try-lock, waits, atomics,
// transactions, constructors, free functions and globals, inheritance, threads; and what is said
// when something is wrong.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/parser.h"
#include "infer/infer.h"

namespace tomos::infer {
namespace {

using Lines = std::vector<std::string>;

Result<Inference> infer_text(const std::string& text) {
  const auto program = core::parse(text, "t");
  if (!program) return std::unexpected(program.error());
  return infer_atomicities(*program);
}

// Members of a class with a mutex, a field that it guards, and others.
Inference infer_members(const std::string& members, const std::string& after = "") {
  auto result = infer_text(
      "class A { mutex m final; recursive_mutex r final; int f guarded_by this.m;\n"
      "int n no_guard; int a atomic; int w write_guarded_by this.m;\n" +
      members + "\n}\n" + after);
  if (!result) {
    ADD_FAILURE() << result.error().where << ": " << result.error().what;
    return {};
  }
  return *result;
}

std::string atomicity(const std::string& members, const std::string& after = "") {
  const Inference result = infer_members(members, after);
  return result.methods.empty() ? "" : result.methods.front().atomicity;
}

Lines messages(const Inference& result) {
  Lines shown;
  shown.reserve(result.findings.size());
  for (const Finding& finding : result.findings) shown.push_back(finding.message);
  return shown;
}

TEST(InferLanguage, Accesses) {
  EXPECT_EQ(atomicity("int g() { this.f }"), "this.m?mover:error");
  EXPECT_EQ(atomicity("int g() { this.w }"), "this.m?mover:atomic");
  EXPECT_EQ(atomicity("void g() { this.w = 1 }"), "this.m?atomic:error");
  EXPECT_EQ(atomicity("void g() { this.n = 1 }"), "atomic");
  EXPECT_EQ(atomicity("void g() { this.n += 1 }"), "cmpd");
  EXPECT_EQ(atomicity("void g() { this.a += 1 }"), "atomic");
  EXPECT_EQ(atomicity("void g() { this.a = this.a + 1 }"), "cmpd");
  EXPECT_EQ(atomicity("int g(A b) { synchronized (b.m) { b.f } }"), "b.m?mover:atomic");
}

TEST(InferLanguage, LockedByHand) {
  EXPECT_EQ(atomicity("void g() { lock(this.m); this.f = 1; unlock(this.m); }"),
            "this.m?mover:atomic");
  EXPECT_EQ(atomicity("void g() acquires this.m { lock(this.m) }"), "this.m?const:right");
  EXPECT_EQ(atomicity("void g() releases this.m { unlock(this.m) }"), "this.m?left:error");
  EXPECT_EQ(atomicity("void g() { lock(this.m); if (this.f == 0) { unlock(this.m); return; }"
                      "this.f = 1; unlock(this.m); }"),
            "this.m?mover:atomic");
  EXPECT_EQ(atomicity("void g() { if (trylock(this.m)) { this.f = 1; unlock(this.m); } }"),
            "this.m?mover:atomic");
  // Released by the callee: what follows is not guarded any more.
  EXPECT_EQ(atomicity("void g() requires this.m { unlock(this.m); this.f = 1; lock(this.m); }"),
            "error");
  EXPECT_EQ(atomicity("void g() { let A b = new A(); lock(b.m); b.f = 1; unlock(b.m); }"),
            "atomic");
  EXPECT_EQ(atomicity("void g() { let x = this.m; synchronized (x) { this.f = 1; } }"),
            "this.m?mover:atomic");
}

TEST(InferLanguage, AcquiredAndReleasedByOthers) {
  const Inference result = infer_members(
      "void use() { this.take(); this.f = 1; this.give(); }"
      "void take() acquires this.m { lock(this.m) } void give() releases this.m { unlock(this.m) "
      "}");
  EXPECT_EQ(result.methods[0].basic, Basic::kAtomic);
  EXPECT_EQ(messages(result), Lines{});
}

TEST(InferLanguage, Waits) {
  const Inference result = infer_members(
      "void g() { synchronized (this.m) { while (this.f == 0) { wait(this.m); } this.f = 0; } }"
      "void calls() { this.g(); }\n"
      "atomic void claims() { this.g(); }");
  EXPECT_EQ(result.methods[0].atomicity, "cmpd");
  EXPECT_EQ(
      messages(result),
      (Lines{"A.claims is declared atomic, but is cmpd: calls A.g at t:4:29, which waits with "
             "this.m at t:3:58"}));
}

TEST(InferLanguage, TransactionsAndClaims) {
  EXPECT_EQ(atomicity("void g() { atomic { this.n += 1; } }"), "atomic");
  EXPECT_EQ(atomicity("void g() { no_warn { this.f = 1; } }"), "const");
  EXPECT_EQ(messages(infer_members("cmpd void g() { expect atomic { this.n += 1; } }\n")),
            (Lines{"this part of A.g must be atomic, but is cmpd: updates this.n at t:3:33"}));
  EXPECT_EQ(messages(infer_members(
                "void g() { synchronized (this.m) { expect mover { this.f = 1; } } }")),
            Lines{});
}

TEST(InferLanguage, NobodyElseSeesANewObject) {
  const Inference result = infer_members(
      "A() { this.f = 1; this.n += 1; this.set(); } ~A() { this.f = 0; }"
      "void set() { this.f = 2; }");
  EXPECT_EQ(result.methods[0].atomicity, "mover");
  EXPECT_EQ(result.methods[1].atomicity, "mover");
  EXPECT_EQ(messages(result), Lines{});
}

TEST(InferLanguage, GlobalsAndStatics) {
  const std::string globals =
      "mutex g final; int total guarded_by g; class B { static int s guarded_by g;"
      "static void add() { B::s += 1; } }";
  EXPECT_EQ(atomicity("void h() { synchronized (g) { total += 1; B::add(); } }", globals),
            "g?mover:atomic");
  EXPECT_EQ(
      messages(infer_members("", globals + "main { B::add(); }")),
      (Lines{"main breaks the locking discipline: calls B::add at t:5:117, which updates B::s "
             "at t:5:96 without holding g"}));
}

TEST(InferLanguage, Threads) {
  const std::string worker =
      "class W<ghost x> extends Object<none> { int data guarded_by x; void bump() { this.data += "
      "1; } }";
  const std::string begins = "void run<ghost t>(W<t> w) { w.bump(); } ";
  EXPECT_EQ(messages(infer_members(begins, worker + "main { let a = new A(); let w = new W<tll>();"
                                                    " fork a.run<tll>(w); w.bump(); }")),
            Lines{});
  EXPECT_EQ(
      messages(infer_members("void run<ghost t>() { this.f = 1; }",
                             "main { let a = new A(); a.fork; }")),
      (Lines{"a new thread breaks the locking discipline: calls A.run at t:5:27, which writes "
             "this.f at t:3:23 without holding this.m"}));
}

TEST(InferLanguage, Inheritance) {
  const auto result = infer_text(
      "class B<ghost x> { int f guarded_by x; int get() { this.f } int abstract(); }"
      "class D<ghost y> extends B<y> { int twice() { this.get() + this.f } int abstract() { this.f "
      "} }"
      "class E extends D<this> { int abstract() { synchronized (this) { this.get() } } }"
      "int use(B<none> b) { b.abstract() }");
  ASSERT_TRUE(result) << result.error().what;
  Lines shown;
  for (const MethodAtomicity& method : result->methods) shown.push_back(method.atomicity);
  EXPECT_EQ(shown, (Lines{"x?mover:error", "x?mover:error", "y?mover:error", "y?mover:error",
                          "this?mover:error", "error"}));
}

// What is done again, and where.
TEST(InferLanguage, ReasonsArePaths) {
  const Inference result = infer_members(
      "void g(int v) {\nlock(this.m);\nlet old = this.f;\nunlock(this.m);\n"
      "lock(this.m);\nthis.f = old + v;\nunlock(this.m);\n}");
  EXPECT_EQ(messages(result),
            (Lines{"A.g is not atomic: acquires this.m again at t:7:1 after releasing it at t:6:1: "
                   "not reducible"}));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].kind, Kind::kAtomicity);
  EXPECT_EQ(result.findings[0].events.back().op, "acquire");
  EXPECT_EQ(result.findings[0].events.back().location, (Location{"t", 7, 1}));
  EXPECT_EQ(
      messages(infer_members("void g(bool b) {\nsynchronized (this.m) { this.f = 1; }\n"
                             "if (b) { synchronized (this.m) { this.f = 2; } } }")),
      (Lines{"A.g is not atomic: acquires this.m again at t:5:10 after releasing it at t:4:37: "
             "not reducible"}));
  EXPECT_EQ(messages(infer_members("void g(bool b) { while (b) {\n this.a += 1; } }")),
            (Lines{"A.g is not atomic: updates this.a at t:4:2, and again in the next round of the "
                   "loop: not reducible"}));
}

TEST(InferLanguage, LocksThatDoNotFit) {
  EXPECT_EQ(messages(infer_members("void g() { lock(this.m); }")),
            (Lines{"A.g: returns holding this.m"}));
  EXPECT_EQ(messages(infer_members(
                "void g() { synchronized (this.m) { lock(this.m); unlock(this.m); } }")),
            (Lines{"A.g: acquires this.m, which it holds already"}));
  EXPECT_EQ(messages(infer_members(
                "void g() { synchronized (this.r) { lock(this.r); unlock(this.r); } }")),
            Lines{});
  EXPECT_EQ(messages(infer_members("void g(bool b) { if (b) { lock(this.m); } }")),
            (Lines{"A.g: this.m is held on one way to the end of this, and not on the other"}));
  EXPECT_EQ(
      messages(infer_members("void g(bool b) { lock(this.m); while (b) { unlock(this.m); } }")),
      (Lines{"A.g: this.m is held on one way to the end of this, and not on the other"}));
  EXPECT_EQ(messages(infer_members("void g(C<this.m> c, A b) { b.h(c) } void h(C<this.m> c) {}",
                                   "class C<ghost x> { int f guarded_by x; }")),
            (Lines{"A.g: this is a C<this.m>, where a C<b.m> is wanted"}));
}

struct Wrong {
  const char* text;
  const char* what;
};

TEST(InferLanguage, ProgramsWithoutSense) {
  const std::vector<Wrong> all = {
      {"class C extends C {}", "class C is a base of itself"},
      {"class C extends D {} class D extends E {} class E extends C {}",
       "class C is a base of itself"},
      {"class C {} class C {}", "class C is declared twice"},
      {"class C { int f; int f; }", "field f is declared twice"},
      {"class C { D f; }", "there is no class D"},
      {"class C<ghost x> { C f; }", "C takes 1 locks, here are 0"},
      {"main { x }", "there is no variable x"},
      {"main { f() }", "there is no function f"},
      {"class C { int f; } main { let c = new C(); c.g }", "C has no field g"},
      {"class C { C f; int g() { synchronized (this.f) { 1 } } }",
       "this is no lock that stays the same"},
      {"int f(int x) { let x = 1; x }", "x is declared already"},
      {"int f<ghost x>() { x }", "x is a ghost parameter and has no value"},
      {"int f(int x) { x = 1 }", "x is not something that can change"},
      {"main { break }", "there is no loop around this"},
      {"int f<ghost x>() { 1 } main { f() }", "1 locks are wanted here, and 0 given"},
      {"int f(int x) { 1 } main { f() }", "f takes 1 arguments, here are 0"},
  };
  for (const Wrong& wrong : all) {
    const auto result = infer_text(wrong.text);
    ASSERT_FALSE(result) << wrong.text;
    EXPECT_EQ(result.error().what, wrong.what) << wrong.text;
    EXPECT_FALSE(result.error().where.empty());
    EXPECT_FALSE(result.error().remedy.empty());
  }
}

}  // namespace
}  // namespace tomos::infer
