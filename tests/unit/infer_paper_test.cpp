// The programs of the type-inference paper give the atomicities that it prints, letter for letter.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/parser.h"
#include "infer/infer.h"

namespace tomos::infer {
namespace {

Inference infer_text(const std::string& text, const std::string& name) {
  const auto program = core::parse(text, name);
  if (!program) {
    ADD_FAILURE() << program.error().where << ": " << program.error().what;
    return {};
  }
  auto result = infer_atomicities(*program);
  if (!result) {
    ADD_FAILURE() << result.error().where << ": " << result.error().what;
    return {};
  }
  return *result;
}

Inference infer_example(const std::string& name) {
  std::ifstream file(std::string(TOMOS_SOURCE_DIR) + "/examples/aj2/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return infer_text(text.str(), name);
}

std::vector<std::string> atomicities(const Inference& result) {
  std::vector<std::string> shown;
  shown.reserve(result.methods.size());
  for (const MethodAtomicity& method : result.methods) {
    shown.push_back(method.name + " " + method.atomicity);
  }
  return shown;
}

std::vector<std::string> findings_of(const Inference& result) {
  std::vector<std::string> shown;
  shown.reserve(result.findings.size());
  for (const Finding& finding : result.findings) shown.push_back(finding.message);
  return shown;
}

using Lines = std::vector<std::string>;

TEST(InferPaper, List) {
  const Inference result = infer_example("list.aj2");
  EXPECT_EQ(atomicities(result),
            (Lines{"ListElem.get x?mover:error", "List.add this?mover:atomic",
                   "List.addTwo this?mover:cmpd", "List.get this?mover:atomic"}));
  EXPECT_EQ(
      findings_of(result),
      (Lines{"List.addTwo is not atomic: calls List.add again at list.aj2:19:10 after calling "
             "it at list.aj2:18:10: not reducible"}));
}

// Fig. 7. The environments are written out.
TEST(InferPaper, ConstraintsOfList) {
  const std::string e1 = "{ghost x, ListElem<x> this}";
  const std::string e2 = "{List this, int v}";
  const std::string e3 = "{List this, int i, int j}";
  const std::string e4 = "{List this}";
  const std::string add = "(const;const;wfa(P," + e3 + ",a2.[this:=this]))";
  EXPECT_EQ(infer_example("list.aj2").constraints,
            (Lines{"const;wfa(P," + e1 + ",x?mover:error) <= a1",
                   "S(this,none,(const;const;const;wfa(P," + e2 + ",this?mover:error);wfa(P," + e2 +
                       ",this?mover:error))) <= a2",
                   add + ";" + add + " <= a3",
                   "S(this,none,(const;wfa(P," + e4 + ",this?mover:error);wfa(P," + e4 +
                       ",a1.[this:=this.elems,x:=this]))) <= a4"}));
}

TEST(InferPaper, SetWithProtectedLock) {
  const Inference result = infer_example("set.aj2");
  EXPECT_EQ(
      atomicities(result),
      (Lines{"Set.add this?mover:atomic", "List.add isNone(x)?(this?mover:atomic):(x?mover:error)",
             "List.contains isNone(x)?(this?mover:atomic):(x?mover:error)"}));
  EXPECT_TRUE(result.findings.empty());
}

TEST(InferPaper, CountersUnderOneInterface) {
  const Inference result = infer_example("counter.aj2");
  EXPECT_EQ(atomicities(result),
            (Lines{"Counter.inc isAlways(lock1)?atomic:(lock1?mover:error)",
                   "UnsyncCounter.inc lock2?mover:error", "SyncCounter.inc this?mover:atomic"}));
  EXPECT_EQ(findings_of(result), Lines{});
}

// Without the declaration the interface gets the least that bounds both classes, which says a
// little more.
TEST(InferPaper, InterfaceInferred) {
  const Inference result = infer_text(
      "class Counter<ghost lock1> extends Object<none> { int inc(); }"
      "class UnsyncCounter<ghost lock2> extends Counter<lock2> {"
      "  int num guarded_by lock2; int inc() { return this.num += 1; } }"
      "class SyncCounter extends Counter<always> { Counter<this> c guarded_by this;"
      "  int inc() { synchronized (this) { return this.c.inc(); } } }",
      "inferred");
  EXPECT_EQ(atomicities(result)[0],
            "Counter.inc isAlways(lock1)?(this?mover:atomic):(lock1?mover:error)");
}

TEST(InferPaper, DeclaredTooLow) {
  const Inference result = infer_text(
      "class C<ghost x> extends Object<none> { (x?mover:error) int f(); }"
      "class D extends C<always> { int n no_guard; int f() { return this.n; } }",
      "low");
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].message,
            "an override of C.f is isAlways(x)?atomic:const, where x?mover:error is declared");
}

TEST(InferPaper, VectorConstructor) {
  const Inference result = infer_example("vector.aj2");
  EXPECT_EQ(atomicities(result), (Lines{"Collection.size isAlways(x)?atomic:(x?mover:error)",
                                        "Collection.toArray isAlways(x)?atomic:(x?mover:error)",
                                        "Vector.Vector isAlways(y)?cmpd:(y?mover:error)"}));
  EXPECT_EQ(findings_of(result),
            (Lines{"Vector.Vector is not atomic: calls Collection.toArray at vector.aj2:18:7 after "
                   "calling Collection.size at vector.aj2:16:27: not reducible"}));
}

}  // namespace
}  // namespace tomos::infer
