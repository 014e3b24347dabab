// What the hooks in log_hooks.cpp were told, for the tests to look at.
#pragma once

#include <cstddef>
#include <string>

namespace tomos::test {

struct Told {
  const char* what;
  const void* object;
  std::size_t number;  // a size, a thread, a count
};

// All entries so far, in order. Entries come from all threads.
extern "C" std::size_t told_entries(const Told** entries);

inline std::size_t told_so_far() {
  const Told* entries = nullptr;
  return told_entries(&entries);
}

// What was told of `object` since `start`, in order: "acquired releasing".
inline std::string told_of(const void* object, std::size_t start = 0) {
  const Told* entries = nullptr;
  const std::size_t count = told_entries(&entries);
  std::string text;
  for (std::size_t i = start; i < count; ++i) {
    if (entries[i].object != object) continue;
    if (!text.empty()) text += ' ';
    text += entries[i].what;
    if (entries[i].number != 0) text += ':' + std::to_string(entries[i].number);
  }
  return text;
}

// What was told since `start` of no object in particular (threads, processes).
inline std::string told_since(std::size_t start) { return told_of(nullptr, start); }

}  // namespace tomos::test
