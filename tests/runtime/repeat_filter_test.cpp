// Groups of accesses that are asked for together: told until all are on record, then passed over
// for as long as nothing has happened that would make one of them a new one.
#include "runtime/repeat_filter.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cell.h"

namespace tomos::runtime {
namespace {

// One thread, where order does not matter, and an object of two fields.
class Groups : public testing::Test {
 protected:
  static constexpr std::uint64_t kObject = 0x10000;
  static constexpr std::uint64_t kQuestion = 0x400;  // its place

  struct World {
    Stamp time;
    Stamp now() const { return time; }
    Stamp horizon() const { return time; }
    static bool settled(const Access& /*access*/) { return true; }
  };

  // As the runtime deals with an access.
  void access(std::uint64_t address, bool write, std::uint64_t pc) {
    const Cell cell = address < kObject + 16 ? cells_[(address - kObject) / 8] : cells_[0];
    if (filter_->is_known(address, 4, write, pc, cell)) return;
    filter_->note_unknown();
    const Access one{.address = address,
                     .size = 4,
                     .write = write,
                     .changed = false,
                     .in_transaction = true,
                     .pc = pc,
                     .cell = cell};
    World world{.time = time_};
    if (filter_->decide(one, filter_->place(one), world) == RepeatFilter::Fate::kRecord) {
      ++recorded_;
    }
  }

  // The question, and what follows. Whether the accesses were passed over.
  bool round() {
    time_ += 1000;
    const auto shared_before = [this](std::uint64_t since) {
      for (const Cell cell : cells_) {
        if (!is_shared(cell) || (cell & kVersionMask) >= since) return false;
      }
      return true;
    };
    if (filter_->is_known_group(kObject, 16, kQuestion, [this] { return time_; }, shared_before)) {
      return true;
    }
    access(kObject, false, 0x401);
    access(kObject + 8, true, 0x402);
    return false;
  }

  void make_known() {
    while (rounds_ < 20 && !round()) ++rounds_;
    ASSERT_LT(rounds_, 20);
  }

  std::unique_ptr<RepeatFilter> filter_ = std::make_unique<RepeatFilter>();
  Stamp time_ = Stamp{1} << 20U;
  std::vector<Cell> cells_{shared_exclusive(1, 5), shared_exclusive(1, 5)};
  int recorded_ = 0;
  int rounds_ = 0;
};

TEST_F(Groups, AreToldUntilEachIsOnRecordTwice) {
  make_known();
  EXPECT_EQ(recorded_, 4);
  EXPECT_TRUE(round());
  EXPECT_EQ(recorded_, 4);
}

TEST_F(Groups, AreToldAgainInANewEpoch) {
  make_known();
  filter_->new_epoch();
  EXPECT_FALSE(round());
  EXPECT_FALSE(round());
  EXPECT_EQ(recorded_, 8);
}

TEST_F(Groups, AreToldAgainWhenTheMemoryIsAnother) {
  make_known();
  cells_[1] = shared_exclusive(1, time_ >> kVersionShift);
  EXPECT_FALSE(round());
  EXPECT_FALSE(round());
  EXPECT_EQ(recorded_, 6);  // one of the fields
}

TEST_F(Groups, OfLocalMemoryAreNotKnown) {
  make_known();
  cells_[0] = local_to(1);
  EXPECT_FALSE(round());
}

TEST_F(Groups, AreNotKnownWhileSomethingElseIsNew) {
  for (std::uint64_t i = 1; i < 10; ++i) {
    EXPECT_FALSE(round());
    access(kObject + 0x1000 * i, false, 0x500 + i);
  }
  make_known();
}

// Another place that asks for the same has not been heard.
TEST_F(Groups, AreKnownByPlace) {
  make_known();
  EXPECT_FALSE(filter_->is_known_group(
      kObject, 16, kQuestion + 8, [this] { return time_; }, [](std::uint64_t) { return true; }));
}

}  // namespace
}  // namespace tomos::runtime
