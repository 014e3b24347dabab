// The two monitors whose memory depends on what is alive, not on how long the run was.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/analyses.h"
#include "monitor/frontier.h"
#include "report/finding.h"

namespace tomos {
namespace {

std::uint64_t resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096 >> 20U;
}

class BoundedMemory : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Monitor> make(Edges edges) {
    for (const Analysis& analysis : analyses()) {
      if (analysis.name == GetParam()) {
        return analysis.make({.edges = edges, .violating_events = &violating_});
      }
    }
    return nullptr;
  }
  std::vector<std::uint64_t> violating_;
};

INSTANTIATE_TEST_SUITE_P(Monitors, BoundedMemory, testing::Values("summarized", "vector-clock"),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::erase(name, '-');
                           return name;
                         });

constexpr ThreadId kLong = 0;
constexpr ThreadId kMain = 1;
constexpr VariableId kShared = 0;

// One transaction is open all the time, and everything that any thread does comes after it. A
// number for each pair of threads would take gigabytes.
void run_many_threads(Monitor& monitor, ThreadId count) {
  const auto event = [](ThreadId thread, Op op, std::uint32_t object) {
    return Event{.thread = thread, .object = object, .location = 0, .op = op};
  };
  monitor.on_events(std::vector{event(kLong, Op::kBegin, 0), event(kLong, Op::kWrite, kShared)});
  for (ThreadId thread = 2; thread < count; ++thread) {
    const VariableId own = 1 + thread % 100;
    monitor.on_events(std::vector{event(kMain, Op::kFork, thread), event(thread, Op::kBegin, 0),
                                  event(thread, Op::kRead, kShared), event(thread, Op::kWrite, own),
                                  event(thread, Op::kRead, own), event(thread, Op::kEnd, 0),
                                  event(kMain, Op::kJoin, thread)});
  }
}

TEST_P(BoundedMemory, ThreadsComeAndGo) {
  constexpr ThreadId kThreads = 50'000;
  for (const Edges edges : {Edges::kData, Edges::kSync}) {
    violating_.clear();
    const std::unique_ptr<Monitor> monitor = make(edges);
    const std::uint64_t before = resident_megabytes();
    run_many_threads(*monitor, kThreads);
    EXPECT_LT(resident_megabytes(), before + 600);  // sanitizers keep freed memory for a while
    EXPECT_TRUE(violating_.empty());
    // And what counts is still known: the last of them wrote this after reading what the open
    // transaction wrote.
    monitor->on_events(std::vector{Event{.thread = kLong, .object = 1, .op = Op::kRead}});
    EXPECT_EQ(violating_.size(), 1U);
  }
}

TEST(Frontier, UsesSlotsAgain) {
  Frontier frontier;
  for (int i = 0; i < 1000; ++i) {
    const Frontier::Slot slot = frontier.open_slot();
    frontier.begin(slot);
    frontier.end(slot);
    frontier.close_slot(slot);
  }
  EXPECT_LT(frontier.slots(), 40U);
}

TEST(Frontier, KeepsSlotsThatComeAfterAnOpenTransaction) {
  Frontier frontier;
  const Frontier::Slot open = frontier.open_slot();
  frontier.begin(open);
  Witness first;
  first.slot = open;
  first.position = frontier.tip(open);
  std::vector<Witness> later;
  for (int i = 0; i < 100; ++i) {
    const Frontier::Slot slot = frontier.open_slot();
    Witness event;
    event.slot = slot;
    frontier.order(
        {.from = first, .to = event, .object = 0, .from_op = Op::kWrite, .to_op = Op::kRead}, slot);
    event.position = frontier.tip(slot);
    later.push_back(event);
    frontier.close_slot(slot);
  }
  for (const Witness& event : later) EXPECT_TRUE(frontier.reaches(open, event));
  EXPECT_TRUE(frontier.wants_sweep());
  std::vector<bool> used(frontier.slots());
  used[later[5].slot] = true;
  frontier.sweep(used);
  EXPECT_TRUE(frontier.reaches(open, later[5]));
  EXPECT_FALSE(frontier.reaches(open, later[6]));
  frontier.end(open);
  EXPECT_FALSE(frontier.live(later[5]));
}

}  // namespace
}  // namespace tomos
