#include "monitor/transaction_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "monitor/interned.h"

namespace tomos {

namespace {

std::uint64_t hash_of(std::span<const TreeStep> steps) {
  std::uint64_t hash = steps.size();
  for (const TreeStep& step : steps) {
    hash = mix(hash, std::uint64_t{step.object} << 32U | step.location);
    hash += static_cast<std::uint64_t>(step.kind);
  }
  return mix(hash, 0);
}

// Equal for steps of which only the first and the last count.
std::uint64_t key_of(const TreeStep& step) {
  const bool is_read = step.kind == TreeStep::Kind::kRead;
  const auto kind = static_cast<std::uint64_t>(is_read ? TreeStep::Kind::kWrite : step.kind);
  return kind << 32U | step.object;
}

}  // namespace

TreeNodeId TransactionForest::intern(std::span<const TreeStep> steps) {
  const std::size_t mask = slots_.size() - 1;
  const std::uint64_t hash = hash_of(steps);
  const auto tag = static_cast<std::uint32_t>(hash >> 32U);
  for (std::size_t i = hash;; ++i) {
    Slot& slot = slots_[i & mask];
    if (slot.node != 0) {
      if (slot.tag == tag && std::ranges::equal(this->steps(slot.node - 1), steps)) {
        return slot.node - 1;
      }
      continue;
    }
    const auto node = static_cast<TreeNodeId>(nodes_.size());
    slot = {.node = node + 1, .tag = tag};
    nodes_.push_back({.first = steps_.size(), .size = static_cast<std::uint32_t>(steps.size())});
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    if (2 * nodes_.size() > slots_.size()) rehash(2 * slots_.size());
    return node;
  }
}

void TransactionForest::rehash(std::size_t slots) {
  slots_.assign(slots, {});
  const std::size_t mask = slots - 1;
  for (TreeNodeId node = 0; node < nodes_.size(); ++node) {
    const std::uint64_t hash = hash_of(steps(node));
    std::size_t i = hash;
    while (slots_[i & mask].node != 0) ++i;
    slots_[i & mask] = {.node = node + 1, .tag = static_cast<std::uint32_t>(hash >> 32U)};
  }
}

void TransactionForest::add(std::span<const TreeStep> steps, ThreadId thread,
                            std::uint64_t number) {
  const TreeNodeId node = intern(steps);
  std::uint32_t& tree = nodes_[node].tree;
  if (tree == kNoTree) {
    tree = static_cast<std::uint32_t>(trees_.size());
    trees_.push_back({.node = node, .thread = thread, .first = number, .count = 0});
  }
  ++trees_[tree].count;
}

void TransactionForest::retain(const std::vector<bool>& keep,
                               std::span<const std::span<TreeStep>> in_use) {
  std::vector<TreeNodeId> renamed(nodes_.size(), 0);  // first: whether it is needed
  const auto need = [&](std::span<const TreeStep> steps) {
    for (const TreeStep& step : steps) {
      if (step.kind == TreeStep::Kind::kBlock) renamed[step.object] = 1;
    }
  };
  for (const std::span<TreeStep> steps : in_use) need(steps);
  std::size_t kept_trees = 0;
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    if (!keep[i]) continue;
    renamed[trees_[i].node] = 1;
    trees_[kept_trees++] = trees_[i];
  }
  trees_.resize(kept_trees);
  // Inner blocks have lower numbers than the blocks around them.
  for (TreeNodeId node = static_cast<TreeNodeId>(nodes_.size()); node-- > 0;) {
    if (renamed[node] != 0) need(steps(node));
  }

  const std::vector<Node> nodes = std::exchange(nodes_, {});
  const std::vector<TreeStep> all = std::exchange(steps_, {});
  const auto rename = [&](TreeStep& step) {
    if (step.kind == TreeStep::Kind::kBlock) step.object = renamed[step.object];
  };
  for (TreeNodeId node = 0; node < nodes.size(); ++node) {
    if (renamed[node] == 0) continue;
    renamed[node] = static_cast<TreeNodeId>(nodes_.size());
    const std::size_t first = steps_.size();
    const std::span steps = std::span(all).subspan(nodes[node].first, nodes[node].size);
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    std::ranges::for_each(std::span(steps_).subspan(first), rename);
    nodes_.push_back({.first = first, .size = nodes[node].size});
  }
  for (std::uint32_t tree = 0; tree < trees_.size(); ++tree) {
    trees_[tree].node = renamed[trees_[tree].node];
    nodes_[trees_[tree].node].tree = tree;
  }
  for (const std::span<TreeStep> steps : in_use) std::ranges::for_each(steps, rename);
  rehash(slots_.size());
}

void TransactionBuilder::begin(LabelId label, LocationId location, LocksetId held) {
  steps_.clear();
  open_.clear();
  shorten_at_ = kLong;
  is_past_ = may_misfit_ = false;
  steps_.push_back({.object = label, .location = location, .kind = TreeStep::Kind::kBegin});
  if (held != 0) {
    steps_.push_back({.object = held, .location = 0, .kind = TreeStep::Kind::kHeld});
  }
  first_ = steps_.size();
}

void TransactionBuilder::acquire(LockId lock, bool reads, bool begins_block, LocationId location) {
  if (begins_block) open_.push_back(steps_.size());
  may_misfit_ |= is_past_;
  steps_.push_back({.object = lock,
                    .location = location,
                    .kind = reads ? TreeStep::Kind::kReadAcquire : TreeStep::Kind::kAcquire,
                    .is_open = begins_block});
}

void TransactionBuilder::release(LockId lock, bool reads, bool ends_block, LocationId location,
                                 TransactionForest& forest) {
  is_past_ = true;
  const TreeStep step = {.object = lock,
                         .location = location,
                         .kind = reads ? TreeStep::Kind::kReadRelease : TreeStep::Kind::kRelease};
  const auto begins_it = [&](std::size_t at) { return steps_[at].object == lock; };
  if (!ends_block || open_.empty() || !begins_it(open_.back())) {
    // Blocks that are open and overlap are no blocks: their steps are the outer one's.
    if (const auto at = std::ranges::find_if(open_, begins_it); ends_block && at != open_.end()) {
      steps_[*at].is_open = 0;
      open_.erase(at);
    }
    push(step);
    return;
  }
  const std::size_t first = open_.back();
  open_.pop_back();
  steps_[first].is_open = 0;
  shorten(first + 1);
  steps_.push_back(step);
  const TreeNodeId block = forest.intern(std::span(steps_).subspan(first));
  steps_.resize(first);
  push({.object = block, .location = 0, .kind = TreeStep::Kind::kBlock});
}

std::span<const TreeStep> TransactionBuilder::end() {
  for (const std::size_t at : open_) steps_[at].is_open = 0;
  open_.clear();
  shorten(first_);
  return steps_;
}

void TransactionBuilder::shorten(std::size_t from) {
  const std::size_t size = steps_.size() - from;
  if (size < 3) return;
  constexpr std::size_t kFew = 12;
  if (size > kFew) return shorten_many(from);
  std::uint64_t keys[kFew];  // NOLINT(modernize-avoid-c-arrays)
  std::size_t kept = from;
  for (std::size_t i = 0; i < size; ++i) keys[i] = key_of(steps_[from + i]);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_first = std::find(keys, keys + i, keys[i]) == keys + i;
    const bool is_last = std::find(keys + i + 1, keys + size, keys[i]) == keys + size;
    if (is_first || is_last) steps_[kept++] = steps_[from + i];
  }
  steps_.resize(kept);
}

void TransactionBuilder::shorten_many(std::size_t from) {
  const std::size_t needed = std::bit_ceil(2 * (steps_.size() - from));
  if (occurrences_.size() < needed || ++stamp_ == 0) {
    occurrences_.assign(std::max(needed, occurrences_.size()), {});
    stamp_ = 1;
  }
  const auto occurrence = [&](const TreeStep& step) -> Occurrence& {
    const std::uint64_t key = key_of(step);
    for (std::size_t i = mix(0, key);; ++i) {
      Occurrence& one = occurrences_[i & (occurrences_.size() - 1)];
      if (one.stamp != stamp_) one = {.key = key, .stamp = stamp_};
      if (one.key == key) return one;
    }
  };
  for (std::size_t i = from; i < steps_.size(); ++i) occurrence(steps_[i]).last = i;
  std::size_t kept = from;
  for (std::size_t i = from; i < steps_.size(); ++i) {
    Occurrence& one = occurrence(steps_[i]);
    if (!std::exchange(one.is_kept, true) || one.last == i) steps_[kept++] = steps_[i];
  }
  steps_.resize(kept);
}

void TransactionBuilder::shorten_long() {
  shorten(open_.empty() ? first_ : open_.back() + 1);
  shorten_at_ = std::max(kLong, 2 * steps_.size());
}

}  // namespace tomos
