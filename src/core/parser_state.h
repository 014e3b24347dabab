// What the parts of the parser share: the tokens, the first error, and the grammar's small words.
// Declarations are in parser.cpp, expressions in parse_expr.cpp.
//
// After an error the parser sees nothing but the end of the text, so it unwinds without asking
// after every step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lexer.h"
#include "core/program.h"
#include "event/error.h"

namespace tomos::core {

class ParserState {
 public:
  // Deeper programs are refused, so that no later walk over one can run out of stack.
  static constexpr std::size_t kMaxDepth = 200;

  ParserState(std::string_view text, std::string_view file, Program made_before);

  bool failed() const { return error_.has_value(); }

  Program program;

 protected:
  const Token& token(std::size_t ahead = 0) const { return tokens_[ahead]; }
  bool is(std::string_view text, std::size_t ahead = 0) const;
  bool is_name(std::size_t ahead = 0) const { return token(ahead).kind == Token::Kind::kName; }
  Position position() const {
    return {.file = static_cast<std::uint32_t>(program.files.size() - 1),
            .line = token().line,
            .column = token().column};
  }
  void advance();
  bool accept(std::string_view text);
  void expect(std::string_view text, std::string_view after);
  std::string name(std::string_view of_what);
  void fail(std::string_view expected, std::string_view remedy);
  void fail_at(Position where, std::string what, std::string remedy);

  LockId lock();
  std::vector<LockId> locks();  // after "<" or a keyword
  std::vector<LockId> lock_arguments();
  Type type();
  std::vector<std::string> ghosts();  // "<ghost x, y>", if there
  bool is_atomicity() const;
  TermId atomicity();

  std::vector<std::string> ghosts_;  // in scope
  std::optional<Error> error_;

 private:
  Term condition();

  std::string file_;
  Lexer lexer_;
  std::array<Token, 3> tokens_;
  std::size_t atomicity_depth_ = 0;
};

class ExprParser : public ParserState {
 public:
  ExprParser(std::string_view text, std::string_view file, Program made_before)
      : ParserState(text, file, std::move(made_before)), depths_(program.exprs.size()) {}

 protected:
  ExprId block();

 private:
  ExprId add(Expr expr);
  ExprId expr();
  ExprId binary(std::size_t level);
  ExprId unary();
  ExprId postfix();
  ExprId primary();
  ExprId keyword();
  ExprId conditional();
  ExprId let(bool in_block);
  ExprId sequence(Position where);
  ExprId call(ExprId receiver, std::string name, Position where);
  std::vector<ExprId> arguments();
  ExprId parenthesised();

  std::size_t nesting_ = 0;
  std::vector<std::size_t> depths_;  // of each expression
  Position block_end_;               // of the last block
};

}  // namespace tomos::core
