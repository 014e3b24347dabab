// Reads STD text.
//
// Nearly all lines of nearly all traces look alike: `T12|w(V34)|56`, plain names, no blanks, no
// escapes. quick_line() takes such a line apart in one pass over its bytes and touches nothing
// else; any line it cannot finish goes, from its start, through the full grammar of std_line.h,
// which alone knows what is an error. So the quick way may give up on anything, but must never read
// a line differently from the grammar.
//
// Numbers are read eight digits at a time in one word, and names that are a prefix and a number get
// their ids from a table (numbered_names.h), so that the usual line costs no loop with an
// unpredictable end and no hashing.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <expected>
#include <optional>
#include <utility>

#include "trace/limits.h"
#include "trace/numbered_names.h"
#include "trace/std_line.h"
#include "trace/std_text.h"

namespace tomos {

namespace {

constexpr std::size_t kParsed = 8192;
constexpr std::size_t kPutOff = 32;
constexpr std::size_t kShortestEvent = 6;  // "T|end" and a line feed

enum : std::uint8_t {
  kInName = 1,      // may stand in a name that the quick way takes
  kInLocation = 2,  // the same for locations
  kDigit = 4,
};

constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> table = {};
  for (std::size_t c = '!'; c < 256; ++c) table[c] = kInName | kInLocation;
  for (std::size_t c = '0'; c <= '9'; ++c) table[c] |= kDigit;
  table['%'] = 0;
  for (const char c : {'|', '(', ')', '#'}) table[static_cast<unsigned char>(c)] = kInLocation;
  return table;
}();

std::uint8_t class_of(char c) { return kClass[static_cast<unsigned char>(c)]; }

struct Number {
  std::uint32_t value = 0;
  std::uint32_t digits = 0;
};

// The decimal number at `p`; 0 digits if there is none that is canonical and has at most nine.
Number read_number(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030;
  std::uint64_t word = 0;
  std::memcpy(&word, p, sizeof(word));
  word ^= kZeros;
  // A byte that was no digit is now above 9; adding 0x76 to its low seven bits, or its own top bit,
  // shows it.
  const std::uint64_t others =
      (((word & 0x7f7f'7f7f'7f7f'7f7f) + 0x7676'7676'7676'7676) | word) & 0x8080'8080'8080'8080;
  Number number;
  if (others == 0) {
    number.digits = 8;
  } else {
    number.digits = static_cast<std::uint32_t>(std::countr_zero(others)) / 8;
    if (number.digits == 0) return {};
    word <<= 64 - 8 * number.digits;  // leading zeros instead of trailing bytes
  }
  if (*p == '0' && number.digits > 1) return {};
  word = (word * 10) + (word >> 8);
  word = (((word & 0x0000'00ff'0000'00ff) * 0x000f'4240'0000'0064) +
          (((word >> 16) & 0x0000'00ff'0000'00ff) * 0x0000'2710'0000'0001)) >>
         32;
  number.value = static_cast<std::uint32_t>(word);
  if (number.digits == 8 && (class_of(p[8]) & kDigit) != 0) {
    number.value = number.value * 10 + static_cast<std::uint32_t>(p[8] - '0');
    number.digits = 9;
    if ((class_of(p[9]) & kDigit) != 0) return {};
  }
  return number;
}

struct Name {
  std::string_view text;
  std::uint64_t prefix = 0;
  std::uint32_t number = 0;
  bool numbered = false;
};

class StdReader : public Source {
 public:
  explicit StdReader(std::unique_ptr<Input> input) : input_(std::move(input)) {}

  Result<void> next(Batch& batch) override;
  const Names& names() const override { return names_; }
  Progress progress() const override { return input_->progress(); }

 private:
  bool quick_line(const char*& at, Event& event);
  Result<bool> full_line(std::string_view text, Event& event);
  void lines(Batch& batch, std::string_view text);
  void one_line(Batch& batch, std::string_view text);
  void append(Batch& batch);
  std::uint32_t make(NameKind kind, const Name& name);
  ThreadId thread_id(const Name& name);
  void put_off(Event& event, const Name& object);
  void look_up();
  void fail(Error error);

  struct PutOff {
    Event* event;  // lacks its object
    Name object;
  };

  std::unique_ptr<Input> input_;
  Names names_;
  NumberedNames numbered_;
  std::array<PutOff, kPutOff> put_off_;
  std::size_t put_off_count_ = 0;
  StdLine scratch_;
  std::string_view last_thread_;  // as interned
  ThreadId last_thread_id_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t lines_ = 0;       // taken so far
  std::uint64_t event_line_ = 0;  // of the last event
  std::size_t filled_ = 0;        // events in the batch being made
  std::optional<Error> error_;
};

// Moves `p` behind the name that starts there.
Name scan_name(const char*& p) {
  Name name;
  const char* const start = p;
  while ((class_of(*p) & (kInName | kDigit)) == kInName) {
    name.prefix = name.prefix << 8 | static_cast<unsigned char>(*p);
    ++p;
  }
  const Number number = read_number(p);
  name.numbered = number.digits > 0 && p - start <= 8;
  name.number = number.value;
  p += number.digits;
  if ((class_of(*p) & kInName) != 0) [[unlikely]] {
    name.numbered = false;
    while ((class_of(*p) & kInName) != 0) ++p;
  }
  name.text = {start, static_cast<std::size_t>(p - start)};
  return name;
}

std::uint32_t StdReader::make(NameKind kind, const Name& name) {
  const std::uint32_t id = names_.intern(kind, name.text);
  if (name.numbered) {
    numbered_.remember(kind, name.prefix, name.number, id, names_.count(kind));
  }
  return id;
}

ThreadId StdReader::thread_id(const Name& name) {
  if (name.numbered) [[likely]] {
    const ThreadId id = numbered_.find(NameKind::kThread, name.prefix, name.number);
    return id != NumberedNames::kNone ? id : make(NameKind::kThread, name);
  }
  if (name.text != last_thread_) {
    last_thread_id_ = names_.intern(NameKind::kThread, name.text);
    last_thread_ = names_.view(NameKind::kThread, last_thread_id_);
  }
  return last_thread_id_;
}

void StdReader::put_off(Event& event, const Name& object) {
  if (object.numbered) numbered_.expect(object_kind(event.op), object.prefix, object.number);
  put_off_[put_off_count_++] = {&event, object};
  if (put_off_count_ == kPutOff) look_up();
}

// First those in the tables; the others are put off once more, until their place in the hash table
// has come.
void StdReader::look_up() {
  std::size_t others = 0;
  for (std::size_t i = 0; i < put_off_count_; ++i) {
    const auto& [event, object] = put_off_[i];
    const NameKind kind = object_kind(event->op);
    event->object =
        object.numbered ? numbered_.find(kind, object.prefix, object.number) : NumberedNames::kNone;
    if (event->object == NumberedNames::kNone) [[unlikely]] {
      names_.expect(kind, object.text);
      put_off_[others++] = put_off_[i];
    }
  }
  for (std::size_t i = 0; i < others; ++i) {
    const auto& [event, object] = put_off_[i];
    event->object = make(object_kind(event->op), object);
  }
  put_off_count_ = 0;
}

// The operation at `p`, which is moved behind its word; kOpCount if it is not one of those taken
// here.
std::size_t scan_operation(const char*& p) {
  if (p[1] == '(') {
    if (p[0] != 'r' && p[0] != 'w') return kOpCount;
    const std::size_t op = static_cast<std::size_t>(Op::kRead) + (p[0] == 'w' ? 1 : 0);
    ++p;
    return op;
  }
  static_assert(static_cast<int>(Op::kWrite) == static_cast<int>(Op::kRead) + 1);
  const auto take = [&p](std::string_view word, Op op) {
    if (std::memcmp(p, word.data(), word.size()) != 0) return kOpCount;
    p += word.size();
    return static_cast<std::size_t>(op);
  };
  switch (p[0]) {
    case 'a':
      return take("acq", Op::kAcquire);
    case 'r':
      if (p[1] == 'e') return take("rel", Op::kRelease);
      return p[1] == 'a' ? take("racq", Op::kReadAcquire) : take("rrel", Op::kReadRelease);
    case 'b':
      return take("begin", Op::kBegin);
    case 'e':
      return p[1] == 'n' ? take("end", Op::kEnd) : take("escape", Op::kEscape);
    case 'f':
      return p[1] == 'o' ? take("fork", Op::kFork) : take("free", Op::kFree);
    case 'j':
      return take("join", Op::kJoin);
    case 'n':
      return take("new", Op::kNew);
    default:
      return kOpCount;
  }
}

// `at` is the start of a line whose line feed is in the buffer: it stops every scan below.
bool StdReader::quick_line(const char*& at, Event& event) {
  const char* p = at;
  const Name thread = scan_name(p);
  if (thread.text.empty() || *p != '|') return false;
  ++p;

  const std::size_t op = scan_operation(p);
  if (op == kOpCount) return false;
  event.op = static_cast<Op>(op);
  Name object;
  if (*p == '(') {
    ++p;
    object = scan_name(p);
    if (object.text.empty() || *p != ')' || event.op == Op::kEnd) return false;
    ++p;
  } else if (event.op != Op::kBegin && event.op != Op::kEnd) {
    return false;
  }

  event.location = 0;
  std::string_view location;
  if (*p == '|') {
    ++p;
    const char* const start = p;
    const Number number = read_number(p);
    p += number.digits;
    if ((class_of(*p) & kInLocation) != 0) {
      while ((class_of(*p) & kInLocation) != 0) ++p;
      location = {start, static_cast<std::size_t>(p - start)};
    } else if (number.digits > 0) {
      event.location = kNumericLocation | number.value;
    }
  }
  if (*p == '\r') ++p;
  if (*p != '\n') return false;
  ++p;
  if (p - at > static_cast<std::ptrdiff_t>(kMaxName)) return false;

  event.thread = thread_id(thread);
  event.object = 0;
  if (object_kind(event.op) == NameKind::kThread) {
    event.object = thread_id(
        object);  // now: ids count in the order of use, and later lines' threads are not put off
  } else if (!object.text.empty()) {
    put_off(event, object);
  }
  if (!location.empty()) {
    const std::int64_t number = location.size() == 10 ? numeric_location(location) : -1;
    event.location = number >= 0 ? kNumericLocation | static_cast<LocationId>(number)
                                 : names_.intern(NameKind::kLocation, location);
  }
  event.spare = 0;
  event.count = 0;
  at = p;
  return true;
}

Result<bool> StdReader::full_line(std::string_view text, Event& event) {
  Result<bool> any = parse_std_line(text, scratch_);
  if (!any || !*any) return any;
  const NameKind kind = object_kind(scratch_.op);
  const std::int64_t number = numeric_location(scratch_.location);
  event.thread = names_.intern(NameKind::kThread, scratch_.thread);
  event.object = scratch_.operand.empty() ? 0 : names_.intern(kind, scratch_.operand);
  event.location = number >= 0 ? kNumericLocation | static_cast<LocationId>(number)
                               : names_.intern(NameKind::kLocation, scratch_.location);
  event.op = scratch_.op;
  event.spare = 0;
  event.count = scratch_.count;
  return true;
}

void StdReader::fail(Error error) {
  if (error.where.empty()) error.where = fmt::format("{}:{}", input_->name(), lines_);
  error_ = std::move(error);
}

// Counts the event just put at batch.events[filled_], which stands on line lines_.
void StdReader::append(Batch& batch) {
  if (filled_ == 0) {
    batch.first_line = lines_;
  } else if (event_line_ + 1 != lines_) {
    batch.gaps.emplace_back(static_cast<std::uint32_t>(filled_),
                            static_cast<std::uint32_t>(lines_ - event_line_ - 1));
  }
  event_line_ = lines_;
  ++filled_;
}

void StdReader::one_line(Batch& batch, std::string_view text) {
  ++lines_;
  Result<bool> any = full_line(text, batch.events[filled_]);
  if (!any) {
    fail(std::move(any.error()));
  } else if (*any) {
    append(batch);
  }
}

// Takes lines from `text`, which ends in a line feed, until the batch is full or a line is wrong.
void StdReader::lines(Batch& batch, std::string_view text) {
  const char* p = text.begin();
  const char* const to = text.end();
  batch.events.resize(std::min(kParsed, filled_ + text.size() / kShortestEvent + 1));
  while (p != to && filled_ < kParsed && !error_) {
    if (quick_line(p, batch.events[filled_])) [[likely]] {
      ++lines_;
      append(batch);
    } else {
      look_up();
      const auto* const feed =
          static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(to - p)));
      one_line(batch, {p, static_cast<std::size_t>(feed - p)});
      p = feed + 1;
    }
  }
  look_up();
  input_->consume(static_cast<std::size_t>(p - text.begin()));
}

Result<void> StdReader::next(Batch& batch) {
  batch.gaps.clear();
  batch.first = events_;
  batch.first_line = 0;
  filled_ = 0;
  while (filled_ < kParsed && !error_) {
    const std::string_view view = input_->view();
    const std::size_t feed = view.rfind('\n');
    if (feed != std::string_view::npos) {
      lines(batch, view.substr(0, feed + 1));
      continue;
    }
    // A pipe may be slow: what is there now is worth more than a full batch later.
    if (filled_ > 0) break;
    const bool too_long = view.size() > kMaxLine + 1;
    if (!too_long) {
      Result<bool> any = input_->more();
      if (!any) fail(std::move(any.error()));
      if (!any || *any) continue;
    }
    // The last line lacks its line feed; so does, in what is here of it, a line that is too long.
    const std::string_view rest = input_->view();
    if (rest.empty()) break;
    batch.events.resize(filled_ + 1);
    one_line(batch, rest);
    input_->consume(rest.size());
  }
  batch.events.resize(filled_);
  events_ += filled_;
  if (filled_ == 0 && error_) return std::unexpected(*error_);
  return {};
}

}  // namespace

std::unique_ptr<Source> read_std(std::unique_ptr<Input> input) {
  return std::make_unique<StdReader>(std::move(input));
}

}  // namespace tomos
