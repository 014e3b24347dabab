// Makes recordings by hand, as the runtime would write them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/recording_format.h"

namespace tomos::test {

class RecordingWriter {
 public:
  using Op = recording::Op;
  using Slot = recording::Slot;

  recording::Header header = {.magic = recording::kMagic,
                              .version = recording::kVersion,
                              .pid = 42,
                              .next_chunk = recording::kHeaderSize,
                              .ending = recording::Ending::kExited};

  // A record of a thread, with the stamp it has.
  void put(std::uint64_t thread, std::uint64_t stamp, Op op, std::uint64_t value = 0,
           std::uint64_t pc = 0, std::uint8_t small = 0, const std::vector<Slot>& extra = {}) {
    State& state = threads_[thread];
    if (!state.placed || left(state) < extra.size() + 2) new_chunk(thread, stamp);
    if (stamp - state.stamp > 0xffff) {
      push(state, {recording::pack_a(Op::kTime, 0, 0), stamp});
      state.stamp = stamp;
    }
    const auto delta = static_cast<std::uint16_t>(stamp - std::exchange(state.stamp, stamp));
    push(state, {recording::pack_a(op, small, value), recording::pack_b(delta, pc)});
    for (const Slot& slot : extra) push(state, slot);
  }

  // A record that ends in text.
  void put_text(std::uint64_t thread, std::uint64_t stamp, Op op, std::uint64_t value,
                std::uint8_t small, std::vector<Slot> extra, std::string_view text) {
    extra.back().b = text.size();
    for (std::size_t at = 0; at < text.size(); at += sizeof(Slot)) {
      Slot slot = {};
      std::memcpy(&slot, text.data() + at, std::min(sizeof(Slot), text.size() - at));
      extra.push_back(slot);
    }
    put(thread, stamp, op, value, 0, small, extra);
  }

  void new_chunk(std::uint64_t thread, std::uint64_t stamp) {
    chunks_.emplace_back();
    threads_[thread].chunk = chunks_.size() - 1;
    take_over(thread, stamp);
  }

  // The rest of the chunk of one thread is now another's.
  void hand_over(std::uint64_t from, std::uint64_t to, std::uint64_t stamp) {
    threads_[from].placed = false;
    threads_[to].chunk = threads_[from].chunk;
    take_over(to, stamp);
  }

  std::string bytes() const {
    recording::Header complete = header;
    complete.next_chunk += chunks_.size() * recording::kChunkSize;
    std::string bytes(complete.next_chunk, '\0');
    std::memcpy(bytes.data(), &complete, sizeof(complete));
    std::size_t at = recording::kHeaderSize;
    for (const std::vector<Slot>& chunk : chunks_) {
      std::memcpy(bytes.data() + at, chunk.data(), chunk.size() * sizeof(Slot));
      at += recording::kChunkSize;
    }
    return bytes;
  }

 private:
  struct State {
    bool placed = false;
    std::size_t chunk = 0;
    std::uint64_t stamp = 0;
  };
  void take_over(std::uint64_t thread, std::uint64_t stamp) {
    State& state = threads_[thread];
    state.placed = true;
    state.stamp = stamp;
    push(state, {recording::pack_a(Op::kThread, 0, thread), stamp});
  }
  void push(const State& state, const Slot& slot) { chunks_[state.chunk].push_back(slot); }
  std::size_t left(const State& state) const {
    return recording::kSlotsPerChunk - chunks_[state.chunk].size();
  }

  std::map<std::uint64_t, State> threads_;
  std::vector<std::vector<Slot>> chunks_;
};

// A file in memory, with a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes)
      : descriptor_(memfd_create("recording", MFD_CLOEXEC)) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written <= 0) break;
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
  void truncate(std::size_t size) const {
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) std::abort();
  }

 private:
  int descriptor_;
};

}  // namespace tomos::test
