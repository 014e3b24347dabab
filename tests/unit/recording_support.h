// What the tests of recordings share: names that tell addresses, and events as text.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "recording_writer.h"
#include "trace/recording.h"
#include "trace/validate.h"
#include "trace_support.h"

namespace tomos::test {

inline constexpr std::uint64_t kLibraryPc = 999;  // code that is not the user's

struct FakeNames : RecordingNames {
  std::string location(std::uint64_t pc) override { return fmt::format("p{}", pc); }
  bool is_users(std::uint64_t pc) override { return pc != kLibraryPc; }
  std::string variable(std::uint64_t address, std::uint64_t size, std::uint64_t,
                       const recording::Object* object) override {
    ++asked;
    if (object == nullptr) return fmt::format("{:x}+{}", address, size);
    return fmt::format("new{}.{}+{}", object->pc, address - object->address, size);
  }
  std::string lock(std::uint64_t address, std::uint64_t, const recording::Object* object) override {
    if (object == nullptr) return fmt::format("L{:x}", address);
    return fmt::format("L{}.{}", object->pc, address - object->address);
  }
  std::string location(const recording::Label& label) override {
    return fmt::format("{}@{}", label.file, label.line);
  }
  int asked = 0;  // names of variables
};

// The events of a recording, as lines of STD text.
struct Told {
  std::vector<std::string> lines;
  std::uint64_t repaired = 0;
  bool failed = false;
  Error error;
};

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    lines.emplace_back(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), lines.back().size() + 1));
  }
  return lines;
}

inline Told tell(Recording& recording, RecordingOptions options = {}) {
  FakeNames names;
  auto events = recording.events(names, options);
  RecordedEvents& recorded = *events;
  Validated validated(std::move(events), "recording", Validation::kStrict);
  const Read read = read_all(validated);
  return {.lines = lines_of(to_text(read.events, validated.names())),
          .repaired = recorded.repaired(),
          .failed = read.failed,
          .error = read.error};
}

inline Told tell(const RecordingWriter& writer, RecordingOptions options = {}) {
  const MemoryFile file(writer.bytes());
  const auto recording = open_recording(file.path());
  EXPECT_TRUE(recording) << recording.error().what;
  return recording ? tell(**recording, options) : Told();
}

}  // namespace tomos::test
