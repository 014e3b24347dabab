#include "campaign/output_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tomos::campaign {

namespace {

constexpr off_t kTail = 4096;
constexpr off_t kKept = off_t{1} << 20;
constexpr std::size_t kLines = 12;

off_t size_of(int descriptor) {
  struct stat about = {};
  return ::fstat(descriptor, &about) == 0 ? about.st_size : 0;
}

}  // namespace

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<OutputFile> OutputFile::make() {
  const int descriptor = ::memfd_create("output", MFD_CLOEXEC);
  // Both streams write at its end, also if the program opens one of them anew.
  if (descriptor >= 0 && ::fcntl(descriptor, F_SETFL, O_APPEND) == 0) return OutputFile(descriptor);
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  return std::unexpected(Error{.where = "fuzz",
                               .what = "cannot make a file for the program's output: " +
                                       std::error_code(error, std::generic_category()).message(),
                               .remedy = "Run fewer trials at a time (--jobs), or raise the "
                                         "limits of this shell (ulimit -n)."});
}

void OutputFile::clear() { (void)::ftruncate(descriptor_, 0); }

void OutputFile::forget_beginning() {
  const off_t size = size_of(descriptor_);
  if (size <= 2 * kKept) return;
  (void)::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size - kKept);
}

std::string OutputFile::tail() const {
  const off_t size = size_of(descriptor_);
  const off_t from = std::max<off_t>(0, size - kTail);
  std::string text(static_cast<std::size_t>(size - from), '\0');
  const ssize_t got = ::pread(descriptor_, text.data(), text.size(), from);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t lines = 0; lines < kLines && begin > 0 && begin != std::string::npos; ++lines) {
    begin = text.rfind('\n', begin - 1);
  }
  if (begin != std::string::npos && begin < text.size() && text[begin] == '\n') ++begin;
  return begin == std::string::npos || begin == text.size() ? text : text.substr(begin);
}

}  // namespace tomos::campaign
