#include "symbols/heap_types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "symbols/text.h"

namespace tomos::symbols {
namespace {

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Takes the text up to the next zero byte off the front.
std::string_view take_text(std::string_view& bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  const std::string_view text = bytes.substr(0, end);
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return text;
}

std::string element_type(std::string type) {
  while (type.ends_with(']')) type.erase(std::min(type.rfind('['), type.size() - 1));
  if (type.starts_with("const ")) type.erase(0, 6);
  return type;
}

// The type under its qualifiers.
Dwarf_Die unqualified(Dwarf_Die type) {
  constexpr int kMaxQualifiers = 16;
  for (int i = 0; i < kMaxQualifiers; ++i) {
    const int tag = dwarf_tag(&type);
    if (tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) break;
    const std::optional<Dwarf_Die> next = referred(type, DW_AT_type);
    if (!next) break;
    type = *next;
  }
  return type;
}

// The type that a pointer points to, by name; empty if it is none.
std::string pointee(DebugInfo& info, Dwarf_Die type, int depth) {
  constexpr int kMaxDepth = 8;
  type = unqualified(type);
  const std::optional<Dwarf_Die> target = referred(type, DW_AT_type);
  if (dwarf_tag(&type) != DW_TAG_pointer_type || !target || depth > kMaxDepth) return {};
  Dwarf_Die plain = unqualified(*target);
  if (dwarf_tag(&plain) != DW_TAG_pointer_type) return info.qualified_name(plain);
  const std::string inner = pointee(info, plain, depth + 1);
  return inner.empty() ? "" : inner + "*";
}

std::string pointee_of_variable(DebugInfo& info, Dwarf_Die variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(&variable, DW_AT_type, &attribute) == nullptr ||
      dwarf_formref_die(&attribute, &type) == nullptr) {
    return {};
  }
  return pointee(info, type, 0);
}

// Whether a function is of a template's instance that this type belongs to: the type is among the
// arguments, or in the same class.
bool is_instance_for(const std::string& function, const std::string& type) {
  const std::size_t open = function.find('<');
  if (open == std::string::npos) return false;
  const std::string_view owner(function.data(), function.size() - last_part(function).size());
  return function.find(type, open) != std::string::npos ||
         (owner.contains('<') && type.starts_with(owner));
}

// The pointers declared on a line, in a function and its blocks.
void pointers_on(Dwarf_Die around, std::uint32_t line, std::vector<Dwarf_Die>& found, int depth) {
  constexpr int kMaxDepth = 64;
  Dwarf_Die child;
  if (depth > kMaxDepth || dwarf_child(&around, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    int declared = 0;
    if (tag == DW_TAG_variable && dwarf_decl_line(&child, &declared) == 0 &&
        std::cmp_equal(declared, line)) {
      found.push_back(child);
    } else if (tag == DW_TAG_lexical_block) {
      pointers_on(child, line, found, depth + 1);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

HeapTypes::HeapTypes(DebugInfo& info) : info_(info) {
  std::string_view bytes = info.file().section("tomos_heap_types");
  while (!bytes.empty()) {
    const std::string_view file = take_text(bytes);
    if (file.empty()) continue;  // what the linker put between two files' records
    const std::string_view place = take_text(bytes);
    const std::string_view type = take_text(bytes);
    if (type.empty()) continue;
    auto& types = recorded_[fmt::format("{}:{}", base_name(file), place)];
    std::string tidy = element_type(tidy_name(type));
    if (std::ranges::find(types, tidy) == types.end()) types.push_back(std::move(tidy));
  }
}

std::string HeapTypes::recorded(const std::vector<Frame>& frames, std::string_view mark) const {
  for (const Frame& frame : frames) {
    const auto found = recorded_.find(
        fmt::format("{}:{}:{}{}", base_name(frame.file), frame.line, frame.column, mark));
    if (found == recorded_.end()) continue;
    const std::vector<std::string>& types = found->second;
    if (types.size() == 1) return types.front();
    // Each instance of a template has its own.
    const std::string* only = nullptr;
    for (const std::string& type : types) {
      if (!std::ranges::any_of(frames,
                               [&](const Frame& f) { return is_instance_for(f.function, type); })) {
        continue;
      }
      if (only != nullptr) return {};
      only = &type;
    }
    return only == nullptr ? "" : *only;
  }
  return {};
}

std::string allocated_by_library(std::string_view function) {
  constexpr std::array<std::string_view, 4> kAllocators = {
      "std::__new_allocator<", "std::allocator<", "__gnu_cxx::new_allocator<",
      "__gnu_cxx::__pool_alloc<"};
  std::string_view owner = function;
  if (function.ends_with("::allocate")) owner.remove_suffix(std::string_view("::allocate").size());
  if (owner.size() != function.size()) {
    if (owner.starts_with("std::allocator_traits<")) {
      const std::vector<std::string> allocator = template_arguments(owner);
      if (allocator.empty()) return {};
      const std::vector<std::string> types = template_arguments(allocator.front());
      return types.empty() ? "" : element_type(types.front());
    }
    if (!std::ranges::any_of(kAllocators, [&](auto name) { return owner.starts_with(name); })) {
      return {};
    }
  } else if (!function.starts_with("std::make_unique<") &&
             !function.starts_with("std::make_unique_for_overwrite<")) {
    return {};
  }
  const std::vector<std::string> types = template_arguments(owner);
  return types.empty() ? "" : element_type(types.front());
}

std::string HeapTypes::declared(std::uint64_t address, const std::vector<Frame>& frames) {
  const Unit* unit = info_.unit_at(address);
  if (unit == nullptr) return {};
  const std::vector<Dwarf_Die> scopes = DebugInfo::scopes_at(*unit, address);
  for (std::size_t i = 0; i < std::min(scopes.size(), frames.size()); ++i) {
    if (frames[i].system) continue;
    std::vector<Dwarf_Die> variables;
    pointers_on(scopes[i], frames[i].line, variables, 0);
    std::vector<std::string> types;
    for (const Dwarf_Die& variable : variables) {
      std::string type = pointee_of_variable(info_, variable);
      if (!type.empty()) types.push_back(std::move(type));
    }
    return types.size() == 1 ? types.front() : "";
  }
  return {};
}

std::string HeapTypes::allocated_at(std::uint64_t address, const std::vector<Frame>& frames) {
  std::string type = recorded(frames, "");
  for (std::size_t i = 0; type.empty() && i < frames.size(); ++i) {
    type = allocated_by_library(frames[i].function);
  }
  return type.empty() ? declared(address, frames) : type;
}

std::string HeapTypes::received_at(const std::vector<Frame>& frames) const {
  return recorded(frames, "()");
}

}  // namespace tomos::symbols
