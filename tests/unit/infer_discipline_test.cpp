// The search for the best discipline against brute force: random problems, all choices.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "infer/discipline.h"
#include "infer/maxsat.h"

namespace tomos::infer {
namespace {

class RandomDiscipline {
 public:
  explicit RandomDiscipline(std::uint32_t seed) : random_(seed) {}

  Discipline make() {
    Discipline made;
    made.requirements.resize(pick(6));
    for (std::size_t i = 0; i < made.requirements.size(); ++i) {
      auto& of = made.requirements[i];
      of.cost = weight(4);
      of.is_fixed = pick(8) == 0;
      of.is_possible = of.is_fixed || pick(6) != 0;
      of.needs = needs(made.requirements.size());
      // As with overrides, never in circles.
      if (!of.is_fixed && i > 0 && pick(4) == 0) of.entail.push_back(pick(i));
      if (!of.is_fixed && i > 0 && pick(4) == 0) of.support = {pick(i), pick(i)};
    }
    made.fields.resize(1 + pick(4));
    for (auto& field : made.fields) {
      field.push_back({.cost = weight(20)});
      for (std::size_t i = pick(3); i > 0; --i) {
        field.push_back({.cost = weight(6), .needs = needs(made.requirements.size())});
      }
    }
    return made;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::int64_t weight(std::size_t most) { return static_cast<std::int64_t>(pick(most + 1)); }
  std::vector<Discipline::Need> needs(std::size_t requirements) {
    std::vector<Discipline::Need> made;
    if (requirements == 0) return made;
    for (std::size_t i = pick(4); i > 0; --i) {
      made.push_back({.required = pick(requirements), .penalty = weight(9)});
    }
    return made;
  }

  std::mt19937 random_;
};

// The least cost of all choices.
std::optional<std::int64_t> brute_force(const Discipline& discipline) {
  std::optional<std::int64_t> best;
  Choice choice;
  choice.options.resize(discipline.fields.size());
  const std::size_t sets = std::size_t{1} << discipline.requirements.size();
  while (true) {
    for (std::size_t set = 0; set < sets; ++set) {
      choice.required.clear();
      for (std::size_t i = 0; i < discipline.requirements.size(); ++i) {
        choice.required.push_back((set >> i & 1U) != 0);
      }
      const auto cost = cost_of(discipline, choice);
      if (cost && (!best || *cost < *best)) best = cost;
    }
    std::size_t i = 0;
    while (i < choice.options.size() && ++choice.options[i] == discipline.fields[i].size()) {
      choice.options[i++] = 0;
    }
    if (i == choice.options.size()) return best;
  }
}

bool disagrees(const Discipline& discipline) {
  const auto expected = brute_force(discipline);
  if (!expected) return false;
  const Choice choice = solve(discipline, 100'000);
  return !choice.optimal || choice.cost != *expected;
}

// Leaves out whatever is not needed to disagree.
Discipline shrunk(Discipline large) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    const auto attempt = [&](Discipline next) {
      if (smaller || !disagrees(next)) return;
      large = std::move(next);
      smaller = true;
    };
    for (std::size_t i = 0; i < large.fields.size() && large.fields.size() > 1; ++i) {
      Discipline next = large;
      next.fields.erase(next.fields.begin() + static_cast<std::ptrdiff_t>(i));
      attempt(std::move(next));
    }
    for (std::size_t i = 0; i < large.requirements.size(); ++i) {
      for (std::size_t j = 0; j < large.requirements[i].needs.size(); ++j) {
        Discipline next = large;
        auto& needs = next.requirements[i].needs;
        needs.erase(needs.begin() + static_cast<std::ptrdiff_t>(j));
        attempt(std::move(next));
      }
    }
  }
  return large;
}

std::string text(const Discipline& of) {
  std::string out;
  const auto needs = [&](const std::vector<Discipline::Need>& all) {
    for (const auto& need : all) {
      out += " r" + std::to_string(need.required) + "/" + std::to_string(need.penalty);
    }
    out += '\n';
  };
  for (std::size_t i = 0; i < of.requirements.size(); ++i) {
    const auto& one = of.requirements[i];
    out += "r" + std::to_string(i) + " costs " + std::to_string(one.cost) +
           (one.is_fixed ? " fixed" : "") + (one.is_possible ? "" : " impossible");
    for (const std::size_t other : one.entail) out += " -> r" + std::to_string(other);
    for (const std::size_t other : one.support) out += " by r" + std::to_string(other);
    needs(one.needs);
  }
  for (const auto& field : of.fields) {
    out += "field\n";
    for (const auto& option : field) {
      out += "  option costs " + std::to_string(option.cost);
      needs(option.needs);
    }
  }
  return out;
}

TEST(InferDiscipline, CostsTheLeast) {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const Discipline discipline = RandomDiscipline(seed).make();
    if (!disagrees(discipline)) continue;
    const Discipline small = shrunk(discipline);
    FAIL() << "seed " << seed << ", smallest:\n"
           << text(small) << "brute force: " << brute_force(small).value_or(-1)
           << ", found: " << solve(small, 100'000).cost;
  }
}

// Whatever is required that was not declared, somebody asks for it.
TEST(InferDiscipline, RequiresNothingForNothing) {
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const Discipline discipline = RandomDiscipline(seed).make();
    const Choice choice = solve(discipline, 100'000);
    std::vector<bool> asked(choice.required.size());
    const auto ask_all = [&](const std::vector<Discipline::Need>& needs) {
      for (const auto& need : needs) asked[need.required] = true;
    };
    for (std::size_t i = 0; i < discipline.fields.size(); ++i) {
      ask_all(discipline.fields[i][choice.options[i]].needs);
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto& of = discipline.requirements[i];
      if (!choice.required[i]) continue;
      if (of.is_fixed) asked[i] = true;
      ask_all(of.needs);
      for (const std::size_t other : of.entail) asked[other] = true;
      for (const std::size_t other : of.support) asked[other] = true;
    }
    for (std::size_t i = 0; i < asked.size(); ++i) {
      EXPECT_TRUE(asked[i] || !choice.required[i]) << "seed " << seed << '\n' << text(discipline);
    }
  }
}

// A field asks for r0, which asks for r1; r2 was declared and asks for r3; r4 and r5 ask for each
// other.
TEST(InferDiscipline, AskedFor) {
  Discipline discipline;
  discipline.requirements.resize(6);
  discipline.requirements[0].needs = {{.required = 1, .penalty = 5}};
  discipline.requirements[2].is_fixed = true;
  discipline.requirements[2].entail = {3};
  discipline.requirements[4].needs = {{.required = 5, .penalty = 5}};
  discipline.requirements[5].needs = {{.required = 4, .penalty = 5}};
  discipline.fields = {{{.cost = 0, .needs = {{.required = 0, .penalty = 5}}}}};
  const Choice all = {.options = {0}, .required = std::vector<bool>(6, true)};
  EXPECT_EQ(asked_for(discipline, all, {0}),
            std::vector<bool>({true, true, true, true, false, false}));
  EXPECT_EQ(asked_for(discipline, all, {}),
            std::vector<bool>({false, false, true, true, false, false}));
  EXPECT_EQ(solve(discipline, 1000).required,
            std::vector<bool>({true, true, true, true, false, false}));
}

// Many classes that have nothing to do with each other are solved one by one.
TEST(InferDiscipline, TakesComponentsApart) {
  Discipline discipline;
  for (std::size_t i = 0; i < 2000; ++i) {
    discipline.requirements.push_back({.cost = 1});
    discipline.fields.push_back(
        {{.cost = 10}, {.cost = 2, .needs = {{.required = i, .penalty = 5}}}});
  }
  const Choice choice = solve(discipline, 1000);
  EXPECT_TRUE(choice.optimal);
  EXPECT_EQ(choice.cost, 2000 * 3);
}

// Pigeons and holes are hard. What is known when the budget is spent is said, and said to be that.
TEST(InferDiscipline, BudgetLeavesTheBestSoFar) {
  constexpr int kHoles = 9;
  MaxSat sat;
  std::vector<std::vector<MaxSat::Literal>> in(kHoles + 1);
  for (auto& pigeon : in) {
    for (int hole = 0; hole < kHoles; ++hole) pigeon.push_back(sat.variable());
    sat.soft(pigeon, 3);
  }
  for (std::size_t hole = 0; hole < kHoles; ++hole) {
    for (std::size_t a = 0; a < in.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) sat.hard({-in[a][hole], -in[b][hole]});
    }
  }
  const MaxSat::Solution solution = sat.solve(20);
  ASSERT_TRUE(solution.found);
  EXPECT_GE(solution.cost, 3);
  EXPECT_FALSE(solution.optimal);
}

TEST(InferDiscipline, NoSolution) {
  MaxSat sat;
  const MaxSat::Literal x = sat.variable();
  sat.hard({x});
  sat.hard({-x});
  EXPECT_FALSE(sat.solve(100).found);
}

}  // namespace
}  // namespace tomos::infer
