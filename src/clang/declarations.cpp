// Declarations: classes with their fields, globals, functions, and what Clang's attributes say of
// them.
#include <algorithm>
#include <utility>

#include "clang/body.h"
#include "clang/places.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::CXXMethodDecl;
using clang::CXXRecordDecl;
using clang::FunctionDecl;
using clang::QualType;
using clang::RecordDecl;

Unit::Unit(clang::ASTContext& context_of, Summary& into, std::string directory,
           std::map<clang::FileID, std::vector<Requirement>> requirements)
    : context(context_of),
      summary(into),
      program(into.program),
      requirements_(std::move(requirements)),
      files_(std::move(directory)) {}

void Unit::read() {
  read_all(*context.getTranslationUnitDecl());
  read_member_pointers();
}

void Unit::read_all(const clang::DeclContext& of) {
  for (const clang::Decl* decl : of.decls()) {
    if (!is_foreign(*decl) || llvm::isa<clang::NamespaceDecl>(decl) ||
        llvm::isa<clang::LinkageSpecDecl>(decl)) {
      read(*decl);
    }
  }
}

void Unit::read(const clang::Decl& decl) {
  if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&decl)) {
    read_all(*space);
  } else if (const auto* linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(&decl)) {
    read_all(*linkage);
  } else if (const auto* record = llvm::dyn_cast<RecordDecl>(&decl)) {
    const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
    if (of_class != nullptr && of_class->isDependentContext()) return;
    if (!record->isThisDeclarationADefinition()) return;
    type_of(context.getRecordType(record));
    read_all(*record);
  } else if (const auto* class_template = llvm::dyn_cast<clang::ClassTemplateDecl>(&decl)) {
    // Perhaps there are only partial specializations.
    const bool has_definition = class_template->getTemplatedDecl()->getDefinition() != nullptr;
    if (has_definition && !class_template->isThisDeclarationADefinition()) return;
    for (const auto* special : class_template->specializations()) {
      if (special->isCompleteDefinition() && !special->isExplicitSpecialization()) read(*special);
    }
  } else if (const auto* function_template = llvm::dyn_cast<clang::FunctionTemplateDecl>(&decl)) {
    for (const FunctionDecl* special : function_template->specializations()) {
      read_function(*special);
    }
  } else if (const auto* function = llvm::dyn_cast<FunctionDecl>(&decl)) {
    read_function(*function);
  } else if (const auto* befriends = llvm::dyn_cast<clang::FriendDecl>(&decl)) {
    // Perhaps it is defined there, and then nowhere else.
    const clang::NamedDecl* one = befriends->getFriendDecl();
    if (one != nullptr && one->getAsFunction() != nullptr) read(*one);
  } else if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&decl)) {
    if (variable->hasGlobalStorage() && !variable->getType()->isDependentType()) {
      declare_global(*variable);
    }
  }
}

void Unit::read_function(const FunctionDecl& of) {
  const FunctionDecl* function = of.getDefinition();
  if (function == nullptr || function->isDependentContext() ||
      !function->doesThisDeclarationHaveABody()) {
    // Attributes of what is defined elsewhere are facts, too.
    const auto* method = llvm::dyn_cast<CXXMethodDecl>(&of);
    const bool own = method == nullptr || (!is_guard_class(*method->getParent()) &&
                                           !is_lock_class(*method->getParent()) &&
                                           !is_pointer_class(*method->getParent()));
    if (function == nullptr && !of.isDependentContext() && of.hasAttrs() && own) declare(of);
    return;
  }
  if (function->isDefaulted() || function->isDeleted() || is_foreign(*function)) return;
  if (!read_.insert(function).second) return;
  if (const auto* method = llvm::dyn_cast<CXXMethodDecl>(function)) {
    const CXXRecordDecl& record = *method->getParent();
    if (record.isLambda() || is_guard_class(record) || is_lock_class(record) ||
        is_pointer_class(record)) {
      return;
    }
  }
  const Home home = declare(*function);
  const core::ExprId before = method_at(home).body;
  // Of what all instantiations of a template have, the first stands for the others.
  const bool differs =
      function->getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization;
  if (before != core::kNoExpr && !differs) return;
  Body body(*this, *function, home);
  core::ExprId made = body.read();
  if (before != core::kNoExpr) {
    const core::Position at = position(function->getLocation());
    const core::ExprId either =
        program.add({.kind = core::Expr::Kind::kConstant, .position = at, .name = "\"?\""});
    made = program.add(
        {.kind = core::Expr::Kind::kIf, .position = at, .children = {either, before, made}});
  }
  method_at(home).body = made;
}

core::Class& Unit::class_of(const std::string& name) {
  const auto [at, is_new] = classes_.emplace(name, program.classes.size());
  if (is_new) program.classes.push_back({.name = name});
  return program.classes[at->second];
}

void Unit::define(const RecordDecl& of, const std::string& name) {
  const bool known = classes_.contains(name);
  if (known && program.classes[classes_[name]].position.line != 0) {
    define_again(of, name);
    return;
  }
  class_of(name);
  const RecordDecl* record = of.getDefinition();
  if (record == nullptr) return;
  class_of(name).position = position(record->getLocation());
  // C reaches objects through the lists that they are in.
  class_of(name).is_kept |= !context.getLangOpts().CPlusPlus;
  if (const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record)) {
    for (const clang::CXXBaseSpecifier& base : of_class->bases()) {
      const core::Type above = type_of(base.getType());
      if (above.name != "int" && above.name != name) class_of(name).bases.push_back(above);
      // Whoever keeps that knows nothing of this class.
      const auto* foreign = base.getType()->getAsCXXRecordDecl();
      class_of(name).is_kept |= above.name == "int" && foreign != nullptr &&
                                foreign->hasDefinition() && foreign->isPolymorphic();
    }
  }
  for (const clang::Decl* decl : record->decls()) {
    if (const auto* field = llvm::dyn_cast<clang::FieldDecl>(decl)) {
      core::Field made = shared(*field, field->getType());
      made.type = field_type(*field);
      made.name = field_name(*field);
      if (made.name != own_name(*field)) made.display = own_name(*field);
      class_of(name).fields.push_back(std::move(made));
    }
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    if (variable != nullptr && variable->isStaticDataMember()) declare_global(*variable);
  }
  const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
  if (of_class == nullptr || of_class->hasUserDeclaredConstructor()) return;
  for (const clang::FieldDecl* field : of_class->fields()) {
    Body::read_lambdas(*this, *field, field->getInClassInitializer(),
                       {.class_name = name, .name = field_name(*field), .is_static = false});
  }
}

// Another instantiation of a template that is there already keeps other objects, and in it may
// change what is constant, or looks after itself, in the others.
void Unit::define_again(const RecordDecl& of, const std::string& name) {
  if (!llvm::isa<clang::ClassTemplateSpecializationDecl>(of)) return;
  const RecordDecl* record = of.getDefinition();
  if (record == nullptr || !instances_.insert(record).second) return;
  for (const clang::FieldDecl* field : record->fields()) {
    const core::Field again = shared(*field, field->getType());
    std::vector<core::Field>& fields = class_of(name).fields;
    const auto at = std::ranges::find(fields, field_name(*field), &core::Field::name);
    if (at == fields.end()) continue;
    for (const std::string& one : again.keeps) {
      if (std::ranges::find(at->keeps, one) == at->keeps.end()) at->keeps.push_back(one);
    }
    const bool was_final = at->type.name == "int" && at->guard.kind == core::Guard::Kind::kFinal;
    if (was_final && again.guard.kind != core::Guard::Kind::kFinal) at->guard = {};
  }
}

bool Unit::is_capability(const RecordDecl* of) {
  if (of == nullptr) return false;
  const RecordDecl* record = of->getDefinition() != nullptr ? of->getDefinition() : of;
  if (record->hasAttr<clang::CapabilityAttr>()) return true;
  const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
  return of_class != nullptr && of_class->hasDefinition() &&
         std::ranges::any_of(of_class->bases(), [](const clang::CXXBaseSpecifier& base) {
           return is_capability(base.getType()->getAsCXXRecordDecl());
         });
}

// A field or a global, without its name.
core::Field Unit::shared(const clang::ValueDecl& decl, QualType type) {
  core::Field made = {.type = type_of(type),
                      .is_pointer = is_pointer(type),
                      .keeps = objects_in(type),
                      .position = position(decl.getLocation()),
                      .end = position(place_of(decl, context))};
  if (made.type.name == "void") made.type.name = "int";
  const QualType element = context.getBaseElementType(type);
  made.is_borrowed = type->isPointerType() || type->isReferenceType();
  const RecordDecl* record = element->getAsRecordDecl();
  if (type->isArrayType()) made.type = {.name = "int"};
  const bool is_lock = lock_type(element).has_value();
  made.is_own_lock = is_lock && record != nullptr && !is_foreign(*record);
  made.is_capability = is_capability(object_type(element)->getAsRecordDecl());
  const bool never_assigned = type.isConstQualified() || type->isReferenceType();
  const bool leads_on = made.is_borrowed || (never_assigned && is_pointer(type));
  made.is_constant = leads_on && never_assigned;
  const bool looks_after_itself =
      is_lock || (record != nullptr && !is_foreign(*record) && owns_locks(*record));
  if (element->isAtomicType() ||
      (record != nullptr && is_of_std(*record) && plain_name(*record).starts_with("atomic"))) {
    made.guard.kind = core::Guard::Kind::kAtomic;
  } else if (leads_on ? never_assigned && (is_lock || made.type.name == "int")
                      : looks_after_itself || element.isConstQualified()) {
    made.guard.kind = core::Guard::Kind::kFinal;
  }
  made.is_pt_given = decl.hasAttr<clang::PtGuardedByAttr>();
  made.is_given = decl.hasAttr<clang::GuardedVarAttr>();  // by which lock is to be found out
  if (const auto* given = decl.getAttr<clang::GuardedByAttr>()) {
    if (const auto lock = path(given->getArg(), {})) {
      made.guard = {.kind = core::Guard::Kind::kGuardedBy, .lock = lock_id(*lock)};
      made.is_given = true;
    }
  }
  return made;
}

void Unit::declare_global(const clang::VarDecl& of) {
  // A static member is annotated in its class.
  const clang::VarDecl* variable = of.isStaticDataMember() ? nullptr : of.getDefinition();
  if (variable == nullptr) variable = of.getCanonicalDecl();
  if (variable->isInvalidDecl() || variable->getType()->isDependentType()) return;
  const std::string name = global_name(*variable);
  if (!globals_.emplace(name, program.globals.size()).second) return;
  core::Field made = shared(*variable, variable->getType());
  made.display = variable->getQualifiedNameAsString();
  const auto* record = llvm::dyn_cast<RecordDecl>(variable->getDeclContext());
  if (record != nullptr) {
    const std::string owner = class_name(*record);
    made.name = variable->getNameAsString();
    made.is_static = true;
    made.display.clear();
    class_of(owner).fields.push_back(std::move(made));
  } else {
    made.name = name;
    program.globals.push_back(std::move(made));
  }
  if (!variable->isStaticLocal()) {
    Body::read_lambdas(*this, *variable, variable->getAnyInitializer(),
                       {.class_name = {}, .name = name, .is_static = true});
  }
}

void Unit::mark_atomic(const clang::FieldDecl& field) {
  core::Class& of = class_of(class_name(*field.getParent()));
  const auto at = std::ranges::find(of.fields, field_name(field), &core::Field::name);
  if (at != of.fields.end() && at->guard.kind == core::Guard::Kind::kUnset) {
    at->guard.kind = core::Guard::Kind::kAtomic;
  }
}

core::Method& Unit::method_at(const Home& home) {
  if (home.class_name.empty()) return program.functions[functions_[home.name]];
  return class_of(home.class_name).methods[methods_[home.class_name][home.name]];
}

core::Method& Unit::add_method(const Home& home, core::Method made) {
  if (home.class_name.empty()) {
    const auto [at, is_new] = functions_.emplace(home.name, program.functions.size());
    if (is_new) program.functions.push_back(std::move(made));
    return program.functions[at->second];
  }
  core::Class& of = class_of(home.class_name);
  const auto [at, is_new] = methods_[home.class_name].emplace(home.name, of.methods.size());
  if (is_new) of.methods.push_back(std::move(made));
  return of.methods[at->second];
}

namespace {

// Attributes stand at the first declaration, and use its names.
std::string first_name(const FunctionDecl& function, const clang::ParmVarDecl& parameter) {
  const unsigned index = parameter.getFunctionScopeIndex();
  const FunctionDecl* first = function.getFirstDecl();
  return (index < first->getNumParams() ? first->getParamDecl(index) : &parameter)
      ->getNameAsString();
}

// What all instantiations of a template return. That of an override may be another in each.
clang::QualType declared_result(const FunctionDecl& function) {
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(&function);
  const bool of_template =
      method != nullptr && llvm::isa<clang::ClassTemplateSpecializationDecl>(method->getParent());
  while (of_template && method->size_overridden_methods() > 0) {
    method = *method->begin_overridden_methods();
  }
  return of_template ? method->getReturnType() : function.getReturnType();
}

}  // namespace

Unit::Home Unit::declare(const FunctionDecl& of) {
  const FunctionDecl* function = of.getDefinition() != nullptr ? of.getDefinition() : &of;
  Home home;
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(function);
  if (method != nullptr) {
    home = {.class_name = class_name(*method->getParent()),
            .name = method_name(*method),
            .is_static = !method->isImplicitObjectMemberFunction()};
    if (methods_[home.class_name].contains(home.name)) return home;
    type_of(context.getRecordType(method->getParent()));
  } else {
    home = {.class_name = {}, .name = function_name(*function), .is_static = true};
    if (functions_.contains(home.name)) return home;
  }
  core::Method made = {
      .kind = home.is_static ? core::Method::Kind::kStatic : core::Method::Kind::kMethod,
      .result = type_of(declared_result(*function)),
      .name = home.name,
      .position = position(function->getLocation())};
  if (method != nullptr) {
    made.display = method->getQualifiedNameAsString();
    made.is_constant = method->isConst();
    made.is_private = method->getAccess() == clang::AS_private && !method->isVirtual();
  } else {
    made.display = function->getQualifiedNameAsString();
    made.is_private = !function->hasExternalFormalLinkage();
  }
  const bool makes = llvm::isa<clang::CXXConstructorDecl>(function);
  if (makes) made.kind = core::Method::Kind::kConstructor;
  if (llvm::isa<clang::CXXDestructorDecl>(function)) made.kind = core::Method::Kind::kDestructor;
  if (makes || made.kind == core::Method::Kind::kDestructor) made.result = {.name = "void"};
  if (!makes) {
    for (const clang::ParmVarDecl* parameter : function->parameters()) {
      made.parameters.push_back(
          {.type = parameter_type(*parameter),
           .name = Body::parameter_name(*parameter),
           .display = first_name(*function, *parameter),
           .is_pointer = is_pointer(parameter->getType()),
           .is_constant = is_left_alone(*function, parameter->getFunctionScopeIndex()),
           .is_guard = is_guard_parameter(*parameter),
           .position = position(parameter->getLocation())});
    }
  }
  attributes(*function, made);
  add_method(home, std::move(made));
  return home;
}

std::optional<core::Basic> Unit::requirement(clang::SourceLocation begin) {
  if (requirements_.empty() || begin.isInvalid()) return std::nullopt;
  const clang::SourceManager& manager = context.getSourceManager();
  const auto [file, offset] = manager.getDecomposedExpansionLoc(begin);
  const auto at = requirements_.find(file);
  if (at == requirements_.end()) return std::nullopt;
  const llvm::StringRef text = manager.getBufferData(file);
  for (const Requirement& wanted : at->second) {
    if (wanted.end <= offset && text.slice(wanted.end, offset).trim().empty()) return wanted.basic;
  }
  return std::nullopt;
}

// Every declaration of a function may carry some.
void Unit::attributes(const FunctionDecl& function, core::Method& method) {
  const auto add = [&](std::vector<core::LockId>& to, const auto& arguments,
                       const FunctionDecl& declaration) {
    for (const clang::Expr* argument : arguments) {
      // The parameters of this declaration by their names in the definition.
      const std::function<std::optional<std::string>(const clang::VarDecl&)> names =
          [&](const clang::VarDecl& variable) -> std::optional<std::string> {
        const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&variable);
        if (parameter == nullptr) return std::nullopt;
        const unsigned index = parameter->getFunctionScopeIndex();
        if (index >= method.parameters.size()) return std::nullopt;
        return method.parameters[index].name;
      };
      const auto* negated = llvm::dyn_cast<clang::UnaryOperator>(argument->IgnoreParenImpCasts());
      if (negated != nullptr && negated->getOpcode() == clang::UO_LNot) continue;
      const auto lock = path(argument, {.variables = &names});
      // Said again by another declaration, it is the same lock.
      const auto id = lock ? lock_id(*lock) : core::LockId();
      if (lock && std::ranges::find(to, id) == to.end()) to.push_back(id);
    }
    if (arguments.begin() == arguments.end() && llvm::isa<CXXMethodDecl>(declaration)) {
      to.push_back(program.locks.variable("this"));
    }
  };
  for (const FunctionDecl* declaration : function.redecls()) {
    for (const clang::Attr* attribute : declaration->attrs()) {
      if (attribute->isInherited()) continue;
      if (const auto* held = llvm::dyn_cast<clang::RequiresCapabilityAttr>(attribute)) {
        add(method.requires_held, held->args(), *declaration);
        method.is_given = true;
      } else if (const auto* taken = llvm::dyn_cast<clang::AcquireCapabilityAttr>(attribute)) {
        add(method.acquires, taken->args(), *declaration);
        method.is_given = true;
      } else if (const auto* left = llvm::dyn_cast<clang::ReleaseCapabilityAttr>(attribute)) {
        add(method.releases, left->args(), *declaration);
        method.is_given = true;
      } else if (const auto* excluded = llvm::dyn_cast<clang::LocksExcludedAttr>(attribute)) {
        add(method.excludes, excluded->args(), *declaration);
      } else if (llvm::isa<clang::NoThreadSafetyAnalysisAttr>(attribute)) {
        method.no_warn = true;
      } else if (const auto* note = llvm::dyn_cast<clang::AnnotateAttr>(attribute)) {
        if (note->getAnnotation() == "tomos::atomic") {
          method.atomicity = program.add(core::Term{.basic = core::Basic::kAtomic});
        }
      }
    }
    if (const auto wanted = requirement(declaration->getBeginLoc())) {
      method.atomicity = program.add(core::Term{.basic = *wanted});
    }
  }
  method.begin = position(begin_of(function));
  method.end = position(place_of(function, context));
}

core::LockId Unit::lock_id(const LockPath& path) {
  core::LockId lock = program.locks.variable(path.root);
  for (const std::string& field : path.fields) lock = program.locks.field(lock, field);
  return lock;
}

}  // namespace tomos::cpp
