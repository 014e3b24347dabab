// Assertions that a lock is held, by whatever macro: assert(mu.is_locked()), ASSERT(lock.isHeld()).
//
// All come down to a test that ends the program where it fails. At the top of a function they say
// what the function requires of its callers, as attributes would.
#include "clang/body.h"

namespace tomos::cpp {

using clang::Expr;
using clang::Stmt;

namespace {

// A call in it, or an object's end.
bool never_returns(const Stmt* of) {
  if (of == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && callee->isNoReturn()) return true;
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {  // a log's last line
    const clang::CXXDestructorDecl* end = made->getTemporary()->getDestructor();
    if (end != nullptr && end->isNoReturn()) return true;
  }
  return llvm::any_of(of->children(), never_returns);
}

// As its last step, whatever comes before.
bool ends_program(const Stmt* of) {
  if (const auto* compound = llvm::dyn_cast_or_null<clang::CompoundStmt>(of)) {
    return !compound->body_empty() && ends_program(compound->body_back());
  }
  if (const auto* once = llvm::dyn_cast_or_null<clang::DoStmt>(of)) {
    return ends_program(once->getBody());
  }
  return llvm::isa_and_nonnull<Expr>(of) && never_returns(of);
}

// A truth, and whether it is wanted or its opposite.
struct Insisted {
  const Expr* on = nullptr;
  bool wanted = true;
};

Insisted simpler(Insisted of) {
  for (const Expr* before = nullptr; of.on != before;) {
    before = of.on;
    of.on = of.on->IgnoreParenCasts();
    const auto* negated = llvm::dyn_cast<clang::UnaryOperator>(of.on);
    if (negated != nullptr && negated->getOpcode() == clang::UO_LNot) {
      of = {.on = negated->getSubExpr(), .wanted = !of.wanted};
    }
    const auto* expected = llvm::dyn_cast<clang::CallExpr>(of.on);
    if (expected != nullptr && expected->getBuiltinCallee() == clang::Builtin::BI__builtin_expect) {
      of.on = expected->getArg(0);
    }
  }
  return of;
}

// What a statement insists on, if that is all it does.
Insisted insisted_on(const Stmt* of) {
  while (true) {
    if (const auto* whole = llvm::dyn_cast_or_null<Expr>(of)) of = whole->IgnoreParenCasts();
    const auto* once = llvm::dyn_cast_or_null<clang::DoStmt>(of);
    const auto* compound = llvm::dyn_cast_or_null<clang::CompoundStmt>(of);
    const auto* cleans = llvm::dyn_cast_or_null<clang::ExprWithCleanups>(of);
    if (once != nullptr) {
      of = once->getBody();
    } else if (compound != nullptr && compound->size() == 1) {
      of = compound->body_front();
    } else if (cleans != nullptr) {
      of = cleans->getSubExpr();
    } else {
      break;
    }
  }
  const auto one_fails = [](const Expr* condition, const Stmt* then, const Stmt* otherwise) {
    const bool fails = ends_program(then);
    return fails == ends_program(otherwise) ? Insisted{} : Insisted{condition, !fails};
  };
  if (const auto* tests = llvm::dyn_cast_or_null<clang::IfStmt>(of);
      tests != nullptr && !tests->isConsteval()) {
    return one_fails(tests->getCond(), tests->getThen(), tests->getElse());
  }
  if (const auto* chooses = llvm::dyn_cast_or_null<clang::ConditionalOperator>(of)) {
    return one_fails(chooses->getCond(), chooses->getTrueExpr(), chooses->getFalseExpr());
  }
  return {};
}

// is_locked, isHeld, IsHeldByCurrentThread, mutex_own
bool asks_for_holder(llvm::StringRef name) {
  const auto says = [&](llvm::StringRef word) { return name.contains_insensitive(word); };
  return (says("held") || says("locked") || says("own")) && !says("unlocked") && !says("not");
}

}  // namespace

// The locks that a statement insists are held.
std::vector<LockPath> Body::asserted_in(const Stmt& of) {
  std::vector<LockPath> found;
  std::vector<Insisted> open = {insisted_on(&of)};
  while (!open.empty()) {
    if (open.back().on == nullptr) break;
    const Insisted one = simpler(open.back());
    open.pop_back();
    const auto* both = llvm::dyn_cast<clang::BinaryOperator>(one.on);
    if (both != nullptr && both->getOpcode() == (one.wanted ? clang::BO_LAnd : clang::BO_LOr)) {
      open.push_back({both->getLHS(), one.wanted});
      open.push_back({both->getRHS(), one.wanted});
      continue;
    }
    const auto* asks = llvm::dyn_cast<clang::CallExpr>(one.on);
    const clang::FunctionDecl* callee = asks == nullptr ? nullptr : asks->getDirectCallee();
    if (!one.wanted || callee == nullptr || !callee->getDeclName().isIdentifier() ||
        !asks_for_holder(plain_name(*callee)) || unit_.lock_call(*asks, scope())) {
      continue;
    }
    const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(asks);
    const Expr* lock = member != nullptr         ? member->getImplicitObjectArgument()
                       : asks->getNumArgs() == 1 ? asks->getArg(0)
                                                 : nullptr;
    if (lock == nullptr || !unit_.lock_type(lock->getType())) continue;
    if (const auto path = unit_.path(lock, scope())) found.push_back(*path);
  }
  return found;
}

}  // namespace tomos::cpp
