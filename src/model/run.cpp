#include "model/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/facts.h"
#include "model/lexer.h"
#include "monitor/analyses.h"
#include "monitor/telling.h"

namespace tomos::model {

namespace {

class Recorder {
 public:
  explicit Recorder(const Program& program) : program_(program), open_(program.threads.size()) {
    for (const ThreadInfo& thread : program.threads) {
      run_.names.add(NameKind::kThread, thread.name);
    }
    for (const Variable& variable : program.variables) {
      run_.names.add(NameKind::kVariable, variable.name);
    }
    for (const std::string& lock : program.locks) run_.names.add(NameKind::kLock, lock);
  }

  void add(const Step& step) {
    const ThreadInfo& thread = program_.threads[step.thread];
    const Location& here = program_.codes[thread.code].locations[step.location];
    const Edge& edge = here.edges[step.edge];
    if (here.block != 0 && !open_[step.thread]) {
      const AtomicBlock& block = program_.blocks[here.block];
      add(step.thread, Op::kBegin, run_.names.intern(NameKind::kLabel, block.label), block.place);
      open_[step.thread] = true;
    }
    for (const Step::Event& event : step.events) {
      add(step.thread, event.op, event.object, edge.place);
    }
    if (edge.ends && open_[step.thread]) {
      add(step.thread, Op::kEnd, 0, edge.place);
      open_[step.thread] = false;
    }
  }

  Run take() { return std::move(run_); }

 private:
  void add(ThreadId thread, Op op, std::uint32_t object, Place place) {
    const Origin origin = program_.origin(place);
    const LocationId location =
        run_.names.intern(NameKind::kLocation, place_in(origin.file, origin.place));
    run_.events.push_back({.thread = thread,
                           .object = object,
                           .location = location,
                           .op = op,
                           .spare = 0,
                           .count = 0});
  }

  const Program& program_;
  std::vector<bool> open_;  // by thread: in a transaction
  Run run_;
};

tomos::Location to_location(const Program& program, Place place) {
  const Origin origin = program.origin(place);
  return {.file = origin.file, .line = origin.place.line, .column = origin.place.column};
}

// The end of the run, which is what the reader wants to see of it.
void show_end(const Run& run, Finding& finding) {
  constexpr std::size_t kMost = 40;
  const std::size_t first = run.events.size() - std::min(kMost, run.events.size());
  for (std::size_t i = first; i < run.events.size(); ++i) {
    const Event& event = run.events[i];
    if (event.op == Op::kEnd) continue;
    finding.events.push_back(
        tell_event(run.names, event.thread, event.op, event.object, event.location, {}, SIZE_MAX));
  }
}

std::string what_is_wrong(Failure failure) {
  switch (failure) {
    case Failure::kAssertion:
      return "an assertion fails";
    case Failure::kRange:
      return "a value leaves the range of its variable";
    case Failure::kIndex:
      return "an array has no such element";
    case Failure::kNotHeld:
      return "a lock is released by a thread that does not hold it";
    case Failure::kStarted:
      return "a thread is started that was started before";
    case Failure::kNone:
    case Failure::kCycle:
    case Failure::kDeadlock:
      break;
  }
  return "";
}

Finding violation(const Run& run) {
  const auto analysis = std::ranges::find(analyses(), "vector-clock", &Analysis::name);
  const std::unique_ptr<Monitor> monitor = analysis->make({});
  monitor->on_events(run.events);
  monitor->finish();
  std::vector<Finding> findings = monitor->findings(run.names);
  if (findings.empty()) {
    throw std::logic_error("the run that the model checker has found is serializable");
  }
  return std::move(findings.front());
}

Finding deadlock(const Program& program, const SearchResult& result, const Run& run) {
  Finding finding;
  finding.kind = Kind::kDeadlock;
  std::vector<std::string> why;
  for (std::size_t t = 0; t < program.threads.size(); ++t) {
    const ThreadInfo& thread = program.threads[t];
    if (result.places[t] == kEnded || result.places[t] == kNotStarted) continue;
    const Location& here = program.codes[thread.code].locations[result.places[t]];
    std::string wanted;
    std::string op = "wait";
    const Edge* edge = here.edges.empty() ? nullptr : here.edges.data();
    if (here.waits >= 0) {
      wanted = program.conditions[static_cast<std::size_t>(here.waits)];
      why.push_back(fmt::format("{} waits to be notified of {}", thread.name, wanted));
    } else if (edge != nullptr && edge->kind == Edge::Kind::kAcquire) {
      op = "acquire";
      const Cell& cell = program.cells[static_cast<std::size_t>(edge->object)];
      if (cell.count == 1) {
        const std::size_t lock = cell.first - program.first_lock;
        const Value owner = result.owners[lock];
        wanted = program.locks[lock];
        why.push_back(fmt::format("{} wants {}, which {} has", thread.name, wanted,
                                  owner == 0 ? "nobody" : program.threads[owner - 1U].name));
      } else {
        why.push_back(fmt::format("{} wants a lock", thread.name));
      }
    } else if (edge != nullptr && edge->kind == Edge::Kind::kJoin) {
      op = "join";
      why.push_back(fmt::format("{} waits for the end of another thread", thread.name));
    } else if (program.origins.empty()) {
      op = "assume";
      why.push_back(fmt::format("{} waits for its assumption", thread.name));
    } else {  // there are no assumptions in the source: it is a semaphore or the like
      const Origin origin = program.origin(here.place);
      why.push_back(
          fmt::format("{} waits at {}", thread.name, place_in(origin.file, origin.place)));
    }
    // What it has, before what it wants.
    for (const Event& event : run.events) {
      if (event.thread != t || event.op != Op::kAcquire || result.owners[event.object] != t + 1) {
        continue;
      }
      finding.events.push_back(
          {.thread = thread.name,
           .op = "acquire",
           .variable = program.locks[event.object],
           .locks = {},
           .location = parse_location(run.names.name(NameKind::kLocation, event.location)),
           .stack = {},
           .transaction = SIZE_MAX});
    }
    finding.events.push_back({.thread = thread.name,
                              .op = std::move(op),
                              .variable = std::move(wanted),
                              .locks = {},
                              .location = to_location(program, here.place),
                              .stack = {},
                              .transaction = SIZE_MAX});
  }
  finding.message = fmt::format("Nobody can go on: {}.", fmt::join(why, "; "));
  return finding;
}

}  // namespace

Run run_of(const Program& program, const SearchResult& result) {
  Recorder recorder(program);
  for (const Step& step : result.run) recorder.add(step);
  return recorder.take();
}

bool leaves_open(const Program& program, const SearchResult& result) {
  return std::ranges::any_of(result.run, [&](const Step& step) {
    const Code& code = program.codes[program.threads[step.thread].code];
    return chooses(program, code.locations[step.location].edges[step.edge]);
  });
}

Finding finding_of(const Program& program, const SearchResult& result, const Run& run) {
  Finding finding;
  if (result.failure == Failure::kCycle) {
    finding = violation(run);
    finding.analysis = "serializability";
  } else if (result.failure == Failure::kDeadlock) {
    finding = deadlock(program, result, run);
    finding.analysis = "deadlock";
  } else {
    finding.analysis = "assertions";
    finding.kind = Kind::kCrash;
    const Step& last = result.run.back();
    const ThreadInfo& thread = program.threads[last.thread];
    const Place place = program.codes[thread.code].locations[last.location].place;
    finding.message =
        fmt::format("In {} at {} {}.", thread.name, to_string(to_location(program, place)),
                    what_is_wrong(result.failure));
    show_end(run, finding);
  }
  finding.verdict = Certainty::kProved;
  finding.input = program.file;
  return finding;
}

}  // namespace tomos::model
