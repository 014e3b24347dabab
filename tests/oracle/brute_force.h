// What is true of a trace, found by brute force. Nothing here is shared with the monitors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "event/event.h"
#include "monitor/analyses.h"

namespace tomos::oracle {

inline constexpr std::size_t kNever = SIZE_MAX;

struct Transaction {
  ThreadId thread = 0;
  bool single = false;        // one event outside begin and end: never active
  std::size_t outermost = 0;  // the begin it comes from; a single one: its event
  std::size_t begin = 0;      // that, or the fork, join or barrier that split it
  std::size_t end = kNever;   // the event that ended it
};

// The trace cut into transactions, and the order between any two of its events.
struct Order {
  std::span<const Event> events;
  Edges edges = Edges::kData;
  std::vector<Transaction> transactions;
  std::vector<std::size_t> transaction_of;  // for each event; kNever: it takes no part in the order
  std::vector<std::size_t> freed;  // for each event: how often its variable was freed before
  std::vector<bool>
      nested;  // for each event: an acquire or release inside a longer hold of its lock

  // Whether event i must come before the later event j for what they do to each other: a conflict,
  // or synchronisation.
  bool across(std::size_t i, std::size_t j) const;
  // The same, or because one thread did both.
  bool before(std::size_t i, std::size_t j) const;
};

Order order_of(std::span<const Event> events, Edges edges);

struct Truth {
  std::optional<std::size_t>
      first_cycle;  // the event that closes the first cycle of the whole conflict graph
  std::vector<std::uint64_t> violating;  // every violating event, going on after each
};

Truth brute_force(const Order& order);

}  // namespace tomos::oracle
