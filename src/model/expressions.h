// Names, types and expressions of a program that is being compiled.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"
#include "model/ast.h"
#include "model/program.h"

namespace tomos::model {

// What a name stands for.
struct Binding {
  enum class Kind : std::uint8_t { kVariable, kConstant, kLock, kCondition, kThread, kProcedure };
  Kind kind = Kind::kVariable;
  Place place;
  Cell cell;  // a variable: all its elements; a lock likewise
  bool is_array = false;
  bool hidden = false;     // state of the logical form
  std::int32_t value = 0;  // of a constant; the first of conditions and threads
  bool is_bool = false;    // of a constant
};

// Errors are thrown, and become values in compile().
class Expressions {
 public:
  Expressions(Program& program, std::string_view file) : program_(program), file_(file) {}

  [[noreturn]] void fail(Place place, std::string what, std::string remedy) const;

  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }
  // While a procedure is compiled, the names of its caller cannot be seen.
  void hide_callers();
  void show_callers();
  void bind(const std::string& name, Place place, Binding binding);
  const Binding& find(const std::string& name, Place place, Binding::Kind kind) const;

  // The number of the thread among T[n], or -1 outside of such threads. Whether it was asked for.
  void set_self(std::int32_t self) { self_ = self; }
  bool asked_for_self() const { return asked_for_self_; }
  void forget_self_asked() { asked_for_self_ = false; }

  // `*` takes its values from `wanted`.
  std::int32_t node(const Expression& expression, const Type& wanted);
  std::int32_t condition(const Expression& expression);
  // A number known now.
  std::int32_t constant(const Expression& expression, const Type& wanted);
  // The cell of a variable or a lock.
  std::int32_t cell(const std::string& name, Place place, const Expression* index,
                    Binding::Kind kind);
  std::int32_t cell(const Reference& reference, Binding::Kind kind) {
    return cell(reference.name, reference.place, reference.index.get(), kind);
  }
  // The number of a condition, or of a thread; -1 for all threads T[n].
  std::int32_t numbered(const Reference& reference, Binding::Kind kind);

  std::int32_t add(Cell cell);
  std::int32_t add(Node node);

 private:
  struct Typed {
    std::int32_t node = 0;
    bool is_bool = true;
  };
  Typed typed(const Expression& expression, const Type& wanted);
  Typed named(const Expression& expression);
  Typed combined(const Expression& expression, const Type& wanted);
  std::int32_t operand(const Expression& expression, bool is_bool, const Type& wanted);
  std::int32_t folded(Node node);

  Program& program_;
  std::string_view file_;
  std::vector<std::map<std::string, Binding>> scopes_;
  std::vector<std::size_t> hidden_;  // scopes from 1 up to there are not seen
  std::int32_t self_ = -1;
  bool asked_for_self_ = false;
};

}  // namespace tomos::model
