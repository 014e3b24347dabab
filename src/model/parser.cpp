// Recursive descent. An error is thrown inside and becomes a value in parse(): it may come up at
// any depth, and nothing is to be done about it on the way.
#include "model/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/lexer.h"

namespace tomos::model {

namespace {

constexpr int kDeepest = 200;  // nesting; a program that needs more is not one
constexpr int kLongest = 500;  // operands in a row, each of which nests in the next

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view file)
      : tokens_(std::move(tokens)), file_(file) {}

  Ast program() {
    Ast ast;
    while (here().kind != Token::Kind::kEnd) item(ast);
    return ast;
  }

 private:
  // One level of nesting, as long as it lives.
  struct Level {
    explicit Level(Parser& parser) : depth(parser.depth_) {
      if (++depth > kDeepest) parser.fail("nested too deeply", "Make it a procedure.");
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth; }
    int& depth;
  };

  const Token& here() const { return tokens_[at_]; }
  bool sees(std::string_view text) const { return !is_name() && here().text == text; }
  bool is_name() const { return here().kind == Token::Kind::kName; }
  bool follows(std::string_view text) const {
    return at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == text;
  }
  Token take() {
    const Token token = here();
    if (token.kind != Token::Kind::kEnd) ++at_;
    return token;
  }
  bool skip(std::string_view text) {
    if (!sees(text)) return false;
    take();
    return true;
  }
  void want(std::string_view text) {
    if (!skip(text)) fail(fmt::format("'{}' is missing", text), "");
  }

  [[noreturn]] void fail(std::string what, std::string remedy) const {
    const Token& token = here();
    what += token.kind == Token::Kind::kEnd ? ", and the file ends here"
                                            : fmt::format(" before '{}'", token.text);
    fail_at(token.place, std::move(what), std::move(remedy));
  }
  [[noreturn]] void fail_at(Place place, std::string what, std::string remedy) const {
    if (remedy.empty()) remedy = "docs/bp.md has the grammar, examples/model some programs.";
    throw Error{
        .where = place_in(file_, place), .what = std::move(what), .remedy = std::move(remedy)};
  }

  std::string name(std::string_view of) {
    if (!is_name()) {
      fail(
          fmt::format("the name of a {} is missing", of),
          here().kind == Token::Kind::kKeyword ? "This word is a keyword: take another name." : "");
    }
    return std::string(take().text);
  }

  std::int32_t number() {
    const bool minus = skip("-");
    std::int32_t value = 0;
    const std::string_view text = here().text;
    if (here().kind != Token::Kind::kNumber ||
        std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc() ||
        value > 1'000'000) {
      fail("a number of at most 1000000 is missing", "");
    }
    take();
    return minus ? -value : value;
  }

  std::optional<std::uint32_t> size() {
    if (!skip("[")) return std::nullopt;
    const Place place = here().place;
    const std::int32_t value = number();
    want("]");
    if (value < 1 || value > 64) fail_at(place, "a size is from 1 to 64", "");
    return static_cast<std::uint32_t>(value);
  }

  Type type() {
    if (skip("bool")) return {};
    want("int");
    want("[");
    Type result{.is_bool = false, .low = number(), .high = 0};
    want("..");
    const Place place = here().place;
    result.high = number();
    want("]");
    if (result.high < result.low || result.high - result.low > 0x7fff) {
      fail_at(place, "a range has from 1 to 32768 values, the least first", "");
    }
    return result;
  }
  bool sees_type() const { return sees("bool") || sees("int"); }

  void declarations(std::vector<Declaration>& all) {
    const Type of = type();
    do {
      Declaration one;
      one.place = here().place;
      one.type = of;
      one.name = name("variable");
      one.size = size();
      if (skip("=")) one.initial = expression();
      all.push_back(std::move(one));
    } while (skip(","));
    want(";");
  }

  void objects(std::vector<Ast::Object>& all, std::string_view of) {
    do {
      const Place place = here().place;
      std::string its_name = name(of);
      all.push_back({.name = std::move(its_name), .place = place, .size = size()});
    } while (skip(","));
    want(";");
  }

  void item(Ast& ast) {
    if (sees_type()) return declarations(ast.variables);
    if (skip("state")) return declarations(ast.state);
    if (skip("lock")) return objects(ast.locks, "lock");
    if (skip("cond")) return objects(ast.conditions, "condition");
    if (skip("const")) {
      Declaration one;
      one.place = here().place;
      one.name = name("constant");
      want("=");
      one.initial = expression();
      want(";");
      ast.constants.push_back(std::move(one));
    } else if (skip("init")) {
      if (ast.initial) fail("there is an init already", "Join them with &&.");
      ast.initial = expression();
      want(";");
    } else if (skip("proc")) {
      procedure(ast);
    } else if (skip("thread")) {
      thread(ast);
    } else {
      fail("a declaration is missing",
           "It begins with bool, int, lock, cond, const, proc or thread.");
    }
  }

  void procedure(Ast& ast) {
    Procedure one;
    one.place = here().place;
    one.name = name("procedure");
    want("(");
    if (!sees(")")) {
      do {
        Declaration parameter;
        parameter.type = type();
        parameter.by_name = skip("&");
        parameter.place = here().place;
        parameter.name = name("parameter");
        one.parameters.push_back(std::move(parameter));
      } while (skip(","));
    }
    want(")");
    one.body = block();
    ast.procedures.push_back(std::move(one));
  }

  void thread(Ast& ast) {
    Thread one;
    one.place = here().place;
    one.name = name("thread");
    one.size = size();
    if (skip("=>")) {
      want("{");
      while (!skip("}")) one.transitions.push_back(transition());
    } else {
      one.body = block();
    }
    ast.threads.push_back(std::move(one));
  }

  // read x: relation;
  Transition transition() {
    using Event = Transition::Event;
    Transition one;
    one.place = here().place;
    if (skip("begin")) {
      one.event = Event::kBegin;
      if (is_name()) one.label = take().text;
    } else if (skip("end")) {
      one.event = Event::kEnd;
    } else if (skip("exit")) {
      one.event = Event::kExit;
    } else if (skip("step")) {
      one.event = Event::kStep;
    } else if (sees("read") || sees("write")) {
      one.event = take().text == "read" ? Event::kRead : Event::kWrite;
      one.variable = reference("variable");
    } else {
      fail("an event is missing", "It is one of begin, end, read X, write X, step and exit.");
    }
    want(":");
    one.relation = expression();
    want(";");
    return one;
  }

  Reference reference(std::string_view of) {
    Reference result;
    result.place = here().place;
    result.name = name(of);
    if (skip("[")) {
      result.index = expression();
      want("]");
    }
    return result;
  }

  Block block() {
    const Level level(*this);
    want("{");
    Block all;
    while (!skip("}")) {
      if (here().kind == Token::Kind::kEnd) fail("'}' is missing", "");
      all.push_back(statement());
    }
    return all;
  }

  Statement statement() {
    using Kind = Statement::Kind;
    Statement one;
    one.place = here().place;
    if (sees_type()) {
      one.kind = Kind::kDeclare;
      declarations(one.declarations);
    } else if (sees("{")) {
      one.kind = Kind::kBlock;
      one.body = block();
    } else if (is_name()) {
      beginning_with_name(one);
    } else if (skip("if")) {
      conditional(one);
    } else if (skip("while")) {
      one.kind = Kind::kWhile;
      one.condition = in_parentheses();
      one.body = block();
    } else if (skip("atomic")) {
      one.kind = Kind::kAtomic;
      if (is_name()) one.name = take().text;
      one.body = block();
    } else {
      simple(one);
      if (!one.tries) want(";");
    }
    return one;
  }

  void beginning_with_name(Statement& one) {
    using Kind = Statement::Kind;
    if (follows(":")) {
      one.kind = Kind::kLabel;
      one.name = take().text;
      take();
      return;
    }
    if (follows("(")) {
      one.kind = Kind::kCall;
      one.name = take().text;
      take();
      if (!sees(")")) {
        do one.expressions.push_back(expression());
        while (skip(","));
      }
      want(")");
    } else {
      assignment(one);
    }
    want(";");
  }

  void assignment(Statement& one) {
    one.kind = Statement::Kind::kAssign;
    do one.references.push_back(reference("variable"));
    while (skip(","));
    want("=");
    do one.expressions.push_back(expression());
    while (skip(","));
    if (one.references.size() != one.expressions.size()) {
      fail_at(
          one.place,
          fmt::format("{} variables, but {} values", one.references.size(), one.expressions.size()),
          "Each variable on the left gets the value at its place on the right.");
    }
  }

  ExpressionPtr in_parentheses() {
    want("(");
    ExpressionPtr result = expression();
    want(")");
    return result;
  }

  void conditional(Statement& one) {
    const Level level(*this);
    one.kind = Statement::Kind::kIf;
    one.condition = in_parentheses();
    one.body = block();
    if (!skip("else")) return;
    if (sees("if")) {
      Statement nested;
      nested.place = here().place;
      take();
      conditional(nested);
      one.otherwise.push_back(std::move(nested));
    } else {
      one.otherwise = block();
    }
  }

  // What begins with a keyword and ends in a semicolon, or in the block of what is tried.
  void simple(Statement& one) {
    using Kind = Statement::Kind;
    if (skip("skip")) {
      one.kind = Kind::kSkip;
    } else if (skip("return")) {
      one.kind = Kind::kReturn;
    } else if (skip("assume")) {
      one.kind = Kind::kAssume;
      one.condition = in_parentheses();
    } else if (skip("assert")) {
      one.kind = Kind::kAssert;
      one.condition = in_parentheses();
    } else if (skip("when")) {
      one.condition = in_parentheses();
      assignment(one);
    } else if (skip("goto")) {
      one.kind = Kind::kGoto;
      one.name = name("label");
    } else if (skip("acquire")) {
      one.kind = Kind::kAcquire;
      one.references.push_back(reference("lock"));
      one.tries = skip("else");
      if (one.tries) one.otherwise = block();
    } else if (skip("release")) {
      one.kind = Kind::kRelease;
      one.references.push_back(reference("lock"));
    } else if (skip("start")) {
      one.kind = Kind::kStart;
      one.references.push_back(reference("thread"));
    } else if (skip("join")) {
      one.kind = Kind::kJoin;
      one.references.push_back(reference("thread"));
    } else if (skip("wait")) {
      one.kind = Kind::kWait;
      want("(");
      one.references.push_back(reference("condition"));
      want(",");
      one.references.push_back(reference("lock"));
      want(")");
    } else if (sees("notify") || sees("notify_all")) {
      one.kind = take().text == "notify" ? Kind::kNotify : Kind::kNotifyAll;
      want("(");
      one.references.push_back(reference("condition"));
      want(")");
    } else {
      fail("a statement is missing", "");
    }
  }

  void limit(int length) const {
    if (length > kLongest) fail("this expression is too long", "Make it several.");
  }

  static ExpressionPtr make(Expression::Kind kind, Place place, ExpressionPtr a = nullptr,
                            ExpressionPtr b = nullptr) {
    auto result = std::make_unique<Expression>();
    result->kind = kind;
    result->place = place;
    if (a) result->operands.push_back(std::move(a));
    if (b) result->operands.push_back(std::move(b));
    return result;
  }

  ExpressionPtr expression() {
    const Level level(*this);
    ExpressionPtr condition = disjunction();
    if (!sees("?")) return condition;
    const Place place = take().place;
    ExpressionPtr result =
        make(Expression::Kind::kChoice, place, std::move(condition), expression());
    want(":");
    result->operands.push_back(expression());
    return result;
  }

  ExpressionPtr disjunction() {
    ExpressionPtr left = conjunction();
    for (int length = 0; sees("||"); limit(++length)) {
      const Place place = take().place;
      left = make(Expression::Kind::kOr, place, std::move(left), conjunction());
    }
    return left;
  }

  ExpressionPtr conjunction() {
    ExpressionPtr left = comparison();
    for (int length = 0; sees("&&"); limit(++length)) {
      const Place place = take().place;
      left = make(Expression::Kind::kAnd, place, std::move(left), comparison());
    }
    return left;
  }

  ExpressionPtr comparison() {
    using Kind = Expression::Kind;
    ExpressionPtr left = sum();
    const Place place = here().place;
    if (skip("==")) return make(Kind::kEqual, place, std::move(left), sum());
    if (skip("!=")) return make(Kind::kUnequal, place, std::move(left), sum());
    if (skip("<")) return make(Kind::kLess, place, std::move(left), sum());
    if (skip("<=")) return make(Kind::kLessEqual, place, std::move(left), sum());
    const bool strict = sees(">");
    if (!strict && !sees(">=")) return left;
    take();
    ExpressionPtr right = sum();
    return make(strict ? Kind::kLess : Kind::kLessEqual, place, std::move(right), std::move(left));
  }

  ExpressionPtr sum() {
    ExpressionPtr left = unary();
    for (int length = 0; sees("+") || sees("-"); limit(++length)) {
      const Token sign = take();
      left = make(sign.text == "+" ? Expression::Kind::kPlus : Expression::Kind::kMinus, sign.place,
                  std::move(left), unary());
    }
    return left;
  }

  ExpressionPtr unary() {
    using Kind = Expression::Kind;
    const Level level(*this);
    const Place place = here().place;
    if (skip("!")) return make(Kind::kNot, place, unary());
    if (skip("*")) return make(Kind::kAny, place);
    if (skip("(")) {
      ExpressionPtr inner = expression();
      want(")");
      return inner;
    }
    ExpressionPtr result = make(Kind::kNumber, place);
    if (sees("true") || sees("false")) {
      result->is_bool = true;
      result->number = take().text == "true" ? 1 : 0;
    } else if (here().kind == Token::Kind::kNumber || sees("-")) {
      result->number = number();
    } else if (sees("self") || is_name()) {
      result->kind = Kind::kName;
      result->name = take().text;
      if (skip("[")) {
        result->operands.push_back(expression());
        want("]");
      }
      result->primed = skip("'");
    } else {
      fail("a value is missing", "");
    }
    return result;
  }

  std::vector<Token> tokens_;
  std::string_view file_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Ast> parse(std::string_view source, std::string_view file) {
  auto tokens = tokens_of(source, file);
  if (!tokens) return std::unexpected(std::move(tokens.error()));
  try {
    return Parser(std::move(*tokens), file).program();
  } catch (Error& error) {
    return std::unexpected(std::move(error));
  }
}

}  // namespace tomos::model
