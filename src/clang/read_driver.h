// A C++ test driver, for `tomos model --from-cpp`. Loaded like read_cpp.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "clang/read_cpp.h"
#include "event/error.h"

namespace tomos::cpp {

struct DriverPosition {
  std::uint32_t file = 0;  // index into Driver::files
  std::uint32_t line = 0;  // 0: unknown
  std::uint32_t column = 0;

  friend auto operator<=>(const DriverPosition&, const DriverPosition&) = default;
};

// What the scheduler of the real program sees of a line, if it is not an access in that line of the
// source: what threads meet at, and containers.
enum class DriverStep : std::uint8_t {
  kNone,  // nothing but what the line itself says
  kLock,
  kUnlock,
  kSemaphoreWait,
  kSemaphorePost,
  kBarrier,
  kOnce,
  kCall,  // the call in the line of the source: it is all in headers
  kPart,  // nothing, or a part of the call that comes next
};

struct Driver {
  std::string text;                          // the Boolean program
  std::vector<std::string> files;            //
  std::vector<DriverPosition> origins;       // of its lines, the first being [1]
  std::vector<DriverStep> steps;             // the same
  std::map<std::string, std::string> names;  // as C++ has it, by the name in the program
  std::map<std::string, std::vector<std::string>> abstracted;  // by what was done: to what, where
  std::set<std::string> atomics;                               // variables, as C++ has it
  bool assertions = true;                                      // all were kept
  // Numbers are kept that are counted up and down, as long as they stay small: whether they do is
  // for the search to say. Only if it was not told to do without.
  bool counts = false;
};

struct DriverSources {
  Driver driver;
  std::vector<LeftOut> left_out;
};

inline constexpr const char* kReadDriver = "tomos_read_driver";
using ReadDriver = void(const Options& options, bool counts, Result<DriverSources>& result);

}  // namespace tomos::cpp
