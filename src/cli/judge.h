// What the commands that judge runs share: traces go in, one report comes out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyse.h"
#include "cli/judge_options.h"
#include "cli/output.h"
#include "event/error.h"
#include "event/source.h"
#include "report/report.h"

namespace tomos {

class Judge {
 public:
  // `tool` is what JSON calls the command.
  Judge(const std::string& tool, const JudgeOptions& options);

  // Names a trace in the report; before it is judged.
  void input(const std::string& name) { report_.inputs.push_back(name); }
  // Whether all its analyses ask only for that.
  bool pairs_only() const { return std::ranges::all_of(chosen_, &Analysis::pairs_only); }
  // Puts one trace to the analyses. `complete` may add to each of its findings what only the
  // trace's own source knows (stacks, threads).
  void judge(std::unique_ptr<Source> trace, const std::string& name,
             const std::function<void(Finding&)>& complete = {});
  // Says of a trace that it could not be judged, or not as a whole; no verdict is "ok" then.
  void incomplete(const std::string& note);
  void note(const std::string& sentence) { report_.notes.push_back(sentence); }

  // The report, with all that stands in it now.
  Report& finish();

  // Bad input was met, and said to be.
  bool bad_input() const { return bad_input_; }
  void fail(const Error& error);

 private:
  void note_early_end(const std::string& name, const Error& error, Analysed& result);
  void note_skipped(const std::string& name, const Skipped& skipped);
  void absorb(Analysed result);

  const JudgeOptions& options_;
  std::vector<const Analysis*> chosen_;
  Report report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool bad_input_ = false;
};

// The most memory this process has had, in bytes. (getrusage would count that of the process that
// started it, too.)
std::uint64_t peak_memory();

// The file of -o, made before the work begins; nothing without -o.
Result<std::optional<NewFile>> report_file(const JudgeOptions& options);

// Into the file, else to `descriptor` unless --quiet.
Result<void> show(const Report& report, const JudgeOptions& options, std::optional<NewFile>& file,
                  int descriptor);

}  // namespace tomos
