// How long a program takes by itself decides how long a trial may take.
#include "campaign/native.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tomos::campaign {
namespace {

using std::chrono::milliseconds;

TEST(Native, ASlowProgramGetsMoreTime) {
  const auto program = Program::find({"sh", "-c", "sleep 0.2; exit 3"}, "none.so");
  ASSERT_TRUE(program);
  Runner::Options options = {.timeout = milliseconds(3000)};
  const auto given = run_natively(*program, options, false);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->end, End::kExited);
  EXPECT_EQ(given->exit_status, 3);
  EXPECT_EQ(options.timeout, milliseconds(3000));

  ASSERT_TRUE(run_natively(*program, options, true));
  EXPECT_GE(options.timeout, milliseconds(20 * 200));
}

TEST(Native, AQuickOneGetsNoLess) {
  const auto program = Program::find({"true"}, "none.so");
  ASSERT_TRUE(program);
  Runner::Options options = {.timeout = milliseconds(60'000)};
  ASSERT_TRUE(run_natively(*program, options, true));
  EXPECT_EQ(options.timeout, milliseconds(60'000));
}

}  // namespace
}  // namespace tomos::campaign
