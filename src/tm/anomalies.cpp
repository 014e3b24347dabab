// What makes an anomaly of two transactions A, B of one thread and a third, T:
//
//   stale     A reads x, and what it read decides about B: as a value, as a place, or whether it
//   runs
//             at all. T writes x in between.
//   RwR       A reads x, B reads y, and T writes both: A and B have halves of two states.
//   WrW       A writes x, B writes y, and T reads both: T has such halves.
//
// and in every case:
//
// - T can run in between: threads are created and joined (may-happen-in-parallel).
// - T conflicts with A and with B. If it conflicts with one of them only, it could as well have run
//   before or after both.
// - Of RwR and WrW: x is nothing to B, y is nothing to A. A transaction that sees or sets both
//   variables makes a whole state of its own (the paper's own remedy for two of its false
//   warnings).
// - Of stale: not if B compares x with what A read and changes nothing if it differs
//   (re-validation); this is known when the flow from A to B is recorded. Nor if it compares
//   something else that A read, and T writes that, too: a version.
// - Of stale: not if A took what it read. It took x if it wrote x, too: then it holds a ticket, and
//   only writing x again by means of what A read does harm. It took an element if it moved on the
//   variable that chose it, as a queue does.
// - Of stale: not if B only looks again: `while (!ready()) ;`. Less sure if all that A decides is
//   that B runs, and B looks at x again before it writes it: `if (best() < n) set_if_better(n);`.
//   That is right unless somebody counts on B's having written.
//
// RwW of the paper is the case of stale in which B writes x.
#include "tm/anomalies.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tomos::tm {

namespace {

using Places = std::map<LocationId, Position>;

template <class Is>
std::optional<LocationId> shared_place(const Places& one, const Places& other, const Is& is) {
  for (const auto& [at, position] : one) {
    if (other.contains(at) && is(at)) return at;
  }
  return std::nullopt;
}

// What two transactions disagree on; of one and of the other, whether they write it.
template <class Is>
std::optional<LocationId> conflict(const Transaction& one, const Transaction& other, const Is& is) {
  const auto with = [&](bool writes, bool other_writes) {
    return [&is, writes, other_writes](LocationId at) { return is(at, writes, other_writes); };
  };
  if (const auto at = shared_place(one.writes, other.writes, with(true, true))) return at;
  if (const auto at = shared_place(one.writes, other.reads, with(true, false))) return at;
  return shared_place(one.reads, other.writes, with(false, true));
}

// Who counts on (`n += 2`) reads, but nobody learns what.
bool sees(const Transaction& of, LocationId at) { return of.seen.contains(at); }

// Whether it reads there to decide whether it writes there.
bool looks_before_writing(const Transaction& of, LocationId at) {
  const auto known = of.asked.find(at);
  return known != of.asked.end() && known->second.contains(at);
}

bool touches(const Transaction& of, LocationId at) {
  return of.reads.contains(at) || of.writes.contains(at);
}

bool took(const Transaction& of, LocationId at) {
  const auto chosen = of.chosen_by.find(at);
  return chosen != of.chosen_by.end() &&
         std::ranges::any_of(chosen->second, [&](LocationId by) { return of.writes.contains(by); });
}

bool only_looks_again(const Transaction& first, const Transaction& second) {
  return second.writes.empty() && std::ranges::all_of(second.reads, [&](const auto& read) {
           return first.reads.contains(read.first);
         });
}

Few<LocationId> places_of(const Places& of) {
  Few<LocationId> places;
  for (const auto& [at, position] : of) places.insert(at);
  return places;
}

// One use of a location in a transaction.
struct Use {
  const Transaction* of = nullptr;
  LocationId at = {};
  bool writes = false;

  const Few<Hold>& holds() const {
    static const Few<Hold> kNone;
    const auto known = of->holds.find({at, writes});
    return known == of->holds.end() ? kNone : known->second;
  }
};

bool keeps_out(const Hold& hold, const Few<Hold>& others) {
  return std::ranges::any_of(others, [&](const Hold& one) {
    return one.lock == hold.lock && !(one.shared && hold.shared);
  });
}

// Critical sections keep out others of the same lock, and only for so long as it is held. What
// comes between does one thing to A and to B only if it did not give back meanwhile what keeps
// either of them out.
bool keeps_out(const Use& one, const Use& other) {
  return std::ranges::any_of(one.holds(),
                             [&](const Hold& hold) { return keeps_out(hold, other.holds()); });
}

bool acts_at_once(const Use& first, const Use& cut_first, const Use& cut_second,
                  const Use& second) {
  return keeps_out(cut_first, first) && keeps_out(cut_second, second) &&
         std::ranges::any_of(cut_first.holds(), [&](const Hold& hold) {
           return cut_second.holds().contains(hold) &&
                  (keeps_out(hold, first.holds()) || keeps_out(hold, second.holds()));
         });
}

// Two variables are one state if one lock guards it, wherever both are used.
bool is_one_state(const Use& first, const Use& cut_first, const Use& cut_second,
                  const Use& second) {
  return std::ranges::any_of(cut_first.holds(), [&](const Hold& hold) {
    return cut_second.holds().contains(hold) && keeps_out(hold, first.holds()) &&
           keeps_out(hold, second.holds());
  });
}

class AnomalyFinder {
 public:
  explicit AnomalyFinder(const Traces& traces) : traces_(traces) {
    // Code that is called from many places does the same at most of them. One of each kind is
    // enough to come between, and the answer for two kinds is that for all their transactions.
    using Key = std::tuple<NodeId, ThreadId, Few<ThreadId>, Few<LocationId>, Few<LocationId>,
                           std::map<std::pair<LocationId, bool>, Few<Hold>>>;
    std::map<Key, TransactionId> kinds;
    for (TransactionId i = 0; i < traces.transactions.size(); ++i) {
      const Transaction& one = traces.transactions[i];
      const auto [kind, is_new] =
          kinds.emplace(Key(one.node, one.thread, one.alive, places_of(one.reads),
                            places_of(one.writes), one.holds),
                        i);
      kind_.push_back(kind->second);
      if (!is_new) continue;
      for (const auto& [at, position] : one.writes) writers_[at].push_back(i);
      for (const auto& [at, position] : one.reads) readers_[at].push_back(i);
    }
  }

  std::vector<Anomaly> find() {
    find_stale();
    for (const auto& [first, second] : traces_.adjacent) {
      find_halves(first, second, false);
      find_halves(first, second, true);
    }
    return std::move(found_);
  }

 private:
  const Transaction& of(TransactionId id) const { return traces_.transactions[id]; }

  bool may_come_between(TransactionId first, TransactionId cut, TransactionId second) const {
    return traces_.may_cut(first, cut) || traces_.may_cut(second, cut);
  }

  void find_stale() {
    // By A, x and B: whether all that leads from A to B is that it runs at all, and what of A is
    // validated whenever x is used.
    struct Dependence {
      bool only_control = true;
      Few<LocationId> validated;
    };
    std::map<std::tuple<TransactionId, LocationId, TransactionId>, Dependence> pairs;
    for (const Flow& flow : traces_.flows) {
      const Transaction& first = of(flow.from);
      if (took(first, flow.location)) continue;
      const bool back = flow.kind == Flow::Kind::kValue && flow.into == flow.location;
      if (first.writes.contains(flow.location) && !back) continue;
      auto [at, is_new] = pairs.try_emplace({flow.from, flow.location, flow.to});
      Dependence& use = at->second;
      use.only_control &= flow.kind == Flow::Kind::kControl;
      if (is_new) use.validated = flow.validated;
      use.validated.erase_where([&](LocationId one) { return !flow.validated.contains(one); });
    }
    for (const auto& [key, use] : pairs) {
      const auto& [first, at, second] = key;
      const bool only_control = use.only_control;
      // Who waits in a loop asks there what to do.
      if (only_control && of(second).waits) continue;
      if (only_control && only_looks_again(of(first), of(second))) continue;
      const auto writers = writers_.find(at);
      if (writers == writers_.end()) continue;
      for (const TransactionId cut : writers->second) {
        const auto conflicts = [&](LocationId place, bool writes, bool second_writes) {
          return !traces_.sections ||
                 acts_at_once({&of(first), at, false}, {&of(cut), at, true},
                              {&of(cut), place, writes}, {&of(second), place, second_writes});
        };
        // That B reads x again is no harm. What else it does it could have done before T. If A and
        // B have a lock in common, that is what they are about.
        const auto matters = [&](LocationId place, bool writes, bool second_writes) {
          return (place != at || second_writes) && conflicts(place, writes, second_writes);
        };
        auto other =
            conflict(of(cut), of(second), [&](LocationId place, bool writes, bool second_writes) {
              return matters(place, writes, second_writes) &&
                     (!traces_.sections ||
                      keeps_out({&of(first), at, false}, {&of(second), place, second_writes}));
            });
        const bool same_lock = other.has_value();
        if (!other) other = conflict(of(cut), of(second), matters);
        const bool only_reads_again = !other;
        if (!other) other = conflict(of(cut), of(second), conflicts);
        const bool noticed = std::ranges::any_of(
            use.validated, [&](LocationId one) { return of(cut).writes.contains(one); });
        if (noticed || !other || !may_come_between(first, cut, second)) continue;
        const bool writes_back = of(second).writes.contains(at);
        const bool writes = writes_back || of(second).reads.empty();
        std::string doubt;
        if (only_control && looks_before_writing(of(second), at)) {
          doubt = "the 2nd half looks again before it writes";
        } else if (of(first).writes.contains(at) && of(second).seen.contains(at)) {
          doubt = "the 1st half took it, and the 2nd looks at what is there now";
        } else if (traces_.sections && !same_lock &&
                   !keeps_out({&of(first), at, false},
                              {&of(second), *other, of(second).writes.contains(*other)})) {
          doubt = "the two have different locks, and may be different matters";
        } else if (only_control && only_reads_again) {
          doubt = "the 2nd half reads it again, and nothing else of it is in the way";
        }
        found_.push_back({.pattern = writes ? "RwW" : "RwR",
                          .first = first,
                          .cut = cut,
                          .second = second,
                          .one = at,
                          .other = touches(of(second), at) ? at : *other,
                          .doubt = std::move(doubt)});
      }
    }
  }

  struct Half {
    TransactionId cut = 0;
    LocationId one = {};
    LocationId other = {};
  };

  // RwR, or WrW if `written`.
  void find_halves(TransactionId first, TransactionId second, bool written) {
    const auto [known, is_new] = halves_.try_emplace({kind_[first], kind_[second], written});
    if (is_new) known->second = halves_of(first, second, written);
    for (const Half& half : known->second) {
      Anomaly anomaly = {.pattern = written ? "WrW" : "RwR",
                         .first = first,
                         .cut = half.cut,
                         .second = second,
                         .one = half.one,
                         .other = half.other};
      if (!written && !traces_.meet.contains({first, second})) {
        anomaly.doubt = "what the two read is never used together here";
      } else if (written && !traces_.uses_together(half.cut, half.one, half.other)) {
        anomaly.doubt = "what comes between does not use the two together";
      }
      found_.push_back(std::move(anomaly));
    }
  }

  std::vector<Half> halves_of(TransactionId first, TransactionId second, bool written) const {
    std::vector<Half> halves;
    const Places& mine = written ? of(first).writes : of(first).reads;
    const Places& yours = written ? of(second).writes : of(second).reads;
    const auto& others = written ? readers_ : writers_;
    for (const auto& [x, position] : mine) {
      if (touches(of(second), x) || !others.contains(x)) continue;
      if (!written && !sees(of(first), x)) continue;
      for (const TransactionId cut : others.at(x)) {
        if (written && !sees(of(cut), x)) continue;
        const Places& whole = written ? of(cut).reads : of(cut).writes;
        const auto y = std::ranges::find_if(yours, [&](const auto& one) {
          return whole.contains(one.first) && !touches(of(first), one.first) &&
                 (written || sees(of(second), one.first)) &&
                 (!written || sees(of(cut), one.first)) &&
                 (!traces_.sections ||
                  is_one_state({&of(first), x, written}, {&of(cut), x, !written},
                               {&of(cut), one.first, !written}, {&of(second), one.first, written}));
        });
        if (y == yours.end() || !may_come_between(first, cut, second)) continue;
        halves.push_back({.cut = cut, .one = x, .other = y->first});
      }
    }
    return halves;
  }

  const Traces& traces_;
  std::vector<TransactionId> kind_;  // the first of its kind
  std::map<std::tuple<TransactionId, TransactionId, bool>, std::vector<Half>> halves_;
  std::map<LocationId, std::vector<TransactionId>> writers_;  // one of each kind
  std::map<LocationId, std::vector<TransactionId>> readers_;
  std::vector<Anomaly> found_;
};

// From a transaction's function up to the thread's entry point.
std::vector<std::uint32_t> chain_of(const Traces& traces, std::uint32_t frame) {
  std::vector<std::uint32_t> chain = {frame};
  while (traces.frames[chain.back()].parent != chain.back()) {
    chain.push_back(traces.frames[chain.back()].parent);
  }
  std::ranges::reverse(chain);
  return chain;
}

// The innermost function that both are in, and where in it they are.
struct Joint {
  std::uint32_t function = 0;
  Position first;
  Position second;

  friend auto operator<=>(const Joint&, const Joint&) = default;
};

Joint joint_of(const Traces& traces, TransactionId first, TransactionId second) {
  const auto left = chain_of(traces, traces.transactions[first].frame);
  const auto right = chain_of(traces, traces.transactions[second].frame);
  // A function that locks for its callers is not the one to change.
  const auto deepest = [&](const std::vector<std::uint32_t>& chain, TransactionId id) {
    return static_cast<std::size_t>(std::ranges::find(chain, traces.transactions[id].home) -
                                    chain.begin());
  };
  const std::size_t most = std::min(deepest(left, first), deepest(right, second));
  std::size_t depth = 0;
  while (depth < most && left[depth + 1] == right[depth + 1]) ++depth;
  const auto place = [&](const std::vector<std::uint32_t>& chain, TransactionId id) {
    return depth + 1 < chain.size() ? traces.frames[chain[depth + 1]].call
                                    : traces.transactions[id].position;
  };
  return {.function = traces.frames[left[depth]].function,
          .first = place(left, first),
          .second = place(right, second)};
}

// What stores a value that may be out of date belongs to the region, though nothing can come
// between it and the others that would matter to it alone.
void add_dependents(const Traces& traces, Region& region) {
  std::vector<Part> more;
  for (const Anomaly& anomaly : region.anomalies) {
    if (anomaly.pattern == "WrW" || !anomaly.doubt.empty()) continue;
    const Joint joint = joint_of(traces, anomaly.first, anomaly.second);
    for (auto flow = std::ranges::lower_bound(traces.flows, anomaly.first, {}, &Flow::from);
         flow != traces.flows.end() && flow->from == anomaly.first; ++flow) {
      if (flow->kind != Flow::Kind::kValue ||
          !traces.locations.is_part(flow->location, anomaly.one)) {
        continue;
      }
      const Joint with = joint_of(traces, anomaly.first, flow->to);
      const bool follows = with.function == joint.function && with.first == joint.first &&
                           joint.second < with.second;
      if (follows) more.push_back({.transaction = flow->to, .position = with.second});
    }
  }
  for (const Part& part : more) {
    if (std::ranges::find(region.parts, part.position, &Part::position) == region.parts.end()) {
      region.parts.push_back(part);
    }
  }
}

}  // namespace

std::vector<Anomaly> find_anomalies(const Traces& traces) { return AnomalyFinder(traces).find(); }

std::vector<Region> regions_of(const Program& program, const Traces& traces,
                               const std::vector<Anomaly>& anomalies, bool merge) {
  // The same places of the same function are one pair, whichever threads run it.
  std::map<Joint, std::vector<const Anomaly*>> pairs;
  for (const Anomaly& anomaly : anomalies) {
    pairs[joint_of(traces, anomaly.first, anomaly.second)].push_back(&anomaly);
  }
  // Who checks x, acts on it and acts again later has one problem: the first two.
  std::map<std::pair<TransactionId, LocationId>, Few<TransactionId>> acts;
  for (const Anomaly& early : anomalies) {
    if (!traces.transactions[early.second].writes.contains(early.one)) continue;
    acts[{early.first, early.one}].insert(early.second);
  }
  const auto is_told = [&](const Anomaly& late) {
    const auto known = acts.find({late.first, late.one});
    return known != acts.end() && std::ranges::any_of(known->second, [&](TransactionId act) {
             if (act == late.second) return false;
             const Joint order = joint_of(traces, act, late.second);
             return order.first < order.second;
           });
  };
  std::set<Joint> told;
  for (const auto& [joint, of] : pairs) {
    if (merge && std::ranges::all_of(of, [&](const Anomaly* one) { return is_told(*one); })) {
      told.insert(joint);
    }
  }
  for (const Joint& joint : told) pairs.erase(joint);
  std::vector<Joint> joints;
  joints.reserve(pairs.size());
  for (const auto& [joint, of] : pairs) joints.push_back(joint);
  // Joined by the places that they share.
  std::vector<std::size_t> group(joints.size());
  std::iota(group.begin(), group.end(), 0);
  const auto first_of = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::map<std::pair<std::uint32_t, Position>, std::size_t> at_place;
  for (std::size_t i = 0; merge && i < joints.size(); ++i) {
    for (const Position& place : {joints[i].first, joints[i].second}) {
      const std::size_t one = first_of(i);
      const auto known = at_place.try_emplace({joints[i].function, place}, i).first;
      const std::size_t other = first_of(known->second);
      group[std::max(one, other)] = std::min(one, other);
    }
  }
  std::map<std::size_t, Region> regions;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    Region& region = regions[first_of(i)];
    region.function = program.functions[joints[i].function].display;
    std::set<std::tuple<NodeId, NodeId, NodeId, std::string>> seen;
    for (const Anomaly* anomaly : pairs[joints[i]]) {
      const auto key = std::tuple(traces.transactions[anomaly->first].node,
                                  traces.transactions[anomaly->cut].node,
                                  traces.transactions[anomaly->second].node, anomaly->pattern);
      if (seen.insert(key).second) region.anomalies.push_back(*anomaly);
    }
    const Anomaly& any = *pairs[joints[i]].front();
    for (const Part& part : {Part{.transaction = any.first, .position = joints[i].first},
                             Part{.transaction = any.second, .position = joints[i].second}}) {
      if (std::ranges::find(region.parts, part.position, &Part::position) == region.parts.end()) {
        region.parts.push_back(part);
      }
    }
  }
  std::vector<Region> result;
  for (auto& [number, region] : regions) {
    if (merge) add_dependents(traces, region);
    std::ranges::sort(region.parts, {}, &Part::position);
    // What is sure comes first, and stands for the region.
    std::ranges::sort(region.anomalies, {}, [](const Anomaly& one) {
      return std::tuple(!one.doubt.empty(), one.first, one.second, one.cut, one.pattern);
    });
    result.push_back(std::move(region));
  }
  return result;
}

std::vector<Race> find_races(const Traces& traces) {
  std::map<LocationId, std::vector<const Access*>> by_location;
  for (const Access& access : traces.accesses) by_location[access.location].push_back(&access);
  const auto races_with = [&](const Access& one, const Access& other) {
    const bool guarded =
        !in_both(one.locks, other.sole).empty() || !in_both(one.sole, other.locks).empty();
    return (one.writes || other.writes) && !guarded && traces.may_race(one, other);
  };
  std::vector<Race> races;
  for (const auto& [location, accesses] : by_location) {
    bool told = false;
    for (const Access* one : accesses) {
      if (told || one->in_transaction || one->taken) continue;
      const auto other = std::ranges::find_if(
          accesses, [&](const Access* second) { return races_with(*one, *second); });
      if (other == accesses.end()) continue;
      races.push_back({.one = *one, .other = **other});
      told = true;
    }
  }
  return races;
}

}  // namespace tomos::tm
