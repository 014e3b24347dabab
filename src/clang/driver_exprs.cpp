// Expressions of a driver: where things are, and what is known of their values.
#include <fmt/format.h>

#include "clang/driver_types.h"
#include "clang/drivers.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::Expr;
using clang::QualType;
using clang::SourceLocation;
using clang::VarDecl;

// ---- places ----

Spot DriverUnit::spot(const Expr* of) {
  Meaning where = place(of);
  switch (where.kind) {
    case Meaning::Kind::kSpot:
      return where.spot;
    case Meaning::Kind::kValue:
      if (where.value.kind == Value::Kind::kPointer) return where.value.spot;
      break;
    case Meaning::Kind::kLocal:
    case Meaning::Kind::kNothing:
      break;
  }
  // A value that has no place of its own is put somewhere.
  const Spot temp{.path = unique(thread_ + " temporary"),
                  .type = of->getType().getNonReferenceType()};
  write(temp, load(where, of->getExprLoc()), of->getExprLoc());
  return temp;
}

Meaning DriverUnit::place(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  const auto at_spot = [](Spot where) {
    return Meaning{.kind = Meaning::Kind::kSpot, .spot = std::move(where)};
  };
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
    const std::size_t first = frames_.back().temporaries.size();
    Meaning found = place(whole->getSubExpr());
    end_temporaries(first, of->getEndLoc());
    return found;
  }
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
    return place(brackets->getSubExpr());
  }
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {
    return place(bound->getSubExpr());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(of)) {
    return place(fallback->getExpr());
  }
  if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(of)) {
    const Value found = value(kept->getSubExpr());
    // A reference that is declared keeps it for as long as it is there itself.
    if (kept->getStorageDuration() == clang::SD_Automatic && forget_temporary(found.spot)) {
      frames_.back().scopes.back().cleanups.push_back({.spot = found.spot, .at = at});
    }
    return {.kind = Meaning::Kind::kValue, .value = found};
  }
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    if (const Meaning* known_one = find(*name->getDecl())) return *known_one;
    if (llvm::isa<clang::FunctionDecl>(name->getDecl())) {
      return {.kind = Meaning::Kind::kValue, .value = value(of)};
    }
    const auto* binding = llvm::dyn_cast<clang::BindingDecl>(name->getDecl());
    if (binding != nullptr && binding->getHoldingVar() == nullptr &&
        binding->getBinding() != nullptr) {
      return place(binding->getBinding());
    }
    const auto* variable = llvm::dyn_cast<VarDecl>(name->getDecl());
    if (variable == nullptr || !variable->hasGlobalStorage()) {
      const std::string named = name->getDecl()->getNameAsString();
      refuse(at, fmt::format("what {} is here is not known", named),
             binding == nullptr ? "" : "Take the parts by their names instead.");
    }
    if (is_foreign(*variable)) return {};
    const Spot where = global(*variable, at);
    if (!variable->getType()->isReferenceType()) return at_spot(where);
    return at_spot(pointers_[where.path].spot);
  }
  if (llvm::isa<clang::CXXThisExpr>(of)) return {.kind = Meaning::Kind::kValue, .value = value(of)};
  if (const auto* part = llvm::dyn_cast<clang::MemberExpr>(of)) {
    if (const auto* variable = llvm::dyn_cast<VarDecl>(part->getMemberDecl())) {
      return at_spot(global(*variable, at));
    }
    const auto* of_class = llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
    if (of_class == nullptr) return {};
    Spot base;
    if (part->isArrow()) {
      const Value leads = value(part->getBase());
      if (leads.kind != Value::Kind::kPointer) {
        refuse(at, "where this pointer leads is not known",
               "Use objects that the driver makes itself, and pointers that do not change.");
      }
      base = leads.spot;
    } else {
      base = spot(part->getBase());
    }
    if (is_foreign(*of_class->getParent())) {
      return at_spot({.path = base.path, .type = of_class->getType(), .blurred = true});
    }
    const Spot inner = field(base, *of_class);
    if (!of_class->getType()->isReferenceType()) return at_spot(inner);
    const auto leads = pointers_.find(inner.path);
    if (leads == pointers_.end() || leads->second.kind != Value::Kind::kPointer) {
      refuse(at, fmt::format("where the reference {} leads is not known", inner.path), "");
    }
    return at_spot(leads->second.spot);
  }
  if (const auto* inner = llvm::dyn_cast<clang::ArraySubscriptExpr>(of)) {
    const Expr* base = inner->getBase()->IgnoreParens();
    const auto* decays = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
    const Value index = value(inner->getIdx());
    if (decays != nullptr && decays->getCastKind() == clang::CK_ArrayToPointerDecay) {
      return at_spot(element(spot(decays->getSubExpr()), index, at));
    }
    const Value leads = value(base);
    if (leads.kind != Value::Kind::kPointer) {
      refuse(at, "where this pointer leads is not known", "Use the array itself.");
    }
    return at_spot(leads.spot.path.ends_with(']') || !array_size(leads.spot.type, context_)
                       ? Spot{.path = leads.spot.path, .type = of->getType(), .blurred = true}
                       : element(leads.spot, index, at));
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    if (unary->getOpcode() == clang::UO_Deref) {
      const Value leads = value(unary->getSubExpr());
      if (leads.kind == Value::Kind::kCallable) {
        return {.kind = Meaning::Kind::kValue, .value = leads};
      }
      if (leads.kind != Value::Kind::kPointer) {
        refuse(at, "where this pointer leads is not known",
               "Use objects that the driver makes itself, and pointers that do not change.");
      }
      return at_spot(leads.spot);
    }
    if (unary->isIncrementDecrementOp()) {
      (void)value(of);
      return place(unary->getSubExpr());
    }
  }
  if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(of)) {
    if (pair->isAssignmentOp() || pair->getOpcode() == clang::BO_Comma) {
      (void)value(pair->isAssignmentOp() ? of : pair->getLHS());
      return place(pair->isAssignmentOp() ? pair->getLHS() : pair->getRHS());
    }
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of)) {
    if (of->isGLValue() && cast->getSubExpr()->isGLValue()) return place(cast->getSubExpr());
  }
  // What a call returns by reference is known by where it is.
  const Value made_value = value(of);
  if (of->isGLValue() && made_value.kind == Value::Kind::kPointer) return at_spot(made_value.spot);
  return {.kind = Meaning::Kind::kValue, .value = made_value};
}

Value DriverUnit::load(const Meaning& from, SourceLocation at) {
  switch (from.kind) {
    case Meaning::Kind::kValue:
      return from.value;
    case Meaning::Kind::kSpot:
      return read(from.spot, at);
    case Meaning::Kind::kLocal:
      return Value::of(from.name);
    case Meaning::Kind::kNothing:
      break;
  }
  return {};
}

void DriverUnit::store(const Meaning& to, const Value& value, SourceLocation at) {
  switch (to.kind) {
    case Meaning::Kind::kSpot:
      return write(to.spot, value, at);
    case Meaning::Kind::kLocal: {
      const bool is_truth = leaf_of(to.spot.type) == Leaf::kTruth;
      if (!is_truth) assigned(to.spot.path, value);
      emit(fmt::format("{} = {};", to.name, known(value, is_truth)), at);
      return;
    }
    case Meaning::Kind::kValue:
    case Meaning::Kind::kNothing:
      return;
  }
}

// ---- values ----

Value DriverUnit::as_type(Value value, QualType from, QualType to) {
  if (value.kind != Value::Kind::kFormula) {
    if (value.is_number() && to->isBooleanType()) value.number = value.number != 0 ? 1 : 0;
    return value;
  }
  const bool was_truth = without_atomic(from.getNonReferenceType())->isBooleanType() ||
                         is_flag_type(from.getNonReferenceType());
  if (was_truth == to->isBooleanType()) return value;
  return Value::of(was_truth ? fmt::format("({} ? 1 : 0)", value.formula)
                             : fmt::format("({} != 0)", value.formula));
}

Value DriverUnit::truth(const Expr* of) {
  Value found = as_type(value(of), of->getType(), context_.BoolTy);
  if (found.is_number() || found.kind == Value::Kind::kFormula) return found;
  if (found.kind == Value::Kind::kPointer || found.kind == Value::Kind::kCallable) {
    return Value::of(1);
  }
  return {};
}

Value DriverUnit::short_circuit(const clang::BinaryOperator& of) {
  const bool both = of.getOpcode() == clang::BO_LAnd;
  Value left = truth(of.getLHS());
  if (left.is_number()) return (left.number != 0) == both ? truth(of.getRHS()) : left;
  std::vector<DriverLine> lines;
  std::vector<DriverLine>* const out = std::exchange(out_, &lines);
  const std::size_t first = frames_.back().temporaries.size();
  const Holding holding = holding_;
  Value right = truth(of.getRHS());
  refuse_temporaries(first, of.getOperatorLoc());
  join_ways(holding, of.getOperatorLoc());
  out_ = out;
  if (lines.empty()) {
    if (right.is_number() && (right.number != 0) == both) return left;
    if (right.is_number()) return right;
    if (!left.is_known() && !right.is_known()) return {};
    return Value::of(
        fmt::format("({} {} {})", known(left, true), both ? "&&" : "||", known(right, true)));
  }
  const SourceLocation at = of.getOperatorLoc();
  const std::string result = temporary("bool");
  emit(fmt::format("{} = {};", result, known(left, true)), at);
  open(fmt::format("if ({}{})", both ? "" : "!", result), at);
  out_->insert(out_->end(), lines.begin(), lines.end());
  emit(fmt::format("{} = {};", result, known(right, true)), at);
  close();
  return Value::of(result);
}

Value DriverUnit::compare(const clang::BinaryOperator& of) {
  const Value left = value(of.getLHS());
  const Value right = value(of.getRHS());
  if (left.kind == Value::Kind::kPointer && right.kind == Value::Kind::kPointer) {
    if (of.isEqualityOp()) {
      return Value::of(((left.spot == right.spot) == (of.getOpcode() == clang::BO_EQ)) ? 1 : 0);
    }
    return {};
  }
  const bool pointer_and_null =
      of.isEqualityOp() && ((left.kind == Value::Kind::kPointer && right.is_number()) ||
                            (right.kind == Value::Kind::kPointer && left.is_number()));
  if (pointer_and_null) return Value::of(of.getOpcode() == clang::BO_NE ? 1 : 0);
  const auto fits = [](const Value& one) {
    return one.kind == Value::Kind::kFormula || (one.is_number() && one.number >= 0);
  };
  if (left.is_number() && right.is_number()) {
    switch (of.getOpcode()) {
      case clang::BO_EQ:
        return Value::of(left.number == right.number ? 1 : 0);
      case clang::BO_NE:
        return Value::of(left.number != right.number ? 1 : 0);
      case clang::BO_LT:
        return Value::of(left.number < right.number ? 1 : 0);
      case clang::BO_LE:
        return Value::of(left.number <= right.number ? 1 : 0);
      case clang::BO_GT:
        return Value::of(left.number > right.number ? 1 : 0);
      case clang::BO_GE:
        return Value::of(left.number >= right.number ? 1 : 0);
      default:
        return {};
    }
  }
  if (!fits(left) || !fits(right) || of.getOpcode() == clang::BO_Cmp) return {};
  const auto is_truth = [](const Expr* one) {
    return one->getType().getNonReferenceType()->isBooleanType();
  };
  const bool truths = is_truth(of.getLHS()) && is_truth(of.getRHS());
  return Value::of(fmt::format("({} {} {})", known(left, truths), of.getOpcodeStr().str(),
                               known(right, truths)));
}

Value DriverUnit::binary(const clang::BinaryOperator& of) {
  const SourceLocation at = of.getOperatorLoc();
  if (of.isLogicalOp()) return short_circuit(of);
  if (of.isComparisonOp()) return compare(of);
  if (of.getOpcode() == clang::BO_Comma) {
    (void)value(of.getLHS());
    return value(of.getRHS());
  }
  if (of.isCompoundAssignmentOp()) {
    const Value with = value(of.getRHS());
    const Meaning to = place(of.getLHS());
    const Value old = load(to, at);
    Value result;
    const bool truths = of.getLHS()->getType()->isBooleanType();
    const bool known_both = old.is_known() && with.is_known() && truths;
    const Value flag = known_both ? as_type(with, of.getRHS()->getType(), context_.BoolTy) : with;
    if (known_both && of.getOpcode() == clang::BO_AndAssign) {
      result = Value::of(fmt::format("({} && {})", known(old, true), known(flag, true)));
    } else if (known_both && of.getOpcode() == clang::BO_OrAssign) {
      result = Value::of(fmt::format("({} || {})", known(old, true), known(flag, true)));
    } else if (!truths && with.is_number() && of.getOpcode() == clang::BO_AddAssign) {
      result = more(to, old, with.number);
    } else if (!truths && with.is_number() && of.getOpcode() == clang::BO_SubAssign) {
      result = more(to, old, -with.number);
    }
    store(to, result, of.getLHS()->getExprLoc());
    return result;
  }
  if (of.isAssignmentOp()) {
    const Value with = as_type(value(of.getRHS()), of.getRHS()->getType(), of.getLHS()->getType());
    store(place(of.getLHS()), with, of.getLHS()->getExprLoc());
    return with;
  }
  const Value left = value(of.getLHS());
  const Value right = value(of.getRHS());
  if (!left.is_number() || !right.is_number()) return {};
  switch (of.getOpcode()) {
    case clang::BO_Add:
      return Value::of(left.number + right.number);
    case clang::BO_Sub:
      return Value::of(left.number - right.number);
    case clang::BO_Mul:
      return Value::of(left.number * right.number);
    case clang::BO_Rem:
      return right.number == 0 ? Value{} : Value::of(left.number % right.number);
    case clang::BO_Div:
      return right.number == 0 ? Value{} : Value::of(left.number / right.number);
    case clang::BO_Xor:
      return Value::of(left.number ^ right.number);
    default:
      return {};
  }
}

Value DriverUnit::choice(const clang::ConditionalOperator& of) {
  const SourceLocation at = of.getQuestionLoc();
  const auto fails = [](const Expr* one) {
    const auto* call_of = llvm::dyn_cast<clang::CallExpr>(one->IgnoreParenCasts());
    const auto* callee = call_of == nullptr ? nullptr : call_of->getDirectCallee();
    return callee != nullptr && callee->isNoReturn();
  };
  if (of.getType()->isVoidType() && fails(of.getFalseExpr())) {
    assertion(of.getCond(), of.getBeginLoc());
    return {};
  }
  const Value test = truth(of.getCond());
  if (test.is_number()) return value(test.number != 0 ? of.getTrueExpr() : of.getFalseExpr());
  if (!test.is_known()) abstracted("conditions that depend on data go both ways:", "", at);
  const bool is_truth = of.getType()->isBooleanType();
  const std::string result = is_truth ? temporary("bool") : "";
  const std::size_t first = frames_.back().temporaries.size();
  const Holding holding = holding_;
  const auto way = [&](const Expr* one) {
    const Value found = value(one);
    refuse_temporaries(first, at);
    if (is_truth) emit(fmt::format("{} = {};", result, known(found, true)), at);
    return found;
  };
  open(fmt::format("if ({})", known(test, true)), at);
  const Value one = way(of.getTrueExpr());
  close();
  open("else", at);
  const Holding after_true = std::exchange(holding_, holding);
  const Value other = way(of.getFalseExpr());
  join_ways(after_true, at);
  close();
  if (is_truth) return Value::of(result);
  const bool same = one.kind == other.kind && one.number == other.number && one.spot == other.spot;
  return same && one.kind != Value::Kind::kFormula ? one : Value{};
}

Value DriverUnit::value(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  Expr::EvalResult constant;
  if (!of->isValueDependent() && of->getType()->isIntegralOrEnumerationType() && of->isPRValue() &&
      of->EvaluateAsInt(constant, context_) && constant.Val.getInt().isRepresentableByInt64()) {
    return Value::of(constant.Val.getInt().getExtValue());
  }
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
    const std::size_t first = frames_.back().temporaries.size();
    Value found = value(whole->getSubExpr());
    end_temporaries(first, of->getEndLoc());
    return found;
  }
  if (llvm::isa<clang::StmtExpr>(of)) {
    refuse(at, "statements inside of an expression cannot be followed", "Write a function.");
  }
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
    return value(brackets->getSubExpr());
  }
  if (const auto* bound = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(of)) {
    return value(bound->getSubExpr());
  }
  if (const auto* kept = llvm::dyn_cast<clang::MaterializeTemporaryExpr>(of)) {
    return value(kept->getSubExpr());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultArgExpr>(of)) {
    return value(fallback->getExpr());
  }
  if (const auto* fallback = llvm::dyn_cast<clang::CXXDefaultInitExpr>(of)) {
    return value(fallback->getExpr());
  }
  if (llvm::isa<clang::CXXNullPtrLiteralExpr>(of) || llvm::isa<clang::GNUNullExpr>(of)) {
    return Value::of(0);
  }
  if (llvm::isa<clang::CXXThisExpr>(of)) {
    const std::optional<Spot> self = frames_.back().self;
    if (!self) refuse(at, "which object this is is not known", "");
    return Value::leading_to(*self);
  }
  if (const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(of)) return closure(*lambda);
  if (const auto* call_of = llvm::dyn_cast<clang::CallExpr>(of)) return call(*call_of);
  if (const auto* pair = llvm::dyn_cast<clang::BinaryOperator>(of)) return binary(*pair);
  if (const auto* either = llvm::dyn_cast<clang::ConditionalOperator>(of)) return choice(*either);
  if (const auto* allocated = llvm::dyn_cast<clang::CXXNewExpr>(of)) return allocate(*allocated);
  if (const auto* deleted = llvm::dyn_cast<clang::CXXDeleteExpr>(of)) {
    const Value leads = value(deleted->getArgument());
    if (leads.kind == Value::Kind::kPointer) destroy(leads.spot, at);
    return {};
  }
  if (llvm::isa<clang::CXXThrowExpr>(of)) {
    refuse(at, "an exception is thrown", "Exceptions are not followed: leave them out.");
  }
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(of)) {
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(name->getDecl())) {
      return {.kind = Value::Kind::kCallable, .function = function};
    }
    return load(place(of), at);
  }
  if (const auto* unary = llvm::dyn_cast<clang::UnaryOperator>(of)) {
    const Expr* inner = unary->getSubExpr();
    if (unary->getOpcode() == clang::UO_LNot) {
      const Value found = truth(inner);
      if (found.is_number()) return Value::of(found.number == 0 ? 1 : 0);
      return found.is_known() ? Value::of("!" + found.formula) : found;
    }
    if (unary->getOpcode() == clang::UO_AddrOf) {
      const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(inner->IgnoreParens());
      const auto* function =
          name == nullptr ? nullptr : llvm::dyn_cast<clang::FunctionDecl>(name->getDecl());
      if (function != nullptr) return {.kind = Value::Kind::kCallable, .function = function};
      return Value::leading_to(spot(inner));
    }
    if (unary->isIncrementDecrementOp()) {
      const Meaning to = place(inner);
      const Value old = load(to, at);
      const std::int64_t by = unary->isIncrementOp() ? 1 : -1;
      Value result = more(to, old, by);
      store(to, result, at);
      if (unary->isPrefix() && to.kind == Meaning::Kind::kLocal) return load(to, at);
      if (unary->isPrefix()) return result;
      // A local variable is the new value by now.
      return to.kind == Meaning::Kind::kLocal ? more(to, old, -by) : old;
    }
    if (unary->getOpcode() == clang::UO_Deref) return load(place(of), at);
    const Value found = value(inner);
    if (unary->getOpcode() == clang::UO_Minus && found.is_number()) return Value::of(-found.number);
    return unary->getOpcode() == clang::UO_Plus || unary->getOpcode() == clang::UO_Extension
               ? found
               : Value{};
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of)) {
    const Expr* inner = cast->getSubExpr();
    switch (cast->getCastKind()) {
      case clang::CK_LValueToRValue:
        return load(place(inner), inner->getExprLoc());
      case clang::CK_ArrayToPointerDecay:
        return llvm::isa<clang::StringLiteral>(inner->IgnoreParens())
                   ? Value{}
                   : Value::leading_to(spot(inner));
      case clang::CK_NullToPointer:
        return Value::of(0);
      case clang::CK_ToVoid:
        (void)value(inner);
        return {};
      case clang::CK_IntegralToBoolean:
      case clang::CK_PointerToBoolean:
        return truth(inner);
      case clang::CK_IntegralCast:
        return as_type(value(inner), inner->getType(), of->getType());
      case clang::CK_FloatingToBoolean:
      case clang::CK_FloatingToIntegral:
      case clang::CK_IntegralToFloating:
      case clang::CK_FloatingCast:
        (void)value(inner);
        return {};
      default:
        return value(inner);
    }
  }
  if (leaf_of(of->getType()) == Leaf::kList && of->isPRValue()) {
    const Spot own{.path = unique(thread_ + " list"), .type = of->getType()};
    fill(own, of, at);
    return Value::leading_to(own);
  }
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(of); list != nullptr) {
    if (leaf_of(of->getType()) == Leaf::kRecord) return made(of);
    if (list->getNumInits() == 1) return value(list->getInit(0));
    return list->getNumInits() == 0 ? Value::of(0) : Value{};
  }
  if (const auto* made_by = llvm::dyn_cast<clang::CXXConstructExpr>(of)) {
    const QualType type = of->getType();
    const Leaf leaf = leaf_of(type);
    const auto arguments = std::vector<const Expr*>(made_by->arg_begin(), made_by->arg_end());
    if (leaf == Leaf::kGuard || (leaf == Leaf::kRecord && !is_function_object(type))) {
      return made(of);
    }
    if (leaf == Leaf::kThread) {
      if (made_by->getConstructor()->isCopyOrMoveConstructor()) return value(arguments[0]);
      return arguments.empty() ? Value{} : start(arguments, at);
    }
    if (arguments.empty()) return Value::of(0);
    const Value first =
        arguments[0]->isGLValue() ? load(place(arguments[0]), at) : value(arguments[0]);
    for (const Expr* one : llvm::ArrayRef(arguments).drop_front()) (void)value(one);
    return leaf == Leaf::kPointer || is_function_object(type) ? first : Value{};
  }
  if (of->isGLValue() &&
      (llvm::isa<clang::MemberExpr>(of) || llvm::isa<clang::ArraySubscriptExpr>(of))) {
    return load(place(of), at);
  }
  // Anything else is data: what it is made of is looked at.
  for (const clang::Stmt* child : of->children()) {
    if (const auto* inner = llvm::dyn_cast_or_null<Expr>(child)) (void)value(inner);
  }
  return {};
}

}  // namespace tomos::cpp
