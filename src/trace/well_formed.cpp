#include "trace/well_formed.h"

#include <fmt/format.h>

#include <expected>

#include "trace/limits.h"

namespace tomos {

Result<void> check_events(std::span<const Event> events, const Names& names,
                          const std::string& output, std::uint64_t written) {
  const IdLimits limits(names);
  for (const Event& event : events) {
    if (!limits.allow(event)) {
      return std::unexpected(Error{
          output,
          fmt::format("event {} cannot be written: its operation does not exist or an id in it has "
                      "no name",
                      written + static_cast<std::uint64_t>(&event - events.data()) + 1),
          "This is a mistake in whatever made the event: please report it."});
    }
  }
  return {};
}

Result<void> check_new_names(const Names& names, KnownNames& known, const std::string& output) {
  for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
    for (; known[kind] < names.count(static_cast<NameKind>(kind)); ++known[kind]) {
      const std::size_t size = names.view(static_cast<NameKind>(kind), known[kind]).size();
      if (size > 0 && size <= kMaxName) continue;
      return std::unexpected(Error{
          output,
          fmt::format("a name of {} bytes cannot be written: 1 to {} are possible", size, kMaxName),
          "Shorten the name, or give the object one."});
    }
  }
  return {};
}

}  // namespace tomos
