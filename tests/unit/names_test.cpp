#include "event/names.h"

#include <gtest/gtest.h>

#include <string>

namespace tomos {
namespace {

TEST(Names, EmptyLabelAndLocationExist) {
  Names names;
  EXPECT_EQ(names.count(NameKind::kLabel), 1U);
  EXPECT_EQ(names.count(NameKind::kLocation), 1U);
  EXPECT_EQ(names.count(NameKind::kThread), 0U);
  EXPECT_EQ(names.intern(NameKind::kLabel, ""), 0U);
  EXPECT_EQ(names.intern(NameKind::kLocation, ""), 0U);
  EXPECT_EQ(names.name(NameKind::kLabel, 0), "");
}

TEST(Names, IdsCountUpAndKindsAreApart) {
  Names names;
  EXPECT_EQ(names.intern(NameKind::kThread, "x"), 0U);
  EXPECT_EQ(names.intern(NameKind::kThread, "y"), 1U);
  EXPECT_EQ(names.intern(NameKind::kVariable, "y"), 0U);
  EXPECT_EQ(names.intern(NameKind::kThread, "x"), 0U);
  EXPECT_EQ(names.name(NameKind::kThread, 1), "y");
  EXPECT_EQ(names.view(NameKind::kVariable, 0), "y");
  EXPECT_TRUE(names.has(NameKind::kThread, 1));
  EXPECT_FALSE(names.has(NameKind::kThread, 2));
}

TEST(Names, ManyNamesOfAllLengths) {
  Names names;
  constexpr std::uint32_t kMany = 50'000;
  const auto name = [](std::uint32_t i) {
    return std::to_string(i) + std::string(i % 70, static_cast<char>('a' + i % 26));
  };
  for (std::uint32_t i = 0; i < kMany; ++i)
    ASSERT_EQ(names.intern(NameKind::kVariable, name(i)), i);
  for (std::uint32_t i = 0; i < kMany; ++i) {
    names.expect(NameKind::kVariable, name(i));
    ASSERT_EQ(names.intern(NameKind::kVariable, name(i)), i);
    ASSERT_EQ(names.name(NameKind::kVariable, i), name(i));
  }
}

TEST(Names, NamesThatDifferInOneByteOrInLength) {
  Names names;
  for (std::size_t size = 1; size <= 40; ++size) {
    const std::string zeros(size, '\0');
    ASSERT_EQ(names.intern(NameKind::kLock, zeros), names.count(NameKind::kLock) - 1);
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = zeros;
      other[i] = 'x';
      const std::uint32_t before = names.count(NameKind::kLock);
      ASSERT_EQ(names.intern(NameKind::kLock, other), before);
      ASSERT_EQ(names.intern(NameKind::kLock, other), before);
    }
  }
}

TEST(Names, AddMakesANewIdForAnEqualName) {
  Names names;
  EXPECT_EQ(names.add(NameKind::kLock, "L"), 0U);
  EXPECT_EQ(names.add(NameKind::kLock, "L"), 1U);
  EXPECT_EQ(names.intern(NameKind::kLock, "M"), 2U);
  EXPECT_LT(names.intern(NameKind::kLock, "L"), 2U);
  EXPECT_EQ(names.count(NameKind::kLock), 3U);
}

TEST(Names, InternAfterManyAdds) {
  Names names;
  for (std::uint32_t i = 0; i < 1000; ++i) names.add(NameKind::kLock, std::to_string(i));
  EXPECT_EQ(names.intern(NameKind::kLock, "777"), 777U);
  EXPECT_EQ(names.intern(NameKind::kLock, "new"), 1000U);
}

TEST(Names, NumericLocationsNeedNoEntry) {
  Names names;
  EXPECT_EQ(names.name(NameKind::kLocation, kNumericLocation | 4711), "4711");
  EXPECT_TRUE(names.has(NameKind::kLocation, kNumericLocation | 4711));
  EXPECT_FALSE(names.has(NameKind::kThread, kNumericLocation | 4711));
  EXPECT_EQ(names.count(NameKind::kLocation), 1U);
}

}  // namespace
}  // namespace tomos
