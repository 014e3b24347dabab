// A page of the program's memory, bit by bit: what the survey (recording_survey.h) finds out and
// the variables (recording_variables.h) are made from.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tomos::recording {

inline constexpr std::uint64_t kPageSize = 4096;
inline constexpr std::size_t kWords = kPageSize / 64;

// A bit for each byte of a page.
class PageBits {
 public:
  bool has(std::size_t bit) const { return (words_[bit / 64] >> bit % 64 & 1) != 0; }
  void set(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << bit % 64; }
  void set(std::size_t first, std::size_t end) {
    visit_words(first, end, [this](std::size_t word, std::uint64_t mask) { words_[word] |= mask; });
  }
  void clear(std::size_t first, std::size_t end) {
    visit_words(first, end,
                [this](std::size_t word, std::uint64_t mask) { words_[word] &= ~mask; });
  }
  // The first bit set from `first` on; `end` if there is none before it.
  std::size_t find(std::size_t first, std::size_t end) const {
    for (std::size_t word = first / 64; word * 64 < end; ++word) {
      std::uint64_t bits = words_[word];
      if (word == first / 64) bits &= ~std::uint64_t{0} << first % 64;
      if (bits != 0) return std::min<std::size_t>(word * 64 + std::countr_zero(bits), end);
    }
    return end;
  }
  std::uint64_t word(std::size_t i) const { return words_[i]; }
  std::uint64_t& word(std::size_t i) { return words_[i]; }

  // Calls `visit(word, mask)` for the words that hold the bits from `first` to before `end`.
  template <class Visit>
  static void visit_words(std::size_t first, std::size_t end, Visit visit) {
    while (first < end) {
      const std::size_t word = first / 64;
      const std::size_t stop = std::min(end, (word + 1) * 64);
      visit(word, ~std::uint64_t{0} >> (64 - (stop - first)) << first % 64);
      first = stop;
    }
  }

 private:
  std::array<std::uint64_t, kWords> words_ = {};
};

// The bytes of a page that are (part of) variables that matter, and where one variable ends and the
// next begins.
struct PageMap {
  PageBits matters;
  PageBits bounds;  // only to be asked of bytes that matter

  // The first byte from `first` on that does not belong to the variable of the byte before; `end`
  // if there is none before it.
  std::size_t end_of_variable(std::size_t first, std::size_t end) const {
    for (std::size_t word = first / 64; word * 64 < end; ++word) {
      std::uint64_t bits = bounds.word(word) | ~matters.word(word);
      if (word == first / 64) bits &= ~std::uint64_t{0} << first % 64;
      if (bits != 0) return std::min<std::size_t>(word * 64 + std::countr_zero(bits), end);
    }
    return end;
  }
};

// A free() after which some bytes of a page belong to other variables than before.
struct Change {
  std::uint64_t free = 0;  // number of the free, in the order of all of them
  std::uint16_t first = 0;
  std::uint16_t end = 0;
  std::uint32_t bits = kNothing;  // where Changes has the words of `matters` and `bounds`

  static constexpr std::uint32_t kNothing = ~std::uint32_t{0};  // nothing there matters
};

// The changes of a page, in order. Most objects are a few words long, so only their words are kept.
struct Changes {
  std::vector<Change> list;
  std::vector<std::uint64_t> words;

  void add(std::uint64_t free, std::size_t first, std::size_t end, const PageMap& map) {
    Change change = {.free = free,
                     .first = static_cast<std::uint16_t>(first),
                     .end = static_cast<std::uint16_t>(end)};
    if (map.matters.find(first, end) != end) {
      change.bits = static_cast<std::uint32_t>(words.size());
      PageBits::visit_words(first, end, [&](std::size_t word, std::uint64_t mask) {
        words.push_back(map.matters.word(word) & mask);
        words.push_back(map.bounds.word(word) & mask);
      });
    }
    list.push_back(change);
  }

  // Writes what `change` says into `map`.
  void apply(const Change& change, PageMap& map) const {
    std::size_t at = change.bits;
    PageBits::visit_words(change.first, change.end, [&](std::size_t word, std::uint64_t mask) {
      const bool nothing = change.bits == Change::kNothing;
      const std::uint64_t matters = nothing ? 0 : words[at++];
      const std::uint64_t bounds = nothing ? 0 : words[at++];
      map.matters.word(word) = (map.matters.word(word) & ~mask) | matters;
      map.bounds.word(word) = (map.bounds.word(word) & ~mask) | bounds;
    });
  }
};

// A page in which something matters at some time.
struct SurveyedPage {
  std::uint64_t number = 0;      // its address / kPageSize
  std::unique_ptr<PageMap> map;  // at the start; null: nothing matters
  Changes changes;

  SurveyedPage copy() const {
    return {.number = number,
            .map = map ? std::make_unique<PageMap>(*map) : nullptr,
            .changes = changes};
  }
  // How many variables that matter it has, one after the other: each has a bound where it starts.
  std::size_t variables() const {
    std::size_t count = 0;
    const auto add = [&count](std::uint64_t matters, std::uint64_t bounds) {
      count += static_cast<std::size_t>(std::popcount(matters & bounds));
    };
    for (std::size_t word = 0; map && word < kWords; ++word) {
      add(map->matters.word(word), map->bounds.word(word));
    }
    for (std::size_t i = 0; i + 1 < changes.words.size(); i += 2) {
      add(changes.words[i], changes.words[i + 1]);
    }
    return count;
  }
};

}  // namespace tomos::recording
