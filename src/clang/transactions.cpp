// Declarations: functions, lambdas, globals, classes.
#include "clang/transactions.h"

#include <algorithm>

#include "clang/known_calls.h"
#include "clang/unit.h"

namespace tomos::cpp {

using clang::FunctionDecl;
using clang::SourceLocation;
using clang::VarDecl;
using tm::NodeId;

namespace {

std::string signature_of(const FunctionDecl& function) {
  std::string text = function.getQualifiedNameAsString() + "(";
  for (unsigned i = 0; i < function.getNumParams(); ++i) {
    if (i > 0) text += ", ";
    clang::PrintingPolicy policy(function.getASTContext().getLangOpts());
    text += function.getParamDecl(i)->getType().getAsString(policy);
  }
  text += ")";
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (method != nullptr && method->isConst()) text += " const";
  return text;
}

bool is_marked_atomic(const FunctionDecl& function) {
  for (const FunctionDecl* one : function.redecls()) {
    for (const auto* attribute : one->specific_attrs<clang::AnnotateAttr>()) {
      if (attribute->getAnnotation() == "tm.atomic") return true;
    }
  }
  return false;
}

}  // namespace

TransactionUnit::TransactionUnit(clang::ASTContext& context, tm::Program& program,
                                 const TransactionStyles& styles, std::string directory)
    : context_(context),
      program_(program),
      styles_(styles),
      mangled_(context),
      files_(std::move(directory)) {}

tm::Position TransactionUnit::position(SourceLocation location) {
  if (location.isInvalid()) return {};
  const clang::SourceManager& manager = context_.getSourceManager();
  // What a macro is given stands where it is written; what it makes, where the macro is used.
  const auto [file, offset] = manager.getDecomposedLoc(manager.getFileLoc(location));
  const auto number = files_.of(file, manager, program_.files);
  if (!number) return {};
  return {.file = *number,
          .line = manager.getLineNumber(file, offset),
          .column = manager.getColumnNumber(file, offset)};
}

NodeId TransactionUnit::make(Kind kind, SourceLocation at, std::vector<NodeId> children,
                             std::string name) {
  return program_.add({.kind = kind,
                       .name = std::move(name),
                       .children = std::move(children),
                       .position = position(at)});
}

NodeId TransactionUnit::local(std::uint32_t number, SourceLocation at) {
  return program_.add({.kind = Kind::kLocal, .number = number, .position = position(at)});
}

std::uint32_t TransactionUnit::slot(const VarDecl& variable) {
  auto& locals = program_.functions[reading_->index].locals;
  const auto [at, is_new] =
      reading_->slots.emplace(&variable, static_cast<std::uint32_t>(locals.size()));
  if (is_new) locals.push_back(variable.getNameAsString());
  return at->second;
}

std::uint32_t TransactionUnit::temporary() {
  auto& locals = program_.functions[reading_->index].locals;
  locals.emplace_back("a temporary object");
  return static_cast<std::uint32_t>(locals.size() - 1);
}

bool TransactionUnit::is_foreign(const clang::Decl& decl) const {
  const auto* function = llvm::dyn_cast<FunctionDecl>(&decl);
  if (function != nullptr && function->getBuiltinID() != 0) return true;
  if (decl.getLocation().isInvalid()) return true;
  const clang::SourceManager& manager = context_.getSourceManager();
  return manager.isInSystemHeader(manager.getExpansionLoc(decl.getLocation()));
}

std::string TransactionUnit::class_name(const clang::RecordDecl& record) {
  std::string name = record.getQualifiedNameAsString();
  if (record.getDeclName().isEmpty()) {
    if (const clang::TypedefNameDecl* alias = record.getTypedefNameForAnonDecl()) {
      name = alias->getNameAsString();
    }
  }
  const auto* closure_of = llvm::dyn_cast<clang::CXXRecordDecl>(&record);
  const bool is_closure = closure_of != nullptr && closure_of->isLambda();
  if (is_closure) {
    const tm::Position at = position(record.getBeginLoc());
    name += "@" + std::to_string(at.line) + ":" + std::to_string(at.column) +
            (at.line == 0 ? "" : program_.files[at.file]);
  }
  const auto [at, is_new] = program_.classes.try_emplace(name);
  const clang::RecordDecl* definition = record.getDefinition();
  if (is_new && is_closure) {
    // As closure() has them.
    std::vector<tm::Field> kept = {{.name = "()", .type = {}}, {.name = "this", .type = {}}};
    for (const clang::LambdaCapture& capture : closure_of->captures()) {
      if (!capture.capturesVariable()) continue;
      const clang::ValueDecl& named = *capture.getCapturedVar();
      const bool by_copy =
          capture.getCaptureKind() != clang::LCK_ByRef && !named.getType()->isReferenceType();
      kept.push_back({.name = named.getNameAsString(),
                      .type = by_copy && is_object(named.getType())
                                  ? class_name(*named.getType()->getAsRecordDecl())
                                  : ""});
    }
    program_.classes[name] = std::move(kept);
    return name;
  }
  if (!is_new || definition == nullptr) return name;
  std::vector<tm::Field> fields;
  if (const auto* cxx = llvm::dyn_cast<clang::CXXRecordDecl>(definition)) {
    for (const clang::CXXBaseSpecifier& base : cxx->bases()) {
      const auto* above = base.getType()->getAsCXXRecordDecl();
      if (above == nullptr || is_foreign(*above)) continue;
      const std::vector<tm::Field> inherited = program_.classes[class_name(*above)];
      fields.insert(fields.end(), inherited.begin(), inherited.end());
    }
  }
  for (const clang::FieldDecl* field : definition->fields()) {
    fields.push_back({.name = field_name(*field),
                      .type = is_object(field->getType()) && !field->getType()->isReferenceType()
                                  ? class_name(*field->getType()->getAsRecordDecl())
                                  : ""});
  }
  program_.classes[name] = std::move(fields);
  return name;
}

std::string TransactionUnit::field_name(const clang::FieldDecl& field) {
  std::string owner = field.getParent()->getQualifiedNameAsString();
  if (field.getParent()->getDeclName().isEmpty()) {
    const clang::TypedefNameDecl* alias = field.getParent()->getTypedefNameForAnonDecl();
    owner = alias != nullptr ? alias->getNameAsString() : "(unnamed)";
  }
  return owner + "::" + field.getNameAsString();
}

std::uint32_t TransactionUnit::global(const VarDecl& variable) {
  std::string name = mangled_.getName(&variable);
  if (!variable.isExternallyVisible()) {
    const tm::Position at = position(variable.getLocation());
    name += "@" + (at.line == 0 ? "" : program_.files[at.file]) + ":" + std::to_string(at.line);
  }
  const auto next = static_cast<std::uint32_t>(program_.globals.size());
  const auto [at, is_new] = globals_.emplace(name, next);
  if (is_new) {
    program_.globals.push_back({.name = name,
                                .display = variable.getQualifiedNameAsString(),
                                .is_thread_local = variable.getTLSKind() != VarDecl::TLS_None});
  }
  return at->second;
}

// A function of the system whose address is taken: as foreign_function has it when it is called by
// its name.
void TransactionUnit::foreign_body(const FunctionDecl& function, tm::Function& made) {
  made.parameters = function.getNumParams();
  made.locals.assign(made.parameters, "");
  const SourceLocation at = function.getLocation();
  NodeId result = make(Kind::kNew, at);
  if (!allocates(plain_name(function).str())) {
    std::vector<NodeId> given;
    given.reserve(made.parameters);
    for (std::uint32_t i = 0; i < made.parameters; ++i) given.push_back(load(local(i, at), at));
    result = make(Kind::kOperator, at, std::move(given));
  }
  made.body = make(Kind::kReturn, at, {result});
}

std::string TransactionUnit::declare(const FunctionDecl& of) {
  const FunctionDecl* definition = of.getDefinition();
  const FunctionDecl& function = definition != nullptr ? *definition : *of.getCanonicalDecl();
  if (const auto known = names_.find(&function); known != names_.end()) return known->second;
  std::string name = function.isMain() ? "main" : mangled_.getName(&function);
  if (!function.isExternallyVisible() && !function.isMain()) {
    const tm::Position at = position(function.getLocation());
    name += "@" + (at.line == 0 ? "" : program_.files[at.file]) + ":" + std::to_string(at.line);
  }
  names_.emplace(&function, name);
  tm::Function made = {.name = name,
                       .display = function.getQualifiedNameAsString(),
                       .signature = signature_of(function),
                       .position = position(function.getLocation())};
  if (const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function)) {
    std::vector<const clang::CXXMethodDecl*> above(method->begin_overridden_methods(),
                                                   method->end_overridden_methods());
    while (!above.empty()) {
      const clang::CXXMethodDecl* next = above.back();
      above.pop_back();
      made.overridden.push_back(declare(*next));
      above.insert(above.end(), next->begin_overridden_methods(), next->end_overridden_methods());
    }
  }
  if (!functions_.emplace(name, program_.functions.size()).second) return name;
  program_.functions.push_back(std::move(made));
  if (is_foreign(function)) {
    if (!llvm::isa<clang::CXXMethodDecl>(function))
      foreign_body(function, program_.functions.back());
  } else if (definition != nullptr) {
    waiting_.push_back(definition);
  }
  return name;
}

void TransactionUnit::read_function(const FunctionDecl& function) {
  if (function.isDependentContext() || !function.hasBody() || function.isDeleted()) return;
  const std::string name = declare(function);
  const std::size_t index = functions_.at(name);
  if (program_.functions[index].body != tm::kNoNode) return;
  Reading reading = {.function = &function, .index = index};
  reading_ = &reading;
  read_body(function);
  reading_ = nullptr;
}

// Of the function that is being read: its parameters become its first variables.
void TransactionUnit::read_body(const FunctionDecl& function) {
  tm::Function& made = program_.functions[reading_->index];
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  if (method != nullptr && method->isImplicitObjectMemberFunction()) {
    made.locals.emplace_back("this");
  }
  for (const clang::ParmVarDecl* parameter : function.parameters()) slot(*parameter);
  made.parameters = static_cast<std::uint32_t>(made.locals.size());
  const std::size_t index = reading_->index;
  std::vector<NodeId> parts;
  if (const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function)) {
    const SourceLocation at = function.getLocation();
    const NodeId self = deref(this_value(at), at);
    for (const clang::CXXCtorInitializer* with : constructor->inits()) {
      if (with->isAnyMemberInitializer()) {
        const clang::FieldDecl& field = *with->getAnyMember();
        const NodeId to = make(Kind::kField, at, {self}, field_name(field));
        parts.push_back(initialize(to, field.getType(), with->getInit()));
      } else {
        parts.push_back(initialize(self, with->getInit()->getType(), with->getInit()));
      }
    }
  }
  const clang::Stmt* body = function.getBody();
  parts.push_back(statement(body));
  NodeId whole = make(Kind::kSequence, function.getLocation(), std::move(parts));
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    if (!holds_guard(parameter->getType())) continue;
    const SourceLocation end = body == nullptr ? function.getLocation() : body->getEndLoc();
    const NodeId last = unlock_of(local(slot(*parameter), end), end);
    whole = make(Kind::kScope, end, {whole, last});
  }
  if (is_marked_atomic(function)) {
    whole = atomic(whole, function.getLocation(),
                   body == nullptr ? function.getLocation() : body->getEndLoc());
  }
  program_.functions[index].body = whole;
}

// A function whose object is the closure, which holds what was captured.
std::string TransactionUnit::read_lambda(const clang::LambdaExpr& lambda) {
  const FunctionDecl* function = lambda.getCallOperator();
  if (const clang::FunctionTemplateDecl* generic = lambda.getDependentCallOperator()) {
    // Perhaps only a function calls it whose source is not read: then as it is written.
    const auto all = generic->specializations();
    if (all.begin() != all.end()) function = *all.begin();
  }
  if (function->getDeclContext()->isDependentContext() || !function->hasBody()) return {};
  const tm::Position at = position(lambda.getBeginLoc());
  const std::string name = program_.functions[reading_->index].name + "::lambda@" +
                           std::to_string(at.line) + ":" + std::to_string(at.column) +
                           (at.line == 0 ? "" : program_.files[at.file]);
  const auto [known, is_new] = functions_.emplace(name, program_.functions.size());
  if (!is_new) return name;
  program_.functions.push_back({.name = name,
                                .display = program_.functions[reading_->index].display + "::lambda",
                                .signature = name,
                                .position = at});
  names_.emplace(function, name);
  Reading inner = {
      .function = function, .index = known->second, .lambda = &lambda, .outer = reading_};
  reading_ = &inner;
  read_body(*function);
  reading_ = inner.outer;
  return name;
}

// A class in a function: it is read when that is done.
void TransactionUnit::read_later(const clang::RecordDecl& record) {
  for (const clang::Decl* decl : record.decls()) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(decl);
    if (method != nullptr && !method->isImplicit()) declare(*method);
    const auto* inner = llvm::dyn_cast<clang::CXXRecordDecl>(decl);
    if (inner != nullptr && !inner->isInjectedClassName()) read_later(*inner);
  }
}

void TransactionUnit::read_decl(const clang::Decl& decl) {
  if (is_foreign(decl) && !llvm::isa<clang::LinkageSpecDecl>(decl)) return;
  if (const auto* function = llvm::dyn_cast<FunctionDecl>(&decl)) {
    if (function->isThisDeclarationADefinition()) read_function(*function);
  } else if (const auto* generic = llvm::dyn_cast<clang::FunctionTemplateDecl>(&decl)) {
    for (const FunctionDecl* one : generic->specializations()) {
      if (const FunctionDecl* definition = one->getDefinition()) read_function(*definition);
    }
  } else if (const auto* classes = llvm::dyn_cast<clang::ClassTemplateDecl>(&decl)) {
    for (const auto* one : classes->specializations()) read_all(*one);
  } else if (const auto* with = llvm::dyn_cast<clang::FriendDecl>(&decl)) {
    const clang::NamedDecl* one = with->getFriendDecl();  // perhaps it is defined there
    if (one != nullptr && one->getAsFunction() != nullptr) read_decl(*one);
  } else if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&decl)) {
    if (!record->isDependentContext() && record->isThisDeclarationADefinition()) read_all(*record);
  } else if (const auto* variable_of = llvm::dyn_cast<VarDecl>(&decl)) {
    if (!variable_of->hasInit() || variable_of->isInvalidDecl() ||
        variable_of->getType()->isDependentType() ||
        variable_of->getDeclContext()->isDependentContext()) {
      return;
    }
    const NodeId to = make(Kind::kGlobal, variable_of->getLocation());
    program_.nodes[static_cast<std::size_t>(to)].number = global(*variable_of);
    global_initializers_.push_back(initialize(to, variable_of->getType(), variable_of->getInit()));
  } else if (const auto* context = llvm::dyn_cast<clang::DeclContext>(&decl)) {
    read_all(*context);
  }
}

void TransactionUnit::read_all(const clang::DeclContext& of) {
  for (const clang::Decl* decl : of.decls()) {
    Reading* const around = reading_;
    // A global's initializer is a part of the unit's own function.
    Reading globals = {.index = functions_.at(tm::kGlobals)};
    reading_ = &globals;
    read_decl(*decl);
    reading_ = around;
  }
}

void TransactionUnit::read() {
  functions_.emplace(tm::kGlobals, program_.functions.size());
  program_.functions.push_back({.name = tm::kGlobals, .display = tm::kGlobals, .signature = {}});
  read_all(*context_.getTranslationUnitDecl());
  while (!waiting_.empty()) {
    const FunctionDecl* next = waiting_.back();
    waiting_.pop_back();
    read_function(*next);
  }
  const NodeId all = make(Kind::kSequence, {}, std::move(global_initializers_));
  program_.functions[functions_.at(tm::kGlobals)].body = all;
}

}  // namespace tomos::cpp
