#include "symbols/debug_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "symbols/text.h"

namespace tomos::symbols {
namespace {

std::string_view build_id_of(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t length = dwelf_elf_gnu_build_id(elf, &bytes);
  if (length <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

// Only if it has compilation units: a file may have nothing but unwinding tables.
Dwarf* dwarf_of(Elf* elf) {
  Dwarf* dwarf = dwarf_begin_elf(elf, DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  Dwarf_CU* unit = nullptr;
  if (dwarf_get_units(dwarf, nullptr, &unit, nullptr, nullptr, nullptr, nullptr) == 0) return dwarf;
  dwarf_end(dwarf);
  return nullptr;
}

}  // namespace

DebugFile::Opened DebugFile::Opened::open(const std::string& path) {
  Opened opened;
  elf_version(EV_CURRENT);
  opened.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (opened.descriptor < 0) return opened;
  opened.elf = elf_begin(opened.descriptor, ELF_C_READ_MMAP, nullptr);
  return opened;
}

void DebugFile::Opened::close() {
  if (elf != nullptr) elf_end(elf);
  if (descriptor >= 0) ::close(descriptor);
}

Result<std::unique_ptr<DebugFile>> DebugFile::open(const std::string& path) {
  std::unique_ptr<DebugFile> file(new DebugFile(path));
  file->file_ = Opened::open(path);
  if (file->file_.descriptor < 0) {
    return std::unexpected(Error{path, std::generic_category().message(errno),
                                 "names for its addresses need the file the program was run from"});
  }
  GElf_Ehdr header;
  if (!file->file_.is_open() || elf_kind(file->file_.elf) != ELF_K_ELF ||
      gelf_getehdr(file->file_.elf, &header) == nullptr) {
    return std::unexpected(
        Error{path, "not an ELF file", "give an executable or a shared library"});
  }
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return std::unexpected(Error{path, "not linked: its addresses are not final",
                                 "give an executable or a shared library"});
  }
  file->read_segments();
  file->dwarf_ = dwarf_of(file->file_.elf);
  // Of the system's libraries the names of functions will do, and what is split off them is large.
  if (file->dwarf_ == nullptr && !is_system_file(path)) file->find_split_off();
  return file;
}

DebugFile::~DebugFile() {
  if (dwarf_ != nullptr) dwarf_end(dwarf_);
  split_.close();
  file_.close();
}

void DebugFile::find_split_off() {
  const std::string_view id = build_id_of(file_.elf);
  if (id.size() < 2) return;  // nothing would tell whether a file found belongs to this one
  std::string hex;
  for (const char byte : id) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  try_split_off(
      fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", hex.substr(0, 2), hex.substr(2)), id);

  GElf_Word checksum = 0;
  const char* name = dwelf_elf_gnu_debuglink(file_.elf, &checksum);
  if (name == nullptr) return;
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  for (const std::string& place :
       {folder + name, folder + ".debug/" + name, "/usr/lib/debug" + folder + name}) {
    try_split_off(place, id);
  }
}

void DebugFile::try_split_off(const std::string& path, std::string_view build_id) {
  if (dwarf_ != nullptr) return;
  Opened opened = Opened::open(path);
  if (opened.is_open() && elf_kind(opened.elf) == ELF_K_ELF &&
      build_id_of(opened.elf) == build_id) {
    dwarf_ = dwarf_of(opened.elf);
  }
  if (dwarf_ != nullptr) {
    split_ = opened;
  } else {
    opened.close();
  }
}

void DebugFile::read_segments() {
  std::size_t count = 0;
  if (elf_getphdrnum(file_.elf, &count) != 0) return;
  for (std::size_t i = 0; std::cmp_less(i, count); ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(file_.elf, static_cast<int>(i), &segment) == nullptr) return;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) {
      code_.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz});
    }
  }
}

bool DebugFile::has_code(std::uint64_t address) const {
  return std::ranges::any_of(code_, [&](const Segment& segment) {
    return segment.begin <= address && address < segment.end;
  });
}

bool DebugFile::read_symbols_of(Elf* elf, std::uint32_t section_type) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != section_type) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; data != nullptr && gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const int type = GELF_ST_TYPE(symbol.st_info);
      const bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
      if ((!function && type != STT_OBJECT) || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name == nullptr || *name == '\0') continue;
      const bool weak = GELF_ST_BIND(symbol.st_info) == STB_WEAK;
      symbols_.push_back({symbol.st_value, symbol.st_size, name, function, weak});
    }
  }
  return !symbols_.empty();
}

void DebugFile::read_symbols() {
  symbols_read_ = true;
  if (!(split_.is_open() && read_symbols_of(split_.elf, SHT_SYMTAB)) &&
      !read_symbols_of(file_.elf, SHT_SYMTAB)) {
    read_symbols_of(file_.elf, SHT_DYNSYM);
  }
  // Of several names for one place the same is taken on every run: the largest, then the shortest.
  std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
    if (a.address != b.address) return a.address < b.address;
    if (a.size != b.size) return a.size > b.size;
    const std::string_view left(a.name);
    const std::string_view right(b.name);
    return std::tuple(left.size(), left) < std::tuple(right.size(), right);
  });
}

const DebugFile::Symbol* DebugFile::symbol(std::uint64_t address, bool function) {
  if (!symbols_read_) read_symbols();
  auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  // Labels of the other kind and small ones inside a large one may stand between; not many do.
  constexpr int kNeighbours = 16;
  const Symbol* found = nullptr;
  for (int i = 0; i < kNeighbours && after != symbols_.begin(); ++i) {
    --after;
    if (found != nullptr && after->address != found->address) break;
    const bool inside = address - after->address < after->size || address == after->address;
    if (after->function == function && inside) found = &*after;
  }
  return found;
}

std::vector<DebugFile::Symbol> DebugFile::functions() {
  if (!symbols_read_) read_symbols();
  std::vector<Symbol> functions;
  std::ranges::copy_if(symbols_, std::back_inserter(functions), &Symbol::function);
  return functions;
}

std::string_view DebugFile::section(std::string_view name) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(file_.elf, &names) != 0) return {};
  for (Elf_Scn* section = elf_nextscn(file_.elf, nullptr); section != nullptr;
       section = elf_nextscn(file_.elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* found = elf_strptr(file_.elf, names, header.sh_name);
    if (found == nullptr || found != name) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

}  // namespace tomos::symbols
