// The body of a function, as an expression of the core language.
//
// Variables of the core keep their value. A C++ variable that leads to an object is a new core
// variable after every assignment, and one of unknown value where two ways meet: what is known of
// the locks of one object is never taken for another's. Variables that lead nowhere, numbers and
// the like, are nobody else's business and leave no trace.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/unit.h"

namespace tomos::cpp {

// Leads to no object.
inline bool is_value(const core::Type& type) { return type.name == "int" || type.name == "void"; }

// Deeper nesting than this is cut off: every later pass walks the program recursively.
inline constexpr std::size_t kMaxWraps = 250;
inline constexpr std::size_t kMaxDepth = 250;
// Labels inside labelled blocks inside ..., and try blocks: each level reads what is in it twice.
inline constexpr unsigned kMaxTrials = 4;

bool is_null(const clang::Expr* of);
// The address that an expression is of some place; none: it is something else.
const clang::UnaryOperator* address_in(const clang::Expr* of);
// The variable that an expression names, if that is all.
const clang::VarDecl* variable_in(const clang::Expr* of);
// The variables that are named in it.
void variables_in(const clang::Stmt* of, std::set<const clang::VarDecl*>& to);
// The variables that a part of a body may give another value.
void assigned_in(const clang::Stmt* of, std::set<const clang::VarDecl*>& to);
// A place that can be named again without anything happening twice.
bool is_place(const clang::Expr* of);
bool is_iterator(clang::QualType type);
// By the operator of a class, not by a plain pointer.
bool is_arrow_of_class(const clang::MemberExpr& of);
// The callee of (object->*pointer)(arguments).
const clang::BinaryOperator* through_pointer(const clang::CallExpr& of);

class Body {
 public:
  Body(Unit& unit, const clang::FunctionDecl& function, Unit::Home home);

  core::ExprId read();

  static std::string parameter_name(const clang::ParmVarDecl& parameter);
  static bool makes_pointer(const clang::FunctionDecl* callee);
  static void read_lambdas(Unit& unit, const clang::ValueDecl& of, const clang::Expr* init,
                           const Unit::Home& around);

 private:
  using ExprId = core::ExprId;

  struct Value {
    ExprId id = core::kNoExpr;  // none: nothing happens
    core::Type type = {.name = "int"};
    bool is_value = true;         // no: some value of the type, and what happens before it is there
    bool gone = false;            // a null pointer
    bool may_be_another = false;  // the place may be of another class to other units
  };

  // What becomes of a place: named, read, changed (itself or a part of it), or left empty.
  enum class Use : std::uint8_t { kName, kRead, kChange, kMove };

  // A block under construction. What wraps has the rest of the block as its last child.
  struct Item {
    ExprId id = core::kNoExpr;
    core::Expr wrap;
    bool wraps = false;
  };
  struct Block {
    std::vector<Item> items;
    // Guards and objects with destructors that are declared here, and end here.
    std::vector<const clang::VarDecl*> locals;
    bool is_loop = false;
    bool is_switch = false;
  };

  struct Guard {
    std::vector<LockPath> locks;
    Held held = Held::kNo;
    bool tried = false;                     // whether it is held is still to be asked
    bool inverted = false;                  // unlocks first, and locks again at the end
    bool by_block = false;                  // never told anything: a synchronized block
    bool is_lent = false;                   // whoever made it gives back what it holds in the end
    bool is_shared = false;                 // a reader's
    const clang::VarDecl* opens = nullptr;  // inverted: the guard whose lock that is
  };
  struct Variable {
    std::string name;  // empty: of unknown value
    core::Type type;
    bool is_object = false;  // stays the same object, whatever is assigned to it
  };
  // An object that was locked, by an expression that is more than a variable (`it->second`,
  // `shards[i]`): as long as no variable in it changes, the same expression is the same object.
  struct Named {
    llvm::FoldingSetNodeID expression;
    std::set<const clang::VarDecl*> variables;
    std::string name;
    core::Type type;
    std::size_t block = 0;  // where the name is known
  };
  struct Try {
    LockCall call;
    bool held_if_true = true;
  };
  struct State {
    std::map<const clang::VarDecl*, Variable> variables;
    std::vector<Named> objects;
    std::map<const clang::VarDecl*, Guard> guards;
    std::vector<std::pair<LockPath, std::string>> bound;  // locks that have a variable
    std::map<const clang::VarDecl*, Try> tries;           // whether a lock could be taken
    bool reachable = true;
  };

  using Part = std::function<void()>;

  // Statements.
  void statement(const clang::Stmt* of);
  void statements(const clang::CompoundStmt& of);
  void statements(const clang::CompoundStmt& of, clang::CompoundStmt::const_body_iterator first,
                  clang::CompoundStmt::const_body_iterator last);
  bool may_jump(const clang::Stmt* of) const;
  void maybe(const Part& part, clang::SourceLocation at, clang::SourceLocation end);
  void declaration(const clang::VarDecl& variable);
  void declare_guard(const clang::VarDecl& variable, const clang::Expr* init);
  void handed_out(const clang::Expr* init, Guard& guard, clang::SourceLocation at);
  void open_guards(const clang::VarDecl& variable, const clang::CXXConstructExpr& made);
  void use_others(const clang::FunctionDecl& callee, llvm::ArrayRef<const clang::Expr*> arguments);
  void guard_locks(const clang::CXXConstructExpr& made, Guard& guard, clang::SourceLocation at);
  void if_statement(const clang::IfStmt& of);
  void branch(const clang::Expr* condition, const Part& then, const Part& otherwise,
              clang::SourceLocation at);
  void loop(const clang::Stmt& whole, const clang::Expr* condition, const Part& body,
            clang::SourceLocation at, bool test_last = false);
  void range_loop(const clang::CXXForRangeStmt& of);
  Value lent(const clang::Expr& result, const core::Type& type);
  void dependent(const clang::Stmt* of);
  ExprId dependent_expr(const clang::Expr* of, Use use);
  ExprId dependent_call(const clang::CallExpr& of);
  void switch_statement(const clang::SwitchStmt& of);
  void case_way(llvm::ArrayRef<const clang::Stmt*> way);
  void try_statement(const clang::CXXTryStmt& of);
  void give_back_told(const clang::Stmt& in);
  void steps_of(llvm::ArrayRef<const clang::Stmt*> steps);
  void one_of(llvm::ArrayRef<const clang::Stmt*> ways);
  void leave(clang::SourceLocation at, ExprId last);
  void end_locals(std::size_t from_block, clang::SourceLocation at);
  void end_local(const clang::VarDecl& variable, clang::SourceLocation at);
  ExprId destruction(const clang::VarDecl& object, clang::SourceLocation at);
  bool is_left_early() const;
  void diverge(clang::SourceLocation at);
  std::optional<Try> tried(const clang::Expr* condition);
  std::optional<bool> known_to_hold(const clang::Expr* condition);
  ExprId test_of(const clang::Expr* condition);
  std::optional<bool> constant_of(const clang::Expr* condition) const;
  bool holds_try(const clang::Expr* condition);
  bool is_told(const clang::VarDecl& guard, const clang::Stmt* in) const;
  bool is_passed_on(const clang::VarDecl& guard, const clang::CallExpr& call) const;
  void be_given(const clang::ParmVarDecl& guard, const core::Parameter& lock);
  ExprId guard_argument(const clang::Expr& argument, const core::Type& type);

  // Blocks and ways.
  ExprId block(const Part& part, clang::SourceLocation end, bool is_loop = false);
  void emit(ExprId id);
  void nested(const Part& part, clang::SourceLocation end);
  void wrap(core::Expr expr);
  void meet(const State& before, const State& a, const State& b);
  struct After {
    ExprId way = core::kNoExpr;
    State state;
  };
  void join(ExprId decides, After yes, After no, const State& before, clang::SourceLocation at);
  void forget_assigned(const clang::Stmt* in);
  void forget(const clang::VarDecl& variable);
  void bind(const clang::VarDecl& variable, ExprId value, clang::SourceLocation at);
  std::string fresh(const std::string& name);

  // Locks.
  ExprId lock_expr(const LockPath& path, clang::SourceLocation at);
  LockPath settled(LockPath path, clang::SourceLocation at);
  std::optional<LockPath> path_of(const clang::Expr* lock, const Scope& in,
                                  clang::SourceLocation at);
  std::optional<LockPath> told_by_guard(const clang::Expr* lock) const;
  static const clang::Expr* as_written(const clang::Expr* lock, const Scope& in);
  const Named* named(const clang::Expr* object) const;
  void forget_objects(const clang::VarDecl& variable);
  core::ExprId taking(core::Expr::Kind kind, const LockPath& lock, clang::SourceLocation at,
                      bool is_shared);
  std::vector<LockPath> asserted_in(const clang::Stmt& of);
  void assert_held(const std::vector<LockPath>& locks);
  void lock_step(core::Expr::Kind kind, const LockPath& path, clang::SourceLocation at,
                 bool is_shared = false);
  bool is_more_than_lock(const clang::FunctionDecl& callee, const LockCall& does);
  bool lock_effect(const clang::CallExpr& call);
  void ask_again(const clang::Expr& place, const clang::Expr* value);
  bool guard_exchanged(const clang::CallExpr& call);
  bool guard_set(const clang::CallExpr& call);
  bool guards_swapped(const clang::Expr& one, const clang::Expr& other, clang::SourceLocation at);
  bool guard_from(const clang::Expr& from, Guard& guard, clang::SourceLocation at);
  void given_back_unseen(clang::SourceLocation at);
  void change_guard(const clang::VarDecl& variable, LockCall::Kind kind, bool gives_up,
                    clang::SourceLocation at);
  Scope scope() const { return {.variables = &variable_names_}; }

  // Expressions.
  Value expr(const clang::Expr* of, Use use);
  Value variable(const clang::VarDecl& variable, Use use, clang::SourceLocation at);
  bool is_pointer_itself(clang::QualType type);
  Value member(const clang::MemberExpr& of, Use use);
  Value assign(const clang::Expr* to, Value value, bool update, clang::SourceLocation at);
  Value conditional(const clang::AbstractConditionalOperator& of, Use use);
  Value construct(const clang::CXXConstructExpr& of);
  std::vector<const clang::Expr*> containers_of(const clang::Expr* iterator) const;
  void remember_iterator(const clang::VarDecl& variable, const clang::Expr* value);
  ExprId change_behind(const clang::Expr& iterator);
  Value atomic_builtin(const clang::AtomicExpr& of);
  void effect(const clang::Expr* of, Use use = Use::kRead);
  ExprId coerce(const Value& value, const core::Type& wanted, clang::SourceLocation at);
  ExprId object(const Value& value, const core::Type& wanted, clang::SourceLocation at);
  static Value opaque(const core::Type& type, ExprId effects);
  Value then(ExprId first, const Value& second, clang::SourceLocation at);
  ExprId sequence(std::vector<ExprId> steps, clang::SourceLocation at);
  ExprId constant(const char* text, clang::SourceLocation at);
  ExprId null(clang::SourceLocation at);
  ExprId gone(clang::SourceLocation at);
  ExprId name(const std::string& name, clang::SourceLocation at);
  ExprId make(core::Expr::Kind kind, clang::SourceLocation at, std::vector<ExprId> children,
              std::string name = {});

  // Calls.
  Value call(const clang::CallExpr& of, Use use);
  Value project_call(const clang::FunctionDecl& callee, const clang::CallExpr& of);
  Value foreign_method(const clang::CXXMethodDecl& callee, const clang::Expr& object,
                       llvm::ArrayRef<const clang::Expr*> arguments, const clang::CallExpr& of,
                       Use use);
  Value foreign_function(const clang::FunctionDecl& callee, const clang::CallExpr& of, Use use);
  Value unknown_call(const clang::CallExpr& of);
  Value argument_value(const clang::Expr& argument, Use use);
  ExprId way_to(const clang::Expr& object);
  void lend(ExprId id);
  ExprId too_deep(clang::SourceLocation at);
  ExprId step(const std::string& name, core::Basic basic, clang::SourceLocation at);
  ExprId foreign_step(const clang::FunctionDecl& callee, std::optional<core::Basic> basic,
                      clang::SourceLocation at);
  void arguments_effect(const clang::FunctionDecl* callee,
                        llvm::ArrayRef<const clang::Expr*> arguments, std::vector<ExprId>& out,
                        bool at_once);
  static Use use_for(clang::QualType parameter);
  Use use_for(const clang::FunctionDecl& callee, unsigned parameter) const;
  const clang::LambdaExpr* lambda_in(const clang::Expr* of) const;
  void initial_lambdas(const clang::Expr& init);
  static const clang::FunctionDecl* function_in(const clang::Expr* of);
  ExprId lambda_call(const clang::LambdaExpr& lambda, const clang::FunctionDecl* called,
                     llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  Value pointer_call(const clang::BinaryOperator& callee, const clang::CallExpr& of);
  enum class Runs : std::uint8_t { kLater, kOnce, kOften };  // the last two at once
  ExprId callback(const clang::Expr* of, llvm::ArrayRef<const clang::Expr*> after, Runs runs);
  ExprId run_callback(const clang::Expr* of, llvm::ArrayRef<const clang::Expr*> after, Runs runs);
  ExprId made_with(const clang::Expr* callable);
  // A method's address is given to one who takes such pointers, and may call it through one.
  void give_address(const clang::FunctionDecl& callee, unsigned parameter,
                    const clang::Expr& argument, ExprId begun);
  std::vector<LockPath> locks_around(const clang::FunctionDecl& callee, unsigned parameter,
                                     const Scope& inside);
  static bool is_lambda(clang::QualType type);
  bool is_counted_by_caller(const clang::Expr* callable);
  bool is_uncounted(const clang::Expr* argument, const clang::FunctionDecl& callee, unsigned i);
  ExprId unknown_step(const clang::Expr* callee, clang::SourceLocation at);
  Runs how_it_runs(const clang::FunctionDecl& callee, unsigned parameter);
  bool runs_once(const clang::FunctionDecl& callee, unsigned parameter, unsigned depth = 0);
  bool runs_at_once(const clang::FunctionDecl& callee, unsigned parameter, unsigned depth = 0);

  Unit& unit_;
  core::Program& program_;
  const clang::FunctionDecl& function_;
  Unit::Home home_;
  std::string initialises_;  // of a lambda that no function is around: what it is the value of
  const clang::LambdaExpr* lambda_ = nullptr;
  std::vector<const clang::LambdaExpr*> open_lambdas_;  // that this is inside of, and itself
  std::vector<Block> blocks_;
  State state_;
  std::map<const clang::VarDecl*, const clang::Expr*> places_;  // what a reference stands for
  // The same of a reference to a pointer. The variable itself is the object that it leads to.
  std::map<const clang::VarDecl*, const clang::Expr*> pointers_;
  std::map<const clang::VarDecl*, std::vector<const clang::Expr*>> iterators_;  // the containers
  std::size_t behind_ = 0;    // how many iterators the place that is changed is behind
  std::size_t renaming_ = 0;  // a place by its reference
  std::map<const clang::VarDecl*, const clang::LambdaExpr*> lambdas_;
  std::map<const clang::VarDecl*, bool> told_;
  std::vector<LockPath> taken_;
  std::set<std::string> names_;
  std::function<std::optional<std::string>(const clang::VarDecl&)> variable_names_;
  std::size_t wraps_ = 0;
  std::size_t conditional_ = 0;  // inside an operand that may not be evaluated
  std::size_t depth_ = 0;
  unsigned trials_ = 0;  // of blocks that are read twice, one inside the other
};

}  // namespace tomos::cpp
