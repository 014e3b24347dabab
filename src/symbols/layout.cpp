#include "symbols/layout.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "symbols/text.h"

namespace tomos::symbols {
namespace {

constexpr int kMostNested = 48;
constexpr std::uint64_t kPointerSize = 8;

std::optional<std::uint64_t> constant(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word word = 0;
  if (dwarf_attr_integrate(&die, attribute, &value) == nullptr ||
      dwarf_formudata(&value, &word) != 0) {
    return std::nullopt;
  }
  return word;
}

bool is_class(int tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

// The type under its other names and its qualifiers.
Dwarf_Die peeled(Dwarf_Die type) {
  for (int i = 0; i < kMostNested; ++i) {
    switch (dwarf_tag(&type)) {
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
      case DW_TAG_template_alias: {
        const std::optional<Dwarf_Die> next = referred(type, DW_AT_type);
        if (!next) return type;
        type = *next;
        break;
      }
      default:
        return type;
    }
  }
  return type;
}

// The numbers of elements along the dimensions of an array; 0 where it is not given.
std::vector<std::uint64_t> dimensions(Dwarf_Die array) {
  std::vector<std::uint64_t> counts;
  Dwarf_Die child;
  for (int more = dwarf_child(&array, &child); more == 0 && counts.size() < kMostNested;
       more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    if (const auto count = constant(child, DW_AT_count)) {
      counts.push_back(*count);
    } else if (const auto upper = constant(child, DW_AT_upper_bound)) {
      counts.push_back(*upper + 1);
    } else {
      counts.push_back(0);
    }
  }
  return counts;
}

std::uint64_t size_within(Dwarf_Die type, int depth) {
  type = peeled(type);
  if (const auto size = constant(type, DW_AT_byte_size)) return *size;
  switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return kPointerSize;
    case DW_TAG_array_type: {
      const std::optional<Dwarf_Die> element = referred(type, DW_AT_type);
      if (!element || depth > kMostNested) return 0;
      std::uint64_t size = size_within(*element, depth + 1);
      for (const std::uint64_t count : dimensions(type)) size *= count;
      return size;
    }
    default:
      return 0;
  }
}

// The first type argument of a class template.
std::optional<Dwarf_Die> type_argument(Dwarf_Die type) {
  Dwarf_Die child;
  for (int more = dwarf_child(&type, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) == DW_TAG_template_type_parameter) return referred(child, DW_AT_type);
  }
  return std::nullopt;
}

bool is_library_buffer(std::string_view class_name) {
  return class_name.starts_with("__gnu_cxx::__aligned_buffer<") ||
         class_name.starts_with("__gnu_cxx::__aligned_membuf<");
}

// Whether the members of a class mean something to the user.
bool is_open(std::string_view class_name) {
  return !is_std(class_name) || class_name.starts_with("std::pair<") ||
         class_name.starts_with("std::array<");
}

// A class that the library has for itself; the user never wrote its name.
bool is_internal(std::string_view class_name) {
  return is_std(class_name) && last_identifier(class_name).starts_with('_');
}

// Whether the C library keeps the members of a class for itself.
bool is_sealed(Dwarf_Die type) {
  bool any = false;
  Dwarf_Die child;
  for (int more = dwarf_child(&type, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) != DW_TAG_member) continue;
    const char* name = dwarf_diename(&child);
    if (name == nullptr || std::strncmp(name, "__", 2) != 0) return false;
    any = true;
  }
  return any;
}

std::string member_name(Dwarf_Die member) {
  const char* name = dwarf_diename(&member);
  if (name == nullptr) return {};
  return std::strncmp(name, "_vptr", 5) == 0 ? "vptr" : name;
}

}  // namespace

std::uint64_t Layout::size_of(Dwarf_Die type) { return size_within(type, 0); }

std::uint64_t Layout::size(std::string_view type_name) {
  if (type_name.ends_with('*')) return kPointerSize;
  const std::optional<Type> type = find(type_name);
  return type ? size_of(defined(*type).die) : 0;
}

void Layout::add(DebugInfo* info) {
  infos_.push_back(info);
  std::erase_if(found_, [](const auto& entry) { return !entry.second; });
}

void Layout::index() {
  while (indexed_ < infos_.size()) index(*infos_[indexed_++]);
}

void Layout::index(DebugInfo& info) {
  for (std::size_t i = 0; i < info.unit_count(); ++i) {
    const Unit& unit = info.unit(i);
    for (void* address : unit.types()) {
      Dwarf_Die die = die_at(address, unit.root());
      if (dwarf_tag(&die) == DW_TAG_typedef) {
        // Those in classes are the library's value_type and the like, by the thousand.
        std::optional<Dwarf_Die> container = unit.container(die);
        if (container && dwarf_tag(&*container) != DW_TAG_namespace) continue;
      }
      const char* name = dwarf_diename(&die);
      if (name == nullptr) continue;
      const std::string_view text(name);
      types_[text.substr(0, text.find('<'))].push_back({&info, die});
    }
  }
}

std::optional<Layout::Type> Layout::find(std::string_view name) {
  std::string wanted = tidy_name(name);
  for (const std::string_view word : {"const ", "struct ", "class ", "union ", "enum ", "::"}) {
    if (wanted.starts_with(word)) wanted.erase(0, word.size());
  }
  const auto known = found_.find(wanted);
  if (known != found_.end()) return known->second;
  index();
  std::optional<Type> found;
  const auto named = types_.find(last_identifier(wanted));
  if (named != types_.end()) {
    // Of the same type described in many units any will do, but always the same.
    const auto type = std::ranges::find_if(named->second, [&](const Type& candidate) {
      return candidate.info->qualified_name(candidate.die) == wanted;
    });
    if (type != named->second.end()) found = *type;
  }
  return found_.emplace(std::move(wanted), found).first->second;
}

Layout::Type Layout::defined(Type type) {
  type.die = peeled(type.die);
  if (!is_class(dwarf_tag(&type.die)) || dwarf_hasattr(&type.die, DW_AT_declaration) == 0) {
    return type;
  }
  const std::optional<Type> elsewhere = find(type.info->qualified_name(type.die));
  return elsewhere ? *elsewhere : type;
}

std::string Layout::field(std::string_view type_name, std::uint64_t offset) {
  std::uint64_t size = 0;
  std::optional<Type> type;
  std::string shown;
  if (type_name.ends_with('*')) {
    shown = tidy_name(type_name);
    size = kPointerSize;
  } else {
    type = find(type_name);
    if (!type) return {};
    shown = type->info->qualified_name(type->die);
    *type = defined(*type);
    size = size_of(type->die);
  }
  std::string element;
  if (size != 0 && offset >= size) {
    element = fmt::format("[{}]", offset / size);
    offset %= size;
  }
  Path path{.owner = shown, .text = {}, .users = !is_internal(shown)};
  if (!type || !is_class(dwarf_tag(&type->die))) return shown + element;
  const bool found = walk(*type, offset, path, 0);
  if (!found && path.owner == shown && path.text.empty()) {
    return offset == 0 ? shown + element : fmt::format("{}{}+{}", shown, element, offset);
  }
  // An element is one of the type that was allocated, whichever base has the member.
  const std::string& owner = element.empty() ? path.owner : shown;
  return path.text.empty() ? owner + element : fmt::format("{}{}::{}", owner, element, path.text);
}

std::string Layout::part(DebugInfo& info, Dwarf_Die type, std::string name, std::uint64_t offset) {
  Path path{.owner = {}, .text = std::move(name), .users = true};
  walk({&info, type}, offset, path, 0);
  return path.text;
}

bool Layout::walk(Type type, std::uint64_t offset, Path& path, int depth) {
  if (depth > kMostNested) return true;
  type = defined(type);
  const int tag = dwarf_tag(&type.die);
  if (tag == DW_TAG_array_type) return walk_array(type, offset, path, depth);
  if (!is_class(tag)) return true;
  return walk_class(type, offset, path, depth);
}

bool Layout::walk_array(const Type& type, std::uint64_t offset, Path& path, int depth) {
  const std::optional<Dwarf_Die> element = referred(type.die, DW_AT_type);
  if (!element) return true;
  const Type inner = defined({type.info, *element});
  const std::uint64_t size = size_of(inner.die);
  if (size == 0) return true;
  std::uint64_t index = offset / size;
  // The last dimension varies fastest; the first takes what is left, whatever its bound.
  const std::vector<std::uint64_t> counts = dimensions(type.die);
  const std::size_t end = path.text.size();
  for (std::size_t i = counts.size(); i > 1; --i) {
    const std::uint64_t count = std::max<std::uint64_t>(counts[i - 1], 1);
    path.text.insert(end, fmt::format("[{}]", index % count));
    index /= count;
  }
  path.text.insert(end, fmt::format("[{}]", index));
  return walk(inner, offset % size, path, depth + 1);
}

bool Layout::walk_class(const Type& type, std::uint64_t offset, Path& path, int depth) {
  const std::string& name = type.info->qualified_name(type.die);
  if (is_library_buffer(name)) {
    const std::optional<Dwarf_Die> held = type_argument(type.die);
    if (!held) return true;
    const Type inner = defined({type.info, *held});
    Dwarf_Die plain = inner.die;
    if (!is_class(dwarf_tag(&plain))) return true;
    path.owner = inner.info->qualified_name(inner.die);
    path.text.clear();
    path.users = !is_internal(path.owner);
    walk_class(inner, offset, path, depth + 1);
    return true;
  }
  if (path.users && (!is_open(name) || is_sealed(type.die))) return true;

  // Members first: a base without members may be said to take up the first one's place.
  Dwarf_Die self = type.die;
  Dwarf_Die child;
  for (int more = dwarf_child(&self, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) == DW_TAG_member && walk_member(type, child, offset, path, depth)) {
      return true;
    }
  }
  for (int more = dwarf_child(&self, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) == DW_TAG_inheritance && walk_base(type, child, offset, path, depth)) {
      return true;
    }
  }
  return false;
}

bool Layout::walk_base(const Type& type, Dwarf_Die base, std::uint64_t offset, Path& path,
                       int depth) {
  const std::optional<std::uint64_t> at = constant(base, DW_AT_data_member_location);
  const std::optional<Dwarf_Die> base_type = referred(base, DW_AT_type);
  if (!at || !base_type || *at > offset) return false;  // a virtual base's place is not a number
  const Type inner = defined({type.info, *base_type});
  if (offset - *at >= size_of(inner.die)) return false;
  Path longer = path;
  const std::string& name = inner.info->qualified_name(inner.die);
  if (path.text.empty() && (is_open(name) || !path.users)) longer.owner = name;
  if (!walk(inner, offset - *at, longer, depth + 1)) return false;
  path = std::move(longer);
  return true;
}

bool Layout::walk_member(const Type& type, Dwarf_Die member, std::uint64_t offset, Path& path,
                         int depth) {
  if (dwarf_hasattr(&member, DW_AT_declaration) != 0 ||
      dwarf_hasattr(&member, DW_AT_external) != 0) {
    return false;  // static
  }
  const std::optional<Dwarf_Die> member_type = referred(member, DW_AT_type);
  if (!member_type) return false;
  const Type inner = defined({type.info, *member_type});
  std::uint64_t at = constant(member, DW_AT_data_member_location).value_or(0);
  std::uint64_t size = size_of(inner.die);
  if (const auto bits = constant(member, DW_AT_bit_size)) {
    const std::uint64_t first = constant(member, DW_AT_data_bit_offset).value_or(at * 8);
    at = first / 8;
    size = (first % 8 + *bits + 7) / 8;
  }
  Dwarf_Die plain = inner.die;
  const bool flexible = size == 0 && dwarf_tag(&plain) == DW_TAG_array_type;
  if (offset < at || (offset - at >= size && !flexible)) return false;

  Path longer = path;
  const std::string name = member_name(member);
  const std::string& class_name = type.info->qualified_name(type.die);
  longer.users = path.users || is_open(class_name);
  const bool array_of_library = name == "_M_elems" && class_name.starts_with("std::array<");
  if (!name.empty() && !array_of_library) {
    if (!longer.text.empty()) longer.text += '.';
    longer.text += name;
  }
  const bool found = walk(inner, offset - at, longer, depth + 1);
  // Nothing under a named member: it is the member all the same; an unnamed one is no answer.
  if (!found && name.empty()) return false;
  path = std::move(longer);
  return true;
}

}  // namespace tomos::symbols
