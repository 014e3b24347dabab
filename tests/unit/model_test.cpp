// Boolean programs: the language, the monitor inside a state, the limits of the search. Whether
// verdicts are right is asked by tests/model.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/compile.h"
#include "model/graph.h"
#include "model/judge.h"
#include "model/packing.h"
#include "model/run.h"
#include "monitor/summarized_graph.h"

namespace tomos::model {
namespace {

SearchResult result_of(const std::string& source, SearchOptions options = {}) {
  const auto program = load(source, "test.bp");
  EXPECT_TRUE(program.has_value()) << program.error().where << ": " << program.error().what;
  if (!program) return {};
  Judged judged = judge(*program, options);
  if (judged.result.end == SearchResult::End::kFailure) {
    finding_of(*program, judged.result, run_of(*program, judged.result));
  }
  return judged.result;
}

std::string error_of(const std::string& source) {
  const auto program = load(source, "test.bp");
  return program ? "" : program.error().where + ": " + program.error().what;
}

// What is packed comes back, the same with the processor's instructions for it and without.
TEST(ModelPacking, ComesBackWithAndWithoutInstructions) {
  const auto program = load(
      "bool a, b; int[0..300] n; int[0..7] c[5]; lock m; thread T[3] { int[0..1000] i; bool x; "
      "atomic { i = 1; n = i; x = a; } } thread U { c[2] = 3; b = true; }",
      "test.bp");
  ASSERT_TRUE(program) << program.error().where << ": " << program.error().what;
  constexpr std::size_t kTracked = 5;
  Packing with(*program, kTracked);
  Packing without(*program, kTracked);
  without.avoid_instructions();
  ASSERT_GT(with.words(), 2U);
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> bits(with.words());
    for (std::uint64_t& word : bits) word = random();
    // Any bits are some values, but for those that no value has.
    std::vector<Value> values(with.size());
    std::vector<Value> other(with.size());
    with.unpack(bits, values);
    without.unpack(bits, other);
    ASSERT_EQ(values, other);
    std::vector<std::uint64_t> packed(with.words());
    std::vector<std::uint64_t> slowly(with.words());
    with.pack(values, packed);
    without.pack(values, slowly);
    ASSERT_EQ(packed, slowly);
    std::vector<Value> again(with.size());
    with.unpack(packed, again);
    ASSERT_EQ(again, values);
  }
}

// What is normalised says the same as what is not, event for event.
TEST(ModelGraph, AgreesWithTheMonitorOfTraces) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kVariables = 3;
  std::mt19937 random(7);
  for (int run = 0; run < 3000; ++run) {
    SummarizedGraph reference;
    std::vector<Value> values(Graph::size(kThreads, kVariables));
    Graph graph(kThreads, kVariables, values.data());
    std::array<bool, kThreads> inside{};
    for (std::size_t i = 0; i < kThreads; ++i) reference.open_thread();
    constexpr std::uint64_t kAll = (1U << kVariables) - 1;
    const std::vector<Graph::Future> futures(kThreads, {.reads = kAll, .writes = kAll});
    for (int step = 0; step < 30; ++step) {
      const std::uint32_t thread = random() % kThreads;
      if (random() % 3 == 0) {
        inside[thread] ? reference.end(thread) : reference.begin(thread);
        if (inside[thread]) graph.end(thread);
        inside[thread] = !inside[thread];
      } else {
        const std::uint32_t variable = random() % kVariables;
        const bool writes = random() % 2 == 0;
        const bool expected =
            reference.order(thread, SummarizedGraph::Space::kVariable, variable, writes);
        reference.record(thread, SummarizedGraph::Space::kVariable, variable,
                         writes ? SummarizedGraph::Label::kWrite : SummarizedGraph::Label::kRead);
        ASSERT_EQ(graph.access(thread, inside[thread], variable, writes), expected);
        if (expected) break;
      }
      if (random() % 2 == 0) graph.normalise(futures);
    }
  }
}

TEST(Model, ProceduresTakeValuesAndVariables) {
  const std::string source = R"(
    const N = 2;
    int[0..N] n;
    proc add(int[0..2] amount, int[0..2] &to) {
      if (amount == 0) { return; }
      to = to + amount;
    }
    thread T { int[0..2] mine; add(0, mine); add(2, mine); add(1, n); assert(mine == 2 && n == 1); }
  )";
  EXPECT_NE(error_of(source), "");  // a range needs numbers
  std::string mended = source;
  mended.replace(mended.find("0..N"), 4, "0..2");
  EXPECT_EQ(result_of(mended).end, SearchResult::End::kAll);
}

TEST(Model, ArraysTakeComputedIndices) {
  const SearchResult result = result_of(R"(
    bool a[3];
    int[0..3] i;
    thread T { while (i < 3) { a[i] = true; i = i + 1; } assert(a[0] && a[1] && a[2]); a[i] = true; }
  )");
  EXPECT_EQ(result.failure, Failure::kIndex);
}

TEST(Model, GotoAndLabels) {
  EXPECT_EQ(result_of("bool x; thread T { again: x = !x; if (x) { goto again; } assert(!x); }").end,
            SearchResult::End::kAll);
  EXPECT_EQ(error_of("thread T { goto in; atomic { in: skip; } }"),
            "test.bp:1:12: goto leads into an atomic block");
  EXPECT_EQ(error_of("thread T { goto out; }"), "test.bp:1:12: no label 'out' in this thread");
}

// The transaction is over when a jump has left it: the second read is not a part of it.
TEST(Model, GotoOutOfAnAtomicBlock) {
  const std::string other = "thread U { x = true; }";
  EXPECT_EQ(
      result_of("bool x; thread T { bool s; atomic { s = x; goto out; } out: s = x; }" + other)
          .failure,
      Failure::kNone);
  EXPECT_EQ(
      result_of("bool x; thread T { bool s; atomic { s = x; goto out; out: s = x; } }" + other)
          .failure,
      Failure::kCycle);
}

TEST(Model, ThreadsStartAndJoin) {
  EXPECT_EQ(result_of(R"(
    bool x;
    thread Main { start Child; join Child; assert(x); }
    thread Child { x = true; }
  )")
                .end,
            SearchResult::End::kAll);
  EXPECT_EQ(result_of("thread A { start B; start B; } thread B { skip; }").failure,
            Failure::kStarted);
}

TEST(Model, ALostWakeUpIsADeadlock) {
  const SearchResult result = result_of(R"(
    bool ready; lock m; cond c;
    thread Waiter { bool r; r = ready; if (!r) { acquire m; wait(c, m); release m; } }
    thread Setter { ready = true; notify(c); }
  )");
  EXPECT_EQ(result.failure, Failure::kDeadlock);
}

TEST(Model, WhoTriesALockGetsItIfItIsFree) {
  const std::string both = R"(lock m;
    bool inside;
    thread T[2] {
      acquire m else { goto out; }
      assert(!inside);
      inside = true;
      inside = false;
      release m;
      out: skip;
    })";
  EXPECT_EQ(result_of(both).failure, Failure::kNone);
  const std::string alone = "lock m; thread T { acquire m else { assert(false); } }";
  EXPECT_EQ(result_of(alone).failure, Failure::kNone);
  const std::string mine = "lock m; thread T { acquire m; acquire m else { assert(false); } }";
  EXPECT_EQ(result_of(mine).failure, Failure::kAssertion);
}

TEST(Model, StateVariablesHaveValuesAndNoEvents) {
  // As data, `left` would put the transactions in a cycle.
  const std::string semaphore = R"({} int[0..2] left = 2;
    thread T[2] {{
      atomic {{
        when (left > 0) left = left - 1;
        left = left + 1;
      }}
    }})";
  EXPECT_EQ(result_of(fmt::format(fmt::runtime(semaphore), "state")).failure, Failure::kNone);
  EXPECT_EQ(result_of(fmt::format(fmt::runtime(semaphore), "")).failure, Failure::kCycle);
  // Others could change it: to wait for it is to wait.
  EXPECT_EQ(result_of("state bool s; thread T { assume(s); }").failure, Failure::kDeadlock);
}

TEST(Model, AnAssumptionAboutOnesOwnVariablesRulesARunOut) {
  EXPECT_EQ(result_of("thread T { bool a; a = *; assume(a); }").end, SearchResult::End::kAll);
  EXPECT_EQ(result_of("bool x; thread T { assume(x); }").failure, Failure::kDeadlock);
}

TEST(Model, FirstValuesMayBeOpen) {
  EXPECT_EQ(result_of("bool x = *; thread T { assert(x); }").failure, Failure::kAssertion);
  EXPECT_EQ(result_of("bool x = true; thread T { assert(x); }").end, SearchResult::End::kAll);
}

// Two threads that read and write x in a transaction; the state says whose turn it is.
std::string logical(const std::string& guard) {
  std::string source = "bool x;\nstate int[0..3] p, q;\ninit p == 0 && q == 0;\n";
  for (const auto& [own, other] : {std::pair("p", "q"), std::pair("q", "p")}) {
    source += fmt::format(
        "thread T{0} => {{ begin t: {0} == 0 && {1}{2} && {0}' == 1; read x: {0} == 1 && {0}' == "
        "2; "
        "write x: {0} == 2 && {0}' == 3; end: {0} == 3 && {0}' == 0; }}\n",
        own, other, guard);
  }
  return source;
}

TEST(Model, TheLogicalFormOfThePaper) {
  EXPECT_EQ(result_of(logical(" == 0")).end, SearchResult::End::kAll);
  const SearchResult result = result_of(logical(" != 1"));
  EXPECT_EQ(result.failure, Failure::kCycle);
  EXPECT_EQ(result.run.size(), 6U);
}

constexpr const char* kLarge = R"(
  bool x[4];
  thread T[4] { bool v; while (true) { v = x[0]; x[1] = v; v = x[2]; x[3] = !v; v = *; x[0] = v; } }
)";

TEST(Model, TheMemoryLimitIsObeyed) {
  SearchOptions options;
  options.memory = 400'000;
  options.machine.partial_order = options.machine.symmetry = false;
  const SearchResult result = result_of(kLarge, options);
  EXPECT_EQ(result.end, SearchResult::End::kMemory);
  EXPECT_LE(result.bytes, options.memory);
  EXPECT_GT(result.states, 1000U);
}

TEST(Model, ThreadsAndHashesChangeNoNumber) {
  SearchOptions options;
  const SearchResult one = result_of(kLarge, options);
  options.jobs = 3;
  const SearchResult three = result_of(kLarge, options);
  options.compact = true;
  const SearchResult compact = result_of(kLarge, options);
  EXPECT_EQ(one.end, SearchResult::End::kAll);
  EXPECT_EQ(one.states, three.states);
  EXPECT_EQ(one.depth, three.depth);
  EXPECT_EQ(one.states, compact.states);
}

TEST(Model, ErrorsSayWhere) {
  EXPECT_EQ(error_of("bool x\nthread T { }"), "test.bp:2:1: ';' is missing before 'thread'");
  EXPECT_EQ(error_of("bool x, x; thread T { }"), "test.bp:1:9: 'x' is declared already, in line 1");
  EXPECT_EQ(error_of("lock m; thread T { m = true; }"),
            "test.bp:1:20: 'm' is a lock, and a variable is wanted");
  EXPECT_EQ(error_of("thread T { /* "), "test.bp:1:12: this comment does not end");
  EXPECT_EQ(error_of(std::string(1000, '(')).substr(0, 10), "test.bp:1:");
  EXPECT_NE(error_of("thread T { " + std::string(1000, '{')), "");
}

}  // namespace
}  // namespace tomos::model
