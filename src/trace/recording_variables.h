// From addresses to variables, while the events are made.
//
// Each page has the bits that the survey found, and changes them at the frees where the survey says
// so. A variable's place is its first byte.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/recording_pages.h"
#include "trace/recording_table.h"

namespace tomos::recording {

class Variables {
 public:
  explicit Variables(std::vector<SurveyedPage> surveyed) {
    for (SurveyedPage& page : surveyed) {
      Page& mine = pages_.at(page.number);
      mine.map = std::move(page.map);
      mine.changes = std::move(page.changes);
    }
  }

  // What the user of this class keeps for the variable that starts at a byte. Zero until something
  // else is stored.
  using Place = std::uint32_t;

  // Whether anything between `address` and `end` matters.
  bool any(std::uint64_t address, std::uint64_t end) {
    while (address < end) {
      const Page* const page = pages_.find(address / kPageSize);
      const std::uint64_t start = address / kPageSize * kPageSize;
      const std::size_t stop = std::min(end - start, kPageSize);
      if (page != nullptr && page->map && page->map->matters.find(address - start, stop) != stop) {
        return true;
      }
      address = start + stop;
    }
    return false;
  }

  // Calls `visit(place, address, size)` for each variable that matters between `address` and `end`,
  // which are bounds. It can stop that by returning false. Returns where to go on.
  template <class Visit>
  std::uint64_t access(std::uint64_t address, std::uint64_t end, Visit visit) {
    while (address < end) {
      Page* const page = pages_.find(address / kPageSize);
      const std::uint64_t start = address / kPageSize * kPageSize;
      const std::size_t stop = std::min(end - start, kPageSize);
      std::size_t first = stop;
      if (page != nullptr && page->map) first = page->map->matters.find(address - start, stop);
      if (first == stop) {
        address = start + stop;
        continue;
      }
      const std::uint64_t next = end_of_variable(*page, start, first, end);
      address = next;
      if (!visit(place(*page, first), start + first, next - (start + first))) break;
    }
    return address;
  }

  // Calls `visit(place)` for every place in the range that is not zero, in order of addresses.
  template <class Visit>
  void free(std::uint64_t address, std::uint64_t size, Visit visit) {
    if (size > 0) {
      const std::uint64_t end = address + size;
      pages_.in_range(address / kPageSize, (end - 1) / kPageSize + 1,
                      [&](std::uint64_t number, Page& page) {
                        const std::uint64_t start = number * kPageSize;
                        free_in_page(page, std::max(address, start) - start,
                                     std::min(end, start + kPageSize) - start, visit);
                      });
    }
    ++frees_;
  }

 private:
  struct Page {
    std::unique_ptr<PageMap> map;
    Changes changes;
    std::size_t next_change = 0;
    // Most variables start at a multiple of four.
    std::unique_ptr<std::array<Place, kPageSize / 4>> places;
    std::unique_ptr<std::array<Place, kPageSize>> odd_places;
  };

  // Where the variable at start + first ends; `end` at the latest.
  std::uint64_t end_of_variable(const Page& page, std::uint64_t start, std::size_t first,
                                std::uint64_t end) {
    const PageMap* map = page.map.get();
    std::size_t from = first + 1;
    for (;;) {
      const std::size_t stop = std::min(end - start, kPageSize);
      const std::size_t found = map->end_of_variable(from, stop);
      if (found < kPageSize) return start + found;
      start += kPageSize;
      if (start >= end) return start;
      const Page* const next = pages_.find(start / kPageSize);
      if (next == nullptr || !next->map) return start;
      map = next->map.get();
      from = 0;
    }
  }

  static Place& place(Page& page, std::size_t at) {
    if (at % 4 == 0) {
      if (!page.places) page.places = std::make_unique<decltype(page.places)::element_type>();
      return (*page.places)[at / 4];
    }
    if (!page.odd_places) {
      page.odd_places = std::make_unique<decltype(page.odd_places)::element_type>();
    }
    return (*page.odd_places)[at];
  }

  template <class Visit>
  void free_in_page(Page& page, std::size_t first, std::size_t end, Visit& visit) {
    const auto visit_place = [&visit](Place& place) {
      if (place != 0) visit(place);
    };
    if (page.odd_places) {
      for (std::size_t at = first; at < end; ++at) {
        if (at % 4 != 0) {
          visit_place((*page.odd_places)[at]);
        } else if (page.places) {
          visit_place((*page.places)[at / 4]);
        }
      }
    } else if (page.places) {
      for (std::size_t at = (first + 3) / 4; at * 4 < end; ++at) visit_place((*page.places)[at]);
    }
    while (page.next_change < page.changes.list.size() &&
           page.changes.list[page.next_change].free == frees_) {
      if (!page.map) page.map = std::make_unique<PageMap>();
      page.changes.apply(page.changes.list[page.next_change++], *page.map);
      if (page.map->matters.find(0, kPageSize) == kPageSize) page.map.reset();
    }
  }

  std::uint64_t frees_ = 0;
  AddressTable<Page> pages_;
};

}  // namespace tomos::recording
