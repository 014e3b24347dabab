#include "model/graph.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/lanes.h"

namespace tomos::model {

Graph::Nodes Graph::after(std::size_t thread) const {
  Nodes result = 0;
  for (std::size_t other = 0; other < threads_; ++other) {
    if ((before(other) & bit(thread)) != 0) result |= bit(other);
  }
  return result;
}

Graph::Nodes Graph::closed_upward(Nodes nodes) const {
  Nodes result = nodes;
  each(nodes, [&](std::size_t node) { result |= before(node); });
  return result;
}

bool Graph::access(std::size_t thread, bool inside, std::size_t variable, bool writes) {
  const Nodes self = bit(thread);
  Nodes sources = labels(variable, kSWrite);
  if (writes) sources |= labels(variable, kSRead);
  sources &= static_cast<Nodes>(~self);
  sources |= labels(variable, kCWrite);
  if (writes) sources |= labels(variable, kCRead);

  if (!inside) {
    past(thread) |= sources;
    past(thread) = closed_upward(past(thread));
    labels(variable, writes ? kCWrite : kCRead) |= past(thread);
    return false;
  }
  if (!entered(thread)) {
    *values_ |= self;
    before(thread) = closed_upward(past(thread));
    past(thread) = 0;
  }
  const Nodes later = after(thread);
  if ((sources & (later | self)) != 0) return true;
  sources = closed_upward(sources);
  before(thread) |= sources;
  each(later, [&](std::size_t node) { before(node) |= sources; });
  labels(variable, writes ? kSWrite : kSRead) |= self;
  return false;
}

void Graph::end(std::size_t thread) {
  if (!entered(thread)) return;
  const Nodes self = bit(thread);
  const auto others = static_cast<Nodes>(~self);
  const Nodes heirs = before(thread);
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    Nodes& reads = labels(variable, kCRead);
    Nodes& writes = labels(variable, kCWrite);
    if (((labels(variable, kSRead) | reads) & self) != 0) reads |= heirs;
    if (((labels(variable, kSWrite) | writes) & self) != 0) writes |= heirs;
    for (const Set set : {kSRead, kSWrite, kCRead, kCWrite}) labels(variable, set) &= others;
  }
  past(thread) = heirs;
  for (std::size_t other = 0; other < threads_; ++other) {
    if ((past(other) & self) != 0) past(other) = static_cast<Nodes>((past(other) & others) | heirs);
    before(other) &= others;
  }
  before(thread) = 0;
  *values_ &= others;
}

// Each rule takes away what no access in the future can notice.
void Graph::normalise(std::span<const Future> futures) {
  std::uint64_t all_reads = 0;
  std::uint64_t all_writes = 0;
  std::array<std::uint64_t, kMostThreads> others_read{};
  std::array<std::uint64_t, kMostThreads> others_write{};
  for (std::size_t t = 0; t < threads_; ++t) {
    // A thread that accesses nothing any more needs no past.
    if ((futures[t].reads | futures[t].writes) == 0) past(t) = 0;
    others_read[t] |= all_reads;
    others_write[t] |= all_writes;
    all_reads |= futures[t].reads;
    all_writes |= futures[t].writes;
  }
  std::uint64_t reads_behind = 0;
  std::uint64_t writes_behind = 0;
  for (std::size_t t = threads_; t-- > 0;) {
    others_read[t] |= reads_behind;
    others_write[t] |= writes_behind;
    reads_behind |= futures[t].reads;
    writes_behind |= futures[t].writes;
  }
  std::array<Nodes, kMostThreads> later{};
  for (std::size_t t = 0; t < threads_; ++t) {
    each(before(t), [&](std::size_t node) { later[node] |= bit(t); });
  }

  Nodes labelled = 0;
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    Nodes& s_read = labels(variable, kSRead);
    Nodes& s_write = labels(variable, kSWrite);
    Nodes& c_read = labels(variable, kCRead);
    Nodes& c_write = labels(variable, kCWrite);
    if ((s_read | s_write | c_read | c_write) == 0) continue;
    // A label that no access can come after. In S the node's own accesses do not count.
    const std::uint64_t mask = std::uint64_t{1} << variable;
    if ((all_writes & mask) == 0) s_read = c_read = 0;
    if (((all_reads | all_writes) & mask) == 0) s_write = c_write = 0;
    each(s_read, [&](std::size_t node) {
      if ((others_write[node] & mask) == 0) s_read &= static_cast<Nodes>(~bit(node));
    });
    each(s_write, [&](std::size_t node) {
      if (((others_read[node] | others_write[node]) & mask) == 0) {
        s_write &= static_cast<Nodes>(~bit(node));
      }
    });
    // A label that says less than another one of the same node.
    s_write &= static_cast<Nodes>(~c_write);
    c_read &= static_cast<Nodes>(~c_write);
    s_read &= static_cast<Nodes>(~(c_write | c_read | s_write));
    // A label of which a later node has the like: whoever comes after that comes after both, and
    // when that node ends, it hands its own on.
    const auto reads = static_cast<Nodes>(s_read | c_read | s_write | c_write);
    const auto writes = static_cast<Nodes>(s_write | c_write);
    each(reads, [&](std::size_t node) {
      const auto gone = static_cast<Nodes>(~bit(node));
      if ((later[node] & reads) != 0) {
        s_read &= gone;
        c_read &= gone;
      }
      if ((later[node] & writes) != 0) {
        s_write &= gone;
        c_write &= gone;
      }
    });
    labelled |= static_cast<Nodes>(s_read | s_write | c_read | c_write);
  }

  // What stands before a node of the past is there with it.
  Nodes known = labelled;
  for (std::size_t t = 0; t < threads_; ++t) {
    Nodes& own = past(t);
    each(own, [&](std::size_t node) {
      if ((later[node] & own) != 0) own &= static_cast<Nodes>(~bit(node));
    });
    known |= own;
    if (before(t) != 0) known |= static_cast<Nodes>(before(t) | bit(t));
  }
  // A node that stands nowhere is as good as one that has had no event.
  *values_ &= known;
}

void Graph::permute(std::span<const std::uint8_t> from) {
  std::array<std::uint8_t, kMostThreads> to{};
  for (std::size_t i = 0; i < threads_; ++i) to[from[i]] = static_cast<std::uint8_t>(i);
  // Four sets at once: a bit of each lane.
  const auto moved = [&](std::uint64_t sets) {
    std::uint64_t result = 0;
    for (std::size_t t = 0; t < threads_; ++t) result |= ((sets >> t) & kLaneOnes) << to[t];
    return result;
  };
  const std::size_t first_label = 1 + 2 * threads_;
  std::array<Nodes, 1 + 2 * kMostThreads + kLanes> rows{};
  std::copy_n(values_, first_label, rows.begin());
  for (std::size_t i = 0; i < first_label; i += kLanes) set_lanes(&rows[i], moved(lanes(&rows[i])));
  *values_ = rows[0];
  for (std::size_t i = 0; i < threads_; ++i) {
    before(i) = rows[1U + from[i]];
    past(i) = rows[1U + threads_ + from[i]];
  }
  for (std::size_t variable = 0; variable < variables_; ++variable) {
    Nodes* const sets = &labels(variable, kSRead);
    if (const std::uint64_t word = lanes(sets); word != 0) set_lanes(sets, moved(word));
  }
}

}  // namespace tomos::model
