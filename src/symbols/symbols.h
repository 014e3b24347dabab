// Names for addresses, from the debugging information of the modules a recording names.
//
// Everything is looked up in the files, after the run, in this process, and kept: a second question
// about the same address costs a hash lookup.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "event/error.h"

namespace tomos {

struct Frame {
  std::string function;  // "Account::deposit": qualified, template arguments, no parameters
  std::string file;      // as the debugging information has it, made absolute if it can be
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool system = false;  // from a header of the system, or a file without debugging information

  friend bool operator==(const Frame&, const Frame&) = default;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  // A module of the process: the file, what to subtract from an address to get one of the file, and
  // the addresses it takes up. The file is opened when first needed; one that cannot be read or has
  // no debugging information still gives what its symbol table has.
  void add_module(std::string path, std::uint64_t bias, std::uint64_t first, std::uint64_t end);

  // The frames at a return address (the call stands before it), innermost first: what was inlined,
  // then the function itself. One frame with the module's name if nothing else is known; empty for
  // an address in no module.
  const std::vector<Frame>& frames(std::uint64_t pc);

  // The global or static variable at an address, down to the member: "counter", "table[3].next",
  // "Registry::instance_.size_". Empty when there is none.
  const std::string& global(std::uint64_t address);

  // The type that was allocated at this pc (the return address in the caller of operator new or
  // malloc): "Account"; empty if unknown.
  const std::string& allocated_type(std::uint64_t pc);

  // The same for what a function hands on: the type of the object that an allocation somewhere
  // below the call at this pc has made, if the call's result goes to a pointer to a type for which
  // malloc gives this many usable bytes. Empty if it does not.
  const std::string& received_type(std::uint64_t pc, std::uint64_t size);

  // The member of a type at an offset: "Account::balance", "Node::key[2]". An offset beyond the
  // size is an element of an array of the type: "Account[3]::balance". Empty if the type is
  // unknown.
  const std::string& field(const std::string& type, std::uint64_t offset);

  // What stands in the way of good names: one sentence for each module without debugging
  // information in which something was looked up; not for the system's libraries.
  std::vector<std::string> problems() const;

  // The functions of a file that debugging information describes, by entry, without those that the
  // compiler made up; for compilers without our pass. One waits if it has a way to one of the
  // imported functions `waits`, as far as its compilation unit shows.
  struct Function {
    std::uint64_t entry = 0;  // in the file
    std::string name;
    std::string file;
    std::uint32_t line = 0;
    bool external = false;  // linkage
    bool is_private = false;
    bool system = false;
    bool waits = false;
  };
  static Result<std::vector<Function>> functions(const std::string& path,
                                                 std::span<const char* const> waits = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tomos
