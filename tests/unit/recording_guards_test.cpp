// Variables that the reader leaves out for analyses of pairs (trace/recording_guards.h): it must
// make no difference.
#include "trace/recording_guards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "monitor/blocks.h"
#include "recording_support.h"
#include "share.h"

namespace tomos::test {
namespace {

using Op = recording::Op;
using Lines = std::vector<std::string>;

constexpr RecordingOptions kPairs = {.pairs_only = true, .many_variables = 0};

// Steps of threads, one after the other; each has its number for a place.
class Script {
 public:
  void lock(std::uint64_t thread, std::uint64_t lock) { put(thread, Op::kAcquire, lock); }
  void unlock(std::uint64_t thread, std::uint64_t lock) { put(thread, Op::kRelease, lock); }
  void begin(std::uint64_t thread) { put(thread, Op::kBegin, 1); }
  void end(std::uint64_t thread) { put(thread, Op::kEnd, 0); }
  void read(std::uint64_t thread, std::uint64_t address) { put(thread, Op::kRead, address, 8); }
  void write(std::uint64_t thread, std::uint64_t address) { put(thread, Op::kWrite, address, 8); }
  void free(std::uint64_t thread, std::uint64_t address, std::uint64_t size = 8) {
    put(thread, Op::kFree, address, 0, {{size, 0}});
  }
  void put(std::uint64_t thread, Op op, std::uint64_t value, std::uint8_t small = 0,
           const std::vector<recording::Slot>& extra = {}) {
    writer.put(thread, now_, op, value, now_, small, extra);
    ++now_;
  }
  // Both in one critical section.
  void update(std::uint64_t thread, std::uint64_t lock, std::uint64_t address) {
    this->lock(thread, lock);
    begin(thread);
    read(thread, address);
    write(thread, address);
    end(thread);
    unlock(thread, lock);
  }

  RecordingWriter writer;

 private:
  std::uint64_t now_ = 1;
};

// The variables that are told of.
std::set<std::string> variables(const RecordingWriter& writer, const RecordingOptions& options) {
  std::set<std::string> names;
  for (const std::string& line : tell(writer, options).lines) {
    const std::size_t from = line.find("|r(");
    const std::size_t at = from == std::string::npos ? line.find("|w(") : from;
    if (at != std::string::npos) names.insert(line.substr(at + 3, line.find(')') - at - 3));
  }
  return names;
}

TEST(RecordingGuards, LeavesOutWhatOneLockGuards) {
  Script script;
  for (const std::uint64_t thread : {1, 2, 1}) {
    script.update(thread, 0x10, 0x1000);
    script.update(thread, 0x10 + thread, 0x2000);
  }
  EXPECT_EQ(variables(script.writer, {}), (std::set<std::string>{"1000+8", "2000+8"}));
  EXPECT_EQ(variables(script.writer, kPairs), std::set<std::string>{"2000+8"});
}

TEST(RecordingGuards, FewVariablesAreNotWorthIt) {
  Script script;
  for (const std::uint64_t thread : {1, 2}) script.update(thread, 0x10, 0x1000);
  EXPECT_EQ(variables(script.writer, {.pairs_only = true}).size(), 1U);
}

TEST(RecordingGuards, TheLockMustBeHeldThroughTheTransaction) {
  Script script;
  for (const std::uint64_t thread : {1, 2}) {
    script.begin(thread);
    script.lock(thread, 0x10);
    script.write(thread, 0x1000);
    script.unlock(thread, 0x10);
    script.lock(thread, 0x11);
    script.write(thread, 0x2000);
    script.unlock(thread, 0x11);
    script.end(thread);
  }
  EXPECT_EQ(variables(script.writer, kPairs).size(), 2U);
}

TEST(RecordingGuards, SingleAccessesHaveNoBlocks) {
  Script script;
  for (const std::uint64_t thread : {1, 2}) {
    script.write(thread, 0x1000);
    script.begin(thread);
    script.write(thread, 0x2000);
    script.end(thread);
    script.begin(thread);
    script.write(thread, 0x3000);
    script.read(thread, 0x3000);
    script.end(thread);
  }
  EXPECT_EQ(variables(script.writer, kPairs), std::set<std::string>{"3000+8"});
}

TEST(RecordingGuards, EveryLifeIsJudgedByItself) {
  Script script;
  for (const std::uint64_t lock : {0x10, 0x11, 0x10}) {
    script.update(1, 0x10, 0x1000);
    // The second one is not guarded.
    script.lock(2, lock);
    script.begin(2);
    script.read(2, 0x1000);
    script.write(2, 0x1000);
    script.free(2, 0x1000);
    script.end(2);
    script.unlock(2, lock);
  }
  const auto accesses = [&](const RecordingOptions& options) {
    return std::ranges::count_if(tell(script.writer, options).lines, [](const std::string& line) {
      return line.find("(1000+8") != std::string::npos && line.find("|free") == std::string::npos;
    });
  };
  EXPECT_EQ(accesses({}), 12);
  EXPECT_EQ(accesses(kPairs), 4);
}

// A random program with three locks, of which one guards most variables most of the time.
class RandomGuards {
 public:
  explicit RandomGuards(std::uint64_t seed) : random_(seed), care_(below(20)) {}

  RecordingWriter write() {
    constexpr std::uint64_t kThreads = 3;
    std::vector<std::vector<std::uint64_t>> held(kThreads);
    std::vector<bool> inside(kThreads);
    for (int i = 0; i < 150; ++i) {
      const std::uint64_t thread = below(kThreads);
      const std::uint64_t what = below(10);
      if (what == 0) {
        script_.put(thread, inside[thread] ? Op::kEnd : Op::kBegin, 1 + below(4));
        inside[thread] = !inside[thread];
      } else if (what == 1 && !held[thread].empty()) {
        script_.unlock(thread, held[thread].back());
        held[thread].pop_back();
      } else if (what == 2) {
        const std::uint64_t lock = 0x10 + below(3);
        const bool taken = std::ranges::any_of(
            held, [&](const auto& locks) { return std::ranges::count(locks, lock) > 0; });
        if (!taken) script_.lock(thread, lock);
        if (!taken) held[thread].push_back(lock);
      } else if (what == 3 && below(2) == 0) {
        script_.free(thread, 0x1000 + 8 * below(5), 8 + 8 * below(2));
      } else if (below(20) < care_ && std::ranges::count(held[thread], 0x10) == 0) {
        continue;
      } else {
        access(thread);
      }
    }
    for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
      if (inside[thread]) script_.end(thread);
      for (; !held[thread].empty(); held[thread].pop_back()) {
        script_.unlock(thread, held[thread].back());
      }
    }
    return std::move(script_.writer);
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void access(std::uint64_t thread) {
    const std::uint64_t address = 0x1000 + 8 * below(5);
    switch (below(8)) {
      case 0:
        script_.put(thread, Op::kAtomicUpdate, address, 8);
        break;
      case 1:
        script_.put(thread, Op::kReadRange, address, 0, {{16, 0}});
        break;
      default:
        script_.put(thread, below(2) == 0 ? Op::kRead : Op::kWrite, address, 8);
        break;
    }
  }

  std::mt19937_64 random_;
  std::uint64_t care_;  // in twenty accesses
  Script script_;
};

struct Found {
  std::set<std::string> findings;
  std::size_t events = 0;
};

Found find(Recording& recording, const RecordingOptions& options) {
  FakeNames names;
  const auto source = recording.events(names, options);
  Found found;
  Blocks blocks({}, BlockScope::kTwoTransactions, {.small = 0});
  for (Batch batch; source->next(batch) && !batch.events.empty();) {
    blocks.on_events(batch.events);
    found.events += batch.events.size();
  }
  blocks.finish();
  EXPECT_EQ(blocks.unknown(), "");
  for (const Finding& finding : blocks.findings(source->names())) {
    Lines edges;
    for (const Finding::Edge& edge : finding.edges) {
      edges.push_back(fmt::format("{}>{}", to_string(finding.events[edge.from].location),
                                  to_string(finding.events[edge.to].location)));
    }
    std::ranges::sort(edges);
    found.findings.insert(fmt::format("{}", fmt::join(edges, " ")));
  }
  return found;
}

TEST(RecordingGuards, MakeNoDifferenceToPairs) {
  int violations = 0;
  int smaller = 0;
  for (std::uint64_t seed = 1; seed <= 400 / kShare; ++seed) {
    SCOPED_TRACE(seed);
    const RecordingWriter writer = RandomGuards(seed).write();
    const MemoryFile file(writer.bytes());
    const auto recording = open_recording(file.path());
    ASSERT_TRUE(recording);
    const Found all = find(**recording, {});
    const Found some = find(**recording, kPairs);
    ASSERT_EQ(all.findings, some.findings);
    violations += all.findings.empty() ? 0 : 1;
    smaller += some.events < all.events ? 1 : 0;
    ASSERT_TRUE(!tell(writer, kPairs).failed);
  }
  EXPECT_GT(violations, 100 / kShare);
  EXPECT_GT(smaller, 100 / kShare);
}

}  // namespace
}  // namespace tomos::test
