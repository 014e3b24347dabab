#include "monitor/frontier.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ranges>
#include <utility>

namespace tomos {

namespace {

using Position = Frontier::Position;

// Whether some transaction before position `from` of one chain is not yet before position `to` of
// another.
bool any_new(const Position* from_row, Position from, const Position* to_row, Position to,
             std::uint32_t size) {
  std::int32_t found = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    found |=
        static_cast<std::int32_t>(from_row[i] <= from) & static_cast<std::int32_t>(to_row[i] > to);
  }
  return found != 0;
}

// Where `chosen` (all ones, or zero) says so, lowers the numbers of a row, and notes the edge
// beside those it lowers.
void lower(Position* row, std::uint32_t* edges, const Position* chosen, Position position,
           std::uint32_t edge, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; ++i) {
    const bool lowers = (chosen[i] != 0) & (row[i] > position);
    row[i] = lowers ? position : row[i];
    edges[i] = lowers ? edge : edges[i];
  }
}

Position least(const Position* row, std::uint32_t size) {
  Position result = Frontier::kNever;
  for (std::uint32_t i = 0; i < size; ++i) result = std::min(result, row[i]);
  return result;
}

}  // namespace

Frontier::Frontier(const Limits& limits)
    : limits_(limits), sweep_at_(limits.closed_slots), collect_at_(limits.edges) {
  widen();
  const Slot nobody = open_slot();
  close_slot(nobody);
  closed_.clear();
}

void Frontier::widen() {
  const std::uint32_t wider = std::max<std::uint32_t>(16, 2 * capacity_);
  std::vector<Position> first(slots() * std::size_t{wider}, kNever);
  std::vector<std::uint32_t> edge_at(first.size(), 0);
  for (std::size_t row = 0; row < slots(); ++row) {
    std::copy_n(first_.begin() + static_cast<std::ptrdiff_t>(row * capacity_), capacity_,
                first.begin() + static_cast<std::ptrdiff_t>(row * wider));
    std::copy_n(edge_at_.begin() + static_cast<std::ptrdiff_t>(row * capacity_), capacity_,
                edge_at.begin() + static_cast<std::ptrdiff_t>(row * wider));
  }
  first_ = std::move(first);
  edge_at_ = std::move(edge_at);
  capacity_ = wider;
}

template <class Visit>
void Frontier::each_reached(Lane open, Visit visit) const {
  const std::vector<std::uint64_t>& reached = reached_[open];
  for (std::size_t word = 0; word < reached.size(); ++word) {
    for (std::uint64_t bits = reached[word]; bits != 0; bits &= bits - 1) {
      visit(static_cast<Slot>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

void Frontier::reach(Slot chain, Lane open, Position position, std::uint32_t edge) {
  const std::size_t i = at(chain, open);
  if (first_[i] <= position) return;
  first_[i] = position;
  edge_at_[i] = edge;
  std::vector<std::uint64_t>& reached = reached_[open];
  if (chain / 64 >= reached.size()) reached.resize(chain / 64 + 1, 0);
  reached[chain / 64] |= std::uint64_t{1} << (chain % 64);
  first_live_[chain] = std::min(first_live_[chain], position);
}

void Frontier::forget(Slot chain, Lane open) {
  const std::size_t i = at(chain, open);
  const Position was = first_[i];
  first_[i] = kNever;
  if (was == first_live_[chain]) first_live_[chain] = least(&first_[at(chain, 0)], width());
}

void Frontier::recycle() {
  std::erase_if(closed_, [&](Slot slot) {
    if (first_live_[slot] != kNever) return false;
    if (!full(slot)) free_.push_back(slot);
    return true;
  });
  recycle_at_ = 2 * closed_.size() + 16;
}

void Frontier::take_lane(Slot slot) {
  if (free_lanes_.empty()) {
    if (lanes() == capacity_) widen();
    free_lanes_.push_back(lanes());
    slot_at_.push_back(kNobody);
    reached_.emplace_back();
  }
  lane_of_[slot] = free_lanes_.back();
  slot_at_[lane_of_[slot]] = slot;
  free_lanes_.pop_back();
}

Frontier::Slot Frontier::open_slot() {
  if (free_.empty() && closed_.size() >= recycle_at_) recycle();
  Slot slot = slots();
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
    base_[slot] = ++tips_[slot];
  } else {
    tips_.push_back(0);
    base_.push_back(0);
    first_live_.push_back(kNever);
    lane_of_.push_back(0);
    first_.resize(first_.size() + capacity_, kNever);
    edge_at_.resize(first_.size(), 0);
  }
  take_lane(slot);
  return slot;
}

void Frontier::close_slot(Slot slot) {
  free_lanes_.push_back(lane_of_[slot]);
  closed_.push_back(slot);
}

void Frontier::sweep(const std::vector<bool>& used) {
  for (const Slot slot : closed_) {
    if (used[slot]) continue;
    for (Lane open = 0; open < lanes(); ++open) {
      if (cell(slot, open) == kNever) continue;
      first_[at(slot, open)] = kNever;
      reached_[open][slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }
    first_live_[slot] = kNever;
  }
  recycle();
  sweep_at_ = std::max(limits_.closed_slots, 2 * closed_.size());
}

Frontier::Slot Frontier::move(Slot slot) {
  const Slot next = open_slot();
  for (Lane open = 0; open < lanes(); ++open) {
    if (cell(slot, open) <= tips_[slot]) reach(next, open, tips_[next], edge_at_[at(slot, open)]);
  }
  close_slot(slot);
  return next;
}

void Frontier::begin(Slot slot) {
  ++tips_[slot];
  reach(slot, lane_of_[slot], tips_[slot], 0);
}

void Frontier::end(Slot slot) {
  const Lane lane = lane_of_[slot];
  each_reached(lane, [&](Slot chain) { forget(chain, lane); });
  std::ranges::fill(reached_[lane], 0);
}

void Frontier::collect_edges() {
  std::vector<Edge> kept;
  std::vector<std::vector<Edge>> detours(1);
  std::vector<std::uint32_t> moved(edges_.size(), 0);
  for (Lane open = 0; open < lanes(); ++open) {
    each_reached(open, [&](Slot chain) {
      if (chain == slot_at_[open]) return;
      std::uint32_t& edge = edge_at_[at(chain, open)];
      if (moved[edge] == 0) {
        kept.push_back(edges_[edge]);
        moved[edge] = static_cast<std::uint32_t>(kept.size());
        if (kept.back().detour != 0) {
          detours.push_back(std::move(detours_[kept.back().detour]));
          kept.back().detour = static_cast<std::uint32_t>(detours.size() - 1);
        }
      }
      edge = moved[edge] - 1;
    });
  }
  edges_ = std::move(kept);
  detours_ = std::move(detours);
  collect_at_ = std::max(limits_.edges, 2 * edges_.size());
}

std::uint32_t Frontier::add_edge(const Cause& cause) {
  edges_.push_back({.from = cause.from,
                    .to = cause.to,
                    .object = cause.object,
                    .from_op = cause.from_op,
                    .to_op = cause.to_op});
  return static_cast<std::uint32_t>(edges_.size() - 1);
}

bool Frontier::learns(Slot slot, const Witness& event) const {
  return any_new(&first_[at(static_cast<Slot>(event.slot), 0)], event.position,
                 &first_[at(slot, 0)], tips_[slot], width());
}

bool Frontier::covers(const Witness& event, const Witness& other) const {
  return !any_new(&first_[at(static_cast<Slot>(other.slot), 0)], other.position,
                  &first_[at(static_cast<Slot>(event.slot), 0)], event.position, width());
}

void Frontier::order(const Cause& cause, Slot slot) {
  const Position* from_row = &first_[at(static_cast<Slot>(cause.from.slot), 0)];
  const Position* to_row = &first_[at(slot, 0)];
  const Position from = cause.from.position;
  const Position tip = tips_[slot];
  const bool is_round = reaches(slot, cause.from);
  // Without a branch: which ones they are is anybody's guess.
  learners_.resize(lanes() + std::size_t{1});
  std::size_t count = 0;
  for (Lane open = 0; open < lanes(); ++open) {
    learners_[count] = open;
    count += static_cast<std::size_t>(from_row[open] <= from) &
             static_cast<std::size_t>(to_row[open] > tip);
  }
  learners_.resize(count);
  if (is_round) {
    std::erase_if(learners_, [&](Lane open) {
      return cell(slot_at_[open], lane_of_[slot]) <= tips_[slot_at_[open]];
    });
  }
  if (learners_.empty()) return;
  if (edges_.size() >= collect_at_) collect_edges();

  if (!is_open(slot)) {
    const std::uint32_t edge = add_edge(cause);
    ++tips_[slot];
    for (const Lane open : learners_) reach(slot, open, tips_[slot], edge);
    return;
  }
  std::uint32_t edge = is_round ? 0 : add_edge(cause);
  last_edges_.clear();
  for (const Lane open : learners_) {
    if (is_round) edge = add_edge_round(cause, slot_at_[open]);
    last_edges_.push_back(edge);
  }
  follow(slot);
}

// An edge for an open transaction that comes before an event which comes after the one that it
// leads to.
std::uint32_t Frontier::add_edge_round(const Cause& cause, Slot open) {
  const std::uint32_t edge = add_edge(cause);
  if (cause.from.slot == open) return edge;
  std::vector<Edge> detour;
  trail(open, cause.from, detour);
  edges_[edge].detour = static_cast<std::uint32_t>(detours_.size());
  detours_.push_back(std::move(detour));
  return edge;
}

// All that comes after the slot's transaction comes after the learners, too. Their last edges lead
// to the slot's own transaction; from there on it is the way that leads there from the slot.
void Frontier::follow(Slot slot) {
  const Lane lane = lane_of_[slot];
  for (std::size_t i = 0; i < learners_.size(); ++i) {
    reach(slot, learners_[i], cell(slot, lane), last_edges_[i]);
  }
  constexpr std::size_t kFew = 4;
  const bool by_rows = learners_.size() > kFew;
  if (by_rows) {
    chosen_.assign(width(), 0);
    for (const Lane open : learners_) chosen_[open] = -1;
  }
  each_reached(lane, [&](Slot chain) {
    if (chain == slot) return;
    const Position position = cell(chain, lane);
    const std::uint32_t edge = edge_at_[at(chain, lane)];
    if (by_rows) {
      lower(&first_[at(chain, 0)], &edge_at_[at(chain, 0)], chosen_.data(), position, edge,
            width());
    } else {
      for (const Lane open : learners_) reach(chain, open, position, edge);
    }
  });
  if (!by_rows) return;
  // No row's least number changes: the slot's own number is among them.
  const std::vector<std::uint64_t>& all = reached_[lane];
  for (const Lane open : learners_) {
    std::vector<std::uint64_t>& reached = reached_[open];
    if (reached.size() < all.size()) reached.resize(all.size(), 0);
    for (std::size_t word = 0; word < all.size(); ++word) reached[word] |= all[word];
  }
}

CycleEvent Frontier::event_of(const Witness& witness, Op op, std::uint32_t object) {
  constexpr std::uint64_t kSingle = std::uint64_t{1} << 63U;
  return {.index = witness.index,
          .transaction = witness.in_transaction != 0
                             ? (std::uint64_t{witness.slot} << 32U) |
                                   static_cast<std::uint32_t>(witness.position)
                             : kSingle | witness.index,
          .thread = witness.thread,
          .location = witness.location,
          .label = witness.label,
          .begin = witness.begin,
          .locks = witness.locks,
          .object = object,
          .op = op};
}

// The edges on the way from the slot's open transaction to the event, last one first, as far as it
// is known.
void Frontier::trail(Slot slot, const Witness& event, std::vector<Edge>& edges) const {
  const auto is_known = [&](const Witness& last) {
    return last.position >= base_[last.slot] && reaches(slot, last);
  };
  Witness last = event;
  while (last.slot != slot && is_known(last)) {
    const Edge& edge = edges_[edge_at_[at(static_cast<Slot>(last.slot), lane_of_[slot])]];
    const std::vector<Edge>& detour = detours_[edge.detour];
    edges.push_back(edge);
    edges.back().detour = 0;
    edges.insert(edges.end(), detour.begin(), detour.end());
    last = edges.back().from;
  }
}

void Frontier::path(Slot slot, const Witness& event, std::vector<CycleEdge>& edges) const {
  std::vector<Edge> steps;
  trail(slot, event, steps);
  for (const Edge& edge : steps | std::views::reverse) {
    edges.push_back({.from = event_of(edge.from, edge.from_op, edge.object),
                     .to = event_of(edge.to, edge.to_op, edge.object)});
  }
}

}  // namespace tomos
