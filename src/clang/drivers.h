// A small C++ test driver on its way to a Boolean program (docs/bp.md): `tomos model --from-cpp`.
//
// The driver is run once, from main on, as far as it can be without knowing data: calls are
// followed, objects and threads are the ones it makes, pointers lead to them. What each thread does
// to locks, truth values and data on the way is written down as the code of the Boolean program.
//
//  - A lock is a lock, a condition a condition; what else threads meet at is in
//    driver_meetings.cpp. bool, std::atomic<bool> and std::atomic_flag keep their values; so does a
//    number, atomic or not, to which only constants are ever assigned, or that is counted up and
//    down and stays small.
//  - Of all other data only the accesses are kept: `int[0..0] balance;` is a variable with one
//    value, which takes no room in a state; `seen = balance;` reads it, `balance = 0;` writes it. A
//    condition that depends on it goes both ways.
//  - C++ does one access at a time, so each is a statement of its own; operations of atomics are
//  one
//    statement each.
//
// Whatever the driver can do the Boolean program can do, with the same accesses in the same order.
// That needs to know what is where: a pointer that may lead anywhere, a call of an unknown function
// or a thread made in a loop without bound are refused, with their place.
//
// What is known of data is found by doing it all again: the first time every number counts as kept
// and every element of an array as a variable; what turns out not to be so is remembered (Facts),
// and the next pass knows it. The last pass learns nothing new, and counts.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clang/driver_text.h"
#include "clang/file_numbers.h"
#include "clang/read_driver.h"

namespace tomos::cpp {

// Something with an address: a variable of the driver, an object, a part of one. Its type is the
// object's own, never that of a base.
struct Spot {
  std::string path;  // "account.balance_", as people write it
  clang::QualType type;
  bool blurred = false;  // an element that is not known: all that is in there is one variable

  friend bool operator==(const Spot& a, const Spot& b) { return a.path == b.path; }
};

struct Closure;

// What is known of a value while the driver is read.
struct Value {
  enum class Kind : std::uint8_t {
    kUnknown,
    kNumber,   // known now; also a truth value
    kFormula,  // an expression over variables of the thread
    kPointer,  // leads to the spot; also a reference
    kCallable,
    kThread,  // number: which
  };
  Kind kind = Kind::kUnknown;
  std::int64_t number = 0;
  std::string formula;
  Spot spot;
  const clang::FunctionDecl* function = nullptr;
  std::shared_ptr<const Closure> closure;
  bool small = false;  // a formula that may leave the range of a number; the search notices

  static Value of(std::int64_t number) { return {.kind = Kind::kNumber, .number = number}; }
  static Value of(std::string formula) {
    return {.kind = Kind::kFormula, .formula = std::move(formula)};
  }
  static Value leading_to(Spot spot) { return {.kind = Kind::kPointer, .spot = std::move(spot)}; }
  bool is_number() const { return kind == Kind::kNumber; }
  bool is_known() const { return kind != Kind::kUnknown; }
};

// What a name means in a function.
struct Meaning {
  enum class Kind : std::uint8_t {
    kValue,    // it never changes
    kSpot,     // threads may share it
    kLocal,    // a variable of the thread, of this name
    kNothing,  // a number or the like of the thread whose value is not kept
  };
  Kind kind = Kind::kNothing;
  Value value;
  Spot spot;
  std::string name;
};

struct Closure {  // a lambda with what it has captured
  const clang::LambdaExpr* lambda = nullptr;
  std::map<const clang::ValueDecl*, Meaning> captured;
  std::optional<Spot> self;
};

// What was learned in earlier passes.
struct Facts {
  std::set<std::string> unkept;  // numbers that are assigned more than constants
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;  // of the others
  std::set<std::string> blurred;   // arrays of which unknown elements are used
  std::set<std::string> unstable;  // pointers that change
  std::set<std::string> names;     // of shared variables
  std::set<std::string> unsteady;  // guards that hold their lock on one way, and not on another
  std::set<std::string> open_sections;  // places where a lock is taken that a callee gives back

  friend bool operator==(const Facts&, const Facts&) = default;
};

class DriverUnit {
 public:
  DriverUnit(clang::ASTContext& context, std::string directory, bool counts, Driver& driver);

  // Throws tomos::Error, which read_driver.cpp makes a value again. Whatever is refused ends the
  // reading from deep inside of expressions: as values, errors would be in the way at every call.
  void read();

 private:
  enum class Leaf : std::uint8_t {
    kLock,
    kCondition,
    kMeeting,
    kThread,
    kList,  // std::vector of threads or of functions
    kTruth,
    kNumber,
    kPointer,
    kGuard,
    kRecord,
    kArray,
    kData,
  };

  // What is to be done when a block is left.
  struct Cleanup {
    enum class Kind : std::uint8_t { kDestroy, kJoin };
    Kind kind = Kind::kDestroy;
    Spot spot;
    clang::SourceLocation at;
  };
  struct Scope {
    std::vector<Cleanup> cleanups;
    int opened = 0;        // atomic blocks that end with it
    bool section = false;  // the last of them is a critical section, and ends with it
    std::string section_at;
  };
  struct Guard {
    std::vector<Spot> locks;
    bool owns = false;
    bool shared = false;
    std::string owns_if;  // variable that says whether it does

    friend bool operator==(const Guard&, const Guard&) = default;
  };
  struct Holding {                        // on the way that is being read
    std::map<std::string, Guard> guards;  // by path
    std::multiset<std::string> held;      // locks, as far as the text shows
  };
  struct Target {  // of break or continue
    std::string label;
    std::size_t scopes = 0;
    bool wanted = false;
    std::optional<Holding> holding = {};  // those who have gone there: what they hold
  };
  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    std::map<const clang::ValueDecl*, Meaning> meanings;
    std::optional<Spot> self;
    std::vector<Spot> temporaries;   // objects that die with the expression
    std::optional<Spot> object;      // that is returned
    std::string elided;              // variable that is the same
    std::optional<Holding> holding;  // those who have returned: what they hold
    std::vector<Scope> scopes;
    std::vector<Target> breaks;
    std::vector<Target> continues;
    std::string label;   // where return leads
    bool jumps = false;  // there
    std::string result;  // variable for a truth value that is returned
    std::vector<Value> returned;
    std::map<std::string, std::string> declared;           // variables, with their types
    std::map<std::string, std::vector<std::string>> free;  // temporary ones, by type
    std::vector<std::pair<std::string, std::string>> busy;
  };
  struct Started {
    std::string name;
    Value callable;
    std::vector<Value> arguments;
    clang::SourceLocation at;
  };
  struct Uses {  // of the variables of functions
    std::set<const clang::VarDecl*> escaped;
    std::set<const clang::VarDecl*> captured;  // by reference
    std::map<const clang::VarDecl*, int> assigned;
  };

  // drivers.cpp: the whole, names, variables.
  void pass();
  void read_thread(const Started& thread);
  [[noreturn]] void refuse(clang::SourceLocation at, const std::string& what,
                           const std::string& remedy);
  DriverPosition position(clang::SourceLocation location);
  std::string text_of(clang::SourceLocation location);
  void abstracted(const std::string& kind, const std::string& what, clang::SourceLocation at);
  std::string unique(const std::string& path);
  std::string declare(const Spot& spot, clang::SourceLocation at);
  std::string declare_as(const std::string& path, const std::string& type);
  std::string local(const std::string& wanted, const std::string& type);
  std::string temporary(const std::string& type);
  void emit(const std::string& text, clang::SourceLocation at, DriverStep step = DriverStep::kNone);
  void open(const std::string& text, clang::SourceLocation at);
  void close();
  Leaf leaf_of(clang::QualType type) const;
  Leaf leaf_of(const Spot& spot) const;
  bool is_kept(const std::string& key) const { return !facts_.unkept.contains(key); }
  std::string type_of(const std::string& key, Leaf leaf) const;
  void assigned(const std::string& key, const Value& value);
  Value more(const Meaning& of, const Value& old, std::int64_t by);
  bool is_foreign(const clang::Decl& decl) const;
  const Uses& uses() const { return uses_; }
  void look_at(const clang::Stmt* of);
  Meaning* find(const clang::ValueDecl& name);
  Spot global(const clang::VarDecl& variable, clang::SourceLocation at);

  // driver_access.cpp: what is read and written.
  Value read(const Spot& spot, clang::SourceLocation at);
  void write(const Spot& spot, const Value& value, clang::SourceLocation at);
  void touch(const Spot& spot, clang::SourceLocation at);  // read and written by somebody unknown
  void copy(const Spot& from, const Spot& to, clang::SourceLocation at);
  Spot field(const Spot& of, const clang::FieldDecl& field);
  Spot element(const Spot& of, const Value& index, clang::SourceLocation at);
  void initialize(const Spot& spot, const clang::Expr* with, clang::SourceLocation at);
  void initialize_all(const Spot& spot, clang::SourceLocation at);  // as `new T()` does
  void construct(const Spot& spot, const clang::CXXConstructExpr& of);
  void fill(const Spot& list, const clang::Expr* with, clang::SourceLocation at);
  std::string known(const Value& value, bool truth);  // in the Boolean program
  Value atomic_operation(const Spot& spot, llvm::StringRef name, const clang::CallExpr& of,
                         llvm::ArrayRef<const clang::Expr*> arguments);

  // driver_stmts.cpp.
  void statement(const clang::Stmt* of);
  void block(llvm::ArrayRef<const clang::Stmt*> list, clang::SourceLocation end);
  void declaration(const clang::VarDecl& variable);
  void return_value(const clang::ReturnStmt& of);
  void branch(const clang::IfStmt& of);
  void loop(const clang::Stmt* init, const clang::Expr* condition, const clang::Expr* step,
            const clang::Stmt* body, bool body_first, clang::SourceLocation at);
  bool unroll(const clang::ForStmt& of);
  void range_loop(const clang::CXXForRangeStmt& of);
  void selection(const clang::SwitchStmt& of);
  Holding leave(std::size_t scopes, clang::SourceLocation at);
  bool is_reached() const;
  void leave_scope(clang::SourceLocation at);
  void turn(std::vector<Target>& targets, clang::SourceLocation at);
  void label(const std::string& name, clang::SourceLocation at);
  void acquire(const Spot& lock, clang::SourceLocation at, bool shared = false);
  void release(const Spot& lock, clang::SourceLocation at);
  void begin_section(clang::SourceLocation at);
  void note_open_section(clang::SourceLocation at);
  void run_cleanup(const Cleanup& cleanup, clang::SourceLocation at);
  std::vector<Spot> threads_in(const Spot& spot) const;
  std::vector<const clang::Expr*> locked_by(const clang::Stmt* of);
  const clang::Expr* lock_call(const clang::Stmt* of, bool locks);
  const clang::Expr* tried_lock(const clang::Expr* condition);
  std::string lock_tried_by_guard(const clang::IfStmt& of);
  bool is_given_back(const std::string& lock, llvm::ArrayRef<const clang::Stmt*> in);
  bool makes_threads(const clang::Stmt* of) const;

  // driver_guards.cpp.
  bool keeps_lock(clang::QualType type) const;
  bool is_ended(clang::QualType type) const;
  void refuse_hidden_guard(const clang::Expr& of);
  void destroy(const Spot& spot, clang::SourceLocation at);
  void destroy_as(const Spot& spot, const clang::RecordDecl& record, clang::SourceLocation at);
  void keep_temporary(const Spot& spot);
  bool forget_temporary(const Spot& spot);
  void end_temporaries(std::size_t first, clang::SourceLocation at);
  void refuse_temporaries(std::size_t first, clang::SourceLocation at);
  Spot lock_of(const clang::Expr* of);
  Guard& guard_at(const Spot& spot, clang::SourceLocation at);
  void ask_when_it_runs(const Spot& spot, clang::SourceLocation at);
  void set_owns(const Spot& spot, bool owns, clang::SourceLocation at);
  void new_guard(const Spot& spot, clang::SourceLocation at);
  void make_guard(const Spot& spot, const clang::Expr* with, clang::SourceLocation at);
  void try_guard(const Spot& spot, clang::SourceLocation at);
  void move_guard(const Spot& from, const Spot& to, clang::SourceLocation at);
  void assign_guard(const Spot& from, const Spot& to, clang::SourceLocation at);
  void swap_guards(const Spot& one, const Spot& other, clang::SourceLocation at);
  void give_back(const Spot& spot, clang::SourceLocation at);
  void join_ways(const Holding& other, clang::SourceLocation at, bool again = false);
  void join_ways(std::optional<Holding>& all, clang::SourceLocation at);
  void arrive(const std::optional<Holding>& others, bool reached, clang::SourceLocation at);
  void leave_round(std::optional<Holding>& all, clang::SourceLocation at);
  bool is_of_scope(const Spot& spot) const;
  Value guard_method(const clang::CXXMethodDecl& method, const Spot& spot,
                     llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);

  // driver_exprs.cpp.
  Value value(const clang::Expr* of);
  Value truth(const clang::Expr* of);  // kNumber, kFormula or kUnknown
  Meaning place(const clang::Expr* of);
  Spot spot(const clang::Expr* of);
  Value load(const Meaning& from, clang::SourceLocation at);
  void store(const Meaning& to, const Value& value, clang::SourceLocation at);
  Value short_circuit(const clang::BinaryOperator& of);
  Value binary(const clang::BinaryOperator& of);
  Value compare(const clang::BinaryOperator& of);
  Value choice(const clang::ConditionalOperator& of);
  Value as_type(Value value, clang::QualType from, clang::QualType to);

  // driver_objects.cpp.
  Value closure(const clang::LambdaExpr& of);
  Value allocate(const clang::CXXNewExpr& of);
  Value made(const clang::Expr* of);  // an object, in a place of its own

  // driver_calls.cpp.
  Value call(const clang::CallExpr& of);
  Value invoke(const clang::FunctionDecl& function, std::optional<Spot> self,
               const std::vector<Value>& arguments, const Closure* closure,
               clang::SourceLocation at, bool entry = false);
  Value invoke(const Value& callable, const std::vector<Value>& arguments, clang::SourceLocation at,
               bool entry = false);
  Value argument(const clang::Expr* of, clang::QualType parameter);
  Meaning parameter(const clang::VarDecl& of, const Value& value, clang::SourceLocation at);
  Value foreign_function(const clang::FunctionDecl& function, const clang::CallExpr& of);
  std::optional<Value> pthread_function(llvm::StringRef name, const clang::CallExpr& of);
  Value foreign_method(const clang::CXXMethodDecl& method, const clang::CallExpr& of,
                       const clang::Expr* object, llvm::ArrayRef<const clang::Expr*> arguments);
  Value start(const Value& callable, std::vector<Value> arguments, clang::SourceLocation at);
  Value start(llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  Value start_async(llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  void join(const Spot& thread, clang::SourceLocation at);
  void wait(const Spot& condition, const Spot& lock, bool timed, clang::SourceLocation at);
  void assertion(const clang::Expr* condition, clang::SourceLocation at);
  bool is_transaction(const clang::FunctionDecl& function);
  bool waits(const clang::Stmt* of, std::set<const clang::FunctionDecl*>& seen) const;

  // driver_meetings.cpp.
  std::string meeting(const Spot& spot, clang::SourceLocation at, const std::string& part = "");
  void make_meeting(const Spot& spot, const Value& count, clang::SourceLocation at);
  void acquire_shared_lock(const Spot& lock, bool shared, clang::SourceLocation at);
  void release_shared_lock(const Spot& lock, clang::SourceLocation at);
  Value try_lock(const Spot& lock, bool shared, bool timed, clang::SourceLocation at);
  Value meet(const Spot& spot, llvm::StringRef what, const std::vector<Value>& given,
             clang::SourceLocation at);
  void call_once(const Spot& flag, const clang::Expr* callee,
                 llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  void lock_all(const std::vector<Spot>& locks, clang::SourceLocation at);
  void std_lock(llvm::ArrayRef<const clang::Expr*> arguments, clang::SourceLocation at);
  int most_in(const Spot& meeting) const;
  std::optional<Value> semaphore_function(llvm::StringRef name, const clang::CallExpr& of);

  clang::ASTContext& context_;
  FileNumbers files_;
  bool keeps_counts_;  // numbers that are counted up and down are kept, as if they stayed small
  Driver& driver_;
  Facts facts_;
  Uses uses_;
  std::set<const clang::Stmt*> looked_at_;

  // Of a pass.
  std::vector<DriverLine>* out_ = nullptr;
  std::deque<Frame> frames_;  // whoever holds one may call another
  std::string thread_;        // whose code is being written; empty: main's
  std::map<std::string, DriverVariable> shared_;
  std::vector<std::string> order_;              // of shared_
  std::map<std::string, Value> pointers_;       // by path: what is known of them
  std::map<std::string, std::size_t> threads_;  // by path: which it is
  std::map<std::string, std::size_t> counts_;   // by path: what is in a list
  std::map<std::string, int> sizes_;            // by path: first counts of what has one
  std::map<std::string, Value> completions_;    // by path: what a barrier calls
  std::map<std::string, Spot> promises_;        // by path: of futures that do not stand for threads
  std::set<std::string> initialized_;           // pointers
  std::vector<Started> started_;
  std::set<std::string> paths_;
  std::set<std::string> live_names_;     // of the thread
  std::set<std::string> lasting_names_;  // of these, as long as it runs
  Holding holding_;
  std::set<std::string> recursive_;  // locks
  int ending_ = 0;                   // blocks that are being left, inside of each other
  std::string tried_;                // path of the lock that is held in the block that comes
  bool tried_by_guard_ = false;      // which gives it back
  bool in_atomic_ = false;
  bool not_atomic_ = false;
  bool prologue_ = true;  // main has done nothing yet that others could see
  int loops_ = 0;         // around us, whose number of rounds is not known
  std::size_t labels_ = 0;
  std::size_t budget_ = 0;  // lines
};

}  // namespace tomos::cpp
