#include "runtime/shadow.h"

#include <errno.h>
#include <sys/mman.h>

#include "runtime/large_objects.h"

namespace tomos::runtime {

std::atomic<Region*>* regions = nullptr;

namespace {

// origins[i]: kStart | kEscaped? | half a distance | pc. origins[i + 1]: kSize | the other half |
// size. The distance is that of the caller from the pc: they mostly are in the same file.
constexpr std::uint64_t kStart = 1ULL << 63;
constexpr std::uint64_t kEscaped = 1ULL << 62;
constexpr std::uint64_t kSize = 1ULL << 61;
constexpr unsigned kPcBits = 48;
constexpr std::uint64_t kPcMask = (1ULL << kPcBits) - 1;
constexpr unsigned kHalfBits = 13;
constexpr std::uint64_t kHalfMask = (1ULL << kHalfBits) - 1;
constexpr std::size_t kLarge = std::size_t{32} << 10;
constexpr std::size_t kReset = std::size_t{256} << 10;  // give whole pages back from here on

void* reserve(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

std::atomic<std::uint64_t>* origin_at(Address address) {
  if (!has_shadow(address)) return nullptr;
  Region* region = region_of(address);
  if (region == nullptr) region = make_region(address);
  return region == nullptr ? nullptr : &region->origins[(address & (kRegionSize - 1)) >> 4];
}

// Of an address that has a region.
std::atomic<std::uint16_t>& starts_at(Address address) {
  return region_of(address)->starts[(address & (kRegionSize - 1)) >> kPageBits];
}

// The distance in bits, of which there are twice kHalfBits; 0: too far.
std::uint64_t distance(Address pc, Address caller) {
  constexpr std::uint64_t kFarthest = 1ULL << (2 * kHalfBits - 1);
  const std::uint64_t distance = caller - pc + kFarthest;
  return caller != 0 && distance < 2 * kFarthest ? distance : 0;
}

Address caller_of(Address pc, std::uint64_t low, std::uint64_t high) {
  const std::uint64_t distance = (low & kHalfMask) | (high & kHalfMask) << kHalfBits;
  return distance == 0 ? 0 : pc + distance - (1ULL << (2 * kHalfBits - 1));
}

// The origin at exactly this address.
Object object_at(Address start) {
  if (start == 0) return {};
  const std::atomic<std::uint64_t>* origin = origin_at(start);
  if (origin == nullptr) return {};
  const std::uint64_t first = origin->load(std::memory_order_acquire);
  if ((first & kStart) == 0) return {};
  const std::atomic<std::uint64_t>* second = origin_at(start + 16);
  if (second == nullptr) return {};
  const std::uint64_t other = second->load(std::memory_order_relaxed);
  const Address pc = first & kPcMask;
  return {.start = start,
          .size = other & kPcMask,
          .pc = pc,
          .caller = caller_of(pc, first >> kPcBits, other >> kPcBits),
          .escaped = (first & kEscaped) != 0};
}

}  // namespace

bool set_up_shadow() {
  regions =
      static_cast<std::atomic<Region*>*>(reserve(sizeof(Region*) << (kAddressBits - kRegionBits)));
  return regions != nullptr;
}

Region* make_region(Address address) {
  // Aligned as huge pages are.
  constexpr std::size_t kRoom = sizeof(Region) + kHugePage;
  const auto room = reinterpret_cast<Address>(reserve(kRoom));
  if (room == 0) return nullptr;
  const Address start = (room + kHugePage - 1) & ~(kHugePage - 1);
  if (start != room) munmap(reinterpret_cast<void*>(room), start - room);
  munmap(reinterpret_cast<void*>(start + sizeof(Region)), room + kRoom - start - sizeof(Region));
  auto* const fresh = reinterpret_cast<Region*>(start);
  Region* expected = nullptr;
  if (regions[address >> kRegionBits].compare_exchange_strong(expected, fresh)) return fresh;
  munmap(fresh, sizeof(Region));
  return expected;
}

namespace {

// A region full of small objects has all its cells in use, and they are looked up at random: on
// huge pages that takes half the time. Stacks and large buffers leave most of theirs untouched.
void note_small_object(Address start) {
  Region* const at = region_of(start);
  if (at == nullptr) return;
  Region& region = *at;
  constexpr std::uint32_t kMany = 16384;
  const std::uint32_t count = region.objects.load(std::memory_order_relaxed) + 1;
  if (count > kMany) return;
  region.objects.store(count, std::memory_order_relaxed);
  if (count != kMany) return;
  const int kept_errno = errno;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE, of newer kernels: at once
  madvise(&region, sizeof(region.cells), MADV_HUGEPAGE);
  madvise(&region, sizeof(region.cells), kCollapse);
  errno = kept_errno;
}

}  // namespace

void unfold(Region& region, Address address, Cell instead) {
  std::atomic<Cell>* const cells = &cell_in(region, address & ~(kPageSize - 1));
  for (std::size_t i = 0; i < kPageSize / 8; ++i) {
    cells[i].store(instead, std::memory_order_relaxed);
  }
  page_in(region, address).store(kMixed, std::memory_order_release);
}

void unfold(Region& region, Address address) {
  const PageState page = page_in(region, address).load(std::memory_order_relaxed);
  if (is_uniform(page)) unfold(region, address, page);
}

namespace {

void clear(std::atomic<Cell>* first, std::atomic<Cell>* last) {
  for (; first < last; ++first) first->store(kUntouched, std::memory_order_relaxed);
}

// The page that holds `at`. True if the cells of the page are untouched already.
bool forget_page(Region& region, Address at, Address stop) {
  std::atomic<PageState>& page = page_in(region, at);
  const PageState old = page.load(std::memory_order_relaxed);
  const bool whole = at % kPageSize == 0 && stop - at >= kPageSize;
  if (whole) page.store(kCells, std::memory_order_relaxed);
  if (!is_uniform(old)) return false;
  if (!whole) unfold(region, at);
  return whole;
}

}  // namespace

void forget_cells(Address start, std::size_t size) {
  Address at = start & ~Address{7};
  const Address end = start + size;
  while (at < end && has_shadow(at)) {
    const Address region_end = (at | (kRegionSize - 1)) + 1;
    const Address stop = end < region_end ? end : region_end;
    if (Region* region = region_of(at); region != nullptr) {
      std::atomic<Cell>* const first = &cell_in(*region, at);
      std::atomic<Cell>* const last = &cell_in(*region, stop - 1) + 1;
      const bool large = stop - at >= kReset;
      for (Address next = 0; at < stop; at = next) {
        next = (at | (kPageSize - 1)) + 1;
        if (next > stop) next = stop;
        if (forget_page(*region, at, stop)) continue;
        if (!large) clear(&cell_in(*region, at), &cell_in(*region, next - 1) + 1);
      }
      if (large) {
        const Address page = (reinterpret_cast<Address>(first) + 4095) & ~Address{4095};
        const Address page_end = reinterpret_cast<Address>(last) & ~Address{4095};
        madvise(reinterpret_cast<void*>(page), page_end - page, MADV_DONTNEED);
        clear(first, reinterpret_cast<std::atomic<Cell>*>(page));
        clear(reinterpret_cast<std::atomic<Cell>*>(page_end), last);
      }
    }
    at = stop;
  }
}

void add_object(Address start, std::size_t size, Address pc, Address caller) {
  if (size < 17) size = 17;
  if (size >= kLarge) large_objects::add(start);
  if (size < 1024) note_small_object(start);
  std::atomic<std::uint64_t>* first = origin_at(start);
  std::atomic<std::uint64_t>* second = origin_at(start + 16);
  if (first == nullptr || second == nullptr) return;
  const std::uint64_t away = distance(pc, caller);
  second->store(kSize | (away >> kHalfBits) << kPcBits | (size & kPcMask),
                std::memory_order_relaxed);
  starts_at(start).fetch_add(1, std::memory_order_relaxed);
  first->store(kStart | (away & kHalfMask) << kPcBits | (pc & kPcMask), std::memory_order_release);
}

Object remove_object(Address start) {
  const Object object = object_at(start);
  if (object.start == 0) return object;
  if (object.size >= kLarge) large_objects::remove(start);
  origin_at(start)->store(0, std::memory_order_relaxed);
  starts_at(start).fetch_sub(1, std::memory_order_relaxed);
  origin_at(start + 16)->store(0, std::memory_order_relaxed);
  return object;
}

Object find_object(Address inside) {
  if (!has_shadow(inside)) return {};
  const auto holds = [inside](const Object& object) {
    return object.start != 0 && inside - object.start < object.size;
  };
  Address at = (inside & ~Address{15}) + 16;
  const Address floor = at > kLarge ? at - kLarge : 16;
  const Region* region = region_of(inside);
  while (region != nullptr && at > floor) {
    at -= 16;
    if (region->starts[(at & (kRegionSize - 1)) >> kPageBits].load(std::memory_order_relaxed) ==
        0) {
      at &= ~(kPageSize - 1);
      if ((at & (kRegionSize - 1)) == 0) region = region_of(at - 16);
      continue;
    }
    if ((region->origins[(at & (kRegionSize - 1)) >> 4].load(std::memory_order_relaxed) & kStart) !=
        0) {
      const Object object = object_at(at);
      return holds(object) ? object : Object{};
    }
    if ((at & (kRegionSize - 1)) == 0) region = region_of(at - 16);
  }
  const Object object = object_at(large_objects::find(inside));
  return holds(object) ? object : Object{};
}

bool mark_escaped(Address start) {
  std::atomic<std::uint64_t>* origin = origin_at(start);
  return origin != nullptr && (origin->fetch_or(kEscaped) & kEscaped) == 0;
}

}  // namespace tomos::runtime
