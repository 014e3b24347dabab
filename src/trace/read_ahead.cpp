#include "trace/read_ahead.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <expected>
#include <mutex>
#include <optional>
#include <utility>

namespace tomos {

namespace {
constexpr std::size_t kBatches = 4;
constexpr std::chrono::milliseconds kPatience(200);
}  // namespace

// Shared by both threads, so that a thread left behind still has what it works on. A batch belongs
// to the producer from the moment it is free until it is ready; batches are made ready and taken in
// turn.
struct ReadAhead::Shared {
  std::unique_ptr<Source> inner;
  std::array<Batch, kBatches> batches;

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t made = 0;        // by the producer, ever
  std::size_t taken = 0;       // by the reader, ever
  std::optional<Error> error;  // stands behind the last batch made
  bool ended = false;          // nothing more will be made
  bool stop = false;           // nothing more is wanted
  bool gone = false;           // the producer is done with everything here

  void produce();
};

void ReadAhead::Shared::produce() {
  std::unique_lock lock(mutex);
  while (!ended) {
    changed.wait(lock, [this] { return stop || made - taken < kBatches; });
    if (stop) break;
    Batch& batch = batches[made % kBatches];
    lock.unlock();
    Result<void> got = inner->next(batch);
    lock.lock();
    if (got && !batch.events.empty()) {
      ++made;
    } else {
      ended = true;
      if (!got) error = std::move(got.error());
    }
    changed.notify_all();
  }
  gone = true;
  changed.notify_all();
}

ReadAhead::ReadAhead(std::unique_ptr<Source> inner) : shared_(std::make_shared<Shared>()) {
  shared_->inner = std::move(inner);
  thread_ = std::thread([shared = shared_] { shared->produce(); });
}

ReadAhead::~ReadAhead() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  const bool gone = shared_->changed.wait_for(lock, kPatience, [this] { return shared_->gone; });
  lock.unlock();
  if (gone) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

Result<void> ReadAhead::next(Batch& batch) {
  batch.events.clear();
  batch.gaps.clear();
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  shared.changed.wait(lock, [&shared] { return shared.ended || shared.made > shared.taken; });
  if (shared.made == shared.taken) {
    if (shared.error) return std::unexpected(*shared.error);
    return {};
  }
  std::swap(batch, shared.batches[shared.taken % kBatches]);
  ++shared.taken;
  shared.changed.notify_all();
  return {};
}

const Names& ReadAhead::names() const { return shared_->inner->names(); }

Source::Progress ReadAhead::progress() const { return shared_->inner->progress(); }

}  // namespace tomos
