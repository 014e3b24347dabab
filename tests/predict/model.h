// What the predictive analyses are about: the set T of transactions of an observed trace, with the
// synchronisation around them (Wang & Stoller, section 2). Written from the definitions; nothing
// here is shared with the analyses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "event/event.h"

namespace tomos::predict {

inline constexpr std::size_t kNone = SIZE_MAX;

// An event that an interleaving can move: an access, or synchronisation. What else a thread does
// (begin, end, new, escape, free, exit, accesses to what has not escaped) changes nothing for
// anybody, so it is left out.
struct Step {
  std::size_t event = 0;  // its place in the observed trace
  Op op = Op::kRead;
  // Variable (every life between two frees is one of its own), lock, thread, meeting at a barrier,
  // or for a wait its place in Model::awaited.
  std::uint32_t object = 0;
  std::size_t transaction = kNone;  // kNone: synchronisation outside of transactions

  bool same_but_place(const Step& other) const {
    return op == other.op && object == other.object && transaction == other.transaction;
  }
};

struct Transaction {
  ThreadId thread = 0;
  bool single = false;        // one access outside begin and end
  std::size_t outermost = 0;  // the begin it comes from; a single one: its event
  std::size_t begin = 0;      // that, or what split it: fork, join, barrier, signal, wait
};

// A step of a thread.
struct Place {
  ThreadId thread = 0;
  std::size_t position = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
};

struct Model {
  std::vector<std::vector<Step>> threads;
  std::vector<Transaction> transactions;  // by thread, in its order; only those that have steps
  std::vector<std::optional<Place>> forked_by;  // for each thread
  std::vector<std::vector<Place>> meetings;  // who arrives; nobody passes before all have arrived
  std::vector<std::vector<Place>> awaited;   // for each wait: the signals that it comes after
  std::uint32_t variables = 0;
  std::uint32_t locks = 0;

  const Step& at(const Place& place) const { return threads[place.thread][place.position]; }
};

struct ModelOptions {
  bool escape = true;          // false: accesses before the escape count
  bool happens_before = true;  // false: fork, join, barrier and signals order nothing
};

Model model_of(std::span<const Event> trace, const ModelOptions& options = {});

// Whether two observed traces are about the same T.
bool same_model(const Model& a, const Model& b);

// T = `kept` alone: the accesses of the other transactions are gone, all synchronisation stays.
Model only_transactions(const Model& model, std::span<const std::size_t> kept);

// The accesses to other variables are gone.
Model only_variable(const Model& model, std::uint32_t variable);

}  // namespace tomos::predict
