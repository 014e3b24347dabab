#include "trace/recording_survey.h"

#include <xxhash.h>

#include <algorithm>
#include <bitset>
#include <cstring>
#include <utility>

namespace tomos::recording {

namespace {

constexpr std::uint64_t kOfEachByte = 0x0101'0101'0101'0101;

std::uint64_t load_word(const std::uint8_t* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

}  // namespace

Survey::Page* Survey::page(std::uint64_t number) {
  if (Page* const page = pages_.find(number)) return page;
  if (pages_.size() >= max_pages_) {
    overflown_ = true;
    return nullptr;
  }
  return &pages_.at(number);
}

Survey::Bytes& Survey::bytes(Page& page) {
  if (!page.bytes) {
    page.bytes = std::make_unique<Bytes>();
    page.bytes->codes.fill(page.code);
    if (page.written) page.bytes->written.set(0, kPageSize);
    if (page.inside) page.bytes->inside.set(0, kPageSize);
    if (page.bound) page.bytes->bounds.set(0);
  }
  return *page.bytes;
}

// Frees the places of threads that no byte belongs to any more.
void Survey::forget_threads(Page& page) {
  std::bitset<256> used;
  for (std::size_t i = 0; i < kPageSize; ++i) used.set(page.bytes->codes[i]);
  std::array<Code, 256> renamed = {};
  renamed[kSeveral] = kSeveral;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < page.threads.size(); ++i) {
    if (!used.test(i + 1)) continue;
    page.threads[kept++] = page.threads[i];
    renamed[i + 1] = static_cast<Code>(kept);
  }
  page.threads.resize(kept);
  for (Code& code : page.bytes->codes) code = renamed[code];
  page.last_thread = kNobody;
}

Survey::Code Survey::code(Page& page, std::uint32_t thread) {
  if (page.last_thread == thread) return page.last_code;
  auto place = std::ranges::find(page.threads, thread);
  if (place == page.threads.end()) {
    if (page.threads.size() + 1 >= kSeveral && page.bytes) forget_threads(page);
    // No room: what this thread accesses counts as shared, which drops less than could be dropped.
    if (page.threads.size() + 1 >= kSeveral) return kSeveral;
    place = page.threads.insert(page.threads.end(), thread);
  }
  page.last_thread = thread;
  page.last_code = static_cast<Code>(place - page.threads.begin() + 1);
  return page.last_code;
}

Survey::Code Survey::meet(Code now, Code code) {
  return now == kUntouched || now == code ? code : kSeveral;
}

void Survey::touch(Page& page, std::size_t first, std::size_t end, How how) {
  if (!page.bytes && end - first == kPageSize) {
    page.code = meet(page.code, code(page, how.thread));
    page.written |= how.writes;
    page.inside |= how.inside;
    return;
  }
  Bytes& all = bytes(page);
  if (how.writes) all.written.set(first, end);
  if (how.inside) all.inside.set(first, end);
  // Almost always the bytes are in their final state already.
  const std::size_t size = end - first;
  const std::uint64_t mask = size < 8 ? ~(~std::uint64_t{0} << 8 * size) : ~std::uint64_t{0};
  const auto all_are = [&](Code code) {
    return ((load_word(all.codes.data() + first) ^ kOfEachByte * code) & mask) == 0;
  };
  if (size <= 8 && all_are(kSeveral)) return;
  const Code mine = code(page, how.thread);
  if (size <= 8 && all_are(mine)) return;
  if (std::all_of(all.codes.begin() + first, all.codes.begin() + end,
                  [mine](Code code) { return code == mine || code == kSeveral; })) {
    return;
  }
  for (std::size_t i = first; i < end; ++i) all.codes[i] = meet(all.codes[i], mine);
}

void Survey::put_bound(std::uint64_t address) {
  Page* const at = page(address / kPageSize);
  if (at == nullptr) return;
  if (address % kPageSize == 0 && !at->bytes) {
    at->bound = true;
  } else {
    bytes(*at).bounds.set(address % kPageSize);
  }
}

void Survey::access(How how, std::uint64_t address, std::uint64_t size) {
  if (size == 0) return;
  const std::size_t first = address % kPageSize;
  if (first + size < kPageSize) [[likely]] {
    Page* const at = page(address / kPageSize);
    if (at == nullptr) return;
    touch(*at, first, first + size, how);
    at->bytes->bounds.set(first);
    at->bytes->bounds.set(first + size);
    return;
  }
  const std::uint64_t end = address + size;
  for (std::uint64_t from = address; from < end;) {
    const std::uint64_t start = from / kPageSize * kPageSize;
    const std::uint64_t to = std::min(end, start + kPageSize);
    Page* const at = page(start / kPageSize);
    if (at == nullptr) return;
    touch(*at, from - start, to - start, how);
    from = to;
  }
  put_bound(address);
  put_bound(end);
}

void Survey::accesses(How how, std::uint64_t address, std::uint64_t size, std::uint64_t count) {
  if (size == 0) return;
  const std::uint64_t end = address + size * count;
  for (std::uint64_t from = address; from < end;) {
    const std::uint64_t start = from / kPageSize * kPageSize;
    const std::uint64_t to = std::min(end, start + kPageSize);
    Page* const at = page(start / kPageSize);
    if (at == nullptr) return;
    Bytes& all = bytes(*at);
    touch(*at, from - start, to - start, how);
    // The first bound in this page: elements may lie across two pages.
    std::uint64_t bound = (from - address + size - 1) / size * size + address - start;
    for (; bound < to - start; bound += size) all.bounds.set(bound);
    from = to;
  }
  put_bound(end);
}

bool Survey::touched(std::uint64_t address) {
  const Page* const at = pages_.find(address / kPageSize);
  if (at == nullptr) return false;
  return (at->bytes ? at->bytes->codes[address % kPageSize] : at->code) != kUntouched;
}

// What is known of some bytes of a page; the other bits are zero.
PageMap Survey::map_of(const Page& page, std::size_t first, std::size_t end) const {
  PageMap map;
  if (!page.bytes) {
    const bool matters = everything_ ? page.code != kUntouched
                                     : page.code == kSeveral && page.written && page.inside;
    if (matters) map.matters.set(first, end);
    if (page.bound && first == 0) map.bounds.set(0);
    return map;
  }
  const Bytes& all = *page.bytes;
  PageBits::visit_words(first, end, [&](std::size_t word, std::uint64_t mask) {
    std::uint64_t candidates =
        everything_ ? mask : all.written.word(word) & all.inside.word(word) & mask;
    std::uint64_t matters = 0;
    for (; candidates != 0; candidates &= candidates - 1) {
      const int bit = std::countr_zero(candidates);
      const Code code = all.codes[word * 64 + bit];
      if (everything_ ? code != kUntouched : code == kSeveral) matters |= std::uint64_t{1} << bit;
    }
    map.matters.word(word) = matters;
    map.bounds.word(word) = all.bounds.word(word) & mask;
  });
  return map;
}

// An entry about a life in which nothing mattered is needed only for the sake of one that matters,
// directly before it or directly behind it.
void Survey::squeeze(Page& page) {
  PageBits idle;  // bytes in whose next life nothing matters, as far as the log tells
  std::vector<Change> kept;
  for (auto entry = page.log.list.rbegin(); entry != page.log.list.rend(); ++entry) {
    if (entry->bits != Change::kNothing) {
      idle.clear(entry->first, entry->end);
    } else {
      bool covered = true;
      PageBits::visit_words(entry->first, entry->end, [&](std::size_t word, std::uint64_t mask) {
        covered &= (mask & ~idle.word(word)) == 0;
      });
      if (covered) continue;
      idle.set(entry->first, entry->end);
    }
    kept.push_back(*entry);
  }
  std::ranges::reverse(kept);
  page.log.list = std::move(kept);
  page.squeeze_at = std::max<std::size_t>(16, 2 * page.log.list.size());
}

void Survey::end_life(Page& page, std::size_t first, std::size_t end) {
  bool any = page.code != kUntouched;
  if (page.bytes) {
    any = std::any_of(page.bytes->codes.begin() + first, page.bytes->codes.begin() + end,
                      [](Code code) { return code != kUntouched; });
  }
  // A life without accesses can as well be part of the next one.
  if (any) {
    page.log.add(frees_, first, end, map_of(page, first, end));
    if (page.log.list.size() >= page.squeeze_at) squeeze(page);
  }
  ++page.ended;
  if (end - first == kPageSize) {
    page.bytes.reset();
    page.code = kUntouched;
    page.written = page.inside = page.bound = false;
    page.threads.clear();
    page.last_thread = kNobody;
  } else if (any || page.bytes) {
    Bytes& all = bytes(page);
    std::fill(all.codes.begin() + first, all.codes.begin() + end, kUntouched);
    all.written.clear(first, end);
    all.inside.clear(first, end);
    all.bounds.clear(first, end);
  } else if (first == 0) {
    page.bound = false;
  }
}

bool Survey::is_repeated(const Record& record, bool inside) {
  const std::uint64_t size = kTouchedElements * record.small;
  if (size == 0) return true;
  const std::uint64_t who =
      (std::uint64_t{record.thread} << 8 | record.small) * 0x9e37'79b9'7f4a'7c15;
  const std::uint64_t seed = record.value ^ who ^ std::uint64_t{inside} << 63;
  Seen seen = {.digest = XXH3_64bits_withSeed(record.extra, kTouchedSlots * sizeof(Slot), seed)};
  for (std::uint64_t number = record.value / kPageSize;
       number <= (record.value + size - 1) / kPageSize; ++number) {
    if (const Page* const page = pages_.find(number)) seen.ended += page->ended;
  }
  Seen& known = seen_[seen.digest % seen_.size()];
  if (known.digest == seen.digest && known.ended == seen.ended) return true;
  known = seen;
  return false;
}

void Survey::free(std::uint64_t address, std::uint64_t size) {
  if (size > 0) {
    const std::uint64_t end = address + size;
    const bool cuts = touched(address) || (address > 0 && touched(address - 1));
    if (cuts) put_bound(address);
    if (touched(end) || touched(end - 1)) put_bound(end);
    pages_.in_range(
        address / kPageSize, (end - 1) / kPageSize + 1, [&](std::uint64_t number, Page& at) {
          const std::uint64_t start = number * kPageSize;
          end_life(at, std::max(address, start) - start, std::min(end, start + kPageSize) - start);
        });
    if (cuts) put_bound(address);
  }
  ++frees_;
}

std::vector<SurveyedPage> Survey::finish() {
  std::vector<SurveyedPage> surveyed;
  pages_.drain([&](std::uint64_t number, Page page) {
    PageMap map = map_of(page, 0, kPageSize);
    // Backwards through the lives: what a free leads to is what was known when the next life of
    // the same bytes ended.
    Changes changes;
    for (auto life = page.log.list.rbegin(); life != page.log.list.rend(); ++life) {
      const std::size_t before = changes.list.size();
      changes.add(life->free, life->first, life->end, map);
      page.log.apply(*life, map);
      if (changes.list.back().bits == Change::kNothing && life->bits == Change::kNothing) {
        changes.list.resize(before);
      }
    }
    std::ranges::reverse(changes.list);
    const bool matters = map.matters.find(0, kPageSize) != kPageSize;
    if (!matters && changes.list.empty()) return;
    surveyed.push_back({.number = number,
                        .map = matters ? std::make_unique<PageMap>(map) : nullptr,
                        .changes = std::move(changes)});
  });
  return surveyed;
}

}  // namespace tomos::recording
