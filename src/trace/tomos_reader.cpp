// Reads .tomos files. Nothing in a chunk is believed before its checksum is right, and nothing that
// the checksum cannot vouch for (ids, lengths, totals) before it is checked; sizes are bounded
// before anything is allocated. Every chunk that stands complete before a damage is delivered.
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/limits.h"
#include "trace/tomos_format.h"
#include "trace/tomos_layout.h"
#include "trace/well_formed.h"

namespace tomos {

namespace {

using namespace layout;

constexpr std::size_t kDecoded = 8192;
constexpr std::size_t kSlice = 1024;  // widened columns of a slice stay in the first-level cache
static_assert(kDecoded % kSlice == 0);

struct FreeDecompression {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

template <class Item>
void widen(const char* from, std::size_t count, std::uint32_t* to) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = load<Item>({from + i * sizeof(Item), sizeof(Item)});
}

void widen(const char* from, std::size_t width, std::size_t count, std::uint32_t* to) {
  switch (width) {
    case 0:
      std::fill_n(to, count, 0);
      break;
    case 1:
      widen<std::uint8_t>(from, count, to);
      break;
    case 2:
      widen<std::uint16_t>(from, count, to);
      break;
    default:
      widen<std::uint32_t>(from, count, to);
      break;
  }
}

class TomosReader : public Source {
 public:
  explicit TomosReader(std::unique_ptr<Input> input)
      : input_(std::move(input)), context_(ZSTD_createDCtx()) {}

  Result<void> next(Batch& batch) override;
  const Names& names() const override { return names_; }
  Progress progress() const override { return input_->progress(); }

 private:
  struct ColumnAt {
    const char* bytes = nullptr;
    std::size_t width = 0;
  };

  Result<void> take_head();
  Result<void> take_chunk();
  Result<void> take_names(std::string_view raw, std::uint32_t count);
  Result<void> take_events(const ChunkHead& head, std::string_view payload);
  Result<void> take_end(std::string_view raw);
  void decode(Batch& batch);
  void decode_slice(Event* to, std::size_t from, std::size_t count) const;

  std::unexpected<Error> fail(std::uint64_t offset, std::string what, std::string remedy) const;
  std::unexpected<Error> cut_off() const;
  std::unexpected<Error> damaged(std::string_view what) const;
  std::unexpected<Error> unknown(const ChunkHead& head) const;

  std::unique_ptr<Input> input_;
  std::unique_ptr<ZSTD_DCtx, FreeDecompression> context_;
  Names names_;
  bool started_ = false;
  bool ended_ = false;
  std::uint64_t chunks_ = 0;
  std::uint64_t delivered_ = 0;
  std::optional<Error> error_;

  // The events chunk being delivered.
  std::size_t chunk_size_ = 0;  // bytes of the input it stands in
  std::array<ColumnAt, kColumns> columns_;
  std::size_t count_ = 0;
  std::size_t taken_ = 0;
  std::string raw_;
};

std::unexpected<Error> TomosReader::fail(std::uint64_t offset, std::string what,
                                         std::string remedy) const {
  return std::unexpected(Error{fmt::format("{} at byte {}", input_->name(), offset),
                               std::move(what), std::move(remedy)});
}

std::unexpected<Error> TomosReader::cut_off() const {
  return fail(input_->offset() + input_->view().size(),
              fmt::format("cut off after {} complete events: the writer was killed or is still "
                          "writing",
                          delivered_),
              "Wait until the writer is done, or record again; the events before are good.");
}

std::unexpected<Error> TomosReader::damaged(std::string_view what) const {
  return fail(input_->offset(), fmt::format("damaged after {} good events: {}", delivered_, what),
              "Copy or record the trace again.");
}

std::unexpected<Error> TomosReader::unknown(const ChunkHead& head) const {
  return fail(input_->offset(),
              fmt::format("a chunk of unknown kind (type {}, encoding {})",
                          static_cast<int>(head.type), static_cast<int>(head.encoding)),
              "It was made by a newer version of Tomos: update this one.");
}

Result<void> TomosReader::take_head() {
  started_ = true;
  Result<bool> all = input_->fill(kFileHead);
  if (!all) return std::unexpected(std::move(all.error()));
  const std::string_view magic = input_->view().substr(0, kTomosMagic.size());
  if (!kTomosMagic.starts_with(magic)) {
    if (magic.starts_with(kTomosMagic.substr(0, kTomosMagic.size() / 2))) {
      return fail(0, "its first bytes were changed by a transfer that took it for text",
                  "Copy the trace again in binary mode.");
    }
    return fail(0, "not a .tomos trace", "Give a file made by tomos record or tomos convert.");
  }
  if (!*all) return cut_off();
  const auto version = load<std::uint32_t>(input_->view().substr(kTomosMagic.size()));
  if (version != kTomosVersion) {
    return fail(
        kTomosMagic.size(),
        fmt::format("format version {}, but this program reads version {}", version, kTomosVersion),
        "Use the version of Tomos that made the trace, or convert it to STD text there.");
  }
  input_->consume(kFileHead);
  return {};
}

Result<void> TomosReader::take_chunk() {
  if (!started_) {
    if (Result<void> head = take_head(); !head) return head;
  }
  input_->consume(std::exchange(chunk_size_, 0));
  Result<bool> all = input_->fill(sizeof(ChunkHead));
  if (!all) return std::unexpected(std::move(all.error()));
  if (ended_) {
    if (input_->view().empty()) return {};
    return fail(input_->offset(), "more bytes behind the end of the trace",
                "Give each trace as a file of its own; traces cannot be strung together.");
  }
  if (!*all) return cut_off();
  const auto head = load<ChunkHead>(input_->view());
  if (head.raw_size > kMaxChunk || head.stored_size > head.raw_size) {
    return damaged("a chunk of impossible size");
  }
  all = input_->fill(sizeof(head) + head.stored_size);
  if (!all) return std::unexpected(std::move(all.error()));
  if (!*all) return cut_off();
  const std::string_view chunk = input_->view().substr(0, sizeof(head) + head.stored_size);
  if (checksum(chunk, chunks_) != head.checksum) return damaged("a wrong checksum");
  ++chunks_;

  const std::string_view payload = chunk.substr(sizeof(head));
  const bool stored = head.encoding == Encoding::kStored && head.stored_size == head.raw_size;
  const bool packed = head.encoding == Encoding::kZstd;
  Result<void> taken;
  if (head.type == ChunkType::kEvents && head.zero == 0 && (stored || packed)) {
    taken = take_events(head, payload);
  } else if (head.type == ChunkType::kNames && head.zero == 0 && stored) {
    taken = take_names(payload, head.count);
  } else if (head.type == ChunkType::kEnd && head.zero == 0 && stored) {
    taken = take_end(payload);
  } else {
    taken = unknown(head);
  }
  if (taken) chunk_size_ = chunk.size();
  return taken;
}

Result<void> TomosReader::take_names(std::string_view raw, std::uint32_t count) {
  constexpr std::string_view kWrong = "a names chunk that contradicts itself";
  if (raw.size() < sizeof(NamesHead) || count == 0) return damaged(kWrong);
  const auto head = load<NamesHead>(raw);
  raw.remove_prefix(sizeof(head));
  if (static_cast<std::size_t>(head.kind) >= kNameKindCount ||
      std::ranges::any_of(head.zero, std::identity())) {
    return damaged(kWrong);
  }
  const std::uint32_t known = names_.count(head.kind);
  if (head.first_id != known || count >= kNumericLocation - known) return damaged(kWrong);
  // First all lengths, so that a chunk is taken as a whole or not at all.
  std::string_view rest = raw;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (rest.size() < sizeof(std::uint16_t)) return damaged(kWrong);
    const std::size_t size = load<std::uint16_t>(rest);
    rest.remove_prefix(sizeof(std::uint16_t));
    if (size == 0 || size > rest.size()) return damaged(kWrong);
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return damaged(kWrong);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t size = load<std::uint16_t>(raw);
    names_.add(head.kind, raw.substr(sizeof(std::uint16_t), size));
    raw.remove_prefix(sizeof(std::uint16_t) + size);
  }
  return {};
}

Result<void> TomosReader::take_events(const ChunkHead& head, std::string_view payload) {
  constexpr std::string_view kWrong = "an events chunk that contradicts itself";
  if (head.count == 0 || head.count > kMaxChunkEvents || head.raw_size < sizeof(EventsHead)) {
    return damaged(kWrong);
  }
  if (head.encoding == Encoding::kZstd) {
    raw_.resize(head.raw_size);
    const std::size_t size = ZSTD_decompressDCtx(context_.get(), raw_.data(), raw_.size(),
                                                 payload.data(), payload.size());
    if (size != raw_.size()) return damaged("compressed data that cannot be unpacked");
    payload = raw_;
  }
  const auto widths = load<EventsHead>(payload);
  if (std::ranges::any_of(widths.zero, std::identity())) return damaged(kWrong);
  const char* bytes = payload.data() + sizeof(EventsHead);
  std::size_t size = sizeof(EventsHead);
  for (std::size_t column = 0; column < kColumns; ++column) {
    const std::size_t width = widths.widths[column];
    if (width == 3 || width > kWidest[column]) return damaged(kWrong);
    columns_[column] = {bytes, width};
    size += width * head.count;
    if (size > payload.size()) return damaged(kWrong);
    bytes += width * head.count;
  }
  if (size != payload.size()) return damaged(kWrong);
  count_ = head.count;
  taken_ = 0;
  return {};
}

Result<void> TomosReader::take_end(std::string_view raw) {
  if (raw.size() != sizeof(End)) return damaged("an end mark of the wrong size");
  End seen = {.events = delivered_, .names = {}};
  for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
    seen.names[kind] = names_.count(static_cast<NameKind>(kind)) - kImplicitNames[kind];
  }
  if (load<End>(raw) != seen) return damaged("an end mark whose totals do not fit");
  ended_ = true;
  return {};
}

void TomosReader::decode_slice(Event* to, std::size_t from, std::size_t count) const {
  std::uint32_t wide[kColumns][kSlice];
  for (std::size_t column = 0; column < kColumns; ++column) {
    const auto [bytes, width] = columns_[column];
    widen(bytes + from * width, width, count, wide[column]);
  }
  for (std::size_t i = 0; i < count; ++i) {
    to[i] = {.thread = wide[kThreads][i],
             .object = wide[kObjects][i],
             .location = std::rotr(wide[kLocations][i], 1),
             .op = static_cast<Op>(wide[kOps][i]),
             .spare = 0,
             .count = static_cast<std::uint16_t>(wide[kCounts][i])};
  }
}

// The next events of the chunk, up to one that makes no sense.
void TomosReader::decode(Batch& batch) {
  const std::size_t count = std::min(kDecoded, count_ - taken_);
  batch.events.resize(count);
  const IdLimits limits(names_);
  for (std::size_t at = 0; at < count; at += kSlice) {
    const std::size_t size = std::min(kSlice, count - at);
    Event* const slice = batch.events.data() + at;
    decode_slice(slice, taken_ + at, size);
    bool good = true;
    for (std::size_t i = 0; i < size; ++i) good &= limits.allow(slice[i]);
    if (good) [[likely]]
      continue;
    while (limits.allow(batch.events[at])) ++at;
    batch.events.resize(at);
    error_ =
        fail(input_->offset(),
             fmt::format("event {} has an operation that does not exist or an id without a name",
                         delivered_ + at + 1),
             "The program that wrote the trace is at fault: docs/trace-format.md has the rules.")
            .error();
    break;
  }
  taken_ += batch.events.size();
  delivered_ += batch.events.size();
}

Result<void> TomosReader::next(Batch& batch) {
  batch.gaps.clear();
  batch.first = delivered_;
  batch.first_line = 0;
  while (!error_) {
    if (taken_ < count_) {
      decode(batch);
      if (!batch.events.empty()) return {};
    } else {
      if (Result<void> taken = take_chunk(); !taken) {
        error_ = std::move(taken.error());
      } else if (ended_ && chunk_size_ == 0) {
        batch.events.clear();
        return {};
      }
    }
  }
  batch.events.clear();
  return std::unexpected(*error_);
}

}  // namespace

std::unique_ptr<Source> read_tomos(std::unique_ptr<Input> input) {
  return std::make_unique<TomosReader>(std::move(input));
}

}  // namespace tomos
