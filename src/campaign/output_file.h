// Where the program's standard output and standard error go during a trial; only the end of it is
// of interest, in case something is found.
#pragma once

#include <string>

#include "event/error.h"

namespace tomos::campaign {

class OutputFile {
 public:
  static Result<OutputFile> make();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  int descriptor() const { return descriptor_; }
  void clear();
  // Gives back the memory of all but the end. To be called now and then: a program can print
  // without end.
  void forget_beginning();
  // The last lines.
  std::string tail() const;

 private:
  explicit OutputFile(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace tomos::campaign
