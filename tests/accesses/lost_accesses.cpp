// An oracle for the front ends for C++: every member and every global that a function names, every
// change of one, and for tomos infer every call of the project's functions and every lock that is
// taken or given back, must be in what they make of it, at the same line. What is lost is the worst
// kind of mistake: a field that is changed looks as if it never were. Clang's own walk over the
// syntax tree knows nothing of what a front end makes of it; names of members are compared, not
// what leads to them.
//
//   lost_accesses infer FILE... -- FLAGS    what tomos infer sees
//   lost_accesses tm -p BUILD               what tomos tm sees of BUILD/compile_commands.json
//
// Exit status 1: something is lost.
#include <clang/AST/ASTConsumer.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/CompilationDatabase.h>
#include <clang/Tooling/JSONCompilationDatabase.h>
#include <clang/Tooling/Tooling.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "clang/read_cpp.h"
#include "clang/read_tm.h"
#include "core/program.h"
#include "tm/program.h"

namespace {

namespace fs = std::filesystem;

struct Place {
  std::string file;
  unsigned line = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Named {  // in the source
  Place place;
  unsigned line_in_macro = 0;  // where it is written, if that is in the brackets of a macro
  std::string name;
  std::string function;
  std::string type;

  friend auto operator<=>(const Named&, const Named&) = default;
};

// Locks, guards, what is waited for: what happens to them is no access.
bool is_of_locks(clang::QualType type) {
  while (type->isReferenceType() || type->isPointerType() || type->isArrayType()) {
    const auto* array = type->getAsArrayTypeUnsafe();
    type = array != nullptr ? array->getElementType() : type->getPointeeType();
  }
  const auto is_lock_name = [](llvm::StringRef name) {
    constexpr llvm::StringRef kWords[] = {"mutex", "lock", "cond", "pthread"};
    return std::ranges::any_of(kWords, [&](llvm::StringRef word) { return name.contains(word); });
  };
  if (is_lock_name(llvm::StringRef(type.getUnqualifiedType().getAsString()).lower()) &&
      type->isRecordType()) {
    return true;
  }
  const auto* record = type->getAsRecordDecl();
  if (record == nullptr) return false;
  for (const auto* attribute : record->attrs()) {
    if (llvm::isa<clang::CapabilityAttr, clang::ScopedLockableAttr>(attribute)) return true;
  }
  return is_lock_name(llvm::StringRef(record->getNameAsString()).lower());
}

// To those who use it, it is the object that it leads to.
bool is_pointer_class(const clang::CXXRecordDecl& record) {
  return std::ranges::any_of(record.methods(), [](const clang::CXXMethodDecl* method) {
    return method->getOverloadedOperator() == clang::OO_Arrow;
  });
}

bool is_never_changed(clang::QualType type) {
  const auto* record = type->getAsCXXRecordDecl();
  return type.isConstQualified() || type->isReferenceType() ||
         (record != nullptr && record->isLambda());
}

constexpr llvm::StringRef kGuards[] = {"lock_guard", "scoped_lock", "shared_lock", "unique_lock"};

class Visitor : public clang::RecursiveASTVisitor<Visitor> {
  using Base = clang::RecursiveASTVisitor<Visitor>;

 public:
  Visitor(clang::ASTContext& context, std::set<Named>& found) : context_(context), found_(found) {}

  static bool shouldVisitTemplateInstantiations() { return true; }

  bool TraverseDecl(clang::Decl* of) {
    if (of == nullptr) return true;
    if (is_foreign(of->getLocation()) &&
        !llvm::isa<clang::NamespaceDecl, clang::TranslationUnitDecl, clang::LinkageSpecDecl>(of)) {
      return true;
    }
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(of);
        record != nullptr && record->isDependentContext()) {
      return true;
    }
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(of);
    if (function == nullptr) return Base::TraverseDecl(of);
    if (function->isDependentContext() || function->hasAttr<clang::NoThreadSafetyAnalysisAttr>() ||
        is_left_out(*function)) {
      return true;
    }
    const auto* outer = std::exchange(function_, function);
    const bool more = Base::TraverseDecl(of);
    function_ = outer;
    return more;
  }

  // What is there is not computed.
  static bool TraverseType(clang::QualType /*of*/) { return true; }
  static bool TraverseTypeLoc(clang::TypeLoc /*of*/) { return true; }
  static bool TraverseAttr(clang::Attr* /*of*/) { return true; }
  static bool TraverseStaticAssertDecl(clang::StaticAssertDecl* /*of*/) { return true; }
  static bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr* /*of*/) {
    return true;
  }
  static bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr* /*of*/) { return true; }
  static bool TraverseCXXTypeidExpr(clang::CXXTypeidExpr* /*of*/) { return true; }
  bool TraverseIfStmt(clang::IfStmt* of) {
    const auto compiled = of->getNondiscardedCase(context_);
    if (of->isConsteval()) {
      return TraverseStmt(of->isNonNegatedConsteval() ? of->getElse() : of->getThen());
    }
    if (!of->isConstexpr() || !compiled) return Base::TraverseIfStmt(of);
    return TraverseStmt(of->getInit()) && TraverseStmt(const_cast<clang::Stmt*>(*compiled));
  }

  // An object that a static member is named by is not accessed.
  bool TraverseMemberExpr(clang::MemberExpr* of) {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(of->getMemberDecl());
    const bool is_static =
        llvm::isa<clang::VarDecl>(of->getMemberDecl()) || (method != nullptr && method->isStatic());
    return is_static || Base::TraverseMemberExpr(of);
  }

  // What is changed, and not only read.
  bool VisitBinaryOperator(clang::BinaryOperator* of) {
    if (of->isAssignmentOp()) add_change(of->getLHS());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* of) {
    if (of->isIncrementDecrementOp()) add_change(of->getSubExpr());
    return true;
  }
  bool VisitCXXOperatorCallExpr(clang::CXXOperatorCallExpr* of) {
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(of->getDirectCallee());
    // A project's own operator changes what it changes.
    const bool is_own =
        method != nullptr && method->isUserProvided() && !is_foreign(method->getLocation());
    if (of->isAssignmentOp() && !is_own) add_change(of->getArg(0));
    return true;
  }
  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* of) {
    constexpr llvm::StringRef kChanges[] = {"append",       "assign", "clear",     "emplace",
                                            "emplace_back", "erase",  "insert",    "pop_back",
                                            "pop_front",    "push",   "push_back", "push_front",
                                            "reset",        "resize", "swap"};
    const clang::CXXMethodDecl* method = of->getMethodDecl();
    if (method != nullptr && method->getDeclName().isIdentifier() &&
        is_foreign(method->getLocation()) && llvm::is_contained(kChanges, method->getName())) {
      add_change(of->getImplicitObjectArgument());
    }
    return true;
  }

  // Locks that are taken and given back.
  bool VisitVarDecl(clang::VarDecl* of) {
    const auto* record = of->getType()->getAsRecordDecl();
    const auto* made = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(
        of->getInit() == nullptr ? nullptr : of->getInit()->IgnoreImplicit());
    if (record == nullptr || made == nullptr || made->getNumArgs() == 0) return true;
    const bool by_attribute = record->hasAttr<clang::ScopedLockableAttr>() &&
                              made->getConstructor()->hasAttr<clang::AcquireCapabilityAttr>();
    const bool is_std = made->getNumArgs() == 1 && record->isInStdNamespace() &&
                        llvm::is_contained(kGuards, record->getNameAsString());
    if (by_attribute || is_std) add("(lock)", "", of->getLocation());
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* of) {
    const clang::FunctionDecl* callee = of->getDirectCallee();
    if (callee == nullptr) return true;
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(callee);
    const std::string name = callee->getNameAsString();
    const bool is_std = method != nullptr && method->getParent()->isInStdNamespace() &&
                        is_of_locks(context_.getRecordType(method->getParent()));
    if (callee->hasAttr<clang::AcquireCapabilityAttr>() || (is_std && name == "lock") ||
        name == "pthread_mutex_lock") {
      add("(lock)", "", of->getBeginLoc());
    }
    if (is_called(*callee)) add(callee->getNameAsString() + "()", "", of->getExprLoc());
    if (callee->hasAttr<clang::ReleaseCapabilityAttr>() || (is_std && name == "unlock") ||
        name == "pthread_mutex_unlock") {
      add("(unlock)", "", of->getBeginLoc());
    }
    return true;
  }

  bool VisitMemberExpr(clang::MemberExpr* of) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(of->getMemberDecl());
    if (field != nullptr) add(*field, of->getMemberLoc());
    return true;
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr* of) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(of->getDecl());
    if (variable != nullptr && variable->hasGlobalStorage() && !variable->isConstexpr() &&
        variable->getTLSKind() == clang::VarDecl::TLS_None) {
      add(*variable, of->getExprLoc());
    }
    return true;
  }

 private:
  bool is_foreign(clang::SourceLocation at) const {
    const clang::SourceManager& manager = context_.getSourceManager();
    return at.isInvalid() || manager.isInSystemHeader(manager.getExpansionLoc(at));
  }

  // A function of the project by its name, which does not only do something to locks.
  bool is_called(const clang::FunctionDecl& callee) const {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&callee);
    const bool is_plain = callee.getDeclName().isIdentifier() && callee.getBuiltinID() == 0;
    return is_plain && !is_of_locks(callee.getReturnType()) &&
           !callee.getNameAsString().starts_with("Assert") && !is_foreign(callee.getLocation()) &&
           !is_left_out(callee) && (method == nullptr || !method->getParent()->isLambda()) &&
           !callee.hasAttr<clang::AcquireCapabilityAttr>() &&
           !callee.hasAttr<clang::ReleaseCapabilityAttr>() &&
           !callee.hasAttr<clang::TryAcquireCapabilityAttr>() &&
           !callee.hasAttr<clang::AssertCapabilityAttr>();
  }

  bool is_left_out(const clang::FunctionDecl& function) const {
    const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
    return method != nullptr && !method->getParent()->isLambda() &&
           (is_pointer_class(*method->getParent()) ||
            is_of_locks(context_.getRecordType(method->getParent())));
  }

  void add_change(const clang::Expr* of) {
    of = of->IgnoreParens();
    const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(of);
    const auto* element = llvm::dyn_cast<clang::ArraySubscriptExpr>(of);
    const auto* part = llvm::dyn_cast<clang::MemberExpr>(of);
    const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(of);
    if (cast != nullptr && cast->getCastKind() != clang::CK_LValueToRValue) {
      add_change(cast->getSubExpr());
    } else if (element != nullptr) {
      add_change(element->getBase());
    } else if (part != nullptr) {
      const auto* field = llvm::dyn_cast<clang::FieldDecl>(part->getMemberDecl());
      if (field == nullptr) return;
      if (!is_foreign(field->getLocation())) add(*field, part->getMemberLoc(), "=");
      if (is_foreign(field->getLocation()) && !part->isArrow()) add_change(part->getBase());
    } else if (reference != nullptr) {
      const auto* variable = llvm::dyn_cast<clang::VarDecl>(reference->getDecl());
      if (variable != nullptr && variable->hasGlobalStorage() &&
          variable->getTLSKind() == clang::VarDecl::TLS_None) {
        add(*variable, reference->getExprLoc(), "=");
      }
    }
  }

  void add(const clang::ValueDecl& of, clang::SourceLocation at, const char* use = "") {
    const clang::QualType type = of.getType();
    if (is_foreign(of.getLocation()) || of.getIdentifier() == nullptr || is_never_changed(type) ||
        is_of_locks(type)) {
      return;
    }
    add(of.getNameAsString() + use, type.getAsString(), at);
  }

  void add(const std::string& name, const std::string& type, clang::SourceLocation at) {
    const clang::SourceManager& manager = context_.getSourceManager();
    const clang::SourceLocation written = manager.getFileLoc(at);
    at = manager.getExpansionLoc(at);
    if (function_ == nullptr || at.isInvalid()) return;
    const auto file = manager.getFileEntryRefForID(manager.getFileID(at));
    if (!file) return;
    found_.insert({.place = {.file = file->getFileEntry().tryGetRealPathName().str(),
                             .line = manager.getExpansionLineNumber(at)},
                   .line_in_macro = manager.getExpansionLineNumber(written),
                   .name = name,
                   .function = function_->getQualifiedNameAsString(),
                   .type = type});
  }

  clang::ASTContext& context_;
  std::set<Named>& found_;
  const clang::FunctionDecl* function_ = nullptr;
};

class Consumer : public clang::ASTConsumer {
 public:
  explicit Consumer(std::set<Named>& found) : found_(found) {}

  bool shouldSkipFunctionBody(clang::Decl* of) override {
    const clang::SourceManager& manager = of->getASTContext().getSourceManager();
    return manager.isInSystemHeader(manager.getExpansionLoc(of->getLocation()));
  }

  void HandleTranslationUnit(clang::ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred()) return;
    Visitor(context, found_).TraverseDecl(context.getTranslationUnitDecl());
  }

 private:
  std::set<Named>& found_;
};

class Action : public clang::ASTFrontendAction {
 public:
  explicit Action(std::set<Named>& found) : found_(found) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                        llvm::StringRef /*file*/) override {
    compiler.getFrontendOpts().SkipFunctionBodies = true;
    return std::make_unique<Consumer>(found_);
  }

 private:
  std::set<Named>& found_;
};

class Factory : public clang::tooling::FrontendActionFactory {
 public:
  explicit Factory(std::set<Named>& found) : found_(found) {}
  std::unique_ptr<clang::FrontendAction> create() override {
    return std::make_unique<Action>(found_);
  }

 private:
  std::set<Named>& found_;
};

using Places = std::map<Place, std::set<std::string>>;

// The last part of a name, as C++ has it.
std::string plain(std::string_view name) {
  name = name.substr(0, name.find('@'));
  const std::size_t colon = name.rfind(':');
  return std::string(colon == std::string_view::npos ? name : name.substr(colon + 1));
}

// Of a function: n::(file.cpp)::f<int>(int) is f().
std::string plain_function(std::string_view name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth > 0) continue;
    if (name[i] == ':') begin = i + 1;
    if (name[i] != '(') continue;
    const std::size_t end = name.find(")::", i);
    if (i != begin || end == std::string_view::npos) break;
    i = end;
  }
  name.remove_prefix(begin);
  return std::string(name.substr(0, name.find_first_of("<("))) + "()";
}

class Seen {
 public:
  explicit Seen(const std::vector<std::string>& files) {
    for (const std::string& file : files) files_.push_back(fs::weakly_canonical(file).string());
  }
  template <class Position>
  void add(const Position& at, std::string_view name, const char* use = "") {
    add_as(at, plain(name) + use);
  }
  template <class Position>
  void add_as(const Position& at, const std::string& name) {
    if (at.line != 0) places_[{.file = files_[at.file], .line = at.line}].insert(name);
  }
  Places take() { return std::move(places_); }

 private:
  std::vector<std::string> files_;
  Places places_;
};

Places accesses_of(const tomos::core::Program& program) {
  Seen seen(program.files);
  std::set<std::string> taking;  // functions that say so
  std::set<std::string> giving;
  const auto note = [&](const std::vector<tomos::core::Method>& methods) {
    for (const tomos::core::Method& of : methods) {
      if (!of.acquires.empty()) taking.insert(plain_function(of.name));
      if (!of.releases.empty()) giving.insert(plain_function(of.name));
    }
  };
  for (const tomos::core::Class& of : program.classes) note(of.methods);
  note(program.functions);
  for (const tomos::core::Expr& expr : program.exprs) {
    using enum tomos::core::Expr::Kind;
    if (expr.kind == kField || expr.kind == kVariable) seen.add(expr.position, expr.name);
    const bool locks = expr.kind == kSync || expr.kind == kLock || expr.kind == kTryLock;
    if (locks) seen.add(expr.position, "(lock)");
    if (expr.kind == kCall) {
      const std::string called = plain_function(expr.name);
      seen.add_as(expr.position, called);
      if (taking.contains(called)) seen.add(expr.position, "(lock)");
      if (giving.contains(called)) seen.add(expr.position, "(unlock)");
    }
    if (expr.kind == kUnlock) seen.add(expr.position, "(unlock)");
    if (expr.kind == kAssign || expr.kind == kUpdate) {
      const tomos::core::Expr& place = program[expr.children[0]];
      seen.add(place.position, place.name, "=");
    }
  }
  return seen.take();
}

Places accesses_of(const tomos::tm::Program& program) {
  Seen seen(program.files);
  for (const tomos::tm::Node& node : program.nodes) {
    using enum tomos::tm::Node::Kind;
    const auto name_of = [&](const tomos::tm::Node& place) -> std::string_view {
      return place.kind == kGlobal ? program.globals[place.number].display : place.name;
    };
    if (node.kind == kField || node.kind == kGlobal) seen.add(node.position, name_of(node));
    const bool changes = node.kind == kAssign || node.kind == kUpdate || node.kind == kCopy ||
                         (node.kind == kContainer && node.writes);
    if (!changes) continue;
    const tomos::tm::Node* place = &program[node.children[0]];
    while (place->kind == kElement) place = &program[place->children[0]];
    if (place->kind == kField || place->kind == kGlobal) {
      seen.add(place->position, name_of(*place), "=");
    }
  }
  return seen.take();
}

// By a front end, which is a library that is loaded.
template <class Function, class Options, class Sources>
std::optional<Places> read(const char* function, const Options& options, Sources& sources) {
  void* const library = ::dlopen(TOMOS_FRONT_END, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : ::dlsym(library, function);
  if (found == nullptr) {
    fmt::print(stderr, "{}\n", ::dlerror());  // NOLINT(concurrency-mt-unsafe): one thread
    return std::nullopt;
  }
  (*reinterpret_cast<Function*>(found))(options, sources);
  if (!sources) {
    fmt::print(stderr, "{}\n", sources.error().what);
    return std::nullopt;
  }
  return accesses_of(sources->program);
}

std::optional<Places> read(std::string_view front_end, const tomos::cpp::Options& options) {
  if (front_end == "infer") {
    tomos::Result<tomos::cpp::Sources> sources;
    return read<tomos::cpp::ReadCpp>(tomos::cpp::kReadCpp, options, sources);
  }
  tomos::Result<tomos::cpp::TmSources> sources;
  return read<tomos::cpp::ReadTm>(tomos::cpp::kReadTm, tomos::cpp::TmOptions{.sources = options},
                                  sources);
}

int usage() {
  fmt::print(stderr,
             "Usage: lost_accesses infer|tm FILE... -- FLAGS\n"
             "       lost_accesses infer|tm -p BUILD\n");
  return 2;
}

}  // namespace

int main(int count, const char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.size() < 3 || (words[0] != "infer" && words[0] != "tm")) return usage();
  tomos::cpp::Options options{.jobs = std::thread::hardware_concurrency()};
  std::unique_ptr<clang::tooling::CompilationDatabase> commands;
  if (words[1] == "-p") {
    std::string error;
    options.build = words[2];
    commands = clang::tooling::CompilationDatabase::loadFromDirectory(words[2], error);
    if (commands) options.files = commands->getAllFiles();
  } else {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    options.files.assign(words.begin() + 1, dashes);
    if (dashes != words.end()) options.flags.assign(dashes + 1, words.end());
    commands = std::make_unique<clang::tooling::FixedCompilationDatabase>(".", options.flags);
  }
  if (!commands || options.files.empty()) return usage();
  // Files that are named are programs of their own: names in one say nothing of another.
  Places seen;
  std::vector<std::vector<std::string>> programs = {options.files};
  if (options.build.empty()) {
    programs.clear();
    for (const std::string& file : options.files) programs.push_back({file});
  }
  for (const std::vector<std::string>& files : programs) {
    tomos::cpp::Options of_program = options;
    of_program.files = files;
    const auto more = read(words[0], of_program);
    if (!more) return 2;
    for (const auto& [place, names] : *more) seen[place].insert(names.begin(), names.end());
  }
  std::set<Named> found;
  clang::tooling::ClangTool tool(*commands, options.files);
  tool.appendArgumentsAdjuster(clang::tooling::getInsertArgumentAdjuster(
      {"-w", "-resource-dir=" TOMOS_CLANG_RESOURCES}, clang::tooling::ArgumentInsertPosition::END));
  Factory factory(found);
  tool.run(&factory);
  std::size_t lost = 0;
  for (const Named& named : found) {
    const auto is_at = [&](unsigned line) {
      const auto at = seen.find({.file = named.place.file, .line = line});
      return at != seen.end() && at->second.contains(named.name);
    };
    if (is_at(named.place.line) || is_at(named.line_in_macro)) continue;
    if (words[0] == "tm" && named.name.ends_with(')')) continue;
    ++lost;
    fmt::print("{}:{}: {}{}{}, in {}\n", named.place.file, named.place.line, named.name,
               named.type.empty() ? "" : ", of type ", named.type, named.function);
  }
  fmt::print("{} accesses, {} lost\n", found.size(), lost);
  return lost == 0 ? 0 : 1;
}
