#include "core/printer.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/words.h"

namespace tomos::core {

namespace {

template <class List, class Show>
std::string joined(const List& list, const Show& show) {
  std::string text;
  for (const auto& item : list) {
    if (!text.empty()) text += ", ";
    text += show(item);
  }
  return text;
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string whole() {
    for (const Class& made : program_.classes) class_declaration(made);
    for (const Field& global : program_.globals) field(global, "");
    for (const Method& function : program_.functions) method(function, "");
    if (program_.main != kNoExpr) text_ += "main " + block(program_.main, "") + "\n";
    return std::move(text_);
  }

  std::string term(TermId id, bool nested) const {
    const Term& of = program_[id];
    if (!of.predicate) return std::string(to_string(of.basic));
    std::string text = to_text(program_.locks, *of.predicate) + "?" + term(of.then, true) + ":" +
                       term(of.otherwise, true);
    return nested ? "(" + text + ")" : text;
  }

  std::string expr(ExprId id, const std::string& indent) const;

 private:
  void class_declaration(const Class& made) {
    text_ += "class " + quoted(made.name) + ghosts(made.ghosts);
    if (!made.bases.empty())
      text_ += " extends " +
               joined(made.bases, [&](const Type& base) { return to_text(program_.locks, base); });
    text_ += " {\n";
    for (const Field& of : made.fields) field(of, "  ");
    for (const Method& of : made.methods) method(of, "  ");
    text_ += "}\n";
  }

  static std::string ghosts(const std::vector<std::string>& names) {
    if (names.empty()) return {};
    return "<ghost " + joined(names, [](const std::string& name) { return quoted(name); }) + ">";
  }

  std::string lock_list(const std::vector<LockId>& locks) const {
    return joined(locks, [&](LockId lock) { return program_.locks.to_string(lock); });
  }

  void field(const Field& of, const std::string& indent) {
    text_ += indent + (of.is_static ? "static " : "") + to_text(program_.locks, of.type) + " " +
             quoted(of.name);
    switch (of.guard.kind) {
      case Guard::Kind::kUnset:
        break;
      case Guard::Kind::kFinal:
        text_ += " final";
        break;
      case Guard::Kind::kGuardedBy:
        text_ += " guarded_by " + program_.locks.to_string(of.guard.lock);
        break;
      case Guard::Kind::kWriteGuardedBy:
        text_ += " write_guarded_by " + program_.locks.to_string(of.guard.lock);
        break;
      case Guard::Kind::kNoGuard:
        text_ += " no_guard";
        break;
      case Guard::Kind::kAtomic:
        text_ += " atomic";
        break;
    }
    text_ += ";\n";
  }

  void method(const Method& of, const std::string& indent) {
    text_ += indent;
    if (of.atomicity) {
      // Conditions on a plain lock need brackets, or they would begin like a type.
      const std::optional<Predicate>& first = program_[*of.atomicity].predicate;
      text_ += term(*of.atomicity, first && first->kind == Predicate::Kind::kHeld) + " ";
    }
    if (of.kind == Method::Kind::kStatic && !indent.empty()) text_ += "static ";
    if (of.kind == Method::Kind::kDestructor) {
      text_ += "~" + quoted(std::string_view(of.name).substr(1));
    } else if (of.kind == Method::Kind::kConstructor) {
      text_ += quoted(of.name);
    } else {
      text_ += to_text(program_.locks, of.result) + " " + quoted(of.name);
    }
    text_ += ghosts(of.ghosts) + "(" +
             joined(of.parameters,
                    [&](const Parameter& parameter) {
                      return to_text(program_.locks, parameter.type) + " " + quoted(parameter.name);
                    }) +
             ")";
    if (!of.requires_held.empty()) text_ += " requires " + lock_list(of.requires_held);
    if (!of.acquires.empty()) text_ += " acquires " + lock_list(of.acquires);
    if (!of.releases.empty()) text_ += " releases " + lock_list(of.releases);
    if (of.no_warn) text_ += " no_warn";
    text_ += of.body == kNoExpr ? ";\n" : " " + block(of.body, indent) + "\n";
  }

  // With braces. Where a block goes on after a let, its variable has the rest of the block as
  // scope.
  std::string block(ExprId id, const std::string& indent) const {
    std::string text = "{\n";
    statements(id, indent + "  ", text);
    return text + indent + "}";
  }

  void statements(ExprId id, const std::string& indent, std::string& text) const {
    const Expr& of = program_[id];
    if (of.kind == Expr::Kind::kLet) {
      text += indent + "let " + typed(of) + " = " + expr(of.children[0], indent) + ";\n";
      statements(of.children[1], indent, text);
    } else if (of.kind == Expr::Kind::kSequence) {
      for (std::size_t i = 0; i < of.children.size(); ++i) {
        const bool is_let = program_[of.children[i]].kind == Expr::Kind::kLet;
        if (is_let && i + 1 == of.children.size()) {
          statements(of.children[i], indent, text);
        } else {
          statement(of.children[i], indent, text);
        }
      }
    } else {
      statement(id, indent, text);
    }
  }

  void statement(ExprId id, const std::string& indent, std::string& text) const {
    text += indent + expr(id, indent) + (ends_with_brace(program_[id].kind) ? "\n" : ";\n");
  }

  std::string typed(const Expr& let) const {
    const std::string name = quoted(let.name);
    return let.type.name.empty() ? name : to_text(program_.locks, let.type) + " " + name;
  }

  // As part of a larger expression.
  std::string operand(ExprId id, const std::string& indent) const {
    std::string text = expr(id, indent);
    switch (program_[id].kind) {
      case Expr::Kind::kVariable:
      case Expr::Kind::kConstant:
      case Expr::Kind::kNull:
      case Expr::Kind::kNew:
      case Expr::Kind::kField:
      case Expr::Kind::kCall:
      case Expr::Kind::kOperator:
      case Expr::Kind::kLet:
      case Expr::Kind::kSequence:
        return text;
      case Expr::Kind::kAssign:
      case Expr::Kind::kUpdate:
      case Expr::Kind::kIf:
      case Expr::Kind::kWhile:
      case Expr::Kind::kSync:
      case Expr::Kind::kLock:
      case Expr::Kind::kUnlock:
      case Expr::Kind::kTryLock:
      case Expr::Kind::kWait:
      case Expr::Kind::kAtomic:
      case Expr::Kind::kExpect:
      case Expr::Kind::kFork:
      case Expr::Kind::kNoWarn:
      case Expr::Kind::kReturn:
      case Expr::Kind::kBreak:
      case Expr::Kind::kContinue:
        break;
    }
    return "(" + text + ")";
  }

  std::string arguments(const Expr& of, std::size_t first, const std::string& indent) const {
    const std::vector<ExprId> list(of.children.begin() + static_cast<std::ptrdiff_t>(first),
                                   of.children.end());
    return "(" + joined(list, [&](ExprId id) { return operand(id, indent); }) + ")";
  }

  const Program& program_;
  std::string text_;
};

std::string Printer::expr(ExprId id, const std::string& indent) const {
  const Expr& of = program_[id];
  const auto child = [&](std::size_t i) { return operand(of.children[i], indent); };
  const auto taken = [&](const std::string& word) {
    return word +
           (of.is_shared                   ? " shared ("
            : of.kind == Expr::Kind::kSync ? " ("
                                           : "(") +
           child(0) + ")";
  };
  switch (of.kind) {
    case Expr::Kind::kVariable:
      return of.name == "this" ? of.name : quoted(of.name);
    case Expr::Kind::kConstant:
      return of.name;
    case Expr::Kind::kNull:
      return "null";
    case Expr::Kind::kNew:
      return "new " + to_text(program_.locks, of.type) + arguments(of, 0, indent);
    case Expr::Kind::kField:
      return child(0) + "." + quoted(of.name);
    case Expr::Kind::kAssign:
      return child(0) + " = " + child(1);
    case Expr::Kind::kUpdate:
      return child(0) + " += " + child(1);
    case Expr::Kind::kCall: {
      const std::string locks = of.locks.empty() ? "" : "<" + lock_list(of.locks) + ">";
      const std::string receiver = of.children[0] == kNoExpr ? "" : child(0) + ".";
      return receiver + quoted(of.name) + locks + arguments(of, 1, indent);
    }
    case Expr::Kind::kOperator: {
      if (of.children.size() == 1) return "(" + of.name + child(0) + ")";
      std::string text = "(";
      for (std::size_t i = 0; i < of.children.size(); ++i) {
        text += (i == 0 ? "" : " " + of.name + " ") + child(i);
      }
      return text + ")";
    }
    case Expr::Kind::kLet:
    case Expr::Kind::kSequence:
      return block(id, indent);
    case Expr::Kind::kIf: {
      const Expr& otherwise = program_[of.children[2]];
      const bool has_else = otherwise.kind != Expr::Kind::kSequence || !otherwise.children.empty();
      return "if (" + child(0) + ") " + block(of.children[1], indent) +
             (has_else ? " else " + block(of.children[2], indent) : "");
    }
    case Expr::Kind::kWhile:
      return "while (" + child(0) + ") " + block(of.children[1], indent);
    case Expr::Kind::kSync:
      return taken("synchronized") + " " + block(of.children[1], indent);
    case Expr::Kind::kLock:
      return taken("lock");
    case Expr::Kind::kUnlock:
      return "unlock(" + child(0) + ")";
    case Expr::Kind::kTryLock:
      return taken("trylock");
    case Expr::Kind::kWait:
      return "wait(" + child(0) + ")";
    case Expr::Kind::kAtomic:
      return "atomic " + block(of.children[0], indent);
    case Expr::Kind::kExpect:
      return "expect " + term(of.expected, true) + " " + block(of.children[0], indent);
    case Expr::Kind::kFork:
      return "fork " + child(0);
    case Expr::Kind::kNoWarn:
      return "no_warn " + block(of.children[0], indent);
    case Expr::Kind::kReturn:
      return of.children.empty() ? "return" : "return " + child(0);
    case Expr::Kind::kBreak:
      return "break";
    case Expr::Kind::kContinue:
      return "continue";
  }
  return {};
}

}  // namespace

std::string to_text(const Program& program) { return Printer(program).whole(); }

std::string to_text(const Program& program, TermId atomicity) {
  return Printer(program).term(atomicity, false);
}

std::string to_text(const Program& program, ExprId expr) { return Printer(program).expr(expr, ""); }

std::string to_text(const Locks& locks, const Predicate& predicate) {
  std::string lock = locks.to_string(predicate.lock);
  switch (predicate.kind) {
    case Predicate::Kind::kIsNone:
      return "isNone(" + lock + ")";
    case Predicate::Kind::kIsAlways:
      return "isAlways(" + lock + ")";
    case Predicate::Kind::kHeld:
      break;
  }
  return lock;
}

std::string to_text(const Locks& locks, const Type& type) {
  std::string text = quoted(type.name);
  if (type.locks.empty()) return text;
  return text + "<" + joined(type.locks, [&](LockId lock) { return locks.to_string(lock); }) + ">";
}

}  // namespace tomos::core
