// The functions of a program that was compiled without the pass plugin (by g++), for its runtime.
#pragma once

#include <string>

#include "event/error.h"

namespace tomos {

// If `program`, a library that it is linked with or one in its folder reports its functions by
// address only (-finstrument-functions), writes a table of them to `table` and gives true. A line
// of the table is
//
//   module path, entry address in the file (hex), flags (hex, runtime/abi.h), line, name, file
//
// separated by tabs, sorted by module and address. A file that is no ELF file has no functions.
Result<bool> write_functions(const std::string& program, const std::string& table);

// Such a table for a program that is scheduled and not recorded, as long as this lives: a file in
// memory, so that nothing is left behind however this process ends.
class FunctionTable {
 public:
  explicit FunctionTable(const std::string& program);
  FunctionTable(const FunctionTable&) = delete;
  FunctionTable& operator=(const FunctionTable&) = delete;
  ~FunctionTable();

  // Empty if the program needs none, or none could be made: it can do without.
  const std::string& path() const { return path_; }
  // It stays open when this process becomes another program.
  void survive_exec() const;

 private:
  int descriptor_ = -1;
  std::string path_;
};

}  // namespace tomos
