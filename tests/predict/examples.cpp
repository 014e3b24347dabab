#include "examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "judge.h"
#include "trace/std_text.h"
#include "truth.h"

namespace tomos::predict {

namespace {

enum class Deadlock : std::uint8_t { kNo, kByLocks, kOther };

struct Example {
  std::string_view name;
  std::string_view trace;  // in the order observed: a thread and what it does, one stretch a line
  bool atomic = true;      // of what is complete
  bool race = false;
  Deadlock deadlock = Deadlock::kNo;
  std::size_t cut_pairs = 0;
  std::size_t cut_variables = 0;
};

constexpr std::array kExamples = {
    Example{.name = "the cycle (6)",
            .trace = "T1 begin w(x) w(y) end\n"
                     "T2 begin r(x) w(z) end\n"
                     "T3 begin r(z) r(y) end\n",
            .atomic = false,
            .race = true},
    Example{.name = "the false alarm of Theorem 4",
            .trace = "T1 begin w(x) acq(L) w(x) r(x) r(x) rel(L) end\n"
                     "T2 begin acq(L) acq(M) rel(M) w(x) rel(L) acq(L) w(x) rel(L) end\n",
            .race = true},
    Example{.name = "lost update",
            .trace = "T1 begin r(x) w(x) end\n"
                     "T2 begin r(x) w(x) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "lost update without a race",
            .trace = "T1 begin acq(L) r(x) rel(L) acq(L) w(x) rel(L) end\n"
                     "T2 begin acq(L) r(x) rel(L) acq(L) w(x) rel(L) end\n",
            .atomic = false,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "update under a lock",
            .trace = "T1 begin acq(L) r(x) w(x) rel(L) end\n"
                     "T2 begin acq(L) r(x) w(x) rel(L) end\n"},
    Example{.name = "R-W-R",
            .trace = "T1 begin r(x) r(x) end\n"
                     "T2 begin w(x) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "W-R-W",
            .trace = "T1 begin w(x) w(x) end\n"
                     "T2 begin r(x) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "W-W-R",
            .trace = "T1 begin w(x) r(x) end\n"
                     "T2 w(x)\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "blind writes: no one sees the first",
            .trace = "T1 begin w(x) w(x) end\n"
                     "T2 begin w(x) end\n",
            .race = true},
    Example{.name = "two variables, no view of one alone is cut",
            .trace = "T1 begin w(x) w(y) end\n"
                     "T2 begin r(x) r(y) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1},
    Example{.name = "a lost update hidden by a later write",
            .trace = "T1 begin r(x) w(x) end\n"
                     "T2 begin w(x) end\n"
                     "T0 join(T1) join(T2) begin w(x) end\n",
            .race = true,
            .cut_pairs = 1},
    Example{.name = "the deadlock (3)",
            .trace = "T1 begin acq(L) acq(M) rel(M) r(x) rel(L) end\n"
                     "T2 begin acq(M) acq(L) rel(L) w(x) w(x) rel(M) end\n",
            .deadlock = Deadlock::kByLocks},
    Example{.name = "the same under a gate lock",
            .trace = "T1 begin acq(G) acq(L) acq(M) rel(M) r(x) rel(L) rel(G) end\n"
                     "T2 begin acq(G) acq(M) acq(L) rel(L) w(x) w(x) rel(M) rel(G) end\n"},
    Example{.name = "three threads in a circle",
            .trace = "T1 acq(L) acq(M) rel(M) rel(L)\n"
                     "T2 acq(M) acq(N) rel(N) rel(M)\n"
                     "T3 acq(N) acq(L) rel(L) rel(N)\n",
            .deadlock = Deadlock::kByLocks},
    Example{.name = "two readers that both want to write",
            .trace = "T1 racq(L) acq(L) rel(L) rrel(L)\n"
                     "T2 racq(L) acq(L) rel(L) rrel(L)\n",
            .deadlock = Deadlock::kByLocks},
    Example{.name = "readers do not wait for each other",
            .trace = "T1 racq(L) racq(M) rrel(M) rrel(L)\n"
                     "T2 racq(M) racq(L) rrel(L) rrel(M)\n"},
    Example{.name = "a join under the lock that the joined thread wants",
            .trace = "T0 fork(T1)\n"
                     "T1 begin acq(L) w(x) rel(L) end\n"
                     "T0 acq(L) join(T1) rel(L)\n",
            .deadlock = Deadlock::kOther},
    Example{.name = "fork and join order all",
            .trace = "T0 begin r(x) w(x) end fork(T1)\n"
                     "T1 begin r(x) w(x) end\n"
                     "T0 join(T1) begin r(x) w(x) end\n"},
    Example{.name = "a fork splits a transaction",
            .trace = "T0 begin r(x) fork(T1) w(x) end\n"
                     "T1 begin w(x) end\n",
            .race = true},
    Example{.name = "who is joined has been forked",
            .trace = "T1 begin w(x) r(x) end fork(T2)\n"
                     "T0 join(T2) begin w(x) end\n"},
    Example{.name = "a barrier orders",
            .trace = "T1 begin r(x) w(x) end barrier(b,2)\n"
                     "T2 barrier(b,2) begin r(x) w(x) end\n"},
    Example{.name = "a barrier met twice",
            .trace = "T1 begin r(x) w(x) end barrier(b,2)\n"
                     "T2 barrier(b,2) begin r(x) w(x) end barrier(b,2)\n"
                     "T1 barrier(b,2) begin r(x) w(x) end\n"},
    Example{.name = "who is joined has passed its barrier",
            .trace = "T1 barrier(b,2)\n"
                     "T2 begin w(x) end barrier(b,2)\n"
                     "T0 join(T1) begin r(x) r(x) end\n"},
    Example{.name = "the same side of a barrier",
            .trace = "T1 barrier(b,2)\n"
                     "T2 barrier(b,2) begin r(x) w(x) end\n"
                     "T1 begin r(x) w(x) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "Fig. 4, t2, t3 and t4",
            .trace = "T3 begin acq(L) r(x) rel(L) end\n"
                     "T2 begin acq(M) r(x) rel(M) end\n"
                     "T4 begin r(x) acq(L) acq(M) w(x) rel(M) rel(L) end\n"},
    Example{.name = "not escaped",
            .trace = "T1 begin new(x) w(x) w(x) escape(x) end\n"
                     "T2 begin r(x) end\n"},
    Example{.name = "escaped",
            .trace = "T1 begin new(x) escape(x) w(x) w(x) end\n"
                     "T2 begin r(x) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "freed: another variable",
            .trace = "T1 begin w(x) end free(x)\n"
                     "T2 begin r(x) r(x) end\n"},
    Example{.name = "read lock against write lock",
            .trace = "T1 begin racq(L) r(x) r(x) rrel(L) end\n"
                     "T2 begin acq(L) w(x) rel(L) end\n"},
    Example{.name = "read lock against read lock",
            .trace = "T1 begin racq(L) r(x) r(x) rrel(L) end\n"
                     "T2 begin racq(L) w(x) rrel(L) end\n",
            .atomic = false,
            .race = true,
            .cut_pairs = 1,
            .cut_variables = 1},
    Example{.name = "an inner release of a re-entrant lock lets nobody in",
            .trace = "T1 begin acq(L) r(x) acq(L) rel(L) w(x) rel(L) end\n"
                     "T2 begin acq(L) r(x) acq(L) rel(L) w(x) rel(L) end\n"},
    Example{.name = "a lock held across the borders",
            .trace = "T1 acq(L) begin r(x) w(x) end rel(L)\n"
                     "T2 acq(L) begin r(x) end begin w(x) rel(L) end\n"},
};

std::string std_text(std::string_view stretches) {
  std::string text;
  std::istringstream lines{std::string(stretches)};
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string thread;
    words >> thread;
    for (std::string word; words >> word;) {
      text += fmt::format("{}|{}|{}\n", thread, word, ++number);
    }
  }
  return text;
}

std::string check(const Example& example) {
  const std::string text = std_text(example.trace);
  const std::unique_ptr<Source> source =
      read_std(std::make_unique<Input>(text, std::string(example.name)));
  Batch batch;
  if (const Result<void> got = source->next(batch); !got) return got.error().what + "\n";
  const Truth truth(batch.events);
  const Deadlock deadlock = truth.lock_deadlock ? Deadlock::kByLocks
                            : truth.deadlock    ? Deadlock::kOther
                                                : Deadlock::kNo;
  if (truth.decided && truth.atomicity.atomic == example.atomic &&
      truth.race.has_value() == example.race && deadlock == example.deadlock &&
      truth.cut_pairs.size() == example.cut_pairs &&
      truth.cut_variables.size() == example.cut_variables) {
    return {};
  }
  return text + judge(batch.events, source->names());
}

}  // namespace

std::string check_examples() {
  std::string wrong;
  for (const Example& example : kExamples) {
    const std::string otherwise = check(example);
    if (!otherwise.empty()) wrong += fmt::format("{}:\n{}", example.name, otherwise);
  }
  return wrong;
}

}  // namespace tomos::predict
