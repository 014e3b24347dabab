// Expressions: places and values.
#include <algorithm>

#include "clang/transactions.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;
using tm::NodeId;

namespace {

constexpr unsigned kMostElements = 64;  // of an initializer list; the others are like them

std::string record_name(QualType type) {
  const clang::RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  return record == nullptr ? "" : record->getNameAsString();
}

// Nobody writes it.
bool is_constant(const Expr* of) {
  const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(of->IgnoreParens());
  const auto* variable_of = named == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(named->getDecl());
  return variable_of != nullptr && variable_of->hasGlobalStorage() &&
         variable_of->getType().isConstQualified() && variable_of->getType()->isScalarType() &&
         !variable_of->getType()->isPointerType();
}

bool is_std_class(QualType type) {
  const clang::RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  return record != nullptr && is_of_std(*record);
}

}  // namespace

bool TransactionUnit::is_foreign(QualType type) const {
  const clang::RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  return record != nullptr && is_foreign(*record);
}

bool TransactionUnit::is_object(QualType type) const {
  const clang::RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  return record != nullptr && !is_foreign(*record);
}

bool TransactionUnit::is_pointer_like(QualType type) {
  const std::string name = record_name(type);
  return name.find("terator") != std::string::npos || name.ends_with("_ptr") ||
         name == "reference_wrapper";
}

bool TransactionUnit::is_thread(QualType type) {
  const std::string name = record_name(type);
  return is_std_class(type) && (name == "thread" || name == "jthread");
}

std::string_view TransactionUnit::guard_kind(QualType type) {
  if (type->isReferenceType() || !is_std_class(type)) return {};
  const std::string name = record_name(type);
  for (const std::string_view kind : {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"}) {
    if (name == kind) return kind;
  }
  return {};
}

bool TransactionUnit::is_mutex(QualType type) {
  const std::string name = record_name(type);
  return is_std_class(type) && name.ends_with("mutex");
}

bool TransactionUnit::is_lock_tag(QualType type) {
  return is_std_class(type) && record_name(type).ends_with("lock_t");
}

NodeId TransactionUnit::this_value(SourceLocation at) {
  const NodeId self = load(local(0, at), at);
  if (reading_->lambda == nullptr) return self;
  return load(make(Kind::kField, at, {deref(self, at)}, "this"), at);
}

NodeId TransactionUnit::variable(const VarDecl& of, SourceLocation at) {
  const bool by_reference = of.getType()->isReferenceType();
  const auto referred = [&](NodeId where) {
    return by_reference ? deref(load(where, at), at) : where;
  };
  if (of.hasGlobalStorage()) {
    if (is_foreign(of)) return deref(constant(at), at);
    const NodeId where = make(Kind::kGlobal, at);
    program_.nodes[static_cast<std::size_t>(where)].number = global(of);
    return referred(where);
  }
  if (!reading_->slots.contains(&of)) {
    if (const auto field = captured(of, at)) return *field;
  }
  return referred(local(slot(of), at));
}

// Where a lambda has what it captured of the function around it.
std::optional<NodeId> TransactionUnit::captured(const clang::ValueDecl& of, SourceLocation at) {
  if (reading_->lambda == nullptr) return std::nullopt;
  for (const clang::LambdaCapture& capture : reading_->lambda->captures()) {
    if (!capture.capturesVariable() || capture.getCapturedVar() != &of) continue;
    const NodeId closure_at = deref(load(local(0, at), at), at);
    const NodeId field = make(Kind::kField, at, {closure_at}, of.getNameAsString());
    const bool by_reference =
        capture.getCaptureKind() == clang::LCK_ByRef || of.getType()->isReferenceType();
    return by_reference ? deref(load(field, at), at) : field;
  }
  return std::nullopt;
}

NodeId TransactionUnit::place(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  if (of->isInstantiationDependent()) return deref(dependent(*of), at);
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
    const std::size_t first = ends_.size();
    const NodeId inner = place(whole->getSubExpr());
    return ends_.size() == first ? inner : deref(ended(address(inner, at), first, at), at);
  }
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
    return place(brackets->getSubExpr());
  }
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {
    return place(bound->getSubExpr());
  }
  if (const auto* argument_of = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(of)) {
    return place(argument_of->getReplacement());
  }
  if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(of)) {
    if (opaque->getSourceExpr() != nullptr) return place(opaque->getSourceExpr());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(of)) {
    return place(fallback->getExpr());
  }
  if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(of)) {
    const Expr* inner = kept->getSubExpr();
    const bool is_ended = holds_guard(inner->getType()) || ends_lock(inner->getType());
    if (is_ended && kept->getStorageDuration() == clang::SD_FullExpression) {
      return temporary_of(inner);
    }
    if (is_object(inner->getType())) return deref(value(inner), at);
    const NodeId temp = local(temporary(), at);
    const NodeId set = make(Kind::kAssign, at, {temp, value(inner)});
    return deref(make(Kind::kSequence, at, {set, address(temp, at)}), at);
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    if (const auto* named = llvm::dyn_cast<VarDecl>(reference->getDecl())) {
      return variable(*named, at);
    }
    if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(reference->getDecl())) {
      if (const auto field = captured(*binding, at)) return *field;
      if (const VarDecl* holds = binding->getHoldingVar()) return variable(*holds, at);
      if (binding->getBinding() != nullptr) return place(binding->getBinding());
    }
    const bool is_function = llvm::isa<clang::FunctionDecl>(reference->getDecl());
    return deref(is_function ? value(of) : constant(at), at);
  }
  if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(of)) {
    if (const auto* shared = llvm::dyn_cast<VarDecl>(part->getMemberDecl())) {
      return variable(*shared, at);
    }
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
    if (field == nullptr) return deref(operands(of), at);
    const NodeId base =
        part->isArrow() ? deref(value(part->getBase()), at) : place(part->getBase());
    if (is_foreign(*field->getParent())) return base;
    const NodeId inner = make(Kind::kField, part->getMemberLoc(), {base}, field_name(*field));
    return field->getType()->isReferenceType() ? deref(load(inner, at), at) : inner;
  }
  if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(of)) {
    const NodeId index = value(element->getIdx());
    const Expr* base = element->getBase()->IgnoreParens();
    const auto* decays = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
    if (decays != nullptr && decays->getCastKind() == clang::CK_ArrayToPointerDecay) {
      return make(Kind::kElement, at, {place(decays->getSubExpr()), index});
    }
    return deref(make(Kind::kOperator, at, {value(base), index}), at);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    if (unary->getOpcode() == clang::UO_Deref) return deref(value(unary->getSubExpr()), at);
    if (unary->isIncrementDecrementOp()) {
      return deref(make(Kind::kSequence, at, {value(of), address(place(unary->getSubExpr()), at)}),
                   at);
    }
    if (of->isGLValue()) return place(unary->getSubExpr());  // __extension__, __real__
  }
  if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(of)) {
    if (pair->isAssignmentOp()) {
      return deref(make(Kind::kSequence, at, {binary(*pair), address(place(pair->getLHS()), at)}),
                   at);
    }
    if (pair->getOpcode() == clang::BO_Comma) {
      return deref(make(Kind::kSequence, at,
                        {discarded(pair->getLHS()), address(place(pair->getRHS()), at)}),
                   at);
    }
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(of);
      choice != nullptr && of->isGLValue()) {
    return deref(make(Kind::kIf, at,
                      {value(choice->getCond()), address(place(choice->getTrueExpr()), at),
                       address(place(choice->getFalseExpr()), at)}),
                 at);
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of)) {
    if (of->isGLValue() && cast->getSubExpr()->isGLValue()) return place(cast->getSubExpr());
  }
  return deref(value(of), at);
}

NodeId TransactionUnit::number(const llvm::APInt& of, SourceLocation at) {
  const NodeId made = constant(at);
  if (of.isIntN(31)) {
    tm::Node& node = program_.nodes[static_cast<std::size_t>(made)];
    node.known = true;
    node.number = static_cast<std::uint32_t>(of.getZExtValue());
  }
  return made;
}

// What they are made of is used, and nothing else is known.
NodeId TransactionUnit::operands(llvm::ArrayRef<const Expr*> list, SourceLocation at) {
  std::vector<NodeId> parts;
  for (const Expr* one : list) {
    const bool is_read =
        one->isGLValue() && !is_object(one->getType()) && !one->getType()->isFunctionType();
    parts.push_back(is_read ? load(place(one), at) : value(one));
  }
  return make(Kind::kOperator, at, std::move(parts));
}

NodeId TransactionUnit::operands(const Expr* of) {
  std::vector<NodeId> parts;
  for (const clang::Stmt* child : of->children()) {
    if (const auto* inner = llvm::dyn_cast_or_null<Expr>(child)) parts.push_back(value(inner));
  }
  return make(Kind::kOperator, of->getExprLoc(), std::move(parts));
}

NodeId TransactionUnit::construct(NodeId to, const clang::CXXConstructExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  const clang::CXXConstructorDecl& constructor = *of.getConstructor();
  if (constructor.isCopyOrMoveConstructor() && !constructor.isUserProvided() &&
      of.getNumArgs() >= 1) {
    return make(Kind::kCopy, at, {to, place(of.getArg(0))}, class_name(*constructor.getParent()));
  }
  if (constructor.isTrivial() && of.getNumArgs() == 0) return constant(at);
  std::vector<NodeId> children = {address(to, at)};
  for (unsigned i = 0; i < of.getNumArgs(); ++i) {
    const QualType parameter =
        i < constructor.getNumParams() ? constructor.getParamDecl(i)->getType() : QualType();
    children.push_back(argument(of.getArg(i), parameter));
  }
  return make(Kind::kCall, at, std::move(children), declare(constructor));
}

// What is there is not read: it is new.
NodeId TransactionUnit::initialize(NodeId to, QualType type, const Expr* with) {
  const SourceLocation at = with->getExprLoc();
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(with)) {
    const std::size_t first = ends_.size();
    const NodeId made = initialize(to, type, whole->getSubExpr());
    return ended(made, first, at);
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(with)) {
    return initialize(to, type, fallback->getExpr());
  }
  if (type->isReferenceType()) return make(Kind::kAssign, at, {to, address(place(with), at)});
  const Expr* plain = with->IgnoreImplicit();
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(plain);
  if (type->isArrayType()) {
    std::vector<NodeId> parts;
    const auto element = [&] { return make(Kind::kElement, at, {to}); };
    const QualType inner = context_.getAsArrayType(type)->getElementType();
    if (list != nullptr) {
      const bool all = list->getNumInits() <= kMostElements;
      for (unsigned i = 0; i < std::min(list->getNumInits(), kMostElements); ++i) {
        const NodeId one = all ? make(Kind::kElement, at, {to, number(i, at)}) : element();
        parts.push_back(initialize(one, inner, list->getInit(i)));
      }
    } else if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(plain)) {
      if (is_object(made->getType())) parts.push_back(construct(element(), *made));
    }
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (!is_object(type)) return make(Kind::kAssign, at, {to, value(with)});
  if (list != nullptr) {
    if (list->getNumInits() == 1 && list->isTransparent()) {
      return initialize(to, type, list->getInit(0));
    }
    std::vector<NodeId> parts;
    const clang::RecordDecl* record = type->getAsRecordDecl()->getDefinition();
    unsigned i = 0;
    if (const auto* cxx = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(record)) {
      for (unsigned bases = 0; bases < cxx->getNumBases() && i < list->getNumInits(); ++bases) {
        parts.push_back(initialize(to, list->getInit(i)->getType(), list->getInit(i)));
        ++i;
      }
    }
    for (const clang::FieldDecl* field : record->fields()) {
      if (i >= list->getNumInits()) break;
      if (field->isUnnamedBitField()) continue;
      const NodeId inner = make(Kind::kField, at, {to}, field_name(*field));
      parts.push_back(initialize(inner, field->getType(), list->getInit(i++)));
    }
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(plain)) {
    return construct(to, *made);
  }
  return make(Kind::kCopy, at, {to, place(with)}, class_name(*type->getAsRecordDecl()));
}

// An object that an expression makes, in a variable of its own; its address.
NodeId TransactionUnit::made_object(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  const NodeId temp = local(temporary(), at);
  return make(Kind::kSequence, at, {initialize(temp, of->getType(), of), address(temp, at)});
}

NodeId TransactionUnit::allocate(const clang::CXXNewExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  const NodeId temp = local(temporary(), at);
  // Where it is told to, if it is told a place.
  const Expr* const given = of.getNumPlacementArgs() == 1 ? of.getPlacementArg(0) : nullptr;
  const bool is_told = given != nullptr && given->getType()->isPointerType();
  std::vector<NodeId> parts = {
      make(Kind::kAssign, at, {temp, is_told ? value(given) : make(Kind::kNew, at)})};
  if (const auto size = of.getArraySize(); size && *size != nullptr) parts.push_back(value(*size));
  const NodeId object = deref(load(temp, at), at);
  const QualType type = of.getAllocatedType();
  if (const clang::CXXConstructExpr* made = of.getConstructExpr();
      made != nullptr && is_object(type)) {
    parts.push_back(construct(object, *made));
  } else if (of.hasInitializer() && !of.isArray()) {
    parts.push_back(initialize(object, type, of.getInitializer()));
  }
  parts.push_back(load(temp, at));
  return make(Kind::kSequence, at, std::move(parts));
}

// A new object for one thread alone.
NodeId TransactionUnit::own_object(SourceLocation at) {
  return program_.add({.kind = Kind::kNew, .quiet = true, .position = position(at)});
}

NodeId TransactionUnit::closure(const clang::LambdaExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  const NodeId temp = local(temporary(), at);
  const NodeId object = deref(load(temp, at), at);
  std::vector<NodeId> parts = {make(Kind::kAssign, at, {temp, own_object(at)})};
  const auto field = [&](std::string name) {
    return make(Kind::kField, at, {object}, std::move(name));
  };
  auto with = of.capture_init_begin();
  for (const clang::LambdaCapture& capture : of.captures()) {
    const Expr* init = *with++;
    if (capture.capturesThis()) {
      parts.push_back(make(Kind::kAssign, at, {field("this"), this_value(at)}));
    } else if (capture.capturesVariable()) {
      const clang::ValueDecl& named = *capture.getCapturedVar();
      const auto* of_variable = llvm::dyn_cast<VarDecl>(&named);  // or a structured binding
      const NodeId to = field(named.getNameAsString());
      if (of_variable != nullptr && of_variable->isInitCapture()) {
        parts.push_back(initialize(to, named.getType(), of_variable->getInit()));
      } else if (capture.getCaptureKind() == clang::LCK_ByRef ||
                 named.getType()->isReferenceType()) {
        const NodeId where = of_variable != nullptr ? variable(*of_variable, at) : place(init);
        parts.push_back(make(Kind::kAssign, at, {to, address(where, at)}));
      } else {
        parts.push_back(initialize(to, named.getType(), init));
      }
    }
  }
  const std::string name = read_lambda(of);
  if (!name.empty()) {
    parts.push_back(make(Kind::kAssign, at, {field("()"), make(Kind::kFunction, at, {}, name)}));
  }
  parts.push_back(load(temp, at));
  return make(Kind::kSequence, at, std::move(parts));
}

NodeId TransactionUnit::negated_if(bool negated, NodeId id) {
  program_.nodes[static_cast<std::size_t>(id)].negated = negated;
  return id;
}

NodeId TransactionUnit::binary(const clang::BinaryOperator& of) {
  const SourceLocation at = of.getOperatorLoc();
  if (of.isCompoundAssignmentOp()) {
    return make(Kind::kUpdate, of.getBeginLoc(), {place(of.getLHS()), value(of.getRHS())});
  }
  if (of.isAssignmentOp()) {
    if (is_object(of.getType())) {
      return make(Kind::kCopy, at, {place(of.getLHS()), place(of.getRHS())},
                  class_name(*of.getType()->getAsRecordDecl()));
    }
    return make(Kind::kAssign, of.getLHS()->getExprLoc(), {place(of.getLHS()), value(of.getRHS())});
  }
  const bool is_list = of.getOpcode() == clang::BO_Comma;
  const NodeId left = is_list ? discarded(of.getLHS()) : value(of.getLHS());
  const NodeId right = value(of.getRHS());
  if (is_list) return make(Kind::kSequence, at, {left, right});
  if (of.isEqualityOp()) {
    return negated_if(of.getOpcode() == clang::BO_NE, make(Kind::kCompare, at, {left, right}));
  }
  if (of.isLogicalOp()) {
    return negated_if(of.getOpcode() == clang::BO_LOr, make(Kind::kIf, at, {left, right}));
  }
  return make(Kind::kOperator, at, {left, right});
}

NodeId TransactionUnit::value(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  if (of->isInstantiationDependent()) return dependent(*of);
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
    const std::size_t first = ends_.size();
    const NodeId inner = value(whole->getSubExpr());
    return ended(inner, first, at);
  }
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
    return value(brackets->getSubExpr());
  }
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {
    return value(bound->getSubExpr());
  }
  if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(of)) {
    return value(rewritten->getSemanticForm());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(of)) {
    return value(fallback->getExpr());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(of)) {
    return value(fallback->getExpr());
  }
  if (const auto* argument_of = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(of)) {
    return value(argument_of->getReplacement());
  }
  if (const auto* opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(of)) {
    return opaque->getSourceExpr() == nullptr ? constant(at) : value(opaque->getSourceExpr());
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(of)) return closure(*lambda);
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(of)) return call(*called);
  if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(of)) {
    return value(kept->getSubExpr());
  }
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(of)) {
    if (is_object(of->getType())) return made_object(of);
    const std::vector<const Expr*> arguments(made->arg_begin(), made->arg_end());
    if (holds_guard(of->getType())) {
      return made_guard(arguments, guard_kind(of->getType()) == "shared_lock", at);
    }
    if (is_thread(of->getType()) && !arguments.empty() && !is_thread(arguments[0]->getType())) {
      return fork(arguments, at);
    }
    // A copy, a smart pointer, a function object: what it is made from.
    std::vector<NodeId> parts;
    parts.reserve(arguments.size());
    for (const Expr* one : arguments) {
      parts.push_back(is_foreign(one->getType()) && one->isGLValue() ? load(place(one), at)
                                                                     : value(one));
    }
    return make(Kind::kOperator, at, std::move(parts));
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(of)) {
    if (is_object(of->getType())) return made_object(of);
    return operands(list);
  }
  if (const auto* allocated = llvm::dyn_cast<clang::CXXNewExpr>(of)) return allocate(*allocated);
  if (const auto* gone = llvm::dyn_cast<clang::CXXDeleteExpr>(of);
      gone != nullptr && holds_guard(gone->getDestroyedType())) {
    return unlock_of(deref(value(gone->getArgument()), at), at);
  }
  if (llvm::isa<clang::CXXThisExpr>(of)) return this_value(at);
  if (const auto* literal = llvm::dyn_cast<clang::IntegerLiteral>(of)) {
    return number(literal->getValue(), at);
  }
  if (const auto* literal = llvm::dyn_cast<clang::CXXBoolLiteralExpr>(of)) {
    return number(literal->getValue() ? 1 : 0, at);
  }
  if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl())) {
      return make(Kind::kFunction, at, {}, declare(*function));
    }
    if (const auto* one = llvm::dyn_cast<clang::EnumConstantDecl>(reference->getDecl())) {
      return number(one->getInitVal(), at);
    }
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of)) {
    const Expr* inner = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case clang::CK_LValueToRValue:
        if (is_constant(inner)) return constant(at);
        return is_object(of->getType()) ? made_object(inner) : load(place(inner), at);
      case clang::CK_ArrayToPointerDecay:
        return address(make(Kind::kElement, at, {place(inner)}), at);
      case clang::CK_FunctionToPointerDecay:
        return value(inner);
      case clang::CK_ToVoid:
        return inner->isGLValue() ? address(place(inner), at) : discarded(inner);
      default:
        if (of->isGLValue()) return address(place(of), at);
        return value(inner);
    }
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    if (unary->getOpcode() == clang::UO_AddrOf) {
      const Expr* inner = unary->getSubExpr()->IgnoreParens();
      const auto* named = llvm::dyn_cast<clang::DeclRefExpr>(inner);
      if (named != nullptr && llvm::isa<clang::FunctionDecl>(named->getDecl())) {
        return value(inner);
      }
      return address(place(inner), at);
    }
    if (unary->isIncrementDecrementOp()) {
      return make(Kind::kUpdate, unary->getSubExpr()->getExprLoc(),
                  {place(unary->getSubExpr()), constant(at)});
    }
    if (of->isGLValue()) return address(place(of), at);
    return negated_if(unary->getOpcode() == clang::UO_LNot,
                      make(Kind::kOperator, at, {value(unary->getSubExpr())}));
  }
  if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(of)) return binary(*pair);
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(of)) {
    if (of->isGLValue()) return address(place(of), at);
    return make(
        Kind::kIf, at,
        {value(choice->getCond()), value(choice->getTrueExpr()), value(choice->getFalseExpr())});
  }
  if (const auto* marked = llvm::dyn_cast<clang::StmtExpr>(of)) {
    const auto* body = marked->getSubStmt();
    const auto* first =
        body->body_empty() ? nullptr : llvm::dyn_cast<clang::DeclStmt>(body->body_front());
    const auto* label = first != nullptr && first->isSingleDecl()
                            ? llvm::dyn_cast<clang::TypedefDecl>(first->getSingleDecl())
                            : nullptr;
    const NodeId inside = statement(body);
    return label != nullptr && label->getName() == "tomos_tm_atomic"
               ? atomic(inside, at, of->getEndLoc())
               : inside;
  }
  if (const auto* atomics = llvm::dyn_cast<clang::AtomicExpr>(of)) {
    std::vector<NodeId> others;
    for (const clang::Stmt* child : of->children()) {
      const auto* inner = llvm::dyn_cast_or_null<Expr>(child);
      if (inner != nullptr && inner != atomics->getPtr()) others.push_back(value(inner));
    }
    const NodeId with = make(Kind::kOperator, at, std::move(others));
    const NodeId made = make(Kind::kUpdate, at, {deref(value(atomics->getPtr()), at), with});
    program_.nodes[static_cast<std::size_t>(made)].quiet = true;
    return made;
  }
  if (const auto* thrown = llvm::dyn_cast<clang::CXXThrowExpr>(of)) {
    std::vector<NodeId> parts;
    if (thrown->getSubExpr() != nullptr) parts.push_back(value(thrown->getSubExpr()));
    parts.push_back(make(Kind::kReturn, at));
    return make(Kind::kSequence, at, std::move(parts));
  }
  if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(of) || llvm::isa<clang::CXXTypeidExpr>(of) ||
      llvm::isa<clang::CXXNoexceptExpr>(of) || llvm::isa<clang::StringLiteral>(of)) {
    return constant(at);
  }
  if (of->isGLValue() && (llvm::isa<clang::DeclRefExpr>(of) || llvm::isa<clang::MemberExpr>(of) ||
                          llvm::isa<clang::ArraySubscriptExpr>(of))) {
    return address(place(of), at);
  }
  return operands(of);
}

}  // namespace tomos::cpp
