#include "model.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tomos::predict {

namespace {

template <class T>
T& at(std::vector<T>& table, std::size_t index) {
  if (index >= table.size()) table.resize(index + 1);
  return table[index];
}

class Builder {
 public:
  Builder(std::span<const Event> trace, const ModelOptions& options)
      : trace_(trace), options_(options) {}

  Model run() {
    for (std::size_t i = 0; i < trace_.size(); ++i) take(i);
    number_variables();
    number_transactions();
    number_meetings();
    number_waits();
    model_.forked_by.resize(model_.threads.size());
    return std::move(model_);
  }

 private:
  struct Thread {
    unsigned depth = 0;           // begins without end
    std::size_t outermost = 0;    // of them
    std::size_t begin = 0;        // of the current transaction, which is
    std::size_t current = kNone;  // made by its first step
  };
  struct Variable {
    bool local = false;
    std::uint32_t life = 0;
  };
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t meeting = 0;
  };

  void take(std::size_t i) {
    const Event& event = trace_[i];
    Thread& self = at(threads_, event.thread);
    at(model_.threads, event.thread);
    switch (event.op) {
      case Op::kBegin:
        if (self.depth++ == 0) {
          self.outermost = self.begin = i;
          self.current = kNone;
        }
        break;
      case Op::kEnd:
        if (--self.depth == 0) self.current = kNone;
        break;
      case Op::kRead:
      case Op::kWrite:
        access(i);
        break;
      case Op::kAcquire:
      case Op::kRelease:
      case Op::kReadAcquire:
      case Op::kReadRelease:
        model_.locks = std::max(model_.locks, event.object + 1);
        add(i, event.object, self.depth > 0 ? transaction(i) : kNone);
        break;
      case Op::kFork:
      case Op::kJoin:
      case Op::kBarrier:
      case Op::kSignal:
      case Op::kWait:
        order(i);
        break;
      case Op::kNew:
        at(variables_, event.object).local = options_.escape;
        break;
      case Op::kEscape:
        at(variables_, event.object).local = false;
        break;
      case Op::kFree:
        at(variables_, event.object) = {.local = false,
                                        .life = at(variables_, event.object).life + 1};
        break;
      case Op::kExit:
        break;
    }
  }

  std::size_t add(std::size_t i, std::uint32_t object, std::size_t transaction) {
    std::vector<Step>& steps = model_.threads[trace_[i].thread];
    steps.push_back({.event = i, .op = trace_[i].op, .object = object, .transaction = transaction});
    return steps.size() - 1;
  }

  // The one that event i stands in.
  std::size_t transaction(std::size_t i) {
    const ThreadId thread = trace_[i].thread;
    Thread& self = threads_[thread];
    const bool single = self.depth == 0;
    if (single || self.current == kNone) {
      self.current = model_.transactions.size();
      model_.transactions.push_back({.thread = thread,
                                     .single = single,
                                     .outermost = single ? i : self.outermost,
                                     .begin = single ? i : self.begin});
    }
    return self.current;
  }

  void access(std::size_t i) {
    const Variable& variable = at(variables_, trace_[i].object);
    if (variable.local) return;
    const auto [life, unused] = lives_.try_emplace({trace_[i].object, variable.life}, 0);
    add(i, static_cast<std::uint32_t>(accessed_.size()), transaction(i));
    accessed_.push_back(life->first);
  }

  void order(std::size_t i) {
    const Event& event = trace_[i];
    Thread& self = threads_[event.thread];
    self.current = kNone;
    self.begin = i;
    if (!options_.happens_before) return;
    if (event.op == Op::kSignal) {
      signals_[event.object].push_back({.thread = event.thread, .position = add(i, 0, kNone)});
      return;
    }
    if (event.op == Op::kWait) {
      const Place place{.thread = event.thread, .position = add(i, 0, kNone)};
      waits_[place] = signals_[event.object];
      return;
    }
    if (event.op != Op::kBarrier) {
      at(model_.threads, event.object);
      const std::size_t position = add(i, event.object, kNone);
      if (event.op == Op::kFork) {
        at(model_.forked_by, event.object) = {.thread = event.thread, .position = position};
      }
      return;
    }
    Barrier& barrier = at(barriers_, event.object);
    if (barrier.arrived == event.count) barrier = {.arrived = 0, .meeting = barrier.meeting + 1};
    ++barrier.arrived;
    Meeting& meeting = meetings_[{event.object, barrier.meeting}];
    meeting.size = event.count;
    meeting.arrivals.push_back({.thread = event.thread, .position = add(i, 0, kNone)});
  }

  // Until here access steps have a number of their own.
  void number_variables() {
    for (auto& [life, number] : lives_) number = model_.variables++;
    for (std::vector<Step>& steps : model_.threads) {
      for (Step& step : steps) {
        if (is_access(step.op)) step.object = lives_[accessed_[step.object]];
      }
    }
  }

  // From the order of the trace to that of the threads.
  void number_transactions() {
    std::vector<std::size_t> number(model_.transactions.size(), kNone);
    std::vector<Transaction> sorted;
    for (std::vector<Step>& steps : model_.threads) {
      for (Step& step : steps) {
        if (step.transaction == kNone) continue;
        if (number[step.transaction] == kNone) {
          number[step.transaction] = sorted.size();
          sorted.push_back(model_.transactions[step.transaction]);
        }
        step.transaction = number[step.transaction];
      }
    }
    model_.transactions = std::move(sorted);
  }

  // One that is never complete lets nobody pass: an arrival that does not exist is waited for.
  void number_meetings() {
    for (const auto& [key, meeting] : meetings_) {
      const auto number = static_cast<std::uint32_t>(model_.meetings.size());
      for (const Place& place : meeting.arrivals) {
        model_.threads[place.thread][place.position].object = number;
      }
      model_.meetings.push_back(meeting.arrivals);
      if (meeting.arrivals.size() < meeting.size) {
        model_.meetings.back().push_back({.thread = 0, .position = kNone});
      }
    }
  }

  // In the order of the threads.
  void number_waits() {
    for (auto& [place, signals] : waits_) {
      model_.threads[place.thread][place.position].object =
          static_cast<std::uint32_t>(model_.awaited.size());
      std::ranges::sort(signals);
      model_.awaited.push_back(std::move(signals));
    }
  }

  struct Meeting {
    std::uint32_t size = 0;
    std::vector<Place> arrivals;
  };
  using Life = std::pair<VariableId, std::uint32_t>;

  std::span<const Event> trace_;
  ModelOptions options_;
  Model model_;
  std::vector<Thread> threads_;
  std::vector<Variable> variables_;
  std::vector<Barrier> barriers_;
  std::map<Life, std::uint32_t> lives_;  // and their numbers
  std::vector<Life> accessed_;           // by each access
  std::map<std::pair<std::uint32_t, std::uint32_t>, Meeting> meetings_;
  std::map<std::uint32_t, std::vector<Place>> signals_;  // so far, by what they signal
  std::map<Place, std::vector<Place>> waits_;
};

// Without the accesses that `drop` wants gone. Positions move, so what refers to them is renewed.
template <class Drop>
Model without(const Model& model, Drop drop) {
  Model result = model;
  std::vector<std::vector<std::size_t>> moved(model.threads.size());
  for (ThreadId thread = 0; thread < model.threads.size(); ++thread) {
    result.threads[thread].clear();
    for (const Step& step : model.threads[thread]) {
      moved[thread].push_back(result.threads[thread].size());
      if (!is_access(step.op) || !drop(step)) result.threads[thread].push_back(step);
    }
  }
  const auto move = [&](Place& place) {
    if (place.position != kNone) place.position = moved[place.thread][place.position];
  };
  for (std::optional<Place>& fork : result.forked_by) {
    if (fork) move(*fork);
  }
  for (std::vector<Place>& meeting : result.meetings) std::ranges::for_each(meeting, move);
  for (std::vector<Place>& signals : result.awaited) std::ranges::for_each(signals, move);
  return result;
}

}  // namespace

Model model_of(std::span<const Event> trace, const ModelOptions& options) {
  return Builder(trace, options).run();
}

bool same_model(const Model& a, const Model& b) {
  const auto same = [](const std::vector<Step>& x, const std::vector<Step>& y) {
    return std::ranges::equal(x, y, &Step::same_but_place);
  };
  return std::ranges::equal(a.threads, b.threads, same) && a.awaited == b.awaited;
}

Model only_transactions(const Model& model, std::span<const std::size_t> kept) {
  const auto keeps = [&](std::size_t transaction) {
    return std::ranges::find(kept, transaction) != kept.end();
  };
  Model result = without(model, [&](const Step& step) { return !keeps(step.transaction); });
  for (std::vector<Step>& steps : result.threads) {
    for (Step& step : steps) {
      if (!keeps(step.transaction)) step.transaction = kNone;
    }
  }
  return result;
}

Model only_variable(const Model& model, std::uint32_t variable) {
  return without(model, [&](const Step& step) { return step.object != variable; });
}

}  // namespace tomos::predict
