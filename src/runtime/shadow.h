// Shadow memory: a cell for every eight bytes of the program, and the origin of every heap object.
//
// A table of regions, four megabytes of the program each, made when first needed: no fixed
// addresses, any layout of the address space. Untouched parts of both cost only address space.
//
// A page of the program that lies within one heap object, and whose cells are all local to one
// thread or all ignored, has that state itself; its cells are untouched then. Large buffers of one
// thread, the bulk of what many programs work on, so cost no cells.
//
// The origin of a heap object stands at the sixteen bytes where the object starts (and its size at
// the next sixteen: the allocator gives no object less than that). Looking for the object that an
// address lies in is a walk back to the nearest origin; large objects, for which it would be long,
// are kept in a list (large_objects.cpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/cell.h"
#include "runtime/hooks.h"

namespace tomos::runtime {

inline constexpr unsigned kAddressBits = 47;
inline constexpr unsigned kRegionBits = 22;
inline constexpr std::size_t kRegionSize = 1ULL << kRegionBits;
inline constexpr std::size_t kCellsPerRegion = kRegionSize / 8;
inline constexpr std::size_t kOriginsPerRegion = kRegionSize / 16;

using PageState = std::uint32_t;        // a cell's value, or
inline constexpr PageState kCells = 0;  // see the cells
// No longer one state, until the memory is freed.
inline constexpr PageState kMixed = 2;
constexpr bool is_uniform(PageState page) { return page != kCells && page != kMixed; }
inline constexpr unsigned kPageBits = 12;
inline constexpr std::size_t kPageSize = 1U << kPageBits;

struct Region {
  std::atomic<Cell> cells[kCellsPerRegion];
  std::atomic<std::uint64_t> origins[kOriginsPerRegion];
  std::atomic<PageState> pages[kRegionSize >> kPageBits];
  std::atomic<std::uint16_t> starts[kRegionSize >> kPageBits];  // of objects in each page
  std::atomic<std::uint32_t> objects;  // small ones that were made here; the first few thousand
};
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

extern std::atomic<Region*>* regions;

bool set_up_shadow();                  // false: no address space for it
Region* make_region(Address address);  // nullptr: no memory

inline bool has_shadow(Address address) { return address >> kAddressBits == 0; }

inline Region* region_of(Address address) {
  return regions[address >> kRegionBits].load(std::memory_order_acquire);
}

inline std::atomic<Cell>& cell_in(Region& region, Address address) {
  return region.cells[(address & (kRegionSize - 1)) >> 3];
}

inline std::atomic<PageState>& page_in(Region& region, Address address) {
  return region.pages[(address & (kRegionSize - 1)) >> kPageBits];
}

// The region, made if need be; nullptr for addresses without shadow.
inline Region* region_at(Address address) {
  if (!has_shadow(address)) return nullptr;
  Region* region = region_of(address);
  return region == nullptr ? make_region(address) : region;
}

// What the cell says, or the page for it.
inline Cell cell_value(Region& region, Address address) {
  const PageState page = page_in(region, address).load(std::memory_order_acquire);
  return is_uniform(page) ? page : cell_in(region, address).load(std::memory_order_relaxed);
}

// The cells of a page get what the page says, or `instead` of it.
void unfold(Region& region, Address address);
void unfold(Region& region, Address address, Cell instead);

// All cells of a range become untouched.
void forget_cells(Address start, std::size_t size);

// --- Heap objects.
struct Object {
  Address start = 0;  // 0: none
  std::size_t size = 0;
  Address pc = 0;      // where it was allocated
  Address caller = 0;  // who called the function there; 0: unknown
  bool escaped = false;
};

void add_object(Address start, std::size_t size, Address pc, Address caller = 0);
// Returns what it was.
Object remove_object(Address start);
Object find_object(Address inside);
// True for the one caller who made it so.
bool mark_escaped(Address start);

}  // namespace tomos::runtime
