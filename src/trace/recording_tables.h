// What the first walk over a recording collects and the making of events needs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/recording.h"
#include "trace/recording_merge.h"

namespace tomos::recording {

class Stacks {
 public:
  // The first stack of an id stays.
  void add(std::uint64_t id, std::span<const std::uint64_t> frames) {
    if (!stacks_.try_emplace(id, frames_.size(), frames.size()).second) return;
    frames_.insert(frames_.end(), frames.begin(), frames.end());
  }
  std::span<const std::uint64_t> find(std::uint64_t id) const {
    const auto found = stacks_.find(id);
    if (found == stacks_.end()) return {};
    return std::span(frames_).subspan(found->second.first, found->second.second);
  }

 private:
  std::unordered_map<std::uint64_t, std::pair<std::size_t, std::size_t>> stacks_;  // first, count
  std::vector<std::uint64_t> frames_;
};

// A place in the program, and the stack there.
struct Point {
  std::uint64_t pc = 0;
  std::uint64_t stack = 0;
  friend auto operator<=>(const Point&, const Point&) = default;
};

struct Tables {
  std::vector<Thread> threads;           // by number
  std::vector<ThreadSegments> segments;  // of the same threads
  std::unordered_map<std::uint64_t, Label> labels;
  std::unordered_set<std::uint64_t> waiting;  // labels of what waits on a condition
  Stacks stacks;
  std::map<Point, Point> section_ends;  // of critical sections, by where they begin: the first's
  // The heap objects of locks that were used before their object escaped, by the lock's address.
  std::unordered_map<std::uint64_t, Object> lock_objects;
  bool has_waits = false;  // for something else than a condition variable
};

}  // namespace tomos::recording
