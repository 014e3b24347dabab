// The walk of held_ways.cpp: through a function, with what is known of guards and locks on the way.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Analysis/CFG.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "accesses/held_ways.h"
#include "accesses/lock_names.h"

namespace accesses {

// A guard: its variable, or the expression that makes it.
using GuardKey = const void*;

struct GuardState {
  std::set<std::string> locks;  // that it is for
  bool held = false;
  bool was_held = false;  // before it was moved from
  bool loose = false;     // others know it, and may do to it what they want whenever they want
  bool inverted = false;  // gives back first, and takes again in the end
  bool robbed = false;    // somebody gave back its lock by name

  friend bool operator==(const GuardState&, const GuardState&) = default;
};

struct Asked {  // whether a lock could be taken
  GuardKey guard = nullptr;
  std::set<std::string> locks;
  bool if_true = true;

  friend bool operator==(const Asked&, const Asked&) = default;
};

struct Way {
  std::map<GuardKey, GuardState> guards;
  std::map<std::string, int> taken;    // without a guard, how often
  std::map<std::string, int> retaken;  // of those: that were the caller's
  std::set<std::string> owed;          // the caller's, given back
  Pointees pointees;
  std::map<const clang::VarDecl*, Asked> answers;
  std::map<const clang::VarDecl*, GuardKey> openers;  // of guards that are held again after them

  friend bool operator==(const Way&, const Way&) = default;

  std::set<std::string> held() const {
    std::set<std::string> found;
    for (const auto& [key, guard] : guards) {
      if (guard.held) found.insert(guard.locks.begin(), guard.locks.end());
    }
    for (const auto& [lock, depth] : taken) {
      if (depth > 0) found.insert(lock);
    }
    return found;
  }
};

// What calling a function does to the locks of the caller.
struct Effects {
  std::set<std::string> leaves;  // held, on all ways
  std::set<std::string> drops;   // given back on some way, though it did not take them
  std::set<const clang::VarDecl*>
      kept;  // guards that it is given or captures: held afterwards, too
};

struct Known {  // of a unit
  clang::ASTContext& context;
  LockNames names;
  HeldPlaces* to = nullptr;
  std::map<const clang::FunctionDecl*, Effects> effects;
};

Effects effects_of(Known& known, const clang::FunctionDecl& callee);

class WayWalker {
 public:
  WayWalker(Known& known, const clang::FunctionDecl& function)
      : known_(known), function_(function) {}

  void run();
  Effects effects() const { return effects_; }

 private:
  struct Trial {  // a try statement: what its handlers begin with
    const clang::CXXTryStmt* of = nullptr;
    std::set<const clang::Stmt*> inside;
    std::set<GuardKey> guards;  // that are gone when a handler begins
  };

  std::string name_of(const clang::Expr* of) { return known_.names.of(of, way_.pointees); }
  std::vector<const clang::VarDecl*> guards_captured(const clang::FunctionDecl& by);
  void find_trials(const clang::Stmt* of);
  void reach(const clang::CFGBlock* block, const Way& way);
  void block(const clang::CFGBlock& of);
  void element(const clang::CFGElement& of);
  void statement(const clang::Stmt& of);
  void note_uses(const clang::Stmt& of, bool deep);
  void note(clang::SourceLocation at, const std::string& name);
  void may_throw(const clang::Stmt& of);

  void take(const std::string& lock);
  void give(const std::string& lock);
  void end(GuardKey key);
  GuardKey guard_in(const clang::Expr* of) const;
  std::optional<GuardState> guard_made(const clang::Expr* init);
  std::optional<GuardState> made_by(const clang::CXXConstructExpr& made);
  std::optional<GuardState> returned_by(const clang::CallExpr& call);
  void declare(const clang::VarDecl& variable);
  static void end_opener(Way& way, const clang::VarDecl* opener);
  void note_opener(const clang::VarDecl& variable, const clang::Expr& init);
  void set_pointee(const clang::VarDecl& variable, const clang::Expr* value);
  void call(const clang::CallExpr& of);
  void note_given_away(const clang::CallExpr& of, const clang::FunctionDecl& callee);
  bool guard_call(const clang::CallExpr& of, const clang::FunctionDecl& callee);
  bool lock_call(const clang::CallExpr& of, const clang::FunctionDecl& callee);
  void pass(const clang::FunctionDecl* callee, llvm::ArrayRef<const clang::Expr*> arguments);
  void hand_over(const clang::CXXRecordDecl& lambda);
  bool is_kept(const clang::FunctionDecl& callee, unsigned parameter);
  void apply(const clang::FunctionDecl& callee, llvm::ArrayRef<const clang::Expr*> arguments);
  std::optional<Asked> asked(const clang::Expr* condition);
  void answer(const Asked& asked, bool is_true);

  Known& known_;
  const clang::FunctionDecl& function_;
  Way way_;
  bool dead_ = false;
  bool notes_ = false;
  std::vector<Trial> trials_;
  std::map<const clang::Stmt*, const clang::CFGBlock*> handlers_;
  std::map<const clang::CFGBlock*, Way> reached_;
  std::set<const clang::CFGBlock*> open_;
  Effects effects_;
};

// Those that an expression comes down to.
std::vector<const clang::Stmt*> temporaries_in(const clang::Stmt* of);
// What std::move is for, if the expression is that.
const clang::Expr* moved_from(const clang::Expr* of);

}  // namespace accesses
