// Every finding must be filled in, and speak of events and transactions that exist. Those of the
// block-based analyses go further: their events, as they stand, are a part of some complete
// interleaving, and (for pairs) the transactions they name are cut even when they are alone.
#include "check_prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "oracle/generator.h"

namespace tomos::predict {

namespace {

class Check {
 public:
  Check(const Finding& finding, const Subject& subject, std::span<const Event> trace,
        const Truth& truth)
      : finding_(finding), subject_(subject), trace_(trace), truth_(truth) {
    for (const std::vector<Step>& steps : truth.model().threads) {
      for (const Step& step : steps) steps_.emplace_back(step.event, step.transaction);
    }
    real_.assign(finding.transactions.size(), kNone);
  }

  std::string run() {
    check_filled();
    for (std::size_t k = 0; k < finding_.events.size() && wrong_.empty(); ++k) check_event(k);
    for (std::size_t t = 0; t < real_.size() && wrong_.empty(); ++t) check_transaction(t);
    if (wrong_.empty() && subject_.promise == Promise::kExact) check_order();
    if (wrong_.empty() && subject_.name == "blocks") check_pair();
    return std::move(wrong_);
  }

 private:
  template <class... Args>
  void fail(fmt::format_string<Args...> text, Args&&... args) {
    if (wrong_.empty()) wrong_ = fmt::format(text, std::forward<Args>(args)...);
  }

  static std::string name(NameKind kind, std::uint32_t id) {
    return oracle::names().name(kind, id);
  }

  void check_filled() {
    if (finding_.analysis != subject_.analysis->name)
      fail("it is under the name {}", finding_.analysis);
    if (finding_.kind != subject_.kind) fail("its kind is {}", to_string(finding_.kind));
    if (finding_.verdict != Certainty::kPredicted) {
      fail("its verdict is {}", to_string(finding_.verdict));
    }
    if (finding_.message.empty()) fail("it has no message");
    if (finding_.transactions.empty()) fail("it has no transactions");
    if (finding_.events.empty()) fail("it has no events");
  }

  // The locks that the thread of event i holds there.
  std::set<std::string> held(std::size_t i) const {
    std::multiset<std::pair<LockId, bool>> held;
    for (std::size_t k = 0; k < i; ++k) {
      const Event& event = trace_[k];
      if (event.thread != trace_[i].thread) continue;
      if (event.op == Op::kAcquire) held.emplace(event.object, false);
      if (event.op == Op::kReadAcquire) held.emplace(event.object, true);
      if (event.op == Op::kRelease) held.erase(held.find({event.object, false}));
      if (event.op == Op::kReadRelease) held.erase(held.find({event.object, true}));
    }
    std::set<std::string> names;
    for (const auto& [lock, unused] : held) names.insert(name(NameKind::kLock, lock));
    return names;
  }

  void check_locks(std::size_t k, std::size_t i) {
    std::set<std::string> claimed;
    for (const std::string& lock : finding_.events[k].locks) {
      claimed.insert(lock.substr(0, lock.find(' ')));  // "L for reading"
    }
    if (is_access(trace_[i].op) && claimed != held(i)) fail("event {} holds other locks", k);
  }

  void check_event(std::size_t k) {
    const Finding::Event& event = finding_.events[k];
    if (event.transaction >= real_.size()) return fail("event {} is in no transaction", k);
    const std::size_t i = event.location.line - std::size_t{1};
    if (i >= trace_.size()) return fail("event {} stands nowhere", k);
    const Event& there = trace_[i];
    const NameKind kind = object_kind(there.op);
    const bool named = kind == NameKind::kLocation || event.variable == name(kind, there.object);
    const bool read = event.op == "read" && there.op != Op::kRead;
    const bool write = event.op == "write" && there.op != Op::kWrite;
    if (event.thread != name(NameKind::kThread, there.thread) || !named || read || write) {
      return fail("event {} is not what stands at {}", k, event.location.line);
    }
    check_locks(k, i);
    if (std::ranges::count(numbers_, i) > 0) fail("event {} stands there twice", k);
    numbers_.push_back(i);
    const auto step = std::ranges::find(steps_, i, &std::pair<std::size_t, std::size_t>::first);
    if (step == steps_.end()) {
      // reduction-online knows nothing of escape.
      const bool counts = is_access(there.op) && subject_.promise == Promise::kNone;
      if (counts) unescaped_.insert(event.transaction);
      if (is_access(there.op) && !counts) fail("event {} has not escaped", k);
      return;
    }
    if (subject_.kind == Kind::kDeadlock) {
      // A lock may have been acquired before the transaction in which the next is wanted.
      if (event.thread != finding_.transactions[event.transaction].thread) {
        fail("event {} is in a transaction of another thread", k);
      }
      return;
    }
    if (step->second == kNone) return check_outside(k);
    std::size_t& claimed = real_[event.transaction];
    if (claimed != kNone && claimed != step->second) {
      fail("transaction {} is two transactions of the trace", event.transaction);
    }
    claimed = step->second;
  }

  // Synchronisation outside of transactions stands there as if it were one.
  void check_outside(std::size_t k) {
    const Finding::Event& event = finding_.events[k];
    const Finding::Transaction& own = finding_.transactions[event.transaction];
    if (own.thread != event.thread || !own.label.empty() || own.location != event.location) {
      fail("event {} is in no transaction", k);
    }
    outside_.insert(event.transaction);
  }

  void check_transaction(std::size_t t) {
    const Finding::Transaction& claimed = finding_.transactions[t];
    if (outside_.contains(t)) {
      if (real_[t] != kNone) fail("transaction {} is one only in part", t);
      return;
    }
    if (real_[t] == kNone) {
      if (unescaped_.contains(t)) return;
      if (subject_.kind != Kind::kDeadlock) fail("transaction {} has no event", t);
      return;
    }
    if (std::ranges::count(real_, real_[t]) > 1) {
      return fail("transaction {} stands there twice", t);
    }
    const Transaction& real = truth_.model().transactions[real_[t]];
    const std::string label =
        real.single ? "" : name(NameKind::kLabel, trace_[real.outermost].object);
    const std::size_t line = claimed.location.line;
    const bool located = line == real.outermost + 1 || line == real.begin + 1;
    if (claimed.thread != name(NameKind::kThread, real.thread) || claimed.label != label ||
        !located) {
      fail("transaction {} is not {} of {} at {}", t, label, name(NameKind::kThread, real.thread),
           real.begin + 1);
    }
  }

  void check_order() {
    if (!truth_.interleavings.in_this_order(numbers_)) {
      fail("no complete interleaving has its events in this order");
    }
  }

  void check_pair() {
    for (const std::size_t t : real_) {
      for (const std::size_t u : real_) {
        if (truth_.is_cut_pair(t, u)) return;
      }
    }
    fail("its transactions are atomic");
  }

  const Finding& finding_;
  const Subject& subject_;
  std::span<const Event> trace_;
  const Truth& truth_;
  std::string wrong_;
  std::vector<std::pair<std::size_t, std::size_t>> steps_;  // event and transaction of each step
  std::vector<std::size_t> real_;  // for each transaction of the finding: which of the model it is
  std::set<std::size_t> outside_;  // transactions of the finding that are none
  std::set<std::size_t> unescaped_;   // transactions of which it names what has not escaped
  std::vector<std::size_t> numbers_;  // for each event of the finding: where it is in the trace
};

}  // namespace

std::string check_prediction(const Finding& finding, const Subject& subject,
                             std::span<const Event> trace, const Truth& truth) {
  return Check(finding, subject, trace, truth).run();
}

}  // namespace tomos::predict
