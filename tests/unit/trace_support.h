// What the trace tests share: sources over memory, and traces made at random.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/source.h"
#include "trace/std_text.h"
#include "trace/tomos_format.h"

namespace tomos::test {

struct Trace {
  std::vector<Event> events;
  Names names;
};

// All that a source gives, to its end or its error.
struct Read {
  std::vector<Event> events;
  std::vector<std::uint64_t> lines;
  bool failed = false;
  Error error;
};

inline Read read_all(Source& source) {
  Read read;
  Batch batch;
  for (;;) {
    if (Result<void> got = source.next(batch); !got) {
      read.failed = true;
      read.error = got.error();
      const Result<void> again = source.next(batch);
      EXPECT_FALSE(again) << "an error must stay";
      return read;
    }
    if (batch.events.empty()) return read;
    EXPECT_EQ(batch.first, read.events.size());
    for (std::size_t i = 0; i < batch.events.size(); ++i) read.lines.push_back(batch.line(i));
    read.events.insert(read.events.end(), batch.events.begin(), batch.events.end());
  }
}

inline std::unique_ptr<Source> text_source(std::string_view text,
                                           std::size_t block = Input::kBlock) {
  return read_std(std::make_unique<Input>(text, "t.std", block));
}

inline std::unique_ptr<Source> tomos_source(std::string_view bytes,
                                            std::size_t block = Input::kBlock) {
  return read_tomos(std::make_unique<Input>(bytes, "t.tomos", block));
}

inline std::string to_text(std::span<const Event> events, const Names& names) {
  std::string text;
  const auto writer = write_std(std::make_unique<Output>(text));
  EXPECT_TRUE(writer->write(events, names));
  EXPECT_TRUE(writer->finish());
  return text;
}

inline std::string to_tomos(std::span<const Event> events, const Names& names) {
  std::string bytes;
  const auto writer = write_tomos(std::make_unique<Output>(bytes));
  EXPECT_TRUE(writer);
  EXPECT_TRUE((*writer)->write(events, names));
  EXPECT_TRUE((*writer)->finish());
  return bytes;
}

// An event with names for ids, to compare traces whose ids differ.
struct Named {
  Op op;
  std::uint16_t count;
  std::string thread;
  std::string object;
  std::string location;

  friend bool operator==(const Named&, const Named&) = default;
};

inline std::vector<Named> named(std::span<const Event> events, const Names& names) {
  std::vector<Named> out;
  for (const Event& event : events) {
    const NameKind kind = object_kind(event.op);
    out.push_back({event.op, event.count, names.name(NameKind::kThread, event.thread),
                   kind == NameKind::kLocation ? "" : names.name(kind, event.object),
                   names.name(NameKind::kLocation, event.location)});
  }
  return out;
}

inline std::string nasty_name(std::mt19937_64& random) {
  static const std::vector<std::string> kNasty = {"|",          "%",
                                                  "%7C",        "%25",
                                                  "%00",        " ",
                                                  "\t",         "  a  ",
                                                  "#",          "#1",
                                                  "a#b",        "a b",
                                                  "(",          ")",
                                                  "f(int)",     "a,3",
                                                  "\n",         "\r",
                                                  "x\r",        "100%",
                                                  "0",          "007",
                                                  "42",         "T1",
                                                  "V123456",    "é",
                                                  "\xff",       "V99999999999",
                                                  "-1",         "%2",
                                                  "r",          "end",
                                                  "r(x)",       "a|b|c",
                                                  "2147483647", "2147483648",
                                                  "main",       "operator|(A, B)"};
  if (random() % 4 != 0) return kNasty[random() % kNasty.size()];
  std::string name(1 + random() % 12, '\0');
  for (char& c : name) c = static_cast<char>(random() % 3 != 0 ? ' ' + random() % 95 : random());
  return name;
}

// Events that need not make sense together, only each for itself.
inline Trace arbitrary_trace(std::uint64_t seed, std::size_t size) {
  std::mt19937_64 random(seed);
  Trace trace;
  const bool nasty = random() % 2 == 0;
  const std::uint32_t limit = random() % 2 == 0 ? 5 : 70'000;
  const auto id = [&](NameKind kind) -> std::uint32_t {
    const std::uint32_t known = trace.names.count(kind);
    if (known > 1 && (known >= limit || random() % 2 == 0)) return random() % known;
    return trace.names.add(kind, nasty ? nasty_name(random)
                                       : std::string(1, "TLVBFx"[static_cast<int>(kind)]) +
                                             std::to_string(random() % 100'000));
  };
  for (std::size_t i = 0; i < size; ++i) {
    Event event = {};
    event.op = static_cast<Op>(random() % kOpCount);
    event.thread = id(NameKind::kThread);
    const NameKind kind = object_kind(event.op);
    if (kind != NameKind::kLocation) event.object = id(kind);
    if (event.op == Op::kBegin && random() % 2 == 0) event.object = 0;
    if (event.op == Op::kBarrier) event.count = static_cast<std::uint16_t>(1 + random() % 65535);
    if (event.op == Op::kAcquire || event.op == Op::kReadAcquire) event.count = random() % 2;
    if (random() % 2 == 0) event.location = kNumericLocation | random() % kNumericLocation;
    if (random() % 4 == 0) event.location = id(NameKind::kLocation);
    trace.events.push_back(event);
  }
  return trace;
}

}  // namespace tomos::test
