// The program under test: whether the scheduler can be put into it, and how it is started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "campaign/trial.h"
#include "event/error.h"

namespace tomos::campaign {

// The runtime library that is preloaded: lib/ beside this program in a build tree, ../lib/tomos
// when installed.
Result<std::string> find_runtime();

// A program that is dynamically linked, so that it takes the library.
class Program {
 public:
  // `words`: its name, looked up as a shell does, and its arguments.
  static Result<Program> find(std::vector<std::string> words, std::string runtime);

  const std::vector<std::string>& words() const { return words_; }
  const std::string& path() const { return path_; }  // of the file
  const std::string& runtime() const { return runtime_; }
  // Where its functions are described (cli/launch_functions.h); empty: nowhere.
  void know_functions(std::string table) { functions_ = std::move(table); }
  // What is added to the environment: the library, the area of the trial, and what makes libraries
  // easier to control.
  std::vector<std::string> additions(const std::string& area) const;

 private:
  Program(std::vector<std::string> words, std::string path, std::string runtime);

  std::vector<std::string> words_;
  std::string path_;
  std::string runtime_;
  std::string functions_;
};

// Why the program was not controlled in this trial as it should have been, or nothing.
std::optional<Error> why_not_controlled(const Program& program, const Trial& trial);

// How one process is started.
class Launch {
 public:
  // `area` empty: not under control. `output`: where both its streams go; -1: to ours.
  Launch(const Program& program, const std::string& area, int output);
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // In a process group of its own, which the caller must kill, with nothing on standard input, at
  // addresses that are the same every time, without core dumps. The process dies with this one.
  Result<pid_t> start() const;

 private:
  std::string path_;
  std::vector<std::string> words_;
  std::vector<std::string> environment_;
  std::vector<char*> argv_;
  std::vector<char*> envp_;
  int output_;
};

}  // namespace tomos::campaign
