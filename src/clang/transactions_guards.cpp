// Guards (RAII), wherever they are: variables, parameters, temporary objects, members, and inside
// of objects of the library (std::optional, std::unique_ptr, containers). A guard is a pointer to
// its mutex; who moves from one leaves none behind, so what a guard gives back at its end is what
// it has then. An object of the library that has guards is one with them.
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

bool names_lock(const clang::Stmt* of) {
  if (of == nullptr) return false;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(of)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && plain_name(*callee).contains("lock")) return true;
  }
  return std::ranges::any_of(of->children(), names_lock);
}

const clang::CXXRecordDecl* class_of(QualType type) {
  const auto* record = type->isReferenceType() ? nullptr : type->getAsCXXRecordDecl();
  return record == nullptr || !record->hasDefinition() ? nullptr : record->getDefinition();
}

}  // namespace

bool TransactionUnit::holds_guard(QualType type) {
  if (!guard_kind(type).empty()) return true;
  const auto* made = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(class_of(type));
  if (made == nullptr || !is_of_std(*made)) return false;
  const llvm::StringRef name = plain_name(*made);
  if (name == "reference_wrapper" || name.contains("terator")) return false;
  const auto holds = [](const auto& self, const clang::TemplateArgument& one) -> bool {
    if (one.getKind() == clang::TemplateArgument::Pack) {
      return std::ranges::any_of(one.pack_elements(),
                                 [&](const auto& part) { return self(self, part); });
    }
    return one.getKind() == clang::TemplateArgument::Type && holds_guard(one.getAsType());
  };
  return std::ranges::any_of(made->getTemplateArgs().asArray(),
                             [&](const auto& one) { return holds(holds, one); });
}

// Its end has to do with locks.
bool TransactionUnit::ends_lock(QualType type) const {
  const clang::CXXRecordDecl* record = class_of(type);
  if (record == nullptr || !is_object(type)) return false;
  const clang::CXXDestructorDecl* destructor = record->getDestructor();
  if (destructor != nullptr && destructor->isUserProvided()) {
    const clang::FunctionDecl* definition = destructor->getDefinition();
    if (definition != nullptr && names_lock(definition->getBody())) return true;
  }
  const auto ends = [&](QualType part) { return holds_guard(part) || ends_lock(part); };
  return std::ranges::any_of(record->bases(),
                             [&](const auto& base) { return ends(base.getType()); }) ||
         std::ranges::any_of(record->fields(),
                             [&](const auto* field) { return ends(field->getType()); });
}

NodeId TransactionUnit::mutex_of(NodeId guard, SourceLocation at) {
  return deref(load(guard, at), at);
}

// What it has then, if anything.
NodeId TransactionUnit::unlock_of(NodeId guard, SourceLocation at) {
  const NodeId made = make(Kind::kUnlock, at, {mutex_of(guard, at)});
  program_.nodes[static_cast<std::size_t>(made)].quiet = true;
  return made;
}

NodeId TransactionUnit::end_of(NodeId guard, SourceLocation at) {
  return make(Kind::kSequence, at,
              {unlock_of(guard, at), make(Kind::kAssign, at, {guard, constant(at)})});
}

// What is done at the end of an object: its destructor, its members, its bases.
void TransactionUnit::ends_of(NodeId object, const clang::CXXRecordDecl& record, SourceLocation at,
                              bool is_variable, std::vector<NodeId>& ends) {
  const clang::CXXDestructorDecl* destructor = record.getDestructor();
  const bool follows = is_variable || ends_lock(context_.getRecordType(&record));
  if (follows && destructor != nullptr && destructor->isUserProvided()) {
    ends.push_back(make(Kind::kCall, at, {address(object, at)}, declare(*destructor)));
  }
  if (record.isLambda()) {
    for (const clang::LambdaCapture& capture : record.captures()) {
      if (!capture.capturesVariable() || !holds_guard(capture.getCapturedVar()->getType()))
        continue;
      if (capture.getCaptureKind() == clang::LCK_ByRef) continue;
      const std::string name = capture.getCapturedVar()->getNameAsString();
      ends.push_back(unlock_of(make(Kind::kField, at, {object}, name), at));
    }
    return;
  }
  const std::vector<const clang::FieldDecl*> fields(record.field_begin(), record.field_end());
  for (std::size_t i = fields.size(); i-- > 0;) {
    const QualType type = fields[i]->getType();
    const bool has_guard = holds_guard(type);
    if (!has_guard && !ends_lock(type)) continue;
    const NodeId field = make(Kind::kField, at, {object}, field_name(*fields[i]));
    if (has_guard) {
      ends.push_back(unlock_of(field, at));
    } else {
      ends_of(field, *class_of(type), at, false, ends);
    }
  }
  for (const clang::CXXBaseSpecifier& base : record.bases()) {
    if (holds_guard(base.getType())) ends.push_back(unlock_of(object, at));
    if (ends_lock(base.getType())) ends_of(object, *class_of(base.getType()), at, false, ends);
  }
}

// ---- variables ----

// A variable that does something at the end of its block, with the rest of that.
NodeId TransactionUnit::scope_of(const VarDecl& of, SourceLocation end,
                                 llvm::function_ref<NodeId()> rest) {
  if (!of.isLocalVarDecl() || of.isStaticLocal()) return tm::kNoNode;
  if (!guard_kind(of.getType()).empty()) return guard_of(of, end, rest);
  std::vector<NodeId> at_end;
  const NodeId object = local(slot(of), end);
  const auto* array = context_.getAsArrayType(of.getType());
  if (of.getType()->isReferenceType()) {
    // It keeps a temporary object for as long as it is there itself.
    const Expr* init = of.getInit();
    const auto* whole = llvm::dyn_cast_or_null<clang::ExprWithCleanups>(init);
    const auto* kept = llvm::dyn_cast_or_null<clang::MaterializeTemporaryExpr>(
        whole == nullptr ? init : whole->getSubExpr()->IgnoreParenNoopCasts(context_));
    if (kept == nullptr || !holds_guard(kept->getSubExpr()->getType())) return tm::kNoNode;
    at_end.push_back(unlock_of(deref(load(object, end), end), end));
  } else if (holds_guard(of.getType())) {
    at_end.push_back(unlock_of(object, end));
  } else if (array != nullptr && holds_guard(array->getElementType())) {
    at_end.push_back(unlock_of(make(Kind::kElement, end, {object}), end));
  } else if (const clang::CXXRecordDecl* record = class_of(of.getType());
             record != nullptr && is_object(of.getType())) {
    ends_of(object, *record, end, true, at_end);
  }
  if (at_end.empty()) return tm::kNoNode;
  const NodeId made = declaration(of);
  const NodeId inside = rest();
  const NodeId last = make(Kind::kSequence, end, std::move(at_end));
  return make(Kind::kSequence, of.getLocation(), {made, make(Kind::kScope, end, {inside, last})});
}

// The same for all that a statement declares, before the rest from the given one on.
NodeId TransactionUnit::scope_of_all(const clang::DeclStmt& of, SourceLocation end,
                                     llvm::function_ref<NodeId()> rest, unsigned from) {
  for (auto one = of.decl_begin() + from; one != of.decl_end(); ++one) {
    const auto* variable_of = llvm::dyn_cast<VarDecl>(*one);
    if (variable_of == nullptr) return tm::kNoNode;  // as it is
  }
  if (of.decl_begin() + from == of.decl_end()) return rest();
  const auto& first = *llvm::cast<VarDecl>(*(of.decl_begin() + from));
  const auto others = [&] { return scope_of_all(of, end, rest, from + 1); };
  const NodeId scope = scope_of(first, end, others);
  if (scope != tm::kNoNode) return scope;
  const NodeId made = declaration(first);
  return make(Kind::kSequence, first.getLocation(), {made, others()});
}

// What a statement begins with, and then the rest: what is declared there lives until its end.
NodeId TransactionUnit::begun_with(const clang::Stmt* init, const VarDecl* tested,
                                   SourceLocation end, llvm::function_ref<NodeId()> rest) {
  const auto test = [&] {
    if (tested == nullptr) return rest();
    const NodeId scope = scope_of(*tested, end, rest);
    if (scope != tm::kNoNode) return scope;
    const NodeId first = declaration(*tested);
    return make(Kind::kSequence, tested->getLocation(), {first, rest()});
  };
  if (init == nullptr) return test();
  if (const auto* declares = llvm::dyn_cast<clang::DeclStmt>(init)) {
    const NodeId made = scope_of_all(*declares, end, test, 0);
    if (made != tm::kNoNode) return made;
  }
  const NodeId first = statement(init);
  return make(Kind::kSequence, init->getBeginLoc(), {first, test()});
}

NodeId TransactionUnit::guard_of(const VarDecl& of, SourceLocation end,
                                 llvm::function_ref<NodeId()> rest) {
  const SourceLocation at = of.getLocation();
  const NodeId guard = local(slot(of), at);
  const clang::CXXConstructExpr* made = construction_of(of.getInit());
  std::vector<const Expr*> mutexes;
  bool deferred = false;
  bool adopted = false;
  if (made != nullptr) {
    for (const Expr* argument : made->arguments()) {
      if (is_mutex(argument->getType())) mutexes.push_back(argument);
      const std::string type = argument->getType().getAsString();
      deferred |= type.find("defer_lock") != std::string::npos;
      adopted |= type.find("adopt_lock") != std::string::npos;
    }
  }
  std::vector<NodeId> parts;
  std::vector<NodeId> places;
  if (mutexes.empty()) {  // it has it from somebody else, or none yet
    const bool is_empty = of.getInit() == nullptr || (made != nullptr && made->getNumArgs() == 0);
    const NodeId from = is_empty ? constant(at) : value(of.getInit());
    parts.push_back(make(Kind::kAssign, at, {guard, from}));
    adopted = !is_empty;
    deferred = is_empty;
    places.push_back(mutex_of(guard, at));
  }
  for (const Expr* mutex : mutexes) places.push_back(place(mutex));
  if (mutexes.size() == 1) {
    parts.push_back(make(Kind::kAssign, at, {guard, address(places.front(), at)}));
  }
  const std::string_view kind = guard_kind(of.getType());
  const bool moves = kind == "unique_lock" || kind == "shared_lock";
  NodeId inside = rest();
  for (const NodeId mutex : places) {
    std::vector<NodeId> children = {mutex, inside};
    if (moves) children.push_back(unlock_of(guard, end));
    inside = program_.add({.kind = Kind::kGuard,
                           .negated = deferred,
                           .known = adopted,
                           .shared = kind == "shared_lock",
                           .children = std::move(children),
                           .position = position(at),
                           .end = position(end)});
  }
  parts.push_back(inside);
  return make(Kind::kSequence, at, std::move(parts));
}

// ---- temporary objects: they end with the expression that they are in ----

// Its place.
NodeId TransactionUnit::temporary_of(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  const NodeId temp = local(temporary(), at);
  const NodeId set = make(Kind::kAssign, at, {temp, value(of)});
  if (holds_guard(of->getType())) {
    ends_.push_back(end_of(temp, at));
    return deref(make(Kind::kSequence, at, {set, address(temp, at)}), at);
  }
  std::vector<NodeId> ends;
  ends_of(deref(load(temp, at), at), *class_of(of->getType()), at, false, ends);
  ends_.push_back(make(Kind::kSequence, at, std::move(ends)));
  return deref(make(Kind::kSequence, at, {set, load(temp, at)}), at);
}

NodeId TransactionUnit::ended(NodeId value, std::size_t first, SourceLocation at) {
  if (ends_.size() == first) return value;
  std::vector<NodeId> ends(ends_.rbegin(), ends_.rend() - static_cast<std::ptrdiff_t>(first));
  ends_.resize(first);
  return make(Kind::kScope, at, {value, make(Kind::kSequence, at, std::move(ends))});
}

// A value that nobody asks for.
NodeId TransactionUnit::discarded(const Expr* of) {
  if (const auto* whole = llvm::dyn_cast<clang::FullExpr>(of)) {
    const std::size_t first = ends_.size();
    const NodeId inner = discarded(whole->getSubExpr());
    return ended(inner, first, of->getEndLoc());
  }
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(of);
      cast != nullptr && cast->getCastKind() == clang::CK_ToVoid) {
    const Expr* inner = cast->getSubExpr();
    return inner->isGLValue() ? address(place(inner), of->getExprLoc()) : discarded(inner);
  }
  if (const auto* brackets = llvm::dyn_cast<clang::ParenExpr>(of)) {
    return discarded(brackets->getSubExpr());
  }
  const bool is_made = of->isPRValue() && !of->isInstantiationDependent() &&
                       (holds_guard(of->getType()) || ends_lock(of->getType()));
  if (is_made) return address(temporary_of(of), of->getExprLoc());
  return value(of);
}

// ---- what guards are made of, and what is done to them ----

// Of what is given to one that is made: a mutex that it locks, or another guard, which has none
// afterwards.
NodeId TransactionUnit::made_guard(llvm::ArrayRef<const Expr*> arguments, bool shared,
                                   SourceLocation at) {
  const bool has_tag =
      std::ranges::any_of(arguments, [](const Expr* one) { return is_lock_tag(one->getType()); });
  std::vector<NodeId> parts;
  std::vector<NodeId> values;
  for (const Expr* one : arguments) {
    if (is_mutex(one->getType())) {
      const NodeId mutex = place(one);
      if (!has_tag) parts.push_back(lock_node(Kind::kLock, at, mutex, shared));
      values.push_back(address(mutex, at));
    } else if (holds_guard(one->getType().getNonReferenceType())) {
      values.push_back(taken_from(one));
    } else {
      values.push_back(one->isGLValue() && !is_object(one->getType()) ? load(place(one), at)
                                                                      : value(one));
    }
  }
  parts.push_back(values.size() == 1 ? values.front()
                                     : make(Kind::kOperator, at, std::move(values)));
  return parts.size() == 1 ? parts.front() : make(Kind::kSequence, at, std::move(parts));
}

NodeId TransactionUnit::taken_from(const Expr* of) {
  const SourceLocation at = of->getExprLoc();
  if (!of->isGLValue()) return value(of);
  if (of->getType().isConstQualified()) return load(place(of), at);  // a copy
  const NodeId where = local(temporary(), at);
  const NodeId what = local(temporary(), at);
  const NodeId from = deref(load(where, at), at);
  return make(Kind::kSequence, at,
              {make(Kind::kAssign, at, {where, address(place(of), at)}),
               make(Kind::kAssign, at, {what, load(from, at)}),
               make(Kind::kAssign, at, {from, constant(at)}), load(what, at)});
}

NodeId TransactionUnit::swapped(NodeId one, NodeId other, SourceLocation at) {
  const NodeId kept = local(temporary(), at);
  return make(Kind::kSequence, at,
              {make(Kind::kAssign, at, {kept, load(one, at)}),
               make(Kind::kAssign, at, {one, load(other, at)}),
               make(Kind::kAssign, at, {other, load(kept, at)})});
}

// Of one, or of an object of the library that has some. Nothing: like any other.
NodeId TransactionUnit::guard_method(const clang::CXXMethodDecl& method, const clang::CallExpr& of,
                                     llvm::ArrayRef<const Expr*> arguments) {
  const SourceLocation at = of.getExprLoc();
  const QualType type = context_.getRecordType(method.getParent());
  const llvm::StringRef name = plain_name(method);
  const bool is_guard = !guard_kind(type).empty();
  const bool shared = guard_kind(type) == "shared_lock";
  const clang::OverloadedOperatorKind kind = method.getOverloadedOperator();
  const NodeId guard = object_of(of);
  const auto is_named = [&](std::initializer_list<llvm::StringRef> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (kind == clang::OO_Equal || is_named({"emplace"})) {
    const NodeId kept = local(temporary(), at);
    // std::optional gives back first.
    const NodeId made = make(Kind::kAssign, at, {kept, made_guard(arguments, shared, at)});
    const NodeId end = unlock_of(guard, at);
    const bool ends_first = kind != clang::OO_Equal;
    return make(Kind::kSequence, at,
                {ends_first ? end : made, ends_first ? made : end,
                 make(Kind::kAssign, at, {guard, load(kept, at)}), address(guard, at)});
  }
  if (name == "swap" && arguments.size() == 1) return swapped(guard, place(arguments[0]), at);
  if (is_guard) {
    if (name == "release") {
      const NodeId kept = local(temporary(), at);
      return make(Kind::kSequence, at,
                  {make(Kind::kAssign, at, {kept, load(guard, at)}),
                   make(Kind::kAssign, at, {guard, constant(at)}), load(kept, at)});
    }
    return name == "mutex" ? load(guard, at) : constant(at);
  }
  if (is_named({"reset", "clear", "pop_back", "pop_front", "pop"})) return end_of(guard, at);
  if (is_named({"emplace_back", "push_back", "push", "emplace_front", "push_front"})) {
    return make(Kind::kUpdate, at, {guard, made_guard(arguments, shared, at)});
  }
  if (kind == clang::OO_Star || kind == clang::OO_Arrow || kind == clang::OO_Subscript ||
      is_named({"value", "get", "front", "back", "at"})) {
    return address(guard, at);
  }
  return tm::kNoNode;
}

}  // namespace tomos::cpp
