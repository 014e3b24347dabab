#include "model/expressions.h"

#include <fmt/format.h>

#include <utility>

#include "model/lexer.h"

namespace tomos::model {

namespace {

constexpr Type kAnyNumber = {.is_bool = false, .low = 0, .high = 0};

std::string_view word(Binding::Kind kind) {
  switch (kind) {
    case Binding::Kind::kVariable:
      return "variable";
    case Binding::Kind::kConstant:
      return "constant";
    case Binding::Kind::kLock:
      return "lock";
    case Binding::Kind::kCondition:
      return "condition";
    case Binding::Kind::kThread:
      return "thread";
    case Binding::Kind::kProcedure:
      return "procedure";
  }
  return "";
}

std::int32_t wrapped(std::int64_t value) { return static_cast<std::int32_t>(value); }

std::int32_t apply(NodeOp op, std::int32_t a, std::int32_t b) {
  switch (op) {
    case NodeOp::kAnd:
      return static_cast<std::int32_t>(a != 0 && b != 0);
    case NodeOp::kOr:
      return static_cast<std::int32_t>(a != 0 || b != 0);
    case NodeOp::kEqual:
      return static_cast<std::int32_t>(a == b);
    case NodeOp::kUnequal:
      return static_cast<std::int32_t>(a != b);
    case NodeOp::kLess:
      return static_cast<std::int32_t>(a < b);
    case NodeOp::kLessEqual:
      return static_cast<std::int32_t>(a <= b);
    case NodeOp::kPlus:
      return wrapped(std::int64_t{a} + b);
    case NodeOp::kMinus:
      return wrapped(std::int64_t{a} - b);
    case NodeOp::kConstant:
    case NodeOp::kRead:
    case NodeOp::kNext:
    case NodeOp::kAny:
    case NodeOp::kNot:
    case NodeOp::kChoice:
      break;
  }
  return 0;
}

NodeOp operation(Expression::Kind kind) {
  using Kind = Expression::Kind;
  switch (kind) {
    case Kind::kAnd:
      return NodeOp::kAnd;
    case Kind::kOr:
      return NodeOp::kOr;
    case Kind::kEqual:
      return NodeOp::kEqual;
    case Kind::kUnequal:
      return NodeOp::kUnequal;
    case Kind::kLess:
      return NodeOp::kLess;
    case Kind::kLessEqual:
      return NodeOp::kLessEqual;
    case Kind::kPlus:
      return NodeOp::kPlus;
    case Kind::kMinus:
      return NodeOp::kMinus;
    case Kind::kNot:
      return NodeOp::kNot;
    case Kind::kChoice:
      return NodeOp::kChoice;
    case Kind::kAny:
      return NodeOp::kAny;
    case Kind::kNumber:
    case Kind::kName:
      break;
  }
  return NodeOp::kConstant;
}

}  // namespace

void Expressions::fail(Place place, std::string what, std::string remedy) const {
  if (remedy.empty()) remedy = "docs/bp.md has the language, examples/model some programs.";
  throw Error{
      .where = place_in(file_, place), .what = std::move(what), .remedy = std::move(remedy)};
}

void Expressions::hide_callers() { hidden_.push_back(scopes_.size()); }
void Expressions::show_callers() { hidden_.pop_back(); }

void Expressions::bind(const std::string& name, Place place, Binding binding) {
  binding.place = place;
  const auto [known, is_new] = scopes_.back().try_emplace(name, binding);
  if (is_new) return;
  fail(place, fmt::format("'{}' is declared already, in line {}", name, known->second.place.line),
       "Take another name.");
}

const Binding& Expressions::find(const std::string& name, Place place, Binding::Kind kind) const {
  const Binding* found = nullptr;
  for (std::size_t i = scopes_.size(); i-- > 0 && found == nullptr;) {
    if (!hidden_.empty() && i > 0 && i < hidden_.back()) continue;
    if (const auto known = scopes_[i].find(name); known != scopes_[i].end()) found = &known->second;
  }
  if (found == nullptr) {
    fail(place, fmt::format("no {} '{}' is known here", word(kind), name),
         "Declare it before, or mend the name.");
  }
  if (found->kind != kind) {
    fail(place,
         fmt::format("'{}' is a {}, and a {} is wanted", name, word(found->kind), word(kind)), "");
  }
  return *found;
}

std::int32_t Expressions::add(Cell cell) {
  program_.cells.push_back(cell);
  return static_cast<std::int32_t>(program_.cells.size() - 1);
}

std::int32_t Expressions::add(Node node) {
  program_.nodes.push_back(node);
  return static_cast<std::int32_t>(program_.nodes.size() - 1);
}

// What is known now is worked out now.
std::int32_t Expressions::folded(Node node) {
  const auto known = [&](std::int32_t at) -> const Node* {
    const Node& of = program_.nodes[static_cast<std::size_t>(at)];
    return of.op == NodeOp::kConstant ? &of : nullptr;
  };
  if (node.op == NodeOp::kNot) {
    if (const Node* a = known(node.a)) node = {.op = NodeOp::kConstant, .a = a->a == 0 ? 1 : 0};
  } else if (node.op == NodeOp::kChoice) {
    if (const Node* a = known(node.a)) return a->a != 0 ? node.b : node.c;
  } else if (const Node* a = known(node.a)) {
    if (node.op == NodeOp::kAnd && a->a == 0) return node.a;
    if (node.op == NodeOp::kOr && a->a != 0) return node.a;
    if (const Node* b = known(node.b)) {
      node = {.op = NodeOp::kConstant, .a = apply(node.op, a->a, b->a)};
    }
  }
  return add(node);
}

Expressions::Typed Expressions::named(const Expression& expression) {
  if (expression.name == "self") {
    if (self_ < 0) {
      fail(expression.place, "'self' has a value only in threads T[n]", "Declare thread T[1].");
    }
    asked_for_self_ = true;
    return {.node = add(Node{.op = NodeOp::kConstant, .a = self_}), .is_bool = false};
  }
  const Expression* index = expression.operands.empty() ? nullptr : expression.operands[0].get();
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    if (!hidden_.empty() && i > 0 && i < hidden_.back()) continue;
    const auto known = scopes_[i].find(expression.name);
    if (known == scopes_[i].end()) continue;
    if (known->second.kind != Binding::Kind::kConstant) break;
    return {.node = add(Node{.op = NodeOp::kConstant, .a = known->second.value}),
            .is_bool = known->second.is_bool};
  }
  const Binding& binding = find(expression.name, expression.place, Binding::Kind::kVariable);
  if (expression.primed && !binding.hidden) {
    fail(expression.place,
         fmt::format("{}' is asked for, and {} is no state variable", expression.name,
                     expression.name),
         "Only what is declared by 'state' has a value afterwards.");
  }
  const std::int32_t at = cell(expression.name, expression.place, index, Binding::Kind::kVariable);
  return {.node = add(Node{.op = expression.primed ? NodeOp::kNext : NodeOp::kRead, .a = at}),
          .is_bool = binding.cell.type.is_bool};
}

std::int32_t Expressions::operand(const Expression& expression, bool is_bool, const Type& wanted) {
  const Typed result = typed(expression, wanted);
  if (result.is_bool != is_bool) {
    fail(expression.place, is_bool ? "a truth value is wanted here" : "a number is wanted here",
         is_bool ? "Compare the number with another one: n != 0." : "Write b ? 1 : 0.");
  }
  return result.node;
}

Expressions::Typed Expressions::combined(const Expression& expression, const Type& wanted) {
  using Kind = Expression::Kind;
  const Type truth;
  const auto of = [&](std::size_t i) -> const Expression& { return *expression.operands[i]; };
  const NodeOp op = operation(expression.kind);
  switch (expression.kind) {
    case Kind::kNot:
      return {.node = folded({.op = op, .a = operand(of(0), true, truth)}), .is_bool = true};
    case Kind::kAnd:
    case Kind::kOr: {
      const std::int32_t a = operand(of(0), true, truth);
      return {.node = folded({.op = op, .a = a, .b = operand(of(1), true, truth)}),
              .is_bool = true};
    }
    case Kind::kEqual:
    case Kind::kUnequal: {
      const Typed a = typed(of(0), truth);
      return {.node = folded({.op = op, .a = a.node, .b = operand(of(1), a.is_bool, truth)}),
              .is_bool = true};
    }
    case Kind::kLess:
    case Kind::kLessEqual: {
      const std::int32_t a = operand(of(0), false, kAnyNumber);
      return {.node = folded({.op = op, .a = a, .b = operand(of(1), false, kAnyNumber)}),
              .is_bool = true};
    }
    case Kind::kPlus:
    case Kind::kMinus: {
      const std::int32_t a = operand(of(0), false, kAnyNumber);
      return {.node = folded({.op = op, .a = a, .b = operand(of(1), false, kAnyNumber)}),
              .is_bool = false};
    }
    case Kind::kChoice: {
      const std::int32_t a = operand(of(0), true, truth);
      const Typed b = typed(of(1), wanted);
      return {
          .node = folded({.op = op, .a = a, .b = b.node, .c = operand(of(2), b.is_bool, wanted)}),
          .is_bool = b.is_bool};
    }
    case Kind::kNumber:
    case Kind::kName:
    case Kind::kAny:
      break;
  }
  return {};
}

Expressions::Typed Expressions::typed(const Expression& expression, const Type& wanted) {
  using Kind = Expression::Kind;
  if (expression.kind == Kind::kNumber) {
    return {.node = add(Node{.op = NodeOp::kConstant, .a = expression.number}),
            .is_bool = expression.is_bool};
  }
  if (expression.kind == Kind::kName) return named(expression);
  if (expression.kind == Kind::kAny) {
    return {.node = add(Node{.op = NodeOp::kAny, .a = wanted.low, .b = wanted.high}),
            .is_bool = wanted.is_bool};
  }
  return combined(expression, wanted);
}

std::int32_t Expressions::node(const Expression& expression, const Type& wanted) {
  return operand(expression, wanted.is_bool, wanted);
}

std::int32_t Expressions::condition(const Expression& expression) {
  return operand(expression, true, Type());
}

std::int32_t Expressions::constant(const Expression& expression, const Type& wanted) {
  const Node& result = program_.nodes[static_cast<std::size_t>(node(expression, wanted))];
  if (result.op != NodeOp::kConstant) {
    fail(expression.place, "the value must be known beforehand", "Write a number.");
  }
  if (result.a < wanted.low || result.a > wanted.high) {
    fail(expression.place, fmt::format("{} is not in {}..{}", result.a, wanted.low, wanted.high),
         "");
  }
  return result.a;
}

std::int32_t Expressions::cell(const std::string& name, Place place, const Expression* index,
                               Binding::Kind kind) {
  const Binding& binding = find(name, place, kind);
  Cell result = binding.cell;
  if (binding.is_array != (index != nullptr)) {
    fail(place, fmt::format("'{}' is {}an array", name, binding.is_array ? "" : "not "),
         binding.is_array ? fmt::format("Say which element: {}[0].", name) : "");
  }
  if (index == nullptr) return add(result);
  const std::int32_t at = node(*index, kAnyNumber);
  const Node& value = program_.nodes[static_cast<std::size_t>(at)];
  // A wrong one is found when it is used: in a thread T[n], some code may be for other threads.
  if (value.op != NodeOp::kConstant || value.a < 0 || value.a >= result.count) {
    result.index = at;
    return add(result);
  }
  result.first = static_cast<std::uint16_t>(result.first + value.a);
  result.count = 1;
  return add(result);
}

std::int32_t Expressions::numbered(const Reference& reference, Binding::Kind kind) {
  const Binding& binding = find(reference.name, reference.place, kind);
  if (!reference.index) {
    if (!binding.is_array) return binding.value;
    if (kind == Binding::Kind::kThread) return -1;
    fail(reference.place, fmt::format("'{}' is an array", reference.name), "Say which element.");
  }
  if (!binding.is_array) {
    fail(reference.place, fmt::format("'{}' is not an array", reference.name), "");
  }
  const Type range = {.is_bool = false, .low = 0, .high = binding.cell.count - 1};
  return binding.value + constant(*reference.index, range);
}

}  // namespace tomos::model
