// Writes STD text, escaping what the reader would take for something else (std_line.h).
#include <charconv>
#include <expected>
#include <utility>

#include "trace/std_line.h"
#include "trace/std_text.h"
#include "trace/well_formed.h"

namespace tomos {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;
constexpr std::size_t kAhead = 16;  // events between asking memory for a name and writing it

class StdWriter : public Writer {
 public:
  explicit StdWriter(std::unique_ptr<Output> output) : output_(std::move(output)) {}

  Result<void> write(std::span<const Event> events, const Names& names) override;
  Result<void> flush() override;
  Result<void> finish() override;

 private:
  void append_number(std::uint32_t number);
  void append_event(const Event& event, const Names& names);

  std::unique_ptr<Output> output_;
  std::string buffer_;
  KnownNames known_ = kImplicitNames;
  std::uint64_t written_ = 0;
};

void StdWriter::append_number(std::uint32_t number) {
  char digits[10];
  const auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
  buffer_.append(digits, end);
}

void StdWriter::append_event(const Event& event, const Names& names) {
  append_escaped(buffer_, names.view(NameKind::kThread, event.thread));
  buffer_ += '|';
  buffer_ += std_word(event);
  const NameKind kind = object_kind(event.op);
  if (kind != NameKind::kLocation && !(event.op == Op::kBegin && event.object == 0)) {
    buffer_ += '(';
    append_escaped(buffer_, names.view(kind, event.object));
    if (event.op == Op::kBarrier) {
      buffer_ += ',';
      append_number(event.count);
    }
    buffer_ += ')';
  }
  if ((event.location & kNumericLocation) != 0) {
    buffer_ += '|';
    append_number(event.location & ~kNumericLocation);
  } else if (event.location != 0) {
    buffer_ += '|';
    append_escaped(buffer_, names.view(NameKind::kLocation, event.location));
  }
  buffer_ += '\n';
}

Result<void> StdWriter::write(std::span<const Event> events, const Names& names) {
  if (Result<void> ok = check_new_names(names, known_, output_->name()); !ok) return ok;
  if (Result<void> ok = check_events(events, names, output_->name(), written_); !ok) return ok;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i + 2 * kAhead < events.size()) {
      const Event& soon = events[i + kAhead];
      const Event& later = events[i + 2 * kAhead];
      __builtin_prefetch(names.view(object_kind(soon.op), soon.object).data());
      names.expect(object_kind(later.op), later.object);
    }
    append_event(events[i], names);
    if (buffer_.size() >= kBuffer) {
      if (Result<void> done = flush(); !done) return done;
    }
  }
  written_ += events.size();
  return {};
}

Result<void> StdWriter::flush() {
  Result<void> done = output_->write(buffer_);
  buffer_.clear();
  return done;
}

Result<void> StdWriter::finish() {
  if (Result<void> done = flush(); !done) return done;
  return output_->close();
}

}  // namespace

std::unique_ptr<Writer> write_std(std::unique_ptr<Output> output) {
  return std::make_unique<StdWriter>(std::move(output));
}

}  // namespace tomos
