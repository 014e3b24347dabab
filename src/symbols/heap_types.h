// What type of object an allocation makes.
//
// Asked in this order: the section `tomos_heap_types` that our compiler pass leaves in the file;
// the template arguments of the library function that allocates; the declaration of the one pointer
// on the line of the allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/debug_info.h"

namespace tomos::symbols {

class HeapTypes {
 public:
  explicit HeapTypes(DebugInfo& info);

  // `address` is of the call instruction in the file, `frames` what stands there. Empty: unknown.
  std::string allocated_at(std::uint64_t address, const std::vector<Frame>& frames);

  // What the pointer that gets the result of the call at `frames` points to. Whether the call
  // returns something new nobody knows here.
  std::string received_at(const std::vector<Frame>& frames) const;

 private:
  std::string recorded(const std::vector<Frame>& frames, std::string_view mark) const;
  std::string declared(std::uint64_t address, const std::vector<Frame>& frames);

  DebugInfo& info_;
  // By "file.cpp:12:5", with "()" behind it for a call that may not allocate. A template's line
  // allocates another type in each of its instances.
  std::unordered_map<std::string, std::vector<std::string>> recorded_;
};

// The type that a function of the standard library allocates memory for, by the function's name.
std::string allocated_by_library(std::string_view function);

}  // namespace tomos::symbols
