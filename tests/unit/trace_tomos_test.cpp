#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "trace/limits.h"
#include "trace/tomos_layout.h"
#include "trace_support.h"

namespace tomos {
namespace {

using test::named;
using test::Read;
using test::read_all;
using test::to_tomos;
using test::tomos_source;
using test::Trace;

// A file by hand, with right checksums around whatever it is told to hold.
class Builder {
 public:
  Builder& chunk(layout::ChunkHead head, const std::string& payload) {
    head.stored_size = static_cast<std::uint32_t>(payload.size());
    if (head.raw_size == 0) head.raw_size = head.stored_size;
    std::string chunk = bytes_of(head) + payload;
    head.checksum = layout::checksum(chunk, chunks_++);
    bytes_ += bytes_of(head) + payload;
    return *this;
  }
  Builder& names(NameKind kind, std::uint32_t first_id, const std::vector<std::string>& names) {
    std::string payload = bytes_of(layout::NamesHead{kind, {}, first_id});
    for (const std::string& name : names) {
      payload += bytes_of(static_cast<std::uint16_t>(name.size())) + name;
    }
    return chunk(
        {.type = layout::ChunkType::kNames, .count = static_cast<std::uint32_t>(names.size())},
        payload);
  }
  // One event, each column a byte wide.
  Builder& event(int op, int thread, int object, int location, int count) {
    std::string payload = {1, 1, 1, 1, 1, 0, 0, 0};
    for (const int item : {op, thread, object, location, count}) payload += static_cast<char>(item);
    return chunk({.type = layout::ChunkType::kEvents, .count = 1}, payload);
  }
  Builder& end(std::uint64_t events, std::array<std::uint32_t, kNameKindCount> names) {
    layout::End end = {.events = events, .names = {}};
    std::ranges::copy(names, end.names);
    return chunk({.type = layout::ChunkType::kEnd}, bytes_of(end));
  }
  const std::string& bytes() const { return bytes_; }

  template <class T>
  static std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
  }

 private:
  std::string bytes_ = std::string(kTomosMagic) + bytes_of(kTomosVersion);
  std::uint64_t chunks_ = 0;
};

// An enumerator of the future.
template <class Enum>
Enum unknown(std::uint8_t value) {
  return std::bit_cast<Enum>(value);
}

Builder small() {
  return Builder().names(NameKind::kThread, 0, {"T"}).names(NameKind::kVariable, 0, {"x"});
}

void expect_error(const std::string& bytes, std::size_t events, std::string_view where,
                  std::string_view what, std::string_view remedy) {
  const Read read = read_all(*tomos_source(bytes));
  EXPECT_EQ(read.events.size(), events);
  ASSERT_TRUE(read.failed);
  EXPECT_EQ(read.error.where, where);
  EXPECT_EQ(read.error.what, what);
  EXPECT_EQ(read.error.remedy, remedy);
}

void expect_damage(const std::string& bytes, std::string_view what) {
  const Read read = read_all(*tomos_source(bytes));
  ASSERT_TRUE(read.failed) << what;
  EXPECT_EQ(read.error.what, "damaged after 0 good events: " + std::string(what));
  EXPECT_EQ(read.error.remedy, "Copy or record the trace again.");
}

// A file of several chunks: names, events, more names, more events.
struct Chunked {
  std::string bytes;
  std::vector<std::size_t> chunk_ends;     // where each chunk ends
  std::vector<std::size_t> events_before;  // complete events up to there
  Trace trace;
};

Chunked chunked() {
  Chunked file;
  const auto writer = write_tomos(std::make_unique<Output>(file.bytes));
  file.chunk_ends.push_back(file.bytes.size());
  file.events_before.push_back(0);
  for (std::uint32_t round = 0; round < 3; ++round) {
    const std::uint32_t thread =
        file.trace.names.add(NameKind::kThread, "T" + std::to_string(round));
    const std::uint32_t variable = file.trace.names.add(NameKind::kVariable, "v");
    std::vector<Event> events;
    events.reserve(20);
    for (std::uint32_t i = 0; i < 20; ++i) {
      events.push_back({thread, variable, kNumericLocation | (i * i),
                        i % 2 == 0 ? Op::kRead : Op::kWrite, 0, 0});
    }
    EXPECT_TRUE((*writer)->write(events, file.trace.names));
    EXPECT_TRUE((*writer)->flush());
    file.trace.events.insert(file.trace.events.end(), events.begin(), events.end());
    file.chunk_ends.push_back(file.bytes.size());
    file.events_before.push_back(file.trace.events.size());
  }
  EXPECT_TRUE((*writer)->finish());
  return file;
}

std::size_t complete_events(const Chunked& file, std::size_t size) {
  std::size_t events = 0;
  for (std::size_t i = 0; i < file.chunk_ends.size(); ++i) {
    if (file.chunk_ends[i] <= size) events = file.events_before[i];
  }
  return events;
}

TEST(Tomos, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Trace trace = test::arbitrary_trace(seed, seed * 31 % 3000);
    const std::string bytes = to_tomos(trace.events, trace.names);
    const auto source = tomos_source(bytes, seed % 3 == 0 ? 1 + seed : Input::kBlock);
    const Read read = read_all(*source);
    ASSERT_FALSE(read.failed) << "seed " << seed << ": " << read.error.what;
    ASSERT_EQ(read.events, trace.events) << "seed " << seed;
    ASSERT_EQ(named(read.events, source->names()), named(trace.events, trace.names))
        << "seed " << seed;
    for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
      const auto k = static_cast<NameKind>(kind);
      ASSERT_EQ(source->names().count(k), trace.names.count(k)) << "seed " << seed;
    }
  }
}

TEST(Tomos, ThroughTextAndBack) {
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    const Trace trace = test::arbitrary_trace(seed, 400);
    const std::string text = test::to_text(trace.events, trace.names);
    const auto from_text = test::text_source(text);
    const Read read_text = read_all(*from_text);
    const std::string bytes = to_tomos(read_text.events, from_text->names());
    const auto source = tomos_source(bytes);
    const Read read = read_all(*source);
    ASSERT_FALSE(read.failed);
    ASSERT_EQ(named(read.events, source->names()), named(trace.events, trace.names))
        << "seed " << seed;
  }
}

TEST(Tomos, ManyEventsInChunksOf65536) {
  Trace trace = test::arbitrary_trace(5, 1000);
  std::vector<Event> events;
  while (events.size() < 200'000)
    events.insert(events.end(), trace.events.begin(), trace.events.end());
  const std::string bytes = to_tomos(events, trace.names);
  std::size_t chunks = 0;
  for (std::size_t at = layout::kFileHead; at < bytes.size(); ++chunks) {
    const auto head = layout::load<layout::ChunkHead>(std::string_view(bytes).substr(at));
    if (head.type == layout::ChunkType::kEvents) {
      EXPECT_LE(head.count, 65536U);
    }
    at += sizeof(head) + head.stored_size;
  }
  EXPECT_EQ(chunks, 6U + 4U + 1U);
  EXPECT_EQ(read_all(*tomos_source(bytes)).events, events);
}

TEST(Tomos, ColumnsOfEveryWidth) {
  for (const std::uint32_t top : {0U, 255U, 256U, 65535U, 65536U, 70'000U}) {
    Trace trace;
    for (std::uint32_t i = 0; i <= top; ++i)
      trace.names.add(NameKind::kThread, "T" + std::to_string(i));
    trace.names.add(NameKind::kBarrier, "b");
    for (const std::uint32_t thread : {0U, top / 2, top}) {
      trace.events.push_back({thread, 0, kNumericLocation | thread, Op::kEnd, 0, 0});
      trace.events.push_back(
          {thread, 0, 0, Op::kBarrier, 0, static_cast<std::uint16_t>(thread % 65535 + 1)});
      trace.events.push_back({thread, thread, kNumericLocation | 0x7fff'ffff, Op::kFork, 0, 0});
    }
    EXPECT_EQ(read_all(*tomos_source(to_tomos(trace.events, trace.names))).events, trace.events)
        << top;
  }
}

TEST(Tomos, NamesOfTheGreatestLengthAndManyOfThem) {
  Trace trace;
  for (int i = 0; i < 100; ++i) {
    std::string name(kMaxName, static_cast<char>('a' + i % 26));
    name.replace(0, 3, std::to_string(100 + i));
    trace.events.push_back({trace.names.add(NameKind::kThread, name), 0, 0, Op::kEnd, 0, 0});
  }
  const std::string bytes = to_tomos(trace.events, trace.names);
  EXPECT_GT(bytes.size(), 100 * kMaxName);
  const auto source = tomos_source(bytes);
  const Read read = read_all(*source);
  EXPECT_FALSE(read.failed);
  EXPECT_EQ(named(read.events, source->names()), named(trace.events, trace.names));
}

TEST(Tomos, CutAtEveryByte) {
  const Chunked file = chunked();
  for (std::size_t size = 0; size < file.bytes.size(); ++size) {
    const Read read =
        read_all(*tomos_source(std::string_view(file.bytes).substr(0, size), 1 + size % 50));
    const std::size_t complete = complete_events(file, size);
    ASSERT_EQ(read.events.size(), complete) << size;
    ASSERT_TRUE(std::ranges::equal(read.events, std::span(file.trace.events).first(complete)))
        << size;
    ASSERT_TRUE(read.failed) << size;
    ASSERT_EQ(read.error.where, "t.tomos at byte " + std::to_string(size));
    ASSERT_EQ(read.error.what, "cut off after " + std::to_string(complete) +
                                   " complete events: the writer was killed or is still writing");
    ASSERT_EQ(read.error.remedy,
              "Wait until the writer is done, or record again; the events before are good.");
  }
  EXPECT_FALSE(read_all(*tomos_source(file.bytes)).failed);
}

TEST(Tomos, EveryChangedByteIsNoticed) {
  const Chunked file = chunked();
  for (std::size_t at = 0; at < file.bytes.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bytes = file.bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      const Read read = read_all(*tomos_source(bytes));
      ASSERT_TRUE(read.failed) << at;
      ASSERT_EQ(read.events.size(), complete_events(file, at)) << at;
      ASSERT_TRUE(
          std::ranges::equal(read.events, std::span(file.trace.events).first(read.events.size())))
          << at;
    }
  }
}

TEST(Tomos, LostDoubledAndMovedChunksAreNoticed) {
  const Chunked file = chunked();
  const auto assembled = [&](const std::vector<std::size_t>& parts) {
    std::string bytes = file.bytes.substr(0, file.chunk_ends[0]);
    for (const std::size_t i : parts) {
      bytes += file.bytes.substr(file.chunk_ends[i], file.chunk_ends[i + 1] - file.chunk_ends[i]);
    }
    return bytes + file.bytes.substr(file.chunk_ends[3]);
  };
  ASSERT_EQ(assembled({0, 1, 2}), file.bytes);
  const auto expect_wrong = [&](const std::vector<std::size_t>& parts, std::size_t events) {
    const std::string bytes = assembled(parts);
    const Read read = read_all(*tomos_source(bytes));
    EXPECT_EQ(read.events.size(), events);
    ASSERT_TRUE(read.failed);
    EXPECT_TRUE(read.error.what.ends_with("a wrong checksum")) << read.error.what;
  };
  expect_wrong({0, 2}, 20);
  expect_wrong({0, 0, 1, 2}, 20);
  expect_wrong({1, 0, 2}, 0);
  expect_wrong({0, 1}, 40);
  expect_wrong({}, 0);
}

TEST(Tomos, FilesThatAreSomethingElse) {
  const std::string good = to_tomos({}, Names());
  EXPECT_FALSE(read_all(*tomos_source(good)).failed);
  expect_error("hello, world", 0, "t.tomos at byte 0", "not a .tomos trace",
               "Give a file made by tomos record or tomos convert.");
  std::string mangled = good;
  mangled.erase(4, 1);
  expect_error(mangled, 0, "t.tomos at byte 0",
               "its first bytes were changed by a transfer that took it for text",
               "Copy the trace again in binary mode.");
  std::string newer = good;
  newer[8] = 2;
  expect_error(newer, 0, "t.tomos at byte 8", "format version 2, but this program reads version 1",
               "Use the version of Tomos that made the trace, or convert it to STD text there.");
  expect_error(good + good, 0, "t.tomos at byte " + std::to_string(good.size()),
               "more bytes behind the end of the trace",
               "Give each trace as a file of its own; traces cannot be strung together.");
}

TEST(Tomos, HandMadeFileIsRead) {
  const Builder file = small().event(3, 0, 0, 9, 0).end(1, {1, 0, 1, 0, 0, 0});
  const Read read = read_all(*tomos_source(file.bytes()));
  EXPECT_FALSE(read.failed);
  EXPECT_EQ(read.events, (std::vector<Event>{{0, 0, kNumericLocation | 4, Op::kWrite, 0, 0}}));
}

TEST(Tomos, ChunksOfANewerVersion) {
  const std::string at = "t.tomos at byte 12";
  const std::string remedy = "It was made by a newer version of Tomos: update this one.";
  using layout::ChunkType;
  using layout::Encoding;
  expect_error(Builder().chunk({.type = unknown<ChunkType>(9)}, "xx").bytes(), 0, at,
               "a chunk of unknown kind (type 9, encoding 0)", remedy);
  expect_error(
      Builder().chunk({.type = ChunkType::kEvents, .encoding = unknown<Encoding>(7)}, "xx").bytes(),
      0, at, "a chunk of unknown kind (type 2, encoding 7)", remedy);
  expect_error(Builder().chunk({.type = ChunkType::kEvents, .zero = 1}, "xx").bytes(), 0, at,
               "a chunk of unknown kind (type 2, encoding 0)", remedy);
}

TEST(Tomos, EventsThatMakeNoSense) {
  struct Bad {
    int op, thread, object, location, count;
  };
  for (const Bad bad : {Bad{15, 0, 0, 0, 0},
                        {255, 0, 0, 0, 0},
                        {3, 1, 0, 0, 0},
                        {3, 0, 1, 0, 0},
                        {3, 0, 0, 2, 0},
                        {3, 0, 0, 0, 1},
                        {1, 0, 1, 0, 0},
                        {4, 0, 0, 0, 0},
                        {10, 0, 0, 0, 3},
                        {0, 0, 1, 0, 0}}) {
    const Builder file =
        small().event(2, 0, 0, 0, 0).event(bad.op, bad.thread, bad.object, bad.location, bad.count);
    expect_error(
        file.bytes(), 1, "t.tomos at byte 119",
        "event 2 has an operation that does not exist or an id without a name",
        "The program that wrote the trace is at fault: docs/trace-format.md has the rules.");
  }
}

TEST(Tomos, ChunksThatContradictThemselves) {
  using layout::ChunkType;
  using layout::Encoding;
  const std::string names = "a names chunk that contradicts itself";
  const std::string events = "an events chunk that contradicts itself";
  const auto names_chunk = [](const std::string& payload, std::uint32_t count) {
    return Builder().chunk({.type = ChunkType::kNames, .count = count}, payload).bytes();
  };
  const std::string head(8, '\0');
  expect_damage(names_chunk("", 1), names);
  expect_damage(names_chunk(head, 0), names);
  expect_damage(names_chunk(head, 1), names);
  expect_damage(names_chunk(head + '\1', 1), names);
  expect_damage(names_chunk(head + std::string("\1\0x", 3), 2), names);
  expect_damage(names_chunk(head + std::string("\2\0x", 3), 1), names);
  expect_damage(names_chunk(head + std::string("\0\0", 2), 1), names);
  expect_damage(names_chunk(head + std::string("\1\0xx", 4), 1), names);
  expect_damage(names_chunk(head + std::string("\1\0x", 3), 0xffff'ffff), names);
  expect_damage(names_chunk(std::string("\6\0\0\0\0\0\0\0\1\0x", 11), 1), names);
  expect_damage(names_chunk(std::string("\0\1\0\0\0\0\0\0\1\0x", 11), 1), names);
  expect_damage(names_chunk(std::string("\0\0\0\0\1\0\0\0\1\0x", 11), 1), names);

  const auto events_chunk = [](const std::string& payload, std::uint32_t count) {
    return Builder().chunk({.type = ChunkType::kEvents, .count = count}, payload).bytes();
  };
  expect_damage(events_chunk("", 1), events);
  expect_damage(events_chunk(head, 0), events);
  expect_damage(events_chunk(head, kMaxChunkEvents + 1), events);
  expect_damage(events_chunk(head + "x", 1), events);
  for (std::size_t column = 0; column < 5; ++column) {
    for (const char width : {'\3', '\5', '\10'}) {
      std::string payload = head + std::string(static_cast<std::size_t>(width), '\0');
      payload[column] = width;
      expect_damage(events_chunk(payload, 1), events);
    }
    std::string missing = head;
    missing[column] = 1;
    expect_damage(events_chunk(missing, 1), events);
  }
  expect_damage(events_chunk(std::string("\2\0\0\0\0\0\0\0\0\0", 10), 1), events);
  expect_damage(events_chunk(std::string("\0\0\0\0\4\0\0\0\0\0\0\0", 12), 1), events);
  expect_damage(events_chunk(std::string("\0\0\0\0\0\1\0\0", 8), 1), events);

  expect_damage(Builder()
                    .chunk({.type = ChunkType::kEvents,
                            .encoding = Encoding::kZstd,
                            .raw_size = 100,
                            .count = 1},
                           "not zstd")
                    .bytes(),
                "compressed data that cannot be unpacked");
  expect_damage(Builder().chunk({.type = ChunkType::kEnd}, "short").bytes(),
                "an end mark of the wrong size");
  expect_damage(Builder().end(1, {}).bytes(), "an end mark whose totals do not fit");
  expect_damage(Builder().end(0, {1, 0, 0, 0, 0, 0}).bytes(),
                "an end mark whose totals do not fit");
  expect_damage(Builder().chunk({.type = ChunkType::kEnd, .raw_size = kMaxChunk + 1}, "x").bytes(),
                "a chunk of impossible size");
  expect_damage(Builder().chunk({.type = ChunkType::kEnd, .raw_size = 1}, "xx").bytes(),
                "a chunk of impossible size");
}

TEST(Tomos, WritersRefuseWhatReadersWould) {
  std::string bytes;
  Names names;
  names.add(NameKind::kThread, "T");
  const auto writer = write_tomos(std::make_unique<Output>(bytes));
  const auto text_writer = write_std(std::make_unique<Output>(bytes));
  for (Writer* w : {writer->get(), text_writer.get()}) {
    const std::vector<Event> good = {{0, 0, 0, Op::kEnd, 0, 0}};
    ASSERT_TRUE(w->write(good, names));
    const std::vector<Event> bad = {good[0], {0, 0, 0, Op::kRead, 0, 0}};
    const Result<void> result = w->write(bad, names);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().where, "memory");
    EXPECT_EQ(result.error().what,
              "event 3 cannot be written: its operation does not exist or an id in it has no name");
  }
  Names with_empty;
  with_empty.add(NameKind::kLock, "");
  Names with_long;
  with_long.add(NameKind::kLock, std::string(kMaxName + 1, 'x'));
  for (const Names* wrong : {&with_empty, &with_long}) {
    const auto fresh = write_tomos(std::make_unique<Output>(bytes));
    const Result<void> result = (*fresh)->write({}, *wrong);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what, "a name of " + std::to_string(wrong == &with_empty ? 0 : 65536) +
                                       " bytes cannot be written: 1 to 65535 are possible");
    EXPECT_FALSE(write_std(std::make_unique<Output>(bytes))->write({}, *wrong));
  }
}

}  // namespace
}  // namespace tomos
