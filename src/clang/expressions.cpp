// Expressions: which fields and globals they read and change. What is changed inside an object
// that is part of another changes that one, too: its bytes are there.
#include <algorithm>

#include "clang/body.h"
#include "clang/places.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;
using core::ExprId;
using Kind = core::Expr::Kind;

namespace {

bool leads_on(QualType type) { return type->isPointerType() || type->isReferenceType(); }

}  // namespace

const clang::UnaryOperator* address_in(const Expr* of) {
  const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of->IgnoreParenCasts());
  return unary != nullptr && unary->getOpcode() == clang::UO_AddrOf ? unary : nullptr;
}

// Parts.

Body::Value Body::then(ExprId first, const Value& second, SourceLocation at) {
  if (first == core::kNoExpr) return second;
  const bool is_value_of = second.is_value && second.id != core::kNoExpr;
  return {.id = sequence({first, second.id}, at), .type = second.type, .is_value = is_value_of};
}

// Some value of the type, after the effects.
Body::Value Body::opaque(const core::Type& type, ExprId effects) {
  return {.id = effects, .type = type, .is_value = false};
}

// As a value of the type, for an argument or an assignment.
ExprId Body::coerce(const Value& value, const core::Type& wanted, SourceLocation at) {
  if (value.id != core::kNoExpr && value.is_value) {
    if (is_value(wanted) ? value.type.name == "int" : unit_.derives(value.type.name, wanted.name)) {
      return value.id;
    }
  }
  const ExprId some = is_value(wanted) ? constant("0", at) : value.gone ? gone(at) : null(at);
  if (value.gone && !is_value(wanted)) {
    return value.id == core::kNoExpr ? some : make(Kind::kSequence, at, {value.id, some});
  }
  return value.id == core::kNoExpr ? some : make(Kind::kSequence, at, {value.id, some});
}

// As an object of the class, to use its members.
ExprId Body::object(const Value& value, const core::Type& wanted, SourceLocation at) {
  const bool is_object =
      value.id != core::kNoExpr && value.is_value && unit_.derives(value.type.name, wanted.name);
  if (is_object && !value.may_be_another) return value.id;
  const std::string some = fresh("some");
  return program_.add(
      {.kind = Kind::kLet,
       .position = unit_.position(at),
       .name = some,
       .children = {is_object ? value.id : coerce(value, wanted, at), name(some, at)},
       .type = wanted});
}

void Body::effect(const Expr* of, Use use) { emit(expr(of, use).id); }

// Places.

Body::Value Body::variable(const VarDecl& of, Use use, SourceLocation at) {
  const core::Type type = unit_.type_of(of.getType());
  if (use == Use::kMove) use = Use::kChange;
  if (of.hasGlobalStorage()) {
    if (of.getTLSKind() != VarDecl::TLS_None) return opaque(type, core::kNoExpr);
    if (unit_.is_foreign(of) && is_value(type)) return {};
    unit_.declare_global(of);
    const bool constant = of.getType().isConstQualified() || of.isConstexpr();
    if (is_value(type) && constant && !leads_on(of.getType())) return {};
    const ExprId place = name(unit_.global_name(of), at);
    const clang::RecordDecl* record = of.getType()->getAsRecordDecl();
    const bool looks_after_itself =
        unit_.lock_type(of.getType()) || (record != nullptr && unit_.owns_locks(*record));
    if (use == Use::kChange && !looks_after_itself && !constant &&
        !of.getType()->isReferenceType()) {
      return {.id = make(Kind::kUpdate, at, {place, null(at)}), .type = type};
    }
    if (use == Use::kName && is_value(type)) return {};
    return {.id = place, .type = type};
  }
  if (const auto place = places_.find(&of); place != places_.end()) {
    ++renaming_;
    const ExprId named = expr(place->second, use).id;
    --renaming_;
    return opaque(type, named);
  }
  const auto known = state_.variables.find(&of);
  if (known == state_.variables.end()) return opaque(type, core::kNoExpr);
  Value value = known->second.name.empty()
                    ? opaque(known->second.type, core::kNoExpr)
                    : Value{.id = name(known->second.name, at), .type = known->second.type};
  if (use != Use::kChange || !is_pointer_itself(of.getType())) return value;
  // Where it leads to afterwards nobody knows.
  const auto stands_for = pointers_.find(&of);
  const ExprId changed =
      stands_for == pointers_.end() ? core::kNoExpr : expr(stands_for->second, use).id;
  forget(of);
  return then(changed, value, at);
}

// A pointer or a reference to one, not a reference to an object.
bool Body::is_pointer_itself(QualType type) {
  type = type.getNonReferenceType();
  const auto* record = type->getAsCXXRecordDecl();
  if (record == nullptr) return type->isPointerType();
  if (unit_.lock_type(type)) return Unit::object_type(type)->getAsRecordDecl() != record;
  return unit_.is_foreign(*record) || Unit::is_pointer_class(*record);
}

Body::Value Body::member(const clang::MemberExpr& of, Use use) {
  const SourceLocation at = of.getMemberLoc();
  const bool moves = use == Use::kMove;
  if (moves) use = Use::kChange;
  const bool by_pointer = of.isArrow() && !is_arrow_of_class(of);
  const Use use_of_base = use == Use::kChange && !by_pointer ? Use::kChange
                          : of.isArrow()                     ? Use::kRead
                                                             : Use::kName;
  const core::Type type = unit_.type_of(of.getType());
  if (const auto* variable_of = llvm::dyn_cast<VarDecl>(of.getMemberDecl())) {
    return variable(*variable_of, use, at);
  }
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(of.getMemberDecl());
  if (field == nullptr) return opaque(type, expr(of.getBase(), use_of_base).id);
  const clang::RecordDecl& record = *field->getParent();
  const core::Type owner = unit_.type_of(unit_.context.getRecordType(&record));
  const auto* of_class = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
  const bool inside_lock =
      of_class != nullptr && (unit_.is_lock_class(record) || unit_.is_guard_class(record));
  if (unit_.is_foreign(record) || inside_lock || is_value(owner)) {
    // A part of something that the core does not look into: who names an object in it reads it.
    const bool reads = by_pointer || (use == Use::kName && !is_value(type));
    const Use whole = reads ? Use::kRead : use;
    return opaque(type, expr(of.getBase(), whole).id);
  }
  const Named* known = named(of.getBase());
  const Value base = known != nullptr ? Value{.id = name(known->name, at), .type = known->type}
                                      : expr(of.getBase(), use_of_base);
  const ExprId of_object = object(base, owner, at);
  const QualType declared = field->getType();
  const bool refers = declared->isReferenceType();
  const QualType element = unit_.context.getBaseElementType(declared);
  const clang::RecordDecl* held = element->getAsRecordDecl();
  const bool fixed = unit_.lock_type(element) ||
                     (held != nullptr && !unit_.is_foreign(*held) && unit_.owns_locks(*held)) ||
                     declared.isConstQualified();
  const ExprId place = make(Kind::kField, at, {of_object}, unit_.field_name(*field));
  const bool is_known = unit_.field_type(*field) == type;
  if (use == Use::kChange && !refers && !fixed) {
    const ExprId changed = make(Kind::kUpdate, at, {place, moves ? gone(at) : null(at)});
    if (is_value(type) || !is_known) return opaque(type, changed);
    // Still the same object.
    const ExprId again = make(Kind::kField, at, {of_object}, unit_.field_name(*field));
    return {.id = make(Kind::kSequence, at, {changed, again}),
            .type = type,
            .may_be_another = Unit::may_be_of_another_class(*field)};
  }
  // To name a place is to read it only where it leads to an object.
  const bool by_value = !leads_on(declared) && is_value(type);
  if (use == Use::kName && !refers && (by_value || declared->isPointerType())) {
    return opaque(type, of_object);
  }
  return {.id = place,
          .type = type,
          .is_value = is_known,
          .may_be_another = is_known && Unit::may_be_of_another_class(*field)};
}

Body::Value Body::assign(const Expr* to, Value value, bool update, SourceLocation at) {
  to = to->IgnoreParens();
  const Kind kind = update ? Kind::kUpdate : Kind::kAssign;
  const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(to);
  const auto* variable_of =
      reference == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(reference->getDecl());
  if (variable_of != nullptr) forget_objects(*variable_of);
  if (variable_of != nullptr && !variable_of->hasGlobalStorage()) {
    const auto known = state_.variables.find(variable_of);
    if (known == state_.variables.end()) {
      if (places_.contains(variable_of)) return then(value.id, expr(to, Use::kChange), at);
      return value;
    }
    if (known->second.is_object) return then(value.id, expr(to, Use::kName), at);
    if (const auto place = pointers_.find(variable_of); place != pointers_.end()) {
      emit(assign(place->second, value, update, at).id);
      forget(*variable_of);
      return expr(to, Use::kName);
    }
    if (conditional_ > 0 || update) {
      emit(value.id);
      forget(*variable_of);
    } else {
      bind(*variable_of, coerce(value, known->second.type, at), at);
    }
    return expr(to, Use::kName);
  }
  if (variable_of != nullptr && variable_of->getTLSKind() == VarDecl::TLS_None &&
      !variable_of->getType()->isReferenceType() && !unit_.is_foreign(*variable_of)) {
    unit_.declare_global(*variable_of);
    core::Type type = unit_.type_of(variable_of->getType());
    if (variable_of->getType()->isArrayType()) type.name = "int";
    const ExprId place = name(unit_.global_name(*variable_of), at);
    return {.id = make(kind, at, {place, coerce(value, type, at)}), .type = type};
  }
  if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(to)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
    if (field != nullptr && !field->getType()->isReferenceType() &&
        !field->getType().isConstQualified()) {
      const clang::RecordDecl& record = *field->getParent();
      const core::Type owner = unit_.type_of(unit_.context.getRecordType(&record));
      if (!unit_.is_foreign(record) && !is_value(owner) && !unit_.is_lock_class(record)) {
        const Named* known = named(part->getBase());
        const Value base =
            known != nullptr
                ? Value{.id = name(known->name, at), .type = known->type}
                : expr(part->getBase(),
                       part->isArrow() && !is_arrow_of_class(*part) ? Use::kRead : Use::kChange);
        const ExprId place = make(Kind::kField, part->getMemberLoc(), {object(base, owner, at)},
                                  unit_.field_name(*field));
        const core::Type type = unit_.field_type(*field);
        return {.id = make(kind, part->getMemberLoc(), {place, coerce(value, type, at)}),
                .type = type};
      }
    }
  }
  return then(value.id, expr(to, Use::kChange), at);
}

// Expressions.

Body::Value Body::conditional(const clang::AbstractConditionalOperator& of, Use use) {
  const SourceLocation at = of.getBeginLoc();
  const core::Type type = unit_.type_of(of.getType());
  // Who names a place again does not ask again which it is.
  const Value test = renaming_ > 0 ? Value{} : expr(of.getCond(), Use::kRead);
  if (use != Use::kChange) use = Use::kRead;
  ++conditional_;
  const Value yes = expr(of.getTrueExpr(), use);
  const Value no = expr(of.getFalseExpr(), use);
  --conditional_;
  if (yes.id == core::kNoExpr && no.id == core::kNoExpr) return opaque(type, test.id);
  const auto part = [&](const Value& value) {
    return value.id != core::kNoExpr ? value.id : make(Kind::kSequence, at, {});
  };
  const ExprId choice =
      make(Kind::kIf, at, {coerce(test, {.name = "int"}, at), part(yes), part(no)});
  return opaque(type, choice);
}

// __atomic_load and the like: what they are used on is atomic, though its type does not say so.
Body::Value Body::atomic_builtin(const clang::AtomicExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  std::vector<ExprId> effects;
  for (const clang::Stmt* child : of.children()) {
    const auto* argument = llvm::dyn_cast_or_null<Expr>(child);
    if (argument == nullptr) continue;
    if (argument == of.getPtr()) {
      const auto* address = llvm::dyn_cast<clang::UnaryOperator>(argument->IgnoreParenCasts());
      if (address != nullptr && address->getOpcode() == clang::UO_AddrOf) {
        const auto* part = llvm::dyn_cast<clang::MemberExpr>(address->getSubExpr()->IgnoreParens());
        const auto* field =
            part == nullptr ? nullptr : llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
        if (field != nullptr && !unit_.is_foreign(*field)) unit_.mark_atomic(*field);
        const auto op = of.getOp();
        const bool loads = op == clang::AtomicExpr::AO__atomic_load ||
                           op == clang::AtomicExpr::AO__atomic_load_n ||
                           op == clang::AtomicExpr::AO__c11_atomic_load;
        effects.push_back(expr(address->getSubExpr(), loads ? Use::kRead : Use::kChange).id);
        continue;
      }
    }
    effects.push_back(expr(argument, Use::kRead).id);
  }
  return opaque(unit_.type_of(of.getType()), sequence(std::move(effects), at));
}

Body::Value Body::construct(const clang::CXXConstructExpr& of) {
  const SourceLocation at = of.getBeginLoc();
  const clang::CXXConstructorDecl& constructor = *of.getConstructor();
  const core::Type type = unit_.type_of(of.getType());
  const std::vector<const Expr*> arguments(of.arg_begin(), of.arg_end());
  const clang::CXXRecordDecl& record = *constructor.getParent();
  std::vector<ExprId> effects;
  if (unit_.is_foreign(record) || record.isLambda() || Unit::is_pointer_class(record)) {
    const bool thread = is_of_std(record) && record.getDeclName().isIdentifier() &&
                        (plain_name(record) == "thread" || plain_name(record) == "jthread");
    if (thread && !arguments.empty()) {
      const llvm::ArrayRef<const Expr*> rest = llvm::ArrayRef(arguments).drop_front();
      for (const Expr* argument : rest) effects.push_back(expr(argument, Use::kRead).id);
      const ExprId forked = callback(arguments[0], rest, Runs::kLater);
      effects.push_back(forked != core::kNoExpr ? forked : expr(arguments[0], Use::kRead).id);
      return opaque(type, sequence(std::move(effects), at));
    }
    // A smart pointer is what it is made from.
    if (!is_value(type) && arguments.size() == 1) {
      Value from = expr(arguments[0], Use::kRead);
      if (unit_.derives(from.type.name, type.name)) return from;
      return opaque(type, from.id);
    }
    arguments_effect(&constructor, arguments, effects, false);
    return opaque(type, sequence(std::move(effects), at));
  }
  if (is_value(type) || type.name == "mutex" || type.name == "recursive_mutex") {
    arguments_effect(&constructor, arguments, effects, false);
    return opaque(type, sequence(std::move(effects), at));
  }
  const bool by_compiler = constructor.isImplicit() || constructor.isDefaulted();
  if (!by_compiler) unit_.declare(constructor);
  arguments_effect(&constructor, arguments, effects, false);
  if (by_compiler && constructor.isCopyOrMoveConstructor() && names_parts(*arguments[0])) {
    effects.push_back(expr(arguments[0], Use::kRead).id);
  }
  effects.push_back(
      program_.add({.kind = Kind::kNew, .position = unit_.position(at), .type = type}));
  return {.id = sequence(std::move(effects), at), .type = type};
}

Body::Value Body::expr(const Expr* of, Use use) {
  if (of == nullptr) return {};
  // Only of a field of its own.
  if (use == Use::kMove && !llvm::isa<clang::MemberExpr>(of->IgnoreParens())) use = Use::kChange;
  if (depth_ > kMaxDepth) return opaque(unit_.type_of(of->getType()), too_deep(of->getExprLoc()));
  ++depth_;
  const SourceLocation at = of->getExprLoc();
  const auto made = [&]() -> Value {
    if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
      return expr(whole->getSubExpr(), use);
    }
    if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
      return expr(brackets->getSubExpr(), use);
    }
    if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(of)) {
      return expr(kept->getSubExpr(), Use::kRead);
    }
    if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {
      return expr(bound->getSubExpr(), use);
    }
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(of)) {
      return expr(fallback->getExpr(), use);
    }
    if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(of)) {
      return expr(fallback->getExpr(), use);
    }
    if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(of)) {
      return expr(rewritten->getSemanticForm(), use);
    }
    if (const auto* opaque_value = llvm::dyn_cast<clang::OpaqueValueExpr>(of)) {
      return expr(opaque_value->getSourceExpr(), use);
    }
    if (const auto* argument = llvm::dyn_cast<clang::SubstNonTypeTemplateParmExpr>(of)) {
      return expr(argument->getReplacement(), use);
    }
    if (const auto* list = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(of)) {
      return expr(list->getSubExpr(), use);
    }
    if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of)) {
      if (cast->getCastKind() == clang::CK_LValueToRValue) {
        return expr(cast->getSubExpr(), Use::kRead);
      }
      if (cast->getCastKind() == clang::CK_FunctionToPointerDecay) {
        // Where a pointer to it leads nobody knows; but what was a pointer is read.
        return {.id = function_in(of) != nullptr ? callback(of, {}, Runs::kLater)
                                                 : expr(cast->getSubExpr(), Use::kRead).id};
      }
      // As what it goes on from here nobody knows.
      if (cast->getCastKind() == clang::CK_BitCast ||
          cast->getCastKind() == clang::CK_PointerToIntegral) {
        unit_.keep(cast->getSubExpr()->getType());
      }
      const core::Type type = unit_.type_of(of->getType());
      const clang::UnaryOperator* address = address_in(cast->getSubExpr());
      if (address != nullptr && use == Use::kRead && of->getType()->isPointerType() &&
          of->getType()->getPointeeType().isConstQualified() &&
          is_value(unit_.type_of(address->getSubExpr()->getType()))) {
        const Value given = expr(address->getSubExpr(), Use::kRead);
        lend(given.id);
        return opaque(type, given.id);
      }
      Value inner = expr(cast->getSubExpr(), use);
      if (is_value(type) && is_value(inner.type)) return inner;
      if (unit_.derives(inner.type.name, type.name)) return inner;
      return opaque(type, inner.id);
    }
    if (llvm::isa<clang::CXXThisExpr>(of)) {
      if (home_.is_static) return opaque(unit_.type_of(of->getType()), core::kNoExpr);
      return {.id = name("this", at), .type = {.name = home_.class_name}};
    }
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
      const auto* variable_of = llvm::dyn_cast<VarDecl>(reference->getDecl());
      if (variable_of != nullptr) return variable(*variable_of, use, at);
      if (const auto* binding = llvm::dyn_cast<clang::BindingDecl>(reference->getDecl())) {
        const Expr* stands_for = binding->getBinding();
        if (stands_for != nullptr && binding->getHoldingVar() == nullptr) {
          return expr(stands_for, use);
        }
        // Of a pair, say: got by a function.
        const auto* whole = llvm::dyn_cast<VarDecl>(binding->getDecomposedDecl());
        if (use == Use::kChange && whole != nullptr) {
          return opaque(unit_.type_of(of->getType()), variable(*whole, use, at).id);
        }
      }
      return opaque(unit_.type_of(of->getType()), core::kNoExpr);
    }
    if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(of)) return member(*part, use);
    if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
      if (unary->getOpcode() == clang::UO_AddrOf) {
        if (const clang::FunctionDecl* function = function_in(of)) {
          const ExprId begun = callback(of, {}, Runs::kLater);
          const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
          if (method != nullptr && method->isImplicitObjectMemberFunction() &&
              !unit_.is_foreign(*method)) {
            unit_.take_address(*method, begun);
          }
          return {.id = begun};
        }
        const auto* out = llvm::dyn_cast<clang::DeclRefExpr>(unary->getSubExpr()->IgnoreParens());
        const auto* pointer = out == nullptr ? nullptr : llvm::dyn_cast<VarDecl>(out->getDecl());
        const auto known = state_.variables.find(pointer);
        if (known != state_.variables.end() && pointer->getType()->isPointerType()) {
          forget(*pointer);  // whoever has its address may assign to it
          return {};
        }
        const QualType inner = unary->getSubExpr()->getType();
        const bool is_followed = !is_value(unit_.type_of(inner)) && !is_pointer_itself(inner);
        if (use != Use::kRead || is_followed) {
          return expr(unary->getSubExpr(), use == Use::kRead ? Use::kName : use);
        }
        // Of a number or a pointer: it is not followed who changes it by its address.
        const Value given = expr(unary->getSubExpr(), Use::kChange);
        lend(given.id);
        return given;
      }
      if (unary->isIncrementDecrementOp()) {
        ask_again(*unary->getSubExpr(), nullptr);
        return assign(unary->getSubExpr(), {}, true, at);
      }
      if (unary->getOpcode() == clang::UO_Deref) {
        const clang::UnaryOperator* address = address_in(unary->getSubExpr());
        if (address != nullptr) return expr(address->getSubExpr(), use);
        const Value inner = expr(unary->getSubExpr(), Use::kRead);
        const core::Type type = unit_.type_of(of->getType());
        return inner.type == type ? inner : opaque(type, inner.id);
      }
      return {.id = expr(unary->getSubExpr(), Use::kRead).id};
    }
    if (const auto* binary = llvm::dyn_cast<clang::BinaryOperator>(of)) {
      if (binary->isAssignmentOp()) {
        ask_again(*binary->getLHS(),
                  binary->getOpcode() == clang::BO_Assign ? binary->getRHS() : nullptr);
        Value value = expr(binary->getRHS(), Use::kRead);
        value.gone = is_null(binary->getRHS());
        return assign(binary->getLHS(), value, binary->isCompoundAssignmentOp(), at);
      }
      const auto use_of = [&](const Expr* side) {  // to compare addresses is not to use them
        return binary->isComparisonOp() && address_in(side) != nullptr ? Use::kName : Use::kRead;
      };
      const ExprId left = expr(binary->getLHS(), use_of(binary->getLHS())).id;
      conditional_ += binary->isLogicalOp() ? 1 : 0;
      const Value right =
          expr(binary->getRHS(), binary->isComparisonOp() ? use_of(binary->getRHS()) : use);
      conditional_ -= binary->isLogicalOp() ? 1 : 0;
      if (binary->getOpcode() == clang::BO_Comma) return then(left, right, at);
      if (left == core::kNoExpr || right.id == core::kNoExpr) {
        const ExprId only = left == core::kNoExpr ? right.id : left;
        if (only == core::kNoExpr) return {};
        return opaque(unit_.type_of(of->getType()), only);
      }
      return opaque(unit_.type_of(of->getType()), sequence({left, right.id}, at));
    }
    if (const auto* choice = llvm::dyn_cast<clang::AbstractConditionalOperator>(of)) {
      return conditional(*choice, use);
    }
    if (const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(of)) {
      const ExprId index = expr(element->getIdx(), Use::kRead).id;
      const Expr* base = element->getBase();
      const auto* decays = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
      const bool is_array =
          decays != nullptr && decays->getCastKind() == clang::CK_ArrayToPointerDecay;
      const core::Type type = unit_.type_of(of->getType());
      // An array is one field: who names an object in it reads the array.
      const Use of_array = use == Use::kName && !is_value(type) ? Use::kRead : use;
      const ExprId place =
          expr(is_array ? decays->getSubExpr() : base, is_array ? of_array : Use::kRead).id;
      return opaque(type, sequence({index, place}, at));
    }
    if (const auto* called = llvm::dyn_cast<clang::CallExpr>(of)) return call(*called, use);
    if (const auto* constructed = llvm::dyn_cast<clang::CXXConstructExpr>(of)) {
      return construct(*constructed);
    }
    if (const auto* allocated = llvm::dyn_cast<clang::CXXNewExpr>(of)) {
      std::vector<ExprId> before;
      for (const Expr* argument : allocated->placement_arguments()) {
        before.push_back(expr(argument, Use::kChange).id);
      }
      if (const auto size = allocated->getArraySize(); size && *size != nullptr) {
        before.push_back(expr(*size, Use::kRead).id);
      }
      const core::Type type = unit_.type_of(of->getType());
      if (allocated->isArray() || allocated->getConstructExpr() == nullptr) {
        if (allocated->hasInitializer()) {
          before.push_back(expr(allocated->getInitializer(), Use::kRead).id);
        }
        if (!is_value(type) && type.name != "mutex" && type.name != "recursive_mutex") {
          before.push_back(
              program_.add({.kind = Kind::kNew, .position = unit_.position(at), .type = type}));
          return {.id = sequence(std::move(before), at), .type = type};
        }
        return opaque(type, sequence(std::move(before), at));
      }
      return then(sequence(std::move(before), at), construct(*allocated->getConstructExpr()), at);
    }
    if (const auto* deleted = llvm::dyn_cast<clang::CXXDeleteExpr>(of)) {
      const Value old = expr(deleted->getArgument(), Use::kRead);
      const QualType type = deleted->getDestroyedType();
      const auto* record = type.isNull() ? nullptr : type->getAsCXXRecordDecl();
      const clang::CXXDestructorDecl* ends =
          record == nullptr || !record->hasDefinition() ? nullptr : record->getDestructor();
      if (ends == nullptr || !ends->isUserProvided() || is_value(old.type) ||
          unit_.is_foreign(*record) || unit_.is_lock_class(*record)) {
        return {.id = old.id};
      }
      unit_.declare(*ends);
      const core::Type owner = unit_.type_of(unit_.context.getRecordType(record));
      return {.id = make(Kind::kCall, at, {object(old, owner, at)}, unit_.method_name(*ends)),
              .type = {.name = "void"}};
    }
    if (llvm::isa<clang::LambdaExpr>(of)) return {.id = callback(of, {}, Runs::kLater)};
    if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(of)) {
      std::vector<ExprId> values;
      for (const Expr* value : list->inits()) values.push_back(expr(value, Use::kRead).id);
      const core::Type type = unit_.type_of(of->getType());
      if (is_value(type) || of->getType()->isPointerType() || unit_.lock_type(of->getType())) {
        return opaque(type, sequence(std::move(values), at));
      }
      values.push_back(
          program_.add({.kind = Kind::kNew, .position = unit_.position(at), .type = type}));
      return {.id = sequence(std::move(values), at), .type = type};
    }
    if (const auto* thrown = llvm::dyn_cast<clang::CXXThrowExpr>(of)) {
      if (thrown->getSubExpr() != nullptr) effect(thrown->getSubExpr());
      if (conditional_ == 0) diverge(at);
      return {};
    }
    if (const auto* block_value = llvm::dyn_cast<clang::StmtExpr>(of)) {
      statement(block_value->getSubStmt());
      return opaque(unit_.type_of(of->getType()), core::kNoExpr);
    }
    if (const auto* atomic = llvm::dyn_cast<clang::AtomicExpr>(of)) return atomic_builtin(*atomic);
    if (llvm::isa<clang::UnaryExprOrTypeTraitExpr>(of) || llvm::isa<clang::CXXTypeidExpr>(of) ||
        llvm::isa<clang::CXXNoexceptExpr>(of)) {
      return {};
    }
    std::vector<ExprId> effects;
    for (const clang::Stmt* child : of->children()) {
      if (const auto* inner = llvm::dyn_cast_or_null<Expr>(child)) {
        effects.push_back(expr(inner, Use::kRead).id);
      }
    }
    return opaque(unit_.type_of(of->getType()), sequence(std::move(effects), at));
  }();
  --depth_;
  return made;
}

}  // namespace tomos::cpp
