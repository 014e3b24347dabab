// The debugging information of one file: its units, walked when first needed, and what things in it
// are called and where they stand.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/debug_file.h"
#include "symbols/symbols.h"
#include "symbols/unit.h"

namespace tomos::symbols {

// The entry that an attribute refers to.
std::optional<Dwarf_Die> referred(Dwarf_Die die, unsigned attribute);

// The entry that first declared this one: a definition outside of its class and the inlined or
// concrete copies of a function refer back to it.
Dwarf_Die declaration_of(Dwarf_Die die);

class DebugInfo {
 public:
  explicit DebugInfo(std::unique_ptr<DebugFile> file);

  DebugFile& file() { return *file_; }
  bool exists() const { return file_->dwarf() != nullptr; }

  // All units, of types too.
  std::size_t unit_count() const { return roots_.size(); }
  const Unit& unit(std::size_t index) { return unit_of(roots_[index]); }
  const Unit& unit_of(const Dwarf_Die& die);

  // The unit whose code an address is in; null if there is none.
  const Unit* unit_at(std::uint64_t address);

  // "ns::Account::deposit"; template arguments, no parameters.
  const std::string& qualified_name(const Dwarf_Die& die);

  // The frames at an address of an instruction in the file, innermost first; none if the debugging
  // information does not cover it.
  std::vector<Frame> frames(std::uint64_t address);

  // The entries of the frames: the innermost function, what it is inlined into, and so on.
  static std::vector<Dwarf_Die> scopes_at(const Unit& unit, std::uint64_t address);

  struct SourceFile {
    std::string path;
    bool system = false;
  };
  // The file that an attribute (DW_AT_decl_file, DW_AT_call_file) of an entry names.
  const SourceFile& source_file(Dwarf_Die die, unsigned attribute);

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::size_t root = 0;
  };
  struct Place {
    const SourceFile* file = nullptr;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
  };

  void find_units();
  std::string own_name(Dwarf_Die declaration);
  std::string linker_name(Dwarf_Die function, const std::string& own);
  std::string closure_name(const Dwarf_Die& closure);
  std::string make_name(const Dwarf_Die& die, int depth);
  Place place_at(const Unit& unit, std::uint64_t address);
  Place call_place(Dwarf_Die inlined);
  Place declared_at(Dwarf_Die function);
  const SourceFile& made_absolute(const char* name, Dwarf_Die root);

  std::unique_ptr<DebugFile> file_;
  bool system_;  // a library of the system: what it is made of is not the user's, wherever it was
  std::vector<Dwarf_Die> roots_;
  std::vector<Range> ranges_;                                     // by begin
  std::unordered_map<const void*, std::unique_ptr<Unit>> units_;  // by Dwarf_Die::cu
  std::unordered_map<const void*, std::string> names_;            // by Dwarf_Die::addr
  std::unordered_map<const char*, SourceFile> source_files_;      // by libdw's copy of the name
  SourceFile no_file_;
};

}  // namespace tomos::symbols
