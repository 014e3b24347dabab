#include "campaign/area_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace tomos::campaign {

using schedule::Area;

namespace {

template <class T>
std::vector<T> copied(const T* first, std::uint32_t count, std::uint32_t most) {
  return {first, first + std::min(count, most)};
}

Error no_memory(int error) {
  return {.where = "fuzz",
          .what = "cannot share memory with the program: " +
                  std::error_code(error, std::generic_category()).message(),
          .remedy =
              "Run fewer trials at a time (--jobs), or raise the limits of this shell "
              "(ulimit -n, ulimit -v)."};
}

}  // namespace

AreaFile::AreaFile(int descriptor, Area* area)
    : descriptor_(descriptor),
      area_(area),
      path_(fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor)) {}

AreaFile::AreaFile(AreaFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      area_(std::exchange(other.area_, nullptr)),
      path_(std::move(other.path_)) {}

AreaFile::~AreaFile() {
  if (area_ != nullptr) ::munmap(area_, sizeof(Area));
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<AreaFile> AreaFile::make() {
  const int descriptor = ::memfd_create("tomos-schedule", MFD_CLOEXEC);
  if (descriptor < 0) return std::unexpected(no_memory(errno));
  void* area = MAP_FAILED;
  if (::ftruncate(descriptor, sizeof(Area)) == 0) {
    area = ::mmap(nullptr, sizeof(Area), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  if (area == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor);
    return std::unexpected(no_memory(error));
  }
  return AreaFile(descriptor, static_cast<Area*>(area));
}

void AreaFile::prepare(const Order& order) {
  // Choices count only as far as their counts say, and are left as they are: to clear them all
  // would take longer than a small trial. Neither may the file be cut and made anew: a process of
  // an earlier trial that has outlived it would die of its mapping.
  std::memset(static_cast<void*>(&area_->trial), 0, sizeof(area_->trial));
  std::memset(&area_->seen, 0, sizeof(area_->seen));
  area_->profile = order.profile == nullptr ? schedule::Profile{} : *order.profile;
  area_->aim = order.aim;
  area_->log.count = 0;
  area_->magic = schedule::kMagic;
  area_->size = sizeof(Area);
  area_->settings = order.settings;
  const std::size_t count = std::min<std::size_t>(order.choices.size(), schedule::kMaxChoices);
  std::copy_n(order.choices.begin(), count, area_->replayed);
  area_->settings.choice_count = static_cast<std::uint32_t>(count);
  area_->stretch_count = std::min<std::size_t>(order.stretches.size(), schedule::kMaxStretches);
  std::copy_n(order.stretches.begin(), area_->stretch_count, area_->stretches);
  std::copy_n(order.ranges.begin(),
              std::min<std::size_t>(order.ranges.size(), schedule::kMaxRanges), area_->ranges);
}

void AreaFile::read(Trial& trial, bool with_choices) const {
  const schedule::Trial& from = area_->trial;
  trial.started = from.started.load() > 0;
  trial.flags = from.flags;
  trial.steps = from.steps;
  trial.switches = from.switches;
  trial.preemptions = from.preemptions;
  trial.hash = from.hash;
  trial.threads = from.threads;
  trial.doubtful = from.doubtful;
  trial.warnings = from.warnings;
  trial.diverged_at = from.diverged_at;
  trial.followed = from.followed;
  trial.let_go.assign(from.let_go, ::strnlen(from.let_go, sizeof(from.let_go)));
  trial.violations = copied(from.violations, from.violation_count, schedule::kMaxViolations);
  trial.waiting = copied(from.waiting, from.waiting_count, schedule::kMaxWaiting);
  trial.modules = copied(from.modules, from.module_count, schedule::kMaxModules);
  trial.thread_infos = copied(from.thread_infos, from.threads, schedule::kMaxThreadInfos);
  trial.signal_thread = from.signal_thread;
  trial.signal_address = from.signal_address;
  trial.signal_place = from.signal_place;
  auto seen = std::make_shared<schedule::Profile>(area_->seen);
  seen->place_count = std::min(seen->place_count, schedule::kMaxPlaces);
  seen->thread_count = std::min(seen->thread_count, schedule::kMaxProfiled);
  trial.seen = std::move(seen);
  trial.log = copied(area_->log.steps, area_->log.count, schedule::kMaxLogged);
  if (with_choices) {
    trial.choices = copied(area_->choices, from.choice_count, schedule::kMaxChoices);
  }
  for (schedule::Violation& violation : trial.violations) {
    violation.block.name[sizeof(violation.block.name) - 1] = 0;
  }
  for (schedule::Module& module : trial.modules) module.path[sizeof(module.path) - 1] = 0;
}

void AreaFile::survive_exec() const { (void)::fcntl(descriptor_, F_SETFD, 0); }

}  // namespace tomos::campaign
