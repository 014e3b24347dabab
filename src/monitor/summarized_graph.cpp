#include "monitor/summarized_graph.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tomos {

namespace {

using Word = std::uint64_t;

template <class Visit>
void each(std::span<const Word> mask, Visit visit) {
  for (std::size_t word = 0; word < mask.size(); ++word) {
    for (Word bits = mask[word]; bits != 0; bits &= bits - 1) {
      visit(
          static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
    }
  }
}

bool has(std::span<const Word> mask, std::uint32_t bit) {
  return ((mask[bit / 64] >> (bit % 64)) & 1U) != 0;
}
void set(std::span<Word> mask, std::uint32_t bit) { mask[bit / 64] |= Word{1} << (bit % 64); }
void reset(std::span<Word> mask, std::uint32_t bit) { mask[bit / 64] &= ~(Word{1} << (bit % 64)); }

void unite(std::span<Word> mask, std::span<const Word> other) {
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] |= other[i];
}

}  // namespace

void SummarizedGraph::widen() {
  const std::size_t wider = 2 * words_;
  for (Mask* matrix : {&before_, &after_, &past_, &sets_[0], &sets_[1]}) {
    Mask copy(2 * matrix->size(), 0);
    for (std::size_t i = 0; i < matrix->size(); ++i) {
      copy[i / words_ * wider + i % words_] = (*matrix)[i];
    }
    *matrix = std::move(copy);
  }
  for (Past& past : ended_) past.nodes.resize(wider, 0);
  words_ = wider;
}

SummarizedGraph::Slot SummarizedGraph::open_thread() {
  if (!free_.empty()) {
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  const Slot slot = static_cast<Slot>(nodes_.size());
  if (slot == 64 * words_) widen();
  nodes_.emplace_back();
  for (Mask* matrix : {&before_, &after_, &past_}) matrix->resize(nodes_.size() * words_, 0);
  return slot;
}

void SummarizedGraph::close_thread(Slot slot) {
  if (nodes_[slot].open) end(slot);
  std::ranges::fill(row(past_, slot), 0);
  free_.push_back(slot);
}

SummarizedGraph::Ended SummarizedGraph::close_unjoined(Slot slot) {
  if (nodes_[slot].open) end(slot);
  const std::span<const Word> own = row(past_, slot);
  const Mask past(own.begin(), own.end());
  close_thread(slot);
  if (std::ranges::all_of(past, [](Word word) { return word == 0; })) return kNothing;
  auto at = std::ranges::find_if(
      ended_, [&](const Past& other) { return other.threads > 0 && other.nodes == past; });
  if (at == ended_.end()) {
    at = std::ranges::find(ended_, std::size_t{0}, &Past::threads);
    if (at == ended_.end()) at = ended_.insert(at, Past());
    *at = {.nodes = past, .threads = 0};
  }
  ++at->threads;
  return static_cast<Ended>(at - ended_.begin());
}

void SummarizedGraph::join(Slot later, Ended earlier) {
  if (earlier == kNothing) return;
  unite(row(past_, later), ended_[earlier].nodes);
  --ended_[earlier].threads;
}

std::span<Word> SummarizedGraph::nodes(Space space, std::uint32_t object, Set which) {
  Mask& sets = sets_[static_cast<std::size_t>(space)];
  const std::size_t at = object * kSets * words_;
  if (at >= sets.size()) {
    sets.resize(std::max(at + kSets * words_, 2 * sets.size()), 0);
  }
  return std::span(sets).subspan(at + which * words_, words_);
}

// Notes the object at each of the nodes that do not have it yet. To be called before the nodes
// enter one of its sets.
void SummarizedGraph::touch(std::span<const Word> mask, Space space, std::uint32_t object) {
  const std::span<const Word> all(nodes(space, object, kSRead).data(), kSets * words_);
  for (std::size_t word = 0; word < words_; ++word) {
    const Word known =
        all[word] | all[words_ + word] | all[2 * words_ + word] | all[3 * words_ + word];
    for (Word fresh = mask[word] & ~known; fresh != 0; fresh &= fresh - 1) {
      Node& node = nodes_[word * 64 + static_cast<std::size_t>(std::countr_zero(fresh))];
      // Objects that are forgotten and come again stand here twice; not too often.
      if (node.touched.size() == node.touched.capacity() && node.touched.size() > 1024) {
        std::ranges::sort(node.touched);
        node.touched.erase(std::ranges::unique(node.touched).begin(), node.touched.end());
      }
      node.touched.push_back(object * 2 + static_cast<std::uint32_t>(space));
    }
  }
}

void SummarizedGraph::begin(Slot slot) { nodes_[slot].open = true; }

// Adds to a set of nodes all that come before one of them, and leaves out the slot's node and those
// after it.
void SummarizedGraph::close_upward(Mask& mask, Slot slot) {
  for (std::size_t word = 0; word < words_; ++word) {
    for (Word bits = mask[word]; bits != 0; bits &= bits - 1) {
      unite(mask, row(before_, static_cast<Slot>(
                                   word * 64 + static_cast<std::size_t>(std::countr_zero(bits)))));
    }
  }
  const std::span<const Word> after = row(after_, slot);
  for (std::size_t word = 0; word < words_; ++word) mask[word] &= ~after[word];
  reset(mask, slot);
}

// Puts nodes, a set closed upward, before the slot's node and all that come after it.
void SummarizedGraph::put_before(const Mask& mask, Slot slot) {
  const std::span<Word> before = row(before_, slot);
  bool is_news = false;
  for (std::size_t word = 0; word < words_; ++word) is_news |= (mask[word] & ~before[word]) != 0;
  if (!is_news) return;
  const std::span<const Word> after = row(after_, slot);
  each(mask, [&](Slot node) {
    unite(row(after_, node), after);
    set(row(after_, node), slot);
  });
  each(after, [&](Slot node) { unite(row(before_, node), mask); });
  unite(before, mask);
}

// The first event of a transaction puts it after its thread's past.
void SummarizedGraph::enter(Slot slot) {
  Node& node = nodes_[slot];
  if (!node.open || node.has_events) return;
  node.has_events = true;
  const std::span<const Word> past = row(past_, slot);
  sources_.assign(past.begin(), past.end());
  close_upward(sources_, slot);
  put_before(sources_, slot);
}

bool SummarizedGraph::order(Slot slot, Space space, std::uint32_t object, bool after_reads) {
  enter(slot);
  sources_.assign(words_, 0);
  unite(sources_, nodes(space, object, kSWrite));
  if (after_reads) unite(sources_, nodes(space, object, kSRead));
  reset(sources_, slot);
  unite(sources_, nodes(space, object, kCWrite));
  if (after_reads) unite(sources_, nodes(space, object, kCRead));

  if (!nodes_[slot].open) {
    close_upward(sources_, slot);
    unite(row(past_, slot), sources_);
    return false;
  }
  const std::span<const Word> after = row(after_, slot);
  bool closes = has(sources_, slot);
  for (std::size_t word = 0; word < words_; ++word) closes |= (sources_[word] & after[word]) != 0;
  close_upward(sources_, slot);
  put_before(sources_, slot);
  return closes;
}

void SummarizedGraph::record(Slot slot, Space space, std::uint32_t object, Label label) {
  enter(slot);
  const bool is_read = label == Label::kRead;
  if (nodes_[slot].open) {
    sources_.assign(words_, 0);
    set(sources_, slot);
    touch(sources_, space, object);
    set(nodes(space, object, is_read ? kSRead : kSWrite), slot);
  } else {
    // All that comes before the thread's past, this event included.
    const std::span<const Word> past = row(past_, slot);
    touch(past, space, object);
    unite(nodes(space, object, is_read ? kCRead : kCWrite), past);
  }
}

void SummarizedGraph::follow(Slot later, Slot earlier) {
  unite(row(past_, later), row(past_, earlier));
}

void SummarizedGraph::forget(Space space, std::uint32_t object) {
  for (const Set which : {kSRead, kSWrite, kCRead, kCWrite}) {
    std::ranges::fill(nodes(space, object, which), 0);
  }
}

// Where the node stands in a set, those before it take its place.
void SummarizedGraph::hand_on(std::span<Word> past, Slot slot) {
  if (!has(past, slot)) return;
  reset(past, slot);
  unite(past, row(before_, slot));
}

void SummarizedGraph::end(Slot slot) {
  const std::span<const Word> before = row(before_, slot);
  for (const std::uint32_t object_and_space : nodes_[slot].touched) {
    const std::uint32_t object = object_and_space / 2;
    const Space space = object_and_space % 2 == 0 ? Space::kVariable : Space::kLock;
    bool is_touched = false;  // nothing is left of a forgotten object
    for (const Set own : {kSRead, kSWrite, kCRead, kCWrite}) {
      is_touched |= has(nodes(space, object, own), slot);
    }
    if (!is_touched) continue;
    touch(before, space, object);
    for (const auto& [own, handed_on] : {std::pair(kSRead, kCRead), std::pair(kSWrite, kCWrite),
                                         std::pair(kCRead, kCRead), std::pair(kCWrite, kCWrite)}) {
      if (!has(nodes(space, object, own), slot)) continue;
      reset(nodes(space, object, own), slot);
      unite(nodes(space, object, handed_on), before);
    }
  }
  nodes_[slot].touched.clear();
  if (nodes_[slot].has_events) unite(row(past_, slot), before);
  for (Past& past : ended_) hand_on(past.nodes, slot);
  for (Slot other = 0; other < nodes_.size(); ++other) {
    hand_on(row(past_, other), slot);
    reset(row(before_, other), slot);
    reset(row(after_, other), slot);
  }
  std::ranges::fill(row(before_, slot), 0);
  std::ranges::fill(row(after_, slot), 0);
  nodes_[slot].open = false;
  nodes_[slot].has_events = false;
}

}  // namespace tomos
