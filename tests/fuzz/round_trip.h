// What both fuzz targets do with a source: read it to its end or error, then write what came in
// both formats and read it back. Nothing may crash, and nothing may come back changed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/source.h"
#include "trace/std_text.h"
#include "trace/tomos_format.h"
#include "trace/validate.h"

namespace tomos::fuzz {

// A few bytes of binary trace can stand for a million equal events; more of them find nothing new.
inline constexpr std::size_t kEnough = 20'000;

inline constexpr std::size_t kBlock = 4096;

inline void require(bool condition) {
  if (!condition) std::abort();
}

inline std::vector<Event> read(Source& source, bool must_end = false) {
  std::vector<Event> events;
  Batch batch;
  while (events.size() < kEnough) {
    if (Result<void> got = source.next(batch); !got) {
      require(!got.error().where.empty() && !got.error().what.empty() &&
              !got.error().remedy.empty());
      require(!must_end);
      break;
    }
    if (batch.events.empty()) break;
    if (batch.first_line > 0) require(batch.line(batch.events.size() - 1) >= batch.events.size());
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  }
  return events;
}

inline void require_same(const std::vector<Event>& a, const Names& a_names,
                         const std::vector<Event>& b, const Names& b_names) {
  require(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NameKind kind = object_kind(a[i].op);
    require(a[i].op == b[i].op && a[i].count == b[i].count);
    require(a_names.name(NameKind::kThread, a[i].thread) ==
            b_names.name(NameKind::kThread, b[i].thread));
    require(kind == NameKind::kLocation ||
            a_names.name(kind, a[i].object) == b_names.name(kind, b[i].object));
    require(a_names.name(NameKind::kLocation, a[i].location) ==
            b_names.name(NameKind::kLocation, b[i].location));
  }
}

inline void round_trip(std::unique_ptr<Source> source) {
  Validated validated(std::move(source), "input", Validation::kLenient);
  const std::vector<Event> events = read(validated);
  const Skipped skipped = validated.skipped();
  require((skipped.total == 0) == skipped.first.empty());

  std::string bytes;
  const auto tomos = write_tomos(std::make_unique<Output>(bytes));
  require(tomos && (*tomos)->write(events, validated.names()) && (*tomos)->finish());
  const auto from_tomos = read_tomos(std::make_unique<Input>(bytes, "copy", kBlock));
  const std::vector<Event> binary_copy = read(*from_tomos, true);
  require(binary_copy == events || events.size() > kEnough);
  if (events.size() <= kEnough) {
    require_same(events, validated.names(), binary_copy, from_tomos->names());
  }

  std::string text;
  const auto std_text = write_std(std::make_unique<Output>(text));
  require(std_text->write(events, validated.names()) && std_text->finish());
  const auto from_text = read_std(std::make_unique<Input>(text, "copy", kBlock));
  const std::vector<Event> text_copy = read(*from_text, true);
  if (events.size() <= kEnough) {
    require_same(events, validated.names(), text_copy, from_text->names());
  }
}

}  // namespace tomos::fuzz
