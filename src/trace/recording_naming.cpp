#include "trace/recording_naming.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/limits.h"

namespace tomos::recording {

namespace {

std::string_view cut(std::string_view text) { return text.substr(0, kMaxName); }

}  // namespace

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

std::uint32_t Naming::add(NameKind kind, std::uint64_t address, std::uint64_t size,
                          std::uint64_t pc, const Object* object) {
  constexpr std::uint64_t kMost = kAtomic - 1;
  made(kind).origins.push_back({.address = address,
                                .pc = pc,
                                .size = static_cast<std::uint32_t>(std::min(size, kMost)),
                                .object = keep(object)});
  return names_.add_unnamed(kind);
}

std::uint32_t Naming::keep(const Object* object) {
  if (object == nullptr) return 0;
  std::uint32_t& newest = newest_kept_.at(object->address);
  if (newest == 0 || kept_[newest - 1] != *object) {
    kept_.push_back(*object);
    newest = static_cast<std::uint32_t>(kept_.size());
  }
  return newest;
}

std::string Naming::make_name(NameKind kind, const Origin& origin) {
  if (origin.size == kAtomic) {
    const auto variable = static_cast<VariableId>(origin.address);
    return fmt::format("atomic {}", names_.view(NameKind::kVariable, variable));
  }
  const Object* object = origin.object == 0 ? nullptr : &kept_[origin.object - 1];
  std::string name = kind == NameKind::kVariable
                         ? source_.variable(origin.address, origin.size, origin.pc, object)
                         : source_.lock(origin.address, origin.pc, object);
  return name.empty() ? fmt::format("{:#x}", origin.address) : name;
}

// A name that no other object of its kind has. In STD text two objects of one name would be one.
std::string Naming::unique(NameKind kind, std::string text) {
  constexpr std::size_t kRoom = 16;  // for the number behind it
  if (text.size() > kMaxName - kRoom) text.resize(kMaxName - kRoom);
  std::unordered_map<std::string, std::uint32_t>& names = made(kind).names;
  std::string name = text;
  while (!names.try_emplace(name, 1).second) name = fmt::format("{} #{}", text, ++names[text]);
  return name;
}

// In the order of ids, so that names do not depend on what is asked for.
void Naming::make_names(NameKind kind, std::uint32_t last) {
  Made& all = made(kind);
  while (all.count <= last) {
    const std::uint32_t id = all.count++;
    names_.set_name(kind, id, unique(kind, make_name(kind, all.origins[id])));
  }
}

ThreadId Naming::thread(std::uint64_t number) {
  if (const ThreadId* known = threads_.find(number)) return *known;
  const auto thread = std::ranges::lower_bound(tables_.threads, number, {}, &Thread::number);
  const bool found = thread != tables_.threads.end() && thread->number == number;
  std::string name = found ? source_.thread(*thread) : std::string();
  if (name.empty()) name = number == 0 ? "main" : fmt::format("T{}", number);
  return threads_.at(number) =
             names_.add(NameKind::kThread, unique(NameKind::kThread, std::move(name)));
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

Naming::Begin Naming::begin(std::uint64_t number, std::uint64_t pc, std::uint64_t stack) {
  const Labelled* known = labels_.find(number);
  if (known == nullptr) {
    Labelled& made = labels_.at(number);
    known = &made;
    const auto found = tables_.labels.find(number);
    if (found != tables_.labels.end()) {
      const Label& label = found->second;
      made.is_section = label.flags == kCriticalSection;
      made.begin.label = names_.intern(NameKind::kLabel, cut(label.name));
      if (!label.file.empty()) {
        made.begin.location = names_.intern(NameKind::kLocation, cut(source_.location(label)));
      }
    }
  }
  return known->is_section && pc != 0 ? section({.pc = pc, .stack = stack}) : known->begin;
}

Naming::Begin Naming::section(const Point& begin) {
  const auto [at, is_new] = sections_.try_emplace(begin);
  if (!is_new) return at->second;
  const auto calls_to = [&](const Point& point) {
    std::vector<std::uint64_t> calls = {point.pc};
    const auto callers = tables_.stacks.find(point.stack);
    calls.insert(calls.end(), callers.begin(), callers.end());
    return calls;
  };
  const auto end = tables_.section_ends.find(begin);
  const RecordingNames::Section named = source_.section(
      calls_to(begin),
      end == tables_.section_ends.end() ? std::vector<std::uint64_t>() : calls_to(end->second));
  at->second.label = names_.intern(NameKind::kLabel, cut(named.name));
  if (!named.place.empty()) {
    at->second.location = names_.intern(NameKind::kLocation, cut(named.place));
  }
  return at->second;
}

LockId Naming::add_lock(std::uint64_t address, std::uint64_t pc) {
  const Object* object = objects_.find(address);
  if (object == nullptr) {
    const auto later = tables_.lock_objects.find(address);
    if (later != tables_.lock_objects.end()) object = &later->second;
  }
  return add(NameKind::kLock, address, 0, pc, object);
}

LockId Naming::add_atomic(VariableId variable) {
  made(NameKind::kLock).origins.push_back({.address = variable, .size = kAtomic});
  return names_.add_unnamed(NameKind::kLock);
}

std::uint32_t Naming::add_barrier(std::uint64_t address, std::uint64_t pc) {
  return add(NameKind::kBarrier, address, 0, pc, objects_.find(address));
}

VariableId Naming::add_variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc) {
  return add(NameKind::kVariable, address, size, pc, objects_.find(address));
}

bool Naming::same_variable(VariableId variable, std::uint64_t address, std::uint64_t size,
                           std::uint64_t pc) const {
  const Origin& origin = made_[static_cast<std::size_t>(NameKind::kVariable)].origins[variable];
  const Object* const object = objects_.find(address);
  if (origin.size != size || (origin.object == 0) != (object == nullptr)) return false;
  if (object == nullptr) return origin.pc == pc;
  const Object& old = kept_[origin.object - 1];
  return old.address == object->address && old.pc == object->pc;
}

}  // namespace tomos::recording
