#include "event/names.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace tomos {

namespace {
constexpr std::size_t kArenaBlock = std::size_t{1} << 16;

std::size_t index(NameKind kind) { return static_cast<std::size_t>(kind); }

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

template <class Word>
std::uint64_t load(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

std::uint64_t short_word(const char* bytes, std::size_t size) {
  if (size >= 4) return load<std::uint32_t>(bytes) << 32 | load<std::uint32_t>(bytes + size - 4);
  if (size == 0) return 0;
  return load<std::uint8_t>(bytes) << 16 | load<std::uint8_t>(bytes + size / 2) << 8 |
         load<std::uint8_t>(bytes + size - 1);
}

// A folded multiplication for every eight bytes. `seed` differs from process to process, so that
// nobody can make a trace whose names all fall into one slot; ids do not depend on it.
std::uint32_t hash(std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
  const char* bytes = name.data();
  std::size_t left = name.size();
  std::uint64_t state = seed ^ (left * kOdd);
  for (; left > 8; left -= 8, bytes += 8) {
    state = fold(state ^ load<std::uint64_t>(bytes), kOdd);
  }
  state = fold(state ^ (left == 8 ? load<std::uint64_t>(bytes) : short_word(bytes, left)), kOdd);
  return static_cast<std::uint32_t>(state ^ (state >> 32));
}

std::uint64_t process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  return seed;
}
}  // namespace

Names::Names() : seed_(process_seed()) {
  add(NameKind::kLabel, "");
  add(NameKind::kLocation, "");
}

std::string_view Names::keep(std::string_view name) {
  if (name.empty()) return {};
  if (name.size() > arena_left_) {
    const std::size_t size = std::max(kArenaBlock, name.size());
    arena_.push_back(std::make_unique_for_overwrite<char[]>(size));
    arena_next_ = arena_.back().get();
    arena_left_ = size;
  }
  std::memcpy(arena_next_, name.data(), name.size());
  const std::string_view kept(arena_next_, name.size());
  arena_next_ += name.size();
  arena_left_ -= name.size();
  return kept;
}

void Names::grow(Table& table) const {
  std::size_t size = std::max<std::size_t>(64, table.slots.size() * 2);
  while (size < 2 * (table.names.size() + 1)) size *= 2;
  std::vector<Slot> old(size);
  old.swap(table.slots);
  const auto put = [&table, mask = size - 1](Slot slot) {
    std::size_t i = slot.tag & mask;
    while (table.slots[i].next_id != 0) i = (i + 1) & mask;
    table.slots[i] = slot;
  };
  if (old.empty()) {
    for (std::uint32_t id = 0; id < table.names.size(); ++id)
      put({id + 1, hash(table.names[id], seed_)});
  } else {
    for (const Slot slot : old) {
      if (slot.next_id != 0) put(slot);
    }
  }
}

std::uint32_t Names::intern(NameKind kind, std::string_view name) {
  Table& table = tables_[index(kind)];
  if (table.slots.size() < 2 * (table.names.size() + 1)) grow(table);
  const std::size_t mask = table.slots.size() - 1;
  const std::uint32_t tag = hash(name, seed_);
  std::size_t i = tag & mask;
  for (; table.slots[i].next_id != 0; i = (i + 1) & mask) {
    const Slot slot = table.slots[i];
    if (slot.tag == tag && table.names[slot.next_id - 1] == name) return slot.next_id - 1;
  }
  const auto id = static_cast<std::uint32_t>(table.names.size());
  table.names.push_back(keep(name));
  table.slots[i] = {id + 1, tag};
  return id;
}

void Names::expect(NameKind kind, std::string_view name) const {
  const Table& table = tables_[index(kind)];
  if (table.slots.empty()) return;
  __builtin_prefetch(table.slots.data() + (hash(name, seed_) & (table.slots.size() - 1)));
}

std::uint32_t Names::add(NameKind kind, std::string_view name) {
  Table& table = tables_[index(kind)];
  const auto id = static_cast<std::uint32_t>(table.names.size());
  table.names.push_back(keep(name));
  table.slots.clear();
  return id;
}

std::uint32_t Names::add_unnamed(NameKind kind) {
  std::vector<std::string_view>& names = tables_[index(kind)].names;
  names.emplace_back(&kUnnamed, 0);
  return static_cast<std::uint32_t>(names.size() - 1);
}

void Names::set_name(NameKind kind, std::uint32_t id, std::string_view name) {
  tables_[index(kind)].names[id] = keep(name);
}

std::string Names::name(NameKind kind, std::uint32_t id) const {
  if (kind == NameKind::kLocation && (id & kNumericLocation) != 0) {
    return std::to_string(id & ~kNumericLocation);
  }
  return std::string(view(kind, id));
}

std::uint32_t Names::count(NameKind kind) const {
  return static_cast<std::uint32_t>(tables_[index(kind)].names.size());
}

}  // namespace tomos
