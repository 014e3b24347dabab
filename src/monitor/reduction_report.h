// What the reduction analyses find, told apart, counted, and turned into findings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/event.h"
#include "event/names.h"
#include "monitor/context.h"
#include "monitor/locksets.h"
#include "monitor/race_detectors.h"
#include "monitor/reduction_movers.h"
#include "report/finding.h"

namespace tomos {

// How a transaction's steps commute: "R B L R B L". Of one that is too long, only what matters:
// without both-movers, up to the step that does not fit, and of more than two equal letters in a
// row two.
class MoverPattern {
 public:
  // `is_behind`: the step that does not fit has been.
  void add(char letter, bool is_behind = false) {
    if (all_.size() <= kMost) all_ += letter;
    if (letter == 'B' || is_behind) return;
    const std::size_t size = essence_.size();
    if (size < 2 || essence_[size - 1] != letter || essence_[size - 2] != letter) {
      essence_ += letter;
    }
  }
  void clear() {
    all_.clear();
    essence_.clear();
  }
  std::string text() const;

 private:
  static constexpr std::size_t kMost = 64;
  std::string all_;
  std::string essence_;
};

// Another transaction's access that races with one of this transaction.
struct RacePartner {
  bool is_known = false;
  bool races = false;  // with that very access; if not, with others to the variable
  ThreadId thread = 0;
  PeriodId period = 0;
  Op op = Op::kRead;
  LocationId location = 0;
  TransactionSite transaction;
  std::vector<ModeLock> locks;
};

struct MisfitEvent {
  Op op = Op::kRead;
  std::uint32_t object = 0;
  LocationId location = 0;
  LocationId other_end = 0;  // where a lock released was acquired, or one acquired is released
  std::vector<ModeLock> locks;
  RacePartner partner;  // of an access
};

// Finds the partner of an access; its object is a SharedId till then.
void find_partner(MisfitEvent& access, ThreadId thread, const VariableMovers& variables,
                  const Context& context);

// A transaction that is not of the form, because of two of its events.
struct MisfitReport {
  ThreadId thread = 0;
  LabelId label = 0;
  LocationId begin = 0;
  MisfitEvent first;
  MisfitEvent second;
  std::string pattern;
  std::uint64_t number = 0;  // of the transaction
  std::uint64_t count = 0;
};

class MisfitReports {
 public:
  explicit MisfitReports(std::size_t limit) : limit_(limit) {}

  // Counts `count` more that differ from others by label and by the operations and places of the
  // two events; of `report` these are needed. Gives the report to be filled in if it is a new one
  // and still within the limit.
  MisfitReport* add(const MisfitReport& report, std::uint64_t count);

  std::uint64_t left_out() const { return left_out_; }
  // In the order of the trace.
  std::vector<Finding> findings(std::string_view analysis, const Names& names) const;

 private:
  std::size_t limit_;
  std::vector<MisfitReport> reports_;
  std::unordered_map<std::uint64_t, std::size_t> by_key_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tomos
