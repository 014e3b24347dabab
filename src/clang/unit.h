// One translation unit on its way to a summary: the names, types and declarations of the core
// program that its syntax tree stands for. Bodies are in body.h.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "clang/file_numbers.h"
#include "core/program.h"
#include "summary/summary.h"

namespace tomos::cpp {

// An operator, a constructor... has no plain name: empty.
inline llvm::StringRef plain_name(const clang::NamedDecl& decl) {
  return decl.getDeclName().isIdentifier() ? decl.getName() : llvm::StringRef();
}

inline bool is_one_of(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names) {
  return llvm::is_contained(names, name);
}

// In std or in a namespace or a class of it.
inline bool is_of_std(const clang::Decl& decl) {
  const clang::DeclContext* context = decl.getDeclContext();
  for (; context != nullptr && !context->isTranslationUnit(); context = context->getParent()) {
    if (context->isStdNamespace()) return true;
  }
  return false;
}

// The construction that an initializer comes down to.
const clang::CXXConstructExpr* construction_of(const clang::Expr* init);
// What std::move is for, or the expression itself.
const clang::Expr* moved_from(const clang::Expr* of);

// Of `if constexpr` the part that was compiled (perhaps none), of `if consteval` what runs with the
// program. An `if` that is decided by its condition: nothing.
inline std::optional<const clang::Stmt*> compiled_part(const clang::IfStmt& of,
                                                       const clang::ASTContext& context) {
  if (of.isConsteval()) return of.isNonNegatedConsteval() ? of.getElse() : of.getThen();
  return of.getNondiscardedCase(context);
}

bool has_unlock(const clang::Stmt* body);
// Whether a guard is made to take its lock, as far as can be seen.
bool takes_lock(const clang::CXXConstructorDecl& constructor);
// Whether it takes or gives back a lock, other than by a guard from its beginning to its end.
bool changes_locks(const clang::Stmt* of);

// What comes after it in a case of a `switch` does not come after it.
inline bool ends_way(const clang::Stmt* of) {
  if (const auto* compound = llvm::dyn_cast_or_null<clang::CompoundStmt>(of)) {
    return !compound->body_empty() && ends_way(compound->body_back());
  }
  return of != nullptr && (llvm::isa<clang::BreakStmt>(of) || llvm::isa<clang::ReturnStmt>(of) ||
                           llvm::isa<clang::ContinueStmt>(of));
}

// A lock expression: a variable, then fields.
struct LockPath {
  std::string root;
  std::vector<std::string> fields;
  core::Type type;
  bool stable = true;  // no field on the way can be assigned again

  friend bool operator==(const LockPath&, const LockPath&) = default;
};

// What the names in an expression of a callee are at the call: its parameters and its object.
struct Scope {
  const Scope* outer = nullptr;
  const clang::FunctionDecl* callee = nullptr;
  const clang::Expr* object = nullptr;
  llvm::ArrayRef<const clang::Expr*> arguments;
  // The core's names of the variables of a body; none: those of the declaration.
  const std::function<std::optional<std::string>(const clang::VarDecl&)>* variables = nullptr;
  bool is_nowhere = false;  // nothing has a path there
};

enum class Held : std::uint8_t { kNo, kYes, kMaybe };

// What a call does to locks.
struct LockCall {
  enum class Kind : std::uint8_t { kLock, kUnlock, kTryLock, kAssertHeld, kWait };
  Kind kind = Kind::kLock;
  std::vector<LockPath> locks;
  const clang::VarDecl* guard = nullptr;  // the RAII object that is told to
  bool true_is_held = true;               // a try that returns 0 for success: false
  bool is_shared = false;                 // as a reader
};

// Wrapped temporaries, casts, std::move and address-of: the same object.
const clang::Expr* core_of(const clang::Expr* of);
bool takes_as_reader(const clang::FunctionDecl& callee);

// A requirement in a comment, /*# atomic */, for what follows it.
struct Requirement {
  unsigned end = 0;  // of the comment, in bytes from the beginning of the file
  core::Basic basic = core::Basic::kAtomic;
};

class Unit {
 public:
  Unit(clang::ASTContext& context, Summary& summary, std::string directory,
       std::map<clang::FileID, std::vector<Requirement>> requirements);

  void read();
  void read(const clang::Decl& decl);

  // Names and places.
  core::Position position(clang::SourceLocation location);
  bool is_foreign(const clang::Decl& decl) const;  // of the system or the compiler
  std::string class_name(const clang::RecordDecl& record);
  std::string field_name(const clang::FieldDecl& field);
  std::string global_name(const clang::VarDecl& variable);
  std::string method_name(const clang::CXXMethodDecl& method);
  std::string function_name(const clang::FunctionDecl& function);

  // Types. A pointer, a reference and a smart pointer are the object that they lead to.
  core::Type type_of(clang::QualType type);
  core::Type field_type(const clang::FieldDecl& field);
  // In an instantiation that another unit has.
  static bool may_be_of_another_class(const clang::FieldDecl& field);
  static clang::QualType object_type(clang::QualType type);
  std::optional<std::string> lock_type(clang::QualType type);
  bool is_lock_class(const clang::RecordDecl& record);
  static bool is_capability(const clang::RecordDecl* record);  // or derives from one
  bool is_guard_class(const clang::RecordDecl& record);        // RAII
  const clang::VarDecl* guard_in(const clang::Expr* of);
  // Through which somebody's guard may be told to give back its lock.
  bool is_guard_parameter(const clang::ParmVarDecl& parameter);
  core::Type parameter_type(const clang::ParmVarDecl& parameter);
  static bool is_reader_guard(const clang::CXXConstructorDecl& made);
  bool owns_locks(const clang::RecordDecl& record);
  bool is_condition_class(const clang::RecordDecl& record);
  bool is_condition(const clang::CXXRecordDecl& record);
  static bool is_pointer_class(const clang::RecordDecl& record);  // not of the standard library
  // A unique_ptr to what the core does not look into.
  bool owns_value(clang::QualType type);
  bool is_foreign_object(clang::QualType type);  // a container, a string...
  bool derives(const std::string& name, const std::string& from) const;
  // Classes of the objects that something of this type contains or leads to; they may be kept by
  // somebody whom the core program does not show.
  std::vector<std::string> objects_in(clang::QualType type);
  void keep(clang::QualType type);

  // Locks.
  std::optional<LockPath> path(const clang::Expr* of, const Scope& scope);
  std::optional<LockCall> lock_call(const clang::CallExpr& call, const Scope& scope);
  std::vector<LockPath> guard_paths(const clang::CXXConstructExpr& made, const Scope& outer);
  struct Taken {  // by a guard that is made
    std::vector<LockPath> locks;
    Held held = Held::kYes;
    bool tried = false;     // whether it is held is still to be asked
    bool inverted = false;  // unlocks first, and locks again at the end
    bool is_shared = false;
  };
  using PathOf = std::function<std::optional<LockPath>(const clang::Expr* lock, const Scope& in)>;
  Taken taken_by(const clang::CXXConstructExpr& made, const Scope& outer, const PathOf& path_of);
  core::LockId lock_id(const LockPath& path);
  std::optional<LockPath> accessor_path(const clang::FunctionDecl& function, const Scope& scope);

  // Whether what is given for a parameter cannot be changed by the function: by its type, or by
  // what it does with a forwarding reference.
  bool is_only_read(const clang::FunctionDecl& callee, unsigned parameter,
                    unsigned depth = 0) const;
  // The same of the object that the parameter leads to.
  bool is_left_alone(const clang::FunctionDecl& callee, unsigned parameter) const;

  // Declarations. The class that a method is in; none: a function.
  struct Home {
    std::string class_name;
    std::string name;
    bool is_static = false;
  };
  Home declare(const clang::FunctionDecl& function);
  void declare_global(const clang::VarDecl& variable);
  core::Class& class_of(const std::string& name);
  core::Method& method_at(const Home& home);
  core::Method& add_method(const Home& home, core::Method made);
  void mark_atomic(const clang::FieldDecl& field);
  void attributes(const clang::FunctionDecl& function, core::Method& method);
  std::optional<core::Basic> requirement(clang::SourceLocation begin);
  // Pointers to methods: an address is taken (and so perhaps a thread begun), one is called.
  void take_address(const clang::CXXMethodDecl& method, core::ExprId begun);
  Home declare_call(const clang::MemberPointerType& type);
  void unknown_call(const std::string& name) { summary.unknown_calls.insert(name); }

  clang::ASTContext& context;
  Summary& summary;
  core::Program& program;

 private:
  bool is_in_system_header(const clang::Decl& decl) const;
  bool is_implemented(const clang::CXXRecordDecl& of) const;
  bool only_hands_on(const clang::FunctionDecl& callee, unsigned parameter, unsigned depth) const;
  struct MemberPointer {  // of one class and signature
    Home home;
    std::set<std::string> methods;  // that it may point to
    std::vector<core::ExprId> begun;
    bool is_called = false;
  };

  MemberPointer& member_pointer(const clang::MemberPointerType& type);
  void read_member_pointers();
  void read_all(const clang::DeclContext& of);
  void read_function(const clang::FunctionDecl& function);
  void define(const clang::RecordDecl& record, const std::string& name);
  void define_again(const clang::RecordDecl& record, const std::string& name);
  core::Field shared(const clang::ValueDecl& decl, clang::QualType type);
  std::string qualifier(const clang::DeclContext* context);
  std::string own_file(const clang::Decl& decl);
  std::string own_name(const clang::NamedDecl& decl);
  std::string signature(const clang::FunctionDecl& function);
  bool leads_to_one_class(const clang::FieldDecl& field, const clang::FieldDecl& pattern);
  bool is_method_above(const clang::CXXRecordDecl& record, clang::DeclarationName name);
  std::optional<LockCall> pthread_call(llvm::StringRef name, const clang::CallExpr& call,
                                       const Scope& scope);
  std::optional<LockCall> attribute_call(const clang::FunctionDecl& callee, const Scope& scope);
  bool is_guard_by_deeds(const clang::CXXRecordDecl& record);
  bool does_more(const clang::Stmt* in, const clang::CXXRecordDecl& of);
  std::optional<Taken> taken_inside(const clang::CXXConstructorDecl& constructor,
                                    const Scope& inside, const PathOf& path_of);
  std::optional<LockPath> initial_path(const clang::FieldDecl& field, const Scope& scope);
  std::optional<LockPath> field_path(const clang::Expr* base, const clang::FieldDecl& field,
                                     const Scope& scope);

  std::map<clang::FileID, std::vector<Requirement>> requirements_;
  FileNumbers files_;
  std::map<std::string, std::size_t> classes_;
  std::map<std::string, std::size_t> functions_;
  std::map<std::string, std::size_t> globals_;
  std::map<std::string, std::map<std::string, std::size_t>> methods_;
  std::map<std::string, MemberPointer> member_pointers_;
  std::map<const clang::CXXRecordDecl*, bool> conditions_;
  std::map<const clang::Decl*, std::string> names_;
  mutable std::map<const clang::CXXRecordDecl*, bool> implemented_;
  std::map<const clang::FieldDecl*, bool> one_class_;
  std::map<const clang::RecordDecl*, bool> lock_classes_;
  std::map<const clang::RecordDecl*, bool> guard_classes_;
  std::set<const clang::RecordDecl*> instances_;  // of templates, whose fields were looked at
  std::set<const clang::FunctionDecl*> read_;
  unsigned accessor_depth_ = 0;
};

}  // namespace tomos::cpp
