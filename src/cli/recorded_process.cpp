#include "cli/recorded_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "cli/launch.h"
#include "cli/recording_details.h"
#include "report/layout.h"
#include "symbols/places.h"

namespace tomos {

namespace {

namespace fs = std::filesystem;

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return fs::equivalent(one, other, error) && !error;
}

// The process that was started bears the name the user gave it; others that of their program.
std::string name_of(const Recording& recording, const std::string& file,
                    const std::string& program) {
  const auto modules = recording.modules();
  std::string name = modules.empty() ? program : shown_path(modules[0].path);
  if (!program.empty() && !modules.empty() &&
      is_same_file(modules[0].path, find_program(program))) {
    name = program;
  }
  if (name.empty()) name = file;
  const bool first = fs::path(file).extension().empty();
  return first ? name : fmt::format("{} (process {})", name, recording.header().pid);
}

// "a, b and c"; of many only some.
std::string listed(const std::set<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (count == kMost) return fmt::format("{} and {} more", text, names.size() - kMost);
    if (count > 0) text += count + 1 == names.size() ? " and " : ", ";
    text += name;
    ++count;
  }
  return text;
}

// Leaves behind how many events had to be repaired: whoever reads the events keeps them.
class Watched : public Source {
 public:
  Watched(std::unique_ptr<RecordedEvents> events, std::uint64_t& repaired)
      : events_(std::move(events)), repaired_(repaired) {}

  Result<void> next(Batch& batch) override {
    auto result = events_->next(batch);
    repaired_ = events_->repaired();
    return result;
  }
  const Names& names() const override { return events_->names(); }
  Progress progress() const override { return events_->progress(); }

 private:
  std::unique_ptr<RecordedEvents> events_;
  std::uint64_t& repaired_;
};

}  // namespace

Result<RecordedProcess> RecordedProcess::open(const std::string& file, const std::string& program) {
  std::error_code error;
  if (fs::file_size(file, error) == 0 && !error) {
    return std::unexpected(
        Error{.where = file,
              .what = "the recording is empty: there was no room for it, or the program was killed "
                      "at its start",
              .remedy = "Make room there and run the program again."});
  }
  auto recording = open_recording(file);
  if (!recording) return std::unexpected(std::move(recording.error()));
  RecordedProcess process;
  process.recording_ = std::move(*recording);
  process.names_ = std::make_unique<ProgramNames>(*process.recording_);
  process.name_ = name_of(*process.recording_, file, program);
  return process;
}

bool RecordedProcess::is_instrumented() const {
  // The disk was full before any file of the process was named.
  if (recording_->modules().empty() && recording_->header().lost != 0) return true;
  return std::ranges::any_of(recording_->modules(), &recording::Module::instrumented);
}

std::unique_ptr<Source> RecordedProcess::events() {
  return std::make_unique<Watched>(recording_->events(*names_), *repaired_);
}

void RecordedProcess::judge(Judge& judge, const std::string& name) {
  auto recorded = recording_->events(*names_, {.pairs_only = judge.pairs_only()});
  RecordingDetails details(*recorded, *names_);
  const std::string libraries = unseen();
  judge.judge(std::make_unique<Watched>(std::move(recorded), *repaired_), name,
              [&](Finding& finding) {
                details.add_to(finding);
                // What the run did it did, whatever else there is.
                if (libraries.empty() || finding.verdict != Certainty::kPredicted) return;
                finding.doubt = libraries + ", and may keep this from happening";
              });
}

std::string RecordedProcess::unseen() const {
  std::set<std::string> libraries;
  for (const recording::NoteText& note : recording_->notes()) {
    if (note.note != recording::Note::kSynchronises) continue;
    libraries.insert(fs::path(note.text).filename().string());
  }
  if (libraries.empty()) return "";
  const bool one = libraries.size() == 1;
  return fmt::format("{} synchronise{} threads but {} not built with tomos-c++", listed(libraries),
                     one ? "s" : "", one ? "is" : "are");
}

std::string RecordedProcess::missing() const {
  if (recording_->header().lost == 0) return "";
  return fmt::format(
      "{}: there was no room left for the recording; what the program did after that is not in it",
      name_);
}

std::vector<std::string> RecordedProcess::notes() const {
  std::set<std::string> waiting;
  std::uint64_t cutoff = 0;
  for (const recording::NoteText& note : recording_->notes()) {
    switch (note.note) {
      case recording::Note::kSynchronises:
        break;
      case recording::Note::kWaits:
        if (!note.text.empty()) waiting.insert(note.text);
        break;
      case recording::Note::kTest:
        break;
      case recording::Note::kCutOff:
        cutoff = note.address;
        break;
    }
  }
  std::vector<std::string> result;
  if (cutoff != 0) {
    result.push_back(
        fmt::format("of heap objects larger than {} bytes only the first {} bytes were looked at; "
                    "--array-cutoff 0 looks at all",
                    recording::kArraySize, cutoff));
  }
  if (const std::string libraries = unseen(); !libraries.empty()) {
    result.push_back(
        fmt::format("{}: {}: what was predicted may be kept from happening there, so trust it less",
                    name_, libraries));
  }
  if (*repaired_ > 0) {
    const recording::Header& header = recording_->header();
    const bool whole = header.lost == 0 && header.ending != recording::Ending::kRunning;
    result.push_back(
        fmt::format("{}: {} did not fit the others and {} left out or completed: {}", name_,
                    counted(*repaired_, "event"), *repaired_ == 1 ? "was" : "were",
                    whole ? "a thread gave back what it did not hold, or ended with what it held"
                          : "the recording breaks off"));
  }
  if (!waiting.empty()) {
    result.push_back(
        fmt::format("{}: {} wait{} on a condition or for input, so {} not taken to be atomic",
                    name_, listed(waiting), waiting.size() == 1 ? "s" : "",
                    waiting.size() == 1 ? "it is" : "they are"));
  }
  for (const std::string& problem : names_->problems()) {
    result.push_back(fmt::format("{}: {}", name_, problem));
  }
  return result;
}

bool is_recording(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  std::ifstream in(path, std::ios::binary);
  std::uint64_t magic = 0;
  in.read(reinterpret_cast<char*>(&magic), sizeof(magic));
  return in && magic == recording::kMagic;
}

Error not_instrumented(const std::string& program, int status) {
  return {.where = program,
          .what = fmt::format("no instrumented code has run (it ended with {})",
                              describe_status(status)),
          .remedy =
              "Build it with tomos-c++ or tomos-cc (CXX=tomos-c++ CC=tomos-cc), and link it "
              "with them, too."};
}

}  // namespace tomos
