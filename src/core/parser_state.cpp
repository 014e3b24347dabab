#include "core/parser_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tomos::core {

ParserState::ParserState(std::string_view text, std::string_view file, Program made_before)
    : program(std::move(made_before)), file_(file), lexer_(text) {
  program.files.emplace_back(file);
  for (Token& token : tokens_) token = lexer_.next();
}

bool ParserState::is(std::string_view text, std::size_t ahead) const {
  const Token& at = tokens_[ahead];
  return (at.kind == Token::Kind::kSign || at.kind == Token::Kind::kKeyword) && at.text == text;
}

void ParserState::advance() {
  if (failed()) return;
  std::shift_left(tokens_.begin(), tokens_.end(), 1);
  tokens_.back() = lexer_.next();
}

bool ParserState::accept(std::string_view text) {
  if (!is(text)) return false;
  advance();
  return true;
}

void ParserState::expect(std::string_view text, std::string_view after) {
  if (!accept(text)) {
    fail(fmt::format("`{}` {}", text, after), fmt::format("Write `{}` here.", text));
  }
}

std::string ParserState::name(std::string_view of_what) {
  if (!is_name()) {
    fail(fmt::format("the name of {}", of_what),
         token().kind == Token::Kind::kKeyword
             ? fmt::format("`{0}` is a word of the language: as a name, write `{0}` in backquotes.",
                           token().text)
             : "A name is letters, digits and _, or anything in backquotes.");
    return {};
  }
  std::string text(token().text);
  advance();
  return text;
}

void ParserState::fail(std::string_view expected, std::string_view remedy) {
  const Token& at = token();
  const std::string found =
      at.kind == Token::Kind::kEnd ? "the end of the file" : fmt::format("`{}`", at.text);
  fail_at(position(), fmt::format("expected {}, found {}", expected, found), std::string(remedy));
}

void ParserState::fail_at(Position where, std::string what, std::string remedy) {
  if (failed()) return;
  error_ = Error{.where = fmt::format("{}:{}:{}", file_, where.line, where.column),
                 .what = std::move(what),
                 .remedy = std::move(remedy)};
  tokens_.fill({.kind = Token::Kind::kEnd, .line = where.line, .column = where.column});
}

LockId ParserState::lock() {
  if (accept("none")) return Locks::kNone;
  if (accept("always")) return Locks::kAlways;
  if (accept("tll")) return Locks::kThread;
  if (accept("unknown")) return Locks::kUnknown;
  LockId path = Locks::kUnknown;
  if (accept("this")) {
    path = program.locks.variable("this");
  } else if (is_name()) {
    const std::string root = name("a lock");
    path = std::ranges::find(ghosts_, root) != ghosts_.end() ? program.locks.ghost(root)
                                                             : program.locks.variable(root);
  } else {
    fail("a lock", "A lock is a path like this.m, or none, always, tll.");
  }
  for (std::size_t length = 0; accept("."); ++length) {
    if (length >= kMaxDepth) fail("a shorter path", "Give a part of it a name with let.");
    path = program.locks.field(path, name("a field"));
  }
  return path;
}

std::vector<LockId> ParserState::locks() {
  std::vector<LockId> list;
  do {
    list.push_back(lock());
  } while (accept(","));
  return list;
}

std::vector<LockId> ParserState::lock_arguments() {
  if (!accept("<")) return {};
  std::vector<LockId> list = locks();
  expect(">", "after the locks");
  return list;
}

Type ParserState::type() {
  Type type;
  type.name = name("a type");
  type.locks = lock_arguments();
  return type;
}

std::vector<std::string> ParserState::ghosts() {
  std::vector<std::string> list;
  if (!accept("<")) return list;
  expect("ghost", "before the names of ghost parameters");
  do {
    list.push_back(name("a ghost parameter"));
  } while (accept(","));
  expect(">", "after the ghost parameters");
  return list;
}

bool ParserState::is_atomicity() const {
  return is("(") || is("isNone") || is("isAlways") ||
         (token().kind == Token::Kind::kKeyword && basic_of(token().text).has_value());
}

Term ParserState::condition() {
  Predicate predicate;
  if (is("isNone") || is("isAlways")) {
    predicate.kind = is("isNone") ? Predicate::Kind::kIsNone : Predicate::Kind::kIsAlways;
    advance();
    expect("(", "before the lock");
    predicate.lock = lock();
    expect(")", "after the lock");
  } else {
    predicate.lock = lock();
  }
  Term term = {.predicate = predicate};
  expect("?", "after the condition of an atomicity");
  term.then = atomicity();
  expect(":", "between the two atomicities");
  term.otherwise = atomicity();
  return term;
}

TermId ParserState::atomicity() {
  if (atomicity_depth_ >= kMaxDepth) fail("a smaller atomicity", "Write fewer conditions.");
  if (failed()) return {};
  ++atomicity_depth_;
  Term term;
  if (accept("(")) {
    const TermId inner = atomicity();
    expect(")", "after the atomicity");
    --atomicity_depth_;
    return inner;
  }
  const std::optional<Basic> basic =
      token().kind == Token::Kind::kKeyword ? basic_of(token().text) : std::nullopt;
  if (basic) {
    term.basic = *basic;
    advance();
  } else {
    term = condition();
  }
  --atomicity_depth_;
  return program.add(term);
}

}  // namespace tomos::core
