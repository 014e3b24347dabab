// Declarations: classes, fields, methods, globals, functions, main.
#include "core/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "core/parser_state.h"

namespace tomos::core {

namespace {

class Parser : public ExprParser {
 public:
  using ExprParser::ExprParser;

  Result<Program> read() {
    while (token().kind != Token::Kind::kEnd) {
      if (is("class")) {
        class_declaration();
      } else if (is("main")) {
        main_block();
      } else {
        member(nullptr);
      }
    }
    if (error_) return std::unexpected(std::move(*error_));
    return std::move(program);
  }

 private:
  void main_block() {
    const Position where = position();
    advance();
    const bool again = program.main != kNoExpr;
    program.main = block();
    if (again) fail_at(where, "a second main", "Put both into one block.");
  }

  void class_declaration() {
    advance();
    Class made;
    made.position = position();
    made.name = name("a class");
    made.ghosts = ghosts();
    ghosts_ = made.ghosts;
    if (accept("extends")) {
      do {
        made.bases.push_back(type());
      } while (accept(","));
    }
    expect("{", "before the members of the class");
    while (!failed() && !is("}")) member(&made);
    expect("}", "after the members of the class");
    ghosts_.clear();
    program.classes.push_back(std::move(made));
  }

  // A field or a method; without a class a global or a function.
  void member(Class* owner) {
    const std::size_t first_term = program.terms.size();
    Method method;
    method.position = position();
    if (is_atomicity()) method.atomicity = atomicity();
    const bool is_static = accept("static");
    method.kind = is_static || owner == nullptr ? Method::Kind::kStatic : Method::Kind::kMethod;
    if (is_static && owner == nullptr) {
      fail_at(method.position, "`static` outside a class",
              "Globals and functions need no `static`: leave it out.");
    }
    if (owner != nullptr && accept("~")) {
      method.kind = Method::Kind::kDestructor;
      method.position = position();
      method.name = "~" + name("the destructor's class");
      method.result.name = "void";
    } else if (owner != nullptr && is_name() && token().text == owner->name &&
               (is("(", 1) || (is("<", 1) && is("ghost", 2)))) {
      method.kind = Method::Kind::kConstructor;
      method.position = position();
      method.name = name("a constructor");
      method.result.name = "void";
    } else {
      method.result = type();
      method.position = position();
      method.name = name("a field, method, global or function");
    }
    if (is("(") || is("<")) {
      finish_method(std::move(method), owner, first_term);
    } else if (method.kind == Method::Kind::kDestructor) {
      fail("`(` after the name of a destructor", "Write () and a body.");
    } else {
      finish_field(std::move(method), owner, is_static);
    }
  }

  void finish_field(Method begun, Class* owner, bool is_static) {
    if (begun.atomicity) {
      fail("the parameters of a method", "A field has a guard after its name, not an atomicity.");
    }
    Field field = {.type = std::move(begun.result),
                   .name = std::move(begun.name),
                   .is_static = is_static,
                   .position = begun.position};
    field.guard = guard();
    expect(";", "after the declaration");
    if (owner == nullptr) {
      program.globals.push_back(std::move(field));
    } else {
      owner->fields.push_back(std::move(field));
    }
  }

  Guard guard() {
    using enum Guard::Kind;
    if (accept("final")) return {.kind = kFinal};
    if (accept("no_guard")) return {.kind = kNoGuard};
    if (accept("atomic")) return {.kind = kAtomic};
    if (accept("guarded_by")) return {.kind = kGuardedBy, .lock = lock()};
    if (accept("write_guarded_by")) return {.kind = kWriteGuardedBy, .lock = lock()};
    if (!is(";")) {
      fail("a guard or `;`",
           "A guard is final, guarded_by l, write_guarded_by l, no_guard or atomic.");
    }
    return {};
  }

  void finish_method(Method method, Class* owner, std::size_t first_term) {
    method.ghosts = ghosts();
    const std::size_t outer = ghosts_.size();
    ghosts_.insert(ghosts_.end(), method.ghosts.begin(), method.ghosts.end());
    name_ghosts(method, first_term);
    expect("(", "before the parameters");
    if (!is(")")) {
      do {
        Parameter parameter;
        parameter.type = type();
        parameter.position = position();
        parameter.name = name("a parameter");
        method.parameters.push_back(std::move(parameter));
      } while (accept(","));
    }
    expect(")", "after the parameters");
    if (accept("requires")) method.requires_held = locks();
    if (accept("acquires")) method.acquires = locks();
    if (accept("releases")) method.releases = locks();
    method.no_warn = accept("no_warn");
    if (!accept(";")) method.body = block();
    ghosts_.resize(outer);
    if (owner == nullptr) {
      program.functions.push_back(std::move(method));
    } else {
      owner->methods.push_back(std::move(method));
    }
  }

  // The atomicity and the result stand before the ghost parameters that they may name.
  void name_ghosts(Method& method, std::size_t first_term) {
    const auto as_ghost = [&](LockId& lock) {
      const Lock& of = program.locks[lock];
      if (of.kind == Lock::Kind::kVariable &&
          std::ranges::find(method.ghosts, of.name) != method.ghosts.end()) {
        lock = program.locks.ghost(std::string(of.name));
      }
    };
    for (std::size_t i = first_term; i < program.terms.size(); ++i) {
      if (auto& predicate = program.terms[i].predicate) as_ghost(predicate->lock);
    }
    for (LockId& lock : method.result.locks) as_ghost(lock);
  }
};

}  // namespace

Result<Program> parse(std::string_view text, std::string_view file, Program made_before) {
  return Parser(text, file, std::move(made_before)).read();
}

std::string to_string(const Program& program, const Position& position) {
  std::string file =
      position.file < program.files.size() ? program.files[position.file] : std::string("?");
  if (position.line == 0) return file;
  return fmt::format("{}:{}:{}", file, position.line, position.column);
}

}  // namespace tomos::core
