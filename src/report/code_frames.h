// The source around the events of a finding, as far as the files can be read.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/finding.h"

namespace tomos {

// The lines of source files, each file read once. A file that cannot be read, is no regular file or
// is absurdly large has none.
class SourceLines {
 public:
  const std::vector<std::string>& of(const std::string& file);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

// "T1: read Account::balance [Account::m]"
std::string says(const Finding::Event& event);

// For each file the lines of the events with two lines before and after, the events named below
// theirs:
//
//    account.cpp
//      13 |     std::lock_guard<std::mutex> guard(m);
//      14 |     return balance;
//         |            ^ T1: read Account::balance [Account::m]
//
// Lines of at most `columns`, each ended by a newline; empty if no file can be read. All strings of
// `finding` must be printable (layout.h).
std::string code_frames(const Finding& finding, SourceLines& sources, std::size_t columns);

}  // namespace tomos
