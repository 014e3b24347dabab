// What a command has to say in the end, as data. Printers (text.h, json.h) show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/finding.h"

namespace tomos {

enum class Verdict : std::uint8_t {
  kOk,
  kViolation,
  kUnknown,  // not all of the input could be judged, and what could is in order
};

std::string_view to_string(Verdict verdict);

struct Stats {
  std::uint64_t events = 0;
  std::uint64_t threads = 0;
  std::uint64_t variables = 0;
  std::uint64_t locks = 0;
  std::uint64_t transactions = 0;  // outermost begin ... end blocks
  double seconds = 0;
  std::uint64_t peak_rss = 0;  // bytes
};

// Runs under control.
struct Trials {
  std::uint64_t run = 0;
  std::uint64_t errors = 0;    // those that created a violation
  std::uint64_t bugs = 0;      // those in which the program failed
  std::uint64_t hung = 0;      // of these, those that did not end
  std::uint64_t warnings = 0;  // those in which a violation seemed possible
};

// States of a model.
struct Explored {
  std::uint64_t states = 0;
  std::uint64_t steps = 0;        // also those to states that are not kept
  std::uint64_t depth = 0;        // of the search
  std::uint64_t state_bytes = 0;  // of one of them
  std::uint64_t bytes = 0;        // of all, and of what finds them
};

// What source code was found to keep to.
struct Inferred {
  struct Guard {
    std::string owner;  // a class, or empty: a global
    std::string field;
    // "guarded_by", "write_guarded_by", "guarded_by_owner", "final", "none", "atomic"
    std::string access;
    std::string lock;  // of the first three
    // Of "none": guarded all the same, but not by what the class says. "where_held": the field that
    // holds the object is guarded; "in_method": only one method uses it; "without_attributes": its
    // lock has none, where most locks have.
    std::string elsewhere;
    std::string lock_elsewhere;
    bool given = false;  // by the source
    // What the ghost parameters of its type are: names, and locks.
    std::vector<std::pair<std::string, std::string>> ghosts;
    Location location;
  };
  struct Method {
    std::string name;
    std::string atomicity;
    std::vector<std::string> required;  // locks that callers must hold
    std::vector<std::string> of_owner;  // and those that stand for one of whoever owns the object
    std::vector<std::string> unsaid;  // and those that only guards ask for that are said elsewhere
    bool given = false;               // by the source, some of them
    Location location;
  };
  struct Count {
    std::uint64_t total = 0;
    std::uint64_t atomic = 0;
  };
  std::vector<Guard> guards;
  std::vector<Method> methods;
  Count method_count;  // of those with a body
  Count section_count;
  std::vector<std::pair<std::string, double>> phases;  // and their seconds
};

struct Report {
  struct Judgement {
    std::string analysis;
    Verdict verdict = Verdict::kOk;
    std::uint64_t left_out = 0;  // violations beyond the limit on distinct findings
  };

  std::string tool;
  std::vector<std::string> inputs;
  std::vector<Judgement> verdicts;  // one per analysis
  Stats stats;
  std::optional<Trials> trials;
  std::optional<Explored> explored;
  std::optional<Inferred> inferred;
  std::vector<Finding> findings;
  std::vector<std::string> notes;  // what the reader must know to trust the verdicts
};

// What several analyses have found at one place becomes one finding, which lists them: the same
// kind, transactions, variables and lines. Reduction does not ask by whom a transaction is cut:
// what it finds joins whatever else was found about that transaction. The most certain finding is
// the one that stays, in the place of the first.
std::vector<Finding> agree(std::vector<Finding> findings);

// Findings of one id become the first of them, with the counts added. The order stays.
std::vector<Finding> merge_equal(std::vector<Finding> findings);

}  // namespace tomos
