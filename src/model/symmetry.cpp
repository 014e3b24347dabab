#include "model/symmetry.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tomos::model {

namespace {

std::uint64_t mixed(std::uint64_t value) {
  value *= 0x9e3779b97f4a7c15U;
  value ^= value >> 32U;
  value *= 0xd6e8feb86659fd93U;
  return value ^ (value >> 29U);
}

using Keys = std::array<std::uint64_t, kMostThreads>;

Keys keys_of(const Program& program, const Graph& graph, std::size_t tracked,
             const std::vector<Value>& values) {
  const std::size_t count = program.threads.size();
  Keys own{};
  for (std::size_t t = 0; t < count; ++t) {
    const ThreadInfo& info = program.threads[t];
    const std::size_t end = info.field + 1 + program.codes[info.code].locals.size();
    for (std::size_t i = info.field; i < end; ++i) own[t] = mixed(own[t] ^ values[i]);
  }
  for (std::size_t i = 0; i < program.locks.size(); ++i) {
    const Value owner = values[program.first_lock + i];
    if (owner != 0) own[owner - 1U] += mixed(1000 + i);
  }
  if (tracked == 0) return own;
  for (std::size_t t = 0; t < count; ++t) own[t] += graph.entered(t) ? 1 : 0;
  for (std::size_t x = 0; x < tracked; ++x) {
    for (const auto set : {Graph::kSRead, Graph::kSWrite, Graph::kCRead, Graph::kCWrite}) {
      each(graph.labels(x, set),
           [&](std::size_t t) { own[t] += mixed(2000 + Graph::kSets * x + set); });
    }
  }
  Keys all = own;
  for (std::size_t t = 0; t < count; ++t) {
    each(graph.before(t), [&](std::size_t other) {
      all[t] += mixed(own[other] + 1);
      all[other] += mixed(own[t] + 2);
    });
    each(graph.past(t), [&](std::size_t other) {
      all[t] += mixed(own[other] + 3);
      all[other] += mixed(own[t] + 4);
    });
  }
  return all;
}

}  // namespace

bool sort_threads(const Program& program, std::size_t tracked, std::vector<Value>& values,
                  std::span<std::uint8_t> from) {
  const std::size_t count = program.threads.size();
  std::iota(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count), std::uint8_t{0});
  Graph graph(count, tracked, values.data() + program.fields);
  const Keys keys = keys_of(program, graph, tracked, values);

  bool moves = false;
  std::array<std::uint8_t, kMostThreads> members{};
  std::array<std::uint8_t, kMostThreads> sorted{};
  for (std::size_t first = 0; first < count; ++first) {
    const std::uint16_t group = program.threads[first].group;
    std::size_t size = 0;
    bool is_first = true;
    for (std::size_t t = 0; t < count; ++t) {
      if (program.threads[t].group != group) continue;
      is_first = is_first && t >= first;
      members[size++] = static_cast<std::uint8_t>(t);
    }
    if (!is_first || size < 2) continue;
    // By insertion: there are few of them, and mostly they are in order.
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t at = i;
      for (; at > 0 && keys[sorted[at - 1]] > keys[members[i]]; --at) sorted[at] = sorted[at - 1];
      sorted[at] = members[i];
    }
    for (std::size_t i = 0; i < size; ++i) {
      from[members[i]] = sorted[i];
      moves = moves || members[i] != sorted[i];
    }
  }
  if (!moves) return false;

  const std::vector<Value> old(values.begin(),
                               values.begin() + static_cast<std::ptrdiff_t>(program.fields));
  std::array<Value, kMostThreads + 1> owner{};
  for (std::size_t t = 0; t < count; ++t) {
    owner[from[t] + 1U] = static_cast<Value>(t + 1);
    const ThreadInfo& to = program.threads[t];
    const std::size_t source = program.threads[from[t]].field;
    std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(source),
                1 + program.codes[to.code].locals.size(),
                values.begin() + static_cast<std::ptrdiff_t>(to.field));
  }
  for (std::size_t i = 0; i < program.locks.size(); ++i) {
    Value& holder = values[program.first_lock + i];
    holder = owner[holder];
  }
  if (tracked > 0) graph.permute(from);
  return true;
}

}  // namespace tomos::model
