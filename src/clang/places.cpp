#include "clang/places.h"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <iterator>

namespace tomos::cpp {

using clang::FunctionDecl;
using clang::SourceLocation;

namespace {

// The end of the token that begins there; of all that a macro makes, behind the macro.
SourceLocation behind(SourceLocation token, const clang::ASTContext& context) {
  if (token.isInvalid()) return {};
  const clang::SourceManager& manager = context.getSourceManager();
  const SourceLocation at = manager.getExpansionRange(token).getEnd();
  return clang::Lexer::getLocForEndOfToken(at, 0, manager, context.getLangOpts());
}

SourceLocation place_of_function(const FunctionDecl& of, const clang::ASTContext& context) {
  const FunctionDecl& first = *of.getFirstDecl();
  if (first.getLocation().isMacroID()) return {};
  const clang::FunctionTypeLoc type = first.getFunctionTypeLoc();
  if (!type) return {};
  if (is_lambda(of) && type.getLParenLoc().isInvalid()) {
    const clang::Stmt* body = of.getBody();
    return body == nullptr || body->getBeginLoc().isMacroID() ? SourceLocation()
                                                              : body->getBeginLoc();
  }
  const auto* prototype = first.getType()->getAs<clang::FunctionProtoType>();
  const bool trails = prototype != nullptr && prototype->hasTrailingReturn() && !is_lambda(of);
  // Behind the trailing type it would be an attribute of that type.
  if (trails) return first.getLocation();
  const SourceLocation last = type.getRParenLoc();
  return last.isMacroID() ? SourceLocation() : behind(last, context);
}

}  // namespace

SourceLocation place_of(const clang::ValueDecl& decl, const clang::ASTContext& context) {
  if (const auto* function = llvm::dyn_cast<FunctionDecl>(&decl)) {
    return place_of_function(*function, context);
  }
  if (decl.getLocation().isMacroID()) return {};
  // Behind the bounds of an array, the parameters of a function pointer, the width of a bit-field.
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(&decl);
  if (field != nullptr && field->isBitField()) {
    return behind(field->getBitWidth()->getEndLoc(), context);
  }
  const auto* declarator = llvm::dyn_cast<clang::DeclaratorDecl>(&decl);
  if (declarator != nullptr && declarator->getTypeSourceInfo() != nullptr) {
    const SourceLocation end = declarator->getTypeSourceInfo()->getTypeLoc().getEndLoc();
    if (end.isValid() &&
        context.getSourceManager().isBeforeInTranslationUnit(decl.getLocation(), end)) {
      return behind(end, context);
    }
  }
  return behind(decl.getLocation(), context);
}

SourceLocation begin_of(const FunctionDecl& function) {
  const SourceLocation begin = function.getFirstDecl()->getBeginLoc();
  return begin.isMacroID() ? SourceLocation() : begin;
}

bool is_pointer(clang::QualType type) {
  type = type.getNonReferenceType();
  if (type->isPointerType()) return true;
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition()) return false;
  const auto arrow = record->getASTContext().DeclarationNames.getCXXOperatorName(clang::OO_Arrow);
  return !record->lookup(arrow).empty() ||
         llvm::any_of(record->bases(), [](const auto& base) { return is_pointer(base.getType()); });
}

bool is_lambda(const FunctionDecl& function) {
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  return method != nullptr && method->getParent()->isLambda();
}

bool names_parts(const clang::Expr& expr) {
  const clang::Expr* of = expr.IgnoreParenCasts();
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(of);
  if (address != nullptr && address->getOpcode() == clang::UO_AddrOf) {
    of = address->getSubExpr()->IgnoreParenCasts();
  }
  const auto* record = of->getType()->getAsRecordDecl();
  if (record == nullptr || std::distance(record->field_begin(), record->field_end()) < 2) {
    return false;
  }
  if (llvm::isa<clang::MemberExpr>(of)) return true;
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(of);
  const auto* variable =
      name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
  return variable != nullptr && variable->hasGlobalStorage() &&
         !variable->getType()->isReferenceType();
}

}  // namespace tomos::cpp
