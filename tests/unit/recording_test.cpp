#include "trace/recording.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "recording_support.h"

namespace tomos::test {
namespace {

using Op = recording::Op;
using Lines = std::vector<std::string>;

constexpr std::uint64_t kX = 0x1000;
constexpr std::uint64_t kY = 0x2000;
constexpr std::uint64_t kLock = 0x3000;

// Makes eight bytes at `address` matter: two threads access them, one writes. Late stamps.
void share(RecordingWriter& writer, std::uint64_t address, std::uint8_t size = 8) {
  writer.put(0, 1'000'000, Op::kWrite, address, 91, size);
  writer.put(1, 1'000'001, Op::kRead, address, 92, size);
}

TEST(Recording, HeaderAndTables) {
  RecordingWriter writer;
  writer.put_text(0, 1, Op::kModule, 0x5000, 0, {{0x6000, 0x7000}, {recording::kInstrumented, 0}},
                  "/bin/server");
  writer.put_text(0, 2, Op::kModule, 0x5000, 0, {{0x6000, 0x7000}, {recording::kInstrumented, 0}},
                  "/bin/server");
  writer.put(0, 3, Op::kStack, 7, 0, 3, {{0x6001, 0x6002}, {0x6003, 0}});
  writer.put(0, 4, Op::kFork, 1, 0x6004);
  writer.put_text(0, 5, Op::kThreadName, 1, 0, {{0, 0}}, "worker with a long name");
  writer.put_text(0, 6, Op::kNote, 0, static_cast<std::uint8_t>(recording::Note::kSynchronises),
                  {{0x77, 0}}, "/lib/liblocks.so");
  writer.put(1, 7, Op::kExit);
  writer.header.parent_pid = 41;
  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  ASSERT_TRUE(recording);
  const Recording& r = **recording;
  EXPECT_EQ(r.header().pid, 42U);
  EXPECT_EQ(r.header().parent_pid, 41U);
  EXPECT_EQ(r.header().ending, recording::Ending::kExited);
  ASSERT_EQ(r.modules().size(), 1U);
  EXPECT_EQ(r.modules()[0],
            (recording::Module{"/bin/server", 0x5000, 0x6000, 0x7000, /*instrumented=*/true}));
  ASSERT_EQ(r.threads().size(), 2U);
  EXPECT_EQ(r.threads()[0].name, "main");
  EXPECT_FALSE(r.threads()[0].forked);
  EXPECT_EQ(r.threads()[1].name, "worker with a long name");
  EXPECT_TRUE(r.threads()[1].forked);
  EXPECT_EQ(r.threads()[1].parent, 0U);
  EXPECT_EQ(r.threads()[1].creation_pc, 0x6004U);
  EXPECT_EQ(r.threads()[1].creation_stack, (std::vector<std::uint64_t>{0x6001, 0x6002, 0x6003}));
  ASSERT_EQ(r.notes().size(), 1U);
  EXPECT_EQ(r.notes()[0].text, "/lib/liblocks.so");
  EXPECT_EQ(r.notes()[0].address, 0x77U);
  EXPECT_FALSE(r.damage());
}

TEST(Recording, MergesByStampAndNumber) {
  RecordingWriter writer;
  writer.put(0, 10, Op::kFork, 1, 1);
  writer.put(1, 20, Op::kWrite, kX, 2, 8);
  writer.put(0, 20, Op::kRead, kX, 3, 8);         // the same stamp: the lower number first
  writer.put(0, 1'000'000, Op::kRead, kX, 4, 8);  // needs a kTime
  writer.put(1, 30, Op::kExit, 0, 5);
  writer.put(0, 1'000'001, Op::kJoin, 1, 6);
  const Told told = tell(writer);
  EXPECT_EQ(told.lines, (Lines{"main|fork(T1)|p1", "main|r(1000+8)|p3", "T1|w(1000+8)|p2",
                               "T1|exit|p5", "main|r(1000+8)|p4", "main|join(T1)|p6"}));
  EXPECT_EQ(told.repaired, 0U);
  EXPECT_FALSE(told.failed);
}

TEST(Recording, ChunksAndHandOver) {
  RecordingWriter writer;
  writer.put(1, 1, Op::kWrite, kX, 1, 8);
  writer.new_chunk(1, 5);
  writer.put(1, 5, Op::kWrite, kX, 2, 8);
  writer.put(1, 6, Op::kExit, 0, 3);
  writer.hand_over(1, 2, 7);
  writer.put(2, 8, Op::kRead, kX, 4, 8);
  writer.put(3, 3, Op::kRead, kX, 5, 8);
  const Told told = tell(writer);
  EXPECT_EQ(told.lines, (Lines{"T1|w(1000+8)|p1", "T3|r(1000+8)|p5", "T1|w(1000+8)|p2",
                               "T1|exit|p3", "T2|r(1000+8)|p4"}));
}

TEST(Recording, FieldsOfAWordAreVariablesOfTheirOwn) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kWrite, kX, 1, 8);
  writer.put(1, 2, Op::kWrite, kX, 2, 4);
  writer.put(1, 3, Op::kWrite, kX + 4, 3, 2);
  const Told told = tell(writer);
  EXPECT_EQ(told.lines, (Lines{"main|w(1000+4)|p1", "main|w(1004+2)|p1", "T1|w(1000+4)|p2",
                               "T1|w(1004+2)|p3"}));
}

TEST(Recording, RangesAndRunsTouchAllUnderThem) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kWriteRange, kX, 1, 0, {{40, 0}});
  writer.put(1, 2, Op::kReadRun, kX + 16, 2, 4, {{3, static_cast<std::uint64_t>(-8)}});
  const Told told = tell(writer);
  EXPECT_EQ(told.lines, (Lines{"main|w(1000+4)|p1", "main|w(1008+4)|p1", "main|w(1010+4)|p1",
                               "T1|r(1010+4)|p2", "T1|r(1008+4)|p2", "T1|r(1000+4)|p2"}));
}

TEST(Recording, TouchedElements) {
  RecordingWriter writer;
  std::vector<recording::Slot> extra(recording::kTouchedSlots);
  extra[0] = {1, 2};                     // places of reads and writes
  extra[1].a = 0b101;                    // read
  extra[5].a = 0b100;                    // read once more
  extra[12].b = std::uint64_t{1} << 63;  // the last element, written
  writer.put(0, 1, Op::kTouched, kX, 0, 4, extra);
  writer.put(1, 2, Op::kWriteRange, kX, 3, 0, {{2048, 0}});
  EXPECT_EQ(tell(writer).lines,
            (Lines{"main|r(1000+4)|p1", "main|r(1008+4)|p1", "main|r(1008+4)|p1",
                   "main|w(17fc+4)|p2", "T1|w(1000+4)|p3", "T1|w(1008+4)|p3", "T1|w(17fc+4)|p3"}));
}

TEST(Recording, AVariableMayCrossPages) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kWriteRange, kX - 8, 1, 0, {{12288, 0}});
  writer.put(1, 2, Op::kReadRange, kX - 8, 2, 0, {{12288, 0}});
  EXPECT_EQ(tell(writer).lines, (Lines{"main|w(ff8+12288)|p1", "T1|r(ff8+12288)|p2"}));
}

TEST(Recording, DropsWhatCanMatterToNobody) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kRead, kX, 1, 8);
  writer.put(1, 2, Op::kRead, kX, 2, 8);  // nobody writes
  writer.put(1, 3, Op::kBegin, 0, 3);     // an empty transaction, and one in it
  writer.put(1, 4, Op::kBegin, 0, 3);
  writer.put(1, 5, Op::kWrite, kY, 4, 8);  // nobody else accesses
  writer.put(1, 6, Op::kEnd, 0, 5);
  writer.put(1, 7, Op::kEnd, 0, 5);
  writer.put(1, 8, Op::kFree, kX, 5, 0, {{8, 0}});
  EXPECT_EQ(tell(writer).lines, Lines{});
  EXPECT_EQ(tell(writer, {.keep_everything = true}).lines,
            (Lines{"main|r(1000+8)|p1", "T1|r(1000+8)|p2", "T1|begin|p3", "T1|begin|p3",
                   "T1|w(2000+8)|p4", "T1|end|p5", "T1|end|p5", "T1|free(1000+8)|p5"}));
}

TEST(Recording, AReusedAddressIsAnotherVariable) {
  RecordingWriter writer;
  const auto object = [&writer](std::uint64_t stamp, std::uint64_t pc) {
    writer.put(0, stamp, Op::kObject, kX, 0, 0, {{16, pc}, {0, 0}});
  };
  object(1, 70);
  writer.put(0, 2, Op::kWrite, kX + 8, 1, 4);
  writer.put(1, 3, Op::kWrite, kX + 8, 2, 4);
  writer.put(1, 4, Op::kFree, kX, 3, 0, {{16, 0}});
  object(5, 71);  // one thread only in this life, and other bounds
  writer.put(0, 6, Op::kWrite, kX, 4, 16);
  writer.put(0, 7, Op::kFree, kX, 5, 0, {{16, 0}});
  object(8, 70);  // as at first
  writer.put(0, 9, Op::kWrite, kX + 8, 6, 4);
  writer.put(1, 10, Op::kWrite, kX + 8, 7, 4);
  writer.put(1, 11, Op::kFree, kX, 8, 0, {{16, 0}});
  object(12, 72);
  writer.put(0, 13, Op::kWrite, kX + 8, 9, 4);
  writer.put(1, 14, Op::kWrite, kX + 8, 10, 4);
  EXPECT_EQ(tell(writer).lines,
            (Lines{"main|w(new70.8+4)|p1", "T1|w(new70.8+4)|p2", "T1|free(new70.8+4)|p3",
                   "main|w(new70.8+4)|p6", "T1|w(new70.8+4)|p7", "T1|free(new70.8+4)|p8",
                   "main|w(new72.8+4)|p9", "T1|w(new72.8+4)|p10"}));
}

TEST(Recording, TwoObjectsOfOneNameAreNumbered) {
  RecordingWriter writer;
  for (std::uint64_t i = 0; i < 3; ++i) {
    writer.put(0, 1 + 3 * i, Op::kObject, kX + 64 * i, 0, 0, {{16, 70}, {0, 0}});
    writer.put(0, 2 + 3 * i, Op::kWrite, kX + 64 * i, 1, 8);
    writer.put(1, 3 + 3 * i, Op::kWrite, kX + 64 * i, 2, 8);
  }
  EXPECT_EQ(tell(writer).lines,
            (Lines{"main|w(new70.0+8)|p1", "T1|w(new70.0+8)|p2", "main|w(new70.0+8 #2)|p1",
                   "T1|w(new70.0+8 #2)|p2", "main|w(new70.0+8 #3)|p1", "T1|w(new70.0+8 #3)|p2"}));
}

TEST(Recording, AtomicOperationsLock) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kAtomicUpdate, kX, 1, 8);
  writer.put(1, 2, Op::kAtomicRead, kX, 2, 8);
  writer.put(1, 3, Op::kAtomicWrite, kX, 3, 8);
  writer.put(1, 4, Op::kAtomicUpdate, kX, kLibraryPc, 8);  // no access
  writer.put(0, 5, Op::kAtomicUpdate, kY, kLibraryPc, 8);
  writer.put(1, 6, Op::kWrite, kY, 4, 8);  // only one thread's, then
  writer.put(1, 7, Op::kFree, kX, 5, 0, {{8, 0}});
  writer.put(0, 8, Op::kAtomicWrite, kX, 1, 8);
  writer.put(1, 9, Op::kWrite, kX, 6, 8);
  EXPECT_EQ(
      tell(writer).lines,
      (Lines{"main|acq(atomic 1000+8)|p1", "main|r(1000+8)|p1", "main|w(1000+8)|p1",
             "main|rel(atomic 1000+8)|p1", "T1|racq(atomic 1000+8)|p2", "T1|r(1000+8)|p2",
             "T1|rrel(atomic 1000+8)|p2", "T1|acq(atomic 1000+8)|p3", "T1|w(1000+8)|p3",
             "T1|rel(atomic 1000+8)|p3", "T1|free(1000+8)|p5", "main|acq(atomic 1000+8 #2)|p1",
             "main|w(1000+8)|p1", "main|rel(atomic 1000+8 #2)|p1", "T1|w(1000+8)|p6"}));
}

TEST(Recording, LocksHaveLives) {
  RecordingWriter writer;
  std::uint64_t stamp = 0;
  const auto use = [&] {
    writer.put(0, ++stamp, Op::kAcquire, kLock, 1);
    writer.put(0, ++stamp, Op::kRelease, kLock, 2);
  };
  use();
  use();
  writer.put(0, ++stamp, Op::kDestroy, kLock, 3);
  use();
  writer.put(0, ++stamp, Op::kFree, kLock - 100, 3, 0, {{200, 0}});
  use();
  writer.put(0, ++stamp, Op::kReadAcquire, kLock, 4);
  writer.put(0, ++stamp, Op::kReadRelease, kLock, 5);
  EXPECT_EQ(
      tell(writer).lines,
      (Lines{"main|acq(L3000)|p1", "main|rel(L3000)|p2", "main|acq(L3000)|p1", "main|rel(L3000)|p2",
             "main|acq(L3000 #2)|p1", "main|rel(L3000 #2)|p2", "main|acq(L3000 #3)|p1",
             "main|rel(L3000 #3)|p2", "main|racq(L3000 #3)|p4", "main|rrel(L3000 #3)|p5"}));
}

TEST(Recording, BarriersAndLabels) {
  RecordingWriter writer;
  writer.put_text(0, 1, Op::kLabel, 5, 0, {{12, 0}}, std::string_view("f\0a.cpp", 7));
  writer.put_text(0, 2, Op::kLabel, 6, 0, {{0, 0}}, "g");
  writer.put(0, 3, Op::kBegin, 5, 1);
  writer.put(0, 4, Op::kBegin, 6, 2);
  writer.put(0, 5, Op::kBarrier, kLock, 3, 0, {{2, 0}});
  writer.put(0, 6, Op::kEnd, 0, 4);
  writer.put(0, 7, Op::kEnd, 0, 5);
  writer.put(0, 8, Op::kBarrier, kLock, 6, 0, {{3, 0}});
  EXPECT_EQ(tell(writer).lines,
            (Lines{"main|begin(f)|a.cpp@12", "main|begin(g)|p2", "main|barrier(L3000,2)|p3",
                   "main|end|p4", "main|end|p5", "main|barrier(L3000 #2,3)|p6"}));
}

// A lock may be used before its object escapes. If it is destroyed before that, what escapes there
// later is another object.
TEST(Recording, LocksAreNamedByObjectsThatEscapeLater) {
  for (const bool destroyed : {false, true}) {
    RecordingWriter writer;
    writer.put(0, 1, Op::kAcquire, kX + 8, 1);
    writer.put(0, 2, Op::kRelease, kX + 8, 2);
    if (destroyed) writer.put(0, 3, Op::kDestroy, kX + 8, 3);
    writer.put(0, 4, Op::kObject, kX, 0, 0, {{16, 70}, {0, 0}});
    writer.put(1, 5, Op::kAcquire, kX + 8, 4);
    EXPECT_EQ(tell(writer).lines,
              (Lines{destroyed ? "main|acq(L1008)|p1" : "main|acq(L70.8)|p1",
                     destroyed ? "main|rel(L1008)|p2" : "main|rel(L70.8)|p2", "T1|acq(L70.8)|p4"}));
  }
}

// Who names a critical section is told where it begins, and where the first from there ends.
TEST(Recording, CriticalSectionsAreNamedByBothEnds) {
  struct SectionNames : FakeNames {
    Section section(std::span<const std::uint64_t> begin,
                    std::span<const std::uint64_t> end) override {
      return {.name = fmt::format("{} to {}", fmt::join(begin, ","), fmt::join(end, ",")),
              .place = fmt::format("in {}", begin.back())};
    }
  };
  RecordingWriter writer;
  writer.put_text(0, 1, Op::kLabel, 5, recording::kCriticalSection, {{0, 0}}, "");
  for (std::uint64_t stamp = 2; stamp < 20; stamp += 6) {
    writer.put(0, stamp, Op::kStack, 3, 0, 2, {{51, 52}});
    writer.put(0, stamp + 1, Op::kBegin, 5, 1);
    writer.put(0, stamp + 2, Op::kAcquire, kLock, 1);
    if (stamp == 2) writer.put(0, stamp + 3, Op::kStack, 4, 0, 2, {{53, 52}});
    writer.put(0, stamp + 4, Op::kRelease, kLock, 2);
    if (stamp < 14) writer.put(0, stamp + 5, Op::kEnd, 0, 2);
  }
  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  ASSERT_TRUE(recording);
  SectionNames names;
  const auto events = (*recording)->events(names);
  const Read read = read_all(*events);
  unsigned begins = 0;
  for (const Event& event : read.events) {
    if (event.op != tomos::Op::kBegin) continue;
    ++begins;
    EXPECT_EQ(events->names().name(NameKind::kLabel, event.object), "1,51,52 to 2,53,52");
    EXPECT_EQ(events->names().name(NameKind::kLocation, event.location), "in 52");
  }
  EXPECT_EQ(begins, 3U);
}

TEST(Recording, StacksAndTests) {
  RecordingWriter writer;
  const auto test = static_cast<std::uint8_t>(recording::Note::kTest);
  writer.put_text(0, 1, Op::kNote, 0, test, {{0, 0}}, "A.B");
  writer.put(0, 2, Op::kStack, 3, 0, 1, {{0x51, 0}});
  writer.put(0, 3, Op::kAcquire, kLock, 1);
  writer.put(0, 4, Op::kStack, 4, 0, 2, {{0x51, 0x52}});
  writer.put(0, 5, Op::kRelease, kLock, 2);
  writer.put_text(0, 6, Op::kNote, 0, test, {{0, 0}}, "");
  writer.put(0, 7, Op::kAcquire, kLock, 1);
  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  ASSERT_TRUE(recording);
  FakeNames names;
  const auto events = (*recording)->events(names);
  const Read read = read_all(*events);
  ASSERT_EQ(read.events.size(), 3U);
  ASSERT_EQ(events->stack(read.events[0].location).size(), 1U);
  ASSERT_EQ(events->stack(read.events[1].location).size(), 2U);
  EXPECT_EQ(events->stack(read.events[1].location)[1], 0x52U);
  ASSERT_EQ(events->tests().size(), 2U);
  EXPECT_EQ(events->tests()[0].name, "A.B");
  EXPECT_EQ(events->tests()[0].first_event, 0U);
  EXPECT_EQ(events->tests()[1].first_event, 2U);
  EXPECT_EQ(events->progress().done, events->progress().size);
}

TEST(Recording, ManyLivesOfASharedObjectNeedOneName) {
  RecordingWriter writer;
  std::uint64_t stamp = 0;
  for (int i = 0; i < 1000; ++i) {
    writer.put(0, ++stamp, Op::kObject, kX, 0, 0, {{8, 70}, {0, 0}});
    writer.put(0, ++stamp, Op::kWrite, kX, 1, 8);
    writer.put(1, ++stamp, Op::kRead, kX, 2, 8);
    writer.put(1, ++stamp, Op::kFree, kX, 3, 0, {{8, 0}});
  }
  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  ASSERT_TRUE(recording);
  FakeNames names;
  const auto events = (*recording)->events(names);
  EXPECT_EQ(read_all(*events).events.size(), 3000U);
  EXPECT_EQ(names.asked, 0);  // until somebody wants to see it
  EXPECT_EQ(events->names().count(NameKind::kVariable), 1U);
  events->names().name(NameKind::kVariable, 0);
  EXPECT_EQ(names.asked, 1);
}

TEST(Recording, RepairsWhatDoesNotFit) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kEnd, 0, 1);
  writer.put(0, 2, Op::kRelease, kLock, 2);
  writer.put(1, 3, Op::kAcquire, kLock, 3);
  writer.put(2, 4, Op::kAcquire, kLock, 4);  // T1 must have released it
  writer.put(2, 5, Op::kBegin, 0, 5);
  writer.put(2, 6, Op::kWrite, kX, 6, 8);
  writer.put(0, 7, Op::kJoin, 2, 7);  // T2 has ended, and was not seen to
  writer.put(2, 8, Op::kWrite, kX, 8, 8);
  writer.put(0, 9, Op::kJoin, 2, 9);
  writer.put(0, 10, Op::kFork, 1, 10);
  writer.put(0, 11, Op::kFork, 0, 11);
  writer.put(0, 12, Op::kBarrier, kLock, 12, 0, {{0, 0}});
  writer.put(1, 13, Op::kReadAcquire, kLock, 13);
  writer.put(1, 14, Op::kExit, 0, 14);
  writer.put(1, 15, Op::kWrite, kX, 15, 8);
  const Told told = tell(writer);
  EXPECT_EQ(told.lines,
            (Lines{"T1|acq(L3000)|p3", "T1|rel(L3000)", "T2|acq(L3000)|p4", "T2|begin|p5",
                   "T2|w(1000+8)|p6", "T2|rel(L3000)", "T2|end", "main|join(T2)|p7",
                   "T1|racq(L3000)|p13", "T1|rrel(L3000)", "T1|exit|p14"}));
  EXPECT_EQ(told.repaired, 12U);
}

TEST(Recording, ARunLongerThanABatch) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kWriteRun, kX, 1, 8, {{50'000, 8}});
  writer.put(1, 2, Op::kWriteRange, kX, 2, 0, {{400'000, 0}});
  const Told told = tell(writer);
  ASSERT_EQ(told.lines.size(), 100'000U);
  EXPECT_EQ(told.lines[49'999], "main|w(62a78+8)|p1");
  EXPECT_EQ(told.lines[99'999], "T1|w(62a78+8)|p2");
}

TEST(Recording, MoreThreadsThanAPageHasRoomFor) {
  RecordingWriter writer;
  std::uint64_t stamp = 0;
  for (std::uint64_t thread = 1; thread <= 1000; ++thread) {  // each alone, one after another
    writer.put(thread, ++stamp, Op::kWrite, kX, 1, 8);
    writer.put(thread, ++stamp, Op::kFree, kX, 2, 0, {{8, 0}});
  }
  EXPECT_EQ(tell(writer).lines, Lines{});
  share(writer, kX);
  EXPECT_EQ(tell(writer).lines.size(), 2U);
}

TEST(Recording, RefusesWhatIsNone) {
  EXPECT_EQ(open_recording("/nonexistent/recording").error().where, "/nonexistent/recording");
  EXPECT_NE(open_recording("/").error().what, "");
  for (const std::string bytes : {"", "TOMO", "something else altogether"}) {
    const MemoryFile file(bytes);
    const auto recording = open_recording(file.path());
    ASSERT_FALSE(recording);
    EXPECT_EQ(recording.error().what, "not a recording");
  }
  RecordingWriter writer;
  writer.header.version = 9;
  const MemoryFile newer(writer.bytes());
  EXPECT_NE(open_recording(newer.path()).error().what.find("version 9"), std::string::npos);
  const MemoryFile cut(writer.bytes().substr(0, 100));
  EXPECT_NE(open_recording(cut.path()).error().what.find("cut off"), std::string::npos);
}

TEST(Recording, DamageEndsItsThreadOnly) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kWrite, kX, 1, 8);
  writer.put(0, 2, static_cast<Op>(77), 0, 0);
  writer.put(0, 3, Op::kWrite, kX, 3, 8);
  writer.hand_over(0, 2, 4);
  writer.put(2, 5, Op::kWrite, kX, 5, 8);
  writer.new_chunk(0, 6);
  writer.put(0, 6, Op::kWrite, kX, 6, 8);
  writer.new_chunk(2, 7);
  writer.put(2, 7, Op::kWrite, kX, 7, 8);
  writer.put(1, 8, Op::kWrite, kX, 8, 8);
  const Told told = tell(writer);
  EXPECT_EQ(told.lines, (Lines{"main|w(1000+8)|p1", "T1|w(1000+8)|p8"}));
  EXPECT_TRUE(told.failed);
  EXPECT_TRUE(told.error.where.ends_with(" at byte 4128")) << told.error.where;
}

TEST(Recording, CutOff) {
  RecordingWriter writer;
  writer.put(1, 1, Op::kWrite, kX, 1, 8);
  writer.put(0, 2, Op::kWrite, kX, 2, 8);
  writer.put(0, 3, Op::kWrite, kX, 3, 8);
  const std::string bytes = writer.bytes();
  const std::size_t second = recording::kHeaderSize + recording::kChunkSize;
  {
    const MemoryFile file(bytes.substr(0, second + 40));  // in the middle of a slot
    const auto recording = open_recording(file.path());
    ASSERT_TRUE(recording);
    const Told told = tell(**recording);
    EXPECT_EQ(told.lines, (Lines{"T1|w(1000+8)|p1", "main|w(1000+8)|p2"}));
    EXPECT_TRUE(told.failed);
    EXPECT_NE(told.error.what.find("cut off"), std::string::npos);
  }
  {
    const MemoryFile file(bytes.substr(0, second));
    EXPECT_TRUE((*open_recording(file.path()))->damage());
  }
  // The disk was full: nothing was recorded from there on, and the header says so.
  writer.header.lost = 1;
  const MemoryFile full(writer.bytes().substr(0, second));
  EXPECT_FALSE((*open_recording(full.path()))->damage());
  // It shrinks after it was opened.
  const MemoryFile shrinking(bytes);
  const auto recording = open_recording(shrinking.path());
  ASSERT_TRUE(recording);
  shrinking.truncate(second + 16);
  const Told told = tell(**recording);
  EXPECT_TRUE(told.failed);
}

TEST(Recording, AbsurdLengthsAreDamage) {
  const auto damaged = [](Op op, std::uint8_t small, std::vector<recording::Slot> extra) {
    RecordingWriter writer;
    writer.put(0, 1, op, kX, 0, small, extra);
    const MemoryFile file(writer.bytes());
    return (*open_recording(file.path()))->damage().has_value();
  };
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_TRUE(damaged(Op::kReadRange, 0, {{huge, 0}}));
  EXPECT_TRUE(damaged(Op::kFree, 0, {{huge, 0}}));
  EXPECT_TRUE(damaged(Op::kReadRun, 8, {{huge, 1}}));
  EXPECT_TRUE(damaged(Op::kReadRun, 8, {{2, huge >> 1}}));
  EXPECT_TRUE(damaged(Op::kReadRun, 8, {{4096, static_cast<std::uint64_t>(-8)}}));
  EXPECT_TRUE(damaged(Op::kLabel, 0, {{1, huge}}));
  EXPECT_TRUE(damaged(Op::kModule, 0, {{1, 2}, {0, recording::kChunkSize}}));
  EXPECT_TRUE(damaged(Op::kObject, 0, {{huge, 0}, {0, 0}}));
  EXPECT_FALSE(damaged(Op::kFree, 0, {{0, 0}}));
  EXPECT_FALSE(damaged(Op::kReadRun, 8, {{100, static_cast<std::uint64_t>(-8)}}));

  RecordingWriter range;
  range.put(0, 1, Op::kWriteRange, 0, 0, 0, {{std::uint64_t{1} << 47, 0}});
  RecordingWriter run;
  run.put(0, 1, Op::kWriteRun, 0, 0, 1, {{std::uint64_t{1} << 32, 4096}});
  for (const RecordingWriter& writer : {range, run}) {
    const Told told = tell(writer, {.max_pages = 1000});
    EXPECT_TRUE(told.failed);
    EXPECT_NE(told.error.what.find("3 MB"), std::string::npos) << told.error.what;
  }
}

}  // namespace
}  // namespace tomos::test
