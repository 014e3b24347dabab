#include "model/plain_steps.h"

#include <bit>

namespace tomos::model {

namespace {

// Where a local variable stands behind the place of its thread; 0 if it is none, or not always the
// same.
std::uint16_t behind_place(const Program& program, std::int32_t cell_number) {
  const Cell& cell = program.cells[static_cast<std::size_t>(cell_number)];
  return static_cast<std::uint16_t>(cell.local && cell.index < 0 ? cell.first + 1 : 0);
}

}  // namespace

PlainSteps::PlainSteps(const Program& program) {
  for (const Code& code : program.codes) {
    std::vector<Place>& places = places_.emplace_back();
    for (const Location& location : code.locations) places.push_back(place_of(program, location));
  }
  for (const ThreadInfo& thread : program.threads) {
    threads_.push_back({.field = thread.field, .code = thread.code});
  }
}

std::optional<PlainSteps::Way> PlainSteps::way_of(const Program& program, const Edge& edge) {
  // Somebody may wait for the end of a thread.
  if (edge.kind != Edge::Kind::kAssign || edge.target == kEnded) return {};
  if (edge.assignments.size() > 1) return {};
  Way way{.dies = edge.dies,
          .target = edge.target,
          .narrows = edge.narrows,
          .ends = edge.ends || edge.last};
  if (edge.assignments.empty()) return way;
  const Assignment& one = edge.assignments[0];
  const Node& node = program.nodes[static_cast<std::size_t>(one.node)];
  const Type& type = program.cells[static_cast<std::size_t>(one.cell)].type;
  way.assigned = behind_place(program, one.cell);
  if (way.assigned == 0 || node.op != NodeOp::kConstant) return {};
  if (node.a < type.low || node.a > type.high) return {};
  way.value = static_cast<Value>(node.a - type.low);
  return way;
}

PlainSteps::Place PlainSteps::place_of(const Program& program, const Location& location) {
  const Facts& facts = location.facts;
  if (!facts.may_reduce || !facts.one_way || facts.reads.any() || facts.writes.any()) return {};
  Place place{.is_plain = true};
  for (std::size_t i = 0; i < location.edges.size(); ++i) {
    const std::optional<Way> way = way_of(program, location.edges[i]);
    if (!way) return {};
    place.ways[i] = *way;
  }
  const std::int32_t guard = location.edges[0].guard;
  if (guard < 0) return place;
  const Node& node = program.nodes[static_cast<std::size_t>(guard)];
  if (location.edges.size() == 1 || node.op != NodeOp::kRead) return {};
  place.asked = behind_place(program, node.a);
  if (place.asked == 0 || program.cells[static_cast<std::size_t>(node.a)].type.low != 0) return {};
  return place;
}

PlainSteps::Taken PlainSteps::take(std::span<Value> values, std::size_t thread) const {
  const std::vector<Place>& places = places_[threads_[thread].code];
  Value* const own = &values[threads_[thread].field];
  Taken taken;
  for (const Place* place = &places[*own]; place->is_plain; place = &places[*own]) {
    const Way& way = place->ways[place->asked != 0 && own[place->asked] == 0 ? 1 : 0];
    if (way.assigned != 0) own[way.assigned] = way.value;
    for (std::uint64_t dead = way.dies; dead != 0; dead &= dead - 1) {
      own[1 + std::countr_zero(dead)] = 0;
    }
    *own = way.target;
    ++taken.steps;
    taken.narrows = taken.narrows || way.narrows;
    taken.ends = taken.ends || way.ends;
  }
  return taken;
}

}  // namespace tomos::model
