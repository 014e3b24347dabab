#include "model/declarations.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tomos::model {
namespace {

void name_all(const Ast::Object& object, std::vector<std::string>& names) {
  if (!object.size) return names.push_back(object.name);
  for (std::uint32_t i = 0; i < *object.size; ++i) {
    names.push_back(fmt::format("{}[{}]", object.name, i));
  }
}

void declare_shared(const Ast& ast, const Declaration& one, bool hidden, Program& program,
                    Expressions& names) {
  const Cell cell{.first = static_cast<std::uint16_t>(program.variables.size()),
                  .count = static_cast<std::uint16_t>(one.size.value_or(1)),
                  .type = one.type};
  Variable variable{.type = one.type, .hidden = hidden};
  if (!one.initial) {
    variable.any_initial = hidden && ast.initial != nullptr;
    if (one.type.low > 0 || one.type.high < 0)
      variable.initial = 0;
    else
      variable.initial = static_cast<Value>(-one.type.low);
  } else if (one.initial->kind == Expression::Kind::kAny) {
    variable.any_initial = true;
  } else {
    variable.initial = static_cast<Value>(names.constant(*one.initial, one.type) - one.type.low);
  }
  std::vector<std::string> each_name;
  name_all({.name = one.name, .place = one.place, .size = one.size}, each_name);
  for (std::string& name : each_name) {
    variable.name = std::move(name);
    program.variables.push_back(variable);
  }
  names.bind(one.name, one.place,
             {.kind = Binding::Kind::kVariable,
              .cell = cell,
              .is_array = one.size.has_value(),
              .hidden = hidden});
}

std::vector<std::size_t> declare_threads(const Ast& ast, Program& program, Expressions& names) {
  std::vector<std::size_t> first_of;
  for (const Thread& one : ast.threads) {
    const std::size_t first = program.threads.size();
    std::vector<std::string> each_name;
    name_all({.name = one.name, .place = one.place, .size = one.size}, each_name);
    for (std::string& name : each_name) program.threads.push_back({.name = std::move(name)});
    if (program.threads.size() > kMostThreads) {
      names.fail(one.place, fmt::format("more than {} threads", kMostThreads), "");
    }
    first_of.push_back(first);
    names.bind(one.name, one.place,
               {.kind = Binding::Kind::kThread,
                .cell = {.count = static_cast<std::uint16_t>(one.size.value_or(1))},
                .is_array = one.size.has_value(),
                .value = static_cast<std::int32_t>(first)});
  }
  if (program.threads.empty()) {
    names.fail({.line = 1, .column = 1}, "the program has no thread", "Add one: thread T { ... }.");
  }
  return first_of;
}

}  // namespace

std::vector<std::size_t> declare(const Ast& ast, Program& program, Expressions& names) {
  for (const Declaration& one : ast.constants) {
    const bool is_bool = one.initial->kind == Expression::Kind::kNumber && one.initial->is_bool;
    const Type range = is_bool ? Type() : Type{.is_bool = false, .low = -0xffff, .high = 0xffff};
    names.bind(one.name, one.place,
               {.kind = Binding::Kind::kConstant,
                .value = names.constant(*one.initial, range),
                .is_bool = is_bool});
  }
  for (const Declaration& one : ast.variables) declare_shared(ast, one, false, program, names);
  for (const Declaration& one : ast.state) declare_shared(ast, one, true, program, names);
  program.first_lock = program.variables.size();
  for (const Ast::Object& one : ast.locks) {
    Cell cell{.first = static_cast<std::uint16_t>(program.first_lock + program.locks.size()),
              .count = static_cast<std::uint16_t>(one.size.value_or(1))};
    name_all(one, program.locks);
    names.bind(one.name, one.place,
               {.kind = Binding::Kind::kLock, .cell = cell, .is_array = one.size.has_value()});
  }
  for (const Ast::Object& one : ast.conditions) {
    const auto first = static_cast<std::int32_t>(program.conditions.size());
    name_all(one, program.conditions);
    names.bind(one.name, one.place,
               {.kind = Binding::Kind::kCondition,
                .cell = {.count = static_cast<std::uint16_t>(one.size.value_or(1))},
                .is_array = one.size.has_value(),
                .value = first});
  }
  for (const Procedure& one : ast.procedures) {
    names.bind(one.name, one.place, {.kind = Binding::Kind::kProcedure});
  }
  std::vector<std::size_t> first_of = declare_threads(ast, program, names);
  if (program.objects() > kMostObjects) {
    names.fail(
        {.line = 1, .column = 1},
        fmt::format("{} variables, locks, conditions and threads: too many", program.objects()),
        fmt::format("At most {} are allowed in all.", kMostObjects));
  }
  if (ast.initial) program.initial = names.condition(*ast.initial);
  return first_of;
}

}  // namespace tomos::model
