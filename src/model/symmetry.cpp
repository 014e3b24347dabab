#include "model/symmetry.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "model/lanes.h"

namespace tomos::model {

namespace {

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  value ^= value >> 32U;
  value *= 0xd6e8feb86659fd93U;
  return value ^ (value >> 29U);
}

}  // namespace

Symmetry::Symmetry(const Program& program, std::size_t tracked)
    : program_(program), tracked_(tracked), old_(program.fields) {
  for (const ThreadInfo& thread : program.threads) {
    const std::size_t size = 1 + program.codes[thread.code].locals.size();
    const std::size_t beyond = (kLanes - size % kLanes) % kLanes;
    rows_.push_back({.first = thread.field,
                     .size = size,
                     .groups = (size + beyond) / kLanes,
                     .last = ~std::uint64_t{0} >> (16 * beyond)});
  }
  for (std::size_t first = 0; first < program.threads.size(); ++first) {
    std::vector<std::uint8_t> members;
    for (std::size_t t = 0; t < program.threads.size(); ++t) {
      if (program.threads[t].group == program.threads[first].group) {
        members.push_back(static_cast<std::uint8_t>(t));
      }
    }
    if (members.size() > 1 && members.front() == first) groups_.push_back(std::move(members));
  }
  for (std::size_t i = 0; i < program.fields + (tracked + 15) / 16; ++i) {
    factors_.push_back(mixed(i + 1) | 1U);
  }
}

Symmetry::Keys Symmetry::keys_of(const Graph& graph, const std::vector<Value>& values) const {
  const std::size_t count = program_.threads.size();
  Keys own{};
  for (std::size_t i = program_.first_lock; i < program_.first_lock + program_.locks.size(); ++i) {
    if (values[i] != 0) own[values[i] - 1U] += factors_[i];
  }
  for (std::size_t t = 0; t < count; ++t) {
    const Row& row = rows_[t];
    const Value* at = &values[row.first];
    std::uint64_t sum = own[t];
    for (std::size_t i = 0; i + 1 < row.groups; ++i, at += kLanes) sum += lanes(at) * factors_[i];
    sum += (lanes(at) & row.last) * factors_[row.groups - 1];
    // Of as many variables as a lane has bits, the labels of the thread are one word.
    for (std::size_t first = 0; first < tracked_; first += 16) {
      const Value* const labels = graph.labels() + first * Graph::kSets;
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < std::min<std::size_t>(16, tracked_ - first); ++i) {
        word |= ((lanes(labels + i * Graph::kSets) >> t) & kLaneOnes) << i;
      }
      sum += word * factors_[program_.fields + first / 16];
    }
    own[t] = sum;
  }
  if (tracked_ == 0) return own;
  for (std::size_t t = 0; t < count; ++t) own[t] = mixed(own[t] + (graph.entered(t) ? 1 : 0));
  Keys all{};
  for (std::size_t t = 0; t < count; ++t) {
    all[t] += own[t];
    each(graph.before(t), [&](std::size_t other) {
      all[t] += std::rotl(own[other], 11);
      all[other] += std::rotl(own[t], 23);
    });
    each(graph.past(t), [&](std::size_t other) {
      all[t] += std::rotl(own[other], 37);
      all[other] += std::rotl(own[t], 51);
    });
  }
  return all;
}

bool Symmetry::sort(std::vector<Value>& values, std::span<std::uint8_t> from) {
  std::iota(from.begin(), from.end(), std::uint8_t{0});
  if (groups_.empty()) return false;
  Graph graph(program_.threads.size(), tracked_, values.data() + program_.fields);
  const Keys keys = keys_of(graph, values);
  bool moves = false;
  for (const std::vector<std::uint8_t>& members : groups_) {
    // By insertion: a step changes little, so most of them stand where they belong.
    for (std::size_t i = 1; i < members.size(); ++i) {
      const std::uint8_t one = members[i];
      std::size_t at = i;
      for (; at > 0 && keys[from[members[at - 1]]] > keys[one]; --at) {
        from[members[at]] = from[members[at - 1]];
      }
      from[members[at]] = one;
      moves = moves || at != i;
    }
  }
  if (!moves) return false;
  move(values, from);
  if (tracked_ > 0) graph.permute(from);
  return true;
}

void Symmetry::move(std::vector<Value>& values, std::span<const std::uint8_t> from) {
  std::ranges::copy_n(values.begin(), static_cast<std::ptrdiff_t>(program_.fields), old_.begin());
  std::array<Value, kMostThreads + 1> owner{};
  for (std::size_t t = 0; t < from.size(); ++t) {
    owner[from[t] + 1U] = static_cast<Value>(t + 1);
    if (from[t] == t) continue;
    const Value* const source = &old_[rows_[from[t]].first];
    for (std::size_t i = 0; i < rows_[t].size; ++i) values[rows_[t].first + i] = source[i];
  }
  for (std::size_t i = 0; i < program_.locks.size(); ++i) {
    Value& holder = values[program_.first_lock + i];
    holder = owner[holder];
  }
}

}  // namespace tomos::model
