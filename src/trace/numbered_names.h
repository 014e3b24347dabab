// A shortcut to the ids of names like T12 or V123456: a short prefix and a decimal number.
//
// For each kind and prefix a table, indexed by the number, remembers what Names::intern() gave. The
// tables of a kind grow only while its numbers stay dense: kSlack entries for each of its names
// (and a small start), so memory stays in proportion to the number of names however a trace numbers
// its objects. Whatever has no place in a table is looked up by its text.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "event/names.h"

namespace tomos {

class NumberedNames {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The id of the name that is `prefix` (bytes packed into a word) and `number`, or kNone if it is
  // not in a table.
  std::uint32_t find(NameKind kind, std::uint64_t prefix, std::uint32_t number) const {
    const Tables& tables = tables_[static_cast<std::size_t>(kind)];
    const Table* table = tables.data();
    if (table->prefix != prefix) [[unlikely]] {
      table = std::ranges::find(tables, prefix, &Table::prefix);
      if (table == tables.end()) return kNone;
    }
    return number < table->ids.size() ? table->ids[number] - 1 : kNone;
  }

  // Says that find() will soon be called with the same arguments.
  void expect(NameKind kind, std::uint64_t prefix, std::uint32_t number) const {
    const Table& table = tables_[static_cast<std::size_t>(kind)][0];
    if (table.prefix == prefix && number < table.ids.size()) {
      __builtin_prefetch(table.ids.data() + number);
    }
  }

  // Remembers the id if there is room for it; `count` names of this kind exist.
  void remember(NameKind kind, std::uint64_t prefix, std::uint32_t number, std::uint32_t id,
                std::size_t count) {
    Tables& tables = tables_[static_cast<std::size_t>(kind)];
    const auto table = std::ranges::find_if(
        tables, [prefix](const Table& t) { return t.prefix == prefix || t.ids.empty(); });
    if (table == tables.end()) return;
    if (number >= table->ids.size()) {
      std::size_t& entries = entries_[static_cast<std::size_t>(kind)];
      const std::size_t room = kStart + kSlack * count - entries + table->ids.size();
      if (number >= room) return;
      entries -= table->ids.size();
      table->ids.resize(std::max<std::size_t>(number + 1, std::min(room, 2 * table->ids.size())));
      entries += table->ids.size();
      table->prefix = prefix;
    }
    table->ids[number] = id + 1;
  }

 private:
  static constexpr std::size_t kPrefixes = 8;  // of one kind; further ones have no table
  static constexpr std::size_t kSlack = 8;
  static constexpr std::size_t kStart = 256;

  struct Table {
    std::uint64_t prefix = ~std::uint64_t{0};
    std::vector<std::uint32_t> ids;  // id + 1, or 0
  };

  using Tables = std::array<Table, kPrefixes>;

  std::array<Tables, kNameKindCount> tables_;
  std::array<std::size_t, kNameKindCount> entries_ = {};  // of a kind's tables together
};

}  // namespace tomos
