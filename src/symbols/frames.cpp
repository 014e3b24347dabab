// Where an instruction comes from: the functions it is inlined into, from the tree of scopes, and
// the place in the innermost from the line table; the others are where the next one in was called.
#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "symbols/debug_info.h"
#include "symbols/text.h"

namespace tomos::symbols {
namespace {

std::uint32_t number(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word word = 0;
  if (dwarf_attr_integrate(&die, attribute, &value) == nullptr ||
      dwarf_formudata(&value, &word) != 0) {
    return 0;
  }
  return static_cast<std::uint32_t>(word);
}

}  // namespace

std::vector<Dwarf_Die> DebugInfo::scopes_at(const Unit& unit, std::uint64_t address) {
  std::vector<Dwarf_Die> scopes;
  const Unit::Segment* segment = unit.segment(address);
  for (std::int32_t i = segment == nullptr ? -1 : segment->scope; i >= 0;) {
    const Unit::Scope& scope = unit.scopes()[static_cast<std::size_t>(i)];
    scopes.push_back(die_at(scope.die, unit.root()));
    i = scope.parent;
  }
  return scopes;
}

std::vector<Frame> DebugInfo::frames(std::uint64_t address) {
  std::vector<Frame> frames;
  const Unit* unit = unit_at(address);
  if (unit == nullptr) return frames;
  Place place = place_at(*unit, address);
  for (const Dwarf_Die& scope : scopes_at(*unit, address)) {
    if (place.line == 0) place = declared_at(scope);
    const SourceFile& file = place.file == nullptr ? no_file_ : *place.file;
    frames.push_back({qualified_name(scope), file.path, place.line, place.column, file.system});
    place = call_place(scope);
  }
  if (frames.empty() && place.file != nullptr) {
    // In no function that is described: assembler. Or in none at all: what fills a gap.
    const DebugFile::Symbol* symbol = file_->symbol(address, true);
    if (symbol == nullptr) return frames;
    frames.push_back({symbol_name(symbol->name), place.file->path, place.line, place.column,
                      place.file->system});
  }
  return frames;
}

DebugInfo::Place DebugInfo::place_at(const Unit& unit, std::uint64_t address) {
  Dwarf_Die root = unit.root();
  Dwarf_Lines* lines = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrclines(&root, &lines, &count) != 0) return {};
  const auto address_of = [&](std::size_t i) {
    Dwarf_Addr at = 0;
    dwarf_lineaddr(dwarf_onesrcline(lines, i), &at);
    return at;
  };
  const auto ends_sequence = [&](std::size_t i) {
    bool end = false;
    return dwarf_lineendsequence(dwarf_onesrcline(lines, i), &end) != 0 || end;
  };
  std::size_t low = 0;
  for (std::size_t high = count; low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    if (address_of(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  // Code that the compiler says comes from no line (0) is shown at the line before it, as long as
  // that belongs to the same function.
  const Unit::Segment* segment = unit.segment(address);
  const std::uint64_t first = segment == nullptr ? 0 : segment->begin;
  for (std::size_t i = low; i > 0; --i) {
    if (ends_sequence(i - 1)) break;
    if (i < low && address_of(i - 1) < first) break;
    Dwarf_Line* line = dwarf_onesrcline(lines, i - 1);
    int number_of_line = 0;
    int column = 0;
    const char* name = dwarf_linesrc(line, nullptr, nullptr);
    if (dwarf_lineno(line, &number_of_line) != 0 || number_of_line <= 0 || name == nullptr)
      continue;
    dwarf_linecol(line, &column);
    return {&made_absolute(name, root), static_cast<std::uint32_t>(number_of_line),
            static_cast<std::uint32_t>(std::max(column, 0))};
  }
  return {};
}

DebugInfo::Place DebugInfo::call_place(Dwarf_Die inlined) {
  if (dwarf_tag(&inlined) != DW_TAG_inlined_subroutine) return {};
  return {&source_file(inlined, DW_AT_call_file), number(inlined, DW_AT_call_line),
          number(inlined, DW_AT_call_column)};
}

DebugInfo::Place DebugInfo::declared_at(Dwarf_Die function) {
  return {&source_file(function, DW_AT_decl_file), number(function, DW_AT_decl_line), 0};
}

const DebugInfo::SourceFile& DebugInfo::source_file(Dwarf_Die die, unsigned attribute) {
  Dwarf_Attribute value;
  Dwarf_Word index = 0;
  if (dwarf_attr_integrate(&die, attribute, &value) == nullptr ||
      dwarf_formudata(&value, &index) != 0) {
    return no_file_;
  }
  // The number counts in the table of the unit the attribute was found in.
  Dwarf_Die root;
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_cu_die(value.cu, &root, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) ==
          nullptr ||
      dwarf_getsrcfiles(&root, &files, &count) != 0 || index >= count) {
    return no_file_;
  }
  const char* name = dwarf_filesrc(files, index, nullptr, nullptr);
  return name == nullptr ? no_file_ : made_absolute(name, root);
}

const DebugInfo::SourceFile& DebugInfo::made_absolute(const char* name, Dwarf_Die root) {
  const auto known = source_files_.find(name);
  if (known != source_files_.end()) return known->second;
  std::filesystem::path path(name);
  if (path.is_relative()) {
    Dwarf_Attribute attribute;
    const char* folder = dwarf_formstring(dwarf_attr(&root, DW_AT_comp_dir, &attribute));
    if (folder != nullptr) path = std::filesystem::path(folder) / path;
  }
  std::string text = path.lexically_normal().string();
  const bool system = system_ || is_system_file(text);
  return source_files_.emplace(name, SourceFile{std::move(text), system}).first->second;
}

}  // namespace tomos::symbols
