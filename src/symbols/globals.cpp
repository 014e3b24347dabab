#include "symbols/globals.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "symbols/text.h"

namespace tomos::symbols {

Globals::Globals(DebugInfo& info) : info_(info) {
  for (std::size_t i = 0; i < info.unit_count(); ++i) {
    const Unit& unit = info.unit(i);
    for (void* address : unit.variables()) {
      const Dwarf_Die die = die_at(address, unit.root());
      const std::optional<std::uint64_t> begin = fixed_address(die);
      // A variable that the linker left out is at 0; nothing that is loaded is.
      if (!begin || *begin == 0) continue;
      Dwarf_Die self = die;
      Dwarf_Attribute attribute;
      Dwarf_Die type;
      if (dwarf_attr_integrate(&self, DW_AT_type, &attribute) == nullptr ||
          dwarf_formref_die(&attribute, &type) == nullptr) {
        continue;
      }
      // The definition may be without the bounds of an array that only the linker knows.
      std::uint64_t size = Layout::size_of(type);
      if (size == 0) {
        const DebugFile::Symbol* symbol = info.file().symbol(*begin, false);
        size = symbol != nullptr && symbol->address == *begin ? symbol->size : 1;
      }
      if (*begin + size > *begin) variables_.push_back({*begin, *begin + size, die, type});
    }
  }
  // Of several at one address the last is found: the largest.
  std::ranges::sort(variables_, {}, [](const Variable& v) {
    return std::tuple(v.begin, v.end, reinterpret_cast<std::uintptr_t>(v.die.addr));
  });
}

std::string Globals::name(std::uint64_t address, Layout& layout) {
  const auto after = std::ranges::upper_bound(variables_, address, {}, &Variable::begin);
  if (after != variables_.begin()) {
    const Variable& variable = *std::prev(after);
    const std::string& name = info_.qualified_name(variable.die);
    if (address < variable.end && !name.empty()) {
      return layout.part(info_, variable.type, name, address - variable.begin);
    }
  }
  const DebugFile::Symbol* symbol = info_.file().symbol(address, false);
  if (symbol == nullptr) return {};
  std::string name = symbol_name(symbol->name);
  if (address > symbol->address) name += fmt::format("+{}", address - symbol->address);
  return name;
}

}  // namespace tomos::symbols
