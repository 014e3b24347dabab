// The names behind the dense numbers of events.
//
// Locations that are plain numbers (as most trace tools write them) need no table entry: a
// LocationId with the top bit set *is* the number. A trace in which every event has a line of its
// own therefore costs no memory here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/event.h"

namespace tomos {

// What signals and waits are about is named among the barriers.
enum class NameKind : std::uint8_t { kThread, kLock, kVariable, kBarrier, kLabel, kLocation };
inline constexpr std::size_t kNameKindCount = 6;

inline constexpr LocationId kNumericLocation = 0x8000'0000U;

// What an operation's object is; kLocation where it has none.
constexpr NameKind object_kind(Op op) {
  switch (op) {
    case Op::kBegin:
      return NameKind::kLabel;
    case Op::kRead:
    case Op::kWrite:
    case Op::kNew:
    case Op::kEscape:
    case Op::kFree:
      return NameKind::kVariable;
    case Op::kAcquire:
    case Op::kRelease:
    case Op::kReadAcquire:
    case Op::kReadRelease:
      return NameKind::kLock;
    case Op::kFork:
    case Op::kJoin:
      return NameKind::kThread;
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
      return NameKind::kBarrier;
    case Op::kEnd:
    case Op::kExit:
      break;
  }
  return NameKind::kLocation;
}

class Names {
 public:
  Names();

  // The id of `name`, made if it is new. Ids of a kind count up from 0; label 0 and location 0 are
  // the empty name.
  std::uint32_t intern(NameKind kind, std::string_view name);

  // Says that intern() will soon be called with the same arguments.
  void expect(NameKind kind, std::string_view name) const;

  // Adds a name without looking for an equal one (a trace file may give two objects one name).
  // Returns its id.
  std::uint32_t add(NameKind kind, std::string_view name);

  // Adds something whose name takes effort to find out: `make` is asked for it, with kind and id,
  // when somebody wants to see it, and answers with set_name(). Most names nobody ever sees.
  std::uint32_t add_unnamed(NameKind kind);
  void name_on_demand(std::function<void(NameKind, std::uint32_t)> make) {
    make_ = std::move(make);
  }
  void set_name(NameKind kind, std::uint32_t id, std::string_view name);

  // The name; for a numeric location its digits.
  std::string name(NameKind kind, std::uint32_t id) const;

  // The same without a copy, for ids below count(). Valid as long as this object.
  std::string_view view(NameKind kind, std::uint32_t id) const {
    const std::vector<std::string_view>& names = tables_[static_cast<std::size_t>(kind)].names;
    if (names.at(id).data() == &kUnnamed) [[unlikely]]
      make_(kind, id);
    return names[id];
  }

  // Says that view() will soon be called with the same arguments.
  void expect(NameKind kind, std::uint32_t id) const {
    __builtin_prefetch(tables_[static_cast<std::size_t>(kind)].names.data() + id);
  }

  // How many ids of this kind exist (numeric locations not counted).
  std::uint32_t count(NameKind kind) const;

  // Whether `id` is one of them, or a numeric location.
  bool has(NameKind kind, std::uint32_t id) const {
    return id < count(kind) || (kind == NameKind::kLocation && (id & kNumericLocation) != 0);
  }

 private:
  struct Slot {
    std::uint32_t next_id = 0;  // id + 1, or 0
    std::uint32_t tag = 0;      // of the hash: spares most looks at the name itself
  };
  struct Table {
    std::vector<std::string_view> names;
    std::vector<Slot> slots;  // open addressing; empty until somebody interns
  };
  static constexpr char kUnnamed = 0;  // where the view of a name that is still to be made points
  std::string_view keep(std::string_view name);
  void grow(Table& table) const;

  std::uint64_t seed_;
  std::array<Table, kNameKindCount> tables_;
  std::function<void(NameKind, std::uint32_t)> make_;
  std::vector<std::unique_ptr<char[]>> arena_;
  std::size_t arena_left_ = 0;
  char* arena_next_ = nullptr;
};

}  // namespace tomos
