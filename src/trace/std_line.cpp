// The grammar is small, and what makes it able to carry any name is percent escapes: the writer
// escapes exactly the bytes that would be read as something else (the bar, line ends, blanks that
// would be trimmed, a # that would start a comment, NUL, and the percent sign itself), and the
// reader decodes exactly those codes. So text from other tools, which knows of no escapes, is taken
// as it stands, "100%" and "%d" included.
#include "trace/std_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <expected>
#include <system_error>

#include "event/names.h"
#include "trace/limits.h"

namespace tomos {

namespace {

constexpr std::string_view kForm =
    "Write thread|operation|location, like T1|w(x)|12, or # before a comment.";
constexpr std::string_view kOperations =
    "The operations are begin, begin(label), end, acq(lock), rel(lock), racq(lock), rrel(lock), "
    "try(lock), rtry(lock), "
    "r(variable), w(variable), fork(thread), join(thread), barrier(name,count), signal(name), "
    "wait(name), new(variable), escape(variable), free(variable), exit.";

constexpr std::array<std::string_view, kOpCount> kWords = {
    "begin", "end",     "r",   "w",      "acq",  "rel",  "racq",   "rrel", "fork",
    "join",  "barrier", "new", "escape", "free", "exit", "signal", "wait"};
static_assert(kWords[static_cast<std::size_t>(Op::kWait)] == "wait");
// An acquire or read-acquire of count 1.
constexpr std::string_view kTry = "try";
constexpr std::string_view kReadTry = "rtry";

constexpr std::string_view kEscaped("%|\n\r\t #\0", 8);  // all that %XX can stand for
constexpr std::string_view kHex = "0123456789ABCDEF";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

void decode(std::string_view text, std::string& name) {
  name.clear();
  for (;;) {
    const std::size_t percent = text.find('%');
    name += text.substr(0, percent);
    if (percent == std::string_view::npos) return;
    text.remove_prefix(percent + 1);
    char decoded = '%';
    if (text.size() >= 2) {
      const std::size_t high = kHex.find(text[0]);
      const std::size_t low = kHex.find(text[1]);
      if (high != std::string_view::npos && low != std::string_view::npos &&
          kEscaped.contains(static_cast<char>(high * 16 + low))) {
        decoded = static_cast<char>(high * 16 + low);
        text.remove_prefix(2);
      }
    }
    name += decoded;
  }
}

std::unexpected<Error> bad(std::string what, std::string_view line, std::string_view remedy) {
  return std::unexpected(Error{"", fmt::format("{}: {}", what, quoted(line)), std::string(remedy)});
}

bool needs_operand(Op op) { return op != Op::kBegin && op != Op::kEnd && op != Op::kExit; }

// Splits "b,3" at its last comma.
bool parse_barrier(std::string_view& operand, std::uint16_t& count) {
  const std::size_t comma = operand.rfind(',');
  if (comma == std::string_view::npos) return false;
  const std::string_view number = trimmed(operand.substr(comma + 1));
  operand = trimmed(operand.substr(0, comma));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  return error == std::errc() && end == number.data() + number.size() && count > 0 &&
         !operand.empty();
}

}  // namespace

Result<bool> parse_std_line(std::string_view text, StdLine& line) {
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() > kMaxLine) {
    return bad(fmt::format("a line of more than {} bytes", kMaxLine), text,
               "This does not look like an STD text trace: check what the file is.");
  }
  text = trimmed(text);
  if (text.empty() || text.front() == '#') return false;
  if (text.contains('\0')) {
    return bad("a NUL byte", text, "This is not text: give an STD text trace or a .tomos file.");
  }

  const std::size_t bar = text.find('|');
  if (bar == std::string_view::npos) return bad("not an event", text, kForm);
  const std::string_view thread = trimmed(text.substr(0, bar));
  if (thread.empty()) return bad("an event without a thread", text, kForm);
  const std::string_view rest = text.substr(bar + 1);
  const std::size_t second = rest.find('|');
  std::string_view operation = trimmed(rest.substr(0, second));
  const std::string_view location =
      second == std::string_view::npos ? std::string_view() : trimmed(rest.substr(second + 1));
  if (operation.empty()) return bad("an event without an operation", text, kForm);

  std::string_view operand;
  const std::size_t open = operation.find('(');
  if (open != std::string_view::npos) {
    const std::size_t close = operation.rfind(')');
    if (close == std::string_view::npos || close < open) {
      return bad("\"(\" without \")\"", text, "Close the operand; inside a name write | as %7C.");
    }
    if (close + 1 != operation.size()) {
      return bad("text behind the operand's \")\"", text, kForm);
    }
    operand = trimmed(operation.substr(open + 1, close - open - 1));
    operation = trimmed(operation.substr(0, open));
  }

  if (operation == kTry || operation == kReadTry) {
    line.op = operation == kTry ? Op::kAcquire : Op::kReadAcquire;
    line.count = 1;
  } else {
    const auto* const word = std::ranges::find(kWords, operation);
    if (word == kWords.end()) {
      return bad(fmt::format("unknown operation {}", quoted(operation)), text, kOperations);
    }
    line.op = static_cast<Op>(word - kWords.begin());
    line.count = 0;
  }
  if (line.op == Op::kBarrier && !parse_barrier(operand, line.count)) {
    return bad("\"barrier\" needs a name and a number of threads", text,
               "Write barrier(name,count) with a count from 1 to 65535, like barrier(b,3).");
  }
  if (needs_operand(line.op) && operand.empty()) {
    return bad(fmt::format("\"{}\" without an operand", operation), text, kOperations);
  }
  if ((line.op == Op::kEnd || line.op == Op::kExit) && !operand.empty()) {
    return bad(fmt::format("\"{}\" takes no operand", operation), text, kOperations);
  }

  decode(thread, line.thread);
  decode(operand, line.operand);
  decode(location, line.location);
  if (std::max({line.thread.size(), line.operand.size(), line.location.size()}) > kMaxName) {
    return bad(fmt::format("a name of more than {} bytes", kMaxName), text, "Shorten the name.");
  }
  return true;
}

std::int64_t numeric_location(std::string_view location) {
  if (location.empty() || location.size() > 10 || (location[0] == '0' && location.size() > 1)) {
    return -1;
  }
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(location.data(), location.data() + location.size(), value);
  if (error != std::errc() || end != location.data() + location.size()) return -1;
  return value < kNumericLocation ? static_cast<std::int64_t>(value) : -1;
}

void append_escaped(std::string& text, std::string_view name) {
  constexpr std::array<bool, 256> kAlways = [] {
    std::array<bool, 256> table = {};
    for (const char c : {'%', '|', '\n', '\r', '\0'}) table[static_cast<unsigned char>(c)] = true;
    return table;
  }();
  std::size_t done = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const bool at_edge = i == 0 || i + 1 == name.size();
    if (!kAlways[byte] && !(at_edge && is_blank(name[i])) && !(i == 0 && byte == '#')) continue;
    text += name.substr(done, i - done);
    text += '%';
    text += kHex[byte / 16];
    text += kHex[byte % 16];
    done = i + 1;
  }
  text += name.substr(done);
}

std::string_view std_word(const Event& event) {
  if (event.op == Op::kAcquire && event.count == 1) return kTry;
  if (event.op == Op::kReadAcquire && event.count == 1) return kReadTry;
  return kWords[static_cast<std::size_t>(event.op)];
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    if (c >= ' ' && c < '\x7f') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += text.size() > kShown ? "...\"" : "\"";
  return out;
}

}  // namespace tomos
