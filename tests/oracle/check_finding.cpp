// Every event of a random trace has its number as location, so an event of a finding names the
// event of the trace that it claims to be. Two kinds are no events of the trace: "start" is the
// moment before the first event of the thread made by the fork at its location, "exit" the moment
// after the last event of the thread waited for by the join at its location.
#include "check_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "generator.h"

namespace tomos::oracle {

namespace {

std::string_view op_word(Op op) {
  constexpr std::array<std::string_view, kOpCount> kWords{
      "begin", "end",  "read",    "write", "acquire", "release", "read-acquire", "read-release",
      "fork",  "join", "barrier", "new",   "escape",  "free",    "exit"};
  return kWords[static_cast<std::size_t>(op)];
}

class Check {
 public:
  Check(const Finding& finding, const Order& order) : finding_(finding), order_(order) {}

  std::string run() {
    if (finding_.edges.size() < 2) return "a cycle of fewer than two edges";
    real_.resize(finding_.transactions.size(), kNever);
    turns_.resize(finding_.transactions.size());
    for (std::size_t k = 0; k < finding_.events.size() && wrong_.empty(); ++k) place(k);
    for (std::size_t k = 0; k < finding_.events.size() && wrong_.empty(); ++k) settle_stand_in(k);
    for (std::size_t t = 0; t < real_.size() && wrong_.empty(); ++t) check_transaction(t);
    for (const Finding::Edge& edge : finding_.edges) {
      if (wrong_.empty()) check_edge(edge);
    }
    for (std::size_t k = 0; k < finding_.edges.size() && wrong_.empty(); ++k) check_turn(k);
    if (wrong_.empty()) check_ends();
    return wrong_;
  }

 private:
  // An event of the finding in the trace. For a stand-in `index` is the fork or join.
  struct Place {
    std::size_t index = kNever;
    bool start = false;
    bool exit = false;
  };

  // A transaction's place in its thread's order.
  struct Turn {
    std::optional<ThreadId> thread;
    std::size_t at = 0;
  };

  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (wrong_.empty()) wrong_ = fmt::format(format, std::forward<Args>(args)...);
  }

  std::string thread_name(std::size_t index) const {
    return names().name(NameKind::kThread, order_.events[index].thread);
  }

  std::string object_name(std::size_t index) const {
    const Event& event = order_.events[index];
    return names().name(object_kind(event.op), event.object);
  }

  void place(std::size_t k) {
    const Finding::Event& event = finding_.events[k];
    if (event.transaction >= real_.size()) return fail("event {} is in no transaction", k);
    const std::size_t index = std::size_t{event.location.line} - 1;
    if (index >= order_.events.size() || !event.location.file.empty()) {
      return fail("event {} is nowhere in the trace", k);
    }
    const Event& real = order_.events[index];
    places_.push_back({.index = index, .start = event.op == "start", .exit = event.op == "exit"});
    if (k > 0 && index < places_[k - 1].index) {
      return fail("event {} is out of order", k);
    }
    if (event.op == "start" || event.op == "exit") {
      const Op cause = event.op == "start" ? Op::kFork : Op::kJoin;
      if (real.op != cause || object_name(index) != event.thread) {
        fail("event {} is no {} of {}", k, event.op, event.thread);
      }
      return;
    }
    if (event.thread != thread_name(index) || event.op != op_word(real.op) ||
        event.variable != object_name(index)) {
      return fail("event {} is not what stands at {}", k, event.location.line);
    }
    const std::size_t transaction = order_.transaction_of[index];
    if (transaction == kNever) return fail("event {} takes no part in the order", k);
    std::size_t& claimed = real_[event.transaction];
    if (claimed != kNever && claimed != transaction) {
      return fail("transaction {} is two transactions of the trace", event.transaction);
    }
    claimed = transaction;
  }

  // A stand-in comes before or after all events of its thread. It may stand in any transaction of
  // that thread, or in one of its own.
  void settle_stand_in(std::size_t k) {
    const Place& at = places_[k];
    if (!at.start && !at.exit) return;
    const ThreadId thread = order_.events[at.index].object;
    const std::size_t claimed = real_[finding_.events[k].transaction];
    if (claimed == kNever) {
      check_own_transaction(k, thread);
    } else if (order_.transactions[claimed].thread != thread) {
      fail("event {} is in a transaction of another thread", k);
    }
  }

  void check_own_transaction(std::size_t k, ThreadId thread) {
    const Finding::Event& event = finding_.events[k];
    const Finding::Transaction& own = finding_.transactions[event.transaction];
    if (own.thread != event.thread || !own.label.empty() || own.location != event.location) {
      return fail("event {} stands in a transaction that does not exist", k);
    }
    turns_[event.transaction] = {.thread = thread, .at = places_[k].start ? 0 : kNever};
  }

  void check_transaction(std::size_t t) {
    if (turns_[t].thread) return;
    const Finding::Transaction& claimed = finding_.transactions[t];
    if (real_[t] == kNever) return fail("transaction {} has no event in the cycle", t);
    if (std::ranges::count(real_, real_[t]) > 1) {
      return fail("transaction {} stands there twice", t);
    }
    const Transaction& real = order_.transactions[real_[t]];
    turns_[t] = {.thread = real.thread, .at = real_[t] + 1};
    const std::string label = real.single ? "" : object_name(real.outermost);
    const std::size_t line = claimed.location.line;
    const bool located = line == real.outermost + 1 || line == real.begin + 1;
    if (claimed.thread != thread_name(real.outermost) || claimed.label != label || !located ||
        !claimed.location.file.empty()) {
      fail("transaction {} is not {} of {} at {}", t, label, thread_name(real.outermost),
           real.begin + 1);
    }
  }

  void check_edge(const Finding::Edge& edge) {
    if (edge.from >= places_.size() || edge.to >= places_.size())
      return fail("an edge of no events");
    if (edge.from >= edge.to)
      return fail("event {} does not come before event {}", edge.from, edge.to);
    const Place& from = places_[edge.from];
    const Place& to = places_[edge.to];
    bool real = false;
    if (to.start) {
      real = !from.start && !from.exit && from.index == to.index;
    } else if (from.exit) {
      real = !to.exit && from.index == to.index;
    } else if (!from.start && !to.exit) {
      real = from.index < to.index && order_.across(from.index, to.index);
    }
    if (!real) fail("the edge from event {} to event {} is not real", edge.from, edge.to);
  }

  // Where edge k arrives, the next edge must leave: the same transaction, or a later one of the
  // thread.
  void check_turn(std::size_t k) {
    const std::size_t next = (k + 1) % finding_.edges.size();
    const std::size_t here = finding_.events[finding_.edges[k].to].transaction;
    const std::size_t there = finding_.events[finding_.edges[next].from].transaction;
    const bool same_thread = turns_[here].thread == turns_[there].thread;
    if (here != there && (!same_thread || turns_[here].at >= turns_[there].at)) {
      fail("edge {} does not leave where edge {} arrives", next, k);
    }
  }

  // The first transaction is the one that was cut: the cycle leaves it first and comes back to it
  // last.
  void check_ends() {
    const std::size_t leaves = finding_.edges.front().from;
    const std::size_t returns = finding_.edges.back().to;
    if (finding_.events[leaves].transaction != 0 || finding_.events[returns].transaction != 0) {
      fail("the cycle does not start and end in the first transaction");
    }
    std::vector<bool> used(finding_.events.size());
    for (const Finding::Edge& edge : finding_.edges) used[edge.from] = used[edge.to] = true;
    if (std::ranges::find(used, false) != used.end()) fail("an event without an edge");
  }

  const Finding& finding_;
  const Order& order_;
  std::string wrong_;
  std::vector<Place> places_;
  std::vector<Turn> turns_;        // where each transaction of the finding stands
  std::vector<std::size_t> real_;  // for each transaction of the finding: which of the trace it is
};

}  // namespace

std::string check_finding(const Finding& finding, const Order& order) {
  return Check(finding, order).run();
}

std::string describe(const Finding& finding) {
  std::string text = fmt::format("{} x{} {} {}\n", finding.analysis, finding.count, finding.pattern,
                                 finding.message);
  for (const Finding::Transaction& t : finding.transactions) {
    text += fmt::format("  transaction {} of {} at {}\n", t.label, t.thread, to_string(t.location));
  }
  for (const Finding::Event& e : finding.events) {
    text += fmt::format("  event {} {}({}) at {} in transaction {}\n", e.thread, e.op, e.variable,
                        to_string(e.location), e.transaction);
  }
  for (const Finding::Edge& edge : finding.edges) {
    text += fmt::format("  edge {} -> {}\n", edge.from, edge.to);
  }
  return text;
}

}  // namespace tomos::oracle
