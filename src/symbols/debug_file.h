// A file of machine code, opened: its debugging information, its symbol table, its sections.
//
// Debugging information that was split off is looked for beside the file and under /usr/lib/debug.
// libdw is used without libdwfl, which would also ask servers on the network for it.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"

namespace tomos::symbols {

class DebugFile {
 public:
  static Result<std::unique_ptr<DebugFile>> open(const std::string& path);
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  const std::string& path() const { return path_; }
  Dwarf* dwarf() const { return dwarf_; }  // null: no debugging information

  // Whether code is loaded at this address of the file. What the linker left out still has
  // debugging information, at addresses where nothing is.
  bool has_code(std::uint64_t address) const;

  struct Symbol {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    const char* name = nullptr;
    bool function = false;
    bool weak = false;  // as of what every unit that uses it has a copy of
  };
  // The symbol whose bytes the address is one of.
  const Symbol* symbol(std::uint64_t address, bool function);
  std::vector<Symbol> functions();

  Elf* elf() const { return file_.elf; }

  // The bytes of a section; empty if there is none.
  std::string_view section(std::string_view name) const;

 private:
  struct Opened {
    int descriptor = -1;
    Elf* elf = nullptr;
    bool is_open() const { return elf != nullptr; }
    static Opened open(const std::string& path);
    void close();
  };

  explicit DebugFile(std::string path) : path_(std::move(path)) {}
  void find_split_off();
  void try_split_off(const std::string& path, std::string_view build_id);
  void read_segments();
  void read_symbols();
  bool read_symbols_of(Elf* elf, std::uint32_t section_type);

  std::string path_;
  Opened file_;
  Opened split_;  // the debugging information, when it is in a file of its own
  Dwarf* dwarf_ = nullptr;
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  std::vector<Segment> code_;
  bool symbols_read_ = false;
  std::vector<Symbol> symbols_;  // by address
};

}  // namespace tomos::symbols
