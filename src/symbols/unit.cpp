#include "symbols/unit.h"

#include <dwarf.h>

#include <algorithm>
#include <cstring>

#include "symbols/debug_file.h"

namespace tomos::symbols {
namespace {

// Nesting in real programs stays far below; a damaged file must not use up the stack.
constexpr int kDeepest = 256;

bool has_fixed_address(Dwarf_Die* variable) {
  Dwarf_Attribute attribute;
  Dwarf_Block block;
  return dwarf_attr(variable, DW_AT_location, &attribute) != nullptr &&
         dwarf_formblock(&attribute, &block) == 0 && block.length > 0 &&
         (*block.data == DW_OP_addr || *block.data == DW_OP_addrx);
}

bool is_closure(Dwarf_Die* type, int tag) {
  const char* name = dwarf_diename(type);
  if (name != nullptr) return std::strncmp(name, "<lambda", 7) == 0;
  if (tag == DW_TAG_class_type) return true;  // clang's; anyone else's class has a name
  // g++'s: a nameless struct with a call operator.
  Dwarf_Die child;
  for (int more = dwarf_child(type, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    if (dwarf_tag(&child) != DW_TAG_subprogram) continue;
    const char* method = dwarf_diename(&child);
    if (method != nullptr && std::strcmp(method, "operator()") == 0) return true;
  }
  return false;
}

}  // namespace

Unit::Unit(Dwarf_Die root, const DebugFile& file) : root_(root), file_(file) {
  last_ = root.addr;
  walk(root, -1, -1, 0);
  make_segments();
}

void Unit::walk(Dwarf_Die die, std::int32_t container, std::int32_t scope, int depth) {
  Dwarf_Die child;
  if (depth > kDeepest || dwarf_child(&die, &child) != 0) return;
  do {
    // Forward only: in a damaged file a sibling may be said to be anywhere.
    if (!std::less<>()(last_, child.addr)) return;
    last_ = child.addr;
    visit(child, container, scope, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

void Unit::visit(Dwarf_Die die, std::int32_t container, std::int32_t scope, int depth) {
  const int tag = dwarf_tag(&die);
  const auto walk_as_container = [&](std::int32_t inner_scope) {
    const auto self = static_cast<std::int32_t>(containers_.size());
    containers_.push_back({die.addr, nullptr, container});
    walk(die, self, inner_scope, depth);
    containers_[static_cast<std::size_t>(self)].last = last_;
  };
  switch (tag) {
    case DW_TAG_namespace:
      walk_as_container(-1);
      break;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
      if (is_closure(&die, tag)) closures_.push_back(die.addr);
      if (dwarf_hasattr(&die, DW_AT_declaration) == 0 && dwarf_hasattr(&die, DW_AT_name) != 0) {
        types_.push_back(die.addr);
      }
      walk_as_container(-1);
      break;
    case DW_TAG_typedef:
    case DW_TAG_enumeration_type:
    case DW_TAG_base_type:
      if (dwarf_hasattr(&die, DW_AT_name) != 0) types_.push_back(die.addr);
      break;
    case DW_TAG_subprogram:
      if (dwarf_hasattr(&die, DW_AT_declaration) == 0) walk_as_container(add_scope(die, -1));
      break;
    case DW_TAG_inlined_subroutine: {
      const std::int32_t self = add_scope(die, scope);
      walk(die, container, self < 0 ? scope : self, depth);
      break;
    }
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      walk(die, container, scope, depth);
      break;
    case DW_TAG_variable:
      if (has_fixed_address(&die)) variables_.push_back(die.addr);
      break;
    default:
      break;
  }
}

std::int32_t Unit::add_scope(Dwarf_Die die, std::int32_t parent) {
  std::int32_t self = -1;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t next = dwarf_ranges(&die, 0, &base, &begin, &end); next > 0;
       next = dwarf_ranges(&die, next, &base, &begin, &end)) {
    if (begin >= end || !file_.has_code(begin)) continue;
    if (self < 0) {
      self = static_cast<std::int32_t>(scopes_.size());
      scopes_.push_back({die.addr, parent});
    }
    ranges_.push_back({begin, end, self});
  }
  return self;
}

void Unit::make_segments() {
  // Outer ranges before the ones inside them; a scope comes after the one it is inlined into.
  std::ranges::sort(ranges_, [](const Range& a, const Range& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return a.scope < b.scope;
  });
  const auto begins = [this](std::uint64_t address, std::int32_t scope) {
    if (!segments_.empty() && segments_.back().begin == address) {
      segments_.back().scope = scope;
    } else {
      segments_.push_back({address, scope});
    }
  };
  std::vector<Range> open;
  const auto close_up_to = [&](std::uint64_t address) {
    while (!open.empty() && open.back().end <= address) {
      const std::uint64_t end = open.back().end;
      open.pop_back();
      begins(end, open.empty() ? -1 : open.back().scope);
    }
  };
  for (Range range : ranges_) {
    close_up_to(range.begin);
    if (!open.empty()) range.end = std::min(range.end, open.back().end);
    begins(range.begin, range.scope);
    open.push_back(range);
  }
  close_up_to(UINT64_MAX);
  ranges_ = {};
}

const Unit::Segment* Unit::segment(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(segments_, address, {}, &Segment::begin);
  return after == segments_.begin() ? nullptr : &*std::prev(after);
}

std::optional<Dwarf_Die> Unit::container(const Dwarf_Die& die) const {
  const std::less<> before;
  const auto after = std::ranges::lower_bound(containers_, static_cast<const void*>(die.addr),
                                              before, &Container::begin);
  auto index = static_cast<std::int32_t>(after - containers_.begin()) - 1;
  while (index >= 0) {
    const Container& candidate = containers_[static_cast<std::size_t>(index)];
    if (!before(candidate.last, die.addr)) return die_at(const_cast<void*>(candidate.begin), root_);
    index = candidate.parent;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> fixed_address(Dwarf_Die variable) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr ||
      dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) {
    return std::nullopt;  // more than one operation: thread-local, or computed
  }
  if (operations[0].atom == DW_OP_addr) return operations[0].number;
  Dwarf_Attribute value;
  Dwarf_Addr address = 0;
  if (operations[0].atom == DW_OP_addrx &&
      dwarf_getlocation_attr(&attribute, &operations[0], &value) == 0 &&
      dwarf_formaddr(&value, &address) == 0) {
    return address;
  }
  return std::nullopt;
}

}  // namespace tomos::symbols
