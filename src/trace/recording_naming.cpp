#include "trace/recording_naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/limits.h"

namespace tomos::recording {

void Objects::free(std::uint64_t address, std::uint64_t size) {
  if (size == 0) return;
  auto object = objects_.upper_bound(address);
  if (object != objects_.begin()) {
    const auto before = std::prev(object);
    if (before->second.address + before->second.length > address) object = before;
  }
  while (object != objects_.end() && object->first < address + size) {
    object = objects_.erase(object);
  }
}

void Objects::add(const Object& object) {
  free(object.address, object.length);
  if (object.length > 0) objects_.insert_or_assign(object.address, object);
}

const Object* Objects::find(std::uint64_t address) const {
  auto object = objects_.upper_bound(address);
  if (object == objects_.begin()) return nullptr;
  --object;
  return address - object->first < object->second.length ? &object->second : nullptr;
}

std::uint32_t& Lives::at(std::uint64_t address) {
  std::vector<Life>& lives = pages_.at(address / kPage);
  auto life = std::ranges::find(lives, address, &Life::address);
  if (life == lives.end()) life = lives.insert(life, {.address = address});
  return life->id;
}

// A name that no other object of its kind has. In STD text two objects of one name would be one.
std::uint32_t Naming::add(NameKind kind, std::string text, std::uint64_t address) {
  constexpr std::size_t kRoom = 16;  // for the number behind it
  if (text.empty()) text = fmt::format("{:#x}", address);
  if (text.size() > kMaxName - kRoom) text.resize(kMaxName - kRoom);
  const std::uint32_t known = names_.count(kind);
  const std::uint32_t id = names_.intern(kind, text);
  if (id >= known) return id;
  std::vector<std::uint32_t>& repeats = repeats_[static_cast<std::size_t>(kind)];
  if (id >= repeats.size()) repeats.resize(names_.count(kind), 1);
  for (;;) {
    const std::uint32_t numbered = names_.intern(kind, fmt::format("{} #{}", text, ++repeats[id]));
    if (numbered >= known) return numbered;
  }
}

ThreadId Naming::thread(std::uint64_t number) {
  if (const ThreadId* known = threads_.find(number)) return *known;
  const auto thread = std::ranges::lower_bound(tables_.threads, number, {}, &Thread::number);
  const bool found = thread != tables_.threads.end() && thread->number == number;
  std::string name = found ? source_.thread(*thread) : std::string();
  if (name.empty()) name = number == 0 ? "main" : fmt::format("T{}", number);
  return threads_.at(number) = add(NameKind::kThread, std::move(name), number);
}

LocationId Naming::location(std::uint64_t pc, std::uint64_t stack) {
  if (pc == 0) return 0;
  const LocationId* const known = locations_.find(pc);
  if (known != nullptr && *known != kByStack) return *known;
  if (known == nullptr && is_users(pc)) {
    return locations_.at(pc) = add_location(source_.location(pc), stack);
  }
  locations_.at(pc) = kByStack;
  const auto [at, is_new] = by_stack_.try_emplace({pc, stack});
  if (is_new) at->second = add_location(source_.location(pc, tables_.stacks.find(stack)), stack);
  return at->second;
}

LocationId Naming::add_location(std::string text, std::uint64_t stack) {
  if (text.size() > kMaxName) text.resize(kMaxName);
  const LocationId id = names_.intern(NameKind::kLocation, text);
  if (id >= stacks_.size()) stacks_.resize(id + std::size_t{1});
  if (stacks_[id] == 0) stacks_[id] = stack;
  return id;
}

std::span<const std::uint64_t> Naming::stack(LocationId location) const {
  if (location == 0 || location >= stacks_.size()) return {};
  return tables_.stacks.find(stacks_[location]);
}

bool Naming::is_users(std::uint64_t pc) {
  if (const bool* known = users_.find(pc)) return *known;
  return users_.at(pc) = source_.is_users(pc);
}

Naming::Begin Naming::label(std::uint64_t number) {
  if (const Begin* known = labels_.find(number)) return *known;
  Begin& begin = labels_.at(number);
  const auto found = tables_.labels.find(number);
  if (found == tables_.labels.end()) return begin;
  const Label& label = found->second;
  const auto cut = [](std::string_view text) { return text.substr(0, kMaxName); };
  begin.label = names_.intern(NameKind::kLabel, cut(label.name));
  if (!label.file.empty()) {
    begin.location = names_.intern(NameKind::kLocation, cut(source_.location(label)));
  }
  return begin;
}

LockId Naming::add_lock(std::uint64_t address, std::uint64_t pc) {
  return add(NameKind::kLock, source_.lock(address, pc, objects_.find(address)), address);
}

LockId Naming::add_atomic(VariableId variable) {
  return add(NameKind::kLock, fmt::format("atomic {}", names_.view(NameKind::kVariable, variable)),
             variable);
}

std::uint32_t Naming::add_barrier(std::uint64_t address, std::uint64_t pc) {
  return add(NameKind::kBarrier, source_.lock(address, pc, objects_.find(address)), address);
}

Naming::Origin Naming::origin(std::uint64_t address, std::uint64_t size, std::uint64_t pc) const {
  const Object* const object = objects_.find(address);
  if (object == nullptr) return {.object = 0, .pc = pc, .size = size};
  return {.object = object->address, .pc = object->pc, .size = size};
}

VariableId Naming::add_variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc) {
  origins_.push_back(origin(address, size, pc));
  return add(NameKind::kVariable, source_.variable(address, size, pc, objects_.find(address)),
             address);
}

bool Naming::same_variable(VariableId variable, std::uint64_t address, std::uint64_t size,
                           std::uint64_t pc) const {
  return origins_[variable] == origin(address, size, pc);
}

}  // namespace tomos::recording
