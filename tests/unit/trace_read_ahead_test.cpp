#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "trace/read_ahead.h"
#include "trace/validate.h"
#include "trace_support.h"

namespace tomos {
namespace {

using test::Read;
using test::read_all;
using test::text_source;

std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += "T" + std::to_string(i % 7) + "|w(V" + std::to_string(i % 1000) + ")|" +
            std::to_string(i) + "\n";
    if (i % 1000 == 0) text += "# comment\n";
  }
  return text;
}

TEST(ReadAhead, GivesTheSame) {
  const std::string text = many_lines(200'000);
  const auto plain = text_source(text);
  const Read expected = read_all(*plain);
  ReadAhead ahead(text_source(text));
  const Read read = read_all(ahead);
  EXPECT_FALSE(read.failed);
  EXPECT_EQ(read.events, expected.events);
  EXPECT_EQ(read.lines, expected.lines);
  EXPECT_EQ(test::named(read.events, ahead.names()), test::named(expected.events, plain->names()));
  EXPECT_EQ(ahead.progress().done, text.size());
  EXPECT_EQ(ahead.progress().size, text.size());
  Batch batch;
  EXPECT_TRUE(ahead.next(batch));
  EXPECT_TRUE(batch.events.empty());
}

TEST(ReadAhead, ErrorComesBehindTheEvents) {
  const std::string text = many_lines(100'000) + "oops\n";
  ReadAhead ahead(std::make_unique<Validated>(text_source(text), "t.std", Validation::kStrict));
  const Read read = read_all(ahead);
  EXPECT_EQ(read.events.size(), 100'000U);
  ASSERT_TRUE(read.failed);
  EXPECT_EQ(read.error.what, "not an event: \"oops\"");
  EXPECT_EQ(ahead.names().count(NameKind::kVariable), 1000U);
}

TEST(ReadAhead, ProgressWhileItRuns) {
  const std::string text = many_lines(100'000);
  ReadAhead ahead(text_source(text));
  Batch batch;
  std::uint64_t last = 0;
  for (;;) {
    ASSERT_TRUE(ahead.next(batch));
    if (batch.events.empty()) break;
    const std::uint64_t done = ahead.progress().done;
    EXPECT_GE(done, last);
    last = done;
  }
  EXPECT_EQ(last, text.size());
}

// Counts its end, and never ends by itself.
class Endless : public Source {
 public:
  explicit Endless(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  ~Endless() override { --alive_; }
  Result<void> next(Batch& batch) override {
    batch.events.assign(100, Event{});
    return {};
  }
  const Names& names() const override { return names_; }
  Progress progress() const override { return {}; }

 private:
  std::atomic<int>& alive_;
  Names names_;
};

TEST(ReadAhead, EarlyDestructionStopsTheThread) {
  std::atomic<int> alive = 0;
  for (int reads = 0; reads < 20; ++reads) {
    ReadAhead ahead(std::make_unique<Endless>(alive));
    Batch batch;
    for (int i = 0; i < reads; ++i) {
      ASSERT_TRUE(ahead.next(batch));
      ASSERT_EQ(batch.events.size(), 100U);
    }
  }
  EXPECT_EQ(alive, 0);
}

TEST(ReadAhead, DestructionWhileTheInputBlocks) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "T1|r(x)|1\n", 10), 10);
  {
    ReadAhead ahead(read_std(std::make_unique<Input>(ends[0], "pipe")));
    Batch batch;
    ASSERT_TRUE(ahead.next(batch));
    EXPECT_EQ(batch.events.size(), 1U);
  }
  // The thread that was left behind wakes up, finds itself not wanted any more, and closes the
  // pipe's other end.
  ASSERT_EQ(::write(ends[1], "T1|r(x)|1\n", 10), 10);
  ::close(ends[1]);
  for (int i = 0; i < 1000 && ::fcntl(ends[0], F_GETFD) != -1; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(::fcntl(ends[0], F_GETFD), -1);
}

}  // namespace
}  // namespace tomos
