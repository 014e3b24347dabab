#include "symbols/debug_info.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "symbols/text.h"

namespace tomos::symbols {
namespace {

// How far references are followed; only a damaged file has longer chains.
constexpr int kMaxReferences = 16;
constexpr int kMaxNesting = 64;

bool is_function(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

std::tuple<int, int> position(Dwarf_Die die) {
  int line = 0;
  int column = 0;
  dwarf_decl_line(&die, &line);
  dwarf_decl_column(&die, &column);
  return {line, column};
}

}  // namespace

std::optional<Dwarf_Die> referred(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Die target;
  if (dwarf_attr(&die, attribute, &value) == nullptr ||
      dwarf_formref_die(&value, &target) == nullptr) {
    return std::nullopt;
  }
  return target;
}

Dwarf_Die declaration_of(Dwarf_Die die) {
  for (int i = 0; i < kMaxReferences; ++i) {
    std::optional<Dwarf_Die> next = referred(die, DW_AT_abstract_origin);
    if (!next) next = referred(die, DW_AT_specification);
    if (!next) break;
    die = *next;
  }
  return die;
}

DebugInfo::DebugInfo(std::unique_ptr<DebugFile> file)
    : file_(std::move(file)), system_(is_system_file(file_->path())) {
  if (exists()) find_units();
}

void DebugInfo::find_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die root;
  Dwarf_Die split;
  std::uint8_t type = 0;
  while (dwarf_get_units(file_->dwarf(), unit, &unit, nullptr, &type, &root, &split) == 0) {
    // Of a kind of unit that libdw does not know, or from a damaged header: there are no entries.
    if (root.cu == nullptr || dwarf_tag(&root) == DW_TAG_invalid) continue;
    // A skeleton stands for a unit in a .dwo file; without that file it still has the lines.
    const bool skeleton = type == DW_UT_skeleton && dwarf_tag(&split) != DW_TAG_invalid;
    const std::size_t index = roots_.size();
    roots_.push_back(skeleton ? split : root);
    Dwarf_Addr base = 0;
    Dwarf_Addr begin = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t next = dwarf_ranges(&root, 0, &base, &begin, &end); next > 0;
         next = dwarf_ranges(&root, next, &base, &begin, &end)) {
      if (begin < end && file_->has_code(begin)) ranges_.push_back({begin, end, index});
    }
  }
  std::ranges::sort(ranges_, {}, &Range::begin);
}

const Unit& DebugInfo::unit_of(const Dwarf_Die& die) {
  std::unique_ptr<Unit>& unit = units_[die.cu];
  if (!unit) {
    Dwarf_Die any = die;
    Dwarf_Die root;
    if (dwarf_diecu(&any, &root, nullptr, nullptr) == nullptr) root = die;
    unit = std::make_unique<Unit>(root, *file_);
  }
  return *unit;
}

const Unit* DebugInfo::unit_at(std::uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges_, address, {}, &Range::begin);
  if (after == ranges_.begin()) return nullptr;
  const Range& range = *std::prev(after);
  return address < range.end ? &unit(range.root) : nullptr;
}

const std::string& DebugInfo::qualified_name(const Dwarf_Die& die) {
  const auto known = names_.find(die.addr);
  if (known != names_.end()) return known->second;
  std::string name = make_name(die, 0);
  return names_.emplace(die.addr, std::move(name)).first->second;
}

std::string DebugInfo::make_name(const Dwarf_Die& die, int depth) {
  Dwarf_Die declaration = declaration_of(die);
  const std::optional<Dwarf_Die> container = unit_of(declaration).container(declaration);
  std::string name = own_name(declaration);
  // With little debugging information (-g1) classes and namespaces are known to the linker only.
  if (!container) return is_function(&declaration) ? linker_name(die, name) : name;
  if (depth > kMaxNesting) return name;
  // Through the cache: the classes and namespaces around are the same for many.
  const auto known = names_.find(container->addr);
  std::string prefix =
      known != names_.end()
          ? known->second
          : names_.emplace(container->addr, make_name(*container, depth + 1)).first->second;
  if (prefix.empty() || name.empty()) return prefix + name;
  return prefix + "::" + name;
}

std::string DebugInfo::linker_name(Dwarf_Die function, const std::string& own) {
  Dwarf_Attribute attribute;
  const char* mangled = nullptr;
  if (dwarf_attr_integrate(&function, DW_AT_linkage_name, &attribute) != nullptr) {
    mangled = dwarf_formstring(&attribute);
  }
  Dwarf_Addr entry = 0;
  if (mangled == nullptr && dwarf_tag(&function) == DW_TAG_subprogram &&
      dwarf_entrypc(&function, &entry) == 0) {
    const DebugFile::Symbol* symbol = file_->symbol(entry, true);
    if (symbol != nullptr && symbol->address == entry) mangled = symbol->name;
  }
  if (mangled == nullptr) return own;
  std::string name = symbol_name(mangled);
  // An alias of a C function, or mangled by newer rules than the demangler's, is no better.
  const bool better = std::strncmp(mangled, "_Z", 2) == 0 && !name.starts_with("_Z");
  return better || own.empty() ? name : own;
}

std::string DebugInfo::own_name(Dwarf_Die declaration) {
  const char* name = dwarf_diename(&declaration);
  switch (dwarf_tag(&declaration)) {
    case DW_TAG_namespace:
      if (name == nullptr) return "(anonymous namespace)";
      // An inline namespace of the library's own: nobody writes it.
      return *name == '_' && dwarf_hasattr(&declaration, DW_AT_export_symbols) != 0 ? "" : name;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (name == nullptr || *name == '<') return closure_name(declaration);
      break;
    default:
      break;
  }
  return name == nullptr ? "" : tidy_name(name);
}

std::string DebugInfo::closure_name(const Dwarf_Die& closure) {
  const Unit& unit = unit_of(closure);
  const auto& closures = unit.closures();
  if (std::ranges::find(closures, closure.addr) == closures.end()) return "{unnamed}";
  const std::optional<Dwarf_Die> container = unit.container(closure);
  const void* around = container ? container->addr : nullptr;
  // Counted as they stand in the source.
  const auto before = std::ranges::count_if(closures, [&](void* address) {
    const Dwarf_Die other = die_at(address, closure);
    const std::optional<Dwarf_Die> other_container = unit.container(other);
    return (other_container ? other_container->addr : nullptr) == around &&
           position(other) < position(closure);
  });
  return fmt::format("{{lambda#{}}}", before + 1);
}

}  // namespace tomos::symbols
