#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/command.h"
#include "cli/errors.h"
#include "cli/interrupt.h"

namespace tomos {

namespace {

namespace fs = std::filesystem;

Error cannot(std::string_view where, const std::string& what, int error) {
  return {.where = std::string(where),
          .what = what + ": " + std::error_code(error, std::generic_category()).message(),
          .remedy =
              error == ENOSPC
                  ? "Make room on the disk, or write somewhere else."
                  : "Check that the folder exists and may be written to, or write somewhere else."};
}

Result<void> write_all(int descriptor, std::string_view name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(descriptor, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return std::unexpected(cannot(name, "cannot write", errno));
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

Result<void> write_to(int descriptor, std::string_view text) {
  return write_all(descriptor, descriptor == STDERR_FILENO ? "standard error" : "standard output",
                   text);
}

int print(std::string_view text) {
  const auto written = write_to(STDOUT_FILENO, text);
  if (written) return kNothingFound;
  print_error(written.error());
  return kBadInput;
}

NewFile::NewFile(std::string target, std::string temporary)
    : target_(std::move(target)), temporary_(std::move(temporary)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})) {}

Result<NewFile> NewFile::at(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return std::unexpected(cannot(path, "cannot write", EISDIR));
  if (fs::exists(status) && !fs::is_regular_file(status)) return NewFile(path, "");
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) {
    return std::unexpected(cannot(path, "cannot write", errno));
  }
  // Through a link, the file it points to is replaced, not the link.
  error.clear();
  const fs::path real = fs::exists(status) ? fs::canonical(path, error) : fs::path(path);
  if (error) return std::unexpected(cannot(path, "cannot write", error.value()));

  std::string temporary = real.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return std::unexpected(cannot(path, "cannot write", errno));
  remove_on_death(temporary);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat old = {};
  const mode_t mode = ::stat(real.c_str(), &old) == 0 ? old.st_mode & 07777U : 0666U & ~mask;
  (void)::fchmod(descriptor, mode);  // the content matters more than the mode
  ::close(descriptor);
  return NewFile(real.string(), std::move(temporary));
}

NewFile::~NewFile() {
  if (!temporary_.empty()) remove_unfinished();
}

Result<void> NewFile::write(std::string_view text) const {
  const int descriptor = ::open(path().c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0) return std::unexpected(cannot(target_, "cannot write", errno));
  auto written = write_all(descriptor, target_, text);
  if (::close(descriptor) != 0 && written) {
    return std::unexpected(cannot(target_, "cannot write", errno));
  }
  return written;
}

Result<void> NewFile::commit() {
  if (temporary_.empty()) return {};
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    return std::unexpected(cannot(target_, "cannot write", errno));
  }
  temporary_.clear();
  remove_on_death("");
  return {};
}

}  // namespace tomos
