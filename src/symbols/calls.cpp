// Calls are found without taking the code apart instruction by instruction: every byte is tried as
// the beginning of one. What is no call but looks like one would have to lead, by 32 bits of
// chance, just to the entry of a function. A wrong one would only make a function count as one that
// waits.
//
// The code is x86-64's:
//   e8 rel32, e9 rel32        call, jump (the last call of a function)
//   ff 15 rel32, ff 25 rel32  the same by an address in the global offset table
// A call of an imported function goes to such an `ff 25` in the procedure linkage table, or through
// the table itself; relocations tell whose address the dynamic linker puts there.
#include "symbols/calls.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace tomos::symbols {
namespace {

constexpr std::uint64_t kStub = 16;  // bytes of an entry of the procedure linkage table
constexpr std::uint64_t kWanted = ~std::uint64_t{0};  // no entry
constexpr std::uint64_t kOther = kWanted - 1;

struct Code {
  std::uint64_t address = 0;
  std::string_view bytes;
};

std::vector<Code> code_sections(Elf* elf) {
  std::vector<Code> found;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_PROGBITS ||
        (header.sh_flags & SHF_EXECINSTR) == 0) {
      continue;
    }
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    found.push_back({header.sh_addr, {static_cast<const char*>(data->d_buf), data->d_size}});
  }
  return found;
}

// By the place where the dynamic linker puts the address of a function: the entry of one of the
// file's own, which a library calls like this too, or kWanted for one of the imported ones.
using Slots = std::unordered_map<std::uint64_t, std::uint64_t>;

Slots slots_of(Elf* elf, std::span<const char* const> imported) {
  Slots slots;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA) continue;
    GElf_Shdr symbols_header;
    Elf_Scn* symbols = elf_getscn(elf, header.sh_link);
    if (symbols == nullptr || gelf_getshdr(symbols, &symbols_header) == nullptr) continue;
    Elf_Data* const relocations = elf_getdata(section, nullptr);
    Elf_Data* const names = elf_getdata(symbols, nullptr);
    if (relocations == nullptr || names == nullptr) continue;
    GElf_Rela relocation;
    for (int i = 0; gelf_getrela(relocations, i, &relocation) != nullptr; ++i) {
      const auto kind = GELF_R_TYPE(relocation.r_info);  // others fill the program's own pointers
      if (kind != R_X86_64_JUMP_SLOT && kind != R_X86_64_GLOB_DAT) continue;
      GElf_Sym symbol;
      if (gelf_getsym(names, static_cast<int>(GELF_R_SYM(relocation.r_info)), &symbol) == nullptr) {
        continue;
      }
      const char* name = elf_strptr(elf, symbols_header.sh_link, symbol.st_name);
      if (name == nullptr) continue;
      const auto is_it = [&](const char* one) { return std::strcmp(one, name) == 0; };
      if (symbol.st_shndx != SHN_UNDEF) {
        slots[relocation.r_offset] = symbol.st_value;
      } else if (std::ranges::any_of(imported, is_it)) {
        slots[relocation.r_offset] = kWanted;
      }
    }
  }
  return slots;
}

unsigned char byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<unsigned char>(bytes[i]);
}

// Where the four bytes at `i` point to, counted from behind them.
std::uint64_t target(const Code& code, std::size_t i) {
  std::int32_t distance = 0;
  std::memcpy(&distance, code.bytes.data() + i, sizeof(distance));
  return code.address + i + sizeof(distance) + static_cast<std::uint64_t>(distance);
}

class CallGraph {
 public:
  CallGraph(DebugFile& file, const UnitOf& unit_of, std::span<const char* const> imported)
      : unit_of_(unit_of),
        code_(code_sections(file.elf())),
        slots_(slots_of(file.elf(), imported)) {
    for (const DebugFile::Symbol& symbol : file.functions()) functions_[symbol.address] = symbol;
  }

  std::unordered_set<std::uint64_t> callers() {
    const auto is_wanted = [](const auto& slot) { return slot.second == kWanted; };
    if (std::ranges::none_of(slots_, is_wanted)) return {};
    for (const auto& [entry, symbol] : functions_) look_at(symbol);
    join_cold_parts();
    while (!open_.empty()) {
      const std::uint64_t waiting = open_.back();
      open_.pop_back();
      for (const std::uint64_t caller : callers_[waiting]) add(caller);
    }
    return std::move(found_);
  }

 private:
  void add(std::uint64_t function) {
    if (found_.insert(function).second) open_.push_back(function);
  }

  std::optional<Code> code_at(std::uint64_t address, std::uint64_t size) const {
    for (const Code& section : code_) {
      const std::uint64_t offset = address - section.address;
      if (address < section.address || offset >= section.bytes.size()) continue;
      return Code{address, section.bytes.substr(offset, size)};
    }
    return std::nullopt;
  }

  std::uint64_t at_slot(std::uint64_t slot) const {
    const auto found = slots_.find(slot);
    return found == slots_.end() ? kOther : found->second;
  }

  // Where an entry of the procedure linkage table leads to.
  std::uint64_t behind_stub(std::uint64_t address) {
    const auto [known, is_new] = stubs_.try_emplace(address, kOther);
    if (!is_new) return known->second;
    const std::optional<Code> stub = code_at(address, kStub);
    for (std::size_t i = 0; stub && i + 6 <= stub->bytes.size(); ++i) {
      if (byte_at(stub->bytes, i) == 0xff && byte_at(stub->bytes, i + 1) == 0x25) {
        return known->second = at_slot(target(*stub, i + 2));
      }
    }
    return kOther;
  }

  bool sees(std::uint64_t caller, const DebugFile::Symbol& callee) const {
    if (callee.weak) return true;
    const auto here = unit_of_.find(caller);
    const auto there = unit_of_.find(callee.address);
    return here != unit_of_.end() && there != unit_of_.end() && here->second == there->second;
  }

  void look_at(const DebugFile::Symbol& function) {
    const std::optional<Code> code = code_at(function.address, function.size);
    if (!code) return;
    for (std::size_t i = 0; i + 6 <= code->bytes.size(); ++i) {
      const unsigned char first = byte_at(code->bytes, i);
      const unsigned char second = byte_at(code->bytes, i + 1);
      if (first == 0xe8 || first == 0xe9) {
        const std::uint64_t to = target(*code, i + 1);
        add_call(function.address, functions_.contains(to) ? to : behind_stub(to));
      } else if (first == 0xff && (second == 0x15 || second == 0x25)) {
        add_call(function.address, at_slot(target(*code, i + 2)));
      }
    }
  }

  void add_call(std::uint64_t from, std::uint64_t to) {
    if (to == kWanted) {
      add(from);
    } else if (const auto callee = functions_.find(to); callee != functions_.end()) {
      if (sees(from, callee->second)) callers_[to].push_back(from);
    }
  }

  // g++ moves what is unlikely out of a function f to "f.cold", and jumps into the middle of it.
  void join_cold_parts() {
    constexpr std::string_view kCold = ".cold";
    std::unordered_map<std::string_view, std::uint64_t> cold;
    for (const auto& [entry, symbol] : functions_) {
      const std::string_view name = symbol.name;
      if (name.ends_with(kCold)) cold[name.substr(0, name.size() - kCold.size())] = entry;
    }
    if (cold.empty()) return;
    for (const auto& [entry, symbol] : functions_) {
      const auto part = cold.find(symbol.name);
      if (part != cold.end()) callers_[part->second].push_back(entry);
    }
  }

  const UnitOf& unit_of_;
  std::vector<Code> code_;
  Slots slots_;
  std::unordered_map<std::uint64_t, DebugFile::Symbol> functions_;
  std::unordered_map<std::uint64_t, std::uint64_t> stubs_;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> callers_;
  std::unordered_set<std::uint64_t> found_;
  std::vector<std::uint64_t> open_;
};

}  // namespace

std::unordered_set<std::uint64_t> callers_of(DebugFile& file, const UnitOf& unit_of,
                                             std::span<const char* const> imported) {
  GElf_Ehdr header;
  if (imported.empty() || gelf_getehdr(file.elf(), &header) == nullptr ||
      header.e_machine != EM_X86_64) {
    return {};
  }
  return CallGraph(file, unit_of, imported).callers();
}

}  // namespace tomos::symbols
