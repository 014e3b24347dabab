// View equivalence, word by word. A run is followed with what the definition asks for: which write
// each read has read, and which write was last for each variable. Two ways to the same such view
// are the same from there on, so each is visited once. The views at the end of the serial runs are
// the good ones; every other run must end in one of them.
#include "atomicity.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tomos::predict {

namespace {

// A set of byte strings of one length, numbered in the order they came.
class Views {
 public:
  explicit Views(std::size_t width) : width_(width), slots_(1024) {}

  std::size_t size() const { return size_; }
  std::span<const std::uint8_t> operator[](std::size_t number) const {
    return std::span(bytes_).subspan(number * width_, width_);
  }

  bool has(std::span<const std::uint8_t> view) const { return slots_[slot(view)] != 0; }

  // False if it is there already.
  bool insert(std::span<const std::uint8_t> view) {
    const std::size_t place = slot(view);
    if (slots_[place] != 0) return false;
    bytes_.insert(bytes_.end(), view.begin(), view.end());
    slots_[place] = static_cast<std::uint32_t>(++size_);
    if (2 * size_ > slots_.size()) grow();
    return true;
  }

 private:
  std::size_t slot(std::span<const std::uint8_t> view) const {
    const std::string_view text(reinterpret_cast<const char*>(view.data()), view.size());
    std::size_t place = std::hash<std::string_view>()(text) & (slots_.size() - 1);
    while (slots_[place] != 0 && !std::ranges::equal((*this)[slots_[place] - 1], view)) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::size_t number = 0; number < size_; ++number) {
      slots_[slot((*this)[number])] = static_cast<std::uint32_t>(number + 1);
    }
  }

  std::size_t width_;
  std::size_t size_ = 0;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: free
};

class Search {
 public:
  Search(const Interleavings& interleavings, std::size_t max_views)
      : interleavings_(interleavings), model_(interleavings.model()), max_views_(max_views) {
    for (const std::vector<Step>& steps : model_.threads) {
      std::vector<std::size_t>& numbers = numbers_.emplace_back();
      for (const Step& step : steps) {
        numbers.push_back(step.op == Op::kRead ? reads_++ : step.op == Op::kWrite ? ++writes_ : 0);
      }
    }
  }

  Atomicity run() {
    if (writes_ > UINT8_MAX) return {.decided = false};
    Views good(width());
    if (!explore(true, [&](const Views& views, std::size_t end) {
          good.insert(views[end]);
          return true;
        })) {
      return {.decided = false};
    }
    Atomicity result;
    const bool decided = explore(false, [&](const Views& views, std::size_t end) {
      if (good.has(views[end])) return true;
      result.atomic = false;
      for (std::size_t at = end; at != 0; at = from_[at].view)
        result.witness.push_back(from_[at].event);
      std::ranges::reverse(result.witness);
      return false;
    });
    result.decided = decided || !result.atomic;
    return result;
  }

 private:
  struct From {
    std::size_t view = 0;
    std::size_t event = 0;
  };

  // A view: where each thread is, the last write of each variable, the write that each read has
  // read. A write is its number from 1, nothing is 0.
  std::size_t read_from() const { return model_.threads.size() + model_.variables; }
  std::size_t width() const { return read_from() + reads_; }

  // Says `at_end` of every complete run. False: too many views, or `at_end` said that it is enough.
  template <class AtEnd>
  bool explore(bool serial, AtEnd at_end) {
    Views views(width());
    std::vector<std::uint8_t> view(width());
    views.insert(view);
    from_.assign(1, {});
    for (std::size_t at = 0; at < views.size(); ++at) {
      if (views.size() > max_views_) return false;
      bool ended = true;
      for (ThreadId t = 0; t < model_.threads.size(); ++t) {
        std::ranges::copy(views[at], view.begin());
        if (view[t] == model_.threads[t].size()) continue;
        ended = false;
        if (!interleavings_.enabled(view, t) || (serial && !serial_goes_on(view, t))) continue;
        const Step& step = model_.threads[t][view[t]];
        const std::size_t number = numbers_[t][view[t]];
        const std::size_t last_write = model_.threads.size() + step.object;
        if (step.op == Op::kWrite) view[last_write] = static_cast<std::uint8_t>(number);
        if (step.op == Op::kRead) view[read_from() + number] = view[last_write];
        ++view[t];
        if (interleavings_.completes(view) && views.insert(view)) {
          from_.push_back({.view = at, .event = step.event});
        }
      }
      if (ended && !at_end(views, at)) return false;
    }
    return true;
  }

  // While a transaction is cut, only its thread moves.
  bool serial_goes_on(std::span<const std::uint8_t> positions, ThreadId thread) const {
    for (ThreadId other = 0; other < model_.threads.size(); ++other) {
      if (other != thread && interleavings_.inside(positions, other)) return false;
    }
    return true;
  }

  const Interleavings& interleavings_;
  const Model& model_;
  std::size_t max_views_;
  std::size_t reads_ = 0;
  std::size_t writes_ = 0;
  std::vector<std::vector<std::size_t>> numbers_;  // for each step: of the read or write
  std::vector<From> from_;                         // for each view: how it was reached
};

}  // namespace

Atomicity atomicity(const Interleavings& interleavings, std::size_t max_views) {
  return Search(interleavings, max_views).run();
}

}  // namespace tomos::predict
