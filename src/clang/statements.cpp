// Statements: blocks, ways, and the locks that are held along them.
#include <clang/Basic/Builtins.h>

#include <algorithm>

#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::SourceLocation;
using clang::Stmt;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

namespace {

// What is likely (__builtin_expect, in macros mostly) makes no difference.
const Expr* plain(const Expr* of) {
  of = of->IgnoreImplicit()->IgnoreParenImpCasts();
  const auto* call = llvm::dyn_cast<clang::CallExpr>(of);
  const bool is_likely =
      call != nullptr && call->getBuiltinCallee() == clang::Builtin::BI__builtin_expect;
  return is_likely ? plain(call->getArg(0)->IgnoreParenCasts()) : of;
}

// Something may jump into it.
bool has_label(const Stmt* of) {
  if (of == nullptr || llvm::isa<clang::LambdaExpr>(of)) return false;
  return llvm::isa<clang::LabelStmt>(of) || llvm::isa<clang::SwitchCase>(of) ||
         std::ranges::any_of(of->children(), has_label);
}

bool has_goto(const Stmt* of) {
  if (of == nullptr || llvm::isa<clang::LambdaExpr>(of)) return false;
  return llvm::isa<clang::GotoStmt, clang::IndirectGotoStmt>(of) ||
         std::ranges::any_of(of->children(), has_goto);
}

// Out of what is around it.
bool has_break(const Stmt* of) {
  if (of == nullptr || llvm::isa<clang::LambdaExpr, clang::ForStmt, clang::WhileStmt, clang::DoStmt,
                                 clang::CXXForRangeStmt, clang::SwitchStmt>(of)) {
    return false;
  }
  return llvm::isa<clang::BreakStmt>(of) || std::ranges::any_of(of->children(), has_break);
}

}  // namespace

// One after the other. What does not lead on to the label after it may be jumped over.
void Body::statements(const clang::CompoundStmt& of) {
  const auto is_label = [](const Stmt* child) { return llvm::isa<clang::LabelStmt>(child); };
  for (auto at = of.body_begin(); at != of.body_end();) {
    const auto next = std::find_if(at + 1, of.body_end(), is_label);
    const auto part = [&] { statements(of, at, next); };
    bool leads_on = next == of.body_end();
    if (!leads_on && trials_ < kMaxTrials) {  // to find out, what this makes is thrown away
      const State before = state_;
      ++trials_;
      block(part, of.getRBracLoc());
      --trials_;
      leads_on = state_.reachable;
      state_ = before;
    }
    if (leads_on) {
      part();
    } else {
      maybe(part, (*at)->getBeginLoc(), of.getRBracLoc());
    }
    at = next;
  }
}

// What comes after something that jumps over it may be left out. That matters where it changes what
// is held.
void Body::statements(const clang::CompoundStmt& of, clang::CompoundStmt::const_body_iterator first,
                      clang::CompoundStmt::const_body_iterator last) {
  for (; first != last; ++first) {
    const Stmt* child = *first;
    if (!state_.reachable && !has_label(child)) continue;
    if (&of == function_.getBody()) assert_held(asserted_in(*child));
    statement(child);
    if (!state_.reachable || !may_jump(child) || !std::any_of(first + 1, last, changes_locks)) {
      continue;
    }
    maybe([&] { statements(of, first + 1, last); }, child->getEndLoc(), of.getRBracLoc());
    return;
  }
}

// Out of what is around it: by a goto, or out of a switch, which the core has no way out of.
bool Body::may_jump(const Stmt* of) const {
  const auto around = std::ranges::find_if(blocks_.rbegin(), blocks_.rend(), [](const Block& one) {
    return one.is_loop || one.is_switch;
  });
  const bool in_switch = around != blocks_.rend() && around->is_switch;
  return has_goto(of) || (in_switch && has_break(of));
}

void Body::statement(const Stmt* of) {
  if (of == nullptr) return;
  if (depth_ > kMaxDepth) {
    emit(too_deep(of->getBeginLoc()));
    return;
  }
  ++depth_;
  const SourceLocation at = of->getBeginLoc();
  if (const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(of)) {
    if (of == function_.getBody()) {
      statements(*compound);
    } else {
      const auto wanted = unit_.requirement(at);
      const State before = state_;
      ExprId made = block([&] { statements(*compound); }, compound->getRBracLoc());
      const State after = state_;
      if (wanted) {
        made = program_.add({.kind = Kind::kExpect,
                             .position = unit_.position(at),
                             .children = {made},
                             .expected = program_.add(core::Term{.basic = *wanted})});
      }
      emit(made);
      meet(before, after, after);
    }
  } else if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(of)) {
    for (const clang::Decl* decl : declares->decls()) {
      if (const auto* variable = llvm::dyn_cast<VarDecl>(decl)) declaration(*variable);
      if (const auto* record = llvm::dyn_cast<clang::RecordDecl>(decl)) unit_.read(*record);
    }
  } else if (const auto* tests = llvm::dyn_cast<clang::IfStmt>(of)) {
    if_statement(*tests);
  } else if (const auto* loops = llvm::dyn_cast<clang::WhileStmt>(of)) {
    const auto body = [&] { statement(loops->getBody()); };
    if (loops->getConditionVariable() != nullptr) {
      loop(
          *of, nullptr,
          [&] {
            declaration(*loops->getConditionVariable());
            body();
          },
          at);
    } else {
      loop(*of, loops->getCond(), body, at);
    }
  } else if (const auto* repeats = llvm::dyn_cast<clang::DoStmt>(of)) {
    if (!constant_of(repeats->getCond()).value_or(true)) {
      nested([&] { statement(repeats->getBody()); }, of->getEndLoc());
    } else {
      loop(*of, repeats->getCond(), [&] { statement(repeats->getBody()); }, at, true);
    }
  } else if (const auto* counts = llvm::dyn_cast<clang::ForStmt>(of)) {
    nested(
        [&] {
          statement(counts->getInit());
          loop(
              *of, counts->getCond(),
              [&] {
                statement(counts->getBody());
                if (counts->getInc() != nullptr) effect(counts->getInc());
              },
              at);
        },
        of->getEndLoc());
  } else if (const auto* ranges = llvm::dyn_cast<clang::CXXForRangeStmt>(of)) {
    range_loop(*ranges);
  } else if (const auto* chooses = llvm::dyn_cast<clang::SwitchStmt>(of)) {
    switch_statement(*chooses);
  } else if (const auto* tries = llvm::dyn_cast<clang::CXXTryStmt>(of)) {
    try_statement(*tries);
  } else if (const auto* returns = llvm::dyn_cast<clang::ReturnStmt>(of)) {
    ExprId value = core::kNoExpr;
    if (returns->getRetValue() != nullptr) {
      const auto type = unit_.type_of(function_.getReturnType());
      const Value result = lent(*returns->getRetValue(), type);
      if (type.name == "void") {
        emit(result.id);
      } else {
        value = coerce(result, type, at);
      }
    }
    leave(at, value);
  } else if (llvm::isa<clang::BreakStmt>(of) || llvm::isa<clang::ContinueStmt>(of)) {
    const bool breaks = llvm::isa<clang::BreakStmt>(of);
    std::size_t around = blocks_.size();
    while (around > 0 && !blocks_[around - 1].is_loop &&
           !(breaks && blocks_[around - 1].is_switch)) {
      --around;
    }
    // The core has no way out of a `switch`: what follows in the case is taken along.
    if (around > 0 && blocks_[around - 1].is_loop) {
      if (state_.reachable) end_locals(around - 1, at);
      emit(make(breaks ? Kind::kBreak : Kind::kContinue, at, {}));
      state_.reachable = false;
    }
  } else if (const auto* labelled = llvm::dyn_cast<clang::LabelStmt>(of)) {
    statement(labelled->getSubStmt());
  } else if (const auto* marked = llvm::dyn_cast<clang::AttributedStmt>(of)) {
    statement(marked->getSubStmt());
  } else if (const auto* expression = llvm::dyn_cast<Expr>(of)) {
    effect(expression);
  } else {
    for (const Stmt* child : of->children()) statement(child);
  }
  --depth_;
}

std::optional<bool> Body::constant_of(const Expr* condition) const {
  clang::Expr::EvalResult result;
  if (condition->isValueDependent() || !condition->EvaluateAsRValue(result, unit_.context) ||
      !result.Val.isInt()) {
    return std::nullopt;
  }
  return result.Val.getInt() != 0;
}

// Does not come back: in the core, a loop without end.
void Body::diverge(SourceLocation at) {
  emit(make(Kind::kWhile, at, {constant("true", at), make(Kind::kSequence, at, {})}));
  state_.reachable = false;
}

void Body::if_statement(const clang::IfStmt& of) {
  const auto both = [&] {
    if (of.getInit() != nullptr) statement(of.getInit());
    if (of.getConditionVariable() != nullptr) declaration(*of.getConditionVariable());
    if (const auto taken = compiled_part(of, unit_.context)) {
      statement(*taken);
      return;
    }
    branch(
        of.getCond(), [&] { statement(of.getThen()); }, [&] { statement(of.getElse()); },
        of.getBeginLoc());
  };
  if (of.getInit() == nullptr && of.getConditionVariable() == nullptr) {
    both();
  } else {
    nested(both, of.getEndLoc());
  }
}

bool Body::holds_try(const Expr* condition) {
  condition = plain(condition);
  if (tried(condition)) return true;
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(condition)) {
    return binary->isLogicalOp() && (holds_try(binary->getLHS()) || holds_try(binary->getRHS()));
  }
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(condition);
  return unary != nullptr && unary->getOpcode() == clang::UO_LNot && holds_try(unary->getSubExpr());
}

std::optional<Body::Try> Body::tried(const Expr* condition) {
  condition = plain(condition);
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(condition)) {
    if (unary->getOpcode() != clang::UO_LNot) return std::nullopt;
    auto inner = tried(unary->getSubExpr());
    if (inner) inner->held_if_true = !inner->held_if_true;
    return inner;
  }
  if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(condition)) {
    if (!binary->isEqualityOp()) return std::nullopt;
    const Expr* left = plain(binary->getLHS());
    clang::Expr::EvalResult right;
    if (!binary->getRHS()->EvaluateAsRValue(right, unit_.context) || !right.Val.isInt()) {
      return std::nullopt;
    }
    auto inner = tried(left);
    const bool equals_true = (right.Val.getInt() != 0) == (binary->getOpcode() == clang::BO_EQ);
    if (inner && !equals_true) inner->held_if_true = !inner->held_if_true;
    return inner;
  }
  if (const VarDecl* variable = variable_in(condition)) {
    const auto at = state_.tries.find(variable);
    if (at == state_.tries.end()) return std::nullopt;
    return at->second;
  }
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(condition)) {
    auto does = unit_.lock_call(*call, scope());
    if (!does || does->kind != LockCall::Kind::kTryLock) return std::nullopt;
    if (does->guard != nullptr) {
      const auto at = state_.guards.find(does->guard);
      const clang::FunctionDecl* callee = call->getDirectCallee();
      const bool asks =
          llvm::isa<clang::CXXConversionDecl>(callee) || plain_name(*callee) == "owns_lock";
      if (at == state_.guards.end() || at->second.by_block || (asks && !at->second.tried)) {
        return std::nullopt;
      }
      does->locks = at->second.locks;
      does->is_shared = at->second.is_shared;
    }
    if (does->locks.size() != 1) return std::nullopt;
    return Try{.call = *does, .held_if_true = does->true_is_held};
  }
  return std::nullopt;
}

// Whether a guard that is asked holds its lock, if that is known here. The next round of a loop may
// find another answer.
std::optional<bool> Body::known_to_hold(const Expr* condition) {
  const auto* call = llvm::dyn_cast<clang::CallExpr>(condition);
  const auto does = call == nullptr ? std::nullopt : unit_.lock_call(*call, scope());
  if (!does || does->kind != LockCall::Kind::kTryLock || does->guard == nullptr) return {};
  const clang::FunctionDecl& callee = *call->getDirectCallee();
  const bool asks =
      llvm::isa<clang::CXXConversionDecl>(callee) || plain_name(callee) == "owns_lock";
  const auto at = state_.guards.find(does->guard);
  if (!asks || at == state_.guards.end() || at->second.tried || at->second.locks.empty() ||
      at->second.held == Held::kMaybe || std::ranges::any_of(blocks_, &Block::is_loop)) {
    return {};
  }
  return at->second.held == Held::kYes;
}

// The core decides by what is evaluated, not by its value.
ExprId Body::test_of(const Expr* condition) {
  const ExprId made = expr(condition, Use::kRead).id;
  return made != core::kNoExpr ? made : constant("\"?\"", condition->getBeginLoc());
}

void Body::branch(const Expr* condition, const Part& then_part, const Part& else_part,
                  SourceLocation at) {
  const Expr* test = plain(condition);
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(test);
      unary != nullptr && unary->getOpcode() == clang::UO_LNot && !tried(test)) {
    branch(unary->getSubExpr(), else_part, then_part, at);
    return;
  }
  const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(test);
  if (binary != nullptr && binary->isLogicalOp() && holds_try(test)) {
    const auto right = [&] { branch(binary->getRHS(), then_part, else_part, at); };
    if (binary->getOpcode() == clang::BO_LAnd) {
      branch(binary->getLHS(), right, else_part, at);
    } else {
      branch(binary->getLHS(), then_part, right, at);
    }
    return;
  }
  if (const auto holds = known_to_hold(test)) {
    nested(*holds ? then_part : else_part, at);
    return;
  }
  const auto asked = tried(test);
  ExprId decides = core::kNoExpr;
  if (asked) {
    const LockPath lock = settled(asked->call.locks[0], at);
    decides = taking(Kind::kTryLock, lock, condition->getBeginLoc(), asked->call.is_shared);
    taken_.push_back(lock);
  } else {
    decides = test_of(condition);
  }
  // A way that a constant bars does not lead on.
  const auto taken = constant_of(test);
  const auto barred = [&](const Part& part) {
    part();
    if (state_.reachable) diverge(at);
  };
  const Part barred_then = [&] { barred(then_part); };
  const Part barred_else = [&] { barred(else_part); };
  const Part& yes_part = taken && !*taken ? barred_then : then_part;
  const Part& no_part = taken && *taken ? barred_else : else_part;
  const Part& when_held = asked && !asked->held_if_true ? no_part : yes_part;
  const Part& otherwise = asked && !asked->held_if_true ? yes_part : no_part;
  const State before = state_;
  const ExprId no = block(otherwise, at);
  State after_no = state_;
  state_ = before;
  const VarDecl* guard = asked ? asked->call.guard : nullptr;
  const ExprId yes = block(
      [&] {
        if (guard != nullptr) {
          state_.guards[guard].held = Held::kYes;
          state_.guards[guard].tried = false;
        }
        when_held();
      },
      at);
  const State after_yes = state_;
  if (guard != nullptr) after_no.guards[guard].tried = false;
  join(decides, {yes, after_yes}, {no, after_no}, before, at);
}

void Body::loop(const Stmt& whole, const Expr* condition, const Part& body, SourceLocation at,
                bool test_last) {
  const bool endless = condition != nullptr && constant_of(condition).value_or(false);
  std::set<const VarDecl*> assigned;
  assigned_in(condition, assigned);
  const bool inside =
      condition != nullptr && !endless && (test_last || !assigned.empty() || holds_try(condition));
  // What could be taken in one round may be given back in the next.
  std::set<const VarDecl*> named;
  variables_in(&whole, named);
  if (changes_locks(&whole)) {
    std::erase_if(state_.tries, [&](const auto& one) { return named.contains(one.first); });
  }
  State before = state_;
  ExprId decides = core::kNoExpr;
  if (inside || endless) {
    decides = constant("true", at);
  } else if (condition == nullptr) {
    decides = constant("\"?\"", at);
  } else {
    forget_assigned(&whole);
    before = state_;
    decides = test_of(condition);
  }
  const auto leave_loop = [&] {
    emit(make(Kind::kBreak, at, {}));
    state_.reachable = false;
  };
  bool breaks = inside;
  const ExprId made = block(
      [&] {
        forget_assigned(&whole);
        if (inside && !test_last) {
          branch(condition, [&] { body(); }, leave_loop, at);
          return;
        }
        body();
        if (inside && state_.reachable) branch(condition, [] {}, leave_loop, at);
      },
      at, true);
  const State after = state_;
  emit(make(Kind::kWhile, at, {decides, made}));
  breaks |= std::ranges::any_of(whole.children(), has_break);
  meet(before, before, after);
  if (endless && !breaks) state_.reachable = false;
  // A guard that the test acquires is held when the loop is left.
  if (const auto asked = inside && !test_last ? tried(condition) : std::nullopt;
      asked && asked->call.guard != nullptr && !asked->held_if_true) {
    state_.guards[asked->call.guard].held = Held::kYes;
  }
}

void Body::range_loop(const clang::CXXForRangeStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  nested(
      [&] {
        if (of.getInit() != nullptr) statement(of.getInit());
        effect(of.getRangeInit());
        loop(
            of, nullptr,
            [&] {
              const VarDecl& element = *of.getLoopVariable();
              const core::Type type = unit_.type_of(element.getType());
              if (type.name != "int" && type.name != "void") {
                state_.variables[&element] = {.name = "x", .type = type};
                bind(element, null(at), at);
              } else if (element.getType()->isReferenceType()) {
                places_[&element] = of.getRangeInit();
              }
              statement(of.getBody());
            },
            at);
      },
      of.getEndLoc());
}

// What a function returns. A reference to a place that leads nowhere is not followed, nor is its
// address: whoever may change what is behind it changes the place.
Body::Value Body::lent(const Expr& result, const core::Type& type) {
  const clang::QualType returned = function_.getReturnType();
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(result.IgnoreParenCasts());
  const bool is_address = returned->isPointerType() && !returned->isFunctionPointerType() &&
                          address != nullptr && address->getOpcode() == clang::UO_AddrOf;
  const Expr* place = is_address ? address->getSubExpr() : &result;
  const bool is_lent =
      (returned->isLValueReferenceType() || is_address) && type.name == "int" && is_place(place);
  if (!is_lent) return expr(&result, Use::kRead);
  const bool is_const = returned->getPointeeType().isConstQualified();
  const Value made = expr(place, is_const ? Use::kRead : Use::kChange);
  lend(made.id);
  return made;
}

// Each case is one way, together with those that it falls into.
void Body::switch_statement(const clang::SwitchStmt& of) {
  const SourceLocation at = of.getBeginLoc();
  std::vector<std::vector<const Stmt*>> cases;
  bool has_default = false;
  const auto add = [&](const Stmt* child) {
    bool starts = false;
    while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(child)) {
      has_default |= llvm::isa<clang::DefaultStmt>(label);
      child = label->getSubStmt();
      starts = true;
    }
    if (starts || cases.empty()) cases.emplace_back();
    cases.back().push_back(child);
  };
  if (const auto* body = llvm::dyn_cast<clang::CompoundStmt>(of.getBody())) {
    std::ranges::for_each(body->body(), add);
  } else {
    add(of.getBody());
  }
  const std::size_t ways = cases.size() + (has_default ? 0 : 1);
  nested(
      [&] {
        blocks_.back().is_switch = true;
        if (of.getInit() != nullptr) statement(of.getInit());
        if (of.getConditionVariable() != nullptr) declaration(*of.getConditionVariable());
        effect(of.getCond());
        // Further than two, if it makes a difference.
        const bool is_long = !changes_locks(of.getBody());
        const auto run = [&](std::size_t i) {
          std::vector<const Stmt*> way;
          for (std::size_t j = i; j < cases.size(); ++j) {
            way.insert(way.end(), cases[j].begin(), cases[j].end());
            if ((is_long && j + 1 > i + 2) || ends_way(cases[j].back())) break;
          }
          case_way(way);
        };
        // Some half of them or the other, so that many cases are not nested deeply.
        const std::function<void(std::size_t, std::size_t)> choose = [&](std::size_t first,
                                                                         std::size_t last) {
          if (last - first <= 1) return run(first);
          const std::size_t middle = first + (last - first) / 2;
          const State before = state_;
          const ExprId yes = block([&] { choose(first, middle); }, at);
          const State after_yes = state_;
          state_ = before;
          const ExprId no = block([&] { choose(middle, last); }, at);
          join(constant("\"?\"", at), {yes, after_yes}, {no, state_}, before, at);
        };
        choose(0, ways);
      },
      of.getEndLoc());
}

void Body::case_way(llvm::ArrayRef<const Stmt*> way) {
  while (!way.empty()) {
    const Stmt* child = way.front();
    way = way.drop_front();
    if (!state_.reachable && !has_label(child)) continue;
    if (!llvm::isa<clang::BreakStmt>(child)) statement(child);
    if (!state_.reachable || !may_jump(child) || !std::ranges::any_of(way, changes_locks)) continue;
    maybe([&] { case_way(way); }, child->getEndLoc(), way.back()->getEndLoc());
    return;
  }
}

}  // namespace tomos::cpp
