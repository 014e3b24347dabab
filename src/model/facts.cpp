#include "model/facts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tomos::model {

namespace {

// Whether a value may be any: `*`.
bool node_chooses(const Program& program, std::int32_t at) {
  if (at < 0) return false;
  const Node& node = program.nodes[static_cast<std::size_t>(at)];
  switch (node.op) {
    case NodeOp::kAny:
      return true;
    case NodeOp::kConstant:
      return false;
    case NodeOp::kRead:
    case NodeOp::kNext:
      return node_chooses(program, program.cells[static_cast<std::size_t>(node.a)].index);
    case NodeOp::kNot:
      return node_chooses(program, node.a);
    case NodeOp::kChoice:
      return node_chooses(program, node.a) || node_chooses(program, node.b) ||
             node_chooses(program, node.c);
    case NodeOp::kAnd:
    case NodeOp::kOr:
    case NodeOp::kEqual:
    case NodeOp::kUnequal:
    case NodeOp::kLess:
    case NodeOp::kLessEqual:
    case NodeOp::kPlus:
    case NodeOp::kMinus:
      break;
  }
  return node_chooses(program, node.a) || node_chooses(program, node.b);
}

class FactFinder {
 public:
  explicit FactFinder(Program& program) : program_(program) {}

  void run() {
    for (const Code& code : program_.codes) {
      for (const Location& location : code.locations) {
        for (const Edge& edge : location.edges) {
          if (edge.kind == Edge::Kind::kHeld) tried_ |= lock_objects(cell(edge.object));
        }
      }
    }
    for (Code& code : program_.codes) steps(code);
    track_variables();
    for (Code& code : program_.codes) {
      futures(code);
      locksets(code);
      guards(code);
      liveness(code);
      remaining(code);
    }
  }

 private:
  struct Uses {
    Objects reads;
    Objects writes;
    std::uint64_t locals = 0;   // read
    std::uint64_t defined = 0;  // written, whatever happens
  };

  Cell& cell(std::int32_t at) { return program_.cells[static_cast<std::size_t>(at)]; }

  void use_cell(const Cell& of, Uses& uses, bool writes) {
    if (of.index >= 0) use_node(of.index, uses);
    for (std::size_t i = 0; i < of.count; ++i) {
      if (!of.local) {
        (writes ? uses.writes : uses.reads).set(of.first + i);
      } else if (!writes) {
        uses.locals |= std::uint64_t{1} << (of.first + i);
      } else if (of.count == 1) {
        uses.defined |= std::uint64_t{1} << of.first;
      }
    }
  }

  void use_node(std::int32_t at, Uses& uses) {
    if (at < 0) return;
    const Node node = program_.nodes[static_cast<std::size_t>(at)];
    switch (node.op) {
      case NodeOp::kConstant:
      case NodeOp::kAny:
        return;
      case NodeOp::kRead:
      case NodeOp::kNext:
        return use_cell(cell(node.a), uses, false);
      case NodeOp::kChoice:
        use_node(node.c, uses);
        [[fallthrough]];
      case NodeOp::kAnd:
      case NodeOp::kOr:
      case NodeOp::kEqual:
      case NodeOp::kUnequal:
      case NodeOp::kLess:
      case NodeOp::kLessEqual:
      case NodeOp::kPlus:
      case NodeOp::kMinus:
        use_node(node.b, uses);
        [[fallthrough]];
      case NodeOp::kNot:
        return use_node(node.a, uses);
    }
  }

  Objects lock_objects(const Cell& of) const {
    Objects result;
    for (std::size_t i = 0; i < of.count; ++i) {
      result.set(program_.lock_object(of.first + i - program_.first_lock));
    }
    return result;
  }

  Uses uses_of(const Edge& edge) {
    Uses uses;
    use_node(edge.guard, uses);
    for (const Assignment& one : edge.assignments) {
      use_node(one.node, uses);
      use_cell(cell(one.cell), uses, true);
    }
    if (edge.touched >= 0) use_cell(cell(edge.touched), uses, edge.writes);
    switch (edge.kind) {
      case Edge::Kind::kAcquire:
      case Edge::Kind::kHeld:
      case Edge::Kind::kRelease:
      case Edge::Kind::kWait: {
        if (cell(edge.object).index >= 0) use_node(cell(edge.object).index, uses);
        const Objects locks = lock_objects(cell(edge.object));
        if (edge.kind == Edge::Kind::kAcquire) {
          uses.writes |= locks;
        } else if (edge.kind == Edge::Kind::kHeld) {
          uses.reads |= locks;
        } else {  // nobody can do anything about a lock before it is free, except see that it is
                  // not
          uses.writes |= locks & tried_;
        }
        break;
      }
      case Edge::Kind::kNotify:
      case Edge::Kind::kNotifyAll:
        uses.writes.set(program_.condition_object(static_cast<std::size_t>(edge.object)));
        break;
      case Edge::Kind::kStart:
        for (const std::uint16_t thread : edge.threads) {
          uses.writes.set(program_.thread_object(thread));
        }
        break;
      case Edge::Kind::kJoin:
        for (const std::uint16_t thread : edge.threads) {
          uses.reads.set(program_.thread_object(thread));
        }
        break;
      case Edge::Kind::kEntry:
      case Edge::Kind::kNotified:
      case Edge::Kind::kAssign:
      case Edge::Kind::kAssert:
      case Edge::Kind::kRelation:
        break;
    }
    return uses;
  }

  // Waiting, notifying and relations depend on too much to be worth a closer look.
  static bool is_simple(Edge::Kind kind) {
    switch (kind) {
      case Edge::Kind::kAssign:
      case Edge::Kind::kAssert:
      case Edge::Kind::kAcquire:
      case Edge::Kind::kHeld:
      case Edge::Kind::kRelease:
      case Edge::Kind::kStart:
      case Edge::Kind::kJoin:
        return true;
      case Edge::Kind::kEntry:
      case Edge::Kind::kNotified:
      case Edge::Kind::kWait:
      case Edge::Kind::kNotify:
      case Edge::Kind::kNotifyAll:
      case Edge::Kind::kRelation:
        break;
    }
    return false;
  }

  // One edge, or the two of a condition, and nothing is any value.
  bool is_one_way(const Location& location) const {
    const std::vector<Edge>& edges = location.edges;
    for (const Edge& edge : edges) {
      if (!is_simple(edge.kind) || chooses(program_, edge)) return false;
    }
    if (edges.size() == 1) return true;
    if (edges.size() != 2 || edges[1].guard < 0) return false;
    const Node& second = program_.nodes[static_cast<std::size_t>(edges[1].guard)];
    return second.op == NodeOp::kNot && second.a == edges[0].guard;
  }

  // `if (*)` and `while (*)`.
  bool is_fork(const Location& location) const {
    const std::vector<Edge>& edges = location.edges;
    if (edges.size() != 2 || edges[0].kind != Edge::Kind::kAssign || edges[0].guard < 0 ||
        edges[1].kind != Edge::Kind::kAssign || edges[1].guard < 0) {
      return false;
    }
    const Node& first = program_.nodes[static_cast<std::size_t>(edges[0].guard)];
    const Node& second = program_.nodes[static_cast<std::size_t>(edges[1].guard)];
    return first.op == NodeOp::kAny && second.op == NodeOp::kNot && second.a == edges[0].guard;
  }

  void steps(Code& code) {
    for (std::size_t at = 0; at < code.locations.size(); ++at) {
      Location& location = code.locations[at];
      Facts& facts = location.facts;
      facts.may_reduce = at > kEnded && !location.edges.empty();
      for (const Edge& edge : location.edges) {
        const Uses uses = uses_of(edge);
        facts.reads |= uses.reads;
        facts.writes |= uses.writes;
        facts.may_reduce =
            facts.may_reduce && is_simple(edge.kind) && (edge.target == kEnded || edge.target > at);
      }
      facts.one_way = is_one_way(location);
      facts.forks = is_fork(location);
      for (Edge& edge : location.edges) edge.free = facts.forks;
    }
  }

  // Only variables that two threads touch, one of them writing, can put transactions in an order.
  void track_variables() {
    std::vector<std::pair<int, int>> touched(program_.variables.size());  // by threads; written
    for (const ThreadInfo& thread : program_.threads) {
      Objects reads;
      Objects writes;
      for (const Location& location : program_.codes[thread.code].locations) {
        reads |= location.facts.reads;
        writes |= location.facts.writes;
      }
      for (std::size_t i = 0; i < touched.size(); ++i) {
        touched[i].first += static_cast<int>(reads.test(i) || writes.test(i));
        touched[i].second += static_cast<int>(writes.test(i));
      }
    }
    for (std::size_t i = 0; i < touched.size(); ++i) {
      Variable& variable = program_.variables[i];
      if (variable.hidden || touched[i].first < 2 || touched[i].second == 0) continue;
      variable.tracked = static_cast<std::int32_t>(program_.tracked.size());
      program_.tracked.push_back(static_cast<std::uint16_t>(i));
    }
  }

  // Repeats `visit` for all locations, last first, until it changes nothing.
  template <class Visit>
  static void backward(Code& code, Visit visit) {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t at = code.locations.size(); at-- > 0;) {
        if (visit(code.locations[at])) changed = true;
      }
    }
  }

  static void futures(Code& code) {
    backward(code, [&](Location& location) {
      Facts& facts = location.facts;
      Objects reads = facts.reads;
      Objects writes = facts.writes;
      for (const Edge& edge : location.edges) {
        reads |= code.locations[edge.target].facts.future_reads;
        writes |= code.locations[edge.target].facts.future_writes;
      }
      const bool changed = reads != facts.future_reads || writes != facts.future_writes;
      facts.future_reads = reads;
      facts.future_writes = writes;
      return changed;
    });
    for (Location& location : code.locations) {
      for (Edge& edge : location.edges) {
        const Facts& after = code.locations[edge.target].facts;
        edge.narrows = after.future_reads != location.facts.future_reads ||
                       after.future_writes != location.facts.future_writes;
      }
    }
  }

  // Held on every way that leads there.
  void locksets(Code& code) {
    for (Location& location : code.locations) location.facts.locks.set();
    code.locations[kNotStarted].facts.locks.reset();
    for (bool changed = true; changed;) {
      changed = false;
      for (const Location& location : code.locations) {
        for (const Edge& edge : location.edges) {
          Objects held = location.facts.locks;
          if (edge.kind == Edge::Kind::kAcquire && cell(edge.object).count == 1) {
            held |= lock_objects(cell(edge.object));
          } else if (edge.kind == Edge::Kind::kRelease || edge.kind == Edge::Kind::kWait) {
            held &= ~lock_objects(cell(edge.object));
          }
          Objects& there = code.locations[edge.target].facts.locks;
          const Objects both = there & held;
          changed = changed || both != there;
          there = both;
        }
      }
    }
  }

  // The locks held at every access to an object that may come.
  void guards(Code& code) {
    constexpr std::size_t kWorthIt = 1'000'000;  // beyond that they take too much memory
    if (code.locations.size() * program_.objects() > kWorthIt) return;
    Objects all;
    all.set();
    for (Location& location : code.locations) {
      location.facts.access_guards.assign(program_.objects(), all);
      location.facts.write_guards.assign(program_.objects(), all);
    }
    backward(code, [&](Location& location) {
      Facts& facts = location.facts;
      bool changed = false;
      for (std::size_t object = 0; object < program_.objects(); ++object) {
        Objects accesses = facts.access_guards[object];
        Objects writes = facts.write_guards[object];
        if (facts.reads.test(object) || facts.writes.test(object)) accesses &= facts.locks;
        if (facts.writes.test(object)) writes &= facts.locks;
        for (const Edge& edge : location.edges) {
          accesses &= code.locations[edge.target].facts.access_guards[object];
          writes &= code.locations[edge.target].facts.write_guards[object];
        }
        changed = changed || accesses != facts.access_guards[object] ||
                  writes != facts.write_guards[object];
        facts.access_guards[object] = accesses;
        facts.write_guards[object] = writes;
      }
      return changed;
    });
  }

  void liveness(Code& code) {
    backward(code, [&](Location& location) {
      std::uint64_t live = 0;
      for (const Edge& edge : location.edges) {
        const Uses uses = uses_of(edge);
        // A thread that is not started has its variables' first values already.
        live |= uses.locals | (code.locations[edge.target].facts.live & ~uses.defined);
      }
      return std::exchange(location.facts.live, live) != live;
    });
    for (Location& location : code.locations) {
      for (Edge& edge : location.edges) {
        std::uint64_t written = 0;
        for (const Assignment& one : edge.assignments) {
          const Cell& to = cell(one.cell);
          for (std::size_t i = 0; to.local && i < to.count; ++i) {
            written |= std::uint64_t{1} << (to.first + i);
          }
        }
        edge.dies = (location.facts.live | written) & ~code.locations[edge.target].facts.live;
      }
    }
  }

  // Whether the transaction that is open here may still access something.
  void remaining(Code& code) {
    Objects tracked;
    for (const std::uint16_t variable : program_.tracked) tracked.set(variable);
    backward(code, [&](Location& location) {
      Facts& facts = location.facts;
      bool none = ((facts.reads | facts.writes) & tracked).none();
      for (const Edge& edge : location.edges) {
        none = none && (edge.ends || code.locations[edge.target].facts.touches_no_more);
      }
      return std::exchange(facts.touches_no_more, none) != none;
    });
    for (Location& location : code.locations) {
      for (Edge& edge : location.edges) {
        edge.last = code.locations[edge.target].facts.touches_no_more;
      }
    }
  }

  Program& program_;
  Objects tried_;  // locks of which somebody asks whether they are free
};

}  // namespace

bool chooses(const Program& program, const Edge& edge) {
  const auto cell_chooses = [&](std::int32_t at) {
    return at >= 0 && node_chooses(program, program.cells[static_cast<std::size_t>(at)].index);
  };
  const bool has_lock = edge.kind == Edge::Kind::kAcquire || edge.kind == Edge::Kind::kHeld ||
                        edge.kind == Edge::Kind::kRelease;
  return node_chooses(program, edge.guard) || (has_lock && cell_chooses(edge.object)) ||
         std::ranges::any_of(edge.assignments, [&](const Assignment& one) {
           return node_chooses(program, one.node) || cell_chooses(one.cell);
         });
}

void find_facts(Program& program) { FactFinder(program).run(); }

}  // namespace tomos::model
