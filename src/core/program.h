// A program in the core language: AJ2 (Flanagan, Freund and Lifshin, Fig. 1, with the extensions of
// section 6) and what C++ adds to it. docs/aj2.md has the text form. Plain data: the parser and the
// C++ front end both fill it in.
//
// Names are what the program is linked by, so they must be unique where they are looked up: no name
// in a function hides another or a global (a front end renames), and equal method names in a class
// and its base are an override. Display names are what people are shown; an empty one means the
// name itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/atomicity.h"
#include "core/locks.h"

namespace tomos::core {

struct Position {
  std::uint32_t file = 0;  // index into Program::files
  std::uint32_t line = 0;  // 0: unknown
  std::uint32_t column = 0;

  friend bool operator==(const Position&, const Position&) = default;
};

struct Predicate {
  // In this order conditions are printed: first what lock it is, then whether it is held.
  enum class Kind : std::uint8_t { kIsNone, kIsAlways, kHeld };
  Kind kind = Kind::kHeld;
  LockId lock = {};

  friend auto operator<=>(const Predicate&, const Predicate&) = default;
};

// A declared atomicity: basic, or predicate ? then : otherwise.
enum class TermId : std::uint32_t {};
struct Term {
  Basic basic = Basic::kConst;
  std::optional<Predicate> predicate;
  TermId then = {};
  TermId otherwise = {};
};

// A class and the locks for its ghost parameters, or a value type: int, bool, string, void.
struct Type {
  std::string name;
  std::vector<LockId> locks;

  friend bool operator==(const Type&, const Type&) = default;
};

// The name of a null that a front end knows to be one, not just some value that it does not know.
inline constexpr std::string_view kGone = "gone";

enum class ExprId : std::uint32_t {};
inline constexpr ExprId kNoExpr{0xffffffff};

struct Expr {
  enum class Kind : std::uint8_t {
    kVariable,  // name; also a global or a static field
    kConstant,  // name: the text of a number, a string, true or false
    kNull,      //
    kNew,     // type: the class with its locks, then those of the constructor; children: arguments
    kField,   // children[0].name
    kAssign,  // children[0] = children[1]
    kUpdate,  // children[0] += children[1]: read and written; one step if the field is atomic
    kCall,    // children[0].name<locks>(rest); children[0] is kNoExpr for functions and statics
    kOperator,  // name applied to the children, all of them evaluated
    kLet,       // let name = children[0], in children[1]; type.name is empty if not given
    kSequence,  // children
    kIf,        // children: condition, then, else
    kWhile,     // children: condition, body
    kSync,      // synchronized (children[0]) children[1]; or `synchronized shared`
    kLock,      // children[0]; or `lock shared`: see is_shared
    kUnlock,    // children[0]
    kTryLock,   // children[0]; in the condition of an `if`, the lock is held where it says true
    kWait,      // on a condition, with the lock children[0]: released and acquired again
    kAtomic,    // children[0] runs as a transaction
    kExpect,    // children[0], whose atomicity must be at most `expected`
    kFork,      // children[0], a call, in a new thread; its ghost arguments may name tll
    kNoWarn,    // children[0]: whatever is wrong here is meant to be
    kReturn,    // children[0], or nothing
    kBreak,     //
    kContinue,  //
  };
  Kind kind = Kind::kNull;
  Position position;
  Position end;  // of a synchronized block: where the lock is released
  std::string name;
  std::string display;  // of a let
  std::vector<ExprId> children;
  std::vector<LockId> locks;
  Type type;
  TermId expected = {};
  // Of an access without the lock that guards the field, or a call without one that it requires:
  // nobody else can see the object, or somebody was told and the rest goes on without this.
  enum class Excused : std::uint8_t { kNo, kUnshared, kReported };
  Excused excused = Excused::kNo;
  bool is_shared = false;  // of what takes a lock: as a reader, beside others
  // Of a synchronized block around a call: it is the callee that takes the lock, and calls under it
  // what it was given, which is in the block, too.
  bool is_callees = false;
  // Of an access: the place is handed out by reference. Who gets it reads or changes it later.
  bool is_lent = false;
};

// Those that end with a block in text, and so need no `;` after them.
constexpr bool ends_with_brace(Expr::Kind kind) {
  using enum Expr::Kind;
  return kind == kIf || kind == kWhile || kind == kSync || kind == kAtomic || kind == kExpect ||
         kind == kNoWarn || kind == kSequence;
}

struct Guard {
  enum class Kind : std::uint8_t { kUnset, kFinal, kGuardedBy, kWriteGuardedBy, kNoGuard, kAtomic };
  Kind kind = Kind::kUnset;
  // Where people would say so (infer/where_said.h): at the field, at the one that holds the object,
  // nowhere but in the one method that uses it, or nowhere, as there are no words for its lock.
  enum class Said : std::uint8_t { kHere, kByHolder, kInMethod, kUnsayable };
  Said said = Said::kHere;
  LockId lock = {};
};

struct Field {  // or a global
  Type type;
  std::string name;
  std::string display;
  Guard guard;
  bool is_given = false;     // the guard is what the program's author says, not what was inferred
  bool is_pt_given = false;  // the author says something of what it leads to only
  bool is_constant = false;  // never assigned again, though what it points to may change (T* const)
  bool is_static = false;
  bool is_pointer = false;   // the source reaches what it leads to with ->
  bool is_borrowed = false;  // a plain pointer or reference: it may be somebody else's
  bool is_role = false;      // a lock that nobody acquires: a thread that its holders run in
  bool is_own_lock = false;  // a lock of the project's making: who knows whether it can be retaken
  bool is_capability =
      false;  // a lock that says so by an attribute: one that Clang's checker knows
  std::vector<std::string> keeps;  // classes of the objects in it, or that something in it leads to
  Position position;
  Position end;  // where an annotation would stand in the source; unknown in a macro
};

struct Parameter {
  Type type;
  std::string name;
  std::string display;  // at the first declaration of its function
  bool is_pointer = false;
  bool is_constant = false;  // the object that it leads to is not changed through it
  bool is_guard = false;     // the lock of a guard (RAII) that the function is given
  Position position;
};

struct Method {  // or a function
  // What is done to `this` in constructors and destructors no other thread can see.
  enum class Kind : std::uint8_t { kMethod, kStatic, kConstructor, kDestructor };
  Kind kind = Kind::kMethod;
  std::optional<TermId> atomicity;
  Type result;
  std::string name;
  std::string display;
  std::vector<std::string> ghosts;
  std::vector<Parameter> parameters;
  std::vector<LockId> requires_held;  // at the call
  std::vector<LockId> unsaid;         // of them: only guards that are said elsewhere ask for them
  std::vector<LockId> acquires;       // held at the return, not at the call
  std::vector<LockId> releases;       // held at the call, not at the return
  std::vector<LockId> excludes;       // not held at the call: it would be acquired twice
  bool is_given = false;              // the locks above are what the program's author says
  bool is_constant = false;           // leaves its object as it is (a const method)
  bool is_private = false;            // nobody outside the class calls it
  bool is_unknown = false;            // its atomicity is the worst there is: the source is not here
  bool no_warn = false;
  ExprId body = kNoExpr;  // none: abstract, or defined elsewhere
  Position position;
  // Of its first declaration: where it begins, and where an annotation would stand in the source.
  // Unknown in a macro.
  Position begin;
  Position end;
};

struct Class {
  std::string name;
  std::string display;
  std::vector<std::string> ghosts;
  std::vector<Type> bases;
  std::vector<Field> fields;
  std::vector<Method> methods;
  bool is_kept = false;  // somebody may know of its objects whom no field or global shows
  Position position;
};

struct Program {
  std::vector<std::string> files;
  Locks locks;
  std::vector<Term> terms;
  std::vector<Expr> exprs;
  std::vector<Class> classes;
  std::vector<Field> globals;
  std::vector<Method> functions;
  ExprId main = kNoExpr;

  TermId add(Term term) {
    terms.push_back(term);
    return static_cast<TermId>(terms.size() - 1);
  }
  ExprId add(Expr expr) {
    exprs.push_back(std::move(expr));
    return static_cast<ExprId>(exprs.size() - 1);
  }
  const Term& operator[](TermId id) const { return terms[static_cast<std::size_t>(id)]; }
  const Expr& operator[](ExprId id) const { return exprs[static_cast<std::size_t>(id)]; }
};

// "list.aj2:12:5"
std::string to_string(const Program& program, const Position& position);

}  // namespace tomos::core
