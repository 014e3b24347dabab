// What is a lock and what is a guard (RAII), and what a lock is called: by the last member or
// variable of the expression that leads to it.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <initializer_list>
#include <map>
#include <string>

namespace accesses {

// What pointers to locks lead to, where that is known.
using Pointees = std::map<const clang::VarDecl*, std::string>;

// Without temporaries, casts, and & and * around it.
const clang::Expr* object_of(const clang::Expr* of);
// That the expression names, by whatever reference, if that is all.
const clang::VarDecl* variable_of(const clang::Expr* of);
// What a function returns that does nothing else.
const clang::Expr* only_result(const clang::FunctionDecl& function);
bool is_called(const clang::FunctionDecl& function, std::initializer_list<llvm::StringRef> names);
bool is_of_std(const clang::FunctionDecl& function);
// Of an argument like std::defer_lock: its class.
std::string tag_of(const clang::Expr& argument);

class LockNames {
 public:
  bool is_lock(clang::QualType type);
  bool is_guard(clang::QualType type);
  bool is_lock(const clang::RecordDecl& record);
  bool is_guard(const clang::RecordDecl& record);

  // A call, from inside of the function that is called.
  struct Inside {
    const clang::Expr* object = nullptr;
    llvm::ArrayRef<const clang::Expr*> arguments;
  };
  std::string of(const clang::Expr* lock, const Pointees& pointees, const Inside* inside = nullptr);

 private:
  std::map<const clang::RecordDecl*, bool> locks_;
  std::map<const clang::RecordDecl*, bool> guards_;
  int depth_ = 0;
};

}  // namespace accesses
