// What is kept of translation units: stored and read again, damaged, and put together.
#include "summary/summary.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"
#include "summary/cache.h"
#include "summary/stored.h"

namespace tomos::cpp {
namespace {

Summary summary_of(std::string_view text, std::string_view file = "unit.cpp") {
  auto program = core::parse(text, file);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().what);
  Summary made;
  if (program) made.program = std::move(*program);
  return made;
}

constexpr std::string_view kUnit = R"(
class Account {
  mutex m final;
  int balance guarded_by this.m;
  Account next;
  mover void deposit(int n) requires this.m { this.balance += n; }
  int drain(Account from) {
    synchronized (from.m) {
      while (from.next) { let Account a = from.next; if (a) { break; } }
      return from.balance;
    }
  }
}
int total;
void work(Account a) { lock(a.m); a.deposit(1); unlock(a.m); fork work(a); total = 2; }
)";

Stored stored_unit() {
  Stored made = {.made_by = "/src\nclang++ -c unit.cpp",
                 .sources = {{.path = "/src/unit.cpp", .content = 7}},
                 .summary = summary_of(kUnit)};
  made.summary.lock_classes["MyMutex"] = "mutex";
  made.summary.unknown_calls.insert("elsewhere");
  return made;
}

TEST(Stored, ComesBackTheSame) {
  const Stored before = stored_unit();
  const auto after = unpack(pack(before));
  if (!after) FAIL() << "not read back";
  EXPECT_EQ(after->made_by, before.made_by);
  EXPECT_EQ(after->sources, before.sources);
  EXPECT_EQ(after->summary.lock_classes, before.summary.lock_classes);
  EXPECT_EQ(after->summary.unknown_calls, before.summary.unknown_calls);
  EXPECT_EQ(core::to_text(after->summary.program), core::to_text(before.summary.program));
}

TEST(Stored, IsNothingWhenCutShort) {
  const std::string bytes = pack(stored_unit());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(unpack(std::string_view(bytes).substr(0, length))) << length;
  }
  EXPECT_FALSE(unpack(bytes + "x"));
}

// Whatever is still read can be used.
TEST(Stored, DoesNoHarmWhenDamaged) {
  const std::string bytes = pack(stored_unit());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      const auto read = unpack(damaged);
      if (!read) {
        ++refused;
        continue;
      }
      Merger merger;
      merger.add(read->summary);
      EXPECT_LE(merger.take().program.classes.size(), 2U);
    }
  }
  EXPECT_GT(refused, bytes.size());  // more than a third
}

TEST(Stored, RefusesCirclesAndMissingParts) {
  Stored circle = stored_unit();
  auto& exprs = circle.summary.program.exprs;
  const auto loop = std::ranges::find(exprs, core::Expr::Kind::kWhile, &core::Expr::kind);
  ASSERT_NE(loop, exprs.end());
  loop->children[1] = static_cast<core::ExprId>(loop - exprs.begin());
  EXPECT_FALSE(unpack(pack(circle)));
  Stored missing = stored_unit();
  missing.summary.program.functions[0].body = core::ExprId{100'000};
  EXPECT_FALSE(unpack(pack(missing)));
  Stored too_few = stored_unit();
  auto& same = too_few.summary.program.exprs;
  std::ranges::find(same, core::Expr::Kind::kIf, &core::Expr::kind)->children.pop_back();
  EXPECT_FALSE(unpack(pack(too_few)));
}

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write(source_, "int x;");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void write(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::string kept_file() const {
    const std::filesystem::directory_iterator files(folder_ + "/kept");
    return files->path().string();
  }

  std::string folder_ = testing::TempDir() + "tomos-cache-" + std::to_string(::getpid());
  std::string source_ = folder_ + "/unit.cpp";
  std::vector<Source> sources_ = {{.path = source_, .content = content_of("int x;")}};
};

TEST_F(CacheTest, FindsWhatWasKeptUntilASourceChanges) {
  const std::string kept = folder_ + "/kept";
  Cache(kept).keep("command", summary_of(kUnit), sources_);
  const auto found = Cache(kept).find("command");
  if (!found) FAIL() << "not kept";
  EXPECT_EQ(core::to_text(found->program), core::to_text(summary_of(kUnit).program));
  EXPECT_FALSE(Cache(kept).find("another command"));
  write(source_, "int y;");
  EXPECT_FALSE(Cache(kept).find("command"));
  write(source_, "int x;");
  EXPECT_TRUE(Cache(kept).find("command"));
  std::filesystem::remove(source_);
  EXPECT_FALSE(Cache(kept).find("command"));
}

TEST_F(CacheTest, IsMadeAnewWhenDamaged) {
  const std::string kept = folder_ + "/kept";
  Cache(kept).keep("command", summary_of(kUnit), sources_);
  for (const char* content : {"", "short", "a text that is longer than any checksum is"}) {
    write(kept_file(), content);
    EXPECT_FALSE(Cache(kept).find("command"));
  }
  Cache(kept).keep("command", summary_of(kUnit), sources_);
  EXPECT_TRUE(Cache(kept).find("command"));
}

TEST_F(CacheTest, DoesNoHarmWhereItCannotWrite) {
  Cache none("");
  none.keep("command", summary_of(kUnit), sources_);
  EXPECT_FALSE(none.find("command"));
  Cache nowhere(source_ + "/below-a-file");
  nowhere.keep("command", summary_of(kUnit), sources_);
  EXPECT_FALSE(nowhere.find("command"));
}

core::Program merged(const std::vector<Summary>& summaries) {
  Merger merger;
  for (const Summary& summary : summaries) merger.add(summary);
  return merger.take().program;
}

TEST(Merge, ADeclarationAndItsDefinitionAreOne) {
  const Summary declares = summary_of("class A { int x; void f(); } void g();", "a.cpp");
  const Summary defines =
      summary_of("class A { int x; void f() { this.x = 1; } } void g() { 1; }", "b.cpp");
  for (const auto& order : {std::vector{declares, defines}, std::vector{defines, declares}}) {
    const core::Program whole = merged(order);
    ASSERT_EQ(whole.classes.size(), 1U);
    ASSERT_EQ(whole.classes[0].fields.size(), 1U);
    ASSERT_EQ(whole.classes[0].methods.size(), 1U);
    const core::Method& method = whole.classes[0].methods[0];
    ASSERT_NE(method.body, core::kNoExpr);
    EXPECT_EQ(whole.files[method.position.file], "b.cpp");
    EXPECT_FALSE(method.is_unknown);
    ASSERT_EQ(whole.functions.size(), 1U);
    EXPECT_NE(whole.functions[0].body, core::kNoExpr);
  }
}

TEST(Merge, WhatIsGivenInOneUnitHoldsInAll) {
  const Summary plain = summary_of("class A { mutex m final; int x; }", "a.cpp");
  Summary given = summary_of("class A { mutex m final; int x guarded_by this.m; }", "b.cpp");
  given.program.classes[0].fields[1].is_given = true;
  for (const auto& order : {std::vector{plain, given}, std::vector{given, plain}}) {
    const core::Program whole = merged(order);
    ASSERT_EQ(whole.classes.size(), 1U);
    const core::Field& field = whole.classes[0].fields[1];
    EXPECT_TRUE(field.is_given);
    EXPECT_EQ(field.guard.kind, core::Guard::Kind::kGuardedBy);
    EXPECT_EQ(whole.locks.to_string(field.guard.lock), "this.m");
  }
}

TEST(Merge, WhatHasNoBodyAnywhereMayDoAnything) {
  Merger merger;
  merger.add(summary_of("void g(); void h() { g(); }"));
  const Summary whole = merger.take();
  EXPECT_TRUE(whole.program.functions[0].is_unknown);
  EXPECT_TRUE(whole.unknown_calls.contains("g"));
  EXPECT_FALSE(whole.unknown_calls.contains("h"));
}

// A method without a body, but with overrides, does what they do.
TEST(Merge, WhatIsOverriddenIsKnown) {
  const core::Program whole = merged(
      {summary_of("class Base { void f(); } void g(Base b) { b.f(); }", "a.cpp"),
       summary_of("class Base { void f(); } class Own extends Base { void f() { 1; } }", "b.cpp")});
  const auto base = std::ranges::find(whole.classes, "Base", &core::Class::name);
  ASSERT_NE(base, whole.classes.end());
  EXPECT_FALSE(base->methods[0].is_unknown);
}

TEST(Merge, AFunctionThatIsForeignInOneUnitIsTheProjectsInAll) {
  Summary calls = summary_of("atomic void g(); atomic void C::h(); void f() { g(); C::h(); }");
  for (const std::size_t i : {0U, 1U}) calls.program.functions[i].is_unknown = true;
  const Summary defines = summary_of(
      "class C { static int h(int n) { return n; } } int g(int n, C c) { return n; }", "b.cpp");
  for (const auto& order : {std::vector{calls, defines}, std::vector{defines, calls}}) {
    const core::Program whole = merged(order);
    ASSERT_EQ(whole.functions.size(), 2U);
    const auto g = std::ranges::find(whole.functions, "g", &core::Method::name);
    ASSERT_NE(g, whole.functions.end());
    EXPECT_NE(g->body, core::kNoExpr);
    EXPECT_FALSE(g->atomicity.has_value());
    EXPECT_FALSE(g->is_unknown);
    const auto given = [&](std::string_view name) {
      const auto call = std::ranges::find_if(whole.exprs, [&](const core::Expr& expr) {
        return expr.kind == core::Expr::Kind::kCall && expr.name == name;
      });
      return call == whole.exprs.end() ? 0 : call->children.size() - 1;
    };
    EXPECT_EQ(given("g"), 2U);
    EXPECT_EQ(given("C::h"), 1U);
  }
}

TEST(Merge, WhatIsKnownOfAForeignFunctionHoldsWithoutItsSource) {
  Summary calls = summary_of("atomic void g(); void f() { g(); }");
  calls.program.functions[0].is_unknown = true;
  const Summary declares = summary_of("int g(int n); void h() { g(1); }", "b.cpp");
  for (const auto& order : {std::vector{calls, declares}, std::vector{declares, calls}}) {
    const core::Program whole = merged(order);
    const auto g = std::ranges::find(whole.functions, "g", &core::Method::name);
    ASSERT_NE(g, whole.functions.end());
    EXPECT_EQ(g->parameters.size(), 1U);
    const auto basic = g->atomicity.transform([&](core::TermId term) { return whole[term].basic; });
    EXPECT_EQ(basic, core::Basic::kAtomic);
  }
}

TEST(Merge, AClassThatIsAValueInOneUnitIsAClassInAll) {
  const Summary sees_a_value =
      summary_of("class A { int part; int f(int p) { return 0; } }", "a.cpp");
  const Summary sees_a_class =
      summary_of("class P { int n; } class A { P part; P f(P p) { p.n = 1; return p; } }", "b.cpp");
  for (const auto& order :
       {std::vector{sees_a_value, sees_a_class}, std::vector{sees_a_class, sees_a_value}}) {
    const core::Program whole = merged(order);
    const auto a = std::ranges::find(whole.classes, "A", &core::Class::name);
    ASSERT_NE(a, whole.classes.end());
    EXPECT_EQ(a->fields[0].type.name, "P");
    EXPECT_EQ(a->methods[0].result.name, "P");
    EXPECT_EQ(a->methods[0].parameters[0].type.name, "P");
    EXPECT_EQ(whole[a->methods[0].body].children.size(), 2U);
  }
}

TEST(Merge, AClassThatIsALockIsOneEverywhere) {
  const Summary sees_a_class = summary_of("class Mine { } class A { Mine m; }", "a.cpp");
  Summary knows = summary_of("class B { int x; }", "b.cpp");
  knows.lock_classes["Mine"] = "mutex";
  const core::Program whole = merged({sees_a_class, knows});
  EXPECT_EQ(std::ranges::find(whole.classes, "Mine", &core::Class::name), whole.classes.end());
  const auto a = std::ranges::find(whole.classes, "A", &core::Class::name);
  ASSERT_NE(a, whole.classes.end());
  EXPECT_EQ(a->fields[0].type.name, "mutex");
}

}  // namespace
}  // namespace tomos::cpp
