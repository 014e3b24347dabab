// Names and types. A name is the same in every translation unit that sees the thing, so that
// summaries can be merged by it. All instantiations of a class template are one class, because its
// fields are annotated once; their methods are told apart by the arguments.
#include <clang/Lex/Lexer.h>
#include <llvm/Support/FileSystem.h>

#include "clang/unit.h"

namespace tomos::cpp {

using clang::CXXMethodDecl;
using clang::CXXRecordDecl;
using clang::FunctionDecl;
using clang::NamedDecl;
using clang::QualType;
using clang::RecordDecl;

namespace {

std::string type_text(QualType type, const clang::ASTContext& context) {
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.SuppressTagKeyword = true;
  policy.AnonymousTagLocations = false;  // one for all lambdas: they are told apart at the call
  return type.getCanonicalType().getAsString(policy);
}

std::string arguments_text(llvm::ArrayRef<clang::TemplateArgument> arguments,
                           const clang::ASTContext& context) {
  clang::PrintingPolicy policy(context.getLangOpts());
  policy.PrintCanonicalTypes = true;
  policy.AnonymousTagLocations = false;
  std::string text;
  llvm::raw_string_ostream out(text);
  clang::printTemplateArgumentList(out, arguments, policy);
  return text;
}

}  // namespace

core::Position Unit::position(clang::SourceLocation location) {
  if (location.isInvalid()) return {};
  const clang::SourceManager& manager = context.getSourceManager();
  const auto [file, offset] = manager.getDecomposedExpansionLoc(location);
  const auto number = files_.of(file, manager, program.files);
  if (!number) return {};
  return {.file = *number,
          .line = manager.getLineNumber(file, offset),
          .column = manager.getColumnNumber(file, offset)};
}

bool Unit::is_in_system_header(const clang::Decl& decl) const {
  const clang::SourceLocation location = decl.getLocation();
  const clang::SourceManager& manager = context.getSourceManager();
  return location.isInvalid() || manager.isInSystemHeader(manager.getExpansionLoc(location));
}

// The project may define what a system header declares.
bool Unit::is_foreign(const clang::Decl& decl) const {
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(&decl)) {
    const clang::VarDecl* definition = variable->getDefinition();
    return is_in_system_header(definition != nullptr ? *definition : *variable);
  }
  if (const auto* record = llvm::dyn_cast<CXXRecordDecl>(&decl)) {
    return is_in_system_header(decl) && !is_implemented(*record);
  }
  const auto* function = llvm::dyn_cast<FunctionDecl>(&decl);
  if (function == nullptr) return is_in_system_header(decl);
  const FunctionDecl* definition = function->getDefinition();
  if (function->getBuiltinID() != 0 || decl.getLocation().isInvalid()) return true;
  if (!is_in_system_header(definition != nullptr ? *definition : *function)) return false;
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(function);
  return method == nullptr || is_foreign(*method->getParent());
}

// Whether a method of the class, or of one that it is inside, is defined here outside of system
// headers.
bool Unit::is_implemented(const CXXRecordDecl& of) const {
  if (is_of_std(of)) return false;
  const CXXRecordDecl* record = of.getTemplateInstantiationPattern();
  if (record == nullptr) record = &of;
  record = record->getCanonicalDecl();
  const auto known = implemented_.find(record);
  if (known != implemented_.end()) return known->second;
  bool found = false;
  if (const CXXRecordDecl* definition = record->getDefinition()) {
    found = std::ranges::any_of(definition->methods(), [&](const CXXMethodDecl* method) {
      const FunctionDecl* body = method->getDefinition();
      return body != nullptr && !body->isImplicit() && !is_in_system_header(*body);
    });
  }
  const auto* outer = llvm::dyn_cast<CXXRecordDecl>(record->getDeclContext());
  if (!found && outer != nullptr) found = is_implemented(*outer);
  return implemented_[record] = found;
}

std::string Unit::own_name(const NamedDecl& decl) {
  if (!decl.getDeclName().isEmpty()) return decl.getNameAsString();
  if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(&decl)) {
    if (const clang::TypedefNameDecl* alias = tag->getTypedefNameForAnonDecl()) {
      return alias->getNameAsString();
    }
  }
  const core::Position at = position(decl.getLocation());
  return "(" + std::to_string(at.line) + ":" + std::to_string(at.column) + ")";
}

// What no other file can name is told apart by its file; the end of the path is enough for that.
std::string Unit::own_file(const clang::Decl& decl) {
  const core::Position at = position(decl.getLocation());
  if (at.line == 0) return {};
  // One file is one, by whatever links it is reached.
  llvm::SmallString<256> real;
  const std::string& written = program.files[at.file];
  const bool is_there = !llvm::sys::fs::real_path(written, real);
  const llvm::StringRef path = is_there ? llvm::StringRef(real) : llvm::StringRef(written);
  std::size_t begin = path.size();
  for (int parts = 0; parts < 3 && begin != llvm::StringRef::npos; ++parts) {
    begin = path.substr(0, begin).rfind('/');
  }
  return "(" + path.substr(begin == llvm::StringRef::npos ? 0 : begin + 1).str() + ")::";
}

// What stands before a name: "leveldb::", "(src/db/file.cpp)::".
std::string Unit::qualifier(const clang::DeclContext* of) {
  of = of->getRedeclContext();
  if (of->isTranslationUnit()) return {};
  const auto* decl = llvm::cast<clang::Decl>(of);
  if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl)) {
    std::string before = qualifier(space->getParent());
    if (space->isInline()) return before;
    if (!space->isAnonymousNamespace()) return before + space->getNameAsString() + "::";
    return before + own_file(*space);
  }
  if (const auto* record = llvm::dyn_cast<RecordDecl>(decl)) return class_name(*record) + "::";
  if (const auto* function = llvm::dyn_cast<FunctionDecl>(decl)) {
    return function_name(*function) + "::";
  }
  return qualifier(of->getParent());
}

std::string Unit::class_name(const RecordDecl& of) {
  const RecordDecl* record = &of;
  if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    if (!special->isExplicitSpecialization()) {
      record = special->getTemplateInstantiationPattern();
      if (record == nullptr) record = special->getSpecializedTemplate()->getTemplatedDecl();
    }
  } else if (const auto* record_class = llvm::dyn_cast<CXXRecordDecl>(record)) {
    if (const CXXRecordDecl* pattern = record_class->getTemplateInstantiationPattern()) {
      record = pattern;
    }
  }
  record = llvm::cast<RecordDecl>(record->getCanonicalDecl());
  const auto known = names_.find(record);
  if (known != names_.end()) return known->second;
  std::string name = qualifier(record->getDeclContext()) + own_name(*record);
  // A partial one is called what people wrote.
  if (const auto* part = llvm::dyn_cast<clang::ClassTemplatePartialSpecializationDecl>(record)) {
    llvm::raw_string_ostream out(name);
    clang::printTemplateArgumentList(out, part->getTemplateArgsAsWritten()->arguments(),
                                     context.getPrintingPolicy());
  } else if (const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record)) {
    name += arguments_text(special->getTemplateArgs().asArray(), context);
  }
  // The core has these itself.
  if (is_one_of(name, {"mutex", "recursive_mutex", "Object", "string", "bool"})) name = "::" + name;
  return names_[record] = name;
}

bool Unit::is_method_above(const CXXRecordDecl& record, clang::DeclarationName name) {
  const CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr || name.isEmpty()) return false;
  for (const clang::CXXBaseSpecifier& base : definition->bases()) {
    const CXXRecordDecl* above = base.getType()->getAsCXXRecordDecl();
    if (above == nullptr || is_foreign(*above)) continue;
    for (const NamedDecl* found : above->lookup(name)) {
      if (!llvm::isa<clang::FieldDecl>(found)) return true;
    }
    if (is_method_above(*above, name)) return true;
  }
  return false;
}

namespace {

const clang::ClassTemplateDecl* class_template_in(QualType type) {
  const auto* special = type.getCanonicalType()->getAs<clang::TemplateSpecializationType>();
  if (special == nullptr) return nullptr;
  return llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(
      special->getTemplateName().getAsTemplateDecl());
}

// The classes that a type in a template may be: with arguments that are not known yet any
// specialization that has a body of its own. Empty: any at all.
std::vector<const CXXRecordDecl*> possible_classes(QualType type) {
  if (const CXXRecordDecl* record = type->getAsCXXRecordDecl()) return {record};
  const clang::ClassTemplateDecl* made = class_template_in(type);
  if (made == nullptr) return {};
  std::vector<const CXXRecordDecl*> found = {made->getTemplatedDecl()};
  llvm::SmallVector<clang::ClassTemplatePartialSpecializationDecl*, 4> partial;
  const_cast<clang::ClassTemplateDecl*>(made)->getPartialSpecializations(partial);
  found.insert(found.end(), partial.begin(), partial.end());
  for (const auto* special : made->specializations()) {
    if (special->isExplicitSpecialization()) found.push_back(special);
  }
  return found;
}

// Whether a field may hide one of a base. If that cannot be known it may: then its name is only
// longer. Nor does it matter what is foreign, which units see differently.
bool may_hide_field(const CXXRecordDecl& record, clang::DeclarationName name,
                    std::set<const CXXRecordDecl*>& seen) {
  const CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr || !seen.insert(definition).second) return false;
  const auto has_field = [&](const CXXRecordDecl* of) {
    return std::ranges::any_of(of->lookup(name), [](const NamedDecl* found) {
      return llvm::isa<clang::FieldDecl>(found);
    });
  };
  return std::ranges::any_of(definition->bases(), [&](const clang::CXXBaseSpecifier& base) {
    const auto possible = possible_classes(base.getType());
    return possible.empty() || std::ranges::any_of(possible, [&](const CXXRecordDecl* one) {
             return has_field(one) || may_hide_field(*one, name, seen);
           });
  });
}

}  // namespace

std::string Unit::field_name(const clang::FieldDecl& field) {
  const auto known = names_.find(&field);
  if (known != names_.end()) return known->second;
  std::string name = own_name(field);
  if (const auto* record = llvm::dyn_cast<CXXRecordDecl>(field.getParent())) {
    // All instantiations have one field, so what one of them hides all of them hide.
    const CXXRecordDecl* pattern = record->getTemplateInstantiationPattern();
    std::set<const CXXRecordDecl*> seen;
    if (!field.getDeclName().isEmpty() &&
        may_hide_field(pattern != nullptr ? *pattern : *record, field.getDeclName(), seen)) {
      name = class_name(*record) + "::" + name;
    }
  }
  return names_[&field] = name;
}

std::string Unit::global_name(const clang::VarDecl& of) {
  const clang::VarDecl* variable = of.getCanonicalDecl();
  if (const clang::VarDecl* pattern = variable->getTemplateInstantiationPattern()) {
    variable = pattern->getCanonicalDecl();
  }
  const auto known = names_.find(variable);
  if (known != names_.end()) return known->second;
  std::string name = qualifier(variable->getDeclContext()) + own_name(*variable);
  if (variable->isStaticLocal()) {
    name += "@" + std::to_string(position(variable->getLocation()).line);
  } else if (!variable->isStaticDataMember() && !variable->hasExternalFormalLinkage()) {
    if (!variable->isInAnonymousNamespace()) name = own_file(*variable) + name;
  }
  // No local variable has such a name.
  if (name.find("::") == std::string::npos) name = "::" + name;
  return names_[variable] = name;
}

std::string Unit::signature(const FunctionDecl& function) {
  std::string text = "(";
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (text.size() > 1) text += ", ";
    text += type_text(parameter->getType(), context);
  }
  text += function.isVariadic() ? "...)" : ")";
  const auto* method = llvm::dyn_cast<CXXMethodDecl>(&function);
  if (method != nullptr && method->isConst()) text += " const";
  return text;
}

// An override has the name of what it overrides.
std::string Unit::method_name(const CXXMethodDecl& of) {
  const CXXMethodDecl* method = of.getCanonicalDecl();
  while (method->size_overridden_methods() > 0) {
    method = (*method->begin_overridden_methods())->getCanonicalDecl();
  }
  const auto known = names_.find(method);
  if (known != names_.end()) return known->second;
  const CXXRecordDecl* record = method->getParent();
  std::string name = method->getNameAsString();
  if (const auto* conversion = llvm::dyn_cast<clang::CXXConversionDecl>(method)) {
    name = "operator " + type_text(conversion->getConversionType(), context);
  }
  if (llvm::isa<clang::CXXConstructorDecl>(method)) {
    name = own_name(*record) + signature(*method);
  } else if (llvm::isa<clang::CXXDestructorDecl>(method)) {
    name = "~" + class_name(*record);
  } else {
    const auto same = record->lookup(method->getDeclName());
    if (std::distance(same.begin(), same.end()) > 1) name += signature(*method);
    if (is_method_above(*record, method->getDeclName())) {
      name = class_name(*record) + "::" + name;
    }
  }
  if (const auto* arguments = method->getTemplateSpecializationArgs()) {
    name += arguments_text(arguments->asArray(), context);
  }
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(record);
  if (special != nullptr && !special->isExplicitSpecialization() &&
      !llvm::isa<clang::CXXDestructorDecl>(method)) {
    name += arguments_text(special->getTemplateArgs().asArray(), context);
  }
  return names_[method] = name;
}

std::string Unit::function_name(const FunctionDecl& of) {
  if (const auto* method = llvm::dyn_cast<CXXMethodDecl>(&of)) {
    return class_name(*method->getParent()) + "::" + method_name(*method);
  }
  const FunctionDecl* function = of.getCanonicalDecl();
  const auto known = names_.find(function);
  if (known != names_.end()) return known->second;
  std::string name = qualifier(function->getDeclContext()) + function->getNameAsString();
  if (const auto* arguments = function->getTemplateSpecializationArgs()) {
    name += arguments_text(arguments->asArray(), context);
  }
  if (context.getLangOpts().CPlusPlus && !function->isExternC()) name += signature(*function);
  const bool is_own = !function->hasExternalFormalLinkage() || function->isMain();
  if (is_own && !function->isInAnonymousNamespace()) {
    name = own_file(*function) + name;
  }
  return names_[function] = name;
}

namespace {

// A pointer class of the project: P<T> with a T* operator->(), or that is a standard one.
bool leads_to(const CXXRecordDecl& record, QualType object) {
  const CXXRecordDecl* definition = record.getDefinition();
  if (definition == nullptr || object->getAsRecordDecl() == nullptr || is_of_std(record)) {
    return false;
  }
  const auto is_object = [&](QualType type) {
    return type->getAsRecordDecl() == object->getAsRecordDecl();
  };
  const auto is_pointer_base = [&](const clang::CXXBaseSpecifier& base) {
    const auto* above = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(
        base.getType()->getAsCXXRecordDecl());
    return above != nullptr && is_of_std(*above) &&
           (plain_name(*above) == "unique_ptr" || plain_name(*above) == "shared_ptr") &&
           is_object(above->getTemplateArgs()[0].getAsType());
  };
  return std::ranges::any_of(definition->bases(), is_pointer_base) ||
         std::ranges::any_of(definition->methods(), [&](const CXXMethodDecl* method) {
           const QualType result = method->getReturnType();
           return method->getOverloadedOperator() == clang::OO_Arrow && result->isPointerType() &&
                  is_object(result->getPointeeType());
         });
}

// The T of a class that stands for a T elsewhere, or nowhere yet.
QualType held_by(const CXXRecordDecl& record) {
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&record);
  if (special == nullptr || !record.getDeclName().isIdentifier()) return {};
  const llvm::StringRef name = plain_name(record);
  const bool holds = name == "unique_ptr" || name == "shared_ptr" || name == "weak_ptr" ||
                     name == "optional" || name == "reference_wrapper" || name == "atomic" ||
                     name == "__shared_ptr" || name == "__shared_ptr_access" ||
                     name == "scoped_refptr" || name == "not_null";
  if (special->getTemplateArgs().size() == 0) return {};
  const clang::TemplateArgument& first = special->getTemplateArgs()[0];
  if (first.getKind() != clang::TemplateArgument::Type) return {};
  return holds || leads_to(record, first.getAsType()) ? first.getAsType() : QualType();
}

}  // namespace

bool Unit::owns_value(QualType type) {
  const CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr || !record->getDeclName().isIdentifier()) return false;
  if (plain_name(*record) != "unique_ptr") return false;
  const QualType held = held_by(*record);
  const CXXRecordDecl* object = held.isNull() ? nullptr : held->getAsCXXRecordDecl();
  return object != nullptr && is_foreign(*object);
}

bool Unit::is_pointer_class(const RecordDecl& of) {
  const auto* record = llvm::dyn_cast<CXXRecordDecl>(&of);
  return record != nullptr && !is_of_std(*record) && !held_by(*record).isNull();
}

QualType Unit::object_type(QualType type) {
  type = type.getNonReferenceType();
  if (const CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    const QualType held = held_by(*record);
    if (!held.isNull()) type = held;
  }
  if (type->isPointerType()) type = type->getPointeeType();
  return type;
}

core::Type Unit::type_of(QualType type) {
  if (type.isNull()) return {.name = "void"};
  if (const auto lock = lock_type(type)) return {.name = *lock};
  if (type->isVoidType()) return {.name = "void"};
  const RecordDecl* record = object_type(type)->getAsRecordDecl();
  if (record == nullptr || is_foreign(*record)) return {.name = "int"};
  const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
  if (of_class != nullptr && (of_class->isLambda() || of_class->isDependentContext())) {
    return {.name = "int"};
  }
  if (is_guard_class(*record)) return {.name = "int"};
  const std::string name = class_name(*record);
  define(*record, name);
  return {.name = name};
}

// Whether a field that depends on the parameters of a template leads to one class in all
// instantiations of this unit. Box<T>* is always a Box, but a T::Part may be anything.
bool Unit::leads_to_one_class(const clang::FieldDecl& field, const clang::FieldDecl& pattern) {
  const auto known = one_class_.find(&pattern);
  if (known != one_class_.end()) return known->second;
  const auto class_in = [&](const clang::FieldDecl& of) {
    const CXXRecordDecl* held = object_type(of.getType())->getAsCXXRecordDecl();
    const bool is_instance = held != nullptr && held->getTemplateInstantiationPattern() != nullptr;
    return is_instance ? class_name(*held) : std::string();
  };
  const std::string name = class_in(field);
  bool& one = one_class_[&pattern];
  one = !name.empty() && !llvm::isa<clang::TemplateTypeParmType>(object_type(pattern.getType()));
  const auto* special = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(field.getParent());
  if (!one || special == nullptr) return one;
  for (const auto* other : special->getSpecializedTemplate()->specializations()) {
    if (!other->isCompleteDefinition() ||
        other->getTemplateInstantiationPattern() != pattern.getParent()) {
      continue;
    }
    const auto at = std::next(other->field_begin(), pattern.getFieldIndex());
    one &= class_in(**at) == name;
  }
  return one;
}

namespace {

// The field of a template that this one is made from, if its type depends on the parameters.
const clang::FieldDecl* dependent_pattern(const clang::FieldDecl& field) {
  const auto* record = llvm::dyn_cast<CXXRecordDecl>(field.getParent());
  const CXXRecordDecl* pattern =
      record == nullptr ? nullptr : record->getTemplateInstantiationPattern();
  if (pattern == nullptr) return nullptr;
  const auto same = std::next(pattern->field_begin(), field.getFieldIndex());
  return same->getType()->isDependentType() ? *same : nullptr;
}

}  // namespace

bool Unit::may_be_of_another_class(const clang::FieldDecl& field) {
  const clang::FieldDecl* pattern = dependent_pattern(field);
  if (pattern == nullptr) return false;
  const std::vector<const CXXRecordDecl*> possible =
      possible_classes(object_type(pattern->getType()));
  return possible.size() != 1 && (possible.empty() || !is_of_std(*possible[0]));
}

// A field of a template has one type for all instantiations: where it depends on the arguments, the
// core does not look into it.
core::Type Unit::field_type(const clang::FieldDecl& field) {
  core::Type type = type_of(field.getType());
  if (field.getType()->isArrayType() || type.name == "void") return {.name = "int"};
  const clang::FieldDecl* pattern = dependent_pattern(field);
  if (pattern == nullptr || lock_type(field.getType())) return type;
  return leads_to_one_class(field, *pattern) ? type : core::Type{.name = "int"};
}

bool Unit::is_foreign_object(QualType type) {
  const RecordDecl* record = type.getNonReferenceType()->getAsRecordDecl();
  return record != nullptr && is_foreign(*record);
}

bool Unit::derives(const std::string& name, const std::string& from) const {
  if (name == from) return true;
  const auto at = classes_.find(name);
  if (at == classes_.end()) return false;
  return std::ranges::any_of(program.classes[at->second].bases,
                             [&](const core::Type& base) { return derives(base.name, from); });
}

// Which of the core's locks it is, if any: a lock, or a pointer or reference to one.
std::optional<std::string> Unit::lock_type(QualType type) {
  type = type.getNonReferenceType();
  if (type->isPointerType()) type = type->getPointeeType();
  for (QualType at = type;;) {
    const auto* alias = at->getAs<clang::TypedefType>();
    if (alias == nullptr) break;
    const llvm::StringRef name = plain_name(*alias->getDecl());
    if (name == "pthread_mutex_t" || name == "pthread_rwlock_t" || name == "pthread_spinlock_t" ||
        name == "mtx_t") {
      return "mutex";
    }
    at = alias->desugar();
  }
  const RecordDecl* record = type->getAsRecordDecl();
  if (const auto* of_class = llvm::dyn_cast_or_null<CXXRecordDecl>(record)) {
    const QualType held = held_by(*of_class);
    if (!held.isNull()) record = held->getAsRecordDecl();
  }
  if (record == nullptr || !is_lock_class(*record)) return std::nullopt;
  const bool recursive = llvm::StringRef(type_text(context.getRecordType(record), context))
                             .contains_insensitive("recursive");
  std::string name = recursive ? "recursive_mutex" : "mutex";
  if (!is_foreign(*record)) summary.lock_classes.emplace(class_name(*record), name);
  return name;
}

bool Unit::is_lock_class(const RecordDecl& of) {
  const RecordDecl* record = of.getDefinition() != nullptr ? of.getDefinition() : &of;
  const auto known = lock_classes_.find(record);
  if (known != lock_classes_.end()) return known->second;
  bool& is_lock = lock_classes_[record];
  const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
  if (of_class != nullptr && is_guard_class(*record)) return is_lock = false;
  if (record->hasAttr<clang::CapabilityAttr>()) return is_lock = true;
  if (of_class == nullptr) return is_lock = false;
  if (is_of_std(*of_class) && of_class->getDeclName().isIdentifier()) {
    const llvm::StringRef name = plain_name(*of_class);
    return is_lock = name == "mutex" || name == "timed_mutex" || name == "shared_mutex" ||
                     name == "shared_timed_mutex" || name == "recursive_mutex" ||
                     name == "recursive_timed_mutex";
  }
  if (!of_class->hasDefinition() || of_class->isLambda()) return is_lock = false;
  for (const clang::CXXBaseSpecifier& base : of_class->bases()) {
    const CXXRecordDecl* above = base.getType()->getAsCXXRecordDecl();
    if (above != nullptr && of_class->field_empty() && is_lock_class(*above)) {
      return is_lock = true;
    }
  }
  // Without attributes: what can be locked and unlocked, and is little else.
  bool locks = false;
  bool unlocks = false;
  for (const CXXMethodDecl* method : of_class->methods()) {
    if (!method->getDeclName().isIdentifier() || method->getNumParams() != 0) continue;
    locks |= plain_name(*method) == "lock" || plain_name(*method) == "Lock";
    unlocks |= plain_name(*method) == "unlock" || plain_name(*method) == "Unlock";
  }
  if (!locks || !unlocks) return is_lock = false;
  return is_lock = std::ranges::all_of(of_class->fields(), [&](const clang::FieldDecl* field) {
           const QualType type = field->getType();
           return type->isArithmeticType() || type->isPointerType() || lock_type(type) ||
                  is_foreign_object(type);
         });
}

// A condition variable: one waits for it, and signals it.
bool Unit::is_condition_class(const RecordDecl& of) {
  const auto* record = llvm::dyn_cast<CXXRecordDecl>(&of);
  if (record == nullptr || !record->hasDefinition() || record->isLambda()) return false;
  const auto [known, is_new] = conditions_.try_emplace(record->getDefinition());
  if (is_new) known->second = is_condition(*record->getDefinition());
  return known->second;
}

// Waits with a lock, or with the guard that holds it.
bool Unit::is_condition(const CXXRecordDecl& record) {
  const auto is_held = [&](QualType type) {
    const RecordDecl* guard = type.getNonReferenceType()->getAsRecordDecl();
    return lock_type(type) || (guard != nullptr && is_guard_class(*guard));
  };
  bool waits = false;
  bool signals = false;
  for (const CXXMethodDecl* method : record.methods()) {
    const llvm::StringRef name = plain_name(*method);
    waits |= name.starts_with_insensitive("wait") && method->getNumParams() > 0 &&
             is_held(method->getParamDecl(0)->getType());
    signals |= name.starts_with_insensitive("signal") || name.starts_with_insensitive("notify");
  }
  return waits && signals;
}

// A field by value that is a lock, here or in a base: the class looks after itself.
bool Unit::owns_locks(const RecordDecl& of) {
  const RecordDecl* record = of.getDefinition();
  if (record == nullptr) return false;
  if (is_condition_class(*record)) return true;
  for (const clang::FieldDecl* field : record->fields()) {
    const QualType type = field->getType();
    if (!type->isPointerType() && !type->isReferenceType() && lock_type(type)) return true;
  }
  const auto* of_class = llvm::dyn_cast<CXXRecordDecl>(record);
  if (of_class == nullptr) return false;
  return std::ranges::any_of(of_class->bases(), [&](const clang::CXXBaseSpecifier& base) {
    const CXXRecordDecl* above = base.getType()->getAsCXXRecordDecl();
    return above != nullptr && !is_foreign(*above) && owns_locks(*above);
  });
}

}  // namespace tomos::cpp
