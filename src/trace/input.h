// The bytes of a trace: a file descriptor read in big blocks, or memory.
//
// Plain read() rather than mmap: it works the same on files, pipes and files that grow, and a file
// that shrinks while it is read is an early end rather than a crash.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "event/error.h"
#include "event/source.h"

namespace tomos {

class Input {
 public:
  // Bytes behind the end of view() that may be read (not trusted), so that scanners need no bounds
  // check a byte.
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kBlock = std::size_t{1} << 18;

  // "-" is standard input.
  static Result<std::unique_ptr<Input>> open(const std::string& path);
  // Takes over the descriptor.
  Input(int descriptor, std::string name);
  // Reads `memory`, which must outlive it, `block` bytes at a time (tests make it small).
  Input(std::string_view memory, std::string name, std::size_t block = kBlock);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  // What messages call it.
  const std::string& name() const { return name_; }

  // Bytes read and not consumed yet. Valid until the next call of more().
  std::string_view view() const { return {buffer_.get() + begin_, end_ - begin_}; }
  void consume(std::size_t bytes);
  // Where view() starts in the input.
  std::uint64_t offset() const { return done_.load(std::memory_order_relaxed); }

  // Reads some more bytes behind view(), which may move; false at the end of the input.
  Result<bool> more();
  // Reads until view() has at least `bytes` bytes; false when the input ends before.
  Result<bool> fill(std::size_t bytes);

  Source::Progress progress() const { return {.done = offset(), .size = size_}; }

 private:
  Result<std::size_t> read_some(char* to, std::size_t room);

  int descriptor_ = -1;
  bool owned_ = false;
  std::string_view memory_;
  std::string name_;
  std::size_t block_;
  std::uint64_t size_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::atomic<std::uint64_t> done_ = 0;
};

}  // namespace tomos
