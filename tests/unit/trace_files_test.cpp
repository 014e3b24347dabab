// Traces as files, pipes and victims of kill -9.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "trace/open.h"
#include "trace/writer.h"
#include "trace_support.h"

namespace tomos {
namespace {

using test::Read;
using test::read_all;
using test::Trace;

class Files : public testing::Test {
 protected:
  Files() {
    std::string made = (std::filesystem::temp_directory_path() / "tomos-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(made.data()), nullptr);
    directory_ = made;
  }
  ~Files() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  std::string put(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path directory_;
};

Trace small_trace() {
  Trace trace;
  const std::uint32_t thread = trace.names.add(NameKind::kThread, "T");
  const std::uint32_t variable = trace.names.add(NameKind::kVariable, "x");
  for (std::uint32_t i = 0; i < 1000; ++i) {
    trace.events.push_back({thread, variable, kNumericLocation | i, Op::kWrite, 0, 0});
  }
  return trace;
}

void expect_open_error(const std::string& path, std::string_view what, std::string_view remedy) {
  const auto source = open_trace(path);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().where, path);
  EXPECT_EQ(source.error().what, what);
  EXPECT_EQ(source.error().remedy, remedy);
}

TEST_F(Files, WhatCannotBeOpened) {
  expect_open_error(path("none.std"), "cannot open: No such file or directory",
                    "Check the path; '-' reads from standard input.");
  expect_open_error(path(""), "is a directory", "Give the trace files in it one by one.");
  if (::geteuid() != 0) {
    const std::string secret = put("secret.std", "T|r(x)\n");
    ::chmod(secret.c_str(), 0);
    expect_open_error(secret, "cannot open: Permission denied",
                      "Make the file readable, or run as a user who may read it.");
  }
}

TEST_F(Files, BothFormatsAreToldApartByContent) {
  const Trace trace = small_trace();
  for (const Format format : {Format::kStd, Format::kTomos}) {
    for (const std::string name : {"a.std", "a.tomos", "a"}) {
      const auto writer = create_trace(path(name), format);
      ASSERT_TRUE(writer);
      ASSERT_TRUE((*writer)->write(trace.events, trace.names));
      ASSERT_TRUE((*writer)->finish());
      const auto source = open_trace(path(name));
      ASSERT_TRUE(source);
      const Read read = read_all(**source);
      EXPECT_FALSE(read.failed);
      EXPECT_EQ(read.events, trace.events);
      EXPECT_EQ((*source)->progress().done, std::filesystem::file_size(path(name)));
      EXPECT_EQ((*source)->progress().size, std::filesystem::file_size(path(name)));
    }
  }
}

TEST_F(Files, EmptyAndTinyFiles) {
  const auto empty = open_trace(put("empty.std", ""));
  ASSERT_TRUE(empty);
  EXPECT_FALSE(read_all(**empty).failed);
  for (std::size_t size = 0; size < 12; ++size) {
    const auto cut = open_trace(put("cut.tomos", test::to_tomos({}, Names()).substr(0, size)));
    ASSERT_TRUE(cut);
    const Read read = read_all(**cut);
    ASSERT_TRUE(read.failed) << size;
    EXPECT_EQ(read.error.where, path("cut.tomos") + " at byte " + std::to_string(size));
    EXPECT_EQ(read.error.what,
              "cut off after 0 complete events: the writer was killed or is still writing");
  }
  const auto text = open_trace(put("t.std", "T|r"));
  ASSERT_TRUE(text);
  EXPECT_EQ(read_all(**text).error.where, path("t.std") + ":1");
  const auto odd = open_trace(put("odd.std", "\x89|end\n\x89|exit"));
  ASSERT_TRUE(odd);
  EXPECT_EQ(read_all(**odd).events.size(), 2U);
}

// Whatever byte of the head is changed, no one takes the file for a text trace without events.
TEST_F(Files, DamagedHead) {
  const std::string good = test::to_tomos({}, Names());
  for (std::size_t at = 0; at < 12; ++at) {
    for (int value = 0; value < 256; ++value) {
      if (value == static_cast<unsigned char>(good[at])) continue;
      std::string bytes = good;
      bytes[at] = static_cast<char>(value);
      const auto source = open_trace(put("head.tomos", bytes));
      ASSERT_TRUE(source);
      ASSERT_TRUE(read_all(**source).failed) << at << " " << value;
    }
  }
}

TEST_F(Files, PipesAreReadAsTheyFill) {
  const Trace trace = small_trace();
  for (const std::string& bytes :
       {test::to_text(trace.events, trace.names), test::to_tomos(trace.events, trace.names)}) {
    ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
    std::thread feeder([&] {
      std::ofstream pipe(path("fifo"), std::ios::binary);
      for (std::size_t at = 0; at < bytes.size(); at += 7)
        pipe << bytes.substr(at, 7) << std::flush;
    });
    const auto source = open_trace(path("fifo"));
    ASSERT_TRUE(source);
    const Read read = read_all(**source);
    feeder.join();
    EXPECT_FALSE(read.failed);
    EXPECT_EQ(read.events, trace.events);
    EXPECT_EQ((*source)->progress().done, bytes.size());
    EXPECT_EQ((*source)->progress().size, 0U);
    std::filesystem::remove(path("fifo"));
  }
}

TEST_F(Files, EventsOfASlowPipeAreNotHeldBack) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const auto source = read_std(std::make_unique<Input>(ends[0], "pipe"));
  Batch batch;
  for (const std::string_view part : {"T1|r(x)|1\n", "T1|r(x)|2\nT1|r(", "x)|3\n"}) {
    ASSERT_EQ(::write(ends[1], part.data(), part.size()), static_cast<ssize_t>(part.size()));
    ASSERT_TRUE(source->next(batch));
    EXPECT_EQ(batch.events.size(), 1U);
  }
  ::close(ends[1]);
  ASSERT_TRUE(source->next(batch));
  EXPECT_TRUE(batch.events.empty());
}

TEST_F(Files, GrowingFile) {
  const Trace trace = small_trace();
  const auto writer = create_trace(path("grows.tomos"), Format::kTomos);
  ASSERT_TRUE(writer);
  const auto source = open_trace(path("grows.tomos"));
  ASSERT_TRUE(source);
  Batch batch;
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE((*writer)->write(trace.events, trace.names));
    ASSERT_TRUE((*writer)->flush());
    ASSERT_TRUE((*source)->next(batch));
    EXPECT_EQ(batch.events, trace.events);
  }
  ASSERT_TRUE((*writer)->finish());
  ASSERT_TRUE((*source)->next(batch));
  EXPECT_TRUE(batch.events.empty());
}

TEST_F(Files, KilledWriterLosesNothingFlushed) {
  const Trace trace = small_trace();
  for (const Format format : {Format::kTomos, Format::kStd}) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto writer = create_trace(path("killed"), format);
      bool ok = writer.has_value();
      for (int i = 0; ok && i < 5; ++i)
        ok = (*writer)->write(trace.events, trace.names) && (*writer)->flush();
      ok = ok && (*writer)->write(trace.events, trace.names);  // not flushed
      if (!ok || ::write(ready[1], "x", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    const auto source = open_trace(path("killed"));
    ASSERT_TRUE(source);
    const Read read = read_all(**source);
    ASSERT_EQ(read.events.size(), 5 * trace.events.size());
    for (std::size_t i = 0; i < read.events.size(); ++i) {
      ASSERT_EQ(read.events[i], trace.events[i % trace.events.size()]);
    }
    if (format == Format::kTomos) {
      ASSERT_TRUE(read.failed);
      EXPECT_EQ(read.error.what,
                "cut off after 5000 complete events: the writer was killed or is still writing");
      EXPECT_EQ(read.error.where, path("killed") + " at byte " +
                                      std::to_string(std::filesystem::file_size(path("killed"))));
    } else {
      EXPECT_FALSE(read.failed);
    }
  }
}

TEST_F(Files, WhatCannotBeWritten) {
  const auto nowhere = create_trace(path("no/such/t.std"), Format::kStd);
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().where, path("no/such/t.std"));
  EXPECT_EQ(nowhere.error().what, "cannot create: No such file or directory");
  EXPECT_EQ(nowhere.error().remedy,
            "Check that the directory exists and may be written to, or give another path.");

  const auto full = create_trace("/dev/full", Format::kTomos);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().where, "/dev/full");
  EXPECT_EQ(full.error().what, "cannot write: No space left on device");
  EXPECT_EQ(full.error().remedy, "Free some space, or write to another disk.");

  const Trace trace = small_trace();
  const auto text = create_trace("/dev/full", Format::kStd);
  ASSERT_TRUE(text);
  ASSERT_TRUE((*text)->write(trace.events, trace.names));
  EXPECT_EQ((*text)->flush().error().what, "cannot write: No space left on device");
  EXPECT_EQ((*text)->finish().error().what, "cannot write: No space left on device");
}

TEST_F(Files, ReaderOfThePipeGone) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto writer = write_tomos(std::make_unique<Output>(ends[1], "pipe"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().what, "cannot write: Broken pipe");
  EXPECT_EQ(writer.error().remedy, "The program that reads the pipe ended early: see why.");
  ASSERT_NE(std::signal(SIGPIPE, before), SIG_ERR);
}

}  // namespace
}  // namespace tomos
