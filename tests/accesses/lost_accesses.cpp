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
#include <clang/AST/RecursiveASTVisitor.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accesses/sources.h"
#include "clang/read_cpp.h"
#include "clang/read_tm.h"
#include "core/program.h"
#include "tm/program.h"

namespace {

using accesses::is_pointer_class;
using accesses::Place;
using accesses::plain;
using accesses::plain_function;

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
  bool is_foreign(clang::SourceLocation at) const { return accesses::is_foreign(context_, at); }

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
    const auto place = accesses::place_of(manager, at);
    if (function_ == nullptr || !place) return;
    found_.insert({.place = *place,
                   .line_in_macro = manager.getExpansionLineNumber(written),
                   .name = name,
                   .function = function_->getQualifiedNameAsString(),
                   .type = type});
  }

  clang::ASTContext& context_;
  std::set<Named>& found_;
  const clang::FunctionDecl* function_ = nullptr;
};

using Places = std::map<Place, std::set<std::string>>;

class Seen {
 public:
  explicit Seen(const std::vector<std::string>& files) : files_(accesses::real_paths(files)) {}
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

std::optional<Places> read(std::string_view front_end, const tomos::cpp::Options& options) {
  if (front_end == "infer") {
    tomos::Result<tomos::cpp::Sources> sources;
    if (!accesses::read_by<tomos::cpp::ReadCpp>(tomos::cpp::kReadCpp, options, sources)) return {};
    return accesses_of(sources->program);
  }
  tomos::Result<tomos::cpp::TmSources> sources;
  const tomos::cpp::TmOptions of_tm = {.sources = options};
  if (!accesses::read_by<tomos::cpp::ReadTm>(tomos::cpp::kReadTm, of_tm, sources)) return {};
  return accesses_of(sources->program);
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
  const auto sources = accesses::sources_of(std::span(words).subspan(1));
  if (!sources) return usage();
  Places seen;
  for (const tomos::cpp::Options& options : accesses::programs_of(sources->options)) {
    const auto more = read(words[0], options);
    if (!more) return 2;
    for (const auto& [place, names] : *more) seen[place].insert(names.begin(), names.end());
  }
  std::set<Named> found;
  accesses::walk_by_clang(*sources, [&](clang::ASTContext& context) {
    Visitor(context, found).TraverseDecl(context.getTranslationUnitDecl());
  });
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
