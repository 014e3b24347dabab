#include "model/search.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "model/store.h"

namespace tomos::model {

namespace {

constexpr std::uint32_t kBatch = 256;          // states that are expanded together
constexpr std::size_t kMostBatches = 32;       // in a round: its successors fit in a cache
constexpr std::uint64_t kShareOfBatches = 16;  // they may take that part of the memory
constexpr std::uint64_t kLikelySuccessors =
    12;  // of a state; vectors that have grown take twice that

// Successors on their way to a shard.
struct Parcel {
  std::vector<std::uint64_t> states;
  std::vector<std::uint64_t> hashes;
  std::vector<StateId> parents;

  void clear() {
    states.clear();
    hashes.clear();
    parents.clear();
  }
};

struct Batch {
  std::size_t shard = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::array<Parcel, kShards> parcels;
  std::optional<StateId> failed;  // the first state from which a step goes wrong
  std::optional<StateId> stuck;   // the first one that is a deadlock: a step less
};

std::size_t shard_of(std::uint64_t hash) { return hash % kShards; }

class Search {
 public:
  Search(const Program& program, const SearchOptions& options)
      : program_(program),
        options_(options),
        memory_(options.memory - options.memory / kShareOfBatches) {
    for (unsigned i = 0; i < std::max(1U, options.jobs); ++i) {
      machines_.push_back(std::make_unique<Machine>(program, options.machine));
    }
    words_ = machines_[0]->words();
    const std::uint64_t batch = kBatch * kLikelySuccessors * (words_ + 2) * sizeof(std::uint64_t);
    most_batches_ = std::clamp<std::size_t>(options.memory / kShareOfBatches / batch, 1,
                                            std::max(kMostBatches, 4 * machines_.size()));
    for (std::size_t i = 0; i < kShards; ++i)
      shards_.emplace_back(words_, options.compact, memory_);
  }

  SearchResult run() {
    result_.state_bytes = words_ * sizeof(std::uint64_t);
    const bool begun = begin();
    if (begun && result_.end == SearchResult::End::kAll) {
      if (machines_.size() == 1) {
        levels([this] { work(0); });
      } else {
        with_threads();
      }
    }
    for (const Shard& shard : shards_) result_.states += shard.size();
    for (const auto& machine : machines_) result_.steps += machine->steps_taken();
    result_.bytes = memory_.used();
    return std::move(result_);
  }

 private:
  using End = SearchResult::End;

  // ---- the first states ----

  bool begin() {
    Machine& machine = *machines_[0];
    bool failed = false;
    const bool all = machine.initial([&](const Machine::Successor& first) {
      if (first.failure != Failure::kNone) {
        failed = true;
        return;
      }
      const std::uint64_t hash = hash_of(first.state);
      if (shards_[shard_of(hash)].insert(first.state, hash, kNoState) == Shard::Inserted::kNoRoom) {
        result_.end = End::kMemory;
      }
    });
    if (!all) result_.end = End::kInitial;
    if (failed) explain(kNoState);
    return all && !failed;
  }

  // ---- levels and rounds ----

  template <class Work>
  void levels(Work work) {
    std::array<std::uint32_t, kShards> done{};
    while (true) {
      std::array<std::uint32_t, kShards> end{};
      bool any = false;
      for (std::size_t i = 0; i < kShards; ++i) {
        end[i] = shards_[i].size();
        any = any || end[i] > done[i];
        shards_[i].begin_level();
      }
      if (!any) return;
      if (result_.depth >= options_.deepest) {
        result_.end = End::kDeepest;
        return;
      }
      std::size_t shard = 0;
      while (shard < kShards) {
        batches_used_ = 0;
        while (shard < kShards && batches_used_ < most_batches_) {
          if (done[shard] == end[shard]) {
            ++shard;
            continue;
          }
          if (batches_used_ == batches_.size()) batches_.push_back(std::make_unique<Batch>());
          Batch& batch = *batches_[batches_used_++];
          batch.shard = shard;
          batch.begin = done[shard];
          batch.end = std::min(end[shard], done[shard] + kBatch);
          done[shard] = batch.end;
        }
        if (!round(work)) return;
      }
      if (failed_) return explain(*failed_);
      if (std::ranges::any_of(shards_, [&, i = std::size_t{0}](const Shard& one) mutable {
            return one.size() > end[i++];
          })) {
        ++result_.depth;
      }
    }
  }

  template <class Work>
  bool round(Work work) {
    next_batch_ = 0;
    expanding_ = true;
    work();
    for (std::size_t i = 0; i < batches_used_; ++i) {
      if (const auto& stuck = batches_[i]->stuck) {
        explain(*stuck);
        return false;
      }
      if (!failed_) failed_ = batches_[i]->failed;
    }
    // The rest of the level is only asked for a deadlock.
    if (failed_) return true;
    next_batch_ = 0;
    expanding_ = false;
    work();
    if (no_room_) result_.end = End::kMemory;
    if (options_.progress) {
      SearchOptions::Progress now{.depth = result_.depth, .bytes = memory_.used()};
      for (const Shard& shard : shards_) now.states += shard.size();
      options_.progress(now);
    }
    if (result_.end == End::kAll && options_.stop && options_.stop()) result_.end = End::kStopped;
    return result_.end == End::kAll;
  }

  // Does its share of the phase.
  void work(std::size_t worker) {
    const std::size_t pieces = expanding_ ? batches_used_ : kShards;
    for (std::size_t i = next_batch_++; i < pieces; i = next_batch_++) {
      if (expanding_) {
        expand(*machines_[worker], *batches_[i]);
      } else {
        take_in(i);
      }
    }
  }

  void with_threads() {
    std::barrier barrier(static_cast<std::ptrdiff_t>(machines_.size()));
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < machines_.size(); ++i) {
      threads.emplace_back([this, &barrier, i] {
        while (true) {
          barrier.arrive_and_wait();
          if (finished_) return;
          work(i);
          barrier.arrive_and_wait();
        }
      });
    }
    levels([&] {
      barrier.arrive_and_wait();
      work(0);
      barrier.arrive_and_wait();
    });
    finished_ = true;
    barrier.arrive_and_wait();
  }

  void expand(Machine& machine, Batch& batch) {
    for (Parcel& parcel : batch.parcels) parcel.clear();
    batch.failed.reset();
    batch.stuck.reset();
    const Shard& shard = shards_[batch.shard];
    for (std::uint32_t number = batch.begin; number < batch.end && !batch.stuck; ++number) {
      const auto parent = static_cast<StateId>(number * kShards + batch.shard);
      machine.expand(shard.state(number), [&](const Machine::Successor& successor) {
        if (successor.failure == Failure::kDeadlock) {
          batch.stuck = parent;
          return;
        }
        if (successor.failure != Failure::kNone && !batch.failed) batch.failed = parent;
        if (batch.failed) return;
        const std::uint64_t hash = hash_of(successor.state);
        Parcel& parcel = batch.parcels[shard_of(hash)];
        parcel.states.insert(parcel.states.end(), successor.state.begin(), successor.state.end());
        parcel.hashes.push_back(hash);
        parcel.parents.push_back(parent);
      });
    }
  }

  // What a parcel needs from memory is asked for two parcels before, so that it is there in time.
  void take_in(std::size_t number) {
    Shard& shard = shards_[number];
    const auto hashes = [&](std::size_t batch) {
      return batch < batches_used_ ? std::span(batches_[batch]->parcels[number].hashes)
                                   : std::span<std::uint64_t>();
    };
    for (const std::uint64_t hash : hashes(0)) shard.expect(hash);
    for (const std::uint64_t hash : hashes(1)) shard.expect(hash);
    for (const std::uint64_t hash : hashes(0)) shard.expect_soon(hash);
    for (std::size_t i = 0; i < batches_used_; ++i) {
      for (const std::uint64_t hash : hashes(i + 2)) shard.expect(hash);
      for (const std::uint64_t hash : hashes(i + 1)) shard.expect_soon(hash);
      const Parcel& parcel = batches_[i]->parcels[number];
      for (std::size_t at = 0; at < parcel.hashes.size(); ++at) {
        const std::span state = std::span(parcel.states).subspan(at * words_, words_);
        if (shard.insert(state, parcel.hashes[at], parcel.parents[at]) ==
            Shard::Inserted::kNoRoom) {
          no_room_ = true;
          return;
        }
      }
    }
  }

  // ---- the run that leads to a failure ----

  void explain(StateId last) {
    std::vector<StateId> path;
    for (StateId at = last; at != kNoState; at = shards_[at % kShards].parent(at / kShards)) {
      path.push_back(at);
    }
    std::ranges::reverse(path);

    Machine machine(program_, options_.machine);
    machine.record_steps(true);
    const std::size_t threads = program_.threads.size();
    std::vector<std::uint8_t> thread_at(threads);  // which thread stands at this place of the state
    for (std::size_t i = 0; i < threads; ++i) thread_at[i] = static_cast<std::uint8_t>(i);
    std::vector<std::uint64_t> state;
    std::size_t at = 0;
    bool found = false;
    // Takes the successor that is next on the path, or after its end the one that fails.
    const auto take = [&](const Machine::Successor& next) {
      if (found) return;
      if (at == path.size()) {
        if (next.failure == Failure::kNone) return;
        result_.failure = next.failure;
      } else {
        if (next.failure != Failure::kNone) return;
        const std::uint64_t hash = hash_of(next.state);
        const Shard& shard = shards_[path[at] % kShards];
        if (shard_of(hash) != path[at] % kShards ||
            !shard.is(path[at] / kShards, next.state, hash)) {
          return;
        }
      }
      found = true;
      for (Step step : next.steps) {
        step.thread = thread_at[step.thread];
        for (Step::Event& event : step.events) {
          if (event.op == Op::kFork || event.op == Op::kJoin)
            event.object = thread_at[event.object];
        }
        result_.run.push_back(std::move(step));
      }
      state.assign(next.state.begin(), next.state.end());
      if (next.from.empty()) return;
      std::vector<std::uint8_t> moved(threads);
      for (std::size_t i = 0; i < threads; ++i) moved[i] = thread_at[next.from[i]];
      thread_at = std::move(moved);
    };
    machine.initial(take);
    for (; found && at < path.size();) {
      ++at;
      found = false;
      machine.expand(state, take);
    }
    if (result_.failure == Failure::kDeadlock) note_where_it_ends(machine, last, thread_at);
    if (!found) throw std::logic_error("the run that leads to a failure cannot be found again");
    result_.end = End::kFailure;
  }

  void note_where_it_ends(const Machine& machine, StateId last,
                          const std::vector<std::uint8_t>& thread_at) {
    const std::vector<Value> values =
        machine.unpacked(shards_[last % kShards].state(last / kShards));
    result_.places.resize(thread_at.size());
    for (std::size_t i = 0; i < thread_at.size(); ++i) {
      result_.places[thread_at[i]] = values[program_.threads[i].field];
    }
    for (std::size_t i = 0; i < program_.locks.size(); ++i) {
      const Value owner = values[program_.first_lock + i];
      result_.owners.push_back(owner == 0 ? Value{0}
                                          : static_cast<Value>(thread_at[owner - 1U] + 1));
    }
  }

  const Program& program_;
  const SearchOptions& options_;
  Memory memory_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::size_t words_ = 0;
  std::vector<Shard> shards_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::size_t batches_used_ = 0;
  std::size_t most_batches_ = 1;
  std::atomic<std::size_t> next_batch_ = 0;
  std::optional<StateId> failed_;
  bool expanding_ = true;
  bool finished_ = false;
  std::atomic<bool> no_room_ = false;
  SearchResult result_;
};

}  // namespace

SearchResult search(const Program& program, const SearchOptions& options) {
  return Search(program, options).run();
}

}  // namespace tomos::model
