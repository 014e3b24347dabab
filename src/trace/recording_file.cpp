#include "trace/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <expected>
#include <system_error>
#include <utility>

namespace tomos::recording {

namespace {

Error cannot(const std::string& verb, const std::string& path, int error) {
  return {path, fmt::format("cannot {}: {}", verb, std::generic_category().message(error)),
          error == ENOENT ? "Check the path, and that the program that was run could write there."
                          : "Make the file readable, or run as a user who may read it."};
}

}  // namespace

Result<std::unique_ptr<File>> File::open(const std::string& path) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return std::unexpected(cannot("open", path, errno));
  std::unique_ptr<File> file(new File(descriptor, path));
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return std::unexpected(cannot("read", path, errno));
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{path, "not a file", "Give the recording itself; a pipe cannot be read twice."});
  }
  file->size_ = static_cast<std::uint64_t>(status.st_size);
  return file;
}

File::~File() { ::close(descriptor_); }

Result<std::size_t> File::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(descriptor_, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(cannot("read", path_, errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Error File::error(std::uint64_t offset, std::string what, std::string remedy) const {
  return {fmt::format("{} at byte {}", path_, offset), std::move(what), std::move(remedy)};
}

Error File::damaged(std::uint64_t offset, const std::string& what) const {
  return error(offset, "damaged: " + what, "Run the program again to record it anew.");
}

}  // namespace tomos::recording
