// Ids and names for what a recording knows by address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "event/names.h"
#include "trace/recording.h"
#include "trace/recording_table.h"
#include "trace/recording_tables.h"

namespace tomos::recording {

// The heap objects that are alive.
class Objects {
 public:
  void add(const Object& object);
  void free(std::uint64_t address, std::uint64_t size);
  // The object around an address, or null.
  const Object* find(std::uint64_t address) const;

 private:
  std::map<std::uint64_t, Object> objects_;
};

// Locks or barriers: an id for each life of an address.
class Lives {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The id, kNone at first.
  std::uint32_t& at(std::uint64_t address);
  // Ends the lives of the addresses in the range; calls `visit(id)` for each of them.
  template <class Visit>
  void end(std::uint64_t address, std::uint64_t size, Visit visit) {
    if (size == 0) return;
    pages_.in_range(address / kPage, (address + size - 1) / kPage + 1,
                    [&](std::uint64_t, std::vector<Life>& lives) {
                      std::erase_if(lives, [&](const Life& life) {
                        const bool ends = life.address >= address && life.address < address + size;
                        if (ends) visit(life.id);
                        return ends;
                      });
                    });
  }

 private:
  static constexpr std::uint64_t kPage = 4096;
  struct Life {
    std::uint64_t address = 0;
    std::uint32_t id = kNone;
  };
  AddressTable<std::vector<Life>> pages_;
};

class Naming {
 public:
  Naming(const Tables& tables, RecordingNames& source) : tables_(tables), source_(source) {
    names_.name_on_demand([this](NameKind kind, std::uint32_t id) { make_names(kind, id); });
  }
  Naming(const Naming&) = delete;
  Naming& operator=(const Naming&) = delete;

  const Names& names() const { return names_; }
  Objects& objects() { return objects_; }

  ThreadId thread(std::uint64_t number);
  // The location of a pc; `stack` is the thread's.
  LocationId location(std::uint64_t pc, std::uint64_t stack);
  std::span<const std::uint64_t> stack(LocationId location) const;
  bool is_users(std::uint64_t pc);

  struct Begin {
    LabelId label = 0;
    LocationId location = 0;  // 0: the label has none
  };
  // Of a transaction of this label, opened at `pc`; `stack` is the thread's.
  Begin begin(std::uint64_t number, std::uint64_t pc, std::uint64_t stack);

  LockId add_lock(std::uint64_t address, std::uint64_t pc);
  // The lock that makes the atomic operations on a variable indivisible.
  LockId add_atomic(VariableId variable);
  std::uint32_t add_barrier(std::uint64_t address, std::uint64_t pc);
  VariableId add_variable(std::uint64_t address, std::uint64_t size, std::uint64_t pc);
  // Whether the variable of this id, now freed, is named like the one that is here now.
  bool same_variable(VariableId variable, std::uint64_t address, std::uint64_t size,
                     std::uint64_t pc) const;

 private:
  // What the name of a lock, barrier or variable is made from when it is wanted. The locks of
  // atomic operations have the variable's name.
  struct Origin {
    std::uint64_t address = 0;
    std::uint64_t pc = 0;      // of the first access
    std::uint32_t size = 0;    // kAtomic: the address is a variable's id
    std::uint32_t object = 0;  // its place in kept_, + 1; 0: none
  };
  static constexpr std::uint32_t kAtomic = ~std::uint32_t{0};
  // Names given on demand.
  struct Made {
    std::vector<Origin> origins;                           // by id
    std::uint32_t count = 0;                               // so many have names
    std::unordered_map<std::string, std::uint32_t> names;  // and how often each was wanted
  };

  Made& made(NameKind kind) { return made_[static_cast<std::size_t>(kind)]; }
  std::uint32_t add(NameKind kind, std::uint64_t address, std::uint64_t size, std::uint64_t pc,
                    const Object* object);
  std::uint32_t keep(const Object* object);
  std::string make_name(NameKind kind, const Origin& origin);
  std::string unique(NameKind kind, std::string text);
  void make_names(NameKind kind, std::uint32_t last);
  Begin section(const Point& begin);
  LocationId add_location(std::string text, std::uint64_t stack);

  const Tables& tables_;
  RecordingNames& source_;
  Names names_;
  Objects objects_;
  AddressTable<ThreadId> threads_;
  // kByStack: code that is not the user's, whose location depends on who called it.
  static constexpr LocationId kByStack = ~LocationId{0};
  AddressTable<LocationId> locations_;                                      // by pc
  std::map<std::pair<std::uint64_t, std::uint64_t>, LocationId> by_stack_;  // by pc and stack
  AddressTable<bool> users_;
  struct Labelled {
    Begin begin;
    bool is_section = false;
  };
  AddressTable<Labelled> labels_;
  std::map<Point, Begin> sections_;    // by where the lock is taken
  std::vector<std::uint64_t> stacks_;  // by location
  std::array<Made, kNameKindCount> made_;
  std::vector<Object> kept_;                 // those that names need
  AddressTable<std::uint32_t> newest_kept_;  // by address: the place, + 1
};

}  // namespace tomos::recording
