#include "trace/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "trace/open.h"

namespace tomos {

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string remedy_for_open(int error) {
  if (error == ENOENT) return "Check the path; '-' reads from standard input.";
  if (error == EACCES) return "Make the file readable, or run as a user who may read it.";
  return "Give a trace file (.tomos or STD text), or '-' for standard input.";
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "<stdin>" : path; }

Result<std::unique_ptr<Input>> Input::open(const std::string& path) {
  int descriptor = STDIN_FILENO;
  if (path != "-") {
    do {
      descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) {
      const int error = errno;
      return std::unexpected(Error{path, "cannot open: " + reason(error), remedy_for_open(error)});
    }
  }
  auto input = std::make_unique<Input>(descriptor, input_name(path));
  input->owned_ = path != "-";
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) {
    const int error = errno;
    return std::unexpected(
        Error{input->name_, "cannot read: " + reason(error), remedy_for_open(error)});
  }
  if (S_ISDIR(status.st_mode)) {
    return std::unexpected(
        Error{input->name_, "is a directory", "Give the trace files in it one by one."});
  }
  return input;
}

Input::Input(int descriptor, std::string name)
    : descriptor_(descriptor), owned_(true), name_(std::move(name)), block_(kBlock) {
  struct stat status = {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    size_ = static_cast<std::uint64_t>(status.st_size);
    ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
}

Input::Input(std::string_view memory, std::string name, std::size_t block)
    : memory_(memory), name_(std::move(name)), block_(block), size_(memory.size()) {}

Input::~Input() {
  if (owned_) ::close(descriptor_);
}

void Input::consume(std::size_t bytes) {
  begin_ += bytes;
  done_.store(offset() + bytes, std::memory_order_relaxed);
}

Result<bool> Input::more() {
  const std::size_t kept = end_ - begin_;
  if (capacity_ - end_ < block_ && begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, kept);
    begin_ = 0;
    end_ = kept;
  }
  if (capacity_ - end_ < block_) {
    const std::size_t wanted = std::max(2 * capacity_, kept + block_);
    auto grown = std::make_unique_for_overwrite<char[]>(wanted + kPadding);
    if (kept > 0) std::memcpy(grown.get(), buffer_.get(), kept);
    std::memset(grown.get() + kept, 0, wanted + kPadding - kept);
    buffer_ = std::move(grown);
    capacity_ = wanted;
  }
  Result<std::size_t> got = read_some(buffer_.get() + end_, block_);
  if (!got) return std::unexpected(std::move(got.error()));
  end_ += *got;
  return *got > 0;
}

Result<bool> Input::fill(std::size_t bytes) {
  while (view().size() < bytes) {
    Result<bool> any = more();
    if (!any || !*any) return any;
  }
  return true;
}

Result<std::size_t> Input::read_some(char* to, std::size_t room) {
  if (descriptor_ < 0) {
    const std::size_t size = std::min(room, memory_.size());
    if (size > 0) std::memcpy(to, memory_.data(), size);
    memory_.remove_prefix(size);
    return size;
  }
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, room);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno == EAGAIN) {
      pollfd waiting = {.fd = descriptor_, .events = POLLIN, .revents = 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      const int error = errno;
      return std::unexpected(Error{name_, "cannot read: " + reason(error),
                                   "Check that the file and the disk it is on are in order."});
    }
  }
}

}  // namespace tomos
