#include "trace/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <expected>
#include <system_error>
#include <utility>

namespace tomos {

Result<std::unique_ptr<Output>> Output::create(const std::string& path) {
  if (path == "-") {
    auto output = std::make_unique<Output>(STDOUT_FILENO, "<stdout>");
    output->owned_ = false;
    return output;
  }
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) {
    return std::unexpected(
        Error{path, "cannot create: " + std::generic_category().message(errno),
              "Check that the directory exists and may be written to, or give another path."});
  }
  return std::make_unique<Output>(descriptor, path);
}

Output::Output(int descriptor, std::string name)
    : descriptor_(descriptor), owned_(true), name_(std::move(name)) {}

Output::Output(std::string& memory) : memory_(&memory), name_("memory") {}

Output::~Output() {
  if (owned_) ::close(descriptor_);
}

std::unexpected<Error> Output::failed() const {
  std::string remedy = "Check the disk and the permissions, then write it again.";
  if (error_ == ENOSPC || error_ == EDQUOT) remedy = "Free some space, or write to another disk.";
  if (error_ == EPIPE) remedy = "The program that reads the pipe ended early: see why.";
  if (error_ == EFBIG) remedy = "Raise the limit on file sizes (ulimit -f).";
  return std::unexpected(
      Error{name_, "cannot write: " + std::generic_category().message(error_), std::move(remedy)});
}

Result<void> Output::write(std::string_view bytes) {
  if (memory_ != nullptr) {
    memory_->append(bytes);
    return {};
  }
  while (!bytes.empty()) {
    if (error_ != 0) return failed();
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd waiting = {.fd = descriptor_, .events = POLLOUT, .revents = 0};
      ::poll(&waiting, 1, -1);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return {};
}

Result<void> Output::close() {
  if (owned_ && ::close(descriptor_) != 0 && error_ == 0) error_ = errno;
  owned_ = false;
  if (error_ != 0) return failed();
  return {};
}

}  // namespace tomos
