// Small random programs against brute force: of all assignments of atomicities to three methods,
// the least that satisfies what the type rules ask for. The rules are stated once more here, over
// tables, straight from the paper.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/parser.h"
#include "infer/infer.h"

namespace tomos::infer {
namespace {

constexpr std::size_t kMethods = 3;
constexpr std::array<std::array<int, 5>, 5> kAndThen = {
    {{0, 1, 2, 3, 4}, {1, 1, 2, 3, 4}, {2, 2, 3, 3, 4}, {3, 3, 3, 3, 4}, {4, 4, 4, 4, 4}}};
constexpr std::array<int, 5> kAgain = {0, 1, 3, 3, 4};
constexpr std::array<std::string_view, 5> kNames = {"const", "mover", "atomic", "cmpd", "error"};

// Of a method: when the lock is not held, and when it is.
using Table = std::array<int, 2>;
using Assignment = std::array<Table, kMethods>;

struct Tree {
  enum class Kind { kFinal, kGuarded, kUnguarded, kCall, kSequence, kIf, kWhile, kSync };
  Kind kind = Kind::kFinal;
  std::size_t method = 0;
  std::vector<Tree> children;
};

int seq(int a, int b) { return kAndThen[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)]; }

int meaning(const Tree& tree, bool held, const Assignment& methods) {
  const auto child = [&](std::size_t i) { return meaning(tree.children[i], held, methods); };
  switch (tree.kind) {
    case Tree::Kind::kFinal:
      return 0;
    case Tree::Kind::kGuarded:
      return held ? 1 : 4;
    case Tree::Kind::kUnguarded:
      return 2;
    case Tree::Kind::kCall:
      return methods[tree.method][held ? 1 : 0];
    case Tree::Kind::kSequence:
      return seq(child(0), child(1));
    case Tree::Kind::kIf:
      return seq(child(0), std::max(child(1), child(2)));
    case Tree::Kind::kWhile:
      return seq(child(0), kAgain[static_cast<std::size_t>(seq(child(1), child(0)))]);
    case Tree::Kind::kSync: {
      const int body = meaning(tree.children[0], true, methods);
      return held ? body : std::max(body, 2);
    }
  }
  return 4;
}

class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  Tree make(int depth) {
    Tree tree = {.kind = static_cast<Tree::Kind>(random_() % (depth == 0 ? 4 : 8))};
    tree.method = random_() % kMethods;
    const std::size_t count = tree.kind == Tree::Kind::kIf         ? 3
                              : tree.kind == Tree::Kind::kSync     ? 1
                              : tree.kind >= Tree::Kind::kSequence ? 2
                                                                   : 0;
    for (std::size_t i = 0; i < count; ++i) tree.children.push_back(make(depth - 1));
    return tree;
  }

 private:
  std::mt19937 random_;
};

// By blocks, or by hand.
std::string text(const Tree& tree, bool by_hand) {
  const auto child = [&](std::size_t i) { return "{ " + text(tree.children[i], by_hand) + " }"; };
  switch (tree.kind) {
    case Tree::Kind::kFinal:
      return "this.c";
    case Tree::Kind::kGuarded:
      return "this.g = 1";
    case Tree::Kind::kUnguarded:
      return "this.u";
    case Tree::Kind::kCall:
      return "this.m" + std::to_string(tree.method) + "()";
    case Tree::Kind::kSequence:
      return text(tree.children[0], by_hand) + "; " + text(tree.children[1], by_hand);
    case Tree::Kind::kIf:
      return "if (" + child(0) + ") " + child(1) + " else " + child(2);
    case Tree::Kind::kWhile:
      return "while (" + child(0) + ") " + child(1);
    case Tree::Kind::kSync:
      return by_hand ? "lock(this.l); " + text(tree.children[0], by_hand) + "; unlock(this.l)"
                     : "synchronized (this.l) " + child(0);
  }
  return {};
}

std::vector<std::string> inferred(const std::array<Tree, kMethods>& bodies, bool by_hand) {
  std::string program =
      "class C { recursive_mutex l final; int c final; int g guarded_by this.l; int u no_guard;\n";
  for (std::size_t i = 0; i < kMethods; ++i) {
    program += "int m" + std::to_string(i) + "() { " + text(bodies[i], by_hand) + " }\n";
  }
  const auto parsed = core::parse(program + "}", "random");
  if (!parsed) {
    ADD_FAILURE() << parsed.error().where << ": " << parsed.error().what << "\n" << program;
    return {};
  }
  const auto result = infer_atomicities(*parsed);
  if (!result) {
    ADD_FAILURE() << result.error().where << ": " << result.error().what << "\n" << program;
    return {};
  }
  std::vector<std::string> shown;
  shown.reserve(kMethods);
  for (const MethodAtomicity& method : result->methods) shown.push_back(method.atomicity);
  return shown;
}

std::vector<std::string> brute_force(const std::array<Tree, kMethods>& bodies) {
  constexpr int kAll = 25 * 25 * 25;
  Assignment least = {{{4, 4}, {4, 4}, {4, 4}}};
  for (int number = 0; number < kAll; ++number) {
    Assignment guess;
    int rest = number;
    for (Table& table : guess) {
      table = {rest % 5, rest / 5 % 5};
      rest /= 25;
    }
    bool satisfied = true;
    for (std::size_t i = 0; satisfied && i < kMethods; ++i) {
      for (const bool held : {false, true}) {
        satisfied &= meaning(bodies[i], held, guess) <= guess[i][held ? 1 : 0];
      }
    }
    if (!satisfied) continue;
    for (std::size_t i = 0; i < kMethods; ++i) {
      for (std::size_t held = 0; held < 2; ++held) {
        least[i][held] = std::min(least[i][held], guess[i][held]);
      }
    }
  }
  std::vector<std::string> shown;
  shown.reserve(kMethods);
  for (const Table& table : least) {
    const std::string_view no = kNames[static_cast<std::size_t>(table[0])];
    const std::string_view yes = kNames[static_cast<std::size_t>(table[1])];
    std::string made(yes);
    if (no != yes) made.insert(0, "this.l?").append(":").append(no);
    shown.push_back(std::move(made));
  }
  return shown;
}

TEST(InferRandom, LeastSolution) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomTree random(seed);
    const std::array<Tree, kMethods> bodies = {random.make(2), random.make(2), random.make(3)};
    EXPECT_EQ(inferred(bodies, false), brute_force(bodies)) << "seed " << seed;
  }
}

// A block is an acquire, its body, and a release.
TEST(InferRandom, BlocksAndLockingByHandAgree) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomTree random(1000 + seed);
    const std::array<Tree, kMethods> bodies = {random.make(4), random.make(4), random.make(4)};
    EXPECT_EQ(inferred(bodies, true), inferred(bodies, false)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tomos::infer
