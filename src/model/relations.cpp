#include "model/relations.h"

#include <set>

namespace tomos::model {
namespace {

// The state variables whose value afterwards a formula mentions.
void collect_primed(const Program& program, std::int32_t at, std::set<std::int32_t>& fields) {
  const Node& node = program.nodes[static_cast<std::size_t>(at)];
  switch (node.op) {
    case Node::Op::kNext: {
      const Cell& cell = program.cells[static_cast<std::size_t>(node.a)];
      for (int i = 0; i < cell.count; ++i) fields.insert(cell.first + i);
      return;
    }
    case Node::Op::kConstant:
    case Node::Op::kRead:
    case Node::Op::kAny:
      return;
    case Node::Op::kChoice:
      collect_primed(program, node.c, fields);
      [[fallthrough]];
    case Node::Op::kAnd:
    case Node::Op::kOr:
    case Node::Op::kEqual:
    case Node::Op::kUnequal:
    case Node::Op::kLess:
    case Node::Op::kLessEqual:
    case Node::Op::kPlus:
    case Node::Op::kMinus:
      collect_primed(program, node.b, fields);
      [[fallthrough]];
    case Node::Op::kNot:
      return collect_primed(program, node.a, fields);
  }
}

}  // namespace

void relate(const Thread& thread, Program& program, Expressions& names, Code& code,
            std::uint16_t outside, std::uint16_t inside) {
  // A relation says what can happen, not that something must.
  for (const std::uint16_t at : {outside, inside}) code.locations[at].assumes = true;
  for (const Transition& one : thread.transitions) {
    using Event = Transition::Event;
    Edge step{.kind = Edge::Kind::kRelation, .place = one.place};
    step.guard = names.condition(*one.relation);
    std::set<std::int32_t> primed;
    collect_primed(program, step.guard, primed);
    for (const std::int32_t field : primed) {
      const Variable& variable = program.variables[static_cast<std::size_t>(field)];
      const Cell cell{.first = static_cast<std::uint16_t>(field), .type = variable.type};
      step.assignments.push_back(
          {.cell = names.add(cell),
           .node = names.add(
               Node{.op = Node::Op::kAny, .a = variable.type.low, .b = variable.type.high})});
    }
    if (one.variable) {
      step.touched = names.cell(*one.variable, Binding::Kind::kVariable);
      step.writes = one.event == Event::kWrite;
    }
    if (!one.label.empty()) program.blocks.back().label = one.label;
    const auto add = [&](std::uint16_t from, std::uint16_t to) {
      step.target = to;
      step.ends = from == inside && to != inside;
      code.locations[from].edges.push_back(step);
    };
    if (one.event != Event::kEnd) {
      add(outside, one.event == Event::kBegin  ? inside
                   : one.event == Event::kExit ? kEnded
                                               : outside);
    }
    if (one.event != Event::kBegin) {
      add(inside, one.event == Event::kEnd ? outside : one.event == Event::kExit ? kEnded : inside);
    }
  }
}

}  // namespace tomos::model
