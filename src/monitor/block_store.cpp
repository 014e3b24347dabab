#include "monitor/block_store.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_set>

namespace tomos {

namespace {

constexpr std::uint32_t kNoStep = ~std::uint32_t{0};

}  // namespace

std::uint64_t hash_of(const BlockAccess& access) {
  std::uint64_t h =
      mix(mix(1, pair(access.variable, access.location)), pair(access.held, access.label));
  h = mix(h, access.begin);
  return mix(h, pair(static_cast<std::uint32_t>(access.op), access.flags));
}

std::uint64_t hash_of(const Block& block) {
  return mix(mix(1, pair(block.first, block.second)), block.across);
}

std::vector<Occurrence> Occurrences::of(std::uint32_t id) const {
  std::vector<Occurrence> all;
  for_each(id, [&](const Occurrence& at) { all.push_back(at); });
  std::ranges::reverse(all);
  return all;
}

PeriodSet BlockStore::periods(const Occurrences& occurrences, std::uint32_t id) const {
  PeriodSet all;
  if (const PeriodSet* elsewhere = occurrences.elsewhere_of(id)) all = *elsewhere;
  std::optional<ShapeId> last;  // the occurrences in one shape follow one another
  occurrences.for_each(id, [&](const Occurrence& at) {
    if (last == at.shape) return;
    last = at.shape;
    for (const PeriodSet::Run& run : runs(at.shape)) all.add(run);
  });
  return all;
}

const Shape& BlockStore::shape(ShapeId id) {
  if (id < chosen_.size()) return kept_.shape(chosen_[id], context_.locksets());
  return shapes_[id - chosen_.size()];
}

std::span<const PeriodSet::Run> BlockStore::runs(ShapeId id) const {
  if (id < chosen_.size()) return kept_.periods(chosen_[id]);
  return shapes_[id - chosen_.size()].periods.runs();
}

PeriodSet BlockStore::periods(ShapeId id) const {
  PeriodSet periods;
  for (const PeriodSet::Run& run : runs(id)) periods.add(run);
  return periods;
}

void BlockStore::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
    if (event.op == Op::kFree) freed(event.object);
    const Context::Step what = context_.take(event);
    recorder_.record(event, what, context_);
    switch (what) {
      case Context::Step::kAccess:
        step(event, true);
        if (!context_.thread(event.thread).transaction.inside()) close(event.thread);
        break;
      case Context::Step::kAcquire:
      case Context::Step::kRelease:
        if (context_.thread(event.thread).transaction.inside()) step(event, false);
        break;
      case Context::Step::kCut:
        close(event.thread);
        [[fallthrough]];
      case Context::Step::kBegin:
        open(event.thread).shape.outer = context_.thread(event.thread).locks;
        break;
      case Context::Step::kNothing:
        break;
    }
  }
}

BlockStore::Open& BlockStore::open(ThreadId thread) {
  if (thread >= open_.size()) open_.resize(thread + std::size_t{1});
  return open_[thread];
}

void BlockStore::step(const Event& event, bool access) {
  Open& open = this->open(event.thread);
  const Context::Thread& thread = context_.thread(event.thread);
  Shape& shape = open.shape;
  if (!open.active) {
    const bool inside = thread.transaction.inside();
    open.active = true;
    open.period = context_.period(event.thread);
    open.thin_at = limits_.buffer;
    shape.label = inside ? thread.transaction.label : 0;
    shape.begin = inside ? thread.transaction.start : event.location;
    if (!inside) shape.outer = thread.locks;
    shape.steps.clear();
  }
  Op op = event.op;
  if (!access) op = op == Op::kAcquire || op == Op::kReadAcquire ? Op::kAcquire : Op::kRelease;
  shape.steps.push_back({.object = access ? context_.variable() : event.object,
                         .location = event.location,
                         .held = thread.locks,
                         .op = op});
  if (shape.steps.size() >= open.thin_at) {
    thin_out(shape);
    open.thin_at = std::max(limits_.buffer, 2 * shape.steps.size());
  }
}

void BlockStore::finish() {
  for (ThreadId thread = 0; thread < open_.size(); ++thread) close(thread);
  if (scope_ == BlockScope::kAll) return;
  lone_.forget([this](SharedId variable) { return !known(variable).in_block; });
  const std::vector<LoneAccesses::Access> lone = lone_.take();
  if (waits_) {
    judge_variables(lone);
    reduce(lone);
    for (ShapeId id = 0; id < shapes() && scope_ == BlockScope::kTwoTransactions; ++id) {
      if (has_pairs(shape(id))) wide_.push_back(id);
    }
  }
  add_lone(lone);
}

// Whether several of its variables can be part of a 2v-block.
bool BlockStore::has_pairs(const Shape& shape) const {
  std::optional<SharedId> one;
  return std::ranges::any_of(shape.steps, [&](const Step& step) {
    if (!step.is_access() || !known_[step.object].can_be_paired) return false;
    if (!one) one = step.object;
    return one != step.object;
  });
}

BlockStore::Known& BlockStore::known(SharedId variable) {
  if (variable >= known_.size()) known_.resize(context_.variables().size());
  return known_[variable];
}

void BlockStore::freed(VariableId variable) {
  const SharedId id = context_.variables().current(variable);
  if (id != SharedVariables::kLocal) known(id).freed = true;
}

bool BlockStore::no_room() {
  const bool none = accesses_.size() + blocks_.size() + lone_.size() > limits_.blocks;
  lost_ |= none;
  return none;
}

void BlockStore::close(ThreadId thread) {
  if (thread >= open_.size() || !open_[thread].active) return;
  Open& open = open_[thread];
  open.active = false;
  const Shape& shape = open.shape;
  const auto access = std::ranges::find_if(shape.steps, &Step::is_access);
  if (access == shape.steps.end()) return;
  locks_span_transactions_ |= shape.outer != 0 || shape.steps.back().held != 0;
  if (scope_ != BlockScope::kAll &&
      std::none_of(access + 1, shape.steps.end(), [](const Step& at) { return at.is_access(); })) {
    close_lone(open, static_cast<std::size_t>(access - shape.steps.begin()));
    return;
  }
  if (waits_) {
    if (no_room()) return;
    if (kept_.add(shape, run_of(open), context_.locksets())) mark_blocks(shape);
    // Taken apart they need several times as much.
    constexpr std::size_t kPatience = 4;
    if (kept_.numbers() >= kPatience * limits_.room * (sizeof(Step) / sizeof(std::uint32_t))) {
      stop_waiting();
    }
    return;
  }
  if (slots_.size() < 2 * (shapes_.size() + 1)) grow();
  const std::size_t slot = find(shape);
  if (slots_[slot] == 0 && !no_room()) {
    mark_blocks(shape);
    take_apart_now(shape, open.period, slot);
  }
  if (slots_[slot] == 0) return;
  Shape& kept = shapes_[slots_[slot] - 1];
  context_.periods().add_to(kept.periods, open.period);
  if (scope_ == BlockScope::kAll) kept.ran(thread, ++now_);
}

void BlockStore::mark_blocks(const Shape& shape) {
  for (const Step& step : shape.steps) {
    if (step.is_access()) known(step.object).in_block = true;
  }
}

const PeriodSet::Run& BlockStore::run_of(Open& open) const {
  if (open.run_of != open.period) {
    PeriodSet one;
    context_.periods().add_to(one, open.period);
    open.run = one.runs()[0];
    open.run_of = open.period;
  }
  return open.run;
}

void BlockStore::close_lone(Open& open, std::size_t step) {
  if (no_room()) return;
  if (lone_.full()) forget_lone();
  lone_.add(open.shape, step, run_of(open));
}

// Variables that are gone, and on which there can be no violation.
void BlockStore::forget_lone() {
  if (waits_) judge_variables(lone_.all());
  for (const Open& open : open_) {
    if (!open.active) continue;
    for (const Step& step : open.shape.steps) {
      if (!step.is_access()) continue;
      known(step.object).in_block = true;
      known(step.object).can_be_cut = true;
    }
  }
  lone_.forget(
      [this](SharedId variable) {
        const Known& about = known(variable);
        return about.freed && !(about.in_block && about.can_be_cut);
      },
      kept_.size());
}

std::size_t BlockStore::find(const Shape& shape) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(shape) & mask;
  while (slots_[i] != 0 && shapes_[slots_[i] - 1] != shape) i = (i + 1) & mask;
  return i;
}

void BlockStore::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (ShapeId id = 0; id < shapes_.size(); ++id) slots_[find(shapes_[id])] = id + 1;
}

// With `wanted`, only of variables of which that is true.
BlockStore::Uses BlockStore::uses(const Shape& shape, bool Known::* wanted, Range range) const {
  Uses uses;
  for (std::uint32_t i = 0; i < shape.steps.size(); ++i) {
    const Step& step = shape.steps[i];
    if (!step.is_access() || step.object < range.first || step.object >= range.end) continue;
    if (wanted != nullptr && step.object < known_.size() && !(known_[step.object].*wanted))
      continue;
    uses.push_back({.variable = step.object, .step = i});
  }
  std::ranges::sort(uses, {}, [](const Use& use) { return pair(use.variable, use.step); });
  return uses;
}

namespace {

// Calls `visit` for each variable's accesses, in order.
template <class Uses, class Visit>
void for_each_variable(const Uses& uses, Visit visit) {
  for (auto first = uses.begin(); first != uses.end();) {
    auto last = first;
    while (last != uses.end() && last->variable == first->variable) ++last;
    visit(std::span(first, last));
    first = last;
  }
}

// Calls `visit` for each pair of accesses of one variable that makes a 1v-block. Rule (a): with the
// last write before it if there is one, else the last read; rule (b): the final write, with every
// initial read.
template <class Use, class Visit>
void for_each_pair(const Shape& shape, std::span<const Use> uses, Visit visit) {
  const Use* read = nullptr;
  const Use* write = nullptr;
  for (const Use& use : uses) {
    const Use* before = write != nullptr ? write : read;
    if (before != nullptr) visit(*before, use);
    (shape.steps[use.step].op == Op::kWrite ? write : read) = &use;
  }
  if (write == nullptr) return;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (shape.steps[uses[i].step].op == Op::kWrite) break;
    if (&uses[i + 1] != write) visit(uses[i], *write);  // else rule (a) has made it
  }
}

}  // namespace

std::vector<BlockStore::Site> BlockStore::sites(const Shape& shape) {
  std::vector<Site> sites;
  for_each_variable(uses(shape, &Known::can_be_paired), [&](std::span<const Use> uses) {
    std::uint32_t first_read = kNoStep;
    std::uint32_t last_read = kNoStep;
    std::uint32_t last_write = kNoStep;
    for (const Use& use : uses) {
      if (shape.steps[use.step].op == Op::kWrite) {
        last_write = use.step;
      } else if (last_write == kNoStep) {
        if (first_read == kNoStep) first_read = use.step;
        last_read = use.step;
      }
    }
    const auto add = [&](std::uint32_t step, std::uint8_t flags) {
      const Step& access = shape.steps[step];
      sites.push_back({.step = step,
                       .access = accesses_.intern({.variable = access.object,
                                                   .location = access.location,
                                                   .held = access.held,
                                                   .label = shape.label,
                                                   .begin = shape.begin,
                                                   .op = access.op,
                                                   .flags = flags})});
    };
    if (first_read != kNoStep) add(first_read, BlockAccess::kInitialRead);
    if (last_read != first_read) add(last_read, BlockAccess::kInitialRead);
    if (last_write != kNoStep) add(last_write, BlockAccess::kFinalWrite);
  });
  std::ranges::sort(sites, {}, &Site::step);
  return sites;
}

void BlockStore::add_block(ShapeId shape, const Site& first, const Site& second, LocksetId across) {
  if (no_room()) return;
  const BlockId id =
      blocks_.intern({.first = first.access, .second = second.access, .across = across});
  block_occurrences_.add(id, {.shape = shape, .first = first.step, .second = second.step});
}

ShapeId BlockStore::keep(const Shape& shape, std::size_t slot) {
  const auto id = static_cast<ShapeId>(shapes_.size());
  slots_[slot] = id + 1;
  shapes_.push_back(shape);
  shapes_.back().steps.shrink_to_fit();
  return id;
}

// One of those that waited.
void BlockStore::merge(const Shape& shape) {
  if (slots_.size() < 2 * (shapes_.size() + 1)) grow();
  const std::size_t slot = find(shape);
  if (slots_[slot] == 0) {
    keep(shape, slot);
  } else {
    shapes_[slots_[slot] - 1].periods.add(shape.periods);
  }
}

void BlockStore::keep_parts(ShapeId id, const Parts& parts) {
  for (const auto& [access, step] : parts.accesses) {
    access_occurrences_.add(access, {.shape = id, .first = step, .second = step});
  }
  for (const auto& [block, first, second] : parts.blocks) {
    block_occurrences_.add(block, {.shape = id, .first = first, .second = second});
  }
}

// An access that differs from this one at most in its locks; always the same.
AccessId BlockStore::any_locks(AccessId id) {
  BlockAccess access = accesses_[id];
  access.held = 0;
  const std::uint32_t lockless = lockless_.intern(access);
  if (lockless == stands_for_.size()) stands_for_.push_back(id);
  return stands_for_[lockless];
}

// Accesses and 1v-blocks.
BlockStore::Parts BlockStore::take_apart(const Shape& shape, Range range) {
  Parts parts;
  const Uses wanted = uses(shape, &Known::can_be_cut, range);
  if (wanted.empty()) return parts;
  const HeldAcross held(shape, context_.locksets());
  for_each_variable(wanted, [&](std::span<const Use> uses) {
    std::uint32_t last_write = kNoStep;
    for (const Use& use : uses) {
      if (shape.steps[use.step].op == Op::kWrite) last_write = use.step;
    }
    bool written = false;
    const std::size_t before = parts.accesses.size();
    for (const Use& use : uses) {
      const Step& access = shape.steps[use.step];
      std::uint8_t flags = 0;
      if (access.op == Op::kRead && !written) flags = BlockAccess::kInitialRead;
      if (use.step == last_write) flags = BlockAccess::kFinalWrite;
      written |= access.op == Op::kWrite;
      parts.accesses.emplace_back(accesses_.intern({.variable = access.object,
                                                    .location = access.location,
                                                    .held = access.held,
                                                    .label = shape.label,
                                                    .begin = shape.begin,
                                                    .op = access.op,
                                                    .flags = flags}),
                                  use.step);
    }
    const auto id = [&](const Use& use) {
      const auto at = before + static_cast<std::size_t>(&use - uses.data());
      const AccessId access = parts.accesses[at].first;
      return waits_ ? any_locks(access) : access;
    };
    for_each_pair(shape, uses, [&](const Use& first, const Use& second) {
      const BlockId block = blocks_.intern(
          {.first = id(first), .second = id(second), .across = held(first.step, second.step)});
      parts.blocks.emplace_back(block, first.step, second.step);
    });
  });
  return parts;
}

// 2v-blocks.
void BlockStore::take_apart_pairs(const Shape& shape, const std::vector<Site>& sites,
                                  Parts& parts) {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    LocksetId across = shape.steps[sites[i].step].held;
    std::uint32_t done = sites[i].step;
    for (std::size_t j = i + 1; j < sites.size(); ++j) {
      for (; done < sites[j].step; ++done) {
        const LocksetId held = shape.steps[done + 1].held;
        if (held != across) across = context_.locksets().common(across, held);
      }
      if (shape.steps[sites[i].step].object == shape.steps[sites[j].step].object) continue;
      const BlockId id =
          blocks_.intern({.first = sites[i].access, .second = sites[j].access, .across = across});
      parts.blocks.emplace_back(id, sites[i].step, sites[j].step);
    }
  }
}

// A transaction that has not been seen, or not been kept.
void BlockStore::take_apart_now(const Shape& shape, PeriodId period, std::size_t slot) {
  const std::uint32_t known_accesses = accesses_.size();
  const std::uint32_t known_blocks = blocks_.size();
  Parts parts = take_apart(shape);
  bool is_wide = false;
  if (scope_ != BlockScope::kOneVariable) {
    const std::vector<Site> sites = this->sites(shape);
    is_wide = sites.size() > limits_.wide;
    if (!is_wide) take_apart_pairs(shape, sites, parts);
  }
  const bool news = accesses_.size() > known_accesses || blocks_.size() > known_blocks;
  constexpr std::size_t kMuch = 16;
  if (taken_ >= limits_.room && !news && (!is_wide || taken_ >= kMuch * limits_.room)) {
    lost_ |= is_wide;
    for (const auto& [id, step] : parts.accesses)
      context_.periods().add_to(access_occurrences_.elsewhere(id), period);
    for (const auto& [id, first, second] : parts.blocks) {
      context_.periods().add_to(block_occurrences_.elsewhere(id), period);
    }
    return;
  }
  const ShapeId id = keep(shape, slot);
  keep_parts(id, parts);
  if (is_wide) wide_.push_back(id);
  taken_ += shape.steps.size() + parts.accesses.size() + parts.blocks.size();
}

// There is no room to keep all shapes until the end.
void BlockStore::stop_waiting() {
  waits_ = false;
  for (Known& about : known_) about.can_be_cut = about.can_be_paired = true;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    merge(kept_.shape(i, context_.locksets()));
    taken_ += shapes_.back().steps.size();
  }
  kept_ = {};
  for (ShapeId id = 0; id < shapes_.size() && !no_room(); ++id) {
    Parts parts = take_apart(shapes_[id]);
    if (scope_ == BlockScope::kTwoTransactions) {
      const std::vector<Site> sites = this->sites(shapes_[id]);
      if (sites.size() > limits_.wide) {
        wide_.push_back(id);
      } else {
        take_apart_pairs(shapes_[id], sites, parts);
      }
    }
    keep_parts(id, parts);
  }
}

namespace {

// Who accesses a variable, and the locks held from the first to the last access in each
// transaction.
struct Sharers {
  ThreadId thread = kNoStep;
  bool several = false;
  bool written = false;
  LocksetId locks = 0;

  void meet(ThreadId first, ThreadId last, bool writes, LocksetId held, Locksets& locksets) {
    locks = thread == kNoStep ? held : locksets.common(locks, held);
    if (thread == kNoStep) thread = first;
    several |= first != thread || last != thread;
    written |= writes;
  }
  // One lock that is always held leaves nothing to cut.
  bool can_be_cut(const Locksets& locksets) const {
    return several && written && !locksets.exclude(locks, locks);
  }
};

}  // namespace

// On which variables there can be a violation. For violations on two variables, only transactions
// with at least two count.
void BlockStore::judge_variables(std::span<const LoneAccesses::Access> lone) {
  known_.resize(context_.variables().size());
  Locksets& locksets = context_.locksets();
  // Most variables are in no block: the others get numbers of their own here.
  std::vector<std::uint32_t> places(known_.size());
  std::uint32_t count = 0;
  for (SharedId variable = 0; variable < known_.size(); ++variable) {
    if (known_[variable].in_block) places[variable] = count++;
  }
  std::vector<Sharers> all(count);
  std::vector<Sharers> paired(count);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    const Shape& shape = kept_.shape(i, locksets);
    const Uses uses = this->uses(shape, nullptr);
    const std::vector<PeriodSet::Run>& runs = shape.periods.runs();
    const ThreadId first = runs.front().thread;
    const ThreadId last = runs.back().thread;
    const HeldAcross held(shape, locksets);
    const auto [begin, end] = std::ranges::minmax(uses, {}, &Use::step);
    const LocksetId whole = held(begin.step, end.step);
    for_each_variable(uses, [&](std::span<const Use> of) {
      const std::uint32_t place = places[of[0].variable];
      const bool writes = std::ranges::any_of(
          of, [&](const Use& use) { return shape.steps[use.step].op == Op::kWrite; });
      all[place].meet(first, last, writes, held(of.front().step, of.back().step), locksets);
      if (of.size() < uses.size()) paired[place].meet(first, last, writes, whole, locksets);
    });
  }
  for (const LoneAccesses::Access& access : lone) {
    if (!known_[access.variable].in_block) continue;
    const Shape& pattern = lone_.patterns()[access.pattern];
    const Step& step = *std::ranges::find_if(pattern.steps, &Step::is_access);
    all[places[access.variable]].meet(access.periods.thread, access.periods.thread,
                                      step.op == Op::kWrite, step.held, locksets);
  }
  for (SharedId variable = 0; variable < known_.size(); ++variable) {
    Known& about = known_[variable];
    const std::uint32_t place = places[variable];
    about.can_be_paired = about.in_block && paired[place].can_be_cut(locksets);
    about.can_be_cut = about.can_be_paired || (about.in_block && all[place].can_be_cut(locksets));
  }
}

// Leaves out what no block needs any more: of each variable the first and last initial read and the
// first and last write stay, and of the pairs that make equal blocks the first; then critical
// sections that have become empty go. What it leaves out can only make the transaction look easier
// to cut.
void BlockStore::thin_out(Shape& shape) {
  std::vector<bool> keep(shape.steps.size());
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = !shape.steps[i].is_access();
  const HeldAcross held(shape, context_.locksets());
  for_each_variable(uses(shape, nullptr), [&](std::span<const Use> uses) {
    const Use* last_read = nullptr;
    const Use* last_write = nullptr;
    for (const Use& use : uses) {
      const bool writes = shape.steps[use.step].op == Op::kWrite;
      const Use*& last = writes ? last_write : last_read;
      if (!writes && last_write != nullptr) continue;
      if (last == nullptr) keep[use.step] = true;
      last = &use;
    }
    if (last_read != nullptr) keep[last_read->step] = true;
    if (last_write != nullptr) keep[last_write->step] = true;
    std::unordered_set<std::uint64_t> known;
    for_each_pair(shape, uses, [&](const Use& first, const Use& second) {
      const Step& one = shape.steps[first.step];
      const Step& other = shape.steps[second.step];
      std::uint64_t h = mix(mix(1, pair(one.location, one.held)), pair(other.location, other.held));
      h = mix(h, held(first.step, second.step));
      h = mix(h, pair(static_cast<std::uint32_t>(one.op), static_cast<std::uint32_t>(other.op)));
      if (!known.insert(h).second) return;
      keep[first.step] = true;
      keep[second.step] = true;
    });
  });
  std::vector<Step> kept;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    const Step& step = shape.steps[i];
    if (!keep[i]) continue;
    if (step.op == Op::kRelease && !kept.empty() && kept.back().op == Op::kAcquire &&
        kept.back().object == step.object) {
      kept.pop_back();
    } else {
      kept.push_back(step);
    }
  }
  shape.steps = std::move(kept);
}

}  // namespace tomos
