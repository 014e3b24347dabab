// A Boolean program as it is written. docs/bp.md has the grammar and says what it means.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tomos::model {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Expression {
  enum class Kind : std::uint8_t {
    kNumber,  // also true and false
    kName,    // a variable, a constant, `self`; with an operand: an element of an array
    kAny,     // *
    kNot,
    kAnd,
    kOr,
    kEqual,
    kUnequal,
    kLess,  // a > b is b < a
    kLessEqual,
    kPlus,
    kMinus,
    kChoice,  // a ? b : c
  };
  Kind kind = Kind::kNumber;
  Place place;
  std::int32_t number = 0;
  bool is_bool = false;  // of a number
  bool primed = false;   // of a name in the logical form: the value afterwards
  std::string name;
  std::vector<ExpressionPtr> operands;
};

// What names something that may be an element of an array: m, locks[i].
struct Reference {
  std::string name;
  Place place;
  ExpressionPtr index;
};

struct Type {
  bool is_bool = true;
  std::int32_t low = 0;
  std::int32_t high = 1;

  std::uint64_t values() const { return static_cast<std::uint64_t>(std::int64_t{high} - low + 1); }
};

struct Declaration {
  std::string name;
  Place place;
  Type type;
  std::optional<std::uint32_t> size;  // of an array
  ExpressionPtr initial;
  bool by_name = false;  // of a parameter: it stands for a variable of the caller
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum class Kind : std::uint8_t {
    kSkip,
    kDeclare,
    kAssign,  // condition: of `when`
    kAssume,
    kAssert,
    kIf,
    kWhile,
    kGoto,
    kLabel,
    kAtomic,
    kBlock,
    kAcquire,  // otherwise: what is done if the lock is not free; `tries`: there is such a block
    kRelease,
    kStart,
    kJoin,
    kWait,  // references: condition, lock
    kNotify,
    kNotifyAll,
    kCall,
    kReturn,
  };
  Kind kind = Kind::kSkip;
  Place place;
  std::string name;  // of a label, an atomic block, a procedure
  std::vector<Reference> references;
  std::vector<ExpressionPtr> expressions;  // right-hand sides, arguments
  ExpressionPtr condition;
  std::vector<Declaration> declarations;
  Block body;
  Block otherwise;
  bool tries = false;
};

struct Procedure {
  std::string name;
  Place place;
  std::vector<Declaration> parameters;
  Block body;
};

// One line of the logical form: what must hold before and after an event of a thread.
struct Transition {
  enum class Event : std::uint8_t { kBegin, kEnd, kRead, kWrite, kExit, kStep };
  Event event = Event::kStep;
  Place place;
  std::optional<Reference> variable;  // of a read or a write
  std::string label;                  // of a begin
  ExpressionPtr relation;
};

struct Thread {
  std::string name;
  Place place;
  std::optional<std::uint32_t> size;  // T[3]
  Block body;
  std::vector<Transition> transitions;  // the logical form: instead of a body
};

struct Ast {
  struct Object {
    std::string name;
    Place place;
    std::optional<std::uint32_t> size;
  };
  std::vector<Declaration> variables;  // shared
  std::vector<Declaration> state;      // no event tells of them
  std::vector<Declaration> constants;
  std::vector<Object> locks;
  std::vector<Object> conditions;
  std::vector<Procedure> procedures;
  std::vector<Thread> threads;
  ExpressionPtr initial;  // of the logical form
};

}  // namespace tomos::model
