// The text of the core language: what is written is read back the same, and what cannot be read is
// said precisely.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "core/parser.h"
#include "core/printer.h"

namespace tomos::core {
namespace {

// Any program that the text can say, sensible or not.
class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed) {}

  Program make() {
    program_.files = {"random"};
    for (std::size_t i = pick(3); i > 0; --i) program_.classes.push_back(a_class());
    for (std::size_t i = pick(3); i > 0; --i) program_.globals.push_back(field(false));
    for (std::size_t i = pick(3); i > 0; --i) program_.functions.push_back(method(false));
    if (pick(2) == 0) program_.main = expr(4);
    return program_;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  std::string name() {
    static constexpr std::array<const char*, 6> kNames = {
        "a", "b2", "ns::c", "_d", "operator<<(x)", "while"};
    return kNames[pick(kNames.size())];
  }

  LockId lock() {
    switch (pick(6)) {
      case 0:
        return Locks::kNone;
      case 1:
        return Locks::kAlways;
      case 2:
        return Locks::kThread;
      case 3:
        return ghosts_.empty() ? program_.locks.variable("this")
                               : program_.locks.ghost(ghosts_[pick(ghosts_.size())]);
      default: {
        LockId path = program_.locks.variable(pick(2) == 0 ? "this" : name());
        for (std::size_t i = pick(3); i > 0; --i) path = program_.locks.field(path, name());
        return path;
      }
    }
  }

  std::vector<LockId> locks(std::size_t below) {
    std::vector<LockId> made(pick(below));
    for (LockId& each : made) each = lock();
    return made;
  }

  Type type() { return {.name = name(), .locks = locks(3)}; }

  TermId term(int depth) {
    Term made = {.basic = static_cast<Basic>(pick(7))};
    if (depth > 0 && pick(2) == 0) {
      made.predicate = Predicate{.kind = static_cast<Predicate::Kind>(pick(3)), .lock = lock()};
      made.then = term(depth - 1);
      made.otherwise = term(depth - 1);
    }
    return program_.add(made);
  }

  Field field(bool in_class) {
    Field made = {.type = type(), .name = name(), .is_static = in_class && pick(2) == 0};
    made.guard.kind = static_cast<Guard::Kind>(pick(6));
    made.guard.lock = lock();
    return made;
  }

  Method method(bool in_class) {
    Method made = {.name = name()};
    made.kind = !in_class || pick(3) == 0 ? Method::Kind::kStatic : Method::Kind::kMethod;
    // Names of ghost parameters that nothing else has: in a lock they could be taken for something
    // else.
    const std::size_t outer = ghosts_.size();
    for (std::size_t i = pick(3); i > 0; --i) {
      made.ghosts.push_back("y" + std::to_string(i));
      ghosts_.push_back(made.ghosts.back());
    }
    if (pick(2) == 0) made.atomicity = term(2);
    made.result = type();
    for (std::size_t i = pick(3); i > 0; --i) {
      made.parameters.push_back({.type = type(), .name = name()});
    }
    made.requires_held = locks(2);
    made.acquires = locks(2);
    made.releases = locks(2);
    made.no_warn = pick(4) == 0;
    if (pick(3) != 0) made.body = expr(4);
    ghosts_.resize(outer);
    return made;
  }

  Class a_class() {
    Class made = {.name = name()};
    for (std::size_t i = pick(3); i > 0; --i) made.ghosts.push_back("x" + std::to_string(i));
    ghosts_ = made.ghosts;
    for (std::size_t i = pick(3); i > 0; --i) made.bases.push_back(type());
    for (std::size_t i = pick(3); i > 0; --i) made.fields.push_back(field(true));
    for (std::size_t i = pick(3); i > 0; --i) made.methods.push_back(method(true));
    if (pick(3) == 0) {
      Method constructor = method(true);
      constructor.kind = pick(2) == 0 ? Method::Kind::kConstructor : Method::Kind::kDestructor;
      constructor.name = (constructor.kind == Method::Kind::kDestructor ? "~" : "") + made.name;
      made.methods.push_back(constructor);
    }
    ghosts_.clear();
    return made;
  }

  ExprId leaf() {
    static constexpr std::array<const char*, 4> kConstants = {"0", "12", "\"a b\"", "true"};
    switch (pick(4)) {
      case 0:
        return program_.add(
            Expr{.kind = Expr::Kind::kConstant, .name = kConstants[pick(kConstants.size())]});
      case 1:
        return program_.add(Expr{.kind = Expr::Kind::kNull});
      case 2:
        return program_.add(Expr{.kind = Expr::Kind::kBreak});
      default:
        return program_.add(
            Expr{.kind = Expr::Kind::kVariable, .name = pick(2) == 0 ? "this" : name()});
    }
  }

  ExprId expr(int depth) {
    if (depth == 0) return leaf();
    Expr made = {.kind = static_cast<Expr::Kind>(pick(25))};
    const auto child = [&] { made.children.push_back(expr(depth - 1)); };
    switch (made.kind) {
      case Expr::Kind::kVariable:
      case Expr::Kind::kConstant:
      case Expr::Kind::kNull:
      case Expr::Kind::kBreak:
      case Expr::Kind::kContinue:
        return leaf();
      case Expr::Kind::kNew:
        made.type = type();
        for (std::size_t i = pick(3); i > 0; --i) child();
        break;
      case Expr::Kind::kField:
        made.name = name();
        child();
        break;
      case Expr::Kind::kAssign:
      case Expr::Kind::kUpdate:
        made.children.push_back(program_.add(
            Expr{.kind = Expr::Kind::kField, .name = name(), .children = {expr(depth - 1)}}));
        child();
        break;
      case Expr::Kind::kCall:
        return call(depth);
      case Expr::Kind::kOperator:
        made.name = pick(2) == 0 ? "-" : "!";
        child();
        if (pick(2) == 0) {
          made.name = pick(2) == 0 ? "-" : "&&";
          child();
        }
        break;
      case Expr::Kind::kLet:
        made.name = name();
        if (pick(2) == 0) made.type = type();
        child();
        child();
        break;
      case Expr::Kind::kSequence: {
        const std::size_t count = pick(4);  // one alone stands for itself
        for (std::size_t i = count == 1 ? 0 : count; i > 0; --i) child();
        break;
      }
      case Expr::Kind::kIf:
        child();
        child();
        child();
        break;
      case Expr::Kind::kWhile:
      case Expr::Kind::kSync:
        child();
        child();
        break;
      case Expr::Kind::kExpect:
        made.expected = term(1);
        child();
        break;
      case Expr::Kind::kFork:
        made.children.push_back(call(depth));
        break;
      case Expr::Kind::kReturn:
        if (pick(2) == 0) child();
        break;
      case Expr::Kind::kLock:
      case Expr::Kind::kUnlock:
      case Expr::Kind::kTryLock:
      case Expr::Kind::kWait:
      case Expr::Kind::kAtomic:
      case Expr::Kind::kNoWarn:
        child();
        break;
    }
    return program_.add(std::move(made));
  }

  ExprId call(int depth) {
    Expr made = {.kind = Expr::Kind::kCall, .name = name(), .locks = locks(3)};
    made.children.push_back(pick(3) == 0 ? kNoExpr : expr(depth - 1));
    for (std::size_t i = pick(3); i > 0; --i) made.children.push_back(expr(depth - 1));
    return program_.add(std::move(made));
  }

  std::mt19937 random_;
  Program program_;
  std::vector<std::string> ghosts_;
};

TEST(CoreText, RandomProgramsComeBack) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const std::string text = to_text(RandomProgram(seed).make());
    const auto again = parse(text, "printed");
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().where << ": "
                       << again.error().what << "\n"
                       << text;
    ASSERT_EQ(to_text(*again), text) << "seed " << seed;
  }
}

TEST(CoreText, ExamplesComeBack) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TOMOS_SOURCE_DIR) + "/examples/aj2")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    const auto program = parse(text.str(), entry.path().filename().string());
    ASSERT_TRUE(program) << program.error().where << ": " << program.error().what;
    const auto again = parse(to_text(*program), "printed");
    ASSERT_TRUE(again) << again.error().where << ": " << again.error().what;
    EXPECT_EQ(to_text(*again), to_text(*program));
  }
}

// A front end makes blocks of one expression; they need no `;` either.
TEST(CoreText, BlocksOfOneExpressionComeBack) {
  const std::string text = "void f() {\n  {\n    let x = 1;\n    x;\n  }\n  let y = 2;\n  y;\n}\n";
  const auto program = parse(text, "p");
  ASSERT_TRUE(program) << program.error().where << ": " << program.error().what;
  EXPECT_EQ((*program)[program->functions[0].body].kind, Expr::Kind::kSequence);
  const auto again = parse(to_text(*program), "printed");
  ASSERT_TRUE(again) << again.error().where << ": " << again.error().what;
  EXPECT_EQ(to_text(*again), to_text(*program));
}

TEST(CoreText, Positions) {
  const auto program =
      parse("class C {\n  int f final;\n  int g() {\n    return this.f;\n  }\n}\n", "c");
  ASSERT_TRUE(program);
  const Class& made = program->classes[0];
  EXPECT_EQ(to_string(*program, made.position), "c:1:7");
  EXPECT_EQ(to_string(*program, made.fields[0].position), "c:2:7");
  EXPECT_EQ(to_string(*program, made.methods[0].position), "c:3:7");
  EXPECT_EQ(to_string(*program, (*program)[made.methods[0].body].position), "c:4:5");
}

struct Wrong {
  const char* text;
  const char* where;
  const char* what;
};

TEST(CoreText, Errors) {
  const std::vector<Wrong> all = {
      {"class", "t:1:6", "expected the name of a class, found the end of the file"},
      {"class C {\n  int f final\n}", "t:3:1", "expected `;` after the declaration, found `}`"},
      {"class C { int f quarded_by this; }", "t:1:17",
       "expected a guard or `;`, found `quarded_by`"},
      {"main { 1 = 2; }", "t:1:8", "an assignment to something that is no field and no global"},
      {"main { a b }", "t:1:10", "expected `;` or `}` after an expression, found `b`"},
      {"main { fork a; }", "t:1:8", "a fork of something that is no call"},
      {"main { \"a }", "t:1:8", "expected an expression, found `\"`"},
      {"main { } main { }", "t:1:10", "a second main"},
      {"static int x;", "t:1:1", "`static` outside a class"},
      {"atomic int x final;", "t:1:14", "expected the parameters of a method, found `final`"},
      {"int while;", "t:1:5",
       "expected the name of a field, method, global or function, found `while`"},
      {"main { if (a) b }", "t:1:15", "expected `{` before a block, found `b`"},
      {"(x?mover) int f();", "t:1:9", "expected `:` between the two atomicities, found `)`"},
  };
  for (const Wrong& wrong : all) {
    const auto program = parse(wrong.text, "t");
    ASSERT_FALSE(program) << wrong.text;
    EXPECT_EQ(program.error().where, wrong.where) << wrong.text;
    EXPECT_EQ(program.error().what, wrong.what);
    EXPECT_FALSE(program.error().remedy.empty());
  }
}

// Nothing that is nested without end may run out of stack.
TEST(CoreText, TooDeep) {
  constexpr std::size_t kDeep = 100'000;
  std::string nested = "main { ";
  for (std::size_t i = 0; i < kDeep; ++i) nested += "(";
  std::string minus = "main { " + std::string(kDeep, '-') + "1 }";
  std::string fields = "main { a";
  std::string sums = "main { a";
  std::string lets = "main { ";
  std::string elses = "main { ";
  std::string term;
  std::string path = "class C<ghost x> extends D<a";
  for (std::size_t i = 0; i < kDeep; ++i) {
    fields += ".f";
    sums += "+a";
    lets += "let a = 1;";
    elses += "if (a) { } else ";
    term += "isNone(x)?";
    path += ".f";
  }
  for (const std::string& text : {nested, minus, fields + "}", sums + "}", lets + "}",
                                  elses + "{ } }", term + "const int f();", path + "> {}"}) {
    const auto program = parse(text, "deep");
    ASSERT_FALSE(program);
    EXPECT_FALSE(program.error().remedy.empty());
  }
}

}  // namespace
}  // namespace tomos::core
