#include "monitor/telling.h"

#include <fmt/format.h>

namespace tomos {

std::string_view op_word(Op op) {
  switch (op) {
    case Op::kBegin:
      return "begin";
    case Op::kEnd:
      return "end";
    case Op::kRead:
      return "read";
    case Op::kWrite:
      return "write";
    case Op::kAcquire:
      return "acquire";
    case Op::kRelease:
      return "release";
    case Op::kReadAcquire:
      return "read-acquire";
    case Op::kReadRelease:
      return "read-release";
    case Op::kFork:
      return "fork";
    case Op::kJoin:
      return "join";
    case Op::kExit:
      return "exit";
    case Op::kBarrier:
    case Op::kSignal:
    case Op::kWait:
    case Op::kNew:
    case Op::kEscape:
    case Op::kFree:
      break;
  }
  return "?";
}

Finding::Transaction tell_transaction(const Names& names, ThreadId thread, LabelId label,
                                      LocationId begin) {
  return {.label = names.name(NameKind::kLabel, label),
          .thread = names.name(NameKind::kThread, thread),
          .location = parse_location(names.name(NameKind::kLocation, begin))};
}

Finding::Event tell_event(const Names& names, ThreadId thread, Op op, std::uint32_t object,
                          LocationId location, std::span<const ModeLock> locks,
                          std::size_t transaction) {
  Finding::Event event{.thread = names.name(NameKind::kThread, thread),
                       .op = std::string(op_word(op)),
                       .variable = op == Op::kExit ? "" : names.name(object_kind(op), object),
                       .locks = {},
                       .location = parse_location(names.name(NameKind::kLocation, location)),
                       .stack = {},
                       .transaction = transaction};
  for (const ModeLock lock : locks) {
    event.locks.push_back(names.name(NameKind::kLock, lock_of(lock)) +
                          (only_reads(lock) ? " for reading" : ""));
  }
  return event;
}

std::string in_sentence(const std::string& label) {
  return label.starts_with("critical section in ") ? "the " + label : label;
}

std::string describe_transaction(const Finding& finding, std::size_t which) {
  const Finding::Transaction& transaction = finding.transactions[which];
  const std::string place = to_string(transaction.location);
  if (transaction.label.empty()) {
    for (const Finding::Event& event : finding.events) {
      if (event.transaction == which && event.location == transaction.location) {
        return fmt::format("the {} of {} at {}", event.op, event.thread, place);
      }
    }
  }
  const std::string name = in_sentence(transaction.label);
  return fmt::format("{} ({}, {})", name.empty() ? "a transaction" : name, transaction.thread,
                     place);
}

}  // namespace tomos
