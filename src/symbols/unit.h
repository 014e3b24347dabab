// One compilation unit of the debugging information, walked once from end to end.
//
// A walk keeps what questions are about: the code scopes (functions, and functions inlined into
// them) as a map from addresses to the innermost one, the entries that others are inside of (for
// qualified names), the variables with a fixed address, and the types. libdw has no way from an
// entry to the one around it; but the entries inside of one are contiguous in the file, so the
// nearest one before is it, or has it around itself.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tomos::symbols {

class DebugFile;

// `die` of the same unit whose description stands at `address` in memory.
inline Dwarf_Die die_at(void* address, const Dwarf_Die& same_unit) {
  Dwarf_Die die{};
  die.addr = address;
  die.cu = same_unit.cu;
  return die;
}

class Unit {
 public:
  Unit(Dwarf_Die root, const DebugFile& file);

  struct Scope {
    void* die = nullptr;
    std::int32_t parent = -1;  // index of the scope this one is inlined into; -1: a function
  };
  struct Segment {
    std::uint64_t begin = 0;  // up to the next segment's begin
    std::int32_t scope = -1;  // the innermost; -1: none
  };

  const Dwarf_Die& root() const { return root_; }
  const std::vector<Scope>& scopes() const { return scopes_; }
  // The segment an address lies in; null if it lies before the first.
  const Segment* segment(std::uint64_t address) const;

  // The namespace, class or function that an entry of this unit is directly inside of.
  std::optional<Dwarf_Die> container(const Dwarf_Die& die) const;

  const std::vector<void*>& variables() const { return variables_; }  // with a fixed address
  const std::vector<void*>& types() const { return types_; }          // with a name
  const std::vector<void*>& closures() const { return closures_; }    // classes of lambdas

 private:
  struct Container {
    const void* begin = nullptr;  // its own entry
    const void* last = nullptr;   // the last entry inside of it
    std::int32_t parent = -1;
  };
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::int32_t scope = -1;
  };

  void walk(Dwarf_Die die, std::int32_t container, std::int32_t scope, int depth);
  void visit(Dwarf_Die die, std::int32_t container, std::int32_t scope, int depth);
  std::int32_t add_scope(Dwarf_Die die, std::int32_t parent);
  void make_segments();

  Dwarf_Die root_;
  const DebugFile& file_;
  const void* last_ = nullptr;  // the last entry visited; the walk only goes forward
  std::vector<Scope> scopes_;
  std::vector<Range> ranges_;
  std::vector<Segment> segments_;
  std::vector<Container> containers_;
  std::vector<void*> variables_;
  std::vector<void*> types_;
  std::vector<void*> closures_;
};

// The address of a variable that has a fixed one.
std::optional<std::uint64_t> fixed_address(Dwarf_Die variable);

}  // namespace tomos::symbols
