#include "symbols/lines.h"

#include <filesystem>
#include <string_view>

#include "symbols/debug_file.h"

namespace tomos {

namespace {

bool ends_with_path(std::string_view whole, std::string_view part) {
  return whole.ends_with(part) &&
         (whole.size() == part.size() || whole[whole.size() - part.size() - 1] == '/');
}

}  // namespace

Result<std::vector<CodeRange>> code_of_line(const std::string& program, const std::string& file,
                                            std::uint32_t line) {
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
      const char* const name = dwarf_linesrc(row, nullptr, nullptr);
      if (name == nullptr) continue;
      const std::string path = std::filesystem::path(name).lexically_normal().string();
      if (!ends_with_path(path, wanted) && !ends_with_path(wanted, path)) continue;
      CodeRange range;
      if (dwarf_lineaddr(row, &range.begin) == 0 &&
          dwarf_lineaddr(dwarf_onesrcline(lines, i + 1), &range.end) == 0 &&
          range.begin < range.end && (*opened)->has_code(range.begin)) {
        ranges.push_back(range);
      }
    }
  }
  return ranges;
}

}  // namespace tomos
