#include "raw.h"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "trace/open.h"
#include "trace/std_text.h"
#include "trace/validate.h"

namespace tomos::filter {

namespace {

constexpr std::uint32_t kMaxThreads = 64;
constexpr std::uint32_t kMaxLabels = 256;
constexpr std::uint32_t kOwnPlaces = 20000;
constexpr std::string_view kAtomicLock = "atomic_";

Names make_names() {
  Names names;
  for (std::uint32_t i = 0; i < kMaxThreads; ++i) {
    names.add(NameKind::kThread, fmt::format("T{}", i));
    names.add(NameKind::kBarrier, fmt::format("B{}", i));
  }
  for (std::uint32_t i = 0; i < kMaxLocks; ++i) names.add(NameKind::kLock, fmt::format("L{}", i));
  for (std::uint32_t i = 0; i < kMaxVariables; ++i) {
    const std::string name = fmt::format("V{}.{}", cell_of(i), i % 2 == 0 ? 'a' : 'b');
    names.add(NameKind::kVariable, name);
    for (std::uint32_t life = 0; life < kMaxLives; ++life) {
      names.add(NameKind::kLock, fmt::format("{}{}.{}", kAtomicLock, name, life));
    }
  }
  for (std::uint32_t i = 1; i < kMaxLabels; ++i) names.add(NameKind::kLabel, fmt::format("f{}", i));
  return names;
}

class Delivery {
 public:
  void add(const Event& raw) {
    switch (form_of(raw)) {
      case Form::kPlain:
        add_plain(raw, raw.object);
        break;
      case Form::kWide:
        add_plain(raw, raw.object);
        add_plain(raw, beside(raw.object));
        break;
      case Form::kAtomic:
      case Form::kUpdate:
        put(raw, raw.op == Op::kWrite ? Op::kAcquire : Op::kReadAcquire, lock_of(raw.object));
        if (form_of(raw) == Form::kUpdate) put(raw, Op::kRead, raw.object);
        put(raw, raw.op, raw.object);
        put(raw, raw.op == Op::kWrite ? Op::kRelease : Op::kReadRelease, lock_of(raw.object));
        break;
    }
  }

  Trace trace;

 private:
  LockId lock_of(VariableId variable) { return atomic_lock(variable, freed_[variable]); }

  void add_plain(const Event& raw, std::uint32_t object) {
    put(raw, raw.op, object);
    if (raw.op == Op::kFree) ++freed_[object];
  }

  void put(const Event& raw, Op op, std::uint32_t object) {
    trace.push_back({.thread = raw.thread,
                     .object = op == Op::kBegin ? raw.count : object,
                     .location = kNumericLocation | (op == Op::kBarrier ? 0U : raw.count),
                     .op = op,
                     .spare = 0,
                     .count = op == Op::kBarrier ? raw.count : std::uint16_t{0}});
  }

  std::map<VariableId, std::uint32_t> freed_;
};

// Gives what has a name in the file a number, in the order it comes.
class Numbers {
 public:
  std::uint32_t operator[](std::string_view name) {
    return numbers_.try_emplace(std::string(name), static_cast<std::uint32_t>(numbers_.size()))
        .first->second;
  }
  std::size_t size() const { return numbers_.size(); }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

class RawReader {
 public:
  explicit RawReader(const Names& names) : names_(names) {}

  // Why the trace cannot be taken; nullptr if it can.
  const char* run(const Trace& events) {
    for (std::size_t i = 0; i < events.size();) i += take(events, i);
    const bool small = threads_.size() <= kMaxThreads && locks_.size() <= kMaxLocks &&
                       cells_.size() <= kMaxVariables / 2 && labels_.size() < kMaxLabels &&
                       pcs_.size() < kOwnPlaces && barriers_.size() <= kMaxThreads;
    if (!small) return "too many threads, variables, locks, labels or places";
    return crowded_ ? "more than two variables in a cell" : nullptr;
  }

  Raw raw;

 private:
  // How many events were taken for one.
  std::size_t take(const Trace& events, std::size_t i) {
    const Event& e = events[i];
    const auto is = [&](std::size_t k, Op op) {
      return k < events.size() && events[k].op == op && events[k].thread == e.thread;
    };
    const bool acquires = e.op == Op::kAcquire || e.op == Op::kReadAcquire;
    if (acquires && lock_name(e).starts_with(kAtomicLock)) {
      const Op release = e.op == Op::kAcquire ? Op::kRelease : Op::kReadRelease;
      const std::size_t update = is(i + 1, Op::kRead) && is(i + 2, Op::kWrite) ? 1 : 0;
      if ((is(i + 1, Op::kRead) || is(i + 1, Op::kWrite)) && is(i + 2 + update, release)) {
        add(events[i + 1 + update], update == 1 ? Form::kUpdate : Form::kAtomic);
        return 3 + update;
      }
    }
    const bool wide = object_kind(e.op) == NameKind::kVariable && is(i + 1, e.op) &&
                      events[i + 1].location == e.location && e.object != events[i + 1].object &&
                      cell_name(e) == cell_name(events[i + 1]);
    if (wide) variable(events[i + 1]);
    add(e, wide ? Form::kWide : Form::kPlain);
    return wide ? 2 : 1;
  }

  std::string lock_name(const Event& e) const { return names_.name(NameKind::kLock, e.object); }
  std::string cell_name(const Event& e) const {
    const std::string name = names_.name(NameKind::kVariable, e.object);
    return name.substr(0, name.find('.'));
  }

  VariableId variable(const Event& e) {
    const std::uint32_t cell = cells_[cell_name(e)];
    Numbers& fields = fields_[cell];
    const std::uint32_t field = fields[names_.name(NameKind::kVariable, e.object)];
    crowded_ = crowded_ || field > 1;
    return 2 * cell + field % 2;
  }

  std::uint32_t object(const Event& e) {
    switch (object_kind(e.op)) {
      case NameKind::kVariable:
        return variable(e);
      case NameKind::kLock:
        return locks_[lock_name(e)];
      case NameKind::kThread:
        return threads_[names_.name(NameKind::kThread, e.object)];
      case NameKind::kBarrier:
        return barriers_[names_.name(NameKind::kBarrier, e.object)];
      case NameKind::kLabel:
      case NameKind::kLocation:
        break;
    }
    return 0;
  }

  void add(const Event& e, Form form) {
    // Numbers stay what they are: simulate.h tells them apart.
    std::uint32_t place = e.location & ~kNumericLocation;
    if (place == e.location || place >= kOwnPlaces) {
      place = kOwnPlaces + pcs_[names_.name(NameKind::kLocation, e.location)];
    }
    if (e.op == Op::kBegin) place = 1 + labels_[names_.name(NameKind::kLabel, e.object)];
    if (e.op == Op::kBarrier) place = e.count;
    raw.push_back({.thread = threads_[names_.name(NameKind::kThread, e.thread)],
                   .object = object(e),
                   .location = 0,
                   .op = e.op,
                   .spare = static_cast<std::uint8_t>(form),
                   .count = static_cast<std::uint16_t>(place)});
  }

  const Names& names_;
  Numbers threads_;
  Numbers locks_;
  Numbers cells_;
  Numbers barriers_;
  Numbers labels_;
  Numbers pcs_;
  std::map<std::uint32_t, Numbers> fields_;
  bool crowded_ = false;
};

}  // namespace

Trace deliver(const Raw& raw) {
  Delivery delivery;
  for (const Event& e : raw) delivery.add(e);
  return std::move(delivery.trace);
}

const Names& names() {
  static const Names kNames = make_names();
  return kNames;
}

Result<Raw> read_raw(const std::string& path) {
  Result<std::unique_ptr<Source>> source = open_trace(path);
  if (!source) return std::unexpected(source.error());
  Validated valid(std::move(*source), input_name(path), Validation::kStrict);
  Trace events;
  Batch batch;
  do {
    if (Result<void> got = valid.next(batch); !got) return std::unexpected(got.error());
    events.insert(events.end(), batch.events.begin(), batch.events.end());
  } while (!batch.events.empty());
  RawReader reader(valid.names());
  if (const char* why = reader.run(events); why != nullptr) {
    return std::unexpected(Error{.where = path, .what = why, .remedy = "judge a smaller trace"});
  }
  return std::move(reader.raw);
}

std::string to_std(const Trace& delivered) {
  std::string text;
  const std::unique_ptr<Writer> writer = write_std(std::make_unique<Output>(text));
  if (!writer->write(delivered, names()) || !writer->finish()) return "(cannot be written)\n";
  return text;
}

}  // namespace tomos::filter
