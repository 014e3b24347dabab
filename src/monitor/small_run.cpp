#include "monitor/small_run.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tomos {

void RunRecorder::record(const Event& event, Context::Step step, Context& context) {
  if (full_ || step == Context::Step::kNothing) return;
  if (event.thread >= open_.size()) open_.resize(event.thread + std::size_t{1}, kNone);
  std::uint32_t& open = open_[event.thread];
  if (step == Context::Step::kBegin || step == Context::Step::kCut) {
    open = kNone;
    return;
  }
  if (run_.items.size() >= limit_) {
    full_ = true;
    run_ = {};
    return;
  }
  const Context::Thread& thread = context.thread(event.thread);
  const bool inside = thread.transaction.inside();
  if (open == kNone || !inside) {
    open = static_cast<std::uint32_t>(run_.units.size());
    run_.units.push_back({.thread = event.thread,
                          .label = inside ? thread.transaction.label : 0,
                          .begin = inside ? thread.transaction.start : event.location});
  }
  SmallRun::Item item{.thread = event.thread,
                      .unit = open,
                      .object = event.object,
                      .location = event.location,
                      .held = thread.locks,
                      .period = context.period(event.thread),
                      .op = event.op};
  if (step == Context::Step::kAccess) item.object = context.variable();
  if (step == Context::Step::kAcquire) item.op = Op::kAcquire;
  if (step == Context::Step::kRelease) item.op = Op::kRelease;
  if (!inside) open = kNone;
  run_.items.push_back(item);
}

namespace {

// Of one variable's accesses in one transaction (indices of items, in order): all writes; of the
// reads before the first the first and the last, and after each write the last. If another read
// sees something else than these, they do not see what they should either.
std::vector<std::size_t> telling(const SmallRun& run, const std::vector<std::size_t>& accesses) {
  std::vector<std::size_t> keep;
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    const bool last = i + 1 == accesses.size() || run.items[accesses[i + 1]].op == Op::kWrite;
    if (run.items[accesses[i]].op == Op::kWrite || last || i == 0) keep.push_back(accesses[i]);
  }
  return keep;
}

}  // namespace

SmallRun reduced(const SmallRun& run, std::optional<SharedId> only) {
  struct Use {
    std::set<ThreadId> threads;
    bool written = false;
  };
  std::map<SharedId, Use> variables;
  std::map<LockId, std::set<ThreadId>> locks;
  std::map<std::pair<std::uint32_t, SharedId>, std::vector<std::size_t>> accesses;
  for (std::size_t i = 0; i < run.items.size(); ++i) {
    const SmallRun::Item& item = run.items[i];
    if (!item.is_access()) {
      locks[item.object].insert(item.thread);
      continue;
    }
    Use& use = variables[item.object];
    use.threads.insert(item.thread);
    use.written |= item.op == Op::kWrite;
    accesses[{item.unit, item.object}].push_back(i);
  }
  std::vector<bool> keep(run.items.size());
  for (const auto& [of, items] : accesses) {
    const Use& use = variables[of.second];
    if (use.threads.size() < 2 || !use.written || (only && *only != of.second)) continue;
    for (const std::size_t i : telling(run, items)) keep[i] = true;
  }
  SmallRun result;
  result.units = run.units;
  for (std::size_t i = 0; i < run.items.size(); ++i) {
    const SmallRun::Item& item = run.items[i];
    if (item.is_access() ? keep[i] : locks[item.object].size() > 1) result.items.push_back(item);
  }
  return result;
}

SmallRun only_units(const SmallRun& run, std::uint32_t a, std::uint32_t b) {
  SmallRun result = run;
  std::erase_if(result.items, [&](const SmallRun::Item& item) {
    return item.is_access() && item.unit != a && item.unit != b;
  });
  return reduced(result, std::nullopt);
}

bool locks_span_transactions(const SmallRun& run) {
  std::map<ThreadId, std::pair<std::uint32_t, LocksetId>> last;  // unit, locks
  for (const SmallRun::Item& item : run.items) {
    const auto [at, is_new] = last.try_emplace(item.thread, item.unit, item.held);
    if (!is_new && at->second.first != item.unit && at->second.second != 0) return true;
    at->second = {item.unit, item.held};
  }
  return false;
}

}  // namespace tomos
