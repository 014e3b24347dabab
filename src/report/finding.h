// A finding: what a monitor or a static pass has to say, as data. Printers show it; nobody else
// formats text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tomos {

// A place in source. "account.cpp:13:5", "account.cpp:13", "13" and any other text (kept as the
// file) all fit.
struct Location {
  std::string file;
  std::uint32_t line = 0;    // 0: unknown
  std::uint32_t column = 0;  // 0: unknown

  friend bool operator==(const Location&, const Location&) = default;
};

Location parse_location(std::string_view text);
std::string to_string(const Location& location);  // "?" when nothing is known

enum class Kind : std::uint8_t { kAtomicity, kRace, kDeadlock, kCrash, kAnomaly };
enum class Certainty : std::uint8_t { kPredicted, kObserved, kConfirmed, kProved };

std::string_view to_string(Kind kind);            // "atomicity": the contract's words
std::string_view to_string(Certainty certainty);  // "observed"

// Whether it spells the steps of one transaction by how they commute: "R B L R B L". Such a pattern
// says how often loops ran, others do not.
bool is_mover_pattern(std::string_view pattern);

struct Finding {
  struct Transaction {
    std::string label;  // empty: a single access outside any transaction, or an unnamed block
    std::string thread;
    Location location;  // where it begins
  };
  struct Event {
    std::string thread;
    std::string op;  // "read", "write", "acquire", "release", "fork", "join", "start", "exit", ...
    std::string variable;  // or lock, or thread: what `op` works on
    std::vector<std::string> locks;
    Location location;
    std::vector<std::string> stack;  // "Account::get account.cpp:4:12", innermost first
    std::size_t transaction = 0;     // index into transactions
  };
  // "from must come before to": events[from] and events[to] are what made it so. Between events of
  // one thread it is the thread's own order.
  struct Edge {
    std::size_t from = 0;
    std::size_t to = 0;
  };

  // Where a thread that the finding names comes from.
  struct Thread {
    std::string name;
    std::string creator;
    Location location;  // where it was created
    std::vector<std::string> stack;
  };

  // How often runs under control have shown it.
  struct Odds {
    std::uint64_t hits = 0;
    std::uint64_t trials = 0;
    double low = 0;  // of the probability, with 95% confidence
    double high = 1;
    std::uint64_t seed = 0;   // of the first trial that did
    std::string strategy;     // of that trial
    std::string preemptions;  // of the simplest schedule known: "2: T1 after 5 steps, for T2; .."
    bool repeatable = true;   // the seed gives the same schedule again
  };

  std::string analysis;
  std::vector<std::string> analyses;  // all that found it (see agree()); empty: only `analysis`
  Kind kind = Kind::kAtomicity;
  Certainty verdict = Certainty::kObserved;
  std::string doubt;    // why to trust it less than others of its verdict; empty: no reason known
  std::string pattern;  // "R-W-R", "R B L R B L"
  std::string message;
  std::vector<Transaction> transactions;  // the first is the one that is cut
  std::vector<Event> events;              // in the order of the run that did it, or could
  std::vector<Edge> edges;                // once round the cycle, from the first transaction
  std::vector<Thread> threads;            // those whose creation is known
  std::optional<Odds> odds;
  std::string output;  // the last that the program printed
  std::string test;    // the test that was running, if one was
  std::string fix;
  std::string replay;
  std::string input;        // the trace it was found in
  std::uint64_t count = 1;  // how often it was met

  // Stable over runs: a hash of what the finding is about (analysis, kind, labels, operations,
  // places), not of ids, thread names, counts or how often a loop ran. Of what several analyses may
  // agree on, neither the analyses nor the order of the events count: they may differ from run to
  // run.
  std::string id() const;
};

// Whether it is about source code, and not about a run of it: then there are no threads.
bool is_of_source(const Finding& finding);

}  // namespace tomos
