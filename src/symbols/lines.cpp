#include "symbols/lines.h"

#include <dwarf.h>

#include <filesystem>
#include <string_view>

#include "symbols/debug_file.h"

namespace tomos {

namespace {

bool ends_with_path(std::string_view whole, std::string_view part) {
  return whole.ends_with(part) &&
         (whole.size() == part.size() || whole[whole.size() - part.size() - 1] == '/');
}

bool is_same_file(const char* name, const std::string& wanted) {
  if (name == nullptr) return false;
  const std::string path = std::filesystem::path(name).lexically_normal().string();
  return ends_with_path(path, wanted) || ends_with_path(wanted, path);
}

// Adds the code of calls in this line that are inlined, wherever below `die` they stand.
void add_inlined(Dwarf_Die& die, Dwarf_Files* files, const std::string& wanted, std::uint32_t line,
                 std::vector<CodeRange>& ranges) {
  Dwarf_Die child;
  if (dwarf_child(&die, &child) != 0) return;
  do {
    add_inlined(child, files, wanted, line, ranges);
    if (dwarf_tag(&child) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word called_at = 0;
    Dwarf_Word file = 0;
    if (dwarf_formudata(dwarf_attr(&child, DW_AT_call_line, &attribute), &called_at) != 0 ||
        called_at != line ||
        dwarf_formudata(dwarf_attr(&child, DW_AT_call_file, &attribute), &file) != 0 ||
        !is_same_file(dwarf_filesrc(files, file, nullptr, nullptr), wanted)) {
      continue;
    }
    Dwarf_Addr base = 0;
    CodeRange range;
    for (std::ptrdiff_t at = 0;
         (at = dwarf_ranges(&child, at, &base, &range.begin, &range.end)) > 0;) {
      ranges.push_back(range);
    }
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace

Result<std::vector<CodeRange>> code_of_line(const std::string& program, const std::string& file,
                                            std::uint32_t line, bool with_calls) {
  auto opened = symbols::DebugFile::open(program);
  if (!opened) return std::unexpected(opened.error());
  Dwarf* const dwarf = (*opened)->dwarf();
  std::vector<CodeRange> ranges;
  if (dwarf == nullptr) return ranges;
  const std::string wanted = std::filesystem::path(file).lexically_normal().string();
  Dwarf_Off at = 0;
  Dwarf_Off next = 0;
  std::size_t header = 0;
  for (; dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0; at = next) {
    Dwarf_Die unit;
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_offdie(dwarf, at + header, &unit) == nullptr ||
        dwarf_getsrclines(&unit, &lines, &count) != 0) {
      continue;
    }
    for (std::size_t i = 0; i + 1 < count; ++i) {
      Dwarf_Line* const row = dwarf_onesrcline(lines, i);
      bool ends = false;
      int number = 0;
      if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineno(row, &number) != 0 ||
          number != static_cast<int>(line)) {
        continue;
      }
      if (!is_same_file(dwarf_linesrc(row, nullptr, nullptr), wanted)) continue;
      CodeRange range;
      if (dwarf_lineaddr(row, &range.begin) == 0 &&
          dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &range.end) == 0 &&
          range.begin < range.end && (*opened)->has_code(range.begin)) {
        ranges.push_back(range);
      }
    }
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (with_calls && dwarf_getsrcfiles(&unit, &files, &file_count) == 0) {
      add_inlined(unit, files, wanted, line, ranges);
    }
  }
  return ranges;
}

}  // namespace tomos
