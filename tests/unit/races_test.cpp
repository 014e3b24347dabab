// Named cases for the race detectors, and multilockset against the paper's own words.
#include "monitor/races.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge.h"
#include "monitor/analyses.h"
#include "report/finding.h"
#include "share.h"

namespace tomos {
namespace {

Judgement judge(const std::string& text, const AnalysisOptions& options) {
  Races races(options);
  return judge_std(races, text);
}

std::vector<Finding> find(std::string_view words, const AnalysisOptions& options) {
  return judge(words_to_std(words), options).findings;
}

std::vector<Finding> find(std::string_view words,
                          RaceDetector detector = RaceDetector::kMultilockset) {
  return find(words, AnalysisOptions{.races = {detector}});
}

bool racy(std::string_view words, RaceDetector detector = RaceDetector::kMultilockset) {
  return !find(words, detector).empty();
}

// The detectors that find something: "eraser object".
std::string who(std::string_view words) {
  std::string names;
  for (const RaceDetector detector : {RaceDetector::kEraser, RaceDetector::kObject,
                                      RaceDetector::kAtomizer, RaceDetector::kMultilockset}) {
    if (!racy(words, detector)) continue;
    names += (names.empty() ? "" : " ") + std::string(to_string(detector));
  }
  return names;
}

// Figure 4. The older algorithms need two threads that have had the variable before.
constexpr std::string_view kTwoMore = "A|acq(o1) A|r(x) A|rel(o1) B|acq(o1) B|r(x) B|rel(o1) ";
constexpr std::string_view kReaders =
    "T3|acq(o1) T3|r(x) T3|rel(o1) T2|acq(o2) T2|r(x) T2|rel(o2) ";

TEST(Races, Figure4WithT1HasNone) {
  const std::string trace = std::string(kTwoMore) + std::string(kReaders) +
                            "T1|acq(o1) T1|acq(o2) T1|w(x) T1|w(x) T1|rel(o2) T1|rel(o1)";
  EXPECT_EQ(who(trace), "eraser object atomizer");
}

TEST(Races, Figure4WithT4HasNone) {
  // In Fig. 3 the read of T4 without a lock counts against T4's own write.
  const std::string trace =
      std::string(kReaders) + "T4|r(x) T4|acq(o1) T4|acq(o2) T4|w(x) T4|rel(o2) T4|rel(o1)";
  EXPECT_FALSE(racy(trace));
}

TEST(Races, WhatEachAlgorithmTakesForInitialisation) {
  EXPECT_EQ(who("A|w(x) A|w(x)"), "");
  EXPECT_EQ(who("A|w(x) B|r(x)"), "multilockset");
  EXPECT_EQ(who("A|w(x) B|w(x)"), "eraser atomizer multilockset");
  EXPECT_EQ(who("A|w(x) B|w(x) B|w(x)"), "eraser atomizer multilockset");
  EXPECT_EQ(who("A|w(x) B|w(x) C|w(x)"), "eraser object atomizer multilockset");
  EXPECT_EQ(who("A|w(x) B|w(x) A|w(x)"), "eraser object atomizer multilockset");
  // Shared since B read it, modified since A wrote it.
  EXPECT_EQ(who("A|r(x) B|r(x) A|w(x)"), "eraser object atomizer multilockset");
}

TEST(Races, OneLockIsEnough) {
  EXPECT_EQ(who("A|acq(l) A|w(x) A|rel(l) B|acq(l) B|r(x) B|rel(l) C|acq(l) C|w(x) C|rel(l)"), "");
}

TEST(Races, AtomizerLooksAtTheLocksOfWritesWhenItReads) {
  // No lock is held at every access, and yet each read holds one that every write holds.
  constexpr std::string_view kTrace =
      "A|r(x) B|acq(l) B|acq(m) B|w(x) B|rel(m) B|rel(l) C|acq(l) C|r(x) C|rel(l) "
      "C|acq(m) C|r(x) C|rel(m)";
  EXPECT_TRUE(racy(kTrace, RaceDetector::kEraser));
  EXPECT_FALSE(racy(kTrace, RaceDetector::kAtomizer));
}

TEST(Races, TheFirstWriteInitialisesTheWriteSet) {
  EXPECT_FALSE(racy("A|acq(l) A|w(x) A|rel(l) B|acq(l) B|r(x) B|rel(l)"));
  EXPECT_FALSE(racy("A|r(x) B|r(x) C|r(x)")) << "never written";
}

TEST(Races, ReadSetsKeepTheSmallerSets) {
  constexpr std::string_view kSmallFirst =
      "A|acq(l) A|r(x) A|acq(m) A|r(x) A|rel(m) A|rel(l) B|acq(m) B|w(x) B|rel(m)";
  constexpr std::string_view kSmallLast =
      "A|acq(l) A|acq(m) A|r(x) A|rel(m) A|r(x) A|rel(l) B|acq(m) B|w(x) B|rel(m)";
  EXPECT_TRUE(racy(kSmallFirst));
  EXPECT_TRUE(racy(kSmallLast));
}

TEST(Races, ThreadPeriodsNotThreads) {
  // Fork and join order both accesses of T0 with those of T1, but not those of T2.
  EXPECT_FALSE(racy("T0|w(x) T0|fork(T1) T1|w(x) T0|join(T1) T0|w(x)"));
  EXPECT_TRUE(racy("T0|w(x) T0|fork(T1) T1|w(x) T0|w(x) T0|join(T1)"));
  EXPECT_TRUE(racy("T0|fork(T1) T1|w(x) T2|w(x) T0|join(T1) T0|w(x)"));
  EXPECT_FALSE(racy("A|w(x) A|barrier(b,2) B|barrier(b,2) B|w(x)"));
  EXPECT_TRUE(racy("A|barrier(b,2) B|barrier(b,2) A|w(x) B|w(x)"));
  EXPECT_FALSE(find("T0|w(x) T0|fork(T1) T1|w(x)", {.happens_before = false}).empty());
  EXPECT_TRUE(racy("T0|w(x) T0|fork(T1) T1|w(x)", RaceDetector::kEraser))
      << "the older algorithms know no happens-before";
}

TEST(Races, APeriodThatIsOverStillCounts) {
  // The write of T1 is over when T0 writes, but T2 can meet both.
  EXPECT_TRUE(
      racy("T0|fork(T1) T1|w(x) T0|join(T1) T0|acq(l) T0|w(x) T0|rel(l) "
           "T2|acq(l) T2|w(x) T2|rel(l)"));
}

// Two workers that hold the lock.
constexpr std::string_view kBothStart = "T0|fork(T1) T0|fork(T2) ";
constexpr std::string_view kBothWork =
    "T1|acq(l) T1|r(x) T1|w(x) T1|rel(l) T2|acq(l) T2|r(x) T2|w(x) T2|rel(l) ";
constexpr std::string_view kJoins = "T0|join(T1) T0|join(T2) ";

std::string around(std::string_view first, std::string_view last) {
  std::string text(first);
  for (const std::string_view part : {kBothStart, kBothWork, kJoins, last}) text += part;
  return text;
}

TEST(Races, WithoutLockBeforeTheForkAndAfterTheJoin) {
  EXPECT_FALSE(racy(around("T0|w(x) ", "")));
  EXPECT_FALSE(racy(around("", "T0|r(x)")));
  EXPECT_FALSE(racy(around("T0|w(x) ", "T0|r(x)")));
  EXPECT_FALSE(racy(around("T0|w(x) ", "T0|w(x)")));
  EXPECT_FALSE(racy(around("T3|w(y) T0|w(x) ", "T0|r(x) T3|w(y)"))) << "beside another thread";
  EXPECT_FALSE(find(around("T0|w(x) ", "T0|r(x)"), {.happens_before = false}).empty());
}

TEST(Races, WithoutLockAndNotOrdered) {
  EXPECT_TRUE(racy(around("T3|w(x) ", "")));
  EXPECT_TRUE(racy(around("T0|w(x) ", "T3|r(x)")));
  // Before the join of T2, and after the fork of T1.
  const std::string workers(kBothWork);
  EXPECT_TRUE(racy("T0|fork(T1) T0|fork(T2) " + workers + "T0|join(T1) T0|r(x) T0|join(T2)"));
  EXPECT_TRUE(racy("T0|fork(T1) T0|w(x) T0|fork(T2) " + workers));
  EXPECT_FALSE(racy("T0|fork(T1) T0|r(y) T0|fork(T2) " + workers));
}

TEST(Races, BetweenBarriersWithoutLock) {
  constexpr std::string_view kBarrier = "A|barrier(b,2) B|barrier(b,2) ";
  constexpr std::string_view kLocked = "A|acq(l) A|w(x) A|rel(l) B|acq(l) B|w(x) B|rel(l) ";
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += std::string(kLocked) + std::string(kBarrier) + "A|r(x) B|r(x) " + std::string(kBarrier);
  }
  EXPECT_FALSE(racy(text));
  EXPECT_TRUE(racy(text + "A|r(x) " + std::string(kLocked)));
}

// Whether x is racy if so many workers write it under a lock, all at once, after T0 has without.
bool racy_with(int workers) {
  std::string forks = "T0|w(x)|1\n";
  std::string work;
  std::string joins;
  for (int i = 1; i <= workers; ++i) {
    const std::string thread = "T" + std::to_string(i);
    forks += "T0|fork(" + thread + ")|2\n";
    for (const char* step : {"|acq(l)|3\n", "|w(x)|4\n", "|rel(l)|5\n"})
      work.append(thread).append(step);
    joins += "T0|join(" + thread + ")|6\n";
  }
  std::string text = forks;
  text += work;
  text += joins;
  return !judge(text + "T0|r(x)|7\n", {}).findings.empty();
}

TEST(Races, TooManyPeriodsAreJudgedLikeInFigure3) {
  EXPECT_FALSE(racy_with(200));
  EXPECT_TRUE(racy_with(2000));
}

// A holds the inner lock i and one of many others; B and C the inner lock or none.
TEST(Races, TooManyLocksetsAreJudgedLikeInFigure3) {
  std::string many;
  for (int i = 0; i < 40; ++i) {
    const std::string lock = "(m" + std::to_string(i) + ")";
    many.append("A|acq").append(lock);
    many.append(" A|acq(i) A|r(x) A|w(x) A|rel(i) A|rel").append(lock).append(" ");
  }
  constexpr std::string_view kInner = "B|acq(i) B|w(x) B|rel(i) ";
  EXPECT_FALSE(racy(many));
  EXPECT_FALSE(racy(many + std::string(kInner) + many));
  EXPECT_FALSE(racy(std::string(kInner) + many + std::string(kInner)));
  EXPECT_TRUE(racy(std::string(kInner) + many + "C|r(x)"));
  EXPECT_TRUE(racy(many + "C|r(x)"));
  EXPECT_TRUE(racy("C|acq(m1) C|w(x) C|rel(m1) " + many));
}

TEST(Races, BeforeTheEscapeNothingCounts) {
  constexpr std::string_view kTrace =
      "A|new(x) A|w(x) A|escape(x) B|acq(l) B|r(x) B|rel(l) A|acq(l) A|w(x) A|rel(l)";
  EXPECT_FALSE(racy(kTrace));
  EXPECT_FALSE(find(kTrace, {.escape = false}).empty());
}

TEST(Races, AFreedVariableIsAnotherOne) { EXPECT_FALSE(racy("A|w(x) A|free(x) B|w(x)")); }

TEST(Races, ALockHeldForReadingProtectsReadsOnly) {
  EXPECT_FALSE(racy("A|racq(l) A|r(x) A|rrel(l) B|acq(l) B|w(x) B|rel(l)"));
  const auto findings = find("A|racq(l) A|w(x) A|rrel(l) B|racq(l) B|r(x) B|rrel(l)");
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].pattern, "W-R");
  EXPECT_EQ(findings[0].events[0].locks, std::vector<std::string>{"l for reading"});
  EXPECT_EQ(who("A|w(x) B|w(x) A|racq(l) A|w(x) A|rrel(l) B|racq(l) B|w(x) B|rrel(l)"),
            "eraser object atomizer multilockset");
}

TEST(Races, TellsBothAccesses) {
  const auto findings =
      find("A|begin(put) A|acq(l) A|w(x) A|rel(l) A|end B|begin(get) B|r(x) B|end");
  ASSERT_EQ(findings.size(), 1U);
  const Finding& finding = findings[0];
  EXPECT_EQ(finding.analysis, "races");
  EXPECT_EQ(finding.kind, Kind::kRace);
  EXPECT_EQ(finding.verdict, Certainty::kPredicted);
  EXPECT_EQ(finding.pattern, "W-R");
  ASSERT_EQ(finding.transactions.size(), 2U);
  EXPECT_EQ(finding.transactions[0].label, "put");
  EXPECT_EQ(finding.transactions[1].label, "get");
  ASSERT_EQ(finding.events.size(), 2U);
  EXPECT_EQ(finding.events[0].thread, "A");
  EXPECT_EQ(finding.events[0].location.line, 3U);
  EXPECT_EQ(finding.events[0].locks, std::vector<std::string>{"l"});
  EXPECT_EQ(finding.events[1].location.line, 7U);
  EXPECT_EQ(finding.message,
            "multilockset finds a race on x between the write of A in put at 3 (with l) and the "
            "read of B in get at 7 (with no lock)");
  EXPECT_EQ(finding.fix, "hold l at 7, as at 3, and wherever else x is accessed");
}

TEST(Races, SaysWhichDetectorsAgree) {
  const AnalysisOptions all{
      .races = {RaceDetector::kEraser, RaceDetector::kObject, RaceDetector::kMultilockset}};
  const auto findings = find("A|w(x) B|w(x)", all);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].count, 1U);
  EXPECT_TRUE(
      findings[0].message.starts_with("eraser, multilockset find a race (object: none) on x"))
      << findings[0].message;

  const auto apart = find("A|w(x) B|r(x) B|w(x)", all);
  ASSERT_EQ(apart.size(), 2U);
  EXPECT_TRUE(apart[0].message.starts_with(
      "multilockset finds a race (eraser: between other accesses; object: none) on x"))
      << apart[0].message;
}

TEST(Races, TheSamePlacesAreOneFinding) {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += "A|w(x" + std::to_string(i) + ")|10\nB|w(x" + std::to_string(i) + ")|20\n";
  }
  text += "A|w(y)|30\nB|w(y)|40\nA|w(z)|50\nB|w(z)|60\n";
  const Judgement judged = judge(text, {.max_findings = 2});
  ASSERT_EQ(judged.findings.size(), 2U);
  EXPECT_EQ(judged.findings[0].count, 5U);
  EXPECT_EQ(judged.findings[1].count, 1U);
  EXPECT_EQ(judged.left_out, 1U);
}

TEST(Races, ThousandsOfThreadsReadTheSame) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "R" + std::to_string(i) + "|r(x)|1\n";
  EXPECT_TRUE(judge(text, {}).findings.empty());
  EXPECT_EQ(judge(text + "W|w(x)|2\n", {}).findings.size(), 1U);
}

// Each access against each other, and Fig. 3 word by word, with sets of all that was, over random
// accesses, locks, forks, joins and barriers.
class Literally {
 public:
  explicit Literally(bool happens_before) : happens_before_(happens_before) {}

  using Locks = std::set<int>;
  struct Variable {
    std::set<Locks> reads;
    Locks writes;
    bool is_written = false;
    struct Access {
      std::pair<int, int> period;
      bool writes;
      Locks held;
      friend auto operator<=>(const Access&, const Access&) = default;
    };
    std::set<Access> accesses;
    std::set<std::pair<int, int>> read_periods;
    std::set<std::pair<int, int>> write_periods;
  };

  void access(int thread, int variable, bool writes, const Locks& held) {
    Variable& x = variables_[variable];
    const std::pair period(thread, now_[thread]);
    x.accesses.insert({.period = period, .writes = writes, .held = held});
    if (!writes) {
      x.reads.insert(held);
      x.read_periods.insert(period);
      return;
    }
    Locks common = held;
    if (x.is_written) {
      std::erase_if(common, [&](int lock) { return !x.writes.contains(lock); });
    }
    x.writes = common;
    x.is_written = true;
    x.write_periods.insert(period);
  }

  void fork(int parent, int child) {
    known_[child][0] = after(parent);
    step(parent, known_[parent][now_[parent]]);
  }
  void join(int parent, int child) {
    Clock clock = known_[parent][now_[parent]];
    raise(clock, after(child));
    step(parent, clock);
  }
  void barrier(const std::vector<int>& threads) {
    Clock clock;
    for (const int thread : threads) raise(clock, after(thread));
    for (const int thread : threads) step(thread, clock);
  }

  bool racy(int variable) {
    const Variable& x = variables_[variable];
    for (const auto& one : x.accesses) {
      for (const auto& other : x.accesses) {
        if ((one.writes || other.writes) && concurrent({one.period}, {other.period}) &&
            std::ranges::none_of(one.held, [&](int lock) { return other.held.contains(lock); })) {
          return true;
        }
      }
    }
    return false;
  }
  bool racy_in_figure_3(int variable) {
    const Variable& x = variables_[variable];
    if (!x.is_written) return false;
    const bool read_write = concurrent(x.write_periods, x.read_periods);
    if (x.writes.empty()) return concurrent(x.write_periods, x.write_periods) || read_write;
    return read_write && std::ranges::any_of(x.reads, [&](const Locks& held) {
             return std::ranges::none_of(held, [&](int lock) { return x.writes.contains(lock); });
           });
  }

 private:
  using Clock = std::map<int, int>;
  static void raise(Clock& clock, const Clock& by) {
    for (const auto& [thread, count] : by) clock[thread] = std::max(clock[thread], count);
  }
  Clock after(int thread) {
    Clock clock = known_[thread][now_[thread]];
    clock[thread] = now_[thread] + 1;
    return clock;
  }
  void step(int thread, const Clock& clock) { known_[thread][++now_[thread]] = clock; }
  bool before(std::pair<int, int> a, std::pair<int, int> b) {
    return happens_before_ && known_[b.first][b.second][a.first] > a.second;
  }
  bool concurrent(const std::set<std::pair<int, int>>& a, const std::set<std::pair<int, int>>& b) {
    for (const auto one : a) {
      for (const auto other : b) {
        if (one.first != other.first && !before(one, other) && !before(other, one)) return true;
      }
    }
    return false;
  }

  bool happens_before_;
  std::map<int, Variable> variables_;
  std::map<int, int> now_;
  std::map<int, std::map<int, Clock>> known_;
};

TEST(Races, MultilocksetIsPairwiseAndWithinFigure3) {
  std::mt19937_64 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int racy_ones = 0;
  int spared = 0;
  for (int round = 0; round < 4000 / kShare; ++round) {
    const bool happens_before = round % 4 != 0;
    Literally literally(happens_before);
    std::string text;
    const auto emit = [&](int thread, const std::string& what) {
      text += "T" + std::to_string(thread) + "|" + what + "|" +
              std::to_string(std::ranges::count(text, '\n') + 1) + "\n";
    };
    const int variables = 3;
    std::map<int, Literally::Locks> held;
    std::set<int> live = {0};
    int threads = 1;
    for (int i = 0; i < 60; ++i) {
      const int thread = *std::next(live.begin(), below(static_cast<int>(live.size())));
      const int die = below(20);
      const int lock = below(3);
      if (die == 0 && threads < 6) {
        literally.fork(thread, threads);
        emit(thread, "fork(T" + std::to_string(threads) + ")");
        live.insert(threads++);
      } else if (die == 1 && thread != *live.rbegin() && held[*live.rbegin()].empty()) {
        const int child = *live.rbegin();
        literally.join(thread, child);
        emit(thread, "join(T" + std::to_string(child) + ")");
        live.erase(child);
      } else if (die == 2 && live.size() > 1) {
        const std::vector<int> all(live.begin(), live.end());
        literally.barrier(all);
        for (const int one : all)
          emit(one,
               "barrier(b" + std::to_string(all.size()) + "," + std::to_string(all.size()) + ")");
      } else if (die < 10) {
        const bool taken = std::ranges::any_of(
            held, [&](const auto& other) { return other.second.contains(lock); });
        if (held[thread].contains(lock)) {
          held[thread].erase(lock);
          emit(thread, "rel(L" + std::to_string(lock) + ")");
        } else if (!taken) {
          held[thread].insert(lock);
          emit(thread, "acq(L" + std::to_string(lock) + ")");
        }
      } else {
        const int variable = below(variables);
        const bool writes = below(3) == 0;
        literally.access(thread, variable, writes, held[thread]);
        emit(thread, std::string(writes ? "w" : "r") + "(x" + std::to_string(variable) + ")");
      }
    }
    std::set<std::string> expected;
    for (int variable = 0; variable < variables; ++variable) {
      const bool is_racy = literally.racy(variable);
      if (is_racy) expected.insert("x" + std::to_string(variable));
      const bool was_racy = literally.racy_in_figure_3(variable);
      ASSERT_TRUE(was_racy || !is_racy) << text;
      if (was_racy && !is_racy) ++spared;
    }
    std::set<std::string> found;
    for (const Finding& finding : judge(text, {.happens_before = happens_before}).findings) {
      found.insert(finding.events[0].variable);
    }
    ASSERT_EQ(found, expected) << text;
    racy_ones += static_cast<int>(expected.size());
  }
  EXPECT_GT(racy_ones, 1000 / kShare);
  EXPECT_GT(spared, 20 / kShare);
}

TEST(Races, SignalsOrder) {
  EXPECT_FALSE(racy("A|w(x) A|signal(s) B|wait(s) B|w(x)"));
  EXPECT_TRUE(racy("A|w(x) A|signal(s) B|wait(other) B|w(x)"));
  EXPECT_TRUE(racy("A|signal(s) A|w(x) B|wait(s) B|w(x)"));
  EXPECT_TRUE(racy("B|wait(s) B|w(x) A|w(x) A|signal(s)"));
  EXPECT_FALSE(racy("A|w(x) A|signal(s) B|wait(s) B|signal(t) C|wait(t) C|w(x)"));
}

}  // namespace
}  // namespace tomos
