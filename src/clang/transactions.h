// One translation unit on its way to the program of tm/program.h: what its functions do, with the
// numbers that the core language leaves out.
//
// A class of a system header is a value: a container with all that is in it is one location, a
// smart pointer or an iterator is a pointer. Objects of the project's own classes are known by
// where they are. A lock_guard or the like is a pointer to its mutex (transactions_guards.cpp). Of
// destructors those are followed that a block ends with, of others those that have to do with
// locks.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clang/file_numbers.h"
#include "clang/rewrite_tm.h"
#include "tm/program.h"

namespace tomos::cpp {

class TransactionUnit {
 public:
  TransactionUnit(clang::ASTContext& context, tm::Program& program, const TransactionStyles& styles,
                  std::string directory);

  void read();

 private:
  using NodeId = tm::NodeId;
  using Kind = tm::Node::Kind;

  // The function whose body is being read.
  struct Reading {
    const clang::FunctionDecl* function = nullptr;
    std::size_t index = 0;
    std::map<const clang::VarDecl*, std::uint32_t> slots;
    const clang::LambdaExpr* lambda = nullptr;
    Reading* outer = nullptr;  // around a lambda
  };

  // Declarations.
  void read_all(const clang::DeclContext& of);
  void read_decl(const clang::Decl& decl);
  void read_later(const clang::RecordDecl& record);
  std::string declare(const clang::FunctionDecl& function);
  void foreign_body(const clang::FunctionDecl& function, tm::Function& made);
  void read_function(const clang::FunctionDecl& function);
  std::string read_lambda(const clang::LambdaExpr& lambda);
  void read_body(const clang::FunctionDecl& function);
  std::uint32_t global(const clang::VarDecl& variable);
  std::string class_name(const clang::RecordDecl& record);
  std::string field_name(const clang::FieldDecl& field);
  std::uint32_t slot(const clang::VarDecl& variable);
  std::uint32_t temporary();

  // Kinds of types.
  bool is_foreign(const clang::Decl& decl) const;
  bool is_foreign(clang::QualType type) const;
  bool is_object(clang::QualType type) const;         // of a class of the project
  static bool is_pointer_like(clang::QualType type);  // a smart pointer, an iterator
  static bool is_thread(clang::QualType type);
  static std::string_view guard_kind(clang::QualType type);
  static bool is_mutex(clang::QualType type);
  static bool is_lock_tag(clang::QualType type);  // std::adopt_lock and the like

  // Nodes.
  tm::Position position(clang::SourceLocation location);
  NodeId make(Kind kind, clang::SourceLocation at, std::vector<NodeId> children = {},
              std::string name = {});
  NodeId local(std::uint32_t number, clang::SourceLocation at);
  NodeId constant(clang::SourceLocation at) { return make(Kind::kConstant, at); }
  NodeId number(const llvm::APInt& of, clang::SourceLocation at);
  NodeId number(std::uint32_t of, clang::SourceLocation at) {
    return number(llvm::APInt(32, of), at);
  }
  NodeId load(NodeId place, clang::SourceLocation at) { return make(Kind::kLoad, at, {place}); }
  NodeId address(NodeId place, clang::SourceLocation at) {
    return make(Kind::kAddress, at, {place});
  }
  NodeId deref(NodeId value, clang::SourceLocation at) { return make(Kind::kDeref, at, {value}); }

  // Statements.
  NodeId statement(const clang::Stmt* of);
  NodeId block(llvm::ArrayRef<const clang::Stmt*> list, clang::SourceLocation at,
               clang::SourceLocation end);
  NodeId atomic(NodeId body, clang::SourceLocation at, clang::SourceLocation end);
  NodeId declaration(const clang::VarDecl& variable);
  NodeId if_statement(const clang::IfStmt& of);
  NodeId range_loop(const clang::CXXForRangeStmt& of);
  NodeId switch_statement(const clang::SwitchStmt& of);
  std::string called_by(const clang::Stmt* of) const;

  // Expressions.
  NodeId value(const clang::Expr* of);
  NodeId place(const clang::Expr* of);
  NodeId variable(const clang::VarDecl& variable, clang::SourceLocation at);
  std::optional<NodeId> captured(const clang::ValueDecl& variable, clang::SourceLocation at);
  NodeId this_value(clang::SourceLocation at);
  NodeId initialize(NodeId place, clang::QualType type, const clang::Expr* with);
  NodeId construct(NodeId place, const clang::CXXConstructExpr& of);
  NodeId made_object(const clang::Expr* of);
  NodeId allocate(const clang::CXXNewExpr& of);
  NodeId closure(const clang::LambdaExpr& of);
  NodeId own_object(clang::SourceLocation at);
  NodeId negated_if(bool negated, NodeId id);
  NodeId dependent(const clang::Expr& of);
  NodeId dependent_object(const clang::Expr& of, const std::string& called, NodeId given);
  NodeId binary(const clang::BinaryOperator& of);
  NodeId operands(const clang::Expr* of);
  NodeId operands(llvm::ArrayRef<const clang::Expr*> list, clang::SourceLocation at);

  // Calls.
  NodeId call(const clang::CallExpr& of);
  NodeId called(const clang::CallExpr& of);  // as if everybody came back
  NodeId argument(const clang::Expr* of, clang::QualType parameter);
  NodeId object_of(const clang::CallExpr& of);  // its place
  NodeId foreign_method(const clang::CXXMethodDecl& method, const clang::CallExpr& of,
                        llvm::ArrayRef<const clang::Expr*> arguments);
  NodeId foreign_function(const clang::FunctionDecl& function, const clang::CallExpr& of);
  NodeId thread_function(llvm::StringRef name, const clang::CallExpr& of);
  NodeId fork(llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  NodeId run_callables(llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at,
                       std::vector<NodeId> values);
  NodeId make_smart(const clang::CallExpr& of);
  NodeId lock_node(Kind kind, clang::SourceLocation at, NodeId mutex, bool shared);

  // Guards, and objects that end.
  static bool holds_guard(clang::QualType type);  // is one, or an object of the library with some
  bool ends_lock(clang::QualType type) const;
  NodeId mutex_of(NodeId guard, clang::SourceLocation at);  // places, both
  NodeId unlock_of(NodeId guard, clang::SourceLocation at);
  NodeId end_of(NodeId guard, clang::SourceLocation at);
  void ends_of(NodeId object, const clang::CXXRecordDecl& record, clang::SourceLocation at,
               bool is_variable, std::vector<NodeId>& ends);
  NodeId scope_of(const clang::VarDecl& variable, clang::SourceLocation end,
                  llvm::function_ref<NodeId()> rest);
  NodeId scope_of_all(const clang::DeclStmt& of, clang::SourceLocation end,
                      llvm::function_ref<NodeId()> rest, unsigned from);
  NodeId begun_with(const clang::Stmt* init, const clang::VarDecl* tested,
                    clang::SourceLocation end, llvm::function_ref<NodeId()> rest);
  static bool declares_guard(const clang::DeclStmt& of);
  NodeId guard_of(const clang::VarDecl& variable, clang::SourceLocation end,
                  llvm::function_ref<NodeId()> rest);
  NodeId temporary_of(const clang::Expr* of);
  NodeId ended(NodeId value, std::size_t first, clang::SourceLocation at);
  NodeId discarded(const clang::Expr* of);
  NodeId made_guard(llvm::ArrayRef<const clang::Expr*> arguments, bool shared,
                    clang::SourceLocation at);
  NodeId taken_from(const clang::Expr* of);
  NodeId swapped(NodeId one, NodeId other, clang::SourceLocation at);
  NodeId guard_method(const clang::CXXMethodDecl& method, const clang::CallExpr& of,
                      llvm::ArrayRef<const clang::Expr*> arguments);

  clang::ASTContext& context_;
  tm::Program& program_;
  const TransactionStyles& styles_;
  clang::ASTNameGenerator mangled_;
  std::map<const clang::FunctionDecl*, std::string> names_;
  std::map<std::string, std::size_t> functions_;
  std::map<std::string, std::uint32_t> globals_;
  FileNumbers files_;
  std::vector<NodeId> global_initializers_;
  std::vector<NodeId> ends_;  // of temporary objects in the expression that is being read
  Reading* reading_ = nullptr;
  std::vector<const clang::FunctionDecl*> waiting_;  // called, and still to be read
};

}  // namespace tomos::cpp
