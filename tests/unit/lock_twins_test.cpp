// What is left out of transactions, or stands for others, must make no difference: a store that
// takes every transaction apart at once leaves out nothing, and finds the same.
#include "monitor/lock_twins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "judge.h"
#include "monitor/blocks.h"

namespace tomos {
namespace {

using Scope = Blocks::Scope;

// Labels and places, which make a finding another one.
std::set<std::string> found(std::string_view program, BlockStore::Limits limits) {
  Blocks monitor({}, Scope::kTwoTransactions, limits);
  const Judgement judgement = judge_program(monitor, program);
  EXPECT_EQ(judgement.unknown, "") << program;
  std::set<std::string> found;
  for (const Finding& finding : judgement.findings) {
    std::vector<std::string> edges;
    edges.reserve(finding.edges.size());
    const auto tell = [&](std::size_t i) {
      const Finding::Event& event = finding.events[i];
      return fmt::format("{}:{}", event.op, to_string(event.location));
    };
    for (const Finding::Edge& edge : finding.edges) {
      edges.push_back(tell(edge.from) + ">" + tell(edge.to));
    }
    std::ranges::sort(edges);
    found.insert(fmt::format("{}", fmt::join(edges, " ")));
  }
  return found;
}

void expect_no_difference(const std::string& program) {
  constexpr BlockStore::Limits kAtOnce = {.room = 0};
  EXPECT_EQ(found(program, {}), found(program, kAtOnce)) << program;
}

// The table's lock and one of eight stripes; places do not depend on the stripe.
class Stripes {
 public:
  explicit Stripes(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string text = "T0 fork(T1) fork(T2)\n";
    for (int i = 0; i < 120; ++i) text += transaction();
    return text;
  }

 private:
  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  std::string section(int kind) {
    const int stripe = below(8);
    const char* variable = kind % 2 == 0 ? "x" : "y";
    const int at = 10 * kind;
    switch (kind) {
      case 0:
      case 1:
        return fmt::format("acq(s{0})@{1} r({2})@{3} rel(s{0})@{4} ", stripe, at + 1, variable,
                           at + 2, at + 3);
      case 2:
      case 3:
        return fmt::format("acq(s{0})@{1} acq(M)@{2} w({3})@{4} rel(M)@{5} rel(s{0})@{6} ", stripe,
                           at + 1, at + 2, variable, at + 3, at + 4, at + 5);
      case 4:
        return fmt::format("acq(s{0})@{1} rel(s{0})@{2} ", stripe, at + 1, at + 2);
      default:
        return fmt::format("acq(M)@{0} r(x)@{1} w(y)@{2} rel(M)@{3} ", at + 1, at + 2, at + 3,
                           at + 4);
    }
  }

  // Sometimes all stripes at once, as when a table grows.
  std::string transaction() {
    const int thread = below(3);
    const int form = below(12);
    std::string text = fmt::format("T{} begin(f{})@{} ", thread, form, 100 + form);
    if (form == 0) {
      for (int i = 0; i < 8; ++i) text += fmt::format("acq(s{})@200 ", i);
      text += "w(x)@201 r(y)@202 ";
      for (int i = 8; i-- > 0;) text += fmt::format("rel(s{})@203 ", i);
    } else if (form == 1) {
      for (int i = 0; i < 5; ++i) text += section(4) + (i % 2 == 0 ? section(0) : "");
    } else {
      std::mt19937 same(static_cast<unsigned>(form));  // a form is always the same sections
      for (int i = 0; i < 3; ++i) text += section(static_cast<int>(same() % 6));
    }
    return text + "end\n";
  }

  std::mt19937 random_;
};

TEST(LockTwins, MakeNoDifference) {
  for (unsigned seed = 1; seed <= 60; ++seed) expect_no_difference(Stripes(seed).program());
}

// Each stripe protects its own use of x but not from the others: found with any two of them.
TEST(LockTwins, OneOfThemIsEnough) {
  std::string program;
  for (int i = 0; i < 200; ++i) {
    program += fmt::format("T0 begin(f)@1 acq(s{0})@2 r(x)@3 w(x)@4 rel(s{0})@5 end\n", i);
    program += fmt::format("T1 begin(f)@1 acq(s{0})@2 r(x)@3 w(x)@4 rel(s{0})@5 end\n", i);
  }
  EXPECT_FALSE(found(program, {}).empty());
  expect_no_difference(program);
}

// Whoever has all the locks is kept out by each.
TEST(LockTwins, AllLocksAtOnce) {
  std::string program = "T1 begin(g)@1";
  for (int i = 0; i < 20; ++i) program += fmt::format(" acq(s{})@2", i);
  program += " w(x)@3 w(x)@4";
  for (int i = 20; i-- > 0;) program += fmt::format(" rel(s{})@5", i);
  program += " end\n";
  for (int i = 0; i < 20; ++i) {
    program += fmt::format("T0 begin(f)@6 acq(s{0})@7 r(x)@8 r(x)@9 rel(s{0})@10 end\n", i);
  }
  EXPECT_TRUE(found(program, {}).empty());
  // One stripe was forgotten.
  EXPECT_FALSE(
      found(program + "T0 begin(f)@6 acq(s20)@7 r(x)@8 r(x)@9 rel(s20)@10 end\n", {}).empty());
}

}  // namespace
}  // namespace tomos
