// Explicit breadth-first search through all states of a program, monitor included.
//
// A level is gone through in rounds. First the threads expand its next states, each in a batch of
// its own, and sort the successors by shard; then each shard takes in what belongs to it, batch
// after batch. So no table is ever used by two threads at once, and what is found, in which order,
// and from where, is the same however many threads there are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/machine.h"
#include "model/program.h"

namespace tomos::model {

struct SearchOptions {
  MachineOptions machine;
  unsigned jobs = 1;
  std::uint64_t memory = std::uint64_t{1} << 30U;  // bytes
  bool compact = false;                            // keep only hashes: no proof
  std::uint64_t deepest = ~std::uint64_t{0};       // levels to look at
  // Asked between rounds: whether to give up.
  std::function<bool()> stop;
  struct Progress {
    std::uint64_t states = 0;
    std::uint64_t depth = 0;
    std::uint64_t bytes = 0;
  };
  std::function<void(const Progress&)> progress;
};

struct SearchResult {
  enum class End : std::uint8_t {
    kAll,      // every state was looked at
    kFailure,  // see `failure` and `run`
    kMemory,   // the limit was reached
    kStopped,
    kDeepest,
    kInitial,  // too many first states
  };
  End end = End::kAll;
  Failure failure = Failure::kNone;
  std::vector<Step> run;  // threads by their number in the program
  // Where it ends, for a deadlock: the place of each thread, and the owner of each lock (thread +
  // 1).
  std::vector<Value> places;
  std::vector<Value> owners;
  std::uint64_t states = 0;
  std::uint64_t steps = 0;  // taken, also those to states that are passed through
  std::uint64_t depth = 0;  // of the search, in levels
  std::uint64_t bytes = 0;
  std::size_t state_bytes = 0;  // of one packed state
};

SearchResult search(const Program& program, const SearchOptions& options);

}  // namespace tomos::model
