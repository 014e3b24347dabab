#include "cli/model_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/front_end.h"
#include "model/compile.h"

namespace tomos {

namespace {

// Lines become places of the source, names those that it has.
void speak_cpp(model::Program& program, const cpp::Driver& driver) {
  for (const cpp::DriverPosition& position : driver.origins) {
    program.origins.push_back(
        position.line == 0
            ? model::Origin{}
            : model::Origin{.file = driver.files[position.file],
                            .place = {.line = position.line, .column = position.column}});
  }
  const auto rename = [&](std::string& name) {
    const auto known = driver.names.find(name);
    if (known != driver.names.end()) name = known->second;
  };
  for (model::Variable& variable : program.variables) rename(variable.name);
  for (std::string& lock : program.locks) rename(lock);
  for (std::string& condition : program.conditions) rename(condition);
  for (model::AtomicBlock& block : program.blocks) rename(block.label);
  // They stand there in the order in which they are started; T1[2] are T1 and T2.
  for (std::size_t i = 1; i < program.threads.size(); ++i) {
    program.threads[i].name = fmt::format("T{}", i);
  }
}

std::string in_a_list(const std::vector<std::string>& words) {
  constexpr std::size_t kMost = 8;
  if (words.size() <= kMost) return fmt::format("{}", fmt::join(words, ", "));
  return fmt::format("{} and {} more", fmt::join(words.begin(), words.begin() + kMost, ", "),
                     words.size() - kMost);
}

schedule::Kind kind_of(cpp::DriverStep step) {
  switch (step) {
    case cpp::DriverStep::kLock:
      return schedule::Kind::kLock;
    case cpp::DriverStep::kUnlock:
      return schedule::Kind::kUnlock;
    case cpp::DriverStep::kSemaphoreWait:
      return schedule::Kind::kSemaphoreWait;
    case cpp::DriverStep::kSemaphorePost:
      return schedule::Kind::kSemaphorePost;
    case cpp::DriverStep::kBarrier:
      return schedule::Kind::kBarrier;
    case cpp::DriverStep::kOnce:
      return schedule::Kind::kOnce;
    case cpp::DriverStep::kNone:
    case cpp::DriverStep::kCall:
    case cpp::DriverStep::kPart:
      break;
  }
  return schedule::Kind::kNone;
}

// What the program does in this step that the scheduler can see, if anything.
std::optional<campaign::FollowedStretch> seen_in(const DriverProgram& driver,
                                                 const model::Step& step) {
  using Kind = model::Edge::Kind;
  const model::Program& program = driver.program;
  const model::ThreadInfo& thread = program.threads[step.thread];
  const model::Location& here = program.codes[thread.code].locations[step.location];
  const model::Edge& edge = here.edges[step.edge];
  campaign::FollowedStretch seen{.thread = step.thread};
  const auto add_place = [&] {
    const model::Origin origin = program.origin(edge.place);
    seen.file = origin.file;
    seen.line = origin.place.line;
  };
  switch (edge.kind) {
    case Kind::kAcquire:
    case Kind::kHeld:
      seen.kind = schedule::Kind::kLock;
      return seen;
    case Kind::kRelease:
      seen.kind = schedule::Kind::kUnlock;
      return seen;
    case Kind::kStart:
    case Kind::kJoin:
      seen.kind = edge.kind == Kind::kStart ? schedule::Kind::kCreate : schedule::Kind::kJoin;
      seen.times = static_cast<std::uint32_t>(edge.threads.size());
      return seen;
    case Kind::kWait:
      seen.kind = schedule::Kind::kWait;
      return seen;
    case Kind::kNotify:
    case Kind::kNotifyAll:
      seen.kind = schedule::Kind::kNotify;
      return seen;
    case Kind::kAssign:
    case Kind::kAssert: {
      // What only one thread uses may be nowhere in the real program but in a register.
      const auto access =
          std::ranges::find_if(step.events.rbegin(), step.events.rend(), [&](const auto& one) {
            return is_access(one.op) && program.variables[one.object].tracked >= 0;
          });
      const cpp::DriverStep known = edge.place.line < driver.steps.size()
                                        ? driver.steps[edge.place.line]
                                        : cpp::DriverStep::kNone;
      const bool is_own = !step.events.empty() && access == step.events.rend();
      if (is_own || known == cpp::DriverStep::kPart) return std::nullopt;
      if (known != cpp::DriverStep::kNone) {
        seen.kind = kind_of(known);
        if (known == cpp::DriverStep::kCall) add_place();
        return seen;
      }
      if (access == step.events.rend()) return std::nullopt;
      const bool reads = access->op == Op::kRead;
      if (driver.atomics.contains(program.variables[access->object].name)) {
        seen.kind = reads ? schedule::Kind::kAtomicRead : schedule::Kind::kAtomicWrite;
      } else {
        seen.kind = reads ? schedule::Kind::kRead : schedule::Kind::kWrite;
      }
      add_place();
      return seen;
    }
    case Kind::kEntry:
    case Kind::kNotified:
    case Kind::kRelation:
      break;
  }
  return std::nullopt;
}

// Whether it may be a step of the finding: one that looks like it.
bool is_of(const Finding& finding, const model::Program& program, const model::Step& step) {
  const model::ThreadInfo& thread = program.threads[step.thread];
  const model::Location& here = program.codes[thread.code].locations[step.location];
  const model::Origin origin = program.origin(here.edges[step.edge].place);
  return std::ranges::any_of(finding.events, [&](const Finding::Event& one) {
    return one.thread == thread.name && one.location.file == origin.file &&
           one.location.line == origin.place.line &&
           std::ranges::any_of(step.events, [&](const model::Step::Event& event) {
             return is_access(event.op) && one.op == (event.op == Op::kRead ? "read" : "write");
           });
  });
}

// The steps that a thread does in a row: until the last of them.
void add_stretch(campaign::ScheduleFile& schedule,
                 const std::vector<campaign::FollowedStretch>& steps) {
  if (steps.empty()) return;
  campaign::FollowedStretch stretch = steps.back();
  stretch.times = 0;
  for (const campaign::FollowedStretch& step : steps) {
    if (step.kind == stretch.kind && step.file == stretch.file && step.line == stretch.line) {
      stretch.times += step.times;
    }
  }
  schedule.stretches.push_back(std::move(stretch));
}

}  // namespace

campaign::ScheduleFile schedule_of(const DriverProgram& driver, const model::SearchResult& result,
                                   const Finding& finding) {
  campaign::ScheduleFile schedule;
  schedule.id = finding.id();
  schedule.shows = finding.message;
  const bool is_violation = finding.kind == Kind::kAtomicity;
  if (is_violation) schedule.finding = finding;
  schedule.settings.undeclared = true;
  std::vector<campaign::FollowedStretch> steps;  // of the thread that goes on
  std::vector<bool> waits(driver.program.threads.size());
  for (const model::Step& step : result.run) {
    auto seen = seen_in(driver, step);
    if (!seen) continue;
    // To wait is one step of the program, with the lock that it gets back.
    if (seen->kind == schedule::Kind::kLock && waits[step.thread]) {
      waits[step.thread] = false;
      continue;
    }
    if (seen->kind == schedule::Kind::kWait) waits[step.thread] = true;
    const bool goes_on = !steps.empty() && steps.back().thread == step.thread;
    if (!goes_on) {
      add_stretch(schedule, steps);
      steps.clear();
    }
    steps.push_back(std::move(*seen));
    if (is_violation && is_of(finding, driver.program, step)) {
      add_stretch(schedule, steps);
      steps.clear();
    }
  }
  add_stretch(schedule, steps);
  return schedule;
}

Result<DriverProgram> load_driver(const SourceOptions& sources, bool counts) {
  cpp::Options options{.build = sources.build, .files = sources.files, .flags = sources.flags};
  options.flags.push_back("-I" + macro_headers());
  auto read = read_driver(options, counts);
  if (!read) return std::unexpected(read.error());
  DriverProgram made;
  const std::size_t units = read->left_out.empty() ? 1 : 0;
  if (auto some = note_left_out(sources, read->left_out, units, made.notes); !some) {
    return std::unexpected(some.error());
  }
  cpp::Driver& driver = read->driver;
  auto program = model::load(driver.text, sources.files.front());
  if (!program) {
    // Too many variables, threads or steps: the driver's fault. Anything else is ours.
    return std::unexpected(
        Error{.where = sources.files.front(),
              .what = fmt::format("its Boolean program is refused ({}): {}", program.error().where,
                                  program.error().what),
              .remedy = "Let the driver do less. --write-bp FILE writes the Boolean program."});
  }
  made.program = std::move(*program);
  speak_cpp(made.program, driver);
  for (const auto& [what, list] : driver.abstracted) {
    made.notes.push_back(fmt::format("{} {}", what, in_a_list(list)));
  }
  made.text = std::move(driver.text);
  made.steps = std::move(driver.steps);
  made.atomics = std::move(driver.atomics);
  made.assertions = driver.assertions;
  made.counts = driver.counts;
  return made;
}

}  // namespace tomos
