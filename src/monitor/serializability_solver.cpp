#include "monitor/serializability_solver.h"

#include <algorithm>
#include <cadical.hpp>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tomos {

namespace {

constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

bool conflict(const SmallRun::Item& a, const SmallRun::Item& b) {
  return a.thread != b.thread && a.object == b.object && a.is_access() && b.is_access() &&
         (a.op == Op::kWrite || b.op == Op::kWrite);
}

// What is read and last written: for each read the write it sees, for each variable the last write
// (items; kNowhere: the value from before the run).
struct View {
  std::map<std::uint32_t, std::uint32_t> read;
  std::map<SharedId, std::uint32_t> last;
};

View view_of(const SmallRun& run, const std::vector<std::uint32_t>& order) {
  View view;
  for (const std::uint32_t i : order) {
    const SmallRun::Item& item = run.items[i];
    if (!item.is_access()) continue;
    const auto last = view.last.try_emplace(item.object, kNowhere).first;
    if (item.op == Op::kRead) {
      view.read[i] = last->second;
    } else {
      last->second = i;
    }
  }
  return view;
}

// Looks for a serial run with a given view.
class SerialSearch {
 public:
  SerialSearch(const SmallRun& run, const ThreadPeriods& periods, const Locksets& locksets,
               const View& view, std::size_t steps)
      : run_(run), locksets_(locksets), view_(view), steps_left_(steps) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> items;
    for (std::uint32_t i = 0; i < run.items.size(); ++i) items[run.items[i].unit].push_back(i);
    std::map<ThreadId, std::size_t> threads;
    for (auto& [unit, of] : items) {
      const std::size_t thread =
          threads.try_emplace(run.items[of[0]].thread, threads.size()).first->second;
      if (thread == units_.size()) units_.emplace_back();
      units_[thread].push_back({.items = std::move(of), .after = {}});
    }
    for (auto& own : units_) {
      for (Unit& unit : own) {
        for (const auto& others : units_) {
          std::size_t before = 0;
          for (const Unit& other : others) {
            before += periods.before(period(other), period(unit)) ? 1 : 0;
          }
          unit.after.push_back(&others == &own ? 0 : before);
        }
      }
    }
    done_.resize(units_.size());
    held_.resize(units_.size());
  }

  // Nothing if the search took too long.
  std::optional<bool> exists() {
    const bool found = search();
    if (!found && steps_left_ == 0) return std::nullopt;
    return found;
  }

 private:
  struct Unit {
    std::vector<std::uint32_t> items;
    std::vector<std::size_t> after;  // for each thread, how many of its units come before
  };
  PeriodId period(const Unit& unit) const { return run_.items[unit.items[0]].period; }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as there are transactions.
  bool search() {
    if (steps_left_ == 0) return false;
    --steps_left_;
    bool over = true;
    for (std::size_t thread = 0; thread < units_.size(); ++thread) {
      if (done_[thread] == units_[thread].size()) continue;
      over = false;
      const auto last = last_;
      const LocksetId held = held_[thread];
      if (step(thread)) {
        ++done_[thread];
        if (seen_.insert({done_, last_}).second && search()) return true;
        --done_[thread];
      }
      last_ = last;
      held_[thread] = held;
    }
    return over && last_ == view_.last;
  }

  // Runs the thread's next unit; whether that can be, with what it should read.
  bool step(std::size_t thread) {
    const Unit& unit = units_[thread][done_[thread]];
    for (std::size_t other = 0; other < units_.size(); ++other) {
      if (done_[other] < unit.after[other]) return false;
    }
    for (const std::uint32_t i : unit.items) {
      const SmallRun::Item& item = run_.items[i];
      for (std::size_t other = 0; other < units_.size(); ++other) {
        if (other != thread && locksets_.exclude(item.held, held_[other])) return false;
      }
      held_[thread] = item.held;
      if (!item.is_access()) continue;
      const auto last = last_.try_emplace(item.object, kNowhere).first;
      if (item.op == Op::kWrite) {
        last->second = i;
      } else if (view_.read.at(i) != last->second) {
        return false;
      }
    }
    return true;
  }

  const SmallRun& run_;
  const Locksets& locksets_;
  const View& view_;
  std::size_t steps_left_;
  std::vector<std::vector<Unit>> units_;  // of each thread, in its order
  std::vector<std::size_t> done_;
  std::vector<LocksetId> held_;
  std::map<SharedId, std::uint32_t> last_;
  std::set<std::pair<std::vector<std::size_t>, std::map<SharedId, std::uint32_t>>> seen_;
};

class Stopper : public CaDiCaL::Terminator {
 public:
  explicit Stopper(bool (*stop)()) : stop_(stop) {}
  bool terminate() override { return stop_ != nullptr && stop_(); }

 private:
  bool (*stop_)();
};

// The interleavings as a formula.
class Formula {
 public:
  Formula(const SmallRun& run, const ThreadPeriods& periods, const Locksets& locksets)
      : run_(run), periods_(periods), count_(static_cast<std::uint32_t>(run.items.size())) {
    solver_.set("quiet", 1);
    true_ = fresh();
    clause({true_});
    first_.resize(std::size_t{count_} * count_);
    for (std::uint32_t a = 0; a < count_; ++a) {
      for (std::uint32_t b = a + 1; b < count_; ++b) set_order(a, b);
    }
    orders_are_transitive();
    locks_exclude(locksets);
    has_cycle();
    views();
  }

  CaDiCaL::Solver& solver() { return solver_; }

  std::vector<std::uint32_t> order() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
    for (std::uint32_t a = 0; a < count_; ++a) {
      std::uint32_t place = 0;
      for (std::uint32_t b = 0; b < count_; ++b) {
        if (b != a && solver_.val(before(b, a)) > 0) ++place;
      }
      places.emplace_back(place, a);
    }
    std::ranges::sort(places);
    std::vector<std::uint32_t> order;
    order.reserve(places.size());
    for (const auto& [place, item] : places) order.push_back(item);
    return order;
  }

  // No interleaving with this view any more.
  void forbid(const View& view) {
    for (const auto& [read, write] : view.read) solver_.add(-reads_.at({read, write}));
    for (const auto& [variable, write] : view.last) {
      if (write != kNowhere) solver_.add(-last_.at(write));
    }
    solver_.add(0);
  }

 private:
  using Literal = int;

  Literal fresh() { return ++variables_; }
  void clause(std::initializer_list<Literal> literals) {
    for (const Literal literal : literals) solver_.add(literal);
    solver_.add(0);
  }
  void clause(const std::vector<Literal>& literals) {
    for (const Literal literal : literals) solver_.add(literal);
    solver_.add(0);
  }

  Literal before(std::uint32_t a, std::uint32_t b) const {
    return a < b ? first_[a * count_ + b] : -first_[b * count_ + a];
  }

  void set_order(std::uint32_t a, std::uint32_t b) {
    const SmallRun::Item& one = run_.items[a];
    const SmallRun::Item& other = run_.items[b];
    Literal& order = first_[a * count_ + b];
    if (one.thread == other.thread || periods_.before(one.period, other.period)) {
      order = true_;
    } else if (periods_.before(other.period, one.period)) {
      order = -true_;
    } else {
      order = fresh();
    }
  }

  void orders_are_transitive() {
    for (std::uint32_t a = 0; a < count_; ++a) {
      for (std::uint32_t b = a + 1; b < count_; ++b) {
        for (std::uint32_t c = b + 1; c < count_; ++c) {
          clause({-before(a, b), -before(b, c), -before(c, a)});
          clause({-before(b, a), -before(c, b), -before(a, c)});
        }
      }
    }
  }

  // From the item that takes a lock to the one that gives it back (kNowhere: nobody).
  struct Section {
    ThreadId thread;
    std::uint32_t from;
    std::uint32_t to = kNowhere;
  };
  struct Sections {
    std::vector<Section> any;
    std::vector<Section> exclusive;  // not only for reading
  };

  void locks_exclude(const Locksets& locksets) {
    std::map<LockId, Sections> all;
    std::map<ThreadId, std::vector<ModeLock>> held;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const SmallRun::Item& item = run_.items[i];
      if (item.is_access()) continue;
      const auto has = [&](const std::vector<ModeLock>& set, bool exclusive) {
        return std::ranges::any_of(set, [&](ModeLock lock) {
          return lock_of(lock) == item.object && !(exclusive && only_reads(lock));
        });
      };
      std::vector<ModeLock>& before = held[item.thread];
      const std::vector<ModeLock> after = locksets.locks(item.held);
      for (const bool exclusive : {false, true}) {
        std::vector<Section>& sections =
            exclusive ? all[item.object].exclusive : all[item.object].any;
        if (!has(before, exclusive) && has(after, exclusive)) {
          sections.push_back({.thread = item.thread, .from = i});
        }
        if (!has(before, exclusive) || has(after, exclusive)) continue;
        for (Section& section : sections) {
          if (section.thread == item.thread && section.to == kNowhere) section.to = i;
        }
      }
      before = after;
    }
    for (const auto& [lock, sections] : all) {
      for (const Section& one : sections.exclusive) {
        for (const Section& other : sections.any) {
          if (one.thread == other.thread) continue;
          std::vector<Literal> either;
          if (one.to != kNowhere) either.push_back(before(one.to, other.from));
          if (other.to != kNowhere) either.push_back(before(other.to, one.from));
          clause(either);
        }
      }
    }
  }

  // Some transactions, each after another of them. With locks that are held from one transaction to
  // the next there may be no serial order even without that, so nothing is asked for.
  void has_cycle() {
    if (locks_span_transactions(run_)) return;
    std::map<std::uint32_t, std::vector<std::uint32_t>> units;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (run_.items[i].is_access()) units[run_.items[i].unit].push_back(i);
    }
    std::map<std::uint32_t, Literal> chosen;
    std::vector<Literal> some;
    some.reserve(units.size());
    for (const auto& [unit, items] : units) some.push_back(chosen[unit] = fresh());
    clause(some);
    for (const auto& [unit, items] : units) {
      std::vector<Literal> follows = {-chosen[unit]};
      for (const auto& [other, others] : units) {
        if (other == unit) continue;
        const SmallRun::Item& own = run_.items[items[0]];
        const SmallRun::Item& its = run_.items[others[0]];
        std::vector<Literal> conflicts;
        if (own.thread == its.thread ? other < unit : periods_.before(its.period, own.period)) {
          conflicts.push_back(true_);
        } else {
          for (const std::uint32_t a : others) {
            for (const std::uint32_t b : items) {
              if (conflict(run_.items[a], run_.items[b])) conflicts.push_back(before(a, b));
            }
          }
        }
        if (conflicts.empty()) continue;
        const Literal edge = fresh();
        clause({-edge, chosen[other]});
        conflicts.push_back(-edge);
        clause(conflicts);
        follows.push_back(edge);
      }
      clause(follows);
    }
  }

  void views() {
    std::map<SharedId, std::vector<std::uint32_t>> writes;
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (run_.items[i].op == Op::kWrite) writes[run_.items[i].object].push_back(i);
    }
    for (std::uint32_t read = 0; read < count_; ++read) {
      if (run_.items[read].op != Op::kRead) continue;
      const std::vector<std::uint32_t>& of = writes[run_.items[read].object];
      std::vector<Literal> some;
      const Literal untouched = fresh();
      reads_[{read, kNowhere}] = untouched;
      some.push_back(untouched);
      for (const std::uint32_t write : of) {
        clause({-untouched, before(read, write)});
        const Literal sees = fresh();
        reads_[{read, write}] = sees;
        some.push_back(sees);
        clause({-sees, before(write, read)});
        for (const std::uint32_t other : of) {
          if (other != write) clause({-sees, before(other, write), before(read, other)});
        }
      }
      clause(some);
    }
    for (const auto& [variable, of] : writes) {
      std::vector<Literal> some;
      for (const std::uint32_t write : of) {
        const Literal is_last = fresh();
        last_[write] = is_last;
        some.push_back(is_last);
        for (const std::uint32_t other : of) {
          if (other != write) clause({-is_last, before(other, write)});
        }
      }
      clause(some);
    }
  }

  const SmallRun& run_;
  const ThreadPeriods& periods_;
  std::uint32_t count_;
  CaDiCaL::Solver solver_;
  int variables_ = 0;
  Literal true_ = 0;
  std::vector<Literal> first_;  // for a < b: item a comes before item b
  std::map<std::pair<std::uint32_t, std::uint32_t>, Literal> reads_;
  std::map<std::uint32_t, Literal> last_;
};

}  // namespace

Judged judge(const SmallRun& run, const ThreadPeriods& periods, const Locksets& locksets,
             const SolverLimits& limits, bool (*stop)()) {
  // Where there is nothing to see, nobody sees a difference.
  if (std::ranges::none_of(run.items, &SmallRun::Item::is_access)) {
    return {.answer = Judged::Answer::kAtomic, .order = {}};
  }
  if (run.items.size() > limits.items) return {};
  Stopper stopper(stop);
  Formula formula(run, periods, locksets);
  formula.solver().connect_terminator(&stopper);
  Judged result;
  for (std::size_t question = 0; question < limits.questions; ++question) {
    formula.solver().limit("conflicts", limits.conflicts);
    const int answer = formula.solver().solve();
    constexpr int kUnsatisfiable = 20;
    if (answer == kUnsatisfiable) result.answer = Judged::Answer::kAtomic;
    if (answer == 0 || answer == kUnsatisfiable) break;
    const std::vector<std::uint32_t> order = formula.order();
    const View view = view_of(run, order);
    const std::optional<bool> serial =
        SerialSearch(run, periods, locksets, view, limits.serial_steps).exists();
    if (!serial) break;
    if (!*serial) {
      result = {.answer = Judged::Answer::kNotAtomic, .order = order};
      break;
    }
    formula.forbid(view);
  }
  formula.solver().disconnect_terminator();
  return result;
}

std::vector<CycleEdge> cycle_in(const SmallRun& run, const std::vector<std::uint32_t>& order,
                                const ThreadPeriods& periods, const SharedVariables& variables) {
  std::vector<std::uint32_t> place(run.items.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  // From unit to unit by a pair of items; of several, the first that comes. Conflicts first, then
  // the order of threads and periods, which needs no events of its own within a thread.
  struct Edge {
    std::uint32_t from;
    std::uint32_t to;
    bool tells;  // to be told in the report
  };
  std::map<std::uint32_t, std::map<std::uint32_t, Edge>> edges;
  const auto is_lock_edge = [&](const SmallRun::Item& a, const SmallRun::Item& b) {
    return a.op == Op::kRelease && b.op == Op::kAcquire && a.object == b.object &&
           a.thread != b.thread;
  };
  // What orders two transactions: only data, also locks, or merely time.
  enum class By : std::uint8_t { kData, kLocks, kTime };
  const auto connect = [&](By by) {
    for (const std::uint32_t a : order) {
      for (const std::uint32_t b : order) {
        const SmallRun::Item& one = run.items[a];
        const SmallRun::Item& other = run.items[b];
        if (place[a] >= place[b] || one.unit == other.unit) continue;
        if (conflict(one, other) || (by != By::kData && is_lock_edge(one, other))) {
          edges[one.unit].try_emplace(other.unit, Edge{.from = a, .to = b, .tells = true});
        } else if (by == By::kTime || one.thread == other.thread ||
                   (one.is_access() && other.is_access() &&
                    periods.before(one.period, other.period))) {
          edges[one.unit].try_emplace(
              other.unit, Edge{.from = a, .to = b, .tells = one.thread != other.thread});
        }
      }
    }
  };
  // A shortest cycle, with a conflict in it.
  const auto shortest = [&](bool with_conflict) -> std::vector<Edge> {
    std::vector<Edge> best;
    for (const auto& [unit, out] : edges) {
      for (const auto& [target, closing] : out) {
        if (with_conflict && !conflict(run.items[closing.from], run.items[closing.to])) continue;
        std::map<std::uint32_t, std::pair<std::uint32_t, Edge>> via;  // unit: from where, by what
        std::vector<std::uint32_t> queue = {target};
        for (std::size_t i = 0; i < queue.size() && !via.contains(unit); ++i) {
          for (const auto& [next, edge] : edges[queue[i]]) {
            if (via.try_emplace(next, queue[i], edge).second) queue.push_back(next);
          }
        }
        if (!via.contains(unit)) continue;
        std::vector<Edge> cycle;
        for (std::uint32_t at = unit; at != target; at = via.at(at).first) {
          cycle.push_back(via.at(at).second);
        }
        cycle.push_back(closing);
        std::ranges::reverse(cycle);
        if (best.empty() || cycle.size() < best.size()) best = cycle;
      }
    }
    return best;
  };
  std::vector<Edge> cycle;
  for (const By by : {By::kData, By::kLocks, By::kTime}) {
    connect(by);
    cycle = shortest(true);
    if (!cycle.empty()) break;
  }
  if (cycle.empty()) cycle = shortest(false);
  std::erase_if(cycle, [](const Edge& edge) { return !edge.tells; });
  if (cycle.empty()) return {};
  // The transaction with the first event of all is cut: it is left by that, and entered later.
  const auto first =
      std::ranges::min_element(cycle, {}, [&](const Edge& edge) { return place[edge.from]; });
  std::ranges::rotate(cycle, first);
  const auto event_of = [&](std::uint32_t i) {
    const SmallRun::Item& item = run.items[i];
    const SmallRun::Unit& unit = run.units[item.unit];
    return CycleEvent{.index = place[i],
                      .transaction = item.unit,
                      .thread = item.thread,
                      .location = item.location,
                      .label = unit.label,
                      .begin = unit.begin,
                      .locks = item.held,
                      .object = item.is_access() ? variables.variable(item.object) : item.object,
                      .op = item.op};
  };
  std::vector<CycleEdge> told;
  told.reserve(cycle.size());
  for (const Edge& edge : cycle) {
    told.push_back({.from = event_of(edge.from), .to = event_of(edge.to)});
  }
  return told;
}

}  // namespace tomos
