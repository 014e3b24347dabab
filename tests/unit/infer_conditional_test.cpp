// Conditional atomicities against their meaning: every operation, compared with what it does under
// all answers to all questions about locks. The reference shares nothing with the diagrams but the
// names of the basic atomicities.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/locks.h"
#include "infer/conditional.h"

namespace tomos::infer {
namespace {

using core::LockId;
using core::Locks;
using core::Predicate;

// The paper's tables, by hand.
constexpr std::array<std::array<int, 5>, 5> kSequence = {
    {{0, 1, 2, 3, 4}, {1, 1, 2, 3, 4}, {2, 2, 3, 3, 4}, {3, 3, 3, 3, 4}, {4, 4, 4, 4, 4}}};
constexpr std::array<int, 5> kIterate = {0, 1, 3, 3, 4};
constexpr std::array<Basic, 5> kPaper = {Basic::kConst, Basic::kMover, Basic::kAtomic,
                                         Basic::kCompound, Basic::kError};

int rank(Basic basic) {
  for (std::size_t i = 0; i < kPaper.size(); ++i) {
    if (kPaper[i] == basic) return static_cast<int>(i);
  }
  return -1;
}

// Two locks and a ghost parameter, which may be none, always, or a lock that is held or not.
struct World {
  bool a = false;
  bool b = false;
  int ghost = 0;  // 0: none, 1: always, 2: held, 3: not held
};

class InferConditional : public testing::Test {
 protected:
  bool holds(const World& world, Predicate p) const {
    if (p.lock == g_) {
      switch (p.kind) {
        case Predicate::Kind::kIsNone:
          return world.ghost == 0;
        case Predicate::Kind::kIsAlways:
          return world.ghost == 1;
        case Predicate::Kind::kHeld:
          return world.ghost == 1 || world.ghost == 2;
      }
    }
    return p.lock == a_ ? world.a : world.b;
  }

  static std::vector<World> worlds() {
    std::vector<World> all;
    all.reserve(16);
    for (int i = 0; i < 16; ++i) all.push_back({(i & 1) != 0, (i & 2) != 0, i >> 2});
    return all;
  }

  // The values in all worlds.
  std::vector<int> table(Atomicity atomicity) const {
    std::vector<int> values;
    for (const World& world : worlds()) {
      values.push_back(
          rank(conditionals_.evaluate(atomicity, [&](Predicate p) { return holds(world, p); })));
    }
    return values;
  }

  // A random atomicity, and its values worked out beside it.
  Atomicity random(std::vector<int>& values, int depth) {
    if (depth == 0 || random_() % 4 == 0) {
      const std::size_t at = random_() % 5;
      values.assign(16, static_cast<int>(at));
      return constant(kPaper[at]);
    }
    const std::array<Predicate, 5> predicates = {{{Predicate::Kind::kHeld, a_},
                                                  {Predicate::Kind::kHeld, b_},
                                                  {Predicate::Kind::kHeld, g_},
                                                  {Predicate::Kind::kIsNone, g_},
                                                  {Predicate::Kind::kIsAlways, g_}}};
    const Predicate p = predicates[random_() % 5];
    std::vector<int> yes;
    std::vector<int> no;
    const Atomicity then = random(yes, depth - 1);
    const Atomicity otherwise = random(no, depth - 1);
    values.clear();
    for (std::size_t i = 0; i < 16; ++i) {
      values.push_back(holds(worlds()[i], p) ? yes[i] : no[i]);
    }
    return conditionals_.choice(p, then, otherwise);
  }

  Locks locks_;
  LockId a_ = locks_.variable("a");
  LockId b_ = locks_.variable("b");
  LockId g_ = locks_.ghost("g");
  Conditionals conditionals_{locks_};
  std::mt19937 random_{7};
};

constexpr int kRounds = 400;

TEST_F(InferConditional, MeansWhatItSaysAndIsHeldOnce) {
  std::map<std::vector<int>, Atomicity> known;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> values;
    const Atomicity made = random(values, 4);
    EXPECT_EQ(table(made), values);
    EXPECT_EQ(known.try_emplace(values, made).first->second, made) << conditionals_.to_text(made);
  }
}

TEST_F(InferConditional, Operations) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> x;
    std::vector<int> y;
    const Atomicity a = random(x, 3);
    const Atomicity b = random(y, 3);
    std::vector<int> sequence;
    std::vector<int> join;
    std::vector<int> iterated;
    bool below = true;
    for (std::size_t i = 0; i < 16; ++i) {
      sequence.push_back(kSequence[static_cast<std::size_t>(x[i])][static_cast<std::size_t>(y[i])]);
      join.push_back(std::max(x[i], y[i]));
      iterated.push_back(kIterate[static_cast<std::size_t>(x[i])]);
      below &= x[i] <= y[i];
    }
    EXPECT_EQ(table(conditionals_.sequence(a, b)), sequence);
    EXPECT_EQ(table(conditionals_.join(a, b)), join);
    EXPECT_EQ(table(conditionals_.iterate(a)), iterated);
    EXPECT_EQ(conditionals_.leq(a, b), below);
  }
}

// S(l, m, a) as ERRATA has it, for l = a, and m none, b or g.
TEST_F(InferConditional, Synchronised) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> x;
    const Atomicity body = random(x, 3);
    for (const LockId m : {Locks::kNone, b_, g_}) {
      std::vector<int> expected;
      for (const World& world : worlds()) {
        const bool none = m == Locks::kNone || (m == g_ && world.ghost == 0);
        const bool m_held = m != Locks::kNone && holds(world, {Predicate::Kind::kHeld, m});
        // Inside, a is held.
        const int inside = x[1U | (world.b ? 2U : 0U) | static_cast<unsigned>(world.ghost) << 2U];
        int value = inside;
        if (inside < 4 && none) {
          value = world.a ? inside : std::max(inside, 2);
        } else if (inside < 4) {
          value = m_held ? inside : 4;
        }
        expected.push_back(value);
      }
      EXPECT_EQ(table(conditionals_.synchronised(a_, m, body)), expected);
    }
  }
}

TEST_F(InferConditional, Substitution) {
  const std::array<LockId, 5> targets = {Locks::kNone, Locks::kAlways, a_, b_, g_};
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> x;
    const Atomicity a = random(x, 4);
    const LockId ghost = targets[random_() % 5];
    const LockId swapped = random_() % 2 == 0 ? b_ : a_;
    const Substitution theta = {.pairs = {{"g", ghost}, {"a", swapped}}};
    std::vector<int> expected;
    for (const World& world : worlds()) {
      const auto held = [&](LockId lock) { return lock == a_ ? world.a : world.b; };
      const int g = ghost == Locks::kNone     ? 0
                    : ghost == Locks::kAlways ? 1
                    : ghost == g_             ? world.ghost
                    : held(ghost)             ? 2
                                              : 3;
      expected.push_back(
          x[(held(swapped) ? 1U : 0U) | (world.b ? 2U : 0U) | static_cast<unsigned>(g) << 2U]);
    }
    EXPECT_EQ(table(conditionals_.substitute(a, theta)), expected);
  }
}

// wfa is the least atomicity above that does not ask for b.
TEST_F(InferConditional, WellFormed) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> x;
    const Atomicity a = random(x, 4);
    std::vector<int> expected;
    expected.reserve(16);
    for (std::size_t i = 0; i < 16; ++i) expected.push_back(std::max(x[i], x[i ^ 2U]));
    EXPECT_EQ(table(conditionals_.well_formed(a, [&](LockId lock) { return lock != b_; })),
              expected);
  }
}

// What the inverse gives, substituted, is above what it was given: that is what an override needs.
TEST_F(InferConditional, InverseSubstitution) {
  const LockId x = locks_.ghost("x");
  for (const LockId to : {Locks::kNone, Locks::kAlways, a_, g_}) {
    const Substitution theta = {.pairs = {{"x", to}}};
    for (int round = 0; round < kRounds / 4; ++round) {
      std::vector<int> values;
      const Atomicity a = random(values, 3);
      const Atomicity inverse = conditionals_.inverse(a, theta, {"g"});
      EXPECT_TRUE(conditionals_.leq(a, conditionals_.substitute(inverse, theta)))
          << conditionals_.to_text(a) << " / " << conditionals_.to_text(inverse);
    }
  }
  const Atomicity held =
      conditionals_.choice({.lock = g_}, constant(Basic::kMover), constant(Basic::kError));
  EXPECT_EQ(conditionals_.inverse(held, {.pairs = {{"x", g_}}}, {"g"}),
            conditionals_.choice({.lock = x}, constant(Basic::kMover), constant(Basic::kError)));
}

TEST_F(InferConditional, Monotone) {
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> x;
    std::vector<int> y;
    std::vector<int> z;
    const Atomicity low = random(x, 3);
    const Atomicity high = conditionals_.join(low, random(y, 3));
    const Atomicity other = random(z, 3);
    const Substitution theta = {.pairs = {{"g", b_}}};
    EXPECT_TRUE(
        conditionals_.leq(conditionals_.sequence(low, other), conditionals_.sequence(high, other)));
    EXPECT_TRUE(
        conditionals_.leq(conditionals_.sequence(other, low), conditionals_.sequence(other, high)));
    EXPECT_TRUE(conditionals_.leq(conditionals_.iterate(low), conditionals_.iterate(high)));
    EXPECT_TRUE(conditionals_.leq(conditionals_.synchronised(a_, g_, low),
                                  conditionals_.synchronised(a_, g_, high)));
    EXPECT_TRUE(conditionals_.leq(conditionals_.substitute(low, theta),
                                  conditionals_.substitute(high, theta)));
    EXPECT_TRUE(conditionals_.leq(conditionals_.inverse(low, theta, {}),
                                  conditionals_.inverse(high, theta, {})));
    EXPECT_TRUE(conditionals_.leq(conditionals_.transaction(low), conditionals_.transaction(high)));
  }
}

// Left and right movers: composition is associative and monotone, so reduction may be done in any
// order.
TEST_F(InferConditional, BasicAlgebra) {
  std::vector<Basic> all;
  all.reserve(core::kBasicNames.size());
  for (std::size_t i = 0; i < core::kBasicNames.size(); ++i) all.push_back(static_cast<Basic>(i));
  for (const Basic a : all) {
    EXPECT_EQ(sequence(a, iterate(a)), iterate(a)) << core::to_string(a);
    for (const Basic b : all) {
      EXPECT_EQ(join(a, b), join(b, a));
      EXPECT_EQ(leq(a, b), join(a, b) == b);
      EXPECT_EQ(leq(a, b), meet(a, b) == a);
      for (const Basic c : all) {
        EXPECT_EQ(sequence(sequence(a, b), c), sequence(a, sequence(b, c)));
        EXPECT_EQ(join(join(a, b), c), join(a, join(b, c)));
        if (leq(a, b)) {
          EXPECT_TRUE(leq(sequence(a, c), sequence(b, c)));
          EXPECT_TRUE(leq(sequence(c, a), sequence(c, b)));
        }
      }
    }
  }
}

// Thirty locks, each taken: what the paper's own representation had in millions of terms.
TEST_F(InferConditional, ManyLocksStaySmall) {
  Atomicity all = constant(Basic::kConst);
  for (int i = 0; i < 30; ++i) {
    const LockId lock = locks_.variable("l" + std::to_string(i));
    all = conditionals_.sequence(
        all, conditionals_.synchronised(lock, Locks::kNone, constant(Basic::kMover)));
  }
  EXPECT_LT(conditionals_.size(), 5000U);
  EXPECT_EQ(conditionals_.evaluate(all, [](Predicate) { return true; }), Basic::kMover);
  EXPECT_EQ(conditionals_.evaluate(all, [](Predicate) { return false; }), Basic::kCompound);
}

}  // namespace
}  // namespace tomos::infer
