// Expressions. Everything is one, blocks included: the value of a block is that of its last
// expression.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/parser_state.h"

namespace tomos::core {

namespace {

// From the loosest binding to the tightest.
constexpr std::array<std::array<std::string_view, 3>, 5> kOperators = {
    {{"||", "", ""}, {"&&", "", ""}, {"==", "!=", ""}, {"+", "-", ""}, {"*", "/", "%"}}};

constexpr std::string_view kForms =
    "An expression begins with a name, a constant, new, (, {, !, - or a word like if, let, "
    "synchronized.";

}  // namespace

ExprId ExprParser::add(Expr expr) {
  std::size_t depth = 1;
  for (const ExprId child : expr.children) {
    if (child != kNoExpr) depth = std::max(depth, depths_[static_cast<std::size_t>(child)] + 1);
  }
  if (depth > kMaxDepth) {
    fail_at(expr.position, "an expression nested too deeply", "Split it with let.");
  }
  depths_.push_back(depth);
  return program.add(std::move(expr));
}

ExprId ExprParser::expr() {
  if (nesting_ >= kMaxDepth) {
    fail_at(position(), "an expression nested too deeply", "Split it with let.");
  }
  if (failed()) return add({});
  ++nesting_;
  const Position where = position();
  ExprId left = binary(0);
  if (is("=") || is("+=")) {
    const Expr::Kind target = program[left].kind;
    if (target != Expr::Kind::kField && target != Expr::Kind::kVariable) {
      fail_at(where, "an assignment to something that is no field and no global",
              "Write e.f = e, or the name of a global.");
    }
    const Expr::Kind kind = is("=") ? Expr::Kind::kAssign : Expr::Kind::kUpdate;
    advance();
    const ExprId right = expr();
    left = add({.kind = kind, .position = where, .children = {left, right}});
  }
  --nesting_;
  return left;
}

ExprId ExprParser::binary(std::size_t level) {
  if (level == kOperators.size()) return unary();
  const Position where = position();
  ExprId left = binary(level + 1);
  while (true) {
    const std::string_view sign = token().text;
    bool here = false;
    for (const std::string_view known : kOperators[level]) here |= !known.empty() && is(known);
    if (!here) return left;
    advance();
    const ExprId right = binary(level + 1);
    left = add({.kind = Expr::Kind::kOperator,
                .position = where,
                .name = std::string(sign),
                .children = {left, right}});
  }
}

ExprId ExprParser::unary() {
  if (!is("!") && !is("-")) return postfix();
  const Position where = position();
  std::string sign(token().text);
  advance();
  if (++nesting_ >= kMaxDepth) {
    fail_at(where, "an expression nested too deeply", "Split it with let.");
  }
  const ExprId operand = unary();
  --nesting_;
  return add({.kind = Expr::Kind::kOperator,
              .position = where,
              .name = std::move(sign),
              .children = {operand}});
}

ExprId ExprParser::postfix() {
  ExprId value = primary();
  while (accept(".")) {
    const Position where = position();
    if (accept("fork")) {  // the paper's e.fork
      const ExprId run = add({.kind = Expr::Kind::kCall,
                              .position = where,
                              .name = "run",
                              .children = {value},
                              .locks = {Locks::kThread}});
      value = add({.kind = Expr::Kind::kFork, .position = where, .children = {run}});
      continue;
    }
    std::string member = name("a field or method");
    if (is("(") || is("<")) {
      value = call(value, std::move(member), where);
    } else {
      value = add({.kind = Expr::Kind::kField,
                   .position = where,
                   .name = std::move(member),
                   .children = {value}});
    }
  }
  return value;
}

ExprId ExprParser::call(ExprId receiver, std::string name, Position where) {
  Expr made = {.kind = Expr::Kind::kCall, .position = where, .name = std::move(name)};
  made.locks = lock_arguments();
  made.children = {receiver};
  for (const ExprId argument : arguments()) made.children.push_back(argument);
  return add(std::move(made));
}

std::vector<ExprId> ExprParser::arguments() {
  std::vector<ExprId> list;
  expect("(", "before the arguments");
  if (!is(")")) {
    do {
      list.push_back(expr());
    } while (accept(","));
  }
  expect(")", "after the arguments");
  return list;
}

ExprId ExprParser::parenthesised() {
  expect("(", "here");
  const ExprId inner = expr();
  expect(")", "after the expression");
  return inner;
}

ExprId ExprParser::primary() {
  const Position where = position();
  const Token at = token();
  if (is("{")) return block();
  if (is("(")) return parenthesised();
  if (at.kind == Token::Kind::kNumber || at.kind == Token::Kind::kString || is("true") ||
      is("false")) {
    advance();
    return add({.kind = Expr::Kind::kConstant, .position = where, .name = std::string(at.text)});
  }
  if (is_name() || is("this")) {
    advance();
    if (is("(") || is("<")) return call(kNoExpr, std::string(at.text), where);
    return add({.kind = Expr::Kind::kVariable, .position = where, .name = std::string(at.text)});
  }
  if (at.kind == Token::Kind::kKeyword) return keyword();
  fail("an expression", kForms);
  return add({});
}

ExprId ExprParser::keyword() {
  using enum Expr::Kind;
  const Position where = position();
  if (is("if")) return conditional();
  if (is("let")) return let(false);
  if (accept("null")) return add({.kind = kNull, .position = where});
  if (accept("break")) return add({.kind = kBreak, .position = where});
  if (accept("continue")) return add({.kind = kContinue, .position = where});
  Expr made = {.position = where};
  if (accept("new")) {
    made.kind = kNew;
    made.type = type();
    made.children = arguments();
  } else if (is("while") || is("synchronized")) {
    made.kind = is("while") ? kWhile : kSync;
    advance();
    made.is_shared = made.kind == kSync && accept("shared");
    made.children.push_back(parenthesised());
    made.children.push_back(block());
    made.end = block_end_;
  } else if (is("lock") || is("unlock") || is("trylock") || is("wait")) {
    made.kind = is("lock") ? kLock : is("unlock") ? kUnlock : is("trylock") ? kTryLock : kWait;
    advance();
    made.is_shared = (made.kind == kLock || made.kind == kTryLock) && accept("shared");
    made.children.push_back(parenthesised());
  } else if (accept("atomic")) {
    made.kind = kAtomic;
    made.children.push_back(block());
  } else if (accept("expect")) {
    made.kind = kExpect;
    made.expected = atomicity();
    made.children.push_back(block());
  } else if (accept("no_warn")) {
    made.kind = kNoWarn;
    made.children.push_back(block());
  } else if (accept("fork")) {
    made.kind = kFork;
    made.children.push_back(postfix());
    if (!failed() && program[made.children[0]].kind != kCall) {
      fail_at(where, "a fork of something that is no call", "Write fork e.run<tll>().");
    }
  } else if (accept("return")) {
    made.kind = kReturn;
    if (!is(";") && !is("}") && !is(")") && !is(",")) made.children.push_back(expr());
  } else {
    fail("an expression", kForms);
  }
  return add(std::move(made));
}

ExprId ExprParser::conditional() {
  Expr made = {.kind = Expr::Kind::kIf, .position = position()};
  advance();
  made.children.push_back(parenthesised());
  made.children.push_back(block());
  const Position after = position();
  if (!accept("else")) {
    made.children.push_back(add({.kind = Expr::Kind::kSequence, .position = after}));
  } else if (is("if")) {
    if (++nesting_ >= kMaxDepth) {
      fail_at(after, "an expression nested too deeply", "Split it with let.");
    }
    made.children.push_back(failed() ? add({}) : conditional());
    --nesting_;
  } else {
    made.children.push_back(block());
  }
  return add(std::move(made));
}

// let x = e in e, or in a block: let x = e; and the rest of the block. A type may stand before the
// name.
ExprId ExprParser::let(bool in_block) {
  Expr made = {.kind = Expr::Kind::kLet, .position = position()};
  advance();
  if (!is("=", 1)) made.type = type();
  made.name = name("a variable");
  expect("=", "after the variable of let");
  made.children.push_back(expr());
  if (in_block && accept(";")) {
    if (++nesting_ >= kMaxDepth) {
      fail_at(made.position, "a block with too many variables", "Make it two methods.");
    }
    made.children.push_back(failed() ? add({}) : sequence(position()));
    --nesting_;
  } else {
    expect("in", in_block ? "or `;` after the value of let" : "after the value of let");
    made.children.push_back(expr());
  }
  return add(std::move(made));
}

ExprId ExprParser::block() {
  const Position where = position();
  expect("{", "before a block");
  if (++nesting_ >= kMaxDepth) {
    fail_at(where, "an expression nested too deeply", "Split it with let.");
  }
  const ExprId inner = failed() ? add({}) : sequence(where);
  --nesting_;
  block_end_ = position();
  expect("}", "after the block, or `;` between expressions");
  return inner;
}

// The expressions of a block, up to its brace. A single one stands for itself.
ExprId ExprParser::sequence(Position where) {
  Expr made = {.kind = Expr::Kind::kSequence, .position = where};
  while (!failed() && !is("}")) {
    if (accept(";")) continue;
    // A block of one expression stands for that, but ends with its brace.
    const bool is_block = is("{");
    made.children.push_back(is("let") ? let(true) : expr());
    const bool needs_no_sign = is_block || ends_with_brace(program[made.children.back()].kind);
    if (!needs_no_sign && !is("}") && !is(";")) {
      fail("`;` or `}` after an expression", "Put `;` between the expressions of a block.");
    }
  }
  if (made.children.size() == 1) return made.children[0];
  return add(std::move(made));
}

}  // namespace tomos::core
