// The functions that a file's debugging information describes.
#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "symbols/calls.h"
#include "symbols/debug_info.h"
#include "symbols/symbols.h"

namespace tomos {
namespace {

bool flag(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute value;
  bool set = false;
  return dwarf_attr_integrate(&die, attribute, &value) != nullptr &&
         dwarf_formflag(&value, &set) == 0 && set;
}

bool is_private(symbols::DebugInfo& info, Dwarf_Die function) {
  const Dwarf_Die declaration = symbols::declaration_of(function);
  Dwarf_Attribute value;
  Dwarf_Word access = 0;
  if (dwarf_attr_integrate(&function, DW_AT_accessibility, &value) != nullptr &&
      dwarf_formudata(&value, &access) == 0) {
    return access == DW_ACCESS_private;
  }
  // What is private unless said otherwise is not said to be.
  std::optional<Dwarf_Die> container = info.unit_of(declaration).container(declaration);
  return container && dwarf_tag(&*container) == DW_TAG_class_type;
}

std::optional<std::uint64_t> entry_of(Dwarf_Die function) {
  Dwarf_Addr entry = 0;
  if (dwarf_entrypc(&function, &entry) == 0) return entry;
  // Code in several pieces, as g++ makes when it moves the unlikely part elsewhere: compilers list
  // the piece with the entry first.
  Dwarf_Addr base = 0;
  Dwarf_Addr end = 0;
  if (dwarf_ranges(&function, 0, &base, &entry, &end) > 0) return entry;
  return std::nullopt;
}

}  // namespace

Result<std::vector<Symbols::Function>> Symbols::functions(const std::string& path,
                                                          std::span<const char* const> waits) {
  Result<std::unique_ptr<symbols::DebugFile>> file = symbols::DebugFile::open(path);
  if (!file) return std::unexpected(std::move(file.error()));
  symbols::DebugInfo info(std::move(*file));
  if (!info.exists()) {
    return std::unexpected(Error{path, "no debugging information", "compile with -g"});
  }
  std::vector<Function> functions;
  symbols::UnitOf unit_of;
  for (std::size_t i = 0; i < info.unit_count(); ++i) {
    const symbols::Unit& unit = info.unit(i);
    for (const symbols::Unit::Scope& scope : unit.scopes()) {
      Dwarf_Die die = symbols::die_at(scope.die, unit.root());
      if (dwarf_tag(&die) != DW_TAG_subprogram) continue;
      const std::optional<std::uint64_t> entry = entry_of(die);
      if (!entry) continue;
      unit_of.try_emplace(*entry, i);
      if (flag(die, DW_AT_artificial)) continue;
      const std::string& name = info.qualified_name(die);
      const symbols::DebugInfo::SourceFile& source = info.source_file(die, DW_AT_decl_file);
      int line = 0;
      dwarf_decl_line(&die, &line);
      functions.push_back(
          {.entry = *entry,
           .name = name,
           .file = source.path,
           .line = static_cast<std::uint32_t>(std::max(line, 0)),
           .external = flag(die, DW_AT_external) && !name.contains("(anonymous namespace)"),
           .is_private = is_private(info, die),
           .system = source.system,
           .waits = false});
    }
  }
  const auto waiting = symbols::callers_of(info.file(), unit_of, waits);
  for (Function& function : functions) function.waits = waiting.contains(function.entry);
  std::ranges::sort(functions, {}, [](const Function& f) { return std::tie(f.entry, f.name); });
  const auto again = std::ranges::unique(functions, {}, &Function::entry);
  functions.erase(again.begin(), again.end());
  return functions;
}

}  // namespace tomos
