#include "monitor/block_store.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace tomos {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::uint64_t mix(std::uint64_t h, std::uint64_t value) {
  h = (h ^ value) * 0x9e37'79b9'7f4a'7c15U;
  h = (h ^ (h >> 32U)) * 0xd6e8'feb8'6659'fd93U;
  return h ^ (h >> 29U);
}

std::uint64_t pair(std::uint32_t a, std::uint32_t b) { return (std::uint64_t{a} << 32U) | b; }

std::uint64_t hash_of(const BlockAccess& access) {
  std::uint64_t h =
      mix(mix(1, pair(access.variable, access.location)), pair(access.held, access.label));
  h = mix(h, access.begin);
  return mix(h, pair(static_cast<std::uint32_t>(access.op), access.flags));
}

std::uint64_t hash_of(const Block& block) {
  return mix(mix(1, pair(block.first, block.second)), block.across);
}

std::uint64_t hash_of(const Shape& shape) {
  std::uint64_t h = mix(mix(1, pair(shape.label, shape.begin)), shape.outer);
  for (const Step& step : shape.steps) {
    h = mix(h + static_cast<std::uint64_t>(step.op), pair(step.object, step.location));
  }
  return h ^ (h >> 32U);
}

bool same(const Shape& a, const Shape& b) {
  return a.label == b.label && a.begin == b.begin && a.outer == b.outer && a.steps == b.steps;
}

}  // namespace

template <class T>
std::uint32_t Interned<T>::intern(const T& value) {
  const auto find = [&](const T& wanted) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t hash = hash_of(wanted);
    std::size_t i = (hash ^ (hash >> 32U)) & mask;
    while (slots_[i] != 0 && values_[slots_[i] - 1] != wanted) i = (i + 1) & mask;
    return i;
  };
  std::size_t slot = find(value);
  if (slots_[slot] != 0) return slots_[slot] - 1;
  if (slots_.size() < 2 * (values_.size() + 1)) {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t id = 0; id < size(); ++id) slots_[find(values_[id])] = id + 1;
    slot = find(value);
  }
  values_.push_back(value);
  slots_[slot] = size();
  return size() - 1;
}

std::vector<Occurrence> Occurrences::of(std::uint32_t id) const {
  std::vector<Occurrence> all;
  if (id >= newest_.size()) return all;
  for (std::uint32_t node = newest_[id]; node != kNone; node = nodes_[node].older) {
    all.push_back(nodes_[node].at);
  }
  std::ranges::reverse(all);
  return all;
}

PeriodSet BlockStore::periods(const Occurrences& occurrences, std::uint32_t id) const {
  PeriodSet all;
  if (const PeriodSet* elsewhere = occurrences.elsewhere_of(id)) all = *elsewhere;
  for (const Occurrence& at : occurrences.of(id)) all.add(shapes_[at.shape].periods);
  return all;
}

void BlockStore::on_events(std::span<const Event> events) {
  for (const Event& event : events) {
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
}

void BlockStore::close(ThreadId thread) {
  if (thread >= open_.size() || !open_[thread].active) return;
  Open& open = open_[thread];
  open.active = false;
  const Shape& shape = open.shape;
  if (std::ranges::none_of(shape.steps, &Step::is_access)) return;
  if (slots_.size() < 2 * (shapes_.size() + 1)) grow();
  const std::size_t slot = find(shape);
  if (slots_[slot] == 0) take_apart(shape, open.period, slot);
  if (slots_[slot] == 0) return;
  Shape& known = shapes_[slots_[slot] - 1];
  context_.periods().add_to(known.periods, open.period);
  known.ran(thread, ++now_);
}

std::size_t BlockStore::find(const Shape& shape) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash_of(shape) & mask;
  while (slots_[i] != 0 && !same(shapes_[slots_[i] - 1], shape)) i = (i + 1) & mask;
  return i;
}

void BlockStore::grow() {
  slots_.assign(2 * slots_.size(), 0);
  for (ShapeId id = 0; id < shapes_.size(); ++id) slots_[find(shapes_[id])] = id + 1;
}

BlockStore::Uses BlockStore::uses(const Shape& shape) {
  Uses uses;
  for (std::uint32_t i = 0; i < shape.steps.size(); ++i) {
    if (shape.steps[i].is_access()) uses.push_back({.variable = shape.steps[i].object, .step = i});
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
  for_each_variable(uses(shape), [&](std::span<const Use> uses) {
    std::uint32_t first_read = kNone;
    std::uint32_t last_read = kNone;
    std::uint32_t last_write = kNone;
    for (const Use& use : uses) {
      if (shape.steps[use.step].op == Op::kWrite) {
        last_write = use.step;
      } else if (last_write == kNone) {
        if (first_read == kNone) first_read = use.step;
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
    if (first_read != kNone) add(first_read, BlockAccess::kInitialRead);
    if (last_read != first_read) add(last_read, BlockAccess::kInitialRead);
    if (last_write != kNone) add(last_write, BlockAccess::kFinalWrite);
  });
  std::ranges::sort(sites, {}, &Site::step);
  return sites;
}

BlockId BlockStore::add_block(ShapeId shape, const Site& first, const Site& second,
                              LocksetId across) {
  const BlockId id =
      blocks_.intern({.first = first.access, .second = second.access, .across = across});
  block_occurrences_.add(id, {.shape = shape, .first = first.step, .second = second.step});
  return id;
}

// A transaction that has not been seen, or not been kept.
void BlockStore::take_apart(const Shape& shape, PeriodId period, std::size_t slot) {
  if (accesses_.size() + blocks_.size() > limits_.blocks) {
    lost_ = true;
    return;
  }
  const std::uint32_t known_accesses = accesses_.size();
  const std::uint32_t known_blocks = blocks_.size();
  std::vector<std::pair<AccessId, std::uint32_t>> accesses;
  std::vector<std::tuple<BlockId, std::uint32_t, std::uint32_t>> blocks;

  for_each_variable(uses(shape), [&](std::span<const Use> uses) {
    std::uint32_t last_write = kNone;
    for (const Use& use : uses) {
      if (shape.steps[use.step].op == Op::kWrite) last_write = use.step;
    }
    bool written = false;
    std::vector<AccessId> ids;
    for (const Use& use : uses) {
      const Step& access = shape.steps[use.step];
      std::uint8_t flags = 0;
      if (access.op == Op::kRead && !written) flags = BlockAccess::kInitialRead;
      if (use.step == last_write) flags = BlockAccess::kFinalWrite;
      written |= access.op == Op::kWrite;
      ids.push_back(accesses_.intern({.variable = access.object,
                                      .location = access.location,
                                      .held = access.held,
                                      .label = shape.label,
                                      .begin = shape.begin,
                                      .op = access.op,
                                      .flags = flags}));
      accesses.emplace_back(ids.back(), use.step);
    }
    for_each_pair(shape, uses, [&](const Use& first, const Use& second) {
      const BlockId id = blocks_.intern(
          {.first = ids[static_cast<std::size_t>(&first - uses.data())],
           .second = ids[static_cast<std::size_t>(&second - uses.data())],
           .across = held_across(shape, first.step, second.step, context_.locksets())});
      blocks.emplace_back(id, first.step, second.step);
    });
  });

  bool is_wide = false;
  if (two_variables_) {
    const std::vector<Site> sites = this->sites(shape);
    is_wide = sites.size() > limits_.wide;
    for (std::size_t i = 0; i < sites.size() && !is_wide; ++i) {
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
        blocks.emplace_back(id, sites[i].step, sites[j].step);
      }
    }
  }

  const bool news = accesses_.size() > known_accesses || blocks_.size() > known_blocks;
  constexpr std::size_t kMuch = 16;
  const bool keep = taken_ < limits_.room || news || (is_wide && taken_ < kMuch * limits_.room);
  if (!keep) {
    lost_ |= is_wide;
    for (const auto& [id, step] : accesses)
      context_.periods().add_to(access_occurrences_.elsewhere(id), period);
    for (const auto& [id, first, second] : blocks) {
      context_.periods().add_to(block_occurrences_.elsewhere(id), period);
    }
    return;
  }
  const auto id = static_cast<ShapeId>(shapes_.size());
  slots_[slot] = id + 1;
  shapes_.push_back(shape);
  shapes_.back().steps.shrink_to_fit();
  for (const auto& [access, step] : accesses) {
    access_occurrences_.add(access, {.shape = id, .first = step, .second = step});
  }
  for (const auto& [block, first, second] : blocks) {
    block_occurrences_.add(block, {.shape = id, .first = first, .second = second});
  }
  if (is_wide) wide_.push_back(id);
  taken_ += shape.steps.size() + accesses.size() + blocks.size();
}

// Leaves out what no block needs any more: of each variable the first and last initial read and the
// first and last write stay, and of the pairs that make equal blocks the first; then critical
// sections that have become empty go. What it leaves out can only make the transaction look easier
// to cut.
void BlockStore::thin_out(Shape& shape) {
  std::vector<bool> keep(shape.steps.size());
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = !shape.steps[i].is_access();
  for_each_variable(uses(shape), [&](std::span<const Use> uses) {
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
      h = mix(h, held_across(shape, first.step, second.step, context_.locksets()));
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

template class Interned<BlockAccess>;
template class Interned<Block>;

}  // namespace tomos
