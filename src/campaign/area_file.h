// The file that a campaign shares with the process under its control (schedule/area.h), from the
// campaign's side.
#pragma once

#include <string>

#include "campaign/trial.h"
#include "event/error.h"
#include "schedule/area.h"

namespace tomos::campaign {

class AreaFile {
 public:
  static Result<AreaFile> make();
  AreaFile(AreaFile&& other) noexcept;
  AreaFile& operator=(AreaFile&&) = delete;
  ~AreaFile();

  // Ready for a trial; what an earlier one left is gone.
  void prepare(const Order& order);
  // What the trial has left, into `trial`; its choices only if they are wanted.
  void read(Trial& trial, bool with_choices) const;

  // Where the process finds it. There is no file that could be left behind: it exists as long as
  // this process, or what it becomes by exec, lives.
  const std::string& path() const { return path_; }
  // It stays open when this process becomes another program.
  void survive_exec() const;

 private:
  AreaFile(int descriptor, schedule::Area* area);

  int descriptor_;
  schedule::Area* area_;
  std::string path_;
};

}  // namespace tomos::campaign
