// Summaries as bytes. Whatever the bytes are: what comes out of them is a summary that can be
// merged and analysed, or nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "summary/summary.h"

namespace tomos::cpp {

// What a summary was made from.
struct Source {
  std::string path;
  std::uint64_t content = 0;

  friend bool operator==(const Source&, const Source&) = default;
};

struct Stored {
  std::string made_by;  // the command that parses the unit
  std::vector<Source> sources;
  Summary summary;
};

std::string pack(Stored stored);
std::optional<Stored> unpack(std::string_view bytes);

}  // namespace tomos::cpp
