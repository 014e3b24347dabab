// What becomes of signals and waits in a recording.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recording_support.h"

namespace tomos::test {
namespace {

using recording::Op;
using Lines = std::vector<std::string>;

constexpr std::uint64_t kObject = 0x3000;

// One record a word: "1w" is a wait of thread 1, "1w2" one that left two tokens, "0p" a post, "0p3"
// one of three tokens; "s" and "o" are signal and wait of plain order, "c" and "d" of a condition
// variable, "x" destroys.
RecordingWriter write(std::string_view words) {
  RecordingWriter writer;
  std::uint64_t stamp = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const std::uint64_t thread = word[0] - '0';
    const int number = word.size() > 2 ? std::stoi(std::string(word.substr(2))) : -1;
    Op op = Op::kSignal;
    int small = recording::kPlainOrder;
    if (word[1] == 'w' || word[1] == 'o' || word[1] == 'd') op = Op::kWait;
    if (word[1] == 'w') small = recording::kSemaphore + (number < 0 ? 0 : number);
    if (word[1] == 'p') small = recording::kSemaphore + (number < 0 ? 0 : number - 1);
    if (word[1] == 'c' || word[1] == 'd') small = recording::kCondition;
    if (word[1] == 'x') op = Op::kDestroy;
    writer.put(thread, ++stamp, op, kObject, 1, static_cast<std::uint8_t>(small));
  }
  return writer;
}

// "main:signal(L3000) T1:wait(L3000)"
std::string told(std::string_view words) {
  std::string all;
  for (const std::string& line : tell(write(words)).lines) {
    if (!all.empty()) all += ' ';
    const std::size_t bar = line.find('|');
    all += line.substr(0, bar) + ":" + line.substr(bar + 1, line.rfind('|') - bar - 1);
  }
  return all;
}

TEST(RecordingOrder, AWaitComesAfterAllSignals) {
  EXPECT_EQ(told("0s 1s 2o"), "main:signal(L3000) T1:signal(L3000) T2:wait(L3000)");
}

TEST(RecordingOrder, WhatOrdersNobodyIsLeftOut) {
  EXPECT_EQ(told("0s 0o"), "");
  EXPECT_EQ(told("1o 0s"), "");
  EXPECT_EQ(told("0s 1o 1o 0s 1o 0o"),
            "main:signal(L3000) T1:wait(L3000) main:signal(L3000) T1:wait(L3000)");
  EXPECT_EQ(told("0s 1s 0o 1o"),
            "main:signal(L3000) T1:signal(L3000) main:wait(L3000) T1:wait(L3000)");
}

TEST(RecordingOrder, EveryLifeOfAnAddressIsAnObject) {
  EXPECT_EQ(told("0s 1o 0x 0s 1o"),
            "main:signal(L3000) T1:wait(L3000) main:signal(L3000 #2) T1:wait(L3000 #2)");
  EXPECT_EQ(told("0s 0x 1o"), "");
}

TEST(RecordingOrder, ConditionVariablesSayNothing) { EXPECT_EQ(told("0c 1d 0s"), ""); }

TEST(RecordingOrder, ASemaphoreThatIsALock) {
  EXPECT_EQ(told("0w 0p 1w 1p 0w"),
            "main:acq(L3000) main:rel(L3000) T1:acq(L3000) T1:rel(L3000) main:acq(L3000)");
}

TEST(RecordingOrder, ASemaphoreOfTwoIsNoLock) {
  EXPECT_EQ(told("0w1 0p 1w1 1p"), "");
  EXPECT_EQ(told("0w1 1w 1p 0p"), "");
}

TEST(RecordingOrder, ASemaphoreThatSomebodyElseGivesBackIsNoLock) {
  EXPECT_EQ(told("0w 1p 0w 1p"), "T1:signal(L3000) main:wait(L3000)");
  EXPECT_EQ(told("0p 1w 1p 0w"), "main:signal(L3000) T1:wait(L3000)");  // it may take its own
}

TEST(RecordingOrder, EachWaitNeedsItsPost) {
  EXPECT_EQ(told("0p 0p 1w1 1w"),
            "main:signal(L3000) main:signal(L3000 #2) T1:wait(L3000) T1:wait(L3000 #2)");
  EXPECT_EQ(told("0p2 1w1 1w"),
            "main:signal(L3000) main:signal(L3000 #2) T1:wait(L3000) T1:wait(L3000 #2)");
}

TEST(RecordingOrder, TokensOfTheStartNeedNoPost) {
  EXPECT_EQ(told("0p 1w2 1w1 1w"), "main:signal(L3000) T1:wait(L3000)");
  EXPECT_EQ(told("0p 1w253 1w252"), "");  // or more: nobody knows
}

TEST(RecordingOrder, AnyOfSeveralMayHavePosted) {
  EXPECT_EQ(told("0p 2p 1w1"), "");
  EXPECT_EQ(told("0p 2p 1w1 1w"),
            "main:signal(L3000) T2:signal(L3000 #2) T1:wait(L3000) T1:wait(L3000 #2)");
}

TEST(RecordingOrder, AnyOfSeveralMayHaveTakenIt) {
  EXPECT_EQ(told("0p 0p 1w1 2w"), "main:signal(L3000) T1:wait(L3000) T2:wait(L3000)");
}

TEST(RecordingOrder, AWaitFarBehindIsLeftOut) {
  std::string words;
  for (int i = 0; i < 1025; ++i) words += "0p ";
  for (int i = 0; i < 1025; ++i) words += "1w ";
  words.pop_back();
  const Lines lines = tell(write(words)).lines;
  ASSERT_EQ(lines.size(), 2 * 1025U - 1);
  EXPECT_EQ(lines.back(), "T1|wait(L3000)|p1");  // the place of the first post, which is forgotten
}

TEST(RecordingOrder, LocksThatWereTriedFor) {
  RecordingWriter writer;
  writer.put(0, 1, Op::kAcquire, kObject, 1, 1);
  writer.put(0, 2, Op::kRelease, kObject, 2, 1);
  writer.put(0, 3, Op::kReadAcquire, kObject, 3, 1);
  EXPECT_EQ(tell(writer).lines,
            (Lines{"main|try(L3000)|p1", "main|rel(L3000)|p2", "main|rtry(L3000)|p3"}));
}

// Runs of a semaphore: what a wait comes after, it comes after in every run of the same operations.
class Tokens {
 public:
  Tokens(unsigned seed, std::vector<std::string>& programs, int initial)
      : random_(seed), programs_(programs), left_(initial), next_(programs.size()) {}

  // One run, as words; empty if it gets stuck.
  std::string run() {
    std::string words;
    for (std::vector<std::size_t> can; !(can = enabled()).empty();) {
      const std::size_t thread = can[random_() % can.size()];
      const char op = programs_[thread][next_[thread]++];
      left_ += op == 'p' ? 1 : -1;
      words += std::to_string(thread) + op + (op == 'w' ? std::to_string(left_) : "") + " ";
    }
    for (std::size_t t = 0; t < programs_.size(); ++t) {
      if (next_[t] < programs_[t].size()) return "";
    }
    if (!words.empty()) words.pop_back();
    return words;
  }

 private:
  std::vector<std::size_t> enabled() const {
    std::vector<std::size_t> can;
    for (std::size_t t = 0; t < programs_.size(); ++t) {
      if (next_[t] == programs_[t].size()) continue;
      if (programs_[t][next_[t]] == 'p' || left_ > 0) can.push_back(t);
    }
    return can;
  }

  std::mt19937 random_;
  const std::vector<std::string>& programs_;
  int left_;
  std::vector<std::size_t> next_;
};

// What is told of the run: "p101<p203" says that the third operation of thread 1 comes after the
// first of thread 0.
std::vector<std::string> orders(const std::string& words) {
  std::vector<std::string> all;
  RecordingWriter placed;
  std::uint64_t stamp = 0;
  std::vector<int> made(10);
  std::string_view rest = words;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const int thread = word[0] - '0';
    const int left = word[1] == 'w' ? std::stoi(std::string(word.substr(2))) : 0;
    placed.put(thread, ++stamp, word[1] == 'w' ? Op::kWait : Op::kSignal, kObject,
               100 * (thread + 1) + ++made[thread],
               static_cast<std::uint8_t>(recording::kSemaphore + left));
  }
  std::vector<std::pair<std::string, std::string>> signals;  // object, place
  for (const std::string& line : tell(placed).lines) {
    const std::size_t open = line.find('(');
    const std::string object = line.substr(open, line.find(')') - open);
    const std::string place = line.substr(line.rfind('|') + 1);
    if (line.find("|signal") != std::string::npos) signals.emplace_back(object, place);
    if (line.find("|wait") == std::string::npos) continue;
    for (const auto& [signalled, where] : signals) {
      if (signalled == object) all.push_back(fmt::format("{}<{}", where, place));
    }
  }
  return all;
}

TEST(RecordingOrder, HoldsInEveryRun) {
  std::mt19937 random(7);
  int told_orders = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<std::string> programs(2 + random() % 2);
    for (std::string& program : programs) {
      const unsigned posts = random() % 3 * 45 + 5;  // percent
      for (unsigned i = random() % 5; i > 0; --i) program += random() % 100 < posts ? 'p' : 'w';
    }
    const int initial = static_cast<int>(random() % 3);
    const std::string seen = Tokens(trial, programs, initial).run();
    if (seen.empty()) continue;
    const std::vector<std::string> must = orders(seen);
    told_orders += static_cast<int>(must.size());
    for (unsigned seed = 1000; seed < 1030; ++seed) {
      const std::string other = Tokens(seed, programs, initial).run();
      std::vector<int> made(10);
      std::vector<std::string> places;
      for (std::size_t at = 0; at < other.size();
           at = other.find(' ', at), at += at < other.size()) {
        const int thread = other[at] - '0';
        places.push_back("p" + std::to_string(100 * (thread + 1) + ++made[thread]));
      }
      if (places.empty()) continue;
      for (const std::string& one : must) {
        const std::size_t less = one.find('<');
        const auto first = std::ranges::find(places, one.substr(0, less));
        const auto second = std::ranges::find(places, one.substr(less + 1));
        EXPECT_LT(first - places.begin(), second - places.begin())
            << one << " of " << seen << " in " << other;
      }
    }
  }
  EXPECT_GT(told_orders, 50);
}

}  // namespace
}  // namespace tomos::test
