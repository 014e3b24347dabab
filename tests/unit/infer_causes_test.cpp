// Which of the problems with locks are told, when methods that get one wrong call each other.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/parser.h"
#include "infer/causes.h"
#include "infer/infer.h"

namespace tomos::infer {
namespace {

using WrongCalls = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;

// The methods of the causes, each with the number of its consequences.
std::vector<std::pair<std::uint32_t, std::size_t>> causes(const WrongCalls& wrong) {
  std::vector<Problem> problems;
  for (const auto& [method, callees] : wrong) {
    Problem made = {.method = MethodId{method}};
    for (const std::uint32_t callee : callees) made.through.push_back(MethodId{callee});
    problems.push_back(made);
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> found;
  for (const Cause& cause : find_causes(problems)) {
    found.emplace_back(static_cast<std::uint32_t>(cause.problem->method), cause.consequences);
  }
  return found;
}

using Causes = std::vector<std::pair<std::uint32_t, std::size_t>>;

TEST(InferCauses, AreToldOnce) {
  EXPECT_EQ(causes({{1, {}}, {2, {1}}, {3, {2}}, {4, {9}}}), (Causes{{1, 2}, {4, 0}}));
}

TEST(InferCauses, OneOfSeveralCalleesIsEnough) {
  EXPECT_EQ(causes({{3, {9, 2}}, {2, {}}}), (Causes{{2, 1}}));
}

TEST(InferCauses, AMethodHasItsOwnBesideThoseOfOthers) {
  EXPECT_EQ(causes({{1, {}}, {2, {1}}, {2, {}}}), (Causes{{1, 0}, {2, 0}}));
}

TEST(InferCauses, InCirclesNothingIsLost) {
  EXPECT_EQ(causes({{1, {2}}, {2, {1}}, {3, {3}}}), (Causes{{1, 0}, {2, 0}, {3, 0}}));
  EXPECT_EQ(causes({{1, {2}}, {2, {1, 4}}, {4, {}}}), (Causes{{4, 2}}));
}

TEST(InferCauses, OfAProgramAreTheFirstMethod) {
  auto program = core::parse(R"(
    class A {
      mutex m final;
      void first() releases this.m { }
      void second(bool b) { lock(this.m); if (b) { this.first(); } }
    }
  )",
                             "p");
  ASSERT_TRUE(program);
  const auto made = infer_atomicities(*program);
  ASSERT_TRUE(made);
  std::vector<std::string> told;
  for (const Finding& finding : made->findings) told.push_back(finding.message + finding.fix);
  EXPECT_EQ(told, (std::vector<std::string>{
                      "A.first: returns holding this.m, which it says it releases"
                      "Release this.m on this way too. One method that calls it gets the lock "
                      "wrong, too."}));
}

}  // namespace
}  // namespace tomos::infer
