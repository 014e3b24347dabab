#include "cli/recording_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "symbols/places.h"

namespace tomos {

namespace {

// Functions of std::atomic and its like, which do for the user what the user's own code asks for.
bool is_atomic_wrapper(const Frame& frame) {
  return frame.system && (frame.function.starts_with("std::atomic") ||
                          (frame.function.starts_with("std::__atomic_") &&
                           !frame.function.starts_with("std::__atomic_futex")));
}

// The counts of std::shared_ptr and others of the library's.
bool is_count(const Frame& frame) {
  return frame.system && (frame.function.starts_with("std::_Sp_counted_base<") ||
                          frame.function.starts_with("__gnu_cxx::__exchange_and_add") ||
                          frame.function.starts_with("__gnu_cxx::__atomic_add"));
}

}  // namespace

ProgramNames::ProgramNames(const Recording& recording) {
  for (const recording::Module& module : recording.modules()) {
    symbols_.add_module(module.path, module.bias, module.first, module.end);
  }
}

std::string ProgramNames::location(std::uint64_t pc) { return location(pc, {}); }

std::string ProgramNames::location(std::uint64_t pc, std::span<const std::uint64_t> calls) {
  std::vector<std::uint64_t> stack = {pc};
  stack.insert(stack.end(), calls.begin(), calls.end());
  std::string text = place(stack);
  pcs_.try_emplace(text, pc);
  return text;
}

std::uint64_t ProgramNames::pc_at(const std::string& location) const {
  const auto known = pcs_.find(location);
  return known == pcs_.end() ? 0 : known->second;
}

std::string ProgramNames::location(const recording::Label& label) {
  return fmt::format("{}:{}", shown_path(label.file), label.line);
}

std::vector<Frame> ProgramNames::from_outside(std::span<const std::uint64_t> stack) {
  std::vector<Frame> all;
  for (const std::uint64_t pc : stack) {
    const std::vector<Frame>& frames = symbols_.frames(pc);
    all.insert(all.end(), frames.begin(), frames.end());
  }
  std::ranges::reverse(all);
  return all;
}

// It stands in the innermost function of the user's that it both begins and ends in: often a
// function does nothing but take the lock, and another nothing but give it back.
RecordingNames::Section ProgramNames::section(std::span<const std::uint64_t> begin,
                                              std::span<const std::uint64_t> end) {
  const std::vector<Frame> first = from_outside(begin);
  const std::vector<Frame> last = from_outside(end);
  std::size_t both = 0;  // how many functions
  bool together = true;  // both have come by the same calls so far
  while (together && both < first.size() && both < last.size() &&
         first[both].function == last[both].function) {
    together = first[both] == last[both];
    ++both;
  }
  if (both == 0) both = first.size();
  while (both > 0 && first[both - 1].system) --both;
  if (both == 0) return {};
  const Frame& home = first[both - 1];
  return {.name = fmt::format("critical section in {}", home.function), .place = place_of(home)};
}

bool ProgramNames::is_users(std::uint64_t pc) {
  const std::vector<Frame>& frames = symbols_.frames(pc);
  if (frames.empty()) return true;
  // An atomic operation is whose code asks for it: what the library does for itself stays the
  // library's when it is inlined into the user's code.
  const auto asks = std::ranges::find_if_not(frames, is_atomic_wrapper);
  if (asks != frames.end() && (is_count(*asks) || asks != frames.begin())) return !asks->system;
  return users_frame(frames) != nullptr;
}

std::string ProgramNames::place(std::span<const std::uint64_t> stack) {
  return users_place(symbols_, stack);
}

std::vector<std::string> ProgramNames::frames(std::span<const std::uint64_t> stack) {
  return shown_frames(symbols_, stack);
}

ProgramNames::Allocation ProgramNames::allocation(const recording::Object& object) {
  const std::array<std::uint64_t, 2> both = {object.pc, object.caller};
  const std::span<const std::uint64_t> stack(both.begin(), object.caller == 0 ? 1 : 2);
  const std::string& type = symbols_.allocated_type(object.pc);
  if (!type.empty()) return {type, place(stack)};
  // The program may have an allocator of its own: who called that knows what it wanted.
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::string& received = symbols_.received_type(stack[i], object.length);
    if (!received.empty()) return {received, place(stack.subspan(i))};
  }
  return {"", place(stack)};
}

std::string ProgramNames::memory(std::uint64_t address, const recording::Object* object) {
  if (object == nullptr) return symbols_.global(address);
  const std::uint64_t offset = address - object->address;
  const auto [type, from] = allocation(*object);
  std::string field = type.empty() ? "" : symbols_.field(type, offset);
  if (field.empty()) {
    if (from.empty()) return "";
    return fmt::format("byte {} of the {} from {}", offset, type.empty() ? "object" : type, from);
  }
  // The first object of its kind needs nothing to tell it from others, and mostly there are none.
  const auto [first, is_new] = first_.try_emplace(field, object->address);
  if (is_new || first->second == object->address || from.empty()) return field;
  return fmt::format("{} {}from {}", field, field == type ? "" : "of the object ", from);
}

std::string ProgramNames::variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc,
                                   const recording::Object* object) {
  std::string name = memory(address, object);
  if (!name.empty()) return name;
  const std::string where = is_users(pc) ? place(std::span(&pc, 1)) : "";
  return where.empty() ? fmt::format("{} bytes of memory", size)
                       : fmt::format("memory first used at {}", where);
}

std::string ProgramNames::lock(std::uint64_t address, std::uint64_t pc,
                               const recording::Object* object) {
  if (address == recording::kAllTransactions) return "the lock of all transactions";
  std::string name = memory(address, object);
  if (!name.empty()) return name;
  // A line inside the C++ library would tell nobody which lock it is.
  const std::string where = is_users(pc) ? place(std::span(&pc, 1)) : "";
  return where.empty() ? "a lock" : fmt::format("the lock first used at {}", where);
}

std::string ProgramNames::thread(const recording::Thread& thread) {
  std::string name = thread.name;
  if (!threads_.try_emplace(name, &thread).second) {
    name += fmt::format(" (T{})", thread.number);
    threads_.try_emplace(name, &thread);
  }
  thread_names_[thread.number] = name;
  return name;
}

const recording::Thread* ProgramNames::thread_called(const std::string& name) const {
  const auto known = threads_.find(name);
  return known == threads_.end() ? nullptr : known->second;
}

std::string ProgramNames::thread_name(std::uint64_t number) const {
  const auto known = thread_names_.find(number);
  return known == thread_names_.end() ? "?" : known->second;
}

}  // namespace tomos
