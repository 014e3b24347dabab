// From an offset to the member that lies there.
//
// What is shown is what the user wrote: a path ends at a member of a type of the standard library
// ("Queue::items_", not "Queue::items_._M_impl._M_start"), except for std::array and std::pair,
// whose parts are the user's; and the library's nodes that hold an object of the user's
// (std::_List_node<T>, the control block of std::make_shared) are seen through to that object. Nor
// does a path lead into a type that is the C library's own affair, such as pthread_mutex_t: it is
// known by its members, all of which have names that begin with two underscores.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/debug_info.h"

namespace tomos::symbols {

class Layout {
 public:
  // Types are looked for in these, in this order.
  void add(DebugInfo* info);

  // "Account::balance": the member at an offset of a type given by name; empty if it is unknown.
  std::string field(std::string_view type_name, std::uint64_t offset);

  // "table[3].next": the part at an offset of a variable of this name and type.
  std::string part(DebugInfo& info, Dwarf_Die type, std::string name, std::uint64_t offset);

  // The bytes of a type given by name; 0: unknown.
  std::uint64_t size(std::string_view type_name);
  // The bytes of a type; 0: unknown.
  static std::uint64_t size_of(Dwarf_Die type);

 private:
  struct Type {
    DebugInfo* info = nullptr;
    Dwarf_Die die{};
  };
  // Where a walk into a type has come to.
  struct Path {
    std::string owner;   // the class that declares the first member; empty for a variable
    std::string text;    // "customer.name[2]"
    bool users = false;  // has come through the user's code: ends at a type of the library
  };

  std::optional<Type> find(std::string_view name);
  void index();
  void index(DebugInfo& info);
  Type defined(Type type);
  bool walk(Type type, std::uint64_t offset, Path& path, int depth);
  bool walk_class(const Type& type, std::uint64_t offset, Path& path, int depth);
  bool walk_member(const Type& type, Dwarf_Die member, std::uint64_t offset, Path& path, int depth);
  bool walk_base(const Type& type, Dwarf_Die base, std::uint64_t offset, Path& path, int depth);
  bool walk_array(const Type& type, std::uint64_t offset, Path& path, int depth);

  std::vector<DebugInfo*> infos_;
  std::size_t indexed_ = 0;                                        // how many of them
  std::unordered_map<std::string_view, std::vector<Type>> types_;  // by last_identifier
  std::unordered_map<std::string, std::optional<Type>> found_;
};

}  // namespace tomos::symbols
