#include "report/finding.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <initializer_list>
#include <optional>
#include <set>

namespace tomos {

namespace {

// A number that is written as we would write it, so that to_string() gives the text back.
std::optional<std::uint32_t> positive(std::string_view text) {
  std::uint32_t value = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || text.front() == '0') return std::nullopt;
  return value;
}

struct Tail {
  std::string_view head;
  std::uint32_t number;
};

// "a:b:7" is {"a:b", 7}; "7" is {"", 7}.
std::optional<Tail> split_number(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == 0) return std::nullopt;
  const std::string_view digits = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto number = positive(digits);
  if (!number) return std::nullopt;
  return Tail{colon == std::string_view::npos ? std::string_view() : text.substr(0, colon),
              *number};
}

// Strings with their lengths, so that no two lists of strings give the same bytes.
class Fingerprint {
 public:
  void add(std::string_view text) {
    add(text.size());
    bytes_ += text;
  }
  void add(std::size_t number) { bytes_ += fmt::format("{}:", number); }
  void add(const Location& location) {
    add(location.file);
    add(std::size_t{location.line});
    add(std::size_t{location.column});
  }
  const std::string& bytes() const { return bytes_; }
  std::string digest() const {
    return fmt::format("{:016x}", XXH3_64bits(bytes_.data(), bytes_.size()));
  }

 private:
  std::string bytes_;
};

// Each once, in an order that depends on nothing but them.
void add_set(Fingerprint& print, const std::set<std::string>& texts) {
  print.add(texts.size());
  for (const std::string& text : texts) print.add(text);
}

// A hash of which transactions do what where.
std::string place_of(const Finding& finding) {
  std::set<std::string> transactions;
  for (const Finding::Transaction& transaction : finding.transactions) {
    Fingerprint part;
    part.add(transaction.label);
    part.add(transaction.location);
    transactions.insert(part.bytes());
  }
  std::set<std::string> events;
  for (const Finding::Event& event : finding.events) {
    Fingerprint part;
    part.add(event.op);
    part.add(event.location);
    events.insert(part.bytes());
  }
  Fingerprint print;
  print.add(to_string(finding.kind));
  add_set(print, transactions);
  add_set(print, events);
  return print.digest();
}

}  // namespace

Location parse_location(std::string_view text) {
  const auto last = split_number(text);
  if (!last) return {.file = std::string(text)};
  if (last->head.empty()) return {.line = last->number};
  if (const auto before = split_number(last->head)) {
    return {.file = std::string(before->head), .line = before->number, .column = last->number};
  }
  return {.file = std::string(last->head), .line = last->number};
}

std::string to_string(const Location& location) {
  std::string text = location.file;
  for (const std::uint32_t number : {location.line, location.column}) {
    if (number == 0) break;
    if (!text.empty()) text += ':';
    text += fmt::to_string(number);
  }
  return text.empty() ? "?" : text;
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kAtomicity:
      return "atomicity";
    case Kind::kRace:
      return "race";
    case Kind::kDeadlock:
      return "deadlock";
    case Kind::kCrash:
      return "crash";
    case Kind::kAnomaly:
      return "anomaly";
  }
  return "";
}

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::kPredicted:
      return "predicted";
    case Certainty::kObserved:
      return "observed";
    case Certainty::kConfirmed:
      return "confirmed";
    case Certainty::kProved:
      return "proved";
  }
  return "";
}

bool is_of_source(const Finding& finding) {
  return finding.analysis == "infer" || finding.analysis == "tm";
}

bool is_mover_pattern(std::string_view pattern) {
  if (pattern.size() % 2 == 0) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view allowed = i % 2 == 0 ? "RLBN" : " ";
    if (!allowed.contains(pattern[i])) return false;
  }
  return true;
}

std::string Finding::id() const {
  if (!analyses.empty()) return place_of(*this);
  Fingerprint print;
  print.add(analysis);
  print.add(to_string(kind));
  print.add(is_mover_pattern(pattern) ? "" : std::string_view(pattern));
  print.add(transactions.size());
  for (const Transaction& transaction : transactions) {
    print.add(transaction.label);
    print.add(transaction.location);
  }
  print.add(events.size());
  for (const Event& event : events) {
    print.add(event.op);
    print.add(event.location);
    print.add(event.transaction);
  }
  for (const Edge& edge : edges) {
    print.add(edge.from);
    print.add(edge.to);
  }
  return print.digest();
}

}  // namespace tomos
