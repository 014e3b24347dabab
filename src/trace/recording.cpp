// Opens a recording: one walk over the file, chunk by chunk, that believes nothing.
//
// Damage ends the thread it stands in, and every thread that may have been given the rest of the
// chunk: what such a thread did later would stand there without the locks it took before. The other
// threads go on. A chunk that does not say whose it is ends them all.
#include "trace/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <expected>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "trace/recording_events.h"
#include "trace/recording_file.h"
#include "trace/recording_merge.h"
#include "trace/recording_slots.h"
#include "trace/recording_tables.h"

namespace tomos {

namespace recording {

namespace {

class OpenRecording : public Recording {
 public:
  explicit OpenRecording(std::unique_ptr<File> file) : file_(std::move(file)) {}

  Result<void> scan();

  const Header& header() const override { return header_; }
  std::span<const Module> modules() const override { return modules_; }
  std::span<const NoteText> notes() const override { return notes_; }
  std::span<const Thread> threads() const override { return tables_.threads; }
  const std::optional<Error>& damage() const override { return damage_; }
  std::unique_ptr<RecordedEvents> events(RecordingNames& names,
                                         RecordingOptions options) const override {
    options.order_free |= header_.filtered == kDistinctOnly;
    return make_events(*file_, tables_, damage_, names, options);
  }

 private:
  // What the walk remembers of a thread.
  struct Walk {
    Thread thread;
    std::vector<Segment> segments;
    std::uint64_t stack = 0;
    std::uint64_t creation_stack = 0;
    Point section;     // where the critical section that is open begins; no pc: none is
    bool cut = false;  // behind damage
  };

  Result<void> read_header();
  bool scan_chunk(std::uint64_t offset, std::span<const Slot> slots);
  void take(Walk& walk, std::span<const Slot> record);
  void take_stack(std::span<const Slot> record);
  void take_label(std::span<const Slot> record);
  void take_object(std::span<const Slot> record);
  void take_module(std::span<const Slot> record);
  void found_damage(std::uint64_t offset, const std::string& what);
  Walk& walk(std::uint64_t number);
  void finish();

  std::unique_ptr<File> file_;
  Header header_ = {};
  Tables tables_;
  std::vector<Module> modules_;
  std::vector<NoteText> notes_;
  std::map<std::uint64_t, Walk> walks_;
  std::unordered_set<std::uint64_t> locks_;  // that have been used so far
  std::set<std::uint64_t> locks_in_order_;   // the same
  std::optional<Error> damage_;
};

Result<void> OpenRecording::read_header() {
  const Result<std::size_t> got = file_->read(0, std::as_writable_bytes(std::span(&header_, 1)));
  if (!got) return std::unexpected(got.error());
  if (*got < sizeof(header_.magic) || header_.magic != kMagic) {
    return std::unexpected(file_->error(0, "not a recording",
                                        "Give a file that a program built with tomos-cc or "
                                        "tomos-c++ has recorded."));
  }
  if (*got < sizeof(header_) || file_->size() < kHeaderSize) {
    return std::unexpected(file_->damaged(file_->size(), "cut off in its first page"));
  }
  if (header_.version != kVersion) {
    return std::unexpected(
        file_->error(offsetof(Header, version),
                     fmt::format("recording version {}, but this program reads version {}",
                                 header_.version, kVersion),
                     "Build the program again with the tomos-cc or tomos-c++ of this version."));
  }
  return {};
}

void OpenRecording::found_damage(std::uint64_t offset, const std::string& what) {
  if (!damage_) damage_ = file_->damaged(offset, what);
}

OpenRecording::Walk& OpenRecording::walk(std::uint64_t number) {
  Walk& found = walks_[number];
  found.thread.number = number;
  return found;
}

void OpenRecording::take_stack(std::span<const Slot> record) {
  const std::size_t count = small_of(record[0].a);
  std::vector<std::uint64_t> frames(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Slot& slot = record[1 + i / 2];
    frames[i] = i % 2 == 0 ? slot.a : slot.b;
  }
  // A process killed while it wrote this leaves zeros.
  frames.resize(std::ranges::find(frames, std::uint64_t{0}) - frames.begin());
  tables_.stacks.add(value_of(record[0].a), frames);
}

void OpenRecording::take_label(std::span<const Slot> record) {
  const std::string_view text = text_behind(&record[1]);
  const std::size_t zero = std::min(text.find('\0'), text.size());
  Label label = {.name = std::string(text.substr(0, zero)),
                 .line = record[1].a,
                 .flags = small_of(record[0].a)};
  if (zero < text.size()) label.file = text.substr(zero + 1);
  // Padding, if the writer counted it.
  label.file.resize(std::min(label.file.find('\0'), label.file.size()));
  tables_.labels.try_emplace(value_of(record[0].a), std::move(label));
}

void OpenRecording::take_object(std::span<const Slot> record) {
  const Object object = {.address = value_of(record[0].a),
                         .length = record[1].a,
                         .pc = record[1].b,
                         .caller = record[2].a,
                         .thread = record[2].b};
  auto lock = locks_in_order_.lower_bound(object.address);
  for (; lock != locks_in_order_.end() && *lock - object.address < object.length; ++lock) {
    tables_.lock_objects.try_emplace(*lock, object);
  }
}

void OpenRecording::take_module(std::span<const Slot> record) {
  Module module = {.path = std::string(text_behind(&record[2])),
                   .bias = value_of(record[0].a),
                   .first = record[1].a,
                   .end = record[1].b,
                   .instrumented = (record[2].a & kInstrumented) != 0};
  // A process killed while it wrote this leaves zeros.
  if (module.path.empty()) return;
  // The runtime tells all of them again when one is loaded.
  if (std::ranges::find(modules_, module) == modules_.end()) modules_.push_back(std::move(module));
}

// What the walk is after; the rest waits for the merge.
constexpr OpSet kTabled = {Op::kFork,    Op::kStack,  Op::kLabel,   Op::kWait,
                           Op::kBegin,   Op::kEnd,    Op::kAcquire, Op::kReadAcquire,
                           Op::kDestroy, Op::kObject, Op::kModule,  Op::kThreadName,
                           Op::kNote};

void OpenRecording::take(Walk& current, std::span<const Slot> record) {
  const Slot& slot = record[0];
  const std::uint64_t value = value_of(slot.a);
  const Op op = op_of(slot.a);
  if (op == Op::kFork) {
    Walk& forked = walk(value);
    if (std::exchange(forked.thread.forked, true)) return;
    forked.thread.parent = current.thread.number;
    forked.thread.creation_pc = pc_of(slot.b);
    forked.creation_stack = current.stack;
  } else if (op == Op::kStack) {
    current.stack = value;
    if (small_of(slot.a) > 0) take_stack(record);
  } else if (op == Op::kWait) {
    tables_.has_waits = tables_.has_waits || small_of(slot.a) != kCondition;
  } else if (op == Op::kBegin) {
    const auto label = tables_.labels.find(value);
    current.section = {};
    if (label != tables_.labels.end() && label->second.flags == kCriticalSection) {
      current.section = {.pc = pc_of(slot.b), .stack = current.stack};
    }
  } else if (op == Op::kEnd) {
    if (current.section.pc == 0) return;
    tables_.section_ends.try_emplace(current.section,
                                     Point{.pc = pc_of(slot.b), .stack = current.stack});
  } else if (op == Op::kAcquire || op == Op::kReadAcquire) {
    if (locks_.insert(value).second) locks_in_order_.insert(value);
  } else if (op == Op::kDestroy) {
    if (locks_.erase(value) > 0) locks_in_order_.erase(value);
  } else if (op == Op::kObject) {
    take_object(record);
  } else if (op == Op::kLabel) {
    take_label(record);
  } else if (op == Op::kModule) {
    take_module(record);
  } else if (op == Op::kThreadName) {
    walk(value).thread.name = text_behind(&record[1]);
  } else if (op == Op::kNote && small_of(slot.a) <= static_cast<std::uint8_t>(Note::kCutOff)) {
    notes_.push_back({.note = static_cast<Note>(small_of(slot.a)),
                      .address = record[1].a,
                      .text = std::string(text_behind(&record[1]))});
    if (notes_.back().note == Note::kWaits) tables_.waiting.insert(record[1].a);
  }
}

// False if nothing behind this chunk can be used.
bool OpenRecording::scan_chunk(std::uint64_t offset, std::span<const Slot> slots) {
  if (slots[0].a == 0) return true;  // handed out, and never written to
  if (op_of(slots[0].a) != Op::kThread) {
    found_damage(offset, "a chunk that does not say which thread wrote it");
    return false;
  }
  Walk* current = nullptr;
  Segment segment;
  const auto close = [&](std::size_t end) {
    if (current == nullptr) return;
    segment.slots = static_cast<std::uint32_t>(end - (segment.offset - offset) / sizeof(Slot));
    if (segment.slots > 0 && !current->cut) current->segments.push_back(segment);
  };
  std::size_t at = 0;
  while (at < slots.size() && slots[at].a != 0) {
    const std::size_t size = record_size(slots.subspan(at));
    if (size == 0) break;
    const Op op = op_of(slots[at].a);
    if (op == Op::kThread) {
      close(at);
      current = &walk(value_of(slots[at].a));
      segment = {.offset = offset + (at + 1) * sizeof(Slot), .stamp = slots[at].b};
    } else if (kTabled.has(op) && !current->cut) {
      take(*current, slots.subspan(at, size));
    }
    at += size;
  }
  close(at);
  if (at == slots.size() || slots[at].a == 0) return true;
  found_damage(offset + at * sizeof(Slot), "a record that makes no sense");
  current->cut = true;
  for (; at < slots.size(); ++at) {
    if (op_of(slots[at].a) == Op::kThread) walk(value_of(slots[at].a)).cut = true;
  }
  return true;
}

Result<void> OpenRecording::scan() {
  if (Result<void> head = read_header(); !head) return head;
  // Chunks behind next_chunk have not been handed out. If next_chunk is absurd the file's size
  // decides.
  const std::uint64_t size = file_->size();
  const std::uint64_t end = header_.next_chunk >= kHeaderSize ? header_.next_chunk : size;
  std::vector<Slot> slots(kSlotsPerChunk);
  std::uint64_t offset = kHeaderSize;
  std::vector<std::uint64_t> open;                           // chunks: they come last
  std::set<std::pair<std::uint64_t, std::uint64_t>> starts;  // of the others: thread, stamp
  for (; offset < std::min(size, end); offset += kChunkSize) {
    const Result<std::size_t> got = file_->read(offset, std::as_writable_bytes(std::span(slots)));
    if (!got) return std::unexpected(got.error());
    const std::size_t whole = *got / sizeof(Slot);
    if (whole > 0 && op_of(slots[0].a) == Op::kThread && small_of(slots[0].a) == 1) {
      open.push_back(offset);
    } else {
      if (whole > 0) starts.emplace(value_of(slots[0].a), slots[0].b);
      if (whole > 0 && !scan_chunk(offset, std::span(slots).first(whole))) break;
    }
    if (*got < kChunkSize) found_damage(offset + *got, "cut off in the middle of a chunk");
  }
  for (const std::uint64_t chunk : open) {
    const Result<std::size_t> got = file_->read(chunk, std::as_writable_bytes(std::span(slots)));
    if (!got) return std::unexpected(got.error());
    if (*got < sizeof(Slot) || starts.contains({value_of(slots[0].a), slots[0].b})) continue;
    if (!scan_chunk(chunk, std::span(slots).first(*got / sizeof(Slot)))) break;
  }
  // A process can be killed between taking a chunk and making room for it in the file, and one
  // that has run out of disk knows it.
  if (end > offset && header_.lost == 0 && header_.ending != Ending::kRunning) {
    found_damage(size, "cut off");
  }
  finish();
  return {};
}

void OpenRecording::finish() {
  for (auto& [number, walk] : walks_) {
    Thread& thread = walk.thread;
    if (thread.name.empty()) thread.name = number == 0 ? "main" : fmt::format("T{}", number);
    const auto frames = tables_.stacks.find(walk.creation_stack);
    if (thread.forked) thread.creation_stack.assign(frames.begin(), frames.end());
    tables_.threads.push_back(std::move(thread));
    tables_.segments.push_back({.number = number, .segments = std::move(walk.segments)});
  }
  walks_.clear();
  locks_.clear();
  locks_in_order_.clear();
}

}  // namespace
}  // namespace recording

Result<std::unique_ptr<Recording>> open_recording(const std::string& path) {
  Result<std::unique_ptr<recording::File>> file = recording::File::open(path);
  if (!file) return std::unexpected(std::move(file.error()));
  auto recording = std::make_unique<recording::OpenRecording>(std::move(*file));
  if (Result<void> scanned = recording->scan(); !scanned) {
    return std::unexpected(std::move(scanned.error()));
  }
  return recording;
}

}  // namespace tomos
