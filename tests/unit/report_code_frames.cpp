#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "report/code_frames.h"
#include "report/text.h"
#include "report_example.h"

namespace tomos {
namespace {

// A file of this text for the time of a test.
class SourceFile {
 public:
  explicit SourceFile(std::string_view text)
      : path_(testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".cpp") {
    std::ofstream(path_, std::ios::binary) << text;
  }
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Finding in_file(const std::string& path) {
  Finding finding = account_finding();
  for (auto& event : finding.events) event.location.file = path;
  return finding;
}

std::string frames(const Finding& finding, std::size_t columns = 100) {
  SourceLines sources;
  return code_frames(finding, sources, columns);
}

constexpr std::string_view kTen =
    "one\ntwo\nthree\n  four = x;\nfive\nsix\n\tseven\neight\nnine\nten\n";

TEST(CodeFrames, ShowEachLineOnceWithWhatHappensThere) {
  const SourceFile file(kTen);
  Finding finding = in_file(file.path());
  finding.events[0].location.column = 10;
  EXPECT_EQ(frames(finding), "    " + file.path() + R"(
      2 | two
      3 | three
      4 |   four = x;
        |          ^ T1: read balance [acnt]
      5 | five
      6 | six
      7 |         seven
        |         ^ T2: write balance [acnt]
        |         ^ T1: write balance [acnt]
      8 | eight
      9 | nine
)");
}

TEST(CodeFrames, LeaveOutWhatLiesBetween) {
  const SourceFile file(kTen);
  Finding finding = in_file(file.path());
  finding.events[0].location.line = 1;
  finding.events[1].location.line = finding.events[2].location.line = 10;
  EXPECT_EQ(frames(finding), "    " + file.path() + R"(
       1 | one
         | ^ T1: read balance [acnt]
       2 | two
       3 | three
      .. |
       8 | eight
       9 | nine
      10 | ten
         | ^ T2: write balance [acnt]
         | ^ T1: write balance [acnt]
)");
}

TEST(CodeFrames, AreEmptyForWhatCannotBeShown) {
  EXPECT_EQ(frames(in_file("/nonexistent/file.cpp")), "");
  EXPECT_EQ(frames(in_file("/dev/zero")), "");
  EXPECT_EQ(frames(in_file("/")), "");
  const SourceFile file("one line\n");
  EXPECT_EQ(frames(in_file(file.path())), "");  // too short for the places
}

TEST(CodeFrames, CannotMoveTheCursorOrLeaveTheColumns) {
  const SourceFile file("\n\n\n\x1b[31m" + std::string(300, 'y') + "\n\n\n\xff\r\n");
  Finding finding = in_file(file.path());
  finding.events[0].location.column = 290;
  const std::string text = frames(finding, 60);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("4 | \\x1b[31myyy"), std::string::npos) << text;
  EXPECT_NE(text.find("^ T1: read balance"), std::string::npos) << text;
}

TEST(Text, ShowsSourceStacksAndThreads) {
  const SourceFile file(kTen);
  Report report = account_report();
  report.findings = {in_file(file.path())};
  report.findings[0].events[0].stack = {"Account::get account.cpp:4:10",
                                        "withdraw account.cpp:12:3"};
  report.findings[0].threads = {{.name = "T1",
                                 .creator = "main",
                                 .location = parse_location("account.cpp:30:5"),
                                 .stack = {"main account.cpp:30:5"}}};
  const std::string text = print_text(report, {.columns = 200});
  EXPECT_NE(text.find("  In the source:\n    " + file.path() + "\n      2 | two\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  Called from:\n    T1, read balance:\n      Account::get account.cpp:4:10\n"
                      "      withdraw account.cpp:12:3\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  Threads:\n    T1 was started by main at account.cpp:30:5\n\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace tomos
