// Writes .tomos files: names are put aside when they first appear and written before the events of
// the same chunk; events are turned into columns, which compress far better than records do.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <expected>
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

constexpr std::size_t kChunkEvents = std::size_t{1} << 16;
constexpr std::size_t kNamesBytes = std::size_t{1}
                                    << 20;  // a names chunk is written when it gets this big
static_assert(kNamesBytes + kMaxName + 2 <= kMaxChunk);
static_assert(kChunkEvents <= kMaxChunkEvents);
constexpr int kLevel = 1;

struct FreeCompression {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::uint32_t value_of(const Event& event, std::size_t column) {
  switch (static_cast<Column>(column)) {
    case kOps:
      return static_cast<std::uint32_t>(event.op);
    case kThreads:
      return event.thread;
    case kObjects:
      return event.object;
    case kLocations:
      return std::rotl(event.location, 1);
    case kCounts:
      break;
  }
  return event.count;
}

template <class Item, std::size_t kColumn>
void put_column(std::span<const Event> events, std::string& bytes) {
  const std::size_t start = bytes.size();
  bytes.resize(start + events.size() * sizeof(Item));
  char* to = bytes.data() + start;
  for (const Event& event : events) {
    const auto item = static_cast<Item>(value_of(event, kColumn));
    std::memcpy(to, &item, sizeof(item));
    to += sizeof(item);
  }
}

// Appends a column as narrow as its items allow; says how narrow.
template <std::size_t kColumn>
std::uint8_t put_column(std::span<const Event> events, std::string& bytes) {
  std::uint32_t all = 0;
  for (const Event& event : events) all |= value_of(event, kColumn);
  if (all == 0) return 0;
  if (all <= 0xff) {
    put_column<std::uint8_t, kColumn>(events, bytes);
    return 1;
  }
  if (all <= 0xffff) {
    put_column<std::uint16_t, kColumn>(events, bytes);
    return 2;
  }
  put_column<std::uint32_t, kColumn>(events, bytes);
  return 4;
}

class TomosWriter : public Writer {
 public:
  explicit TomosWriter(std::unique_ptr<Output> output)
      : output_(std::move(output)), context_(ZSTD_createCCtx()) {}

  Result<void> start();
  Result<void> write(std::span<const Event> events, const Names& names) override;
  Result<void> flush() override;
  Result<void> finish() override;

 private:
  // Names of one kind that are not in the file yet.
  struct Pending {
    std::string bytes;
    std::uint32_t count = 0;
  };
  Result<void> take_names(const Names& names);
  Result<void> put_names(std::size_t kind);
  Result<void> put_events();
  Result<void> put_chunk(ChunkType type, std::uint32_t count, std::string_view raw);

  std::unique_ptr<Output> output_;
  std::unique_ptr<ZSTD_CCtx, FreeCompression> context_;
  std::vector<Event> events_;
  std::array<Pending, kNameKindCount> pending_;
  KnownNames known_ = kImplicitNames;  // those in the file and the pending ones
  std::uint64_t written_ = 0;
  std::uint64_t chunks_ = 0;
  std::string raw_;
  std::string chunk_;
};

Result<void> TomosWriter::start() {
  std::string head(kTomosMagic);
  append(head, kTomosVersion);
  return output_->write(head);
}

Result<void> TomosWriter::put_chunk(ChunkType type, std::uint32_t count, std::string_view raw) {
  ChunkHead head = {.checksum = 0,
                    .type = type,
                    .encoding = Encoding::kStored,
                    .zero = 0,
                    .stored_size = static_cast<std::uint32_t>(raw.size()),
                    .raw_size = static_cast<std::uint32_t>(raw.size()),
                    .count = count};
  if (type == ChunkType::kEvents && raw.size() > 1) {
    // Room for one byte less than the raw size: what does not get smaller fails, and is stored.
    chunk_.resize(sizeof(head) + raw.size() - 1);
    const std::size_t packed = ZSTD_compressCCtx(context_.get(), chunk_.data() + sizeof(head),
                                                 raw.size() - 1, raw.data(), raw.size(), kLevel);
    if (ZSTD_isError(packed) == 0) {
      head.encoding = Encoding::kZstd;
      head.stored_size = static_cast<std::uint32_t>(packed);
    }
  }
  chunk_.resize(sizeof(head) + head.stored_size);
  if (head.encoding == Encoding::kStored) raw.copy(chunk_.data() + sizeof(head), raw.size());
  std::memcpy(chunk_.data(), &head, sizeof(head));
  head.checksum = checksum(chunk_, chunks_++);
  std::memcpy(chunk_.data(), &head, sizeof(head));
  return output_->write(chunk_);
}

Result<void> TomosWriter::put_names(std::size_t kind) {
  Pending& pending = pending_[kind];
  if (pending.count == 0) return {};
  raw_.clear();
  append(raw_, NamesHead{.kind = static_cast<NameKind>(kind),
                         .zero = {},
                         .first_id = known_[kind] - pending.count});
  raw_ += pending.bytes;
  Result<void> done = put_chunk(ChunkType::kNames, pending.count, raw_);
  pending.bytes.clear();
  pending.count = 0;
  return done;
}

Result<void> TomosWriter::take_names(const Names& names) {
  KnownNames checked = known_;
  if (Result<void> ok = check_new_names(names, checked, output_->name()); !ok) return ok;
  for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
    while (known_[kind] < checked[kind]) {
      const std::string_view name = names.view(static_cast<NameKind>(kind), known_[kind]++);
      append(pending_[kind].bytes, static_cast<std::uint16_t>(name.size()));
      pending_[kind].bytes += name;
      ++pending_[kind].count;
      if (pending_[kind].bytes.size() >= kNamesBytes) {
        if (Result<void> done = put_names(kind); !done) return done;
      }
    }
  }
  return {};
}

Result<void> TomosWriter::put_events() {
  for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
    if (Result<void> done = put_names(kind); !done) return done;
  }
  if (events_.empty()) return {};
  EventsHead head = {};
  raw_.clear();
  append(raw_, head);
  head.widths[kOps] = put_column<kOps>(events_, raw_);
  head.widths[kThreads] = put_column<kThreads>(events_, raw_);
  head.widths[kObjects] = put_column<kObjects>(events_, raw_);
  head.widths[kLocations] = put_column<kLocations>(events_, raw_);
  head.widths[kCounts] = put_column<kCounts>(events_, raw_);
  std::memcpy(raw_.data(), &head, sizeof(head));
  const auto count = static_cast<std::uint32_t>(events_.size());
  events_.clear();
  return put_chunk(ChunkType::kEvents, count, raw_);
}

Result<void> TomosWriter::write(std::span<const Event> events, const Names& names) {
  if (Result<void> ok = take_names(names); !ok) return ok;
  if (Result<void> ok = check_events(events, names, output_->name(), written_); !ok) return ok;
  written_ += events.size();
  while (!events.empty()) {
    const std::size_t taken = std::min(events.size(), kChunkEvents - events_.size());
    events_.insert(events_.end(), events.begin(),
                   events.begin() + static_cast<std::ptrdiff_t>(taken));
    events = events.subspan(taken);
    if (events_.size() == kChunkEvents) {
      if (Result<void> done = put_events(); !done) return done;
    }
  }
  return {};
}

Result<void> TomosWriter::flush() { return put_events(); }

Result<void> TomosWriter::finish() {
  if (Result<void> done = flush(); !done) return done;
  End end = {.events = written_, .names = {}};
  for (std::size_t kind = 0; kind < kNameKindCount; ++kind) {
    end.names[kind] = known_[kind] - kImplicitNames[kind];
  }
  raw_.clear();
  append(raw_, end);
  if (Result<void> done = put_chunk(ChunkType::kEnd, 0, raw_); !done) return done;
  return output_->close();
}

}  // namespace

Result<std::unique_ptr<Writer>> write_tomos(std::unique_ptr<Output> output) {
  auto writer = std::make_unique<TomosWriter>(std::move(output));
  if (Result<void> done = writer->start(); !done) return std::unexpected(std::move(done.error()));
  return writer;
}

}  // namespace tomos
